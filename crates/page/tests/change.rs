//! Pairs of pages and what a reader would say of them (`testdata/changes/pairs.jsonl`: `expect` is
//! `unchanged`, `changed`, or the kind of noise; a `-twin` looks like noise and is none), and the
//! laws that every comparison keeps.

use proptest::prelude::*;
use reigi_page::change::{Difference, Hunk, HunkKind, Learned, Verdict, Word, compare};
use reigi_page::{Page, Read};

fn page(body: &str) -> Page {
    let html = format!("<!doctype html><meta charset=utf-8><body>{body}");
    match Page::read(html.as_bytes(), Some("text/html; charset=utf-8")) {
        Read::Html(page) => *page,
        Read::Other(other) => panic!("{other:?}"),
    }
}

fn between(before: &str, after: &str) -> Difference {
    compare(&page(before), &page(after), &Learned::default())
}

/// `unchanged`, `changed`, or the kinds of noise.
fn outcome(difference: &Difference) -> String {
    match difference.verdict {
        Verdict::Unchanged => "unchanged".to_owned(),
        Verdict::Changed => "changed".to_owned(),
        Verdict::Noise => {
            let kinds = difference.hunks.iter().filter_map(|hunk| hunk.noise);
            let name = |kind| serde_json::to_value(kind).ok()?.as_str().map(str::to_owned);
            let mut kinds: Vec<String> = kinds.filter_map(name).collect();
            kinds.sort();
            kinds.dedup();
            kinds.join("+")
        }
    }
}

#[test]
fn every_kind_of_noise_and_its_dangerous_twin() {
    let cases = include_str!("../testdata/changes/pairs.jsonl");
    let mut wrong = Vec::new();
    for case in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(case).unwrap();
        let text = |key: &str| case[key].as_str().unwrap().to_owned();
        for (before, after) in [("before", "after"), ("after", "before")] {
            let difference = between(&text(before), &text(after));
            if outcome(&difference) != text("expect") {
                wrong.push(format!(
                    "{} ({before} first): {} instead of {}: {}",
                    text("id"),
                    outcome(&difference),
                    text("expect"),
                    serde_json::to_string(&difference.hunks).unwrap()
                ));
            }
        }
        let summary = between(&text("before"), &text("after")).summary;
        for (lang, got) in [("ja", summary.ja), ("en", summary.en)] {
            let want = case["summary"][lang].as_str();
            if want.is_some_and(|want| want != got) {
                wrong.push(format!("{}: {got:?} instead of {want:?}", text("id")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_difference_is_stable_json() {
    let before = "<h1>館</h1><h2>料金</h2><p>一般 1,000円</p>";
    let after = "<h1>館</h1><h2>料金</h2><p>一般 1,200円</p>";
    let json = serde_json::to_value(between(before, after)).unwrap();
    assert_eq!(json["verdict"], "changed");
    assert_eq!(json["summary"]["ja"], "料金: 一般 1,000円 → 一般 1,200円");
    let hunk = &json["hunks"][0];
    assert_eq!(hunk["kind"], "replaced");
    assert_eq!(hunk["noise"], serde_json::Value::Null);
    assert_eq!(hunk["where"]["headings"], serde_json::json!(["館", "料金"]));
    assert_eq!(
        hunk["after"],
        serde_json::json!([
            {"text": "一般 ", "changed": false},
            {"text": "1,200", "changed": true},
            {"text": "円", "changed": false},
        ])
    );
}

fn text(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect()
}

/// Rebuilds the later page's lines from the earlier one's and the hunks.
fn apply(before: &[String], hunks: &[Hunk]) -> Vec<String> {
    let gone: Vec<usize> = hunks.iter().filter_map(|hunk| hunk.before_line).collect();
    let mut rest = before
        .iter()
        .enumerate()
        .filter(|(i, _)| !gone.contains(i))
        .map(|(_, l)| l);
    let come: std::collections::BTreeMap<usize, String> = hunks
        .iter()
        .filter_map(|hunk| Some((hunk.after_line?, text(hunk.after.as_ref()?))))
        .collect();
    let mut lines = Vec::new();
    loop {
        match come.get(&lines.len()).or_else(|| rest.next()) {
            Some(line) => lines.push(line.clone()),
            None => return lines,
        }
    }
}

const LINES: &[&str] = &[
    "お知らせ",
    "一般 1,000円",
    "一般 1,200円",
    "毎週月曜日は休館",
    "毎週火曜日は休館",
    "#谷",
    "#川",
    "© 2025 館",
    "© 2026 館",
    "閲覧数: 12",
    "閲覧数: 34",
    "3時間前",
    "広告",
    "旅の鞄",
    "海の宿",
    "Version 1.2.3",
    "Open daily",
    "１０時",
    "10時",
    "We use cookies.",
    "Accept all",
];

/// A value and what it became.
const VALUES: &[(&str, &str)] = &[
    ("1,000円", "1,200円"),
    ("$5", "$6"),
    ("2026年12月5日", "2026年12月6日"),
    ("2025", "2026"),
    ("9:00", "10:00"),
    ("12:34:56", "12:34:57"),
    ("3時間前", "5時間前"),
    ("閲覧数 12", "閲覧数 13"),
    ("定員 20 名", "定員 30 名"),
    ("Version 1.2.3", "Version 1.2.4"),
    ("12 views", "13 views"),
    ("9f8a7b6c5d4e3f2a", "00ab19cd28ef37aa"),
    ("Cookies: accept 3", "Cookies: accept 4"),
];

/// Places where a value is under guard.
const PLACES: &[&str] = &[
    "<h2>案内</h2><p>VALUE</p>",
    "<h2>案内</h2><ul><li>VALUE</li></ul>",
    "<h2>案内</h2><div class=ad><p>VALUE</p></div>",
    "<h2>案内</h2><div role=dialog><p>VALUE</p></div>",
    "<table><tr><th>案内</th><td>VALUE</td></tr></table>",
    "<table><tr><td>VALUE</td></tr></table>",
    "<dl><dt>案内</dt><dd>VALUE</dd></dl>",
    "<main><h2>案内</h2><p>VALUE</p></main>",
    "<aside><h2>案内</h2><p>VALUE</p></aside>",
];

fn body() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(LINES), 0..14)
}

fn html(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("<p>{line}</p>")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_page_equals_itself(lines in body()) {
        let difference = between(&html(&lines), &html(&lines));
        prop_assert_eq!(difference.verdict, Verdict::Unchanged);
        prop_assert!(difference.hunks.is_empty());
    }

    #[test]
    fn hunks_lead_from_before_to_after(old in body(), new in body()) {
        let (before, after) = (page(&html(&old)), page(&html(&new)));
        let difference = compare(&before, &after, &Learned::default());
        let texts = |page: &Page| page.blocks.iter().map(|b| b.text.clone()).collect::<Vec<_>>();
        prop_assert_eq!(apply(&texts(&before), &difference.hunks), texts(&after));
        for hunk in difference.hunks.iter().filter(|hunk| hunk.kind != HunkKind::LinkTarget) {
            for (words, at, page) in [
                (&hunk.before, hunk.before_line, &before),
                (&hunk.after, hunk.after_line, &after),
            ] {
                let line = at.map(|at| page.blocks[at].text.clone());
                prop_assert_eq!(words.as_ref().map(|words| text(words)), line);
            }
        }
    }

    #[test]
    fn comparing_backwards_gives_the_same_verdict(old in body(), new in body()) {
        let (there, back) = (between(&html(&old), &html(&new)), between(&html(&new), &html(&old)));
        prop_assert_eq!(there.verdict, back.verdict);
        prop_assert_eq!(there.hunks.len(), back.hunks.len());
    }

    #[test]
    fn a_price_under_a_heading_is_never_noise(lines in body(), at in 0_usize..14, yen in 1_u32..99_999) {
        let mut more = lines.clone();
        let price = format!("おとな {yen}円");
        more.insert(at.min(lines.len()), &price);
        let head = "<h1>館</h1><h2>料金</h2>";
        let difference = between(&format!("{head}{}", html(&lines)), &format!("{head}{}", html(&more)));
        prop_assert_eq!(difference.verdict, Verdict::Changed);
        prop_assert!(difference.summary.ja.contains("円") && difference.summary.ja.contains("料金"));
    }

    /// Whatever stands around it: labels of advertisements, consent texts, copyright lines.
    #[test]
    fn a_value_under_a_section_or_in_a_table_is_never_noise(
        above in body(), below in body(), value in 0..VALUES.len(), place in 0..PLACES.len(),
        gone in any::<bool>(),
    ) {
        let (was, is) = VALUES[value];
        let put = |value: &str| PLACES[place].replace("VALUE", value);
        let around = |inner: &str| format!("<h1>館</h1>{}{inner}{}", html(&above), html(&below));
        let after = if gone { String::new() } else { around(&put(is)) };
        let after = if gone { around("<h2>案内</h2>") } else { after };
        let difference = between(&around(&put(was)), &after);
        prop_assert_eq!(difference.verdict, Verdict::Changed, "{:?}", difference);
    }

    #[test]
    fn a_nonce_in_a_query_is_never_a_change(a in "[0-9a-f]{8}[0-9]{4}[a-f]{4}", b in "[0-9a-f]{8}[0-9]{4}[a-f]{4}") {
        let link = |nonce: &str| format!("<p>案内</p><a href=\"/form?n={nonce}&step=2\">申込</a>");
        prop_assert_ne!(between(&link(&a), &link(&b)).verdict, Verdict::Changed);
    }

    #[test]
    fn a_summary_is_bounded(old in body(), new in body()) {
        let summary = between(&html(&old), &html(&new)).summary;
        prop_assert!(summary.ja.chars().count() <= 140 && summary.en.chars().count() <= 140);
    }
}
