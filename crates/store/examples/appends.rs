//! Measures appends: entries a second in batches, through a committer and alone; then reads all
//! back through the chain check. Run it on the disk that matters:
//! `cargo run --release -p reigi-store --example appends -- FOLDER`.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use reigi_core::event::{ClockStepped, Event, LaneId, SegmentOpened, Seq, StepCause};
use reigi_core::journal::chain::ChainCheck;
use reigi_core::journal::{Draft, SegmentId};
use reigi_core::state::{Row, RowChange, Table};
use reigi_core::time::{Now, Timestamp};
use reigi_store::{Append, Committer, Store, Submission};

const BATCH: u64 = 1_000;
const BATCHES: u64 = 100;
const SINGLES: u64 = 500;
const TASKS: u64 = 1_000;
/// Entries of each task.
const ALONE: u64 = 50;
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

    for rows in [false, true] {
        let start = Instant::now();
        for n in 0..BATCHES {
            append(&store, segment, n, BATCH, rows).await?;
        }
        let what = if rows {
            "with a row each"
        } else {
            "without rows"
        };
        let name = format!("batches of {BATCH}, {what}");
        per_second(&name, BATCHES * BATCH, start.elapsed());
    }

    let mut times = Vec::new();
    for n in 0..SINGLES {
        let start = Instant::now();
        append(&store, segment, n, 1, true).await?;
        times.push(start.elapsed());
    }
    times.sort();
    for (name, share) in [("median", 50), ("p99", 99)] {
        if let Some(time) = times.get(times.len() * share / 100) {
            println!("single commit, {name}: {time:.2?}");
        }
    }

    let start = Instant::now();
    let committer = Committer::start(store.clone(), segment);
    let tasks = (0..TASKS).map(|lane| tokio::spawn(append_alone(committer.clone(), lane)));
    for task in tasks.collect::<Vec<_>>() {
        task.await??;
    }
    let name = format!("{TASKS} tasks through a committer, an entry and a row at a time");
    per_second(&name, TASKS * ALONE, start.elapsed());

    let start = Instant::now();
    let (mut check, mut from, mut seen) = (ChainCheck::default(), Seq(1), 0_u64);
    loop {
        let page = store.entries(from, 1_000).await?;
        let Some(last) = page.last() else { break };
        from = Seq(last.header.seq.0 + 1);
        for entry in &page {
            seen += 1;
            check.see(entry, None);
        }
    }
    per_second("read and verified", seen, start.elapsed());
    println!("{} faults", check.finish().faults.len());
    Ok(())
}

fn per_second(name: &str, count: u64, time: Duration) {
    println!("{name}: {:.0} entries/s", count as f64 / time.as_secs_f64());
}

fn draft() -> Draft {
    let stepped = ClockStepped {
        expected: AT,
        found: AT,
        cause: StepCause::System,
        hold: false,
    };
    Draft {
        event: Event::ClockStepped(stepped),
        at: AT,
        bot: 0,
        lane: LaneId::HOUSE,
        lane_seq: 0,
    }
}

/// A lane's row of half a kilobyte.
fn row(lane: u64) -> RowChange {
    let value = "x".repeat(500);
    RowChange::Put(Row::new(
        Table::Lane,
        LaneId(lane),
        "host",
        Some(AT),
        &value,
    ))
}

/// Appends `count` house entries in one commit.
async fn append(
    store: &Store,
    segment: SegmentId,
    batch: u64,
    count: u64,
    with_rows: bool,
) -> Result<(), reigi_store::Error> {
    let drafts: Vec<Draft> = (0..count).map(|_| draft()).collect();
    let append = Append {
        segment,
        drafts: &drafts,
        bodies: &[],
        guard: None,
        raise_epoch: None,
    };
    let rows = if with_rows { 0..count } else { 0..0 };
    let rows = rows.map(|n| row(batch * count + n + 1)).collect();
    store.append_with(append, |_| rows).await.map(drop)
}

/// One task of many: each entry is durable before the next is given.
async fn append_alone(committer: Committer, lane: u64) -> Result<(), reigi_store::Error> {
    for _ in 0..ALONE {
        let submission = Submission {
            drafts: vec![draft()],
            ..Submission::default()
        };
        committer
            .append(submission, move |_| vec![row(lane + 1)])
            .await?;
    }
    Ok(())
}
