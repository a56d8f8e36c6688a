//! Change detection over the labelled corpus of real pairs, where it is at hand: every real
//! change is reported, at least 95 % of the noise is kept quiet.

use std::collections::BTreeMap;
use std::path::PathBuf;

use reigi_page::change::{Learned, Verdict, compare};
use reigi_page::{Page, Read};

fn corpus() -> Option<PathBuf> {
    let shared = std::env::var_os("REIGI_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let folder = shared.join("corpus/changes");
    folder.join("labels.jsonl").exists().then_some(folder)
}

#[test]
fn real_changes_are_reported_and_noise_is_quiet() {
    let Some(folder) = corpus() else {
        println!("skipped: no corpus of page changes here (REIGI_SHARED)");
        return;
    };
    let labels = std::fs::read_to_string(folder.join("labels.jsonl")).unwrap();
    let mut tally: BTreeMap<(String, String, bool), (u32, u32)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for label in labels.lines() {
        let label: serde_json::Value = serde_json::from_str(label).unwrap();
        let text = |key: &str| label[key].as_str().unwrap_or("").to_owned();
        let read = |file: &str| -> Page {
            let body = std::fs::read(folder.join(text("id")).join(file)).unwrap();
            match Page::read(&body, Some("text/html")) {
                Read::Html(page) => *page,
                Read::Other(other) => panic!("{}: {other:?}", text("id")),
            }
        };
        let difference = compare(
            &read("before.html"),
            &read("after.html"),
            &Learned::default(),
        );
        let real = text("label") == "real";
        let right = (difference.verdict == Verdict::Changed) == real;
        let ambiguous = label["ambiguous"] == true;
        let subtype = text(if real { "scope" } else { "subtype" });
        let (k, n) = tally
            .entry((text("label"), subtype, ambiguous))
            .or_default();
        *k += u32::from(right);
        *n += 1;
        if !right && !ambiguous {
            wrong.push(text("id"));
        }
        println!(
            "{} {:?} {}",
            text("id"),
            difference.verdict,
            difference.summary.en
        );
        if std::env::var("ID").is_ok_and(|id| id == text("id")) {
            println!(
                "{}",
                serde_json::to_string_pretty(&difference.hunks).unwrap()
            );
        }
    }
    let mut totals: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for ((label, subtype, ambiguous), (k, n)) in &tally {
        println!(
            "{label} {subtype}{}: {k} of {n}",
            if *ambiguous { " (ambiguous)" } else { "" }
        );
        if !ambiguous {
            let total = totals.entry(label).or_default();
            *total = (total.0 + k, total.1 + n);
        }
    }
    println!("{totals:?}, wrong: {wrong:?}");
    let (real, noise) = (totals["real"], totals["noise"]);
    assert_eq!(real.0, real.1, "every real change is reported");
    assert!(
        noise.0 * 100 >= noise.1 * 95,
        "noise kept quiet: {} of {}",
        noise.0,
        noise.1
    );
}
