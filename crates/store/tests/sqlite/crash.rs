//! Crashes and disks that say no.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{append, draft, segment, verify};
use reigi_core::event::Seq;
use reigi_store::{Error, Store};

const CHILD: &str = "REIGI_STORE_CHILD";

/// Not a test: the process that `an_acknowledged_entry_survives_a_kill` starts and kills.
#[tokio::test]
#[ignore = "runs only as a child process"]
async fn child_that_appends_until_killed() {
    let dir = std::env::var_os(CHILD).unwrap();
    let store = Store::open(Path::new(&dir)).await.unwrap();
    let segment = segment(&store).await;
    for _ in 0.. {
        let drafts = vec![draft(0, 0); 3];
        let headers = store
            .append_with(append(segment, &drafts), |_| Vec::new())
            .await
            .unwrap();
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
        for (i, seq) in numbers.enumerate() {
            acked = acked.max(seq);
            if i == 20 {
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
