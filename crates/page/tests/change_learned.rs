//! What a target's own history teaches, what it must never teach, and how it is taken back.

use reigi_page::change::{Learned, NoiseKind, Seen, Verdict, compare, learn, text_digest};
use reigi_page::{Page, Read};

fn page(body: &str) -> Page {
    let html = format!("<!doctype html><meta charset=utf-8><body>{body}");
    match Page::read(html.as_bytes(), Some("text/html; charset=utf-8")) {
        Read::Html(page) => *page,
        Read::Other(other) => panic!("{other:?}"),
    }
}

fn taught(bodies: &[String]) -> Learned {
    let pages: Vec<Page> = bodies.iter().map(|body| page(body)).collect();
    let days: Vec<String> = (1..)
        .map(|day| format!("2026-11-{day:02}"))
        .take(9)
        .collect();
    let history: Vec<Seen<'_>> = pages
        .iter()
        .zip(&days)
        .map(|(page, at)| Seen { at, page })
        .collect();
    let mut learned = Learned::default();
    learned.adopt(learn(&history));
    learned
}

/// The verdicts of a target visited again and again, each version noted after it is compared.
fn visits(bodies: &[&str]) -> Vec<Verdict> {
    let mut learned = Learned::default();
    let pages: Vec<Page> = bodies.iter().map(|body| page(body)).collect();
    let mut verdicts = Vec::new();
    for (before, after) in pages.iter().zip(pages.iter().skip(1)) {
        learned.note(before);
        verdicts.push(compare(before, after, &learned).verdict);
    }
    verdicts
}

#[test]
fn a_running_number_outside_headings_is_learned_and_taken_back() {
    let body = |n: u32| format!("<p>今日の便り 第 {n} 号 ほか</p><h1>館</h1><p>案内</p>");
    let history: Vec<String> = [101, 105, 117, 120].map(body).to_vec();
    let (next, last) = (page(&body(131)), page(&body(120)));
    assert_eq!(
        compare(&last, &next, &Learned::default()).verdict,
        Verdict::Changed
    );

    let mut learned = taught(&history);
    let [rule] = learned.rules() else {
        panic!("{:?}", learned.rules())
    };
    assert_eq!((rule.count, rule.since.as_str()), (3, "2026-11-01"));
    let id = rule.id.clone();
    let difference = compare(&last, &next, &learned);
    assert_eq!(difference.verdict, Verdict::Noise);
    assert_eq!(difference.hunks[0].noise, Some(NoiseKind::Learned));
    assert_eq!(difference.hunks[0].rule.as_deref(), Some(id.as_str()));

    // Another wording at the same place is another shape.
    let reworded = page("<p>今日の便り 臨時休館</p><h1>館</h1><p>案内</p>");
    assert_eq!(
        compare(&last, &reworded, &learned).verdict,
        Verdict::Changed
    );

    let kept: Learned = serde_json::from_str(&serde_json::to_string(&learned).unwrap()).unwrap();
    assert_eq!(kept, learned);
    assert!(learned.retire(&id).is_some() && learned.retire(&id).is_none());
    learned.adopt(taught(&history).rules().to_vec());
    assert!(
        learned.rules().is_empty(),
        "what a person took back is not learned again"
    );
    assert_eq!(compare(&last, &next, &learned).verdict, Verdict::Changed);
}

#[test]
fn a_price_date_or_number_is_never_learned_under_a_heading_or_in_a_table() {
    let places = [
        "<h1>館</h1><p>在庫 VALUE</p>",
        "<h1>館</h1><h2>案内</h2><p>VALUE</p>",
        "<table><tr><th>案内</th><td>VALUE</td></tr></table>",
        "<dl><dt>案内</dt><dd>VALUE</dd></dl>",
    ];
    let values = [
        ["100円", "110円", "120円", "130円", "140円"],
        ["12月1日", "12月2日", "12月3日", "12月4日", "12月5日"],
        ["9:00", "10:00", "11:00", "12:00", "13:00"],
        ["12", "13", "14", "15", "16"],
        ["休館", "開館", "休館", "開館", "休館"],
    ];
    for place in places {
        for values in values {
            let history: Vec<String> = values
                .iter()
                .map(|value| place.replace("VALUE", value))
                .collect();
            let learned = taught(&history);
            assert!(
                learned.rules().is_empty(),
                "{place} {values:?} {:?}",
                learned.rules()
            );
        }
    }
    // A price is not learned anywhere.
    let prices: Vec<String> = (1..6).map(|n| format!("<p>今日の魚 {n}00円</p>")).collect();
    assert!(taught(&prices).rules().is_empty());
}

#[test]
fn blocks_in_turn_are_learned_as_the_lines_they_are() {
    let body = |ad: &str| format!("<main><h1>館</h1><p>案内</p></main><aside><p>{ad}</p></aside>");
    let (a, b) = (body("旅の鞄を新しく"), body("海の宿で静かに"));
    let learned = taught(&[a.clone(), b.clone(), a.clone(), b.clone()]);
    assert_eq!(learned.rules().len(), 1, "{:?}", learned.rules());
    assert_eq!(
        compare(&page(&a), &page(&b), &learned).verdict,
        Verdict::Noise
    );
    let new = page(&body("友の会の集まり"));
    assert_eq!(compare(&page(&a), &new, &learned).verdict, Verdict::Changed);
}

#[test]
fn a_version_that_comes_back_is_no_news_unless_it_states_a_fact() {
    use Verdict::{Changed, Noise, Unchanged};
    let a = "<h1>館</h1><p>谷の道具</p><iframe></iframe><p>友の会</p>";
    let b = "<h1>館</h1><p>谷の道具</p>";
    assert_eq!(visits(&[a, b, a, b, b]), [Changed, Noise, Noise, Unchanged]);
    for (a, b) in [
        ("1,000円", "1,200円"),
        ("12月5日", "12月6日"),
        ("開館", "休館"),
        ("3", "4"),
    ] {
        let [a, b] = [a, b].map(|value| format!("<h1>館</h1><p>{value}</p>"));
        assert_eq!(visits(&[&a, &b, &a, &b]), [Changed, Changed, Changed]);
    }
}

#[test]
fn the_digest_is_of_what_is_said_not_of_how() {
    let digest = |body: &str| text_digest(&page(body));
    assert_eq!(
        digest("<p class=a>一般 １，０００円</p>"),
        digest("<div><p>一般 1,000円</p></div>")
    );
    assert_ne!(digest("<p>一般 1,000円</p>"), digest("<p>一般 1,200円</p>"));
    let row = |a: &str, b: &str| {
        format!("<table><tr><th>区分<th>平日<th>休日<tr><th>一般<td>{a}<td>{b}</table>")
    };
    assert_ne!(digest(&row("500円", "")), digest(&row("", "500円")));
}
