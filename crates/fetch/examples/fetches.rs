//! CPU time of one fetch: `cargo run --release -p reigi-fetch --example fetches [COUNT]`.
//!
//! One fetch after the other of a page of about 30 KB on the wire, from a test web in a thread of its
//! own; counted is the CPU time of the fetching thread only (Linux: `/proc/thread-self/schedstat`).

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a measurement stops where it cannot measure"
)]

use std::sync::mpsc;
use std::time::{Duration, Instant};

use reigi_testweb::{Answer, Encoding, Options, Site, TestWeb};
use support::{TestClock, Wanted, done, fetcher};

#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/fetch/support.rs"]
mod support;

fn main() {
    let count: u32 = std::env::args().nth(1).map_or(2000, |n| n.parse().unwrap());
    let (started, at) = mpsc::channel();
    std::thread::spawn(move || {
        let answer = Answer::html(page()).encoded(Encoding::Gzip);
        let site = Site::new("a.test").page("/", answer);
        let options = Options {
            log_kept: false,
            ..Options::default()
        };
        runtime().block_on(async {
            let web = TestWeb::start(vec![site], options).await.unwrap();
            started.send(web.addr()).unwrap();
            std::future::pending::<()>().await;
        });
    });
    let at = at.recv().unwrap();
    runtime().block_on(async {
        let clock = TestClock::new();
        let fetcher = fetcher(&clock, at);
        let wanted = Wanted::page("http://a.test/");
        let first = done(&fetcher, &clock, &wanted).await;
        let (began, cpu) = (Instant::now(), cpu_time());
        for _ in 0..count {
            drop(wanted.permit(&*clock));
        }
        let minting = cpu_time() - cpu;
        for _ in 0..count {
            done(&fetcher, &clock, &wanted).await;
        }
        let fetching = cpu_time() - cpu - minting * 2;
        println!(
            "{count} fetches of {} bytes, {} decoded: {:.3} ms CPU each, {:.0} a second",
            first.raw_bytes,
            first.body.len(),
            fetching.as_secs_f64() * 1000.0 / f64::from(count),
            f64::from(count) / began.elapsed().as_secs_f64(),
        );
    });
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn cpu_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("this needs Linux");
    Duration::from_nanos(stat.split(' ').next().unwrap().parse().unwrap())
}

/// A page that gzip brings down to about 30 KB.
fn page() -> String {
    let (mut html, mut seed) = (String::new(), 1_u32);
    while html.len() < 127_000 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let fee = seed >> 18;
        html += &format!(
            "<tr><th>講座 {seed:08x}-{fee}</th><td>{} 円</td></tr>\n",
            fee * 7
        );
    }
    html
}
