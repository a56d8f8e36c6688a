//! The promises: one sentence of the public policy each, and everything that makes it true.
//!
//! A promise is one file. Its id is the charter key, the file name (with `-` for `_`) and the
//! anchor on the policy page. It has three faces: [`Promise::say`], [`Promise::hold`] and
//! [`Promise::prove`]. `hold` sees live state and never the journal; `prove` sees the journal and
//! never gate, lanes or projections. What a promise holds it does not prove by the same code.

use serde::Serialize;

use crate::charter::{Charter, Lang};
use crate::event::{Admitted, Event, Seq};
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::Header;

pub use crate::audit::versions::Versions;

pub mod auto_pause;
pub mod backoff;
pub mod cadence;
pub mod complete_page;
pub mod conditional;
pub mod connections;
pub mod crawl_delay;
pub mod declared;
pub mod evidence;
pub mod extraction;
pub mod global_interval;
pub mod identity;
pub mod interval;
pub mod load;
pub mod login;
pub mod no_evasion;
pub mod no_redistribution;
pub mod opt_out;
pub mod page_signals;
pub mod provenance;
pub mod public_only;
mod reach;
pub mod retention;
pub mod retry_after;
pub mod review;
pub mod robots_failure;
pub mod robots_first;
pub mod robots_obeyed;
pub mod safe_redirect;
pub mod scope;
mod settlements;
pub mod size;
pub mod terms;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
pub mod timeout;

/// One sentence of the policy.
pub trait Promise: Sync {
    /// Stable slug.
    fn id(&self) -> &'static str;

    /// A short name for the page's table and the audit's report.
    fn title(&self, lang: Lang) -> &'static str;

    /// The public sentence with this charter's own numbers; `None` if the charter does not make
    /// this promise.
    fn say(&self, charter: &Charter, lang: Lang) -> Option<String>;

    /// Whether the charter makes this promise.
    fn is_made(&self, charter: &Charter) -> bool {
        self.say(charter, Lang::En).is_some()
    }

    /// May this request go out now?
    fn hold(&self, _scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        Verdict::Pass
    }

    /// A fresh proof, fed with the journal; `None` for a promise that no program can prove.
    fn prove(&self) -> Option<Box<dyn Proof>>;

    /// Promises whose breach a breach of this one may entail (falsifiability, DECISIONS 21).
    fn implies(&self) -> &'static [&'static str] {
        &[]
    }
}

/// A streaming fold over the journal. Memory is bounded per lane.
pub trait Proof {
    /// Looks at one entry. Entries come in `seq` order.
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>);

    /// The result.
    fn finish(self: Box<Self>) -> Finding;
}

/// An entry as proofs see it.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The chained part.
    pub header: &'a Header,
    /// The payload.
    pub event: &'a Event,
    /// For `answered`, `not-sent` and `lost`: the permit that they end.
    pub admitted: Option<(&'a Header, &'a Admitted)>,
}

/// Most breaches and undecidable entries that a finding names; more are only counted.
pub const NAMED_MAX: usize = 1000;

/// What a proof found.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Finding {
    /// Checks that came out well.
    pub kept: u64,
    /// Breaches, counted.
    pub broken: u64,
    /// The first [`NAMED_MAX`] breaches.
    pub breaches: Vec<Note>,
    /// Checks that could not be made, counted.
    pub undecidable: u64,
    /// The first [`NAMED_MAX`] of them.
    pub open: Vec<Note>,
}

/// An entry and what is to say about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Note {
    /// The entry.
    pub seq: Seq,
    /// In words.
    pub what: String,
}

impl Finding {
    /// Counts a check: kept if `kept`, else a breach described by `what`.
    pub fn check(&mut self, kept: bool, seq: Seq, what: impl FnOnce() -> String) {
        if kept {
            self.kept += 1;
            return;
        }
        self.broken += 1;
        if self.breaches.len() < NAMED_MAX {
            self.breaches.push(Note { seq, what: what() });
        }
    }

    /// Counts a check that could not be made.
    pub fn undecidable(&mut self, seq: Seq, why: impl Into<String>) {
        self.undecidable += 1;
        if self.open.len() < NAMED_MAX {
            self.open.push(Note {
                seq,
                what: why.into(),
            });
        }
    }
}

/// Every promise, in the order of the policy page; the first registered wins ties.
pub static PROMISES: &[&dyn Promise] = &[
    &identity::Identity,
    &scope::Scope,
    &public_only::PublicOnly,
    &login::Login,
    &robots_first::RobotsFirst,
    &robots_obeyed::RobotsObeyed,
    &robots_failure::RobotsFailure,
    &crawl_delay::CrawlDelay,
    &interval::Interval,
    &global_interval::GlobalInterval,
    &connections::Connections,
    &cadence::Cadence,
    &conditional::Conditional,
    &backoff::Backoff,
    &retry_after::RetryAfter,
    &load::Load,
    &auto_pause::AutoPause,
    &no_evasion::NoEvasion,
    &timeout::Timeout,
    &size::Size,
    &safe_redirect::SafeRedirect,
    &terms::Terms,
    &opt_out::OptOut,
    &extraction::Extraction,
    &page_signals::PageSignals,
    &evidence::Evidence,
    &retention::Retention,
    &review::Reviewed,
    &provenance::Provenance,
    &no_redistribution::NoRedistribution,
    &complete_page::CompletePage,
    &declared::Declared,
];

/// The promise with this id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static dyn Promise> {
    PROMISES.iter().copied().find(|promise| promise.id() == id)
}
