//! Our parser beside other crates, in two jobs: read a file for one answer, and ask a file already
//! read many questions. Run with `cargo bench -p reigi-robots`; files are made up here, and a
//! shared corpus of real ones is used where it is present. `robotstxt` reads the file anew for
//! each question and so takes part in the first job only.

#![expect(clippy::unwrap_used, reason = "writing to a String cannot fail")]

use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use reigi_robots::Rules;

const AGENT: &str = "ExampleBot";

const URL: &str = "https://museum.example/exhibitions/2026/spring/index.html";

const URLS: &[&str] = &[
    "https://museum.example/",
    URL,
    "https://museum.example/search?q=hokusai&page=2",
    "https://museum.example/wiki/Special:Search?search=%E5%B1%95%E8%A6%A7%E4%BC%9A",
    "https://museum.example/collection/prints/print-000123.pdf",
    "https://museum.example/shop/cart/add?item=4711&sort=price",
    "https://museum.example/area-17/section-3/page.html",
    "https://museum.example/members/login",
];

/// A shop's file: one group for all, many wildcards.
fn shop() -> String {
    let mut text = String::from("# robots.txt of a shop\nUser-agent: *\nAllow: /\n");
    for word in [
        "cart", "checkout", "account", "orders", "wishlist", "login", "compare",
    ] {
        write!(
            text,
            "Disallow: /{word}\nDisallow: /*/{word}/\nDisallow: /*?{word}=\n"
        )
        .unwrap();
    }
    text.push_str("Disallow: /*?*sort=\nDisallow: /*.json$\nSitemap: https://shop.example/s.xml\n");
    text
}

/// A publisher's file: hundreds of crawlers named, most refused.
fn publisher() -> String {
    let mut text = String::from("# Crawlers must ask before they use our articles.\n\n");
    for n in 0..=255u8 {
        let (a, b) = (char::from(b'a' + n / 26), char::from(b'a' + n % 26));
        writeln!(text, "User-agent: Crawler{a}{b}bot").unwrap();
        text.push_str(if n % 3 == 0 { "Disallow: /\n\n" } else { "" });
    }
    text.push_str("User-agent: *\nDisallow: /search\nDisallow: /members/\nAllow: /members/join\n");
    text
}

/// An encyclopedia's file: a long list of encoded paths in one group, comments between.
fn encyclopedia() -> String {
    let mut text = String::from("User-agent: *\nAllow: /w/api.php?action=mobileview&\n");
    for n in 0..400 {
        write!(
            text,
            "# section {n}: talk and project pages\nDisallow: /wiki/Project:Page_{n}\n"
        )
        .unwrap();
        write!(
            text,
            "Disallow: /wiki/Sp%C3%A9cial:{n}\nDisallow: /area-{n}/section\n"
        )
        .unwrap();
    }
    text
}

fn made_up() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let one = |text: String| vec![text.into_bytes()];
    let small = "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\n\
                 Sitemap: https://museum.example/sitemap.xml\n";
    let mut files = vec![
        ("small", one(small.to_owned())),
        ("shop", one(shop())),
        ("publisher", one(publisher())),
        ("encyclopedia", one(encyclopedia())),
    ];
    if let Some(bodies) = corpus() {
        files.push(("corpus", bodies));
    }
    files
}

/// Real files, where a shared corpus is present; pages of HTML are left out.
fn corpus() -> Option<Vec<Vec<u8>>> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("REIGI_SHARED").map_or_else(beside, PathBuf::from);
    let entries = fs::read_dir(root.join("corpus/robots")).ok()?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let texts = paths.filter(|path| path.extension().is_some_and(|e| e == "txt"));
    let bodies = texts.filter_map(|path| fs::read(path).ok());
    Some(
        bodies
            .filter(|b| Rules::parse(b).content() == reigi_robots::Content::Robots)
            .collect(),
    )
}

fn path(url: &str) -> &str {
    url.strip_prefix("https://museum.example").unwrap_or(url)
}

fn read_and_ask_once(c: &mut Criterion) {
    for (name, bodies) in made_up() {
        let mut group = c.benchmark_group(format!("read_and_ask_once/{name}"));
        group.throughput(Throughput::Bytes(
            bodies.iter().map(|b| b.len() as u64).sum(),
        ));
        group.bench_function("reigi-robots", |b| {
            b.iter(|| {
                let ask = |body: &&Vec<u8>| Rules::parse(body).verdict(AGENT, URL).allowed;
                black_box(&bodies).iter().filter(ask).count()
            });
        });
        group.bench_function("robotxt", |b| {
            b.iter(|| {
                let ask =
                    |body: &&Vec<u8>| robotxt::Robots::parse(body, AGENT).is_allowed(path(URL));
                black_box(&bodies).iter().filter(ask).count()
            });
        });
        group.bench_function("texting_robots", |b| {
            b.iter(|| {
                let ask = |body: &&Vec<u8>| {
                    texting_robots::Robot::new(AGENT, body).is_ok_and(|r| r.allowed(URL))
                };
                black_box(&bodies).iter().filter(ask).count()
            });
        });
        group.bench_function("robotstxt", |b| {
            let texts: Vec<_> = bodies.iter().map(|b| String::from_utf8_lossy(b)).collect();
            b.iter(|| {
                let ask = |text: &&std::borrow::Cow<'_, str>| {
                    let mut matcher = robotstxt::DefaultMatcher::default();
                    matcher.one_agent_allowed_by_robots(text, AGENT, URL)
                };
                black_box(&texts).iter().filter(ask).count()
            });
        });
        group.finish();
    }
}

fn read_once_ask_many(c: &mut Criterion) {
    for (name, bodies) in made_up() {
        let mut group = c.benchmark_group(format!("read_once_ask_many/{name}"));
        group.throughput(Throughput::Elements((bodies.len() * URLS.len()) as u64));
        let rules: Vec<Rules> = bodies.iter().map(|b| Rules::parse(b)).collect();
        let agents: Vec<_> = rules.iter().map(|r| r.for_agent(AGENT)).collect();
        group.bench_function("reigi-robots", |b| {
            b.iter(|| {
                let ask = |agent: &reigi_robots::Agent<'_>| {
                    URLS.iter()
                        .filter(|url| agent.verdict(black_box(url)).allowed)
                        .count()
                };
                agents.iter().map(ask).sum::<usize>()
            });
        });
        let robots: Vec<_> = bodies
            .iter()
            .map(|b| robotxt::Robots::parse(b, AGENT))
            .collect();
        group.bench_function("robotxt", |b| {
            b.iter(|| {
                let ask = |robots: &robotxt::Robots| {
                    URLS.iter()
                        .filter(|url| robots.is_allowed(path(black_box(url))))
                        .count()
                };
                robots.iter().map(ask).sum::<usize>()
            });
        });
        let robots = bodies
            .iter()
            .filter_map(|b| texting_robots::Robot::new(AGENT, b).ok());
        let robots: Vec<_> = robots.collect();
        group.bench_function("texting_robots", |b| {
            b.iter(|| {
                let ask = |robot: &texting_robots::Robot| {
                    URLS.iter()
                        .filter(|url| robot.allowed(black_box(url)))
                        .count()
                };
                robots.iter().map(ask).sum::<usize>()
            });
        });
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(std::time::Duration::from_millis(300))
        .measurement_time(std::time::Duration::from_secs(1))
        .sample_size(20);
    targets = read_and_ask_once, read_once_ask_many
}
criterion_main!(benches);
