//! Group commit: many tasks, one commit, each answered as if it were alone.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::common::{AT, House, append, draft, noise, segment, verify};
use reigi_core::digest::Digest;
use reigi_core::event::{LaneId, Seq};
use reigi_core::state::{Row, RowChange, Table};
use reigi_store::{Committer, Error, OwnedBody, Submission};

fn entry(lane: u64, lane_seq: u64) -> Submission {
    Submission {
        drafts: vec![draft(lane, lane_seq)],
        ..Submission::default()
    }
}

#[tokio::test]
async fn many_tasks_append_through_one_segment() {
    let house = House::new();
    let store = house.open().await;
    let committer = Committer::start(store.clone(), segment(&store).await);
    let appending = (1..=200_u64).map(|lane| {
        let committer = committer.clone();
        tokio::spawn(async move {
            let mut seen = 0;
            for n in 1..=5_u64 {
                let headers = committer.append(entry(lane, n), move |headers| {
                    // The fold sees its own entries only.
                    assert_eq!(headers.len(), 1);
                    let value = headers[0].seq.0;
                    let lane = headers[0].lane;
                    vec![RowChange::Put(Row::new(
                        Table::Lane,
                        lane,
                        "host",
                        None,
                        &value,
                    ))]
                });
                let header = headers.await.unwrap().pop().unwrap();
                assert_eq!((header.lane, header.lane_seq), (LaneId(lane), n));
                assert!(header.seq.0 > seen);
                seen = header.seq.0;
            }
            seen
        })
    });
    let tasks: Vec<_> = appending.collect();
    for (lane, task) in (1..).zip(tasks) {
        let last = task.await.unwrap();
        let row = store.row(Table::Lane, LaneId(lane), "host").await.unwrap();
        assert_eq!(row.unwrap().read::<u64>().unwrap(), last);
    }
    let report = verify(&house.open().await).await;
    assert_eq!(report.faults, []);
    assert_eq!(report.entries, 1_001);
}

#[tokio::test]
async fn what_is_refused_or_stale_fails_alone() {
    let house = House::new();
    let store = house.open().await;
    let committer = Committer::start(store.clone(), segment(&store).await);
    let folds = Arc::new(AtomicU64::new(0));
    let append = |submission| {
        let folds = folds.clone();
        committer.append(submission, move |_| {
            folds.fetch_add(1, Ordering::SeqCst);
            Vec::new()
        })
    };
    let guarded = |lane, guard, raise_epoch| Submission {
        guard: Some(guard),
        raise_epoch,
        ..entry(lane, 1)
    };
    let body = |name: &[u8]| OwnedBody {
        digest: Digest::of(name),
        bytes: noise(1, 100),
        owner: "a".to_owned(),
        at: AT,
    };
    let with = |lane, body| Submission {
        bodies: vec![body],
        ..entry(lane, 1)
    };
    // Polled in order on one thread, so that all are one group.
    let (first, twice, before, raise, after, fresh, misnamed, named) = tokio::join!(
        append(entry(1, 1)),
        append(entry(1, 1)),
        append(guarded(2, 0, None)),
        append(guarded(3, 0, Some(4))),
        append(guarded(4, 0, None)),
        append(guarded(5, 4, None)),
        append(with(6, body(b"other"))),
        append(with(7, body(&noise(1, 100)))),
    );
    for (seq, good) in (2..).zip([first, before, raise, fresh, named]) {
        assert_eq!(good.unwrap()[0].seq, Seq(seq));
    }
    assert!(matches!(twice, Err(Error::LaneTaken)), "{twice:?}");
    assert!(matches!(after, Err(Error::Stale { now: 4 })), "{after:?}");
    assert!(
        matches!(misnamed, Err(Error::Misnamed { .. })),
        "{misnamed:?}"
    );
    // None of the refused ones was folded, and the handle goes on.
    assert_eq!(folds.load(Ordering::SeqCst), 5);
    assert_eq!(store.epoch().await.unwrap(), 4);
    append(entry(1, 2)).await.unwrap();
    assert_eq!(verify(&store).await.faults, []);
    let stored = store.get_body(Digest::of(&noise(1, 100))).await.unwrap();
    assert_eq!(stored, Some(noise(1, 100)));
}

#[tokio::test]
async fn a_stale_answer_comes_after_the_commit_that_made_it_so() {
    let house = House::new();
    let store = house.open().await;
    let committer = Committer::start(store.clone(), segment(&store).await);
    let raise = Submission {
        raise_epoch: Some(1),
        ..entry(1, 1)
    };
    let decision = Submission {
        guard: Some(0),
        ..entry(2, 1)
    };
    // On one thread tasks go on in the order in which they were answered.
    let raised = Arc::new(AtomicBool::new(false));
    let (first, seen) = (committer.clone(), raised.clone());
    let raising = tokio::spawn(async move {
        first.append(raise, |_| Vec::new()).await.unwrap();
        seen.store(true, Ordering::SeqCst);
    });
    let deciding = tokio::spawn(async move {
        let answer = committer.append(decision, |_| Vec::new()).await;
        (answer, raised.load(Ordering::SeqCst))
    });
    raising.await.unwrap();
    let (answer, after) = deciding.await.unwrap();
    assert!(matches!(answer, Err(Error::Stale { now: 1 })), "{answer:?}");
    // Whoever judges anew now reads the new rules.
    assert!(after, "it was told of rules that were not yet durable");
}

#[tokio::test]
async fn an_append_that_nobody_waits_for_stands() {
    let house = House::new();
    let store = house.open().await;
    let committer = Committer::start(store.clone(), segment(&store).await);
    let mut dropped = Box::pin(committer.append(entry(1, 1), |_| Vec::new()));
    // Once polled it waits for its commit.
    let first = std::future::poll_fn(|cx| std::task::Poll::Ready(dropped.as_mut().poll(cx)));
    assert!(first.await.is_pending());
    drop(dropped);
    let next = committer.append(entry(1, 2), |_| Vec::new()).await.unwrap();
    assert_eq!(next[0].seq, Seq(3));
}

#[tokio::test]
async fn a_fold_that_panics_poisons_the_group() {
    let house = House::new();
    let store = house.open().await;
    let committer = Committer::start(store.clone(), segment(&store).await);
    let (panicked, beside) = tokio::join!(
        committer.append(entry(1, 1), |_| panic!("a fold's mistake")),
        committer.append(entry(2, 1), |_| Vec::new()),
    );
    let later = committer.append(entry(3, 1), |_| Vec::new()).await;
    for failed in [panicked, beside, later] {
        assert!(failed.unwrap_err().is_poison());
    }
    // So is the handle itself, whoever uses it.
    let drafts = [draft(4, 1)];
    let direct = store.append_with(append(1, &drafts), |_| Vec::new()).await;
    assert!(direct.unwrap_err().is_poison());
    // Nothing of the group is there.
    assert_eq!(house.open().await.count().await.unwrap(), 1);
}
