//! Payloads of the house: writers, clocks, charters, ledgers, pauses, opt-outs.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::journal::Head;
use crate::ledger::Target;
use crate::time::{Now, Timestamp};

/// See [`super::Event::SegmentOpened`].
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

/// See [`super::Event::ClockStepped`].
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

/// See [`super::Event::CharterAdopted`].
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

/// See [`super::Event::LedgerAdopted`].
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

/// See [`super::Event::LaneOpened`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct LaneOpened {
    /// The host that the lane's number stands for.
    pub host: String,
}

/// See [`super::Event::TargetEntered`].
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

/// See [`super::Event::TargetLeft`].
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

/// See [`super::Event::Paused`]. A pause of a target stands in its lane, a wider one in the house.
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

/// See [`super::Event::Resumed`].
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

/// See [`super::Event::OptedOut`].
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
