//! What the journal records: one closed enum, one payload type a kind.
//!
//! Payloads are JSON. A payload may be erased (`reigi forget`), a header never: so hosts, URLs and
//! people stand here and only here. Kinds and fields are released formats: a change of meaning
//! raises the kind's version and keeps the old reader (DECISIONS 2).

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::charter::{RequestKind, RobotsMeaning};
use crate::digest::Digest;
use crate::fetched::{Outcome, WireText};
use crate::journal::Head;
use crate::ledger::Target;
use crate::time::{Now, Timestamp};

/// Number of an entry in the house's journal, in commit order.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// Number of a lane; its host stands in the payload of `lane-opened`. 0 is the house itself.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct LaneId(pub u64);

impl LaneId {
    /// Entries that belong to no lane.
    pub const HOUSE: Self = Self(0);
}

/// Number of a visit within its lane.
pub type VisitId = u64;

macro_rules! events {
    ($($(#[$doc:meta])* $kind:literal => $variant:ident($payload:ty),)*) => {
        /// One thing that happened or was decided.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Event { $($(#[$doc])* $variant($payload),)* }

        /// Every kind of entry this program can read, in the order of the enum.
        pub const KINDS: &[&str] = &[$($kind),*];

        impl Event {
            /// The kind's stable name in the header.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind,)* }
            }

            /// The payload bytes, hashed exactly as stored.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                match self {
                    $(Self::$variant(payload) => serde_json::to_vec(payload).unwrap_or_default(),)*
                }
            }

            /// Reads a payload of `kind`. An unknown kind or version is an error: a program that
            /// does not understand its journal must not act on it.
            ///
            /// # Errors
            /// Names the kind and what is wrong.
            pub fn decode(kind: &str, version: u16, payload: &[u8]) -> Result<Self, DecodeError> {
                match (kind, version) {
                    $(($kind, 1) => serde_json::from_slice(payload)
                        .map(Self::$variant)
                        .map_err(|e| DecodeError { kind: kind.to_owned(), why: e.to_string() }),)*
                    _ => Err(DecodeError {
                        kind: kind.to_owned(),
                        why: format!("kind or version {version} is not known to this program"),
                    }),
                }
            }
        }

        $(impl From<$payload> for Event {
            fn from(payload: $payload) -> Self { Self::$variant(payload) }
        })*
    };
}

events! {
    /// A writer started.
    "segment-opened" => SegmentOpened(SegmentOpened),
    /// The wall clock stepped, or the demo's calendar was turned.
    "clock-stepped" => ClockStepped(ClockStepped),
    /// A charter came into force.
    "charter-adopted" => CharterAdopted(CharterAdopted),
    /// A bot's ledger came into force; its rows follow as `target-entered` / `target-left`.
    "ledger-adopted" => LedgerAdopted(LedgerAdopted),
    /// A lane got its number.
    "lane-opened" => LaneOpened(LaneOpened),
    /// A ledger row came into force, new or changed.
    "target-entered" => TargetEntered(TargetEntered),
    /// A ledger row is gone.
    "target-left" => TargetLeft(TargetLeft),
    /// Collection was paused.
    "paused" => Paused(Paused),
    /// A pause ended.
    "resumed" => Resumed(Resumed),
    /// Somebody wishes not to be visited.
    "opted-out" => OptedOut(OptedOut),
    /// A visit began.
    "visit-opened" => VisitOpened(VisitOpened),
    /// The gate let one request out; durable before the socket opens.
    "admitted" => Admitted(Admitted),
    /// A permit's window passed unused.
    "not-sent" => NotSent(NotSent),
    /// What came back.
    "answered" => Answered(Answered),
    /// The writer died with a request in flight; it counts as sent.
    "lost" => Lost(Lost),
    /// A redirect leads to another lane of the same site; the visit waits.
    "hop-parked" => HopParked(HopParked),
    /// The other lane's half: it will ask for the hop.
    "hop-queued" => HopQueued(HopQueued),
    /// The other lane's answer, back in the visit's own lane.
    "hop-returned" => HopReturned(HopReturned),
    /// The other lane's half of that.
    "hop-done" => HopDone(HopDone),
    /// What an origin's robots.txt means for one agent from here on.
    "robots-settled" => RobotsSettled(RobotsSettled),
    /// What a visit learned about one URL.
    "observed" => Observed(Observed),
    /// A difference against the last settled version, waiting for a person.
    "changed" => Changed(Changed),
    /// A visit ended.
    "visit-closed" => VisitClosed(VisitClosed),
    /// A place on a page was learned to be noise, or that was undone.
    "noise-learned" => NoiseLearned(NoiseLearned),
    /// A person decided about a change.
    "reviewed" => Reviewed(Reviewed),
    /// Somebody read a body.
    "evidence-read" => EvidenceRead(EvidenceRead),
    /// Bodies were deleted.
    "evidence-dropped" => EvidenceDropped(EvidenceDropped),
    /// Confirmed changes went out.
    "released" => Released(Released),
    /// The policy page was rendered for publication.
    "policy-rendered" => PolicyRendered(PolicyRendered),
}

impl Event {
    /// The `rules_epoch` that this event brings, if it changes the rules (DECISIONS 14).
    #[must_use]
    pub fn epoch_raised(&self) -> Option<u64> {
        match self {
            Self::CharterAdopted(e) => Some(e.epoch),
            Self::LedgerAdopted(e) => Some(e.epoch),
            Self::TargetEntered(e) => Some(e.epoch),
            Self::TargetLeft(e) => Some(e.epoch),
            Self::Paused(e) => Some(e.epoch),
            Self::Resumed(e) => Some(e.epoch),
            Self::OptedOut(e) => Some(e.epoch),
            Self::Reviewed(e) => Some(e.epoch),
            _ => None,
        }
    }
}

/// A payload that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("journal entry of kind {kind:?}: {why}")]
pub struct DecodeError {
    /// The header's kind.
    pub kind: String,
    /// What is wrong.
    pub why: String,
}

/// See [`Event::SegmentOpened`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SegmentOpened {
    /// Program and version.
    pub program: String,
    /// What the writer is (`run`, `pause`, …).
    pub role: String,
    /// Heads of all segments before.
    pub heads: Vec<Head>,
    /// Both clocks at the start.
    pub clock: Now,
}

/// See [`Event::ClockStepped`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ClockStepped {
    /// Wall time expected by the monotonic clock.
    pub expected: Timestamp,
    /// Wall time found.
    pub found: Timestamp,
    /// Why.
    pub cause: StepCause,
    /// Whether cadences wait for `reigi resume` (a forward step of the system's clock).
    pub hold: bool,
}

/// Why the wall clock moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepCause {
    /// The system's clock was set.
    System,
    /// The demo's or a test's calendar was turned on purpose; nothing was in flight or waiting.
    Calendar,
}

/// See [`Event::CharterAdopted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CharterAdopted {
    /// The bot.
    pub bot: String,
    /// 1, 2, … within the bot.
    pub version: u32,
    /// Digest of the text.
    pub digest: Digest,
    /// The whole charter file.
    pub text: String,
    /// The house's zone that periods are counted in (IANA name).
    pub zone: String,
    /// The house's `rules_epoch` from here on.
    pub epoch: u64,
}

/// See [`Event::LedgerAdopted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LedgerAdopted {
    /// The bot.
    pub bot: String,
    /// Digest over the rows' digests in id order.
    pub digest: Digest,
    /// Rows in force.
    pub rows: u64,
    /// The house's `rules_epoch` from here on.
    pub epoch: u64,
}

/// See [`Event::LaneOpened`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LaneOpened {
    /// The host that the lane's number stands for.
    pub host: String,
}

/// See [`Event::TargetEntered`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TargetEntered {
    /// The bot.
    pub bot: String,
    /// The row.
    pub row: Target,
    /// First visit not before.
    pub due: Timestamp,
    /// The house's `rules_epoch` from here on.
    pub epoch: u64,
}

/// See [`Event::TargetLeft`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TargetLeft {
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// The house's `rules_epoch` from here on.
    pub epoch: u64,
}

/// What a pause, an opt-out or a restriction covers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reach {
    /// Everything.
    All,
    /// One target of one bot.
    Target {
        /// The bot.
        bot: String,
        /// The row's id.
        target: String,
    },
    /// One host.
    Host(String),
    /// A registrable domain with all its hosts.
    Domain(String),
    /// URLs that begin so.
    Prefix(String),
}

/// See [`Event::Paused`]. A pause of a target stands in its lane, a wider one in the house.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Paused {
    /// What is paused.
    pub reach: Reach,
    /// Who paused it: a person's name, or the id of the promise that did.
    pub by: String,
    /// Why, in words.
    pub reason: String,
    /// When it ends by itself; `None`: when a person resumes it.
    pub until: Option<Timestamp>,
    /// The house's `rules_epoch` from here on (unchanged for a promise's own pause).
    pub epoch: u64,
}

/// See [`Event::Resumed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Resumed {
    /// What is resumed.
    pub reach: Reach,
    /// Who.
    pub by: String,
    /// Why.
    pub reason: String,
    /// The house's `rules_epoch` from here on.
    pub epoch: u64,
}

/// See [`Event::OptedOut`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OptedOut {
    /// What is left alone from here on (host, domain or prefix).
    pub reach: Reach,
    /// Who recorded it.
    pub by: String,
    /// What was said.
    pub reason: String,
    /// When the wish was received.
    pub received: Timestamp,
    /// Whether the wish was taken back.
    pub withdrawn: bool,
    /// The house's `rules_epoch` from here on.
    pub epoch: u64,
}

/// See [`Event::VisitOpened`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VisitOpened {
    /// The visit.
    pub visit: VisitId,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// When it was due.
    pub due: Timestamp,
}

/// Validators of a body that we hold, sent back byte for byte (G18).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Validators {
    /// ETag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// Last-Modified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

impl Validators {
    /// Whether there is nothing to send.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.etag.is_none() && self.last_modified.is_none()
    }
}

/// The evidence that a page request was judged by.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RobotsBasis {
    /// The answer to robots.txt (the last hop's, where it redirected).
    pub answered: Seq,
    /// Its body, where there was one with rules.
    pub body: Option<Digest>,
    /// 1-based line of the rule that decided, if one did.
    pub line: Option<u32>,
    /// Crawl-delay that the file asks of this token, microseconds.
    pub crawl_delay_us: Option<u64>,
}

/// See [`Event::Admitted`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Admitted {
    /// The visit it belongs to.
    pub visit: VisitId,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// What is asked for.
    pub kind: RequestKind,
    /// The URL asked.
    pub url: String,
    /// The listed URL that it is asked for.
    pub listed: String,
    /// For robots.txt: the origin that the answer will speak for.
    pub answers_for: Option<String>,
    /// User-Agent field sent.
    pub user_agent: String,
    /// Token that it is judged under.
    pub token: String,
    /// Charter in force.
    pub charter: Digest,
    /// `rules_epoch` it was judged under.
    pub epoch: u64,
    /// The answer whose redirect led here.
    pub cause: Option<Seq>,
    /// 0, or the hop's number.
    pub hop: u8,
    /// Robots evidence; `None` for robots.txt itself.
    pub robots: Option<RobotsBasis>,
    /// Validators sent.
    pub validators: Validators,
    /// Addresses that may be connected to, all vetted.
    pub addresses: Vec<IpAddr>,
    /// The drawn interval, microseconds; a lower bound (DECISIONS 11).
    pub draw_us: u64,
    /// The window in which the request head may leave.
    pub not_before: Now,
    /// End of the window.
    pub send_by: Now,
    /// Pacers won.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pacers: Vec<String>,
}

/// See [`Event::NotSent`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NotSent {
    /// The permit.
    pub admitted: Seq,
    /// Why.
    pub why: String,
    /// When that was clear.
    pub at: Now,
}

/// A stored body.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BodyRef {
    /// SHA-256 of the body, content coding removed.
    pub digest: Digest,
    /// Its length.
    pub bytes: u64,
}

/// See [`Event::Answered`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answered {
    /// The permit that was used.
    pub admitted: Seq,
    /// How it ended.
    pub outcome: Outcome,
    /// When the connection began to open.
    pub opened: Now,
    /// When the request head left.
    pub sent: Option<Now>,
    /// When the head of the answer was complete.
    pub head_at: Option<Now>,
    /// When the last byte came or the socket closed.
    pub ended: Now,
    /// Local end of the connection.
    pub local: Option<String>,
    /// Far end.
    pub remote: Option<String>,
    /// The request head, byte for byte.
    pub request_head: WireText,
    /// The answer's fields.
    pub headers: Vec<(String, WireText)>,
    /// The body, where one was kept.
    pub body: Option<BodyRef>,
    /// Bytes of the body on the wire.
    pub raw_bytes: u64,
    /// Oddities.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// SHA-256 of the server's certificate, hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

impl Answered {
    /// The first field named `name` (lower case), where it is text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name)?.1.as_text()
    }
}

/// See [`Event::Lost`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Lost {
    /// The permit.
    pub admitted: Seq,
    /// When it was found lost; counts as the end of the request.
    pub at: Now,
}

/// See [`Event::HopParked`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HopParked {
    /// The waiting visit.
    pub visit: VisitId,
    /// The redirecting answer.
    pub cause: Seq,
    /// Lane that will ask.
    pub to: LaneId,
    /// When the visit gives up waiting.
    pub deadline: Timestamp,
}

/// See [`Event::HopQueued`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HopQueued {
    /// Lane of the waiting visit.
    pub from: LaneId,
    /// The waiting visit.
    pub visit: VisitId,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// The redirecting answer.
    pub cause: Seq,
    /// The URL to ask.
    pub url: String,
    /// The listed URL that the redirect began at.
    pub listed: String,
    /// What is asked for.
    pub kind: RequestKind,
    /// For robots.txt: the origin that the answer will speak for.
    pub answers_for: Option<String>,
    /// This hop's number.
    pub hop: u8,
    /// When the visit gives up waiting.
    pub deadline: Timestamp,
}

/// See [`Event::HopReturned`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HopReturned {
    /// The waiting visit.
    pub visit: VisitId,
    /// The URL that was to be asked.
    pub url: String,
    /// This hop's number.
    pub hop: u8,
    /// What came of it.
    pub result: HopResult,
}

/// What came of a hop in another lane.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HopResult {
    /// It was asked; the answer.
    Answer {
        /// The `answered` (or `lost`) entry in the other lane.
        answered: Seq,
        /// How it ended; `None`: lost with its writer.
        outcome: Option<Outcome>,
        /// Location, where it redirected again.
        location: Option<String>,
        /// Retry-After, where it named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
        /// The body.
        body: Option<BodyRef>,
    },
    /// The gate said no, or the deadline passed.
    Held {
        /// The promise that decided.
        promise: String,
        /// In words.
        why: String,
    },
}

/// See [`Event::HopDone`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct HopDone {
    /// Lane of the waiting visit.
    pub from: LaneId,
    /// The waiting visit.
    pub visit: VisitId,
    /// The redirecting answer.
    pub cause: Seq,
}

/// See [`Event::RobotsSettled`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct RobotsSettled {
    /// The visit that read it.
    pub visit: VisitId,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// Origin that it speaks for.
    pub origin: String,
    /// User-Agent that it was asked with.
    pub user_agent: String,
    /// The answer that settled it; `None`: the host's name led nowhere.
    pub answered: Option<Seq>,
    /// Body to judge by, or `None`: `meaning` holds.
    pub rules: Option<Digest>,
    /// Meaning of an answer without rules.
    pub meaning: Option<RobotsMeaning>,
    /// In words (`HTTP 503`, `timeout`, `rules`).
    pub why: String,
}

/// What a visit learned about one URL.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "is")]
pub enum Observation {
    /// A version that stands: the first one, or one equal in meaning to the last.
    Confirmed,
    /// 304, or the same body.
    Unchanged,
    /// Differs from the last settled version only by noise.
    Noise,
    /// Differs; a change waits for review.
    Changed,
    /// We could not tell.
    Unconfirmed {
        /// Why, from a closed list of words (`timeout`, `needs script`, `cookie wall`, …).
        reason: String,
    },
    /// Not asked for now.
    Held {
        /// The promise.
        promise: String,
        /// In words.
        reason: String,
    },
    /// Not asked for at all.
    Refused {
        /// The promise.
        promise: String,
        /// In words.
        reason: String,
    },
}

/// One version of a page, as evidence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Version {
    /// The body.
    pub body: BodyRef,
    /// Digest of the normalised text; `None` for files that are no HTML.
    pub text: Option<Digest>,
    /// Content-Type as received.
    pub content_type: Option<String>,
    /// Charset used and where it was said.
    pub charset: Option<String>,
    /// Validators that describe this body.
    pub validators: Validators,
    /// Signals on the page and in its head, as recorded (`noindex`, `tdm-reservation=1`, …).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<String>,
}

/// See [`Event::Observed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Observed {
    /// The visit.
    pub visit: VisitId,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// The listed URL.
    pub url: String,
    /// What was learned.
    pub observation: Observation,
    /// The answer it rests on.
    pub answered: Option<Seq>,
    /// The version that the answer brought, where it brought one that counts.
    pub version: Option<Version>,
}

/// Why two versions differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The site changed.
    Site,
    /// Our selectors or extractor changed.
    Recipe,
}

/// See [`Event::Changed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Changed {
    /// Number of the change within its lane.
    pub change: u64,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// The listed URL.
    pub url: String,
    /// Last settled body.
    pub before: Digest,
    /// Body that differs.
    pub after: Digest,
    /// Short summary, 日本語.
    pub summary_ja: String,
    /// Short summary, English.
    pub summary_en: String,
    /// Why.
    pub cause: Cause,
    /// A waiting change of the same URL that this one replaces.
    pub supersedes: Option<u64>,
}

/// See [`Event::VisitClosed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct VisitClosed {
    /// The visit.
    pub visit: VisitId,
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// GETs other than robots.txt.
    pub pages: u32,
    /// Whether it counts as a failure for auto-pause.
    pub failed: bool,
    /// When the target is due again.
    pub next_due: Timestamp,
    /// Whether the visit could not begin or finish and why, in words.
    pub held: Option<String>,
}

/// See [`Event::NoiseLearned`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct NoiseLearned {
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub target: String,
    /// The listed URL.
    pub url: String,
    /// The rule, as `reigi_page::change` writes it.
    pub rule: serde_json::Value,
    /// Why it was learned, or undone.
    pub reason: String,
    /// A person took it back.
    pub undone: bool,
}

/// What a person decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It is so.
    Confirm,
    /// It is not, or is no news.
    Reject,
}

/// See [`Event::Reviewed`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reviewed {
    /// Number of the change within its lane.
    pub change: u64,
    /// What was decided.
    pub decision: Decision,
    /// Who.
    pub by: String,
    /// Note.
    pub note: Option<String>,
    /// Whether the reviewer had opened the diff before.
    pub evidence_opened: bool,
    /// The house's `rules_epoch` from here on: lanes held in memory elsewhere are read anew.
    pub epoch: u64,
}

/// See [`Event::EvidenceRead`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvidenceRead {
    /// The bodies.
    pub digests: Vec<Digest>,
    /// Who.
    pub by: String,
    /// In which role.
    pub role: String,
    /// What for.
    pub purpose: String,
}

/// See [`Event::EvidenceDropped`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvidenceDropped {
    /// The bodies.
    pub digests: Vec<Digest>,
    /// Who, or the promise that did.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// See [`Event::Released`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Released {
    /// The bot.
    pub bot: String,
    /// What went out.
    pub items: Vec<ReleasedItem>,
}

/// One confirmed change as published.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReleasedItem {
    /// Lane of the change.
    pub lane: LaneId,
    /// Number of the change within its lane.
    pub change: u64,
    /// The official page.
    pub url: String,
    /// When a person confirmed it.
    pub confirmed: Timestamp,
    /// The summary, as published.
    pub text: Vec<String>,
}

/// See [`Event::PolicyRendered`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PolicyRendered {
    /// The bot.
    pub bot: String,
    /// Charter that the page was rendered from.
    pub charter: Digest,
    /// SHA-256 of the page.
    pub page: Digest,
    /// Language and form, `ja/html`.
    pub form: String,
}
