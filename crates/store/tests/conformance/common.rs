//! What the store's tests share. [`House`] is all that is to know of a backend.

use std::sync::Arc;

use reigi_core::digest::Digest;
use reigi_core::event::{ClockStepped, Event, LaneId, SegmentOpened, Seq, StepCause};
use reigi_core::journal::chain::{ChainCheck, ChainReport};
use reigi_core::journal::{Draft, Head, SegmentId};
use reigi_core::time::{Now, Timestamp};
use reigi_store::{Append, NewBody, Store};
use tempfile::TempDir;

pub(crate) const AT: Timestamp = Timestamp::from_secs(1_700_000_000);

/// A house of its own, gone with the last clone: the place to choose another backend.
#[derive(Clone)]
pub(crate) struct House {
    dir: Arc<TempDir>,
}

impl House {
    pub(crate) fn new() -> Self {
        let dir = Arc::new(tempfile::tempdir().unwrap());
        Self { dir }
    }

    /// A new handle, as another process would have it.
    pub(crate) async fn open(&self) -> Store {
        Store::open(self.dir.path()).await.unwrap()
    }
}

pub(crate) fn opened(heads: Vec<Head>) -> SegmentOpened {
    SegmentOpened {
        program: "reigi 0".to_owned(),
        role: "test".to_owned(),
        heads,
        clock: Now::default(),
    }
}

pub(crate) async fn segment(store: &Store) -> SegmentId {
    store.begin_segment(opened, AT).await.unwrap()
}

/// A house entry (lane 0) or the entry of number `lane_seq` in a lane.
pub(crate) fn draft(lane: u64, lane_seq: u64) -> Draft {
    Draft {
        event: Event::ClockStepped(ClockStepped {
            expected: AT,
            found: AT,
            cause: StepCause::System,
            hold: false,
        }),
        at: AT,
        bot: 0,
        lane: LaneId(lane),
        lane_seq,
    }
}

pub(crate) fn append<'a>(segment: SegmentId, drafts: &'a [Draft]) -> Append<'a> {
    Append {
        segment,
        drafts,
        bodies: &[],
        guard: None,
        raise_epoch: None,
    }
}

/// Reads the whole journal through the chain check, in pages.
pub(crate) async fn verify(store: &Store) -> ChainReport {
    let mut check = ChainCheck::default();
    let mut from = Seq(1);
    loop {
        let page = store.entries(from, 100).await.unwrap();
        let Some(last) = page.last() else { break };
        from = Seq(last.header.seq.0 + 1);
        for entry in &page {
            check.see(entry, entry.event().unwrap().as_ref());
        }
    }
    check.finish()
}

/// Stores a body as a version of `owner`.
pub(crate) async fn put(store: &Store, segment: SegmentId, owner: &str, bytes: &[u8]) -> Digest {
    let digest = Digest::of(bytes);
    let bodies = [NewBody {
        digest,
        bytes,
        owner,
        at: AT,
    }];
    let drafts = [draft(0, 0)];
    let append = Append {
        bodies: &bodies,
        ..append(segment, &drafts)
    };
    store.append_with(append, |_| Vec::new()).await.unwrap();
    digest
}

/// Bytes that do not compress, the same for the same seed.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let step = std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    });
    step.take(len).collect()
}

/// Version `n` of a page: a long text with a counter, a token and a date in it.
pub(crate) fn page(n: u64) -> Vec<u8> {
    let mut html = b"<!doctype html><title>Museum</title>".to_vec();
    for line in 0..400 {
        let token = Digest::of(&[b"line", &[line as u8][..], &[(line >> 8) as u8]].concat());
        html.extend_from_slice(format!("<p class=l{line}>{token}</p>\n").as_bytes());
        if line % 100 == 50 {
            let csrf = Digest::of(&(n * 1000 + line).to_be_bytes());
            html.extend_from_slice(format!("<meta name=csrf value={csrf}>\n").as_bytes());
        }
    }
    html
}
