//! What the tests within this crate share: a house and entries for it.

use std::path::Path;

use reigi_core::digest::Digest;
use reigi_core::event::{ClockStepped, LaneId, SegmentOpened, StepCause};
use reigi_core::journal::{Draft, SegmentId};
use reigi_core::state::{Row, RowChange, Table};
use reigi_core::time::{Now, Timestamp};

use crate::{Append, Error, NewBody, Store};

pub(crate) async fn house(dir: &Path) -> (Store, SegmentId) {
    let store = Store::open(dir).await.unwrap();
    let opened = |heads| SegmentOpened {
        program: String::new(),
        role: "test".to_owned(),
        heads,
        clock: Now::default(),
    };
    let segment = store.begin_segment(opened, Timestamp::default()).await;
    (store, segment.unwrap())
}

/// Appends one entry, with a row of `bytes`.
pub(crate) async fn append(store: &Store, segment: SegmentId, bytes: usize) -> Result<(), Error> {
    let stepped = ClockStepped {
        expected: Timestamp::default(),
        found: Timestamp::default(),
        cause: StepCause::System,
        hold: false,
    };
    let drafts = [Draft {
        event: stepped.into(),
        at: Timestamp::default(),
        bot: 0,
        lane: LaneId::HOUSE,
        lane_seq: 0,
    }];
    let append = Append {
        segment,
        drafts: &drafts,
        bodies: &[],
        guard: None,
        raise_epoch: None,
    };
    let value = "x".repeat(bytes);
    let row = Row::new(Table::House, LaneId::HOUSE, "house", None, &value);
    let folded = store.append_with(append, |_| vec![RowChange::Put(row)]);
    folded.await.map(drop)
}

/// Stores a body as a version of `owner`.
pub(crate) async fn put(store: &Store, segment: SegmentId, owner: &str, bytes: &[u8]) -> Digest {
    let digest = Digest::of(bytes);
    let bodies = [NewBody {
        digest,
        bytes,
        owner,
        at: Timestamp::default(),
    }];
    let append = Append {
        segment,
        drafts: &[],
        bodies: &bodies,
        guard: None,
        raise_epoch: None,
    };
    store.append_with(append, |_| Vec::new()).await.unwrap();
    digest
}

/// Bytes that do not compress.
pub(crate) fn body(len: usize) -> Vec<u8> {
    let blocks = (0_u64..).flat_map(|n| *Digest::of(&n.to_be_bytes()).as_bytes());
    blocks.take(len).collect()
}
