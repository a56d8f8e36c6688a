//! Measures appends: entries a second in batches of 1,000 with a row each, and the time of a
//! single durable commit; then reads all back through the chain check. Run with `--release` on the disk that matters:
//! `cargo run --release -p reigi-store --example appends -- FOLDER`.

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use reigi_core::event::{ClockStepped, Event, LaneId, SegmentOpened, Seq, StepCause};
use reigi_core::journal::chain::ChainCheck;
use reigi_core::journal::{Draft, SegmentId};
use reigi_core::state::{Row, RowChange, Table};
use reigi_core::time::{Now, Timestamp};
use reigi_store::{Append, Store};

const BATCH: u64 = 1_000;
const BATCHES: u64 = 100;
const SINGLES: u64 = 500;
const AT: Timestamp = Timestamp::from_secs(1_700_000_000);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let dir = std::env::args_os().nth(1).map(PathBuf::from);
    let dir = dir.ok_or("usage: appends FOLDER")?;
    let store = Store::open(&dir).await?;
    let opened = |heads| SegmentOpened {
        program: "appends".to_owned(),
        role: "measure".to_owned(),
        heads,
        clock: Now::default(),
    };
    let segment = store.begin_segment(opened, AT).await?;

    let start = Instant::now();
    for n in 0..BATCHES {
        append(&store, segment, n, BATCH).await?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let rate = (BATCHES * BATCH) as f64 / seconds;
    println!("batches of {BATCH}: {rate:.0} entries/s");

    let mut times = Vec::new();
    for n in 0..SINGLES {
        let start = Instant::now();
        append(&store, segment, n, 1).await?;
        times.push(start.elapsed());
    }
    times.sort();
    for (name, share) in [("median", 50), ("p99", 99)] {
        if let Some(time) = times.get(times.len() * share / 100) {
            println!("single commit, {name}: {time:.2?}");
        }
    }

    let start = Instant::now();
    let (mut check, mut from, mut seen) = (ChainCheck::default(), Seq(1), 0_usize);
    loop {
        let page = store.entries(from, 1_000).await?;
        let Some(last) = page.last() else { break };
        from = Seq(last.header.seq.0 + 1);
        seen += page.len();
        for entry in &page {
            check.see(entry, None);
        }
    }
    let rate = seen as f64 / start.elapsed().as_secs_f64();
    let faults = check.finish().faults.len();
    println!("read and verified: {rate:.0} entries/s, {faults} faults");
    Ok(())
}

/// Appends `count` house entries that each rewrite a lane's row of half a kilobyte.
async fn append(
    store: &Store,
    segment: SegmentId,
    batch: u64,
    count: u64,
) -> Result<(), reigi_store::Error> {
    let stepped = ClockStepped {
        expected: AT,
        found: AT,
        cause: StepCause::System,
        hold: false,
    };
    let draft = Draft {
        event: Event::ClockStepped(stepped),
        at: AT,
        bot: 0,
        lane: LaneId::HOUSE,
        lane_seq: 0,
    };
    let drafts: Vec<Draft> = (0..count).map(|_| draft.clone()).collect();
    let append = Append {
        segment,
        drafts: &drafts,
        bodies: &[],
        guard: None,
        raise_epoch: None,
    };
    let value = "x".repeat(500);
    let row = |n| {
        let lane = LaneId(batch * count + n + 1);
        RowChange::Put(Row::new(Table::Lane, lane, "host", Some(AT), &value))
    };
    let rows = (0..count).map(row).collect();
    store.append_with(append, |_| rows).await?;
    Ok(())
}
