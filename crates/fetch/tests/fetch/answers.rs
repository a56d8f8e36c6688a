//! `testdata/answers.txt`: answers byte for byte, and what is made of them.

use std::fmt::Write as _;

use reigi_core::fetched::{Fetched, Outcome};

use crate::listen::{End, Listener};
use crate::support::{TestClock, Wanted, fetch};

#[derive(Default, Debug)]
struct Case {
    name: String,
    pieces: Vec<Vec<u8>>,
    end: Option<End>,
    outcome: String,
    body: Vec<u8>,
    faults: String,
    fields: Vec<String>,
}

fn cases() -> Vec<Case> {
    let text = include_str!("../../testdata/answers.txt");
    let blocks = text.split("\n\n");
    let blocks = blocks.map(|block| block.lines().filter(|line| !line.starts_with('#')));
    let cases = blocks.map(|lines| {
        let mut case = Case::default();
        for line in lines {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            match key {
                "case" => case.name = value.to_owned(),
                "answer" => case.pieces.push(unescape(value)),
                "end" => {
                    case.end = Some(match value {
                        "hold" => End::Hold,
                        "reset" => End::Reset,
                        _ => End::Close,
                    });
                }
                "outcome" => case.outcome = value.to_owned(),
                "body" => case.body = unescape(value),
                "faults" => case.faults = value.to_owned(),
                "fields" => case.fields = value.split(", ").map(str::to_owned).collect(),
                _ => panic!("{line}"),
            }
        }
        case
    });
    cases.filter(|case| !case.name.is_empty()).collect()
}

fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        match chars.next() {
            Some('r') => out.push(b'\r'),
            Some('n') => out.push(b'\n'),
            Some('t') => out.push(b'\t'),
            Some('0') => out.push(0),
            Some('\\') => out.push(b'\\'),
            Some('x') => {
                let hex: String = chars.by_ref().take(2).collect();
                out.push(u8::from_str_radix(&hex, 16).unwrap());
            }
            other => panic!("{other:?} in {text}"),
        }
    }
    out
}

/// What differs from the case, in words; empty if nothing does.
fn differences(case: &Case, fetched: &Fetched) -> String {
    let mut out = String::new();
    let outcome = format!("{:?}", fetched.outcome);
    let as_said = match case.outcome.strip_suffix("(..)") {
        Some(kind) => outcome.starts_with(kind),
        None => outcome == case.outcome,
    };
    if !as_said {
        let _ = writeln!(out, "  outcome {outcome}, expected {}", case.outcome);
    }
    if fetched.body != case.body {
        let _ = writeln!(out, "  body {:?}", String::from_utf8_lossy(&fetched.body));
    }
    if fetched.faults.join(", ") != case.faults {
        let _ = writeln!(out, "  faults {:?}", fetched.faults);
    }
    for field in &case.fields {
        let found = match field.split_once('=') {
            Some((name, value)) => fetched
                .headers
                .iter()
                .any(|(n, v)| n == name && *v == unescape(value)),
            None => !fetched.headers.iter().any(|(n, _)| n == &field[1..]),
        };
        if !found {
            let _ = writeln!(out, "  {field} is not so in {:?}", fetched.headers);
        }
    }
    if !in_order(fetched) || fetched.sent.is_none() {
        let _ = writeln!(out, "  stamps {fetched:?}");
    }
    let has_head = !fetched.headers.is_empty() || matches!(fetched.outcome, Outcome::Status(_));
    if has_head && fetched.head_at.is_none() {
        let _ = writeln!(out, "  a head without its stamp");
    }
    out
}

fn in_order(fetched: &Fetched) -> bool {
    let stamps = [
        Some(fetched.opened),
        fetched.sent,
        fetched.head_at,
        Some(fetched.ended),
    ];
    stamps
        .into_iter()
        .flatten()
        .is_sorted_by_key(|now| now.mono)
}

/// Bytes next to the cases' own: one flipped, or the rest cut off.
fn mutants(pieces: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let whole = pieces.concat();
    let places = (0..whole.len()).step_by(7);
    let flipped = places.clone().map(|at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    });
    flipped
        .chain(places.map(|at| whole[..at].to_vec()))
        .collect()
}

#[tokio::test]
async fn any_answer_ends_in_an_outcome() {
    let clock = TestClock::new();
    for case in cases() {
        for bytes in mutants(&case.pieces) {
            let said = String::from_utf8_lossy(&bytes).into_owned();
            let listener = Listener::play(vec![bytes], End::Close).await;
            let fetched = fetch(&clock, listener.at, &Wanted::page("http://a.test/")).await;
            let whole = matches!(fetched.outcome, Outcome::Status(_));
            assert!(whole || fetched.body.is_empty(), "{said:?}: {fetched:?}");
            assert!(in_order(&fetched), "{said:?}: {fetched:?}");
            assert_eq!(listener.visits().await.len(), 1, "{said:?}");
        }
    }
}

#[tokio::test]
async fn each_answer_becomes_what_its_case_says() {
    let clock = TestClock::new();
    let mut wrong = String::new();
    let cases = cases();
    assert!(cases.len() > 40, "the file was not read");
    for case in &cases {
        let end = case.end.unwrap_or(End::Close);
        let listener = Listener::play(case.pieces.clone(), end).await;
        let fetched = fetch(&clock, listener.at, &Wanted::page("http://a.test/")).await;
        let differences = differences(case, &fetched);
        if !differences.is_empty() {
            let _ = write!(wrong, "{}\n{differences}", case.name);
        }
        let visits = listener.visits().await;
        assert_eq!(visits.len(), 1, "{}: asked once, whatever comes", case.name);
        assert_eq!(visits[0].head.as_bytes(), fetched.request_head);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
