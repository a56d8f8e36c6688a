//! What an audit found. Serialised with stable field names: `reigi audit --json`.

use serde::Serialize;

use crate::charter::{Bilingual, Lang};
use crate::event::Seq;
use crate::journal::Head;
use crate::journal::chain::ChainReport;
use crate::promise::{Finding, Note, Promise};

/// See the module.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// [`Report::is_clean`].
    pub clean: bool,
    /// First entry that was reported, where the audit did not begin at the start.
    pub since: Option<Seq>,
    /// Entries in the journal.
    pub entries: u64,
    /// Requests that the report is about.
    pub requests: u64,
    /// Entries whose payload was erased.
    pub erased: u64,
    /// What is wrong with the chain, in words; empty: it holds.
    pub chain: Vec<String>,
    /// Permits without an end, ends without a permit.
    pub loose_ends: Vec<Note>,
    /// The last entry of each segment: the last one is what a published head names.
    pub heads: Vec<Head>,
    /// Every promise that a charter of this journal makes, in the order of the policy page.
    pub promises: Vec<PromiseReport>,
}

/// How one promise stands (DECISIONS 5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Every check came out well.
    Kept,
    /// At least one did not.
    Broken,
    /// None is known to be broken, but not every check could be made.
    Undecidable,
    /// No program can prove it.
    Declared,
}

/// One promise in the report.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PromiseReport {
    /// Its slug.
    pub id: &'static str,
    /// Its short name.
    pub title: Bilingual,
    /// How it stands.
    pub status: Status,
    /// Checks, breaches, open checks.
    #[serde(flatten)]
    pub finding: Finding,
}

impl PromiseReport {
    /// `found`: `None` for what no program can prove. `unread`: entries that nobody can read any
    /// more, which any promise may rest on.
    pub(super) fn new(promise: &dyn Promise, found: Option<Finding>, unread: &Finding) -> Self {
        let is_declared = found.is_none();
        let mut finding = found.unwrap_or_default();
        if !is_declared {
            finding.undecidable += unread.undecidable;
            finding.open.extend(unread.open.iter().cloned());
        }
        let status = match finding {
            _ if is_declared => Status::Declared,
            Finding { broken: 1.., .. } => Status::Broken,
            Finding {
                undecidable: 1.., ..
            } => Status::Undecidable,
            _ => Status::Kept,
        };
        Self {
            id: promise.id(),
            title: Bilingual {
                ja: promise.title(Lang::Ja).to_owned(),
                en: promise.title(Lang::En).to_owned(),
            },
            status,
            finding,
        }
    }
}

impl Report {
    pub(super) fn new(
        chain: ChainReport,
        loose_ends: Vec<Note>,
        promises: Vec<PromiseReport>,
        requests: u64,
        since: Option<Seq>,
    ) -> Self {
        let mut report = Self {
            clean: false,
            since,
            entries: chain.entries,
            requests,
            erased: chain.erased,
            chain: chain.faults.iter().map(ToString::to_string).collect(),
            loose_ends,
            heads: chain.heads,
            promises,
        };
        report.clean = report.is_clean();
        report
    }

    /// Whether the chain holds, every permit has its end and no promise is known to be broken.
    /// What is undecidable does not soil a report: it says so for itself.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let broken = |promise: &PromiseReport| promise.status == Status::Broken;
        self.chain.is_empty() && self.loose_ends.is_empty() && !self.promises.iter().any(broken)
    }

    /// The promise with this id.
    #[must_use]
    pub fn promise(&self, id: &str) -> Option<&PromiseReport> {
        self.promises.iter().find(|promise| promise.id == id)
    }
}

/// What was found from entry `first` on: all of it, less what was found before.
pub(super) fn from(first: Seq, all: Finding, before: &Finding) -> Finding {
    let named = |notes: Vec<Note>| -> Vec<Note> {
        notes.into_iter().filter(|note| note.seq >= first).collect()
    };
    Finding {
        kept: all.kept.saturating_sub(before.kept),
        broken: all.broken.saturating_sub(before.broken),
        breaches: named(all.breaches),
        undecidable: all.undecidable.saturating_sub(before.undecidable),
        open: named(all.open),
    }
}
