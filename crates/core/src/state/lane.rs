//! One host: its pace, what is in flight, its robots.txt, the visit under way.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reigi_robots::Rules;
use serde::{Deserialize, Serialize};

use crate::charter::{RequestKind, RobotsMeaning};
use crate::digest::Digest;
use crate::event::{HopQueued, LaneId, Reach, Seq, VisitId};
use crate::host::Host;
use crate::journal::SegmentId;
use crate::state::target::{Change, TargetKey, TargetState};
use crate::time::{Mono, Now, Timestamp};

/// A lane with all that a decision about it needs.
#[derive(Clone, Debug)]
pub struct LaneState {
    /// The stored part.
    pub lane: Lane,
    /// Targets of all bots on this host.
    pub targets: BTreeMap<TargetKey, TargetState>,
    /// Changes of these targets by number.
    pub changes: BTreeMap<u64, Change>,
    /// Parsed robots bodies by digest. Not stored: loaded from evidence.
    pub rules: BTreeMap<Digest, Arc<Rules>>,
    /// Vetted look-up of the host. Not stored.
    pub addresses: Option<Addresses>,
    /// Segment of this writer, and when it took the lane over by its own clock.
    pub taken_over: (SegmentId, Mono),
}

/// Result of a look-up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// When it was asked.
    pub at: Mono,
    /// What it gave, or why it gave nothing.
    pub found: Result<Vec<IpAddr>, String>,
}

/// The stored part of a lane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lane {
    /// Number.
    pub id: LaneId,
    /// Host.
    pub host: Host,
    /// Number of the lane's last entry.
    pub lane_seq: u64,
    /// End of the last answer, by the clock of `segment`.
    pub quiet_since: Option<Now>,
    /// Segment whose monotonic clock `quiet_since` and `wait` speak.
    pub segment: SegmentId,
    /// The request under way.
    pub in_flight: Option<InFlight>,
    /// Answers of pressure (429, 5xx) not yet worked off: index into the charter's steps.
    pub backoff: u32,
    /// Clean answers since the last change of `backoff`.
    pub clean: u32,
    /// Wait that the last answer's slowness asks for.
    pub slow_wait: Duration,
    /// Retry-After of the host, honoured by charters that promise to.
    pub retry_after: Option<Timestamp>,
    /// The visit under way.
    pub visit: Option<Visit>,
    /// Visits so far.
    pub visits: VisitId,
    /// Changes so far.
    pub changes: u64,
    /// robots.txt as last read, by `origin user-agent`.
    pub robots: BTreeMap<String, RobotsRecord>,
    /// Hops that other lanes' visits wait for.
    pub errands: Vec<HopQueued>,
}

/// A request under way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct InFlight {
    /// The `admitted` entry.
    pub admitted: Seq,
    /// What is asked for.
    pub kind: RequestKind,
    /// The URL.
    pub url: String,
    /// For robots.txt: the origin that the answer speaks for.
    pub answers_for: Option<String>,
    /// User-Agent sent.
    pub user_agent: String,
    /// This hop's number.
    pub hop: u8,
    /// Bot and row.
    pub target: TargetKey,
    /// Position in [`Lane::errands`] if it is one.
    pub errand: bool,
}

/// A visit under way.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Visit {
    /// Number within the lane.
    pub id: VisitId,
    /// Bot and row.
    pub target: TargetKey,
    /// When it began.
    pub opened: Timestamp,
    /// When it was due.
    pub due: Timestamp,
    /// GETs other than robots.txt so far.
    pub pages: u32,
    /// Index of the listed URL under way.
    pub at: usize,
    /// Last answer of the URL (or robots.txt) under way that has not been judged.
    pub answer: Option<PendingAnswer>,
    /// A redirect that is to be followed.
    pub hop: Option<PendingHop>,
    /// Waiting for another lane.
    pub waiting: Option<Waiting>,
    /// Whether one of its answers counts as a failure.
    pub failed: bool,
    /// Why it ended early, in words.
    pub held: Option<String>,
}

/// An answer that waits to be judged.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingAnswer {
    /// The `answered` entry (in whatever lane).
    pub answered: Seq,
    /// URL that answered, after hops.
    pub url: String,
    /// Hops that led there.
    pub hop: u8,
}

/// A redirect to follow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingHop {
    /// The redirecting answer.
    pub cause: Seq,
    /// Where to.
    pub url: String,
    /// What is asked for.
    pub kind: RequestKind,
    /// For robots.txt: the origin that the answer will speak for.
    pub answers_for: Option<String>,
    /// This hop's number.
    pub hop: u8,
}

/// A visit that waits for a hop in another lane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// The hop.
    pub hop: PendingHop,
    /// The lane that asks.
    pub lane: LaneId,
    /// When waiting ends.
    pub deadline: Timestamp,
}

/// A hop for another lane's visit: see [`HopQueued`].
pub type Errand = HopQueued;

/// What is known of one origin's robots.txt under one User-Agent (DECISIONS 17).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RobotsRecord {
    /// Answer that settled it.
    pub answered: Seq,
    /// When that answer ended.
    pub at: Timestamp,
    /// Visit of which target read it.
    pub visit: (TargetKey, VisitId),
    /// What it means.
    pub verdict: RobotsVerdict,
}

/// Meaning of the last robots.txt answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobotsVerdict {
    /// Judge by this body.
    Rules(Digest),
    /// The charter's table says so.
    Means {
        /// Meaning.
        meaning: RobotsMeaning,
        /// Why, in words (`HTTP 503`, `timeout`).
        why: String,
    },
}

impl LaneState {
    /// A lane nobody has used yet.
    #[must_use]
    pub fn new(id: LaneId, host: Host, segment: SegmentId, now: Mono) -> Self {
        let lane = Lane {
            id,
            host,
            lane_seq: 0,
            quiet_since: None,
            segment,
            in_flight: None,
            backoff: 0,
            clean: 0,
            slow_wait: Duration::ZERO,
            retry_after: None,
            visit: None,
            visits: 0,
            changes: 0,
            robots: BTreeMap::new(),
            errands: Vec::new(),
        };
        Self {
            lane,
            targets: BTreeMap::new(),
            changes: BTreeMap::new(),
            rules: BTreeMap::new(),
            addresses: None,
            taken_over: (segment, now),
        }
    }

    /// The pause of a target, as reach.
    #[must_use]
    pub fn target_reach(key: &TargetKey) -> Reach {
        Reach::Target {
            bot: key.bot.clone(),
            target: key.id.clone(),
        }
    }
}
