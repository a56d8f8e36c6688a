//! What the store's tests share: drafts and a segment.

use reigi_core::event::{ClockStepped, Event, LaneId, SegmentOpened, Seq, StepCause};
use reigi_core::journal::chain::{ChainCheck, ChainReport};
use reigi_core::journal::{Draft, Head, SegmentId};
use reigi_core::time::{Now, Timestamp};
use reigi_store::{Append, Store};

pub(crate) const AT: Timestamp = Timestamp::from_secs(1_700_000_000);

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
