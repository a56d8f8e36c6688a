use std::time::Duration;

use super::versions::NoEvidence;
use super::*;
use crate::event::{
    Admitted, Answered, BodyRef, Decision, EvidenceDropped, Observation, OptedOut, Paused,
    PolicyRendered, Reach, Validators, Version,
};
use crate::fetched::Outcome;
use crate::journal::{Head, Sealed};
use crate::ledger::Target;
use crate::promise::testing::{
    BOT, History, LANE, OTHER_PAGE, PAGE, changed, header, observed, released, reviewed, row,
};

fn audit(entries: Vec<Entry>) -> Report {
    run(entries, &NoEvidence, &Options::default())
}

/// Two visits of both pages, a change, its review and its release.
fn history() -> History {
    let mut history = History::begun();
    for _ in 0..2 {
        let visit = history.open();
        for page in [PAGE, OTHER_PAGE] {
            let answered = history.fetch(page);
            let seen = observed(visit, page, Observation::Unchanged, Some(answered));
            history.push(LANE, seen);
        }
        history.close(false);
        history.wait(2.0 * 86_400.0);
    }
    history.push(LANE, changed(1));
    let confirmed = history.now;
    history.push(LANE, reviewed(1, Decision::Confirm, "sato"));
    history.house(released(1, &confirmed));
    history
}

/// Promises of this module's own that a history without robots.txt cannot be held against.
fn broken(report: &Report) -> Vec<&'static str> {
    let is_broken = |p: &&PromiseReport| p.status == Status::Broken && !p.id.starts_with("robots");
    report
        .promises
        .iter()
        .filter(is_broken)
        .map(|p| p.id)
        .collect()
}

#[test]
fn a_sound_journal_is_clean() {
    let report = audit(history().sealed());
    assert_eq!(report.chain, Vec::<String>::new());
    assert_eq!(report.loose_ends, []);
    assert_eq!(broken(&report), Vec::<&str>::new());
    assert_eq!(report.requests, 4);
    assert_eq!(report.erased, 0);
    let status = |id| report.promise(id).map(|p| (p.status, p.finding.kept));
    assert_eq!(status("review"), Some((Status::Kept, 1)));
    assert_eq!(status("timeout"), Some((Status::Kept, 4)));
    assert_eq!(status("declared"), Some((Status::Declared, 0)));
    // This charter spaces no starts over all hosts.
    assert_eq!(status("global-interval"), None);
}

#[test]
fn a_report_has_stable_fields() {
    let report = serde_json::to_value(audit(history().sealed())).unwrap();
    for field in [
        "clean",
        "since",
        "entries",
        "requests",
        "erased",
        "chain",
        "loose_ends",
        "heads",
    ] {
        assert!(report.get(field).is_some(), "{field}");
    }
    let promise = &report["promises"][0];
    let fields = [
        "id",
        "title",
        "status",
        "kept",
        "broken",
        "breaches",
        "undecidable",
        "open",
    ];
    for field in fields {
        assert!(promise.get(field).is_some(), "{field}");
    }
    assert_eq!(promise["status"], "kept");
}

/// Place of the first answer in [`history`].
const ANSWER: usize = 5;

/// Hashes everything anew, as somebody who owns the journal could.
fn rebuilt(entries: Vec<Entry>) -> Vec<Entry> {
    let mut prev = Digest::default();
    let rebuild = |mut entry: Entry| {
        entry.header.payload_digest = entry.sealed.as_ref().map(Sealed::digest).unwrap();
        entry.header.prev = prev;
        prev = entry.header.hash();
        entry
    };
    entries.into_iter().map(rebuild).collect()
}

fn head_of(entries: &[Entry]) -> (Seq, Digest) {
    let header = &entries.last().unwrap().header;
    (header.seq, header.hash())
}

type Tamper = fn(&mut Vec<Entry>);

#[test]
fn every_way_to_tamper_has_its_name() {
    let changed_payload: Tamper = |entries| {
        let sealed = entries[ANSWER].sealed.as_mut().unwrap();
        let text = String::from_utf8(sealed.payload.clone()).unwrap();
        sealed.payload = text
            .replacen("198.51.100.7", "198.51.100.8", 1)
            .into_bytes();
    };
    let cases: [(&str, Tamper, bool, &str); 9] = [
        ("nothing", |_| {}, true, ""),
        (
            "changed payload",
            changed_payload,
            false,
            "the payload was changed",
        ),
        (
            "changed header",
            |entries| {
                entries[ANSWER].header.at = entries[ANSWER].header.at.plus(Duration::from_secs(60))
            },
            false,
            "does not follow",
        ),
        (
            "changed last header",
            |entries| entries.last_mut().unwrap().header.bot = 9,
            true,
            "is not the one that was named later",
        ),
        (
            "dropped",
            |entries| drop(entries.remove(ANSWER)),
            false,
            "stands where",
        ),
        (
            "reordered",
            |entries| entries.swap(ANSWER, ANSWER + 1),
            false,
            "stands where",
        ),
        (
            "inserted",
            |entries| entries.insert(ANSWER, entries[ANSWER].clone()),
            false,
            "stands where",
        ),
        (
            "cut tail",
            |entries| entries.truncate(entries.len() - 3),
            true,
            "is not the one that was named later",
        ),
        (
            "rebuilt",
            |entries| {
                entries[ANSWER].header.at = entries[ANSWER].header.at.plus(Duration::from_secs(60));
                *entries = rebuilt(std::mem::take(entries));
            },
            true,
            "is not the one that was named later",
        ),
    ];
    for (name, tamper, needs_head, fault) in cases {
        let mut entries = history().sealed();
        let options = Options {
            published_head: Some(head_of(&entries)),
            ..Options::default()
        };
        tamper(&mut entries);
        let with_head = run(entries.clone(), &NoEvidence, &options);
        let found = with_head.chain.iter().any(|f| f.contains(fault));
        assert_eq!(found, !fault.is_empty(), "{name}: {:?}", with_head.chain);
        assert!(found || with_head.chain.is_empty(), "{name}");
        // Without a published head, only inner contradictions can be found.
        let alone = audit(entries);
        assert_eq!(
            alone.chain.is_empty(),
            needs_head,
            "{name}: {:?}",
            alone.chain
        );
    }
}

#[test]
fn a_tail_cut_before_a_later_start_is_found_without_a_head() {
    let with_heads = |cut: usize| {
        let mut history = History::begun();
        history.open();
        history.fetch(PAGE);
        let first = history.sealed();
        let (seq, hash) = head_of(&first);
        history.begin_segment(
            2,
            vec![Head {
                segment: 1,
                seq,
                hash,
            }],
        );
        let mut entries = history.sealed();
        let second = entries.split_off(first.len());
        entries.truncate(first.len() - cut);
        // Whoever cuts numbers the rest anew.
        let next = entries.len() + 1;
        entries.extend(second.into_iter().enumerate().map(|(i, mut entry)| {
            entry.header.seq = Seq(u64::try_from(next + i).unwrap());
            entry
        }));
        audit(entries).chain
    };
    assert_eq!(with_heads(0), Vec::<String>::new());
    assert_eq!(with_heads(1).len(), 1);
}

#[test]
fn an_erased_payload_keeps_the_chain_and_leaves_every_promise_open() {
    let mut entries = history().sealed();
    let erased = entries[ANSWER].header.seq;
    assert_eq!(entries[ANSWER].header.kind, "answered");
    entries[ANSWER].sealed = None;
    let report = audit(entries);
    assert_eq!((report.chain.len(), report.erased), (0, 1));
    assert_eq!(report.loose_ends, []);
    assert_eq!(broken(&report), Vec::<&str>::new());
    for promise in &report.promises {
        if promise.status != Status::Declared && !promise.id.starts_with("robots") {
            assert_eq!(promise.status, Status::Undecidable, "{}", promise.id);
            assert!(promise.finding.open.iter().any(|note| note.seq == erased));
        }
    }
}

#[test]
fn an_entry_of_an_unknown_kind_is_a_fault() {
    let mut entries = history().sealed();
    "answered-later".clone_into(&mut entries[ANSWER].header.kind);
    let report = audit(rebuilt(entries));
    assert!(
        report.chain[0].contains("answered-later"),
        "{:?}",
        report.chain
    );
    assert!(!report.is_clean());
}

#[test]
fn every_permit_ends_exactly_once() {
    let mut history = History::begun();
    history.open();
    let forgotten = history.admit(history.page(PAGE));
    let under_way = history.admit(history.page(OTHER_PAGE));
    assert_eq!(loose(&history), [forgotten]);
    history.push(LANE, history.answer(under_way));
    let twice = history.push(LANE, history.answer(under_way));
    assert_eq!(loose(&history), [twice, forgotten]);
}

fn loose(history: &History) -> Vec<Seq> {
    let report = audit(history.sealed());
    assert!(!report.is_clean());
    report.loose_ends.iter().map(|note| note.seq).collect()
}

#[test]
fn since_reports_what_happened_from_then_on() {
    let mut history = History::begun();
    history.open();
    for page in [PAGE, PAGE, OTHER_PAGE] {
        history.fetch(page);
    }
    history.close(false);
    history.wait(2.0 * 86_400.0);
    let later = history.now.wall;
    let first = history.open();
    history.fetch(PAGE);
    let again = history.admit(history.page(PAGE));
    let of = |since| {
        let options = Options {
            since,
            ..Options::default()
        };
        run(history.sealed(), &NoEvidence, &options)
    };
    let broken = |report: &Report| report.promise("no-evasion").map(|p| p.finding.broken);
    assert_eq!((of(None).requests, broken(&of(None))), (4, Some(2)));
    let report = of(Some(later));
    assert_eq!((report.requests, broken(&report)), (1, Some(1)));
    assert_eq!(report.since.map(|s| s.0), Some(12));
    assert_eq!(first, 2, "the second visit of {BOT}");
    let named = &report.promise("no-evasion").unwrap().finding.breaches;
    assert_eq!(named.iter().map(|n| n.seq).collect::<Vec<_>>(), [again]);
    let none = of(Some(later.plus(Duration::from_secs(86_400))));
    assert_eq!((none.requests, broken(&none)), (0, Some(0)));
}

/// Breaks one promise of the history that begins with an opened visit.
type Break = fn(&mut History);

/// Each promise has a way to break it that the audit names, and nothing beside it but what the
/// promise itself says it may drag along (DECISIONS 21). Pace, robots.txt and the like have theirs
/// beside them; here they are left out.
#[test]
fn each_breach_names_its_promise_alone() {
    let cases: [(&str, Break); 15] = [
        ("auto-pause", |h| {
            h.house(paused(Reach::All));
            h.fetch(PAGE);
        }),
        ("no-evasion", |h| {
            h.fetch(PAGE);
            h.fetch(PAGE);
        }),
        ("timeout", |h| {
            answer(h, |a| {
                a.ended.mono = a.opened.mono.plus(Duration::from_secs(30))
            });
        }),
        ("size", |h| {
            answer(h, |a| a.body.as_mut().unwrap().bytes = 10_000_001);
        }),
        ("safe-redirect", |h| {
            let hop = Admitted {
                hop: 1,
                ..h.page(PAGE)
            };
            h.admit(hop);
        }),
        ("terms", |h| {
            let unread = Target {
                terms: None,
                ..row()
            };
            h.enter(unread);
            h.fetch(PAGE);
        }),
        ("opt-out", |h| {
            h.house(opted_out(Reach::Host("school.example.jp".into())));
            h.fetch(PAGE);
        }),
        ("extraction", |h| {
            h.push(LANE, observed(1, PAGE, Observation::Unchanged, None));
        }),
        ("page-signals", |h| {
            let answered = answer(h, |a| a.headers.push(header("x-robots-tag", "noai")));
            let mut seen = observed(1, PAGE, Observation::Confirmed, Some(answered));
            seen.version = Some(version());
            h.push(LANE, seen);
        }),
        ("evidence", |h| {
            let seq = answer(h, |a| a.outcome = Outcome::Status(403));
            assert!(seq > Seq(0));
        }),
        ("retention", |h| {
            h.fetch(PAGE);
            h.house(EvidenceDropped {
                digests: vec![Digest::of(b"body")],
                by: "retention".to_owned(),
                reason: String::new(),
            });
        }),
        ("review", |h| {
            h.push(LANE, changed(1));
            h.house(released(1, &h.now.clone()));
        }),
        ("provenance", |h| {
            h.push(LANE, changed(1));
            h.push(LANE, reviewed(1, Decision::Confirm, "sato"));
            h.wait(60.0);
            h.house(released(1, &h.now.clone()));
        }),
        ("no-redistribution", |h| {
            h.push(LANE, changed(1));
            h.push(LANE, reviewed(1, Decision::Confirm, "sato"));
            let mut release = released(1, &h.now);
            release.items[0].text = vec!["長い本文".repeat(50)];
            h.house(release);
        }),
        ("complete-page", |h| {
            h.house(PolicyRendered {
                bot: BOT.to_owned(),
                charter: Digest::of(b"another charter"),
                page: Digest::of(b"page"),
                form: "ja/html".to_owned(),
            });
        }),
    ];
    let ours: Vec<&str> = cases.iter().map(|(id, _)| *id).collect();
    for (id, breach) in cases {
        let mut history = History::begun();
        history.open();
        breach(&mut history);
        let mut named = broken(&audit(history.sealed()));
        named.retain(|found| ours.contains(found));
        let implied = crate::promise::by_id(id).unwrap().implies();
        assert!(named.contains(&id), "{id} is not named, but {named:?}");
        let strangers = named.iter().find(|f| **f != id && !implied.contains(f));
        assert_eq!(strangers, None, "beside {id}");
    }
}

fn answer(history: &mut History, change: impl FnOnce(&mut Answered)) -> Seq {
    let admitted = history.admit(history.page(PAGE));
    let mut answer = history.answer(admitted);
    change(&mut answer);
    history.push(LANE, answer)
}

fn paused(reach: Reach) -> Paused {
    Paused {
        reach,
        by: "sato".to_owned(),
        reason: String::new(),
        until: None,
        epoch: 2,
    }
}

fn opted_out(reach: Reach) -> OptedOut {
    OptedOut {
        reach,
        by: "sato".to_owned(),
        reason: String::new(),
        received: Timestamp::default(),
        withdrawn: false,
        epoch: 2,
    }
}

fn version() -> Version {
    Version {
        body: BodyRef {
            digest: Digest::of(b"body"),
            bytes: 4,
        },
        text: None,
        content_type: None,
        charset: None,
        validators: Validators::default(),
        signals: Vec::new(),
    }
}
