//! Verifying the chain: every change, drop, reordering, insertion or cut tail has a name.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::event::{Event, LaneId, Seq};
use crate::journal::{Entry, Head, SegmentId};

/// One thing that is wrong with the chain.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// The payload is not the one that was hashed.
    #[error("entry {}: the payload was changed", .0.0)]
    Payload(Seq),
    /// The header does not follow the one before it in its segment.
    #[error("entry {}: the header does not follow the entry before it in segment {segment}", .seq.0)]
    Link {
        /// The entry.
        seq: Seq,
        /// Its segment.
        segment: SegmentId,
    },
    /// Entries are missing, doubled or out of order.
    #[error("entry {} stands where entry {} belongs", .found.0, .expected.0)]
    Order {
        /// The number that should follow.
        expected: Seq,
        /// The number found.
        found: Seq,
    },
    /// A lane's own numbering has a hole.
    #[error("entry {}: number {found} in lane {}, where {expected} belongs", .seq.0, .lane.0)]
    LaneOrder {
        /// The entry.
        seq: Seq,
        /// The lane.
        lane: LaneId,
        /// The number that should follow.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// A later start or a published head names an entry that is not there or is another one.
    #[error("the head at entry {} is not the one that was named later", .0.0)]
    Head(Seq),
    /// A segment does not begin with its opening.
    #[error("segment {0} does not begin with its opening entry")]
    Opening(SegmentId),
    /// A payload cannot be read.
    #[error("entry {}: {why}", .seq.0)]
    Unreadable {
        /// The entry.
        seq: Seq,
        /// What is wrong.
        why: String,
    },
}

/// Streams over entries in `seq` order; memory is one head a segment and one number a lane.
#[derive(Default)]
pub struct ChainCheck {
    next: u64,
    heads: BTreeMap<SegmentId, Head>,
    lanes: BTreeMap<LaneId, u64>,
    faults: Vec<Fault>,
    erased: u64,
    published: Option<(Seq, Digest, bool)>,
}

impl ChainCheck {
    /// A check that also looks for a published head: entry `seq` must have this hash.
    #[must_use]
    pub fn with_published(seq: Seq, hash: Digest) -> Self {
        Self {
            published: Some((seq, hash, false)),
            ..Self::default()
        }
    }

    /// Looks at the next entry.
    pub fn see(&mut self, entry: &Entry, event: Option<&Event>) {
        let header = &entry.header;
        let expected = Seq(self.next.max(1));
        if header.seq != expected {
            self.faults.push(Fault::Order {
                expected,
                found: header.seq,
            });
        }
        self.next = header.seq.0.saturating_add(1);
        match &entry.sealed {
            Some(sealed) if sealed.digest() != header.payload_digest => {
                self.faults.push(Fault::Payload(header.seq));
            }
            Some(_) => {}
            None => self.erased += 1,
        }
        self.see_link(entry, event);
        self.see_lane(entry);
        let hash = header.hash();
        if let Some((seq, published, seen)) = &mut self.published
            && *seq == header.seq
        {
            *seen = true;
            if *published != hash {
                self.faults.push(Fault::Head(*seq));
            }
        }
        self.heads.insert(
            header.segment,
            Head {
                segment: header.segment,
                seq: header.seq,
                hash,
            },
        );
    }

    fn see_link(&mut self, entry: &Entry, event: Option<&Event>) {
        let header = &entry.header;
        let Some(head) = self.heads.get(&header.segment) else {
            if header.kind != "segment-opened" || header.prev != Digest::default() {
                self.faults.push(Fault::Opening(header.segment));
            }
            if let Some(Event::SegmentOpened(opened)) = event {
                let missing = opened
                    .heads
                    .iter()
                    .filter(|h| self.heads.get(&h.segment) != Some(h));
                self.faults.extend(missing.map(|h| Fault::Head(h.seq)));
            }
            return;
        };
        if head.hash != header.prev {
            self.faults.push(Fault::Link {
                seq: header.seq,
                segment: header.segment,
            });
        }
    }

    fn see_lane(&mut self, entry: &Entry) {
        let header = &entry.header;
        if header.lane == LaneId::HOUSE {
            return;
        }
        let last = self.lanes.entry(header.lane).or_default();
        let expected = last.saturating_add(1);
        if header.lane_seq != expected {
            self.faults.push(Fault::LaneOrder {
                seq: header.seq,
                lane: header.lane,
                expected,
                found: header.lane_seq,
            });
        }
        *last = header.lane_seq;
    }

    /// Notes an entry whose payload does not decode.
    pub fn unreadable(&mut self, seq: Seq, why: String) {
        self.faults.push(Fault::Unreadable { seq, why });
    }

    /// What was found: faults, the heads of all segments, entries seen, payloads erased.
    #[must_use]
    pub fn finish(mut self) -> ChainReport {
        if let Some((seq, _, false)) = self.published {
            self.faults.push(Fault::Head(seq));
        }
        ChainReport {
            faults: self.faults,
            heads: self.heads.into_values().collect(),
            entries: self.next.saturating_sub(1),
            erased: self.erased,
        }
    }
}

/// Result of a [`ChainCheck`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChainReport {
    /// Faults in the order found.
    pub faults: Vec<Fault>,
    /// Heads by segment.
    pub heads: Vec<Head>,
    /// Number of the last entry.
    pub entries: u64,
    /// Entries whose payload was erased.
    pub erased: u64,
}
