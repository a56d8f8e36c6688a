//! What was in force when: charters by digest, ledger rows by bot and id, the house's zone, robots
//! bodies.
//!
//! Built from the journal only, as the audit streams over it.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use jiff::tz::TimeZone;
use reigi_robots::Rules;

use crate::charter::Charter;
use crate::digest::Digest;
use crate::event::{Event, LaneId, Seq};
use crate::journal::{Header, SegmentId};
use crate::ledger::Target;
use crate::time::Mono;

/// Where bodies can be read, by digest. `None`: not kept, erased, or pruned.
pub trait Evidence {
    /// The body.
    fn body(&self, digest: Digest) -> Option<Vec<u8>>;
}

/// Nothing to read: what rests on a body is undecidable.
pub struct NoEvidence;

impl Evidence for NoEvidence {
    fn body(&self, _digest: Digest) -> Option<Vec<u8>> {
        None
    }
}

/// See the module.
pub struct Versions<'e> {
    /// Charters by digest, parsed from the adopted text.
    pub charters: HashMap<Digest, Arc<Charter>>,
    /// Charter in force by bot at this point of the journal.
    pub in_force: BTreeMap<String, Digest>,
    /// The house's zone at this point of the journal.
    pub zone: TimeZone,
    rows: HashMap<String, HashMap<String, (Seq, Target)>>,
    segments: HashMap<SegmentId, (Seq, Mono)>,
    erased: HashSet<Seq>,
    erased_in: HashSet<LaneId>,
    evidence: &'e dyn Evidence,
    reads_pages: bool,
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
            in_force: BTreeMap::new(),
            zone: TimeZone::UTC,
            rows: HashMap::new(),
            segments: HashMap::new(),
            erased: HashSet::new(),
            erased_in: HashSet::new(),
            evidence,
            reads_pages: false,
            rules: RefCell::default(),
        }
    }

    /// Takes in what the next entry puts in force or ends. A charter that cannot be read is left
    /// out: what was asked under it is undecidable.
    pub fn see(&mut self, header: &Header, event: &Event) {
        match event {
            Event::SegmentOpened(opened) => {
                let began = (header.seq, opened.clock.mono);
                self.segments.insert(header.segment, began);
            }
            Event::CharterAdopted(adopted) => {
                if let Ok(zone) = TimeZone::get(&adopted.zone) {
                    self.zone = zone;
                }
                let file_name = format!("{}.toml", adopted.bot);
                if let Ok(charter) = Charter::parse(&file_name, &adopted.text) {
                    self.charters.insert(charter.digest, Arc::new(charter));
                }
                self.in_force.insert(adopted.bot.clone(), adopted.digest);
            }
            Event::TargetEntered(entered) => {
                self.enter(&entered.bot, header.seq, entered.row.clone());
            }
            Event::TargetLeft(left) => {
                if let Some(rows) = self.rows.get_mut(&left.bot) {
                    rows.remove(&left.target);
                }
            }
            _ => {}
        }
    }

    /// Notes an entry whose payload was erased: what rests on it cannot be decided any more.
    pub fn see_erased(&mut self, header: &Header) {
        self.erased.insert(header.seq);
        self.erased_in.insert(header.lane);
    }

    /// Whether the payload of this entry was erased.
    #[must_use]
    pub fn is_erased(&self, seq: Seq) -> bool {
        self.erased.contains(&seq)
    }

    /// Whether a payload of this lane was erased before this point of the journal.
    #[must_use]
    pub fn is_erased_in(&self, lane: LaneId) -> bool {
        self.erased_in.contains(&lane)
    }

    /// Puts a ledger row in force.
    pub fn enter(&mut self, bot: &str, since: Seq, row: Target) {
        let rows = self.rows.entry(bot.to_owned()).or_default();
        rows.insert(row.id.clone(), (since, row));
    }

    /// The entry that opened a segment, and its writer's monotonic clock then.
    #[must_use]
    pub fn began(&self, segment: SegmentId) -> Option<(Seq, Mono)> {
        self.segments.get(&segment).copied()
    }

    /// The charter with this digest.
    #[must_use]
    pub fn charter(&self, digest: Digest) -> Option<&Arc<Charter>> {
        self.charters.get(&digest)
    }

    /// The charter of `bot` in force at this point of the journal.
    #[must_use]
    pub fn charter_of(&self, bot: &str) -> Option<&Arc<Charter>> {
        self.charter(*self.in_force.get(bot)?)
    }

    /// The ledger row in force, and the entry that brought it.
    #[must_use]
    pub fn row(&self, bot: &str, target: &str) -> Option<&(Seq, Target)> {
        self.rows.get(bot)?.get(target)
    }

    /// Rows in force of `bot`, in no order.
    pub fn rows_of(&self, bot: &str) -> impl Iterator<Item = &Target> {
        self.rows
            .get(bot)
            .into_iter()
            .flat_map(|rows| rows.values().map(|(_, row)| row))
    }

    /// Lets proofs read bodies of pages, too: a page a millisecond.
    #[must_use]
    pub fn reading_pages(mut self, reads_pages: bool) -> Self {
        self.reads_pages = reads_pages;
        self
    }

    /// The body of a page; `None` if it is gone, or if this audit does not read pages.
    #[must_use]
    pub fn page(&self, digest: Digest) -> Option<Vec<u8>> {
        self.reads_pages.then(|| self.evidence.body(digest))?
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
