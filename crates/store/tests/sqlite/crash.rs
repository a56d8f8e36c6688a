//! Crashes and disks that say no.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{AT, append, draft, noise, segment, verify};
use reigi_core::digest::Digest;
use reigi_core::event::Seq;
use reigi_core::journal::SegmentId;
use reigi_store::{Append, Error, NewBody, Store};

const CHILD: &str = "REIGI_STORE_CHILD";

/// Body `n` of a segment.
fn page_of(segment: SegmentId, n: u64) -> Vec<u8> {
    noise(
        segment * 1_000_000 + n,
        if n.is_multiple_of(2) { 100 } else { 70_000 },
    )
}

/// Not a test: the process that `an_acknowledged_entry_survives_a_kill` starts and kills.
#[tokio::test]
#[ignore = "runs only as a child process"]
async fn child_that_appends_until_killed() {
    let dir = std::env::var_os(CHILD).unwrap();
    let store = Store::open(Path::new(&dir)).await.unwrap();
    let segment = segment(&store).await;
    for n in 0.. {
        // Every other body is a file, each one's digest is known to the parent by `page_of`.
        let bytes = page_of(segment, n);
        let bodies = [NewBody {
            digest: Digest::of(&bytes),
            bytes: &bytes,
            owner: "a",
            at: AT,
        }];
        let drafts = vec![draft(0, 0); 3];
        let append = Append {
            bodies: &bodies,
            ..append(segment, &drafts)
        };
        let headers = store.append_with(append, |_| Vec::new()).await.unwrap();
        println!("acked {}", headers[2].seq.0);
    }
}

#[tokio::test]
async fn an_acknowledged_entry_survives_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let mut acked = 0;
    for _ in 0..5 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "crash::child_that_appends_until_killed",
                "--ignored",
                "--nocapture",
            ])
            .env(CHILD, dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let numbers = lines.map_while(Result::ok).filter_map(|line| {
            // The test harness writes the test's name before the first one.
            line.split_once("acked ")
                .map(|(_, n)| n.parse::<u64>().unwrap())
        });
        let mut appends = 0;
        for seq in numbers {
            acked = acked.max(seq);
            appends += 1;
            if appends == 20 {
                // SIGKILL on Unix; what is still in the pipe was acknowledged too.
                child.kill().unwrap();
            }
        }
        child.wait().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        assert!(
            store.entry(Seq(acked)).await.unwrap().is_some(),
            "entry {acked} is gone"
        );
        let report = verify(&store).await;
        assert_eq!(report.faults, []);
        assert!(report.entries >= acked);
        // The bodies of acknowledged entries are there, and no other is half there.
        let segment = report.heads.last().unwrap().segment;
        for n in 0..appends {
            let body = page_of(segment, n);
            let found = store.get_body(Digest::of(&body)).await.unwrap();
            assert_eq!(found, Some(body), "body {n} of segment {segment}");
        }
        for stored in store.bodies().await.unwrap() {
            assert!(store.get_body(stored.digest).await.unwrap().is_some());
        }
    }
    assert!(acked > 5 * 60, "{acked}");
}

#[tokio::test]
async fn no_permission_has_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).await.unwrap());
    // A folder where the database should be: refused to everybody, root included.
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("reigi.db")).unwrap();
    let error = Store::open(other.path()).await.unwrap_err();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("reigi.db") && text.contains("write access"),
        "{text}"
    );
}

#[tokio::test]
async fn a_later_programs_database_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).await.unwrap());
    let url = format!("sqlite:{}/reigi.db", dir.path().display());
    let db = sqlx::SqlitePool::connect(&url).await.unwrap();
    sqlx::query("INSERT INTO schema_version (version) VALUES (2)")
        .execute(&db)
        .await
        .unwrap();
    let error = Store::open(dir.path()).await.unwrap_err();
    assert!(
        matches!(error, Error::NewerSchema { found: 2, known: 1 }),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("reigi.db"), "not a database\n".repeat(100)).unwrap();
    let error = Store::open(dir.path()).await.unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("reigi.db") && text.contains("backup"),
        "{text}"
    );
}
