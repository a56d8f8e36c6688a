//! `reigi run`: one pass over what is due, with progress.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use reigi_core::charter::Lang;
use reigi_core::time::Clock;
use reigi_fetch::{Fetcher, HostsFile, Names, Tls};
use reigi_store::Store;
use tokio::sync::Notify;

use super::counted;
use crate::clock::SystemClock;
use crate::driver::{Driver, Ended, Tally};
use crate::house::HouseDir;
use crate::lang::pick;

/// Why a run could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// The store said no.
    #[error(transparent)]
    Store(#[from] reigi_store::Error),
    /// The network could not be set up.
    #[error(transparent)]
    Fetch(#[from] reigi_fetch::Error),
    /// The hosts file cannot be used.
    #[error("{path}: {why}")]
    Hosts {
        /// The file.
        path: String,
        /// What is wrong with it.
        why: String,
    },
}

/// The names of a house: its resolver and hosts file; `over` replaces the file.
pub(crate) fn names(house: &HouseDir, over: Option<&std::path::Path>) -> Result<Names, Failed> {
    let own = house
        .file
        .network
        .hosts_file
        .as_ref()
        .map(|file| house.dir.join(file));
    let path = over.map(std::path::Path::to_owned).or(own);
    let hosts = match path {
        None => HostsFile::default(),
        Some(path) => {
            let failed = |why| Failed::Hosts {
                path: path.display().to_string(),
                why,
            };
            let text = std::fs::read_to_string(&path).map_err(|e| failed(e.to_string()))?;
            HostsFile::parse(&text).map_err(failed)?
        }
    };
    Ok(Names {
        hosts,
        resolver: house.file.network.resolver,
    })
}

/// Runs one pass; a second writer of the same house is refused by the store's lock.
pub(crate) async fn run(
    house: &HouseDir,
    hosts_file: Option<&std::path::Path>,
    lang: Lang,
) -> Result<(Tally, Ended, Duration), Failed> {
    let store = Store::open(&house.data()).await?;
    let _lock = store.lock_driver("run")?;
    let clock = Arc::new(SystemClock::new());
    let port: Arc<dyn Clock> = Arc::clone(&clock) as Arc<dyn Clock>;
    let fetcher = Arc::new(Fetcher::new(
        port,
        names(house, hosts_file)?,
        Tls::system(),
    )?);
    let live = house.live(&store).await?;
    let mut driver = Driver::start(store, live, clock, fetcher, "run").await?;
    driver.adopt(&house.bots).await?;
    let stop = Arc::new(Notify::new());
    let asked = Arc::clone(&stop);
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            asked.notify_one();
        }
    });
    let bar = progress_bar();
    let started = std::time::Instant::now();
    let ended = driver
        .drive(&stop, &mut |tally| bar.set_message(line(tally, lang)))
        .await;
    bar.finish_and_clear();
    Ok((driver.tally().clone(), ended?, started.elapsed()))
}

/// A progress line on a terminal; nothing elsewhere.
pub(crate) fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// One progress line: done, at work, last host.
pub(crate) fn line(tally: &Tally, lang: Lang) -> String {
    let count = |word: &str| tally.observations.get(word).copied().unwrap_or(0);
    let held = count("held");
    let refused = count("refused");
    match lang {
        Lang::Ja => format!(
            "訪問 {}　リクエスト {}　変更 {}　保留 {held}　対象外 {refused}　巡回中のホスト {}　{}",
            tally.visits, tally.requests, tally.changes, tally.lanes, tally.host
        ),
        Lang::En => format!(
            "visits {}  requests {}  changes {}  held {held}  refused {refused}  hosts at work {}  {}",
            tally.visits, tally.requests, tally.changes, tally.lanes, tally.host
        ),
    }
}

/// The end of a run: one sentence and a table.
pub(crate) fn summary(tally: &Tally, ended: Ended, took: Duration, lang: Lang) -> String {
    let words = [
        ("confirmed", "初回の確認", "first seen"),
        ("unchanged", "変更なし", "unchanged"),
        ("noise", "ノイズのみ", "noise only"),
        (
            "changed",
            "変更あり（確認待ち）",
            "changed (waits for review)",
        ),
        ("unconfirmed", "確認できず", "unconfirmed"),
        ("held", "保留", "held"),
        ("refused", "対象外", "refused"),
    ];
    let mut out = match (lang, ended) {
        (Lang::Ja, Ended::Idle) => "予定の巡回を終えました。".to_owned(),
        (Lang::Ja, Ended::Stopped) => {
            "ご指示により止めました。送信済みのリクエストは記録しました。".to_owned()
        }
        (Lang::En, Ended::Idle) => "Everything that was due is done.".to_owned(),
        (Lang::En, Ended::Stopped) => {
            "Stopped as asked; every request sent is on record.".to_owned()
        }
    };
    let seconds = took.as_secs_f64();
    out += &match lang {
        Lang::Ja => format!(
            "訪問 {}、リクエスト {}、{seconds:.1}秒。\n",
            tally.visits, tally.requests
        ),
        Lang::En => format!(
            " {}, {}, {seconds:.1} s.\n",
            counted(tally.visits, "visit", "visits"),
            counted(tally.requests, "request", "requests"),
        ),
    };
    for (word, ja, en) in words {
        let Some(count) = tally.observations.get(word) else {
            continue;
        };
        let label = if lang == Lang::Ja { ja } else { en };
        let pad = 28usize.saturating_sub(unicode_width::UnicodeWidthStr::width(label));
        out += &format!("  {label}{}{count:>8}\n", " ".repeat(pad));
    }
    let told = |word: &str| tally.observations.contains_key(word);
    if told("held") || told("refused") || told("unconfirmed") {
        out += pick(
            lang,
            "理由は `reigi status` と `reigi explain URL` で分かります。\n",
            "For the reasons see `reigi status` and `reigi explain URL`.\n",
        );
    }
    if told("changed") {
        out += pick(
            lang,
            "見つかった変更は `reigi changes` で見られます。\n",
            "See what changed with `reigi changes`.\n",
        );
    }
    out
}
