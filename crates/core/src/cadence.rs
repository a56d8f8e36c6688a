//! How often a target is visited: calendar periods in the house's zone (DECISIONS 18).

use std::time::Duration;

use jiff::{ToSpan, tz::TimeZone};
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// A visiting period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Every {
    /// Another calendar month, on the anchor day (clamped), at least 25 days after the last visit.
    Month,
    /// At least 7 × 24 hours.
    Week,
    /// At least this long.
    Period(Duration),
}

const DAY: Duration = Duration::from_secs(24 * 3600);

impl Every {
    /// The shortest allowed time between the starts of two visits.
    #[must_use]
    pub fn shortest(self) -> Duration {
        match self {
            Every::Month => 25 * DAY,
            Every::Week => 7 * DAY,
            Every::Period(period) => period,
        }
    }

    /// When the next visit is due after one that began at `last`. `anchor_day` is the day of the
    /// month on which the target is visited; it is clamped to the month's length.
    #[must_use]
    pub fn next(self, last: Timestamp, anchor_day: i8, zone: &TimeZone) -> Timestamp {
        let soonest = last.plus(self.shortest());
        match self {
            Every::Month => next_month(last, anchor_day, zone)
                .unwrap_or(soonest)
                .max(soonest),
            Every::Week | Every::Period(_) => soonest,
        }
    }
}

fn next_month(last: Timestamp, anchor_day: i8, zone: &TimeZone) -> Option<Timestamp> {
    let local = last.jiff().to_zoned_datetime(zone.clone());
    let first = local.date().first_of_month().checked_add(1.month()).ok()?;
    let date = first
        .with()
        .day(anchor_day.clamp(1, first.days_in_month()))
        .build()
        .ok()?;
    let at = date
        .to_datetime(local.time())
        .to_zoned_datetime(zone.clone())
        .ok()?;
    Some(Timestamp::from_micros(at.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_another_month_on_the_anchor_day() {
        let tokyo = TimeZone::get("Asia/Tokyo").unwrap();
        for (last, anchor, next) in [
            ("2026-01-31T01:00:00Z", 31, "2026-02-28T01:00:00Z"),
            ("2026-02-28T01:00:00Z", 31, "2026-03-31T01:00:00Z"),
            // 28 February to 1 March is another month, but not 25 days.
            ("2026-02-28T01:00:00Z", 1, "2026-03-25T01:00:00Z"),
            // 16:00Z is the next day in Tokyo.
            ("2026-01-30T16:00:00Z", 31, "2026-02-27T16:00:00Z"),
        ] {
            let got = Every::Month.next(Timestamp::parse(last).unwrap(), anchor, &tokyo);
            assert_eq!(got.rfc3339(), next, "{last} anchor {anchor}");
        }
    }

    #[test]
    fn a_week_is_seven_days_of_24_hours() {
        let t = Timestamp::parse("2026-03-01T00:00:00Z").unwrap();
        assert_eq!(
            Every::Week.next(t, 1, &TimeZone::UTC).rfc3339(),
            "2026-03-08T00:00:00Z"
        );
    }
}
