//! The charter: one bot's policy, read from TOML, checked as a whole.
//!
//! [`Charter`] is the second of two stages: it exists only if every key was known, every value
//! above its floor and every unit right. The first stage, the file with its spans, never leaves
//! this module. Everything a bot does, says and must prove is a function of this type.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::cadence::Every;
use crate::digest::Digest;

mod file;
mod identity;
pub mod problem;
pub(crate) mod reader;
pub(crate) mod unit;
mod value;

pub(crate) use file::bot_name;

/// Japanese or English, for every sentence a person reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Lang {
    /// 日本語
    #[default]
    Ja,
    /// English
    En,
}

/// One text in both languages.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Bilingual {
    /// 日本語
    pub ja: String,
    /// English
    pub en: String,
}

impl Bilingual {
    /// The text in `lang`.
    #[must_use]
    pub fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::Ja => &self.ja,
            Lang::En => &self.en,
        }
    }
}

/// What a request asks for. Each kind has its sentence on the policy page and its own agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestKind {
    /// `/robots.txt` of an origin.
    Robots,
    /// A page of a target.
    Page,
}

/// One bot's policy, valid as a whole.
#[derive(Clone, PartialEq, Debug)]
pub struct Charter {
    /// Short name within the house (`blueai-change`): the file's stem.
    pub bot: String,
    /// Digest of [`Charter::text`].
    pub digest: Digest,
    /// The charter file as adopted.
    pub text: String,
    /// Date of this version, as printed on the page (`2026-08-23`).
    pub updated: String,
    /// A seed's own identity: may reach loopback only (DECISIONS 26).
    pub acceptance: bool,
    /// Who the bot says it is.
    pub identity: Identity,
    /// What it may ask for.
    pub scope: Scope,
    /// How fast.
    pub pace: Pace,
    /// How robots.txt is read.
    pub robots: RobotsPolicy,
    /// What one visit is.
    pub visit: VisitPolicy,
    /// What a failure leads to.
    pub failure: FailurePolicy,
    /// Bounds of one request.
    pub limits: Limits,
    /// What is kept, how long, who reads it.
    pub evidence: EvidencePolicy,
    /// Terms-of-use check, where promised.
    pub terms: Option<TermsPolicy>,
    /// Who confirms what was found.
    pub review: Review,
    /// What may be published.
    pub release: Vec<ReleaseKind>,
    /// Sentences that no program can prove.
    pub declared: Vec<Declared>,
}

impl Charter {
    /// The agent that a kind of request carries.
    #[must_use]
    pub fn agent(&self, kind: RequestKind) -> &Agent {
        match kind {
            RequestKind::Robots => self
                .identity
                .robots_agent
                .as_ref()
                .unwrap_or(&self.identity.agent),
            RequestKind::Page => &self.identity.agent,
        }
    }
}

/// `[identity]`
#[derive(Clone, PartialEq, Debug)]
pub struct Identity {
    /// Name for people.
    pub name: String,
    /// UA, token, policy page of every request without an agent of its own.
    pub agent: Agent,
    /// Agent of robots.txt requests, where it differs.
    pub robots_agent: Option<Agent>,
    /// Publisher of the policy.
    pub operator: Bilingual,
    /// Where a site owner writes to (https or mailto).
    pub contact_url: String,
    /// What the bot is for.
    pub purpose: Bilingual,
}

/// How one kind of request names itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Agent {
    /// The User-Agent field, byte for byte.
    pub user_agent: String,
    /// The product token that robots.txt groups name; contained in `user_agent`.
    pub token: String,
    /// The policy page that `user_agent` points to.
    pub policy_url: String,
}

/// `[scope]`
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    /// What kind of places the ledger lists.
    pub kind: ScopeKind,
}

/// Kinds of scope. `site`, `robots-only` and `declaration` come with the bots that need them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScopeKind {
    /// Only URLs that the ledger lists.
    Listed,
}

/// `[pace]`
#[derive(Clone, PartialEq, Debug)]
pub struct Pace {
    /// Least wait on one host from the end of an answer to the next request head.
    pub interval_min: Duration,
    /// Upper end of the drawn interval; equal to `interval_min` where nothing is drawn.
    pub interval_max: Duration,
    /// Ceiling that the page states; the engine uses one.
    pub connections_per_host: u8,
    /// Least spacing of request starts over all hosts.
    pub global_interval: Option<Duration>,
    /// Bots that name the same group share their global interval.
    pub group: Option<String>,
    /// Slow answers lengthen the interval.
    pub slow: Option<Slow>,
}

/// `[pace.slow]`: an answer slower than `after` lengthens the host's wait to `factor` times the
/// answer's time; one slower than `stop_after` ends the visit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Slow {
    /// Time to the last byte from which an answer counts as slow.
    pub after: Duration,
    /// Wait = factor × answer time.
    pub factor: u32,
    /// From here on the visit ends.
    pub stop_after: Duration,
}

/// `[robots]`
#[derive(Clone, PartialEq, Debug)]
pub struct RobotsPolicy {
    /// How old the evidence for a page request may be.
    pub fresh_for: Freshness,
    /// What each answer to robots.txt means.
    pub status: RobotsStatus,
    /// Largest robots.txt read.
    pub max_bytes: u64,
    /// What a larger one means.
    pub over: OverSize,
}

/// How long robots evidence counts as fresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Freshness {
    /// Read again in each visit of the target.
    Visit,
    /// At most this old (≤ 24 h, RFC 9309 section 2.4).
    For(Duration),
}

/// Meaning of an answer to robots.txt that holds no rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RobotsMeaning {
    /// No rules: everything not promised otherwise may be asked for.
    NoRules,
    /// Unsure: nothing new is fetched.
    Hold,
}

/// `[robots.status]`; 2xx is always parsed, 3xx always followed as hops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RobotsStatus {
    /// 4xx other than 429 (401 and 403 included).
    pub client_error: RobotsMeaning,
    /// 429.
    pub too_many: RobotsMeaning,
    /// 5xx.
    pub server_error: RobotsMeaning,
    /// No answer: look-up, connection, TLS, timeout, cut or broken answer.
    pub network: RobotsMeaning,
}

/// What a body over the limit means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverSize {
    /// Unsure: hold.
    Hold,
    /// Judge by the part that was read (at least 500 KiB).
    Cut,
}

/// `[visit]`
#[derive(Clone, PartialEq, Debug)]
pub struct VisitPolicy {
    /// GETs other than robots.txt in one visit; hops, 304 and failures count (DECISIONS 18).
    pub pages_max: u32,
    /// How often each target is visited, unless its ledger entry says more rarely.
    pub every: Every,
    /// Whether known validators are sent.
    pub conditional: bool,
}

/// `[failure]`
#[derive(Clone, PartialEq, Debug)]
pub struct FailurePolicy {
    /// Least wait on the host after the 1st, 2nd, … answer that counts as pressure (429, 5xx).
    pub steps: Vec<Duration>,
    /// What Retry-After means.
    pub retry_after: RetryAfter,
    /// Failed visits in a row after which the target pauses.
    pub pause_after: u32,
    /// What ends that pause.
    pub resume: Resume,
}

/// Meaning of Retry-After.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RetryAfter {
    /// Waited for; above the cap the target pauses and is never asked earlier.
    Honour {
        /// Longest wait that is simply waited.
        cap: Duration,
    },
    /// Only journalled.
    Ignore,
}

/// What ends an automatic pause.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resume {
    /// A person (`reigi resume`).
    Person,
    /// Time.
    After(Duration),
}

/// `[limits]`
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limits {
    /// From connecting to the last byte.
    pub timeout: Duration,
    /// Decoded bytes of a page.
    pub max_bytes: u64,
    /// Redirect hops followed.
    pub redirects_max: u8,
}

/// `[evidence]`
#[derive(Clone, PartialEq, Debug)]
pub struct EvidencePolicy {
    /// What is kept of an answer.
    pub keep: Keep,
    /// How long a snapshot that nothing refers to is kept.
    pub retention_unreferenced: Duration,
    /// Roles that may read bodies.
    pub readers: Vec<String>,
    /// What signals on a page lead to.
    pub signals: SignalsPolicy,
}

/// What is kept of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keep {
    /// Body and normalised text, in the restricted store.
    Full,
}

/// What signals on a page lead to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignalsPolicy {
    /// Stored with the snapshot.
    Record,
}

/// `[terms]`: each target's terms of use were checked by a person, not longer ago than this.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TermsPolicy {
    /// Oldest check that counts.
    pub max_age: Duration,
}

/// `[review]`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Review {
    /// A person confirms every change and fact before publication.
    Person,
}

/// What may be published. Bodies and texts never are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReleaseKind {
    /// Confirmed facts.
    Facts,
    /// Short summaries of confirmed changes.
    Summaries,
}

/// `[[declared]]`: a sentence that the page marks as declared and the audit never calls kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declared {
    /// Stable slug.
    pub id: String,
    /// The sentence.
    pub text: Bilingual,
}

/// A page URL, absolute http(s), without userinfo or fragment.
pub type PageUrl = Url;
