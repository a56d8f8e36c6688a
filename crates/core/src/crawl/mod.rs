//! The next step of a lane: a pure function of (house, lane, now).
//!
//! The driver calls [`next`] until it says sleep, and does what it says: write entries, look up a
//! name, send one permitted request, judge an answer. Everything that comes back goes through the
//! journal into the state, and `next` is asked again. The simulation drives the same function.

mod ask;
mod errand;
pub mod observe;
mod robots;
mod visit;

use std::time::Duration;

use crate::event::{Event, LaneId, Lost};
use crate::gate::Permit;
use crate::host::Host;
use crate::state::{House, LaneState, PendingAnswer};
use crate::time::{Now, Timestamp};

/// How long a look-up of a host's name may be used.
pub const LOOKUP_FRESH: Duration = Duration::from_secs(60);
/// How long a visit waits for a hop in another lane (DECISIONS 16).
pub const HOP_DEADLINE: Duration = Duration::from_secs(3600);
/// Redirect hops of a robots.txt (RFC 9309 section 2.3.1.2: at least five).
pub const ROBOTS_HOPS_MAX: u8 = 5;

/// What is to be done next.
#[derive(Debug)]
pub enum Step {
    /// Nothing before this; `pacing`: a promise's wait is running (a calendar must not jump over
    /// it), else a visit that is not due.
    Sleep {
        /// When to ask again; `None`: when something came in.
        until: Option<Timestamp>,
        /// Whether a request waits for it.
        pacing: bool,
    },
    /// Look up the lane's host.
    Resolve(Host),
    /// Append these entries, in one transaction, and apply them.
    Write(Vec<Written>),
    /// Append `permit.admitted()`, then send it.
    Fetch(Box<Permit>),
    /// Judge this answer of a page ([`observe::judge`]) and append what comes of it.
    Judge(Box<PendingAnswer>),
    /// A redirect of this answer leads to this host, whose lane is to be opened first if it has
    /// no number; then [`park`] says what to write.
    Park {
        /// The redirecting answer.
        answer: Box<PendingAnswer>,
        /// The next hop's URL.
        url: url::Url,
        /// Its host.
        host: Host,
    },
}

/// An entry to append, and the lane it belongs to.
#[derive(Clone, PartialEq, Debug)]
pub struct Written {
    /// Lane, 0 = the house.
    pub lane: LaneId,
    /// The event.
    pub event: Event,
}

pub use errand::park;

/// What the lane does next.
#[must_use]
pub fn next(house: &House, lane: &LaneState, now: Now) -> Step {
    if let Some(flight) = &lane.lane.in_flight {
        if flight.segment == lane.taken_over.0 {
            return Step::Sleep {
                until: None,
                pacing: true,
            };
        }
        // Its writer is gone: it counts as sent, and ends now.
        let lost = Lost {
            admitted: flight.admitted,
            at: now,
        };
        return write(lane, lost);
    }
    if let Some(errand) = lane.lane.errands.first() {
        return errand::next(house, lane, errand, now);
    }
    match &lane.lane.visit {
        Some(visit) => visit::next(house, lane, visit, now),
        None => visit::open(house, lane, now),
    }
}

fn write(lane: &LaneState, event: impl Into<Event>) -> Step {
    Step::Write(vec![Written {
        lane: lane.lane.id,
        event: event.into(),
    }])
}

/// Whether the lane's look-up can be used; `Err`: ask for one.
fn looked_up(lane: &LaneState, now: Now) -> Result<Result<(), &str>, Step> {
    match &lane.addresses {
        Some(found) if now.mono.since(found.at) < LOOKUP_FRESH => {
            Ok(found.found.as_ref().map(|_| ()).map_err(String::as_str))
        }
        _ => Err(Step::Resolve(lane.lane.host.clone())),
    }
}
