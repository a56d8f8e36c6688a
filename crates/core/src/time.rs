//! Instants and the clock port. Core never asks what time it is: it is told.
//!
//! Two clocks, two types. [`Timestamp`] is the wall clock: for the record, for calendars and for
//! times that a site named (Retry-After). [`Mono`] is the writer's monotonic clock: for waiting.
//! A wall clock may step; an interval must not notice (DECISIONS 13).

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Wall-clock instant: microseconds since the Unix epoch, UTC.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The latest instant; used for "not before a person says so".
    pub const MAX: Self = Self(i64::MAX);

    /// From microseconds since the Unix epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// From whole seconds since the Unix epoch.
    #[must_use]
    pub const fn from_secs(secs: i64) -> Self {
        Self(secs.saturating_mul(1_000_000))
    }

    /// Microseconds since the Unix epoch.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Later by `span`, saturating.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    /// Time passed since `earlier`; zero if `earlier` lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        span(self.0.saturating_sub(earlier.0))
    }

    /// RFC 3339 in UTC, the form of every machine-readable output.
    #[must_use]
    pub fn rfc3339(self) -> String {
        self.jiff().to_string()
    }

    /// Reads RFC 3339.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>()
            .ok()
            .map(|t| Self(t.as_microsecond()))
    }

    /// As a `jiff` instant, clamped to its range (years −9999 to 9999).
    #[must_use]
    pub fn jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_microsecond(self.0).unwrap_or(if self.0 < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        })
    }
}

/// Monotonic instant of one writer: microseconds since its process started. Comparable only with
/// stamps of the same journal segment.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Mono(i64);

impl Mono {
    /// From microseconds since the process started.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the process started.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Later by `span`, saturating.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(micros(span)))
    }

    /// Time passed since `earlier`; zero if `earlier` lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        span(self.0.saturating_sub(earlier.0))
    }
}

/// One reading of both clocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Now {
    /// Wall clock.
    pub wall: Timestamp,
    /// Monotonic clock of this writer.
    pub mono: Mono,
}

impl Now {
    /// The monotonic instant at which the wall clock will show `at`, if it does not step.
    #[must_use]
    pub fn mono_at(self, at: Timestamp) -> Mono {
        Mono(self.mono.0.saturating_add(at.0.saturating_sub(self.wall.0)))
    }

    /// The wall time at which the monotonic clock will show `at`, if the wall does not step.
    #[must_use]
    pub fn wall_at(self, at: Mono) -> Timestamp {
        Timestamp(self.wall.0.saturating_add(at.0.saturating_sub(self.mono.0)))
    }
}

/// Where the time comes from: the binary's real clock, a demo's compressed calendar, a simulation.
pub trait Clock: Send + Sync {
    /// Reads both clocks at once.
    fn now(&self) -> Now;
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

fn span(micros: i64) -> Duration {
    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_round_trips_in_utc() {
        let t = Timestamp::parse("2023-11-14T22:13:20Z").unwrap();
        assert_eq!(t, Timestamp::from_secs(1_700_000_000));
        assert_eq!(t.rfc3339(), "2023-11-14T22:13:20Z");
    }

    #[test]
    fn an_earlier_instant_is_no_time_ago() {
        assert_eq!(
            Timestamp::from_secs(1).since(Timestamp::from_secs(5)),
            Duration::ZERO
        );
    }
}
