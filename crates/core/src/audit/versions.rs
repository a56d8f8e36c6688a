//! What was in force when: charters by digest, ledger rows by bot and id, robots bodies.
//!
//! Built from the journal only, as the audit streams over it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use reigi_robots::Rules;

use crate::charter::Charter;
use crate::digest::Digest;
use crate::event::Seq;
use crate::ledger::Target;

/// Where bodies can be read, by digest. `None`: not kept, erased, or pruned.
pub trait Evidence {
    /// The body.
    fn body(&self, digest: Digest) -> Option<Vec<u8>>;
}

/// See the module.
pub struct Versions<'e> {
    /// Charters by digest, parsed from the adopted text.
    pub charters: HashMap<Digest, Arc<Charter>>,
    /// Ledger rows in force at this point of the journal, and since which entry.
    pub rows: BTreeMap<(String, String), (Seq, Target)>,
    /// Charter in force by bot at this point of the journal.
    pub in_force: BTreeMap<String, Digest>,
    evidence: &'e dyn Evidence,
    rules: RefCell<HashMap<Digest, Option<Arc<Rules>>>>,
}

/// Parsed robots files kept at once.
const RULES_MAX: usize = 4096;

impl<'e> Versions<'e> {
    /// Nothing in force yet.
    #[must_use]
    pub fn new(evidence: &'e dyn Evidence) -> Self {
        Self {
            charters: HashMap::new(),
            rows: BTreeMap::new(),
            in_force: BTreeMap::new(),
            evidence,
            rules: RefCell::default(),
        }
    }

    /// The charter with this digest.
    #[must_use]
    pub fn charter(&self, digest: Digest) -> Option<&Arc<Charter>> {
        self.charters.get(&digest)
    }

    /// The ledger row in force, and the entry that brought it.
    #[must_use]
    pub fn row(&self, bot: &str, target: &str) -> Option<&(Seq, Target)> {
        self.rows.get(&(bot.to_owned(), target.to_owned()))
    }

    /// A robots body, parsed; `None` if the evidence is gone.
    #[must_use]
    pub fn rules(&self, digest: Digest) -> Option<Arc<Rules>> {
        let mut cache = self.rules.borrow_mut();
        if cache.len() > RULES_MAX {
            cache.clear();
        }
        cache
            .entry(digest)
            .or_insert_with(|| {
                self.evidence
                    .body(digest)
                    .map(|b| Arc::new(Rules::parse(&b)))
            })
            .clone()
    }
}
