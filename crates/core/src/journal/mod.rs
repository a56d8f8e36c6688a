//! The journal: entries in a hash chain (DECISIONS 1–4).
//!
//! A header binds the digest of its payload (salted, so that a payload can be erased and the chain
//! still verifies) and the hash of the header before it in the same segment. A segment is one run
//! of one writer; its first entry names the heads of all segments before, so that no tail can be
//! cut unseen behind a later start.

pub mod chain;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::event::{DecodeError, Event, LaneId, Seq};
use crate::time::Timestamp;

/// Number of a segment: one writer incarnation.
pub type SegmentId = u64;

/// The hashed part of an entry. Holds no host, URL or person.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// Number in commit order, from 1, without gaps.
    pub seq: Seq,
    /// Segment of the writer.
    pub segment: SegmentId,
    /// Wall time of the append.
    pub at: Timestamp,
    /// Kind of the payload.
    pub kind: String,
    /// Version of the kind.
    pub kind_version: u16,
    /// Number of the bot within the house, 0 = the house.
    pub bot: u32,
    /// Lane, 0 = the house.
    pub lane: LaneId,
    /// Number within the lane, from 1, without gaps; 0 outside lanes.
    pub lane_seq: u64,
    /// SHA-256 of salt + payload.
    pub payload_digest: Digest,
    /// Hash of the previous header of the segment; zeros for the first.
    pub prev: Digest,
}

impl Header {
    /// SHA-256 of the header's canonical bytes: the domain `reigi-entry-1`, then each field in
    /// order, integers as 8 big-endian bytes, the kind with its length before it.
    #[must_use]
    pub fn hash(&self) -> Digest {
        let kind_len = u64::try_from(self.kind.len()).unwrap_or(u64::MAX);
        Digest::of_parts(&[
            b"reigi-entry-1",
            &self.seq.0.to_be_bytes(),
            &self.segment.to_be_bytes(),
            &self.at.micros().to_be_bytes(),
            &kind_len.to_be_bytes(),
            self.kind.as_bytes(),
            &u64::from(self.kind_version).to_be_bytes(),
            &u64::from(self.bot).to_be_bytes(),
            &self.lane.0.to_be_bytes(),
            &self.lane_seq.to_be_bytes(),
            self.payload_digest.as_bytes(),
            self.prev.as_bytes(),
        ])
    }
}

/// The end of a segment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Head {
    /// The segment.
    pub segment: SegmentId,
    /// Its last entry.
    pub seq: Seq,
    /// Hash of that entry's header.
    pub hash: Digest,
}

/// A payload as stored: salt and bytes, both hashed; `None` once erased.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sealed {
    /// 16 random bytes, so that an erased payload cannot be guessed from its digest.
    pub salt: [u8; 16],
    /// The payload, exactly as hashed.
    pub payload: Vec<u8>,
}

impl Sealed {
    /// SHA-256 of salt + payload.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of_parts(&[&self.salt, &self.payload])
    }
}

/// One entry as stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The chained part.
    pub header: Header,
    /// The payload, unless erased.
    pub sealed: Option<Sealed>,
}

impl Entry {
    /// The event; `None` if its payload was erased.
    ///
    /// # Errors
    /// The kind or version is not known, or the payload is not what its kind says.
    pub fn event(&self) -> Result<Option<Event>, DecodeError> {
        let Some(sealed) = &self.sealed else {
            return Ok(None);
        };
        Event::decode(&self.header.kind, self.header.kind_version, &sealed.payload).map(Some)
    }
}

/// An event on its way into the journal: what the store turns into an [`Entry`].
#[derive(Clone, PartialEq, Debug)]
pub struct Draft {
    /// The event.
    pub event: Event,
    /// Wall time of the decision.
    pub at: Timestamp,
    /// Number of the bot, 0 = the house.
    pub bot: u32,
    /// Lane, 0 = the house.
    pub lane: LaneId,
    /// Number within the lane; 0 outside lanes.
    pub lane_seq: u64,
}
