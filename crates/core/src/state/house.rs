//! What holds for all lanes: charters in force, epoch, pauses, opt-outs, pacers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::Url;

use crate::charter::Charter;
use crate::digest::Digest;
use crate::event::{LaneId, Paused, Reach};
use crate::host::Host;
use crate::journal::SegmentId;
use crate::time::{Now, Timestamp};

/// House-wide state.
#[derive(Clone, Default)]
pub struct House {
    /// The stored part.
    pub facts: HouseFacts,
    /// Charters in force, parsed, by bot. Not stored: rebuilt from `facts.charters`.
    pub charters: BTreeMap<String, Arc<Charter>>,
    /// Zone that periods are counted in.
    pub zone: Zone,
    /// Addresses that are allowed although no public site can have them (`[network]
    /// allow_private`); a test hook.
    pub allow_private: Vec<crate::host::Block>,
}

/// Zone of the house, UTC unless told.
#[derive(Clone, Debug)]
pub struct Zone(pub jiff::tz::TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(jiff::tz::TimeZone::UTC)
    }
}

/// The stored part of the house.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct HouseFacts {
    /// `rules_epoch` (DECISIONS 14).
    pub epoch: u64,
    /// Number that the next lane gets.
    pub lanes: u64,
    /// Charter in force by bot.
    pub charters: BTreeMap<String, CharterInForce>,
    /// Pauses wider than a target.
    pub pauses: Vec<Paused>,
    /// Opt-outs in force.
    pub opt_outs: Vec<OptOut>,
    /// Pacers by key (DECISIONS 10).
    pub pacers: BTreeMap<String, Pacer>,
    /// Cadences wait for a person since the wall clock stepped forward.
    pub clock_hold: bool,
}

/// What spaces the starts of requests over all hosts: who won it last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Pacer {
    /// End of the winner's window: it starts no later than this.
    pub until: Now,
    /// The spacing that the winner's charter promises.
    pub spacing: Duration,
    /// Segment whose monotonic clock `until` speaks.
    pub segment: SegmentId,
}

/// A charter in force.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CharterInForce {
    /// Number of the bot in headers, from 1.
    pub number: u32,
    /// 1, 2, …
    pub version: u32,
    /// Digest of the text.
    pub digest: Digest,
    /// When it came into force.
    pub since: Timestamp,
    /// Digest of the ledger in force.
    pub ledger: Option<Digest>,
    /// Rows of the ledger in force.
    pub rows: u64,
}

/// An opt-out in force.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OptOut {
    /// What is left alone.
    pub reach: Reach,
    /// When the wish was received.
    pub received: Timestamp,
    /// When it took effect.
    pub effective: Timestamp,
}

impl House {
    /// The charter of `bot`.
    #[must_use]
    pub fn charter(&self, bot: &str) -> Option<&Arc<Charter>> {
        self.charters.get(bot)
    }

    /// The opt-out that covers `url`, if one does.
    #[must_use]
    pub fn opt_out(&self, url: &Url) -> Option<&OptOut> {
        self.facts.opt_outs.iter().find(|o| covers(&o.reach, url))
    }

    /// The pause wider than a target that covers `url` at `now`, if one does.
    #[must_use]
    pub fn pause(&self, url: &Url, now: Timestamp) -> Option<&Paused> {
        let in_force = |p: &&Paused| p.until.is_none_or(|until| now < until);
        self.facts
            .pauses
            .iter()
            .filter(in_force)
            .find(|p| covers(&p.reach, url))
    }

    /// The lane number that a new host gets.
    #[must_use]
    pub fn next_lane(&self) -> LaneId {
        LaneId(self.facts.lanes + 1)
    }
}

/// Whether a reach covers a URL. A target's reach covers none: that is its lane's business.
#[must_use]
pub fn covers(reach: &Reach, url: &Url) -> bool {
    let Some(host) = Host::of(url) else {
        return true;
    };
    match reach {
        Reach::All => true,
        Reach::Target { .. } => false,
        Reach::Host(name) => host.as_str() == name,
        Reach::Domain(name) => {
            host.as_str() == name || host.as_str().ends_with(&format!(".{name}"))
        }
        Reach::Prefix(prefix) => covers_prefix(prefix, url),
    }
}

/// A prefix covers whole path segments of the same host, whatever the scheme or port: to leave a
/// site alone on https only would be a reading no site owner means.
fn covers_prefix(prefix: &str, url: &Url) -> bool {
    let Ok(prefix) = Url::parse(prefix) else {
        return false;
    };
    let same_host = Host::of(&prefix) == Host::of(url);
    same_host && url.path().starts_with(prefix.path())
}
