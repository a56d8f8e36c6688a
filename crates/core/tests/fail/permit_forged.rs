//! A permit cannot be written down: only the gate mints one.
use std::time::Duration;

use reigi_core::event::Admitted;
use reigi_core::gate::Permit;

fn forge(admitted: Admitted) -> Permit {
    Permit {
        admitted,
        timeout: Duration::from_secs(20),
        max_bytes: 1,
    }
}

fn main() {}
