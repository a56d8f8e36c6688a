//! `cadence`: each target is visited no more often than the page says.
//!
//! Seeds: P monthly, Ar and Ad "月1回", Ap "週1回以下", B per target. Periods are counted in the
//! house's zone (DECISIONS 18).

use std::collections::HashMap;
use std::time::Duration;

use jiff::tz::TimeZone;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::cadence::Every;
use crate::charter::{Charter, Lang};
use crate::event::{Event, LaneId};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::state::TargetState;
use crate::time::Timestamp;

/// See the module.
pub struct Cadence;

const HOUR: u64 = 3600;

/// The period of a target: the charter's, or the row's where that is rarer.
pub(crate) fn period(charter: &Charter, target: &TargetState) -> Every {
    let own = target.row.every;
    let own = own.filter(|every| every.shortest() > charter.visit.every.shortest());
    own.unwrap_or(charter.visit.every)
}

/// When the target's next visit is due. A charter or row that became rarer since its last visit
/// counts from its adoption on.
pub(crate) fn due(charter: &Charter, target: &TargetState, zone: &TimeZone) -> Timestamp {
    let every = period(charter, target);
    let anchor = target.anchor_day.unwrap_or(1);
    let since = target.last_visit.map(|last| every.next(last, anchor, zone));
    target.due.max(since.unwrap_or_default())
}

impl Promise for Cadence {
    fn id(&self) -> &'static str {
        "cadence"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "巡回の頻度",
            Lang::En => "How often",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let every = charter.visit.every;
        Some(match lang {
            Lang::Ja => format!(
                "それぞれの対象を訪れるのは{}で、台帳でさらにまれにすることがあります。逃した回をまとめて取り戻すことはしません。",
                words(every, lang)
            ),
            Lang::En => format!(
                "Each target is visited {}, or more rarely where the ledger says so. A missed visit is never made up for by several.",
                words(every, lang)
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        if scene.house.facts.clock_hold {
            return Verdict::hold(
                Until::Person,
                "時計が大きく進んだため、担当者の確認を待っています。",
                "The clock stepped forward; a person must look at it first.",
            );
        }
        let (Some(target), Some(visit)) = (scene.target, &scene.lane.lane.visit) else {
            return Verdict::Pass;
        };
        // The visit under way began when it was due; nothing else may begin earlier.
        if visit.target == target.key && visit.opened < visit.due {
            return Verdict::NotBefore(visit.due);
        }
        Verdict::Pass
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Visits::default()))
    }
}

fn words(every: Every, lang: Lang) -> String {
    match (every, lang) {
        (Every::Month, Lang::Ja) => "月に1回".to_owned(),
        (Every::Month, Lang::En) => "once a month".to_owned(),
        (Every::Week, Lang::Ja) => "週に1回以下".to_owned(),
        (Every::Week, Lang::En) => "at most once a week".to_owned(),
        (Every::Period(period), lang) => {
            let (n, ja, en) = match period.as_secs() {
                s if s % (24 * HOUR) == 0 => (s / (24 * HOUR), "日", "day"),
                s if s % HOUR == 0 => (s / HOUR, "時間", "hour"),
                s => (s.div_ceil(60), "分", "minute"),
            };
            match lang {
                Lang::Ja => format!("{n}{ja}に1回以下"),
                Lang::En if n == 1 => format!("at most once every {en}"),
                Lang::En => format!("at most once in {n} {en}s"),
            }
        }
    }
}

/// Time between the beginnings of two visits of one target.
#[derive(Default)]
struct Visits {
    finding: Finding,
    last: HashMap<(LaneId, String, String), Timestamp>,
}

impl Proof for Visits {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let Event::VisitOpened(opened) = entry.event else {
            return;
        };
        let (seq, at) = (entry.header.seq, entry.header.at);
        let key = (entry.header.lane, opened.bot.clone(), opened.target.clone());
        let Some(last) = self.last.insert(key, at) else {
            return;
        };
        let Some(charter) = versions.charter_of(&opened.bot) else {
            self.finding.undecidable(seq, "its charter is not readable");
            return;
        };
        let own = versions
            .row(&opened.bot, &opened.target)
            .and_then(|(_, row)| row.every);
        let least = own
            .map_or(Duration::ZERO, least_gap)
            .max(least_gap(charter.visit.every));
        let gap = at.since(last);
        let monthly = [Some(charter.visit.every), own].contains(&Some(Every::Month));
        let another_month = !monthly || months(versions, last) < months(versions, at);
        self.finding.check(gap >= least && another_month, seq, || {
            format!("visited {gap:?} after the last visit, promised at least {least:?}")
        });
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

/// Written apart from the schedule's own arithmetic.
fn least_gap(every: Every) -> Duration {
    match every {
        Every::Month => Duration::from_secs(25 * 24 * HOUR),
        Every::Week => Duration::from_secs(7 * 24 * HOUR),
        Every::Period(period) => period,
    }
}

/// Months since year 0, in the house's zone.
fn months(versions: &Versions<'_>, at: Timestamp) -> i32 {
    let local = at.jiff().to_zoned_datetime(versions.zone.clone());
    i32::from(local.date().year()) * 12 + i32::from(local.date().month())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{History, PAGE, Stage, at, word};
    use super::*;

    #[test]
    fn a_stepped_clock_holds_and_an_early_visit_waits() {
        let mut stage = Stage::new();
        assert_eq!(word(&stage.hold(&Cadence, &stage.ask(PAGE))), "pass");
        if let Some(visit) = &mut stage.lane.lane.visit {
            visit.due = at(60.0).wall;
        }
        assert_eq!(word(&stage.hold(&Cadence, &stage.ask(PAGE))), "wait");
        stage.house.facts.clock_hold = true;
        assert_eq!(word(&stage.hold(&Cadence, &stage.ask(PAGE))), "hold");
    }

    #[test]
    fn a_visit_too_early_is_named() {
        let day = 24.0 * 3600.0;
        for (every, gap, kept) in [
            (Every::Period(Duration::from_secs(86_400)), day, true),
            (Every::Period(Duration::from_secs(86_400)), day - 1.0, false),
            (Every::Week, 7.0 * day, true),
            (Every::Week, 6.9 * day, false),
            // 2026-11-30 noon in Tokyo: 24 days are another month, but too soon.
            (Every::Month, 24.0 * day, false),
            (Every::Month, 25.0 * day, true),
        ] {
            let mut history = History::under(|charter| charter.visit.every = every);
            history.open();
            history.close(false);
            history.wait(gap);
            history.open();
            assert_eq!(
                history.breaches(&Cadence).is_empty(),
                kept,
                "{every:?} {gap}"
            );
        }
    }

    /// The example target, last visited a day ago, under a charter or a row that is rarer now.
    #[test]
    fn a_rarer_cadence_counts_from_its_adoption() {
        use crate::crawl::{Step, next};
        let day = 24.0 * 3600.0;
        for (charter, row, sleeps_until) in [
            (Every::Period(Duration::from_secs(86_400)), None, None),
            (Every::Week, None, Some(6.0 * day)),
            (
                Every::Period(Duration::from_secs(86_400)),
                Some(Every::Week),
                Some(6.0 * day),
            ),
            // From 29 November the next month's day is 29 December.
            (Every::Month, None, Some(29.0 * day)),
        ] {
            let mut stage = Stage::new();
            stage.charter.visit.every = charter;
            let in_force = std::sync::Arc::new(stage.charter.clone());
            stage.house.charters.insert(in_force.bot.clone(), in_force);
            stage.lane.lane.visit = None;
            let target = stage.lane.targets.values_mut().next().unwrap();
            target.row.every = row;
            target.last_visit = Some(at(-day).wall);
            target.anchor_day = Some(29);
            let step = next(&stage.house, &stage.lane, stage.now);
            let until = match step {
                Step::Sleep { until, .. } => until,
                Step::Write(_) => None,
                other => panic!("{other:?}"),
            };
            let expected = sleeps_until.map(|after| at(after).wall);
            assert_eq!(until, expected, "{charter:?} {row:?}");
        }
    }

    #[test]
    fn a_row_that_says_month_is_another_month() {
        let day = 24.0 * 3600.0;
        // 1 December to 26 December: 25 days, but the same month.
        for (gap, kept) in [(25.0, false), (31.0, true)] {
            let mut history = History::new();
            let mut monthly = super::super::testing::row();
            monthly.every = Some(Every::Month);
            history.enter(monthly);
            history.wait(day);
            history.open();
            history.close(false);
            history.wait(gap * day);
            history.open();
            assert_eq!(history.breaches(&Cadence).is_empty(), kept, "{gap} days");
        }
    }
}
