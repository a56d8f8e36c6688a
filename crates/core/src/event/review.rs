//! Payloads of people: what they decided, read, deleted and published.

use serde::{Deserialize, Serialize};

use super::LaneId;
use crate::digest::Digest;
use crate::time::Timestamp;

/// What a person decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It is so.
    Confirm,
    /// It is not, or is no news.
    Reject,
}

/// See [`super::Event::Reviewed`].
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

/// See [`super::Event::EvidenceRead`].
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

/// See [`super::Event::EvidenceDropped`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct EvidenceDropped {
    /// The bodies.
    pub digests: Vec<Digest>,
    /// Who, or the promise that did.
    pub by: String,
    /// Why.
    pub reason: String,
}

/// See [`super::Event::Released`].
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

/// See [`super::Event::PolicyRendered`].
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
