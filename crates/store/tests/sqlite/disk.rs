//! What SQLite and the folder leave on the disk: nothing erased, nothing half, and damage has a name.

use std::path::Path;

use crate::common::{AT, append, draft, noise, opened, page, put, segment, verify};
use reigi_core::digest::Digest;
use reigi_core::event::LaneId;
use reigi_core::event::Seq;
use reigi_core::journal::chain::Fault;
use reigi_core::state::row::FOLD_VERSION;
use reigi_core::state::{Row, RowChange, Table};
use reigi_store::{Error, Store};
use sqlx::SqlitePool;

/// The database itself, behind the store's back.
async fn raw(dir: &Path) -> SqlitePool {
    let url = format!("sqlite:{}/reigi.db", dir.display());
    SqlitePool::connect(&url).await.unwrap()
}

fn on_disk(dir: &Path, needle: &str) -> bool {
    std::fs::read_dir(dir).unwrap().any(|file| {
        let path = file.unwrap().path();
        path.is_file()
            && std::fs::read(path)
                .unwrap()
                .windows(needle.len())
                .any(|w| w == needle.as_bytes())
    })
}

fn files(dir: &Path) -> usize {
    let shards = std::fs::read_dir(dir.join("bodies")).unwrap();
    shards
        .map(|s| std::fs::read_dir(s.unwrap().path()).unwrap().count())
        .sum()
}

#[tokio::test]
async fn an_erased_payload_leaves_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let mut secret = opened(Vec::new());
    secret.program = "a-name-to-forget".to_owned();
    store.begin_segment(|_| secret, AT).await.unwrap();
    assert!(on_disk(dir.path(), "a-name-to-forget"));
    store.erase_payload(Seq(1)).await.unwrap();
    // Neither the tables' free space nor the write-ahead log keeps it.
    assert!(!on_disk(dir.path(), "a-name-to-forget"));
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
    let db = raw(dir.path()).await;
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
async fn a_new_segment_sweeps_what_a_crash_left() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let in_one = segment(&store).await;
    let kept = put(&store, in_one, "a", &noise(1, 100_000)).await;
    let shard = dir.path().join("bodies/ab");
    std::fs::create_dir_all(&shard).unwrap();
    std::fs::write(shard.join("0123.tmp"), "half a frame").unwrap();
    segment(&store).await;
    assert_eq!(files(dir.path()), 1);
    assert!(store.get_body(kept).await.unwrap().is_some());
}

#[tokio::test]
async fn damage_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let segment = segment(&store).await;
    let base = put(&store, segment, "a", &page(1)).await;
    let delta = put(&store, segment, "a", &page(2)).await;
    let file = put(&store, segment, "b", &noise(1, 100_000)).await;
    let db = raw(dir.path()).await;
    sqlx::query(
        "UPDATE body SET frame = (SELECT frame FROM body WHERE digest = $2) WHERE digest = $1",
    )
    .bind(base.as_bytes().as_slice())
    .bind(delta.as_bytes().as_slice())
    .execute(&db)
    .await
    .unwrap();
    std::fs::remove_dir_all(dir.path().join("bodies")).unwrap();
    for (wanted, named) in [(base, base), (delta, base), (file, file)] {
        match store.get_body(wanted).await {
            Err(Error::Corrupt { digest }) => assert_eq!(digest, named),
            other => panic!("{other:?}"),
        }
    }
    // A new version does not need the damaged one.
    let next = put(&store, segment, "a", &page(3)).await;
    assert_eq!(store.get_body(next).await.unwrap(), Some(page(3)));
}

#[tokio::test]
async fn one_frame_is_one_file_until_its_last_owner_goes() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let segment = segment(&store).await;
    let base = noise(1, 100_000);
    let mut later = base.clone();
    later.splice(500..600, noise(2, 100));
    for owner in ["a", "b"] {
        put(&store, segment, owner, &base).await;
    }
    put(&store, segment, "a", &later).await;
    assert_eq!(files(dir.path()), 1);
    // Owner a's later version is encoded anew: now that one is the file.
    store.drop_bodies(&[Digest::of(&base)]).await.unwrap();
    assert_eq!(files(dir.path()), 1);
    store.drop_bodies(&[Digest::of(&later)]).await.unwrap();
    assert_eq!(files(dir.path()), 0);
}

#[tokio::test]
async fn rows_of_another_fold_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).await.unwrap();
    let segment = segment(&store).await;
    let row = Row::new(Table::House, LaneId::HOUSE, "house", None, &0);
    let (drafts, rows) = ([draft(0, 0)], vec![row.clone()]);
    store
        .append_with(append(segment, &drafts), |_| vec![RowChange::Put(row)])
        .await
        .unwrap();
    sqlx::query("UPDATE projection SET fold_version = $1")
        .bind(i64::from(FOLD_VERSION) + 1)
        .execute(&raw(dir.path()).await)
        .await
        .unwrap();
    assert!(!store.fold_is_current().await.unwrap());
    assert!(store.replace_rows(&rows, Seq(2)).await.unwrap());
    assert!(store.fold_is_current().await.unwrap());
}
