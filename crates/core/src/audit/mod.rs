//! The audit: proves each promise from journal and evidence alone.
//!
//! [`Auditor`] streams over entries in `seq` order: it checks the chain, keeps [`versions`] of what
//! was in force, pairs every permit with its end, and feeds each promise's proof. It sees no gate,
//! no lane and no projection, so that anyone can run it on an exported journal (DECISIONS 4, 5, 20).

mod permits;
pub mod report;
pub mod versions;

use crate::digest::Digest;
use crate::event::{Event, Seq};
use crate::journal::chain::ChainCheck;
use crate::journal::{Entry, Header};
use crate::promise::{Finding, PROMISES, Promise, Proof, Seen};
use crate::time::Timestamp;

use permits::Permits;
pub use report::{PromiseReport, Report, Status};
use versions::{Evidence, Versions};

/// What an audit is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only what happened from here on is reported; the whole journal is read all the same.
    pub since: Option<Timestamp>,
    /// A head that was published: entry and hash of its header.
    pub published_head: Option<(Seq, Digest)>,
    /// Also read the bodies of pages, about a millisecond each; those of robots.txt are always
    /// read.
    pub pages: bool,
}

/// Audits a whole journal.
pub fn run(
    entries: impl IntoIterator<Item = Entry>,
    evidence: &dyn Evidence,
    options: &Options,
) -> Report {
    let mut auditor = Auditor::new(evidence, options);
    for entry in entries {
        auditor.see(&entry);
    }
    auditor.finish()
}

type Proofs = Vec<Box<dyn Proof>>;

/// See the module.
pub struct Auditor<'e> {
    chain: ChainCheck,
    versions: Versions<'e>,
    permits: Permits,
    promises: Vec<Audited>,
    proofs: Proofs,
    since: Since,
    unread: Finding,
    requests: u64,
}

/// A promise, and whether a charter of this journal makes it. `at`: place of its proof.
struct Audited {
    promise: &'static dyn Promise,
    made: bool,
    at: Option<usize>,
}

/// Where the report begins. A second set of proofs runs up to there, so that what they find can
/// be taken off.
enum Since {
    Start,
    Ahead(Timestamp, Proofs),
    Reached(Seq, Vec<Finding>),
}

impl<'e> Auditor<'e> {
    /// An auditor that has seen nothing yet.
    #[must_use]
    pub fn new(evidence: &'e dyn Evidence, options: &Options) -> Self {
        let chain = match options.published_head {
            Some((seq, hash)) => ChainCheck::with_published(seq, hash),
            None => ChainCheck::default(),
        };
        let mut proofs = Proofs::new();
        let promises = PROMISES
            .iter()
            .map(|promise| Audited {
                promise: *promise,
                made: false,
                at: promise.prove().map(|proof| {
                    proofs.push(proof);
                    proofs.len() - 1
                }),
            })
            .collect();
        let since = match options.since {
            None => Since::Start,
            Some(at) => Since::Ahead(at, PROMISES.iter().filter_map(|p| p.prove()).collect()),
        };
        Self {
            chain,
            versions: Versions::new(evidence).reading_pages(options.pages),
            permits: Permits::default(),
            promises,
            proofs,
            since,
            unread: Finding::default(),
            requests: 0,
        }
    }

    /// Looks at the next entry.
    pub fn see(&mut self, entry: &Entry) {
        self.cross(&entry.header);
        match entry.event() {
            Ok(Some(event)) => {
                self.chain.see(entry, Some(&event));
                self.see_event(&entry.header, event);
            }
            Ok(None) => {
                self.chain.see(entry, None);
                self.see_unread(&entry.header, "the payload of this entry was erased");
            }
            Err(error) => {
                self.chain.see(entry, None);
                self.chain.unreadable(entry.header.seq, error.to_string());
                self.see_unread(&entry.header, "this entry cannot be read");
            }
        }
    }

    /// The first entry that is reported ends the proofs of what came before.
    fn cross(&mut self, header: &Header) {
        match &mut self.since {
            Since::Ahead(at, proofs) if header.at >= *at => {
                let before = std::mem::take(proofs);
                let before = before.into_iter().map(Proof::finish).collect();
                self.since = Since::Reached(header.seq, before);
            }
            _ => {}
        }
    }

    fn is_reported(&self) -> bool {
        !matches!(self.since, Since::Ahead(..))
    }

    fn see_event(&mut self, header: &Header, event: Event) {
        self.versions.see(header, &event);
        if let Event::CharterAdopted(adopted) = &event
            && let Some(charter) = self.versions.charter(adopted.digest)
        {
            for audited in &mut self.promises {
                audited.made |= audited.promise.is_made(charter);
            }
        }
        let seen = Seen {
            header,
            event: &event,
            admitted: self.permits.ended_by(header, &event, &self.versions),
        };
        for proof in &mut self.proofs {
            proof.see(&seen, &self.versions);
        }
        if let Since::Ahead(_, proofs) = &mut self.since {
            for proof in proofs {
                proof.see(&seen, &self.versions);
            }
        }
        let was_request = matches!(&event, Event::Answered(_) | Event::Lost(_));
        self.requests += u64::from(was_request && self.is_reported());
        self.permits.pass(header, event);
    }

    fn see_unread(&mut self, header: &Header, why: &str) {
        self.versions.see_erased(header);
        self.permits.pass_unread(header);
        if self.is_reported() {
            self.unread.undecidable(header.seq, why);
        }
    }

    /// The report.
    #[must_use]
    pub fn finish(self) -> Report {
        let (first, before) = match self.since {
            Since::Start => (Seq(0), Vec::new()),
            // Nothing happened since.
            Since::Ahead(_, proofs) => {
                let before = proofs.into_iter().map(Proof::finish).collect();
                (Seq(u64::MAX), before)
            }
            Since::Reached(seq, before) => (seq, before),
        };
        let mut findings: Vec<Option<Finding>> = self
            .proofs
            .into_iter()
            .map(Proof::finish)
            .enumerate()
            .map(|(at, finding)| match before.get(at) {
                Some(before) => report::from(first, finding, before),
                None => finding,
            })
            .map(Some)
            .collect();
        // Without one readable charter nobody knows what was promised: all of it is reported.
        let none_made = !self.promises.iter().any(|audited| audited.made);
        let promises = self
            .promises
            .iter()
            .filter(|audited| audited.made || none_made)
            .map(|audited| {
                let found = audited.at.and_then(|at| findings.get_mut(at)?.take());
                PromiseReport::new(audited.promise, found, &self.unread)
            })
            .collect();
        let chain = self.chain.finish();
        let loose_ends = self.permits.finish();
        Report::new(
            chain,
            loose_ends,
            promises,
            self.requests,
            (first > Seq(0)).then_some(first),
        )
    }
}

#[cfg(test)]
mod tests;
