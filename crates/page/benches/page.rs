//! How fast pages are read: a page of about 30 KB, and the shared corpus of real ones if present.

use std::hint::black_box;
use std::path::PathBuf;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reigi_page::Page;

/// A page of about 30 KB with menus, paragraphs, lists and a table.
fn generated() -> String {
    let mut page = String::from(
        "<!doctype html><html lang=ja><head><meta charset=utf-8><title>町の博物館</title></head>\
         <body><nav><ul>",
    );
    for n in 0..30 {
        page += &format!("<li><a class=\"menu\" href=\"/page/{n}\">案内 {n}</a></li>");
    }
    page += "</ul></nav><main><h1>ご利用案内</h1>";
    for n in 0..75 {
        page += &format!(
            "<section class=\"block\"><h2>{n}号展示室</h2><p>この部屋では、<b>湖</b>の漁と暮らしを\
             道具と写真で紹介しています。開館時間は午前9時から午後5時までです。</p>\
             <ul><li>定員は{n}名です。</li><li><a href=\"/room/{n}\">くわしく</a></li></ul>\
             <img src=\"/img/{n}.jpg\" alt=\"展示室\"></section>"
        );
    }
    page += "<table><tr><th>区分</th><th>個人</th><th>団体</th></tr>";
    for n in 0..40 {
        page += &format!("<tr><td>区分{n}</td><td>{n}00円</td><td>{n}50円</td></tr>");
    }
    page + "</table></main></body></html>"
}

fn corpus() -> Vec<Vec<u8>> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("REIGI_SHARED").map_or(default, PathBuf::from);
    let files = std::fs::read_dir(shared.join("corpus/pages"))
        .into_iter()
        .flatten()
        .flatten();
    let paths = files.map(|file| file.path());
    let pages = paths.filter(|p| p.extension().is_some_and(|e| e == "html" || e == "xml"));
    pages.filter_map(|path| std::fs::read(path).ok()).collect()
}

fn read(c: &mut Criterion) {
    let page = generated();
    let mut group = c.benchmark_group("page");
    group.throughput(Throughput::Bytes(page.len() as u64));
    group.bench_function("generated", |b| {
        b.iter(|| Page::read(black_box(page.as_bytes()), Some("text/html")))
    });
    let pages = corpus();
    if !pages.is_empty() {
        group.throughput(Throughput::Elements(pages.len() as u64));
        group.bench_function("corpus", |b| {
            b.iter(|| {
                pages
                    .iter()
                    .map(|p| Page::read(black_box(p), None))
                    .collect::<Vec<_>>()
            })
        });
    }
    group.finish();
}

criterion_group!(benches, read);
criterion_main!(benches);
