//! One host: its pace, what is in flight, its robots.txt, the visit under way.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reigi_robots::Rules;
use serde::{Deserialize, Serialize};

use crate::charter::{RequestKind, RobotsMeaning};
use crate::digest::Digest;
use crate::event::{BodyRef, HopQueued, LaneId, Reach, Seq, VisitId};
use crate::fetched::Outcome;
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
    /// The visit that the last answer ends because it was very slow.
    pub too_slow: Option<(TargetKey, VisitId)>,
    /// Waits that began with the end of the last request, by its own charter.
    pub owed: Owed,
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
    pub errands: Vec<Errand>,
}

/// What the last request's own charter promises after it, whoever asks next and whatever was
/// adopted since: the stricter of both charters counts, and a running wait is never shortened
/// (DECISIONS 7 and 9).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Owed {
    /// Its least interval.
    pub interval: Duration,
    /// The step of its backoff.
    pub backoff: Duration,
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
    /// The listed URL that it is asked for.
    pub listed: String,
    /// The answer whose redirect led here.
    pub cause: Option<Seq>,
    /// This hop's number.
    pub hop: u8,
    /// Bot and row.
    pub target: TargetKey,
    /// The visit it belongs to, numbered in its own lane.
    pub visit: VisitId,
    /// Whether it is a hop that another lane's visit waits for.
    pub errand: bool,
    /// Segment that admitted it: another one finds it lost.
    pub segment: SegmentId,
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
    /// Last answer that has not been judged.
    pub answer: Option<PendingAnswer>,
    /// A page's redirect that waits while robots.txt of its origin is read.
    #[serde(default)]
    pub redirect: Option<PendingAnswer>,
    /// Waiting for a hop in another lane.
    pub waiting: Option<Waiting>,
    /// Whether one of its answers counts as a failure.
    pub failed: bool,
    /// Why it ends early, in words.
    pub held: Option<String>,
}

/// An answer that waits to be judged: followed, settled or observed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PendingAnswer {
    /// The `answered` (or `lost`) entry, in whatever lane.
    pub answered: Seq,
    /// What was asked for.
    pub kind: RequestKind,
    /// URL that answered.
    pub url: String,
    /// For robots.txt: the origin that the answer speaks for.
    pub answers_for: Option<String>,
    /// Hops that led there.
    pub hop: u8,
    /// How it ended; `None`: lost with its writer.
    pub outcome: Option<Outcome>,
    /// Location field.
    pub location: Option<String>,
    /// Whether it wanted to set a cookie.
    pub sets_cookie: bool,
    /// A redirect that another lane did not follow: the promise and why.
    #[serde(default)]
    pub held: Option<(String, String)>,
    /// Retry-After field.
    #[serde(default)]
    pub retry_after: Option<String>,
    /// The body, where one was kept.
    pub body: Option<BodyRef>,
}

/// A visit that waits for a hop in another lane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// The redirecting answer.
    pub cause: PendingAnswer,
    /// The lane that asks.
    pub lane: LaneId,
    /// When waiting ends.
    pub deadline: Timestamp,
}

/// A hop that another lane's visit waits for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Errand {
    /// What is to be asked.
    pub hop: HopQueued,
    /// The answer of robots.txt, read before a page, until it is settled.
    #[serde(default)]
    pub robots: Option<PendingAnswer>,
    /// What came of it, until it is handed back.
    pub answer: Option<PendingAnswer>,
}

impl Errand {
    /// Whether a request of this visit and target is made for this errand.
    #[must_use]
    pub fn is_for(&self, target: &TargetKey, visit: VisitId) -> bool {
        self.answer.is_none()
            && self.hop.visit == visit
            && self.hop.bot == target.bot
            && self.hop.target == target.id
    }
}

/// What is known of one origin's robots.txt under one User-Agent (DECISIONS 17).
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RobotsRecord {
    /// Answer that settled it; `None`: the host's name led nowhere.
    pub answered: Option<Seq>,
    /// When it was settled.
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

/// Key of [`Lane::robots`].
#[must_use]
pub fn robots_key(origin: &str, user_agent: &str) -> String {
    format!("{origin} {user_agent}")
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
            too_slow: None,
            owed: Owed::default(),
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
