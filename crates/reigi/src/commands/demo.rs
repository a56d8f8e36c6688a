//! `reigi demo`: a town of sites on loopback that change over a year, watched by the change
//! monitor over a compressed calendar.
//!
//! Intervals run in real time. Only the calendar is turned, and only while nothing is in flight
//! and no pacing wait is pending; each turn stands in the journal, and the test web logs real time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reigi_core::charter::Lang;
use reigi_core::time::{Clock, Timestamp};
use reigi_fetch::{Fetcher, Tls};
use reigi_store::Store;
use reigi_testweb::{Options, TestWeb, demo};
use tokio::sync::Notify;

use super::run::{Failed, line, names, progress_bar, summary};
use crate::clock::SystemClock;
use crate::driver::{Driver, Ended};
use crate::house::HouseDir;

/// The seed's charter, as published.
const CHARTER: &str = include_str!("../../../../charters/blueai-change.toml");
/// The calendar turns until this much real time has passed.
const BUDGET: Duration = Duration::from_secs(90);
/// Each target is visited once in this many days of the calendar.
const EVERY_DAYS: u32 = 28;

/// What the demo left behind.
pub(crate) struct Shown {
    /// The closing words of the run.
    pub(crate) summary: String,
    /// What the test web's own log says, judged by its own checker.
    pub(crate) log: String,
    /// Whether that checker found a breach.
    pub(crate) breaches: usize,
}

/// What stopped a demo.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stopped {
    /// The run failed.
    #[error(transparent)]
    Run(#[from] Failed),
    /// Files or the loopback web.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The demo's own house does not open.
    #[error("the demo's house does not open")]
    House,
}

/// Watches the town for a year of its calendar; `dir` gets the house.
pub(crate) async fn watch(dir: &Path, lang: Lang) -> Result<Shown, Stopped> {
    let options = Options {
        site_time: Some(demo::start()),
        ..Options::default()
    };
    let web = TestWeb::start(demo::sites(), options).await?;
    write_house(dir, &web.hosts_file())?;
    let house = HouseDir::open(Some(dir)).map_err(|_| Stopped::House)?;
    let store = Store::open(&house.data()).await.map_err(Failed::from)?;
    let clock = Arc::new(SystemClock::new());
    let first = at(demo::start());
    clock.turn_to(first);
    let port: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let fetcher = Fetcher::new(port, names(&house, None)?, Tls::system()).map_err(Failed::from)?;
    let live = house.live(&store).await.map_err(Failed::from)?;
    let mut driver = Driver::start(store, live, Arc::clone(&clock), Arc::new(fetcher), "demo")
        .await
        .map_err(Failed::from)?;
    driver.adopt(&house.bots).await.map_err(Failed::from)?;

    let (started, stop, bar) = (Instant::now(), Notify::new(), progress_bar());
    let mut last = first;
    let ended = loop {
        let shown = &mut |tally: &crate::driver::Tally| {
            bar.set_message(format!("{}  {}", day(last), line(tally, lang)));
        };
        let ended = driver.drive(&stop, shown).await.map_err(Failed::from)?;
        let next = driver.next_due().await.map_err(Failed::from)?;
        let over = ended == Ended::Stopped || started.elapsed() > BUDGET;
        match next.filter(|next| !over && *next < at(demo::end())) {
            None => break ended,
            Some(next) => {
                driver.turn_calendar(next).await.map_err(Failed::from)?;
                web.set_time(next.jiff());
                last = next;
            }
        }
    };
    bar.finish_and_clear();
    let summary = summary(driver.tally(), ended, started.elapsed(), lang);
    let report = judge_log(&web);
    web.shutdown().await?;
    Ok(Shown {
        summary,
        breaches: report.breaches.len(),
        log: log_line(&report, lang),
    })
}

fn judge_log(web: &reigi_testweb::Running) -> reigi_testweb::check::Report {
    let promise = reigi_testweb::check::Promise {
        interval: Duration::from_secs(2),
        ..reigi_testweb::check::Promise::default()
    };
    reigi_testweb::check::check(&web.log().events(), &promise)
}

fn log_line(report: &reigi_testweb::check::Report, lang: Lang) -> String {
    let (requests, breaches) = (report.requests, report.breaches.len());
    match lang {
        Lang::Ja => format!(
            "テスト用ウェブ自身のログ（別プログラムで検査）：リクエスト {requests} 件、違反 {breaches} 件"
        ),
        Lang::En => format!(
            "The test web's own log, checked by code that shares nothing with the crawler: {requests} requests, {breaches} breaches"
        ),
    }
}

/// A house like one that `reigi init` writes, with the seed's charter. The calendar is compressed,
/// so the waits after failures are, too; the interval is the seed's own.
fn write_house(dir: &Path, hosts: &str) -> io::Result<()> {
    fs::create_dir_all(dir.join("charters"))?;
    fs::create_dir_all(dir.join("ledgers"))?;
    let charter = CHARTER.replace(
        r#"steps = ["1m", "10m", "1h", "6h"]"#,
        r#"steps = ["3s", "4s", "5s", "6s"]"#,
    );
    fs::write(dir.join("charters/blueai-change.toml"), charter)?;
    fs::write(dir.join("ledgers/schools.toml"), ledger())?;
    fs::write(dir.join("hosts.txt"), hosts)?;
    fs::write(
        dir.join("reigi.toml"),
        r#"# The demo's house: one bot that watches a town on loopback.
[house]
name = "demo"
zone = "Asia/Tokyo"
lang = "ja"

[[bot]]
charter = "charters/blueai-change.toml"
ledger = "ledgers/schools.toml"

[network]
hosts_file = "hosts.txt"

[store]
path = "data"

[roles]
reviewer = ["demo"]
"#,
    )
}

/// One target a host, with all its pages: robots.txt is read once a visit.
fn ledger() -> String {
    let mut hosts: BTreeMap<String, Vec<demo::Target>> = BTreeMap::new();
    for target in demo::targets() {
        let host = url::Url::parse(&target.url)
            .ok()
            .and_then(|u| u.host_str().map(str::to_owned));
        hosts
            .entry(host.unwrap_or_default())
            .or_default()
            .push(target);
    }
    let mut text = String::from("# The pages that the demo watches.\n");
    for targets in hosts.values() {
        let Some(first) = targets.first() else {
            continue;
        };
        let urls: Vec<&str> = targets.iter().map(|t| t.url.as_str()).collect();
        let _ = write!(
            text,
            "\n[[target]]\nid = {:?}\nname = {:?}\nurls = {urls:?}\nevery = \"{EVERY_DAYS}d\"\n\
             terms = {{ url = {:?}, checked_by = \"demo\", checked_on = \"2026-04-01\", verdict = \"allowed\" }}\n",
            first.id, first.title, first.url
        );
    }
    text
}

fn at(time: jiff::Timestamp) -> Timestamp {
    Timestamp::from_micros(time.as_microsecond())
}

fn day(at: Timestamp) -> String {
    at.rfc3339().chars().take(10).collect()
}
