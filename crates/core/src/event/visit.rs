//! Payloads of a visit: what it opened, learned and closed.

use serde::{Deserialize, Serialize};

use super::{BodyRef, Seq, Validators, VisitId};
use crate::charter::RobotsMeaning;
use crate::digest::Digest;
use crate::time::Timestamp;

/// See [`super::Event::VisitOpened`].
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

/// See [`super::Event::RobotsSettled`].
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

/// See [`super::Event::Observed`].
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

/// See [`super::Event::Changed`].
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

/// See [`super::Event::VisitClosed`].
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

/// See [`super::Event::NoiseLearned`].
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
