//! The only clock of the program: the system's, with a calendar that a demo may turn.
//!
//! Waiting always follows the monotonic clock in real time. A turned calendar moves only the wall
//! time that cadences and dates are read from, and each turn is journalled.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use reigi_core::time::{Clock, Mono, Now, Timestamp};

/// Reads the system's clocks; the wall clock plus the calendar's offset.
pub(crate) struct SystemClock {
    started: Instant,
    offset_micros: AtomicI64,
}

impl SystemClock {
    /// A clock that shows the system's time.
    pub(crate) fn new() -> Self {
        Self {
            started: Instant::now(),
            offset_micros: AtomicI64::new(0),
        }
    }

    /// Turns the calendar so that the wall clock shows `at` now.
    pub(crate) fn turn_to(&self, at: Timestamp) {
        let shown = self.now().wall;
        self.offset_micros
            .fetch_add(at.micros() - shown.micros(), Ordering::SeqCst);
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Now {
        let mono = i64::try_from(self.started.elapsed().as_micros()).unwrap_or(i64::MAX);
        let wall = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_micros()).unwrap_or(i64::MAX),
            Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
        };
        let wall = wall.saturating_add(self.offset_micros.load(Ordering::SeqCst));
        Now {
            wall: Timestamp::from_micros(wall),
            mono: Mono::from_micros(mono),
        }
    }
}
