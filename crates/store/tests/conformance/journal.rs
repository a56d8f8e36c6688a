//! The journal: what was acknowledged stays, in one chain, whoever else writes.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::common::{AT, House, append, draft, opened, segment, verify};
use reigi_core::event::{LaneId, Seq};
use reigi_store::{Append, Error, Store};

#[tokio::test]
async fn a_reopened_journal_is_one_chain() {
    let house = House::new();
    for run in 1..=3_u64 {
        let store = house.open().await;
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
    let store = house.open().await;
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
    let house = House::new();
    let opening: Vec<_> = (0..8)
        .map(|_| {
            let house = house.clone();
            tokio::spawn(async move { drop(house.open().await) })
        })
        .collect();
    for opened in opening {
        opened.await.unwrap();
    }
}

#[tokio::test]
async fn two_writers_interleave_their_segments() {
    let house = House::new();
    let a = house.open().await;
    let b = house.open().await;
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
    let house = House::new();
    let driver = house.open().await;
    let person = house.open().await;
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
    let house = House::new();
    let store = house.open().await;
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
    assert!(matches!(refused, Err(Error::LaneTaken)), "{refused:?}");
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
    let house = House::new();
    let store = house.open().await;
    let mut secret = opened(Vec::new());
    secret.program = "a-name-to-forget".to_owned();
    store.begin_segment(|_| secret, AT).await.unwrap();
    store.erase_payload(Seq(1)).await.unwrap();
    assert_eq!(store.entry(Seq(1)).await.unwrap().unwrap().sealed, None);
    let report = verify(&store).await;
    assert_eq!((report.faults, report.erased), (vec![], 1));
}

#[tokio::test]
async fn lanes_read_newest_first() {
    let house = House::new();
    let store = house.open().await;
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
async fn a_kind_reads_in_order() {
    let house = House::new();
    let store = house.open().await;
    let one = segment(&store).await;
    let drafts = vec![draft(0, 0); 3];
    store
        .append_with(append(one, &drafts), |_| Vec::new())
        .await
        .unwrap();
    segment(&store).await;
    let seqs = async |kind, from, limit| -> Vec<u64> {
        let found = store.kind_entries(kind, Seq(from), limit).await.unwrap();
        found.iter().map(|entry| entry.header.seq.0).collect()
    };
    assert_eq!(seqs("segment-opened", 0, 10).await, [1, 5]);
    assert_eq!(seqs("clock-stepped", 3, 10).await, [3, 4]);
    assert_eq!(seqs("clock-stepped", 0, 1).await, [2]);
    assert_eq!(seqs("charter-adopted", 0, 10).await, [0; 0]);
}

#[tokio::test]
async fn one_driver_a_house() {
    let house = House::new();
    let first = house.open().await;
    let second = house.open().await;
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
