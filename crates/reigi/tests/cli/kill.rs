//! `kill -9` of a whole run under load, again and again: nothing is lost, nothing is asked twice,
//! no interval is shortened. Judged by the audit and by the test web's own log.

use std::process::{Command, Stdio};
use std::time::Duration;

use reigi_testweb::{Bulk, Encoding, Options, TestWeb, check};
use serde_json::json;

use crate::bench::{acceptance_house, reigi};

const HOSTS: u32 = 40;
const PAGES: u32 = 3;
/// Moments after each start at which the run is killed, milliseconds. Odd on purpose: in adoption,
/// before the first requests, between them, while answers come.
const KILLS: [u64; 8] = [35, 2_060, 410, 2_013, 137, 2_730, 950, 1_999];

#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_again_and_again_keeps_every_promise() {
    let bulk = Bulk {
        hosts: HOSTS,
        pages_per_host: PAGES,
        page_bytes: 6_000,
        encoding: Encoding::Gzip,
        ..Bulk::default()
    };
    let web = TestWeb::start(vec![bulk.site()], Options::default())
        .await
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let targets: Vec<Vec<String>> = (0..HOSTS)
        .map(|host| {
            let name = Bulk::host(host);
            (0..PAGES)
                .map(|page| format!("http://{name}/p/{page}.html"))
                .collect()
        })
        .collect();
    let house = acceptance_house(dir.path(), &web.hosts_file(), &targets);
    for after in KILLS {
        let mut run = Command::new(env!("CARGO_BIN_EXE_reigi"))
            .args(["run", "--until-idle"])
            .current_dir(&house)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        tokio::time::sleep(Duration::from_millis(after)).await;
        run.kill().unwrap();
        run.wait().unwrap();
    }
    // What was under way is taken up, and ends.
    reigi(&house, &["run", "--until-idle"]).with(0);

    let report = check::check(
        &web.log().events(),
        &check::Promise {
            interval: Duration::from_secs(2),
            ..check::Promise::default()
        },
    );
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    // A page request that died with its writer counts as sent and is not asked again in its visit,
    // so how many there are depends on the moments; each host was asked, and each page has an end.
    assert!(
        report.hosts.len() == HOSTS as usize,
        "{} hosts",
        report.hosts.len()
    );
    let status = reigi(&house, &["status", "--json"]).with(0).json();
    let pages = status
        .iter()
        .flat_map(|target| target["pages"].as_array().unwrap());
    let ends: Vec<&str> = pages.filter_map(|page| page["last"].as_str()).collect();
    assert_eq!(ends.len(), (HOSTS * PAGES) as usize);
    for end in ends {
        let known = end == "confirmed" || end == "unconfirmed: the request was interrupted";
        assert!(known, "{end}");
    }

    let said = reigi(&house, &["audit", "--json", "--evidence", "--rebuild"])
        .with(0)
        .json();
    let audit = &said[0];
    assert_eq!(audit["clean"], json!(true), "{audit}");
    assert_eq!(audit["chain"], json!([]));
    assert_eq!(audit["loose_ends"], json!([]));
    assert_eq!(audit["rebuild"]["differ"], json!([]));
    let lost = audit["heads"].as_array().unwrap().len();
    assert!(lost > KILLS.len(), "each start is a segment of its own");

    // Each page was seen once and for all: a second version of an unchanged page is a doubled one.
    let changes = reigi(&house, &["changes", "--all", "--json"])
        .with(0)
        .json();
    assert_eq!(changes, Vec::<serde_json::Value>::new());
    web.shutdown().await.unwrap();
}
