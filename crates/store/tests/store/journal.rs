//! The journal: what was acknowledged stays, in one chain, whoever else writes.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{AT, append, draft, opened, segment, verify};
use reigi_core::event::{LaneId, Seq};
use reigi_core::journal::chain::Fault;
use reigi_core::state::{Row, RowChange, Table};
use reigi_core::time::Timestamp;
use reigi_store::{Append, Error, Store};

#[tokio::test]
async fn a_reopened_journal_is_one_chain() {
    let dir = tempfile::tempdir().unwrap();
    for run in 1..=3_u64 {
        let store = Store::open(dir.path()).await.unwrap();
        let segment = segment(&store).await;
        assert_eq!(segment, run);
        // More than one INSERT statement's worth.
        let drafts: Vec<_> = (1..=130).map(|n| draft(7, (run - 1) * 130 + n)).collect();
        let headers = store
            .append_with(append(segment, &drafts), |_| Vec::new())
            .await
            .unwrap();
        let first = (run - 1) * 131 + 2;
        assert_eq!(headers[0].seq, Seq(first));
        assert_eq!(headers[129].seq, Seq(first + 129));
        assert_eq!(
            store.entry(Seq(first)).await.unwrap().unwrap().header,
            headers[0]
        );
    }
    let store = Store::open(dir.path()).await.unwrap();
    let report = verify(&store).await;
    assert_eq!(report.faults, []);
    assert_eq!(report.entries, 393);
    assert_eq!(store.count().await.unwrap(), 393);
    assert_eq!(report.heads, store.heads().await.unwrap());
    assert_eq!(report.heads.len(), 3);
    assert_eq!(store.entry(Seq(394)).await.unwrap(), None);
}

#[tokio::test]
async fn many_may_open_a_new_house_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let opening: Vec<_> = (0..8)
        .map(|_| {
            let dir = dir.path().to_owned();
            tokio::spawn(async move { Store::open(&dir).await.map(drop) })
        })
        .collect();
    for opened in opening {
        opened.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn two_writers_interleave_their_segments() {
    let dir = tempfile::tempdir().unwrap();
    let a = Store::open(dir.path()).await.unwrap();
    let b = Store::open(dir.path()).await.unwrap();
    let (in_a, in_b) = (segment(&a).await, segment(&b).await);
    assert_ne!(in_a, in_b);
    let write = async |store: Store, segment, lane| {
        for n in 1..=25 {
            let drafts = [draft(lane, n)];
            store
                .append_with(append(segment, &drafts), |_| Vec::new())
                .await
                .unwrap();
        }
    };
    let one = tokio::spawn(write(a.clone(), in_a, 1));
    let other = tokio::spawn(write(b, in_b, 2));
    one.await.unwrap();
    other.await.unwrap();
    let report = verify(&a).await;
    assert_eq!(report.faults, []);
    assert_eq!(report.entries, 52);
}

#[tokio::test]
async fn a_stale_decision_writes_nothing_and_may_be_taken_anew() {
    let dir = tempfile::tempdir().unwrap();
    let driver = Store::open(dir.path()).await.unwrap();
    let person = Store::open(dir.path()).await.unwrap();
    let (run, pause) = (segment(&driver).await, segment(&person).await);
    let drafts = [draft(0, 0)];
    let raise = Append {
        guard: Some(0),
        raise_epoch: Some(1),
        ..append(pause, &drafts)
    };
    person.append_with(raise, |_| Vec::new()).await.unwrap();
    assert_eq!(driver.epoch().await.unwrap(), 1);

    let decision = |guard| Append {
        guard: Some(guard),
        ..append(run, &drafts)
    };
    let folded = AtomicBool::new(false);
    let stale = driver
        .append_with(decision(0), |_| {
            folded.store(true, Ordering::SeqCst);
            Vec::new()
        })
        .await;
    assert!(matches!(stale, Err(Error::Stale { now: 1 })), "{stale:?}");
    assert!(!folded.load(Ordering::SeqCst));
    assert_eq!(driver.count().await.unwrap(), 3);
    let headers = driver
        .append_with(decision(1), |_| Vec::new())
        .await
        .unwrap();
    assert_eq!(headers[0].seq, Seq(4));
}

#[tokio::test]
async fn a_number_within_a_lane_is_given_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let segment = segment(&store).await;
    let drafts = [draft(3, 1), draft(0, 0), draft(0, 0)];
    store
        .append_with(append(segment, &drafts), |_| Vec::new())
        .await
        .unwrap();
    let again = [draft(3, 2), draft(3, 1)];
    let refused = store
        .append_with(append(segment, &again), |_| Vec::new())
        .await;
    assert!(matches!(refused, Err(Error::Sql(_))), "{refused:?}");
    // Nothing of it is there, and the handle goes on.
    let next = [draft(3, 2)];
    store
        .append_with(append(segment, &next), |_| Vec::new())
        .await
        .unwrap();
    assert_eq!(verify(&store).await.faults, []);
    assert_eq!(store.count().await.unwrap(), 5);
}

#[tokio::test]
async fn an_erased_payload_leaves_the_chain_whole() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let mut secret = opened(Vec::new());
    secret.program = "a-name-to-forget".to_owned();
    store.begin_segment(|_| secret, AT).await.unwrap();
    assert!(on_disk(dir.path(), "a-name-to-forget"));
    store.erase_payload(Seq(1)).await.unwrap();
    assert_eq!(store.entry(Seq(1)).await.unwrap().unwrap().sealed, None);
    let report = verify(&store).await;
    assert_eq!((report.faults, report.erased), (vec![], 1));
    // Neither the tables' free space nor the write-ahead log keeps it.
    assert!(!on_disk(dir.path(), "a-name-to-forget"));
}

fn on_disk(dir: &std::path::Path, needle: &str) -> bool {
    std::fs::read_dir(dir).unwrap().any(|file| {
        let path = file.unwrap().path();
        path.is_file()
            && std::fs::read(path)
                .unwrap()
                .windows(needle.len())
                .any(|w| w == needle.as_bytes())
    })
}

#[tokio::test]
async fn a_changed_entry_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let segment = segment(&store).await;
    let drafts = [draft(0, 0), draft(0, 0)];
    store
        .append_with(append(segment, &drafts), |_| Vec::new())
        .await
        .unwrap();
    let db = sqlx::SqlitePool::connect(&format!("sqlite:{}/reigi.db", dir.path().display()))
        .await
        .unwrap();
    sqlx::query("UPDATE entry SET at = at + 1 WHERE seq = 2")
        .execute(&db)
        .await
        .unwrap();
    let faults = verify(&store).await.faults;
    assert_eq!(
        faults,
        [Fault::Link {
            seq: Seq(3),
            segment
        }]
    );
}

#[tokio::test]
async fn lanes_read_newest_first() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let segment = segment(&store).await;
    let drafts: Vec<_> = (1..=4)
        .flat_map(|n| [draft(1, n), draft(2, n), draft(0, 0)])
        .collect();
    store
        .append_with(append(segment, &drafts), |_| Vec::new())
        .await
        .unwrap();
    let seqs = async |lane, before, limit| -> Vec<u64> {
        let found = store
            .lane_entries(LaneId(lane), before, limit)
            .await
            .unwrap();
        found.iter().map(|entry| entry.header.seq.0).collect()
    };
    assert_eq!(seqs(1, None, 10).await, [11, 8, 5, 2]);
    assert_eq!(seqs(1, None, 2).await, [11, 8]);
    assert_eq!(seqs(2, Some(Seq(9)), 10).await, [6, 3]);
    assert_eq!(seqs(0, Some(Seq(7)), 10).await, [4, 1]);
}

#[tokio::test]
async fn rows_change_with_the_entries() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let segment = segment(&store).await;
    let row = |table, lane, key: &str, due: Option<i64>| {
        Row::new(
            table,
            LaneId(lane),
            key,
            due.map(Timestamp::from_secs),
            &lane,
        )
    };
    let house = row(Table::House, 0, "house", None);
    let lanes = [
        row(Table::Lane, 1, "a.example", Some(30)),
        row(Table::Lane, 2, "b.example", Some(10)),
        row(Table::Lane, 3, "c.example", None),
    ];
    let target = row(Table::Target, 1, "bot t1", Some(5));
    let mut all: Vec<Row> = lanes.iter().chain([&house, &target]).cloned().collect();
    let drafts = [draft(0, 0)];
    let puts = all.iter().cloned().map(RowChange::Put).collect();
    store
        .append_with(append(segment, &drafts), |_| puts)
        .await
        .unwrap();

    all.sort();
    assert_eq!(store.all_rows().await.unwrap(), all);
    assert_eq!(store.rows_of(Table::Lane).await.unwrap(), lanes);
    assert_eq!(
        store.rows_of_lane(LaneId(1)).await.unwrap(),
        [lanes[0].clone(), target.clone()]
    );
    assert_eq!(
        store.rows_by_key(Table::Lane, "b.example").await.unwrap(),
        lanes[1..2]
    );
    assert_eq!(
        store.row(Table::House, LaneId(0), "house").await.unwrap(),
        Some(house)
    );
    assert_eq!(
        store.row(Table::House, LaneId(1), "house").await.unwrap(),
        None
    );

    let due = async |at, limit| {
        store
            .due_lanes(Timestamp::from_secs(at), limit)
            .await
            .unwrap()
    };
    assert_eq!(due(9, 10).await, []);
    assert_eq!(due(30, 10).await, [LaneId(2), LaneId(1)]);
    assert_eq!(due(30, 1).await, [LaneId(2)]);
    assert_eq!(
        store.next_due().await.unwrap(),
        Some(Timestamp::from_secs(10))
    );

    let later = row(Table::Lane, 2, "b.example", Some(99));
    // Of two changes of one row the last one counts.
    let changes = vec![
        RowChange::Put(row(Table::Lane, 2, "b.example", Some(50))),
        RowChange::Put(later.clone()),
        RowChange::Drop {
            table: Table::Lane,
            lane: LaneId(1),
            key: "a.example".to_owned(),
        },
    ];
    store
        .append_with(append(segment, &drafts), |_| changes)
        .await
        .unwrap();
    assert_eq!(
        store.rows_of(Table::Lane).await.unwrap(),
        [later, lanes[2].clone()]
    );
    assert_eq!(
        store.next_due().await.unwrap(),
        Some(Timestamp::from_secs(99))
    );
}

#[tokio::test]
async fn one_driver_a_house() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(dir.path()).await.unwrap();
    let second = Store::open(dir.path()).await.unwrap();
    let lock = first.lock_driver("run").unwrap();
    let Err(Error::Locked { by }) = second.lock_driver("demo") else {
        panic!("two drivers");
    };
    assert!(
        by.starts_with(&format!("{} run ", std::process::id())),
        "{by}"
    );
    drop(lock);
    second.lock_driver("demo").unwrap();
}

#[tokio::test]
async fn a_decision_sees_the_rows_that_others_wrote_just_before() {
    let dir = tempfile::tempdir().unwrap();
    let counting = |store: Store, times: u64| async move {
        let segment = segment(&store).await;
        for _ in 0..times {
            let decide = |rows: Vec<Row>| {
                let seen: u64 = rows.first().map_or(0, |row| row.read().unwrap());
                let fold = move |_: &_| {
                    let (house, next) = (LaneId::HOUSE, seen + 1);
                    vec![RowChange::Put(Row::new(
                        Table::House,
                        house,
                        "house",
                        None,
                        &next,
                    ))]
                };
                Ok::<_, Error>((draft(0, 0), fold))
            };
            store
                .append_decided(segment, LaneId(7), decide)
                .await
                .unwrap();
        }
    };
    let (a, b) = (
        Store::open(dir.path()).await.unwrap(),
        Store::open(dir.path()).await.unwrap(),
    );
    tokio::join!(counting(a.clone(), 20), counting(b, 20));
    let row = a
        .row(Table::House, LaneId::HOUSE, "house")
        .await
        .unwrap()
        .unwrap();
    assert_eq!(row.read::<u64>().unwrap(), 40);
    assert_eq!(verify(&a).await.faults, []);

    let refused = a.append_decided(1, LaneId(7), |_| {
        type NoFold = (
            reigi_core::journal::Draft,
            fn(&reigi_core::journal::Header) -> Vec<RowChange>,
        );
        Err::<NoFold, _>(Error::Stale { now: 3 })
    });
    assert!(matches!(refused.await, Err(Error::Stale { now: 3 })));
    assert_eq!(a.count().await.unwrap(), 42);
}
