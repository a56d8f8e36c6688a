//! One ledger row's life: when it is due, what is known of each of its pages, its changes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::event::{Changed, Decision, Paused, Seq, Validators, Version, VisitId};
use crate::ledger::Target;
use crate::time::Timestamp;

/// Bot and row id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct TargetKey {
    /// The bot.
    pub bot: String,
    /// The row's id.
    pub id: String,
}

impl fmt::Display for TargetKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bot, self.id)
    }
}

/// A target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct TargetState {
    /// Bot and row id.
    pub key: TargetKey,
    /// The row in force.
    pub row: Target,
    /// The row was removed; kept so that its evidence stays explained.
    pub left: bool,
    /// Next visit not before.
    pub due: Timestamp,
    /// Day of the month of the first visit, for monthly periods.
    pub anchor_day: Option<i8>,
    /// Start of the last visit that was opened.
    pub last_visit: Option<Timestamp>,
    /// Failed visits in a row.
    pub failures: u32,
    /// The pause in force.
    pub pause: Option<Paused>,
    /// Pages by listed URL.
    pub pages: BTreeMap<String, PageState>,
}

/// What is known of one listed URL.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct PageState {
    /// Newest version that counts; its validators are the known ones (DECISIONS 29).
    pub latest: Option<Version>,
    /// Last settled version: baseline, confirmed or rejected (DECISIONS 30).
    pub settled: Option<Version>,
    /// Versions before the latest, newest last, for A→B→A and for learning; at most 8.
    pub earlier: Vec<Earlier>,
    /// The change that waits for review.
    pub waiting: Option<u64>,
    /// The version that the waiting change is about: what a decision settles.
    pub judged: Option<Version>,
    /// Bodies whose change a person rejected: the same body stays quiet.
    pub rejected: Vec<Digest>,
    /// Learned noise rules in force, as `reigi_page::change` writes them.
    pub learned: Vec<serde_json::Value>,
    /// When it was last seen to be as `latest` says.
    pub seen: Option<Timestamp>,
    /// Last outcome, in words, for status pages.
    pub last: Option<String>,
    /// Rounds in which a sent validator brought the same body again (G18).
    pub useless_validators: u32,
}

/// A version that is no longer the latest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Earlier {
    /// Digest of the body.
    pub body: Digest,
    /// Digest of the normalised text.
    pub text: Digest,
}

impl PageState {
    /// Validators of the body that we hold.
    #[must_use]
    pub fn validators(&self) -> Validators {
        self.latest
            .as_ref()
            .map(|v| v.validators.clone())
            .unwrap_or_default()
    }
}

/// A change and what became of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// The entry that recorded it.
    pub seq: Seq,
    /// When it was found.
    pub found: Timestamp,
    /// Visit that found it.
    pub visit: VisitId,
    /// What was recorded.
    pub what: Changed,
    /// Where it stands.
    pub state: ChangeState,
}

/// Where a change stands.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChangeState {
    /// A person is to look at it.
    Waiting,
    /// A newer change of the same page took its place.
    Superseded(u64),
    /// A person decided.
    Settled {
        /// What.
        decision: Decision,
        /// Who.
        by: String,
        /// When.
        at: Timestamp,
        /// Note.
        note: Option<String>,
    },
}
