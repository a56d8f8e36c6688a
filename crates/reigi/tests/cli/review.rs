//! Commands on a house that found changes: list, diff, review, status, audit, gc.

use std::path::PathBuf;

use reigi_core::time::Timestamp;
use reigi_store::Store;
use serde_json::json;

use crate::bench::reigi;
use crate::past::{PAGE, Past, new_house};

fn page(price: &str) -> String {
    format!(
        "<h1>受講料</h1><table><tr><th>コース</th><th>料金</th></tr>\
         <tr><th>基礎</th><td>{price}</td></tr></table>"
    )
}

/// A house whose page had these prices, one a day.
async fn watched(begin: &str, prices: &[&str]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let mut past = Past::begin(&house, Timestamp::parse(begin).unwrap()).await;
    for price in prices {
        past.visit(&page(price)).await;
    }
    (dir, house)
}

const BEGIN: &str = "2026-11-01T00:00:00Z";

#[tokio::test]
async fn a_change_is_listed_shown_and_decided_by_a_person() {
    let (_dir, house) = watched(BEGIN, &["1,000円", "1,200円"]).await;
    let list = reigi(&house, &["changes", "--json", "--fail-on"])
        .with(1)
        .json();
    assert_eq!(
        (&list[0]["id"], &list[0]["state"]),
        (&json!("1-1"), &json!("waiting"))
    );
    assert_eq!(
        (&list[0]["url"], &list[0]["found"]),
        (&json!(PAGE), &json!("2026-11-02T00:00:00Z"))
    );

    let diff = reigi(&house, &["diff", "1-1"]).with(0).out;
    assert!(diff.contains("@ 受講料 › [基礎 × 料金]"), "{diff}");
    assert!(diff.contains("- [1,000]円\n+ [1,200]円"), "{diff}");
    assert!(!diff.contains('\u{1b}'), "no colour where nobody sees it");
    let diff = reigi(&house, &["diff", "1-1", "--json"]).with(0).json();
    assert_eq!(diff[0]["hunks"][0]["where"]["row_label"], "基礎");

    let said = reigi(
        &house,
        &["review", "confirm", "1-1", "--note", "seen", "--by", "eve"],
    )
    .with(1);
    assert!(said.err.contains("eve has no role"), "{}", said.err);
    let said = reigi(
        &house,
        &["review", "confirm", "1-1", "--note", "seen", "--json"],
    )
    .with(0)
    .json();
    assert_eq!(
        (&said[0]["state"], &said[0]["by"]),
        (&json!("confirmed"), &json!("sato"))
    );
    let said = reigi(&house, &["review", "reject", "1-1"]).with(2);
    assert!(said.err.contains("sato has decided"), "{}", said.err);
    let list = reigi(&house, &["changes", "--json", "--fail-on"])
        .with(0)
        .json();
    assert_eq!(
        (&list[0]["state"], &list[0]["note"]),
        (&json!("confirmed"), &json!("seen"))
    );
    assert_eq!(
        reigi(&house, &["changes", "--pending", "--json"])
            .with(0)
            .out,
        ""
    );

    let said = reigi(&house, &["audit", "--json", "--rebuild", "--evidence"]).json();
    assert_eq!(
        said[0]["rebuild"]["differ"],
        json!([]),
        "the rows are the journal's"
    );
    assert_eq!(
        said[0]["evidence"],
        json!({"whole": 2, "damaged": [], "missing": []})
    );
    let promises = said[0]["promises"].as_array().unwrap();
    let evidence = promises.iter().find(|p| p["id"] == "evidence").unwrap();
    assert_eq!(
        (&evidence["status"], &evidence["broken"]),
        (&json!("kept"), &json!(0))
    );
}

#[tokio::test]
async fn a_newer_change_takes_the_place_of_an_older_one() {
    let (_dir, house) = watched(BEGIN, &["1,000円", "1,200円", "1,300円"]).await;
    let said = reigi(&house, &["review", "reject", "1-1", "1-2", "1-9"]).with(2);
    assert!(
        said.err.contains("1-2, took the place of 1-1"),
        "{}",
        said.err
    );
    assert!(said.err.contains("no change 1-9") && said.out.contains("1-2 rejected by sato"));
    let all = reigi(&house, &["changes", "--all", "--json"])
        .with(0)
        .json();
    let states: Vec<_> = all
        .iter()
        .map(|c| (c["id"].clone(), c["state"].clone()))
        .collect();
    assert_eq!(
        states,
        [
            (json!("1-2"), json!("rejected")),
            (json!("1-1"), json!("superseded"))
        ]
    );
    assert_eq!(
        reigi(&house, &["changes", "--json"]).with(0).json().len(),
        1
    );
}

#[tokio::test]
async fn status_names_what_was_seen_and_what_waits() {
    let (_dir, house) = watched(BEGIN, &["1,000円", "1,200円"]).await;
    let line = &reigi(&house, &["status", "--json"]).with(0).json()[0];
    assert_eq!(
        (&line["state"], &line["host"]),
        (&json!("due"), &json!("www.school.example.jp"))
    );
    assert_eq!(line["last_visit"], "2026-11-02T00:00:00Z");
    assert_eq!(
        line["pages"],
        json!([{"url": PAGE, "last": "changed", "seen": "2026-11-02T00:00:00Z", "waiting": "1-1"}])
    );
    reigi(&house, &["pause", "--all"]).with(0);
    let line = &reigi(&house, &["status", "--json"]).with(0).json()[0];
    assert_eq!(
        (&line["state"], &line["paused_by"]),
        (&json!("paused"), &json!("tester"))
    );
    let table = reigi(&house, &["status", "--lang", "ja"]).with(0).out;
    assert!(
        table.contains("変更あり") && table.contains("一時停止 (tester)"),
        "{table}"
    );
}

/// The table speaks one language and names the promise that holds a page back.
#[tokio::test]
async fn status_names_the_promise_behind_a_hold() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let add = [
        "ledger",
        "add",
        "--id",
        "b",
        "--url",
        "https://b.example.jp/",
    ];
    reigi(&house, &add).with(0);
    reigi(&house, &["ledger", "remove", "www.school.example.jp"]).with(0);
    let said = reigi(&house, &["run", "--lang", "en"]).with(0).out;
    assert!(
        said.contains("1 visit, 0 requests") && said.contains("reigi explain"),
        "{said}"
    );
    let table = |lang| reigi(&house, &["status", "--lang", lang]).with(0).out;
    assert!(
        table("ja").contains("保留：利用条件の確認"),
        "{}",
        table("ja")
    );
    assert!(
        table("en").contains("held: Terms of use"),
        "{}",
        table("en")
    );
}

#[tokio::test]
async fn an_audit_names_a_breach_and_a_journal_that_is_another_one() {
    // These requests were made without any robots.txt.
    let (_dir, house) = watched(BEGIN, &["1,000円"]).await;
    let said = reigi(&house, &["audit"]).with(1);
    assert!(
        said.out.contains("BROKEN") && said.out.contains("entry "),
        "{}",
        said.out
    );
    let said = reigi(&house, &["audit", "--json"]).with(1).json();
    let head = said[0]["head"].as_str().unwrap().to_owned();
    assert_eq!(said[0]["chain"], json!([]));
    let said = reigi(&house, &["audit", "--json", "--head", &head])
        .with(1)
        .json();
    assert_eq!(said[0]["chain"], json!([]), "the head is the journal's own");
    let other = format!("{}:{}", head.split_once(':').unwrap().0, "0".repeat(64));
    let said = reigi(&house, &["audit", "--json", "--head", &other])
        .with(1)
        .json();
    assert_ne!(said[0]["chain"], json!([]));
    let said = reigi(&house, &["audit", "--json", "--since", "2026-11-20"])
        .with(0)
        .json();
    assert_eq!(said[0]["requests"], 0, "nothing happened since");
}

#[tokio::test]
async fn gc_deletes_what_is_over_its_time_and_nothing_that_a_change_refers_to() {
    let long_ago = "2010-01-01T00:00:00Z";
    let (_dir, house) = watched(long_ago, &["1,000円"]).await;
    let said = reigi(&house, &["gc", "--json"]).with(0).json();
    assert_eq!(
        (&said[0]["deleted"], &said[0]["kept"]),
        (&json!(1), &json!(0))
    );
    let said = reigi(&house, &["gc", "--json"]).with(0).json();
    assert_eq!(said[0]["deleted"], 0);
    let said = reigi(&house, &["audit", "--json", "--evidence"]).json();
    assert_eq!(
        said[0]["evidence"],
        json!({"whole": 0, "damaged": [], "missing": []})
    );

    let (_dir, house) = watched(long_ago, &["1,000円", "1,200円"]).await;
    let said = reigi(&house, &["gc", "--json"]).with(0).json();
    assert_eq!(
        (&said[0]["deleted"], &said[0]["kept"]),
        (&json!(0), &json!(2))
    );
}

#[tokio::test]
async fn a_second_driver_is_told_of_the_first() {
    let (_dir, house) = watched(BEGIN, &[]).await;
    let store = Store::open(&house.join("data")).await.unwrap();
    let _lock = store.lock_driver("run").unwrap();
    let said = reigi(&house, &["run"]).with(3);
    let first = std::process::id().to_string();
    assert!(said.err.contains(&first), "{}", said.err);
    // Who only writes a wish down need not wait for it.
    reigi(&house, &["pause", "--all"]).with(0);
}
