//! What the journal records: one closed enum, one payload type a kind.
//!
//! Payloads are JSON. A payload may be erased (`reigi forget`), a header never: so hosts, URLs and
//! people stand here and only here. Kinds and fields are released formats: a change of meaning
//! raises the kind's version and keeps the old reader (DECISIONS 2).

mod house;
mod request;
mod review;
mod visit;

use serde::{Deserialize, Serialize};

pub use house::*;
pub use request::*;
pub use review::*;
pub use visit::*;

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
