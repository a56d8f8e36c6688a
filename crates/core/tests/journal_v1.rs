//! Journals of every released version stay readable and provable (DECISIONS 2): version 1, from a
//! watch of the demo's town.

use std::path::Path;

use data_encoding::BASE64;
use reigi_core::audit::versions::NoEvidence;
use reigi_core::audit::{self, Options};
use reigi_core::journal::{Entry, Header, Sealed};

fn entries() -> Vec<Entry> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/journal/v1/watch.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let header: Header = serde_json::from_value(line["header"].clone()).unwrap();
            let salt = BASE64
                .decode(line["salt"].as_str().unwrap().as_bytes())
                .unwrap();
            let payload = line["payload"].as_str().unwrap().as_bytes().to_vec();
            Entry {
                header,
                sealed: Some(Sealed {
                    salt: salt.try_into().unwrap(),
                    payload,
                }),
            }
        })
        .collect()
}

#[test]
fn every_entry_reads_and_the_chain_holds() {
    let entries = entries();
    assert!(entries.len() > 300);
    for entry in &entries {
        assert!(entry.event().unwrap().is_some(), "{}", entry.header.kind);
    }
    let report = audit::run(entries, &NoEvidence, &Options::default());
    assert!(report.chain.is_empty(), "{:?}", report.chain);
}

#[test]
fn what_needs_no_body_is_still_proved_kept() {
    let report = audit::run(entries(), &NoEvidence, &Options::default());
    for id in [
        "identity",
        "scope",
        "interval",
        "connections",
        "cadence",
        "conditional",
        "timeout",
    ] {
        let promise = report.promise(id).unwrap();
        assert_eq!(
            promise.finding.broken, 0,
            "{id}: {:?}",
            promise.finding.breaches
        );
        assert!(promise.finding.kept > 0, "{id}");
    }
    // The robots bodies are not here: what rests on them is not called kept.
    assert!(report.promise("robots-obeyed").unwrap().finding.undecidable > 0);
}

#[test]
fn one_changed_byte_of_an_old_journal_is_found() {
    let mut entries = entries();
    let at = entries.len() / 2;
    entries[at].sealed.as_mut().unwrap().payload[10] ^= 1;
    let report = audit::run(entries, &NoEvidence, &Options::default());
    assert!(!report.chain.is_empty());
}
