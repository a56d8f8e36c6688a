//! Speed of comparing two readings: a page of a usual size, and hostile ones.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use reigi_page::change::{Learned, compare};
use reigi_page::{Page, Read};

fn page(lines: impl Iterator<Item = String>) -> Page {
    let body: String = lines.map(|line| format!("<p>{line}</p>")).collect();
    let html = format!("<!doctype html><meta charset=utf-8><h1>館</h1><h2>案内</h2>{body}");
    match Page::read(html.as_bytes(), Some("text/html; charset=utf-8")) {
        Read::Html(page) => *page,
        Read::Other(other) => unreachable!("{other:?}"),
    }
}

fn usual(price: u32) -> Page {
    page((0..300).map(|n| {
        let yen = if n == 120 { price } else { n * 10 };
        format!(
            "{n} 番の展示室では谷あいの暮らしの道具を集めて見せています。観覧料は {yen}円です。"
        )
    }))
}

fn benches(c: &mut Criterion) {
    let learned = Learned::default();
    let mut pair = |name: &str, before: Page, after: Page| {
        c.bench_function(name, |b| {
            b.iter(|| compare(black_box(&before), black_box(&after), &learned));
        });
    };
    pair("300 lines, equal", usual(1000), usual(1000));
    pair("300 lines, one changed", usual(1000), usual(1200));
    let all = |word: &'static str, n: u32| page((0..n).map(move |i| format!("{word} {i}")));
    pair(
        "100,000 lines, all changed",
        all("谷", 100_000),
        all("川", 100_000),
    );
    let few = |step: u32| page((0..100_000_u32).map(move |i| format!("{}", (i * step) % 7)));
    pair("100,000 lines of 7 kinds, shuffled", few(3), few(5));
    let turned = page((0..100_000).rev().map(|i| format!("谷 {i}")));
    pair("100,000 lines, reversed", all("谷", 100_000), turned);
    let plain = |i: usize| {
        format!(
            "{}の道",
            "谷川森町"
                .chars()
                .cycle()
                .skip(i % 4)
                .take(i % 300)
                .collect::<String>()
        )
    };
    let shuffled = page((0..20_000).rev().map(plain));
    pair(
        "20,000 lines without figures, reversed",
        page((0..20_000).map(plain)),
        shuffled,
    );
    let links = |word: &'static str| {
        page((0..50_000).map(move |i| format!("<a href=\"/{word}/{i}\">{word} {i}</a>")))
    };
    pair("50,000 links, all renamed", links("谷"), links("川"));
    let long = |word: &str| page(std::iter::once(format!("{word}の道具、").repeat(250_000)));
    pair("one line of 5 MB, changed", long("谷"), long("川"));
    let rows = |label: &'static str| {
        let rows: String = (0..30_000)
            .map(|i| format!("<tr><th>{label}{i}<td>{i}円"))
            .collect();
        page(std::iter::once(format!("<table>{rows}</table>")))
    };
    pair("30,000 rows, relabelled", rows("谷"), rows("川"));
}

criterion_group! {
    name = speed;
    config = Criterion::default().sample_size(10);
    targets = benches
}
criterion_main!(speed);
