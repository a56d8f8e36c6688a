//! `reigi run` and `reigi demo` as commands: arguments in, closing words out.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use reigi_core::audit::Options;
use reigi_core::charter::Lang;
use serde::Serialize;

use super::{audit, changes, demo, json_line, print, run as pass, runtime, stdout};
use crate::cli::{Demo, Run};
use crate::driver::Ended;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, HouseDir};

impl From<pass::Failed> for Failure {
    fn from(failed: pass::Failed) -> Self {
        match failed {
            pass::Failed::Store(error) => error.into(),
            pass::Failed::Fetch(error) => Self::could_not(
                format!("ネットワークの準備ができません（{error}）。"),
                format!("The network cannot be set up: {error}."),
            ),
            pass::Failed::Hosts { path, why } => Self::bad_input(
                format!("{path} を使えません（{why}）。"),
                format!("{path} cannot be used: {why}."),
            ),
        }
    }
}

impl From<demo::Stopped> for Failure {
    fn from(stopped: demo::Stopped) -> Self {
        match stopped {
            demo::Stopped::Run(failed) => failed.into(),
            other => Self::could_not(
                format!("デモを動かせません（{other}）。"),
                format!("The demo cannot run: {other}."),
            ),
        }
    }
}

/// The end of a run as a JSON line.
#[derive(Serialize)]
struct Ran<'a> {
    /// `idle` or `stopped`.
    ended: &'static str,
    visits: u64,
    requests: u64,
    changes: u64,
    observations: &'a std::collections::BTreeMap<String, u64>,
    seconds: f64,
}

/// `reigi run`.
pub(crate) fn run(asked: &Run, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let house = HouseDir::of(home, None)?;
    let (tally, ended, took) =
        runtime()?.block_on(pass::run(&house, asked.hosts_file.as_deref(), lang))?;
    if !asked.json {
        print(&pass::summary(&tally, ended, took, lang))?;
        return Ok(Exit::Fine);
    }
    let ran = Ran {
        ended: if ended == Ended::Idle {
            "idle"
        } else {
            "stopped"
        },
        visits: tally.visits,
        requests: tally.requests,
        changes: tally.changes,
        observations: &tally.observations,
        seconds: took.as_secs_f64(),
    };
    let mut out = stdout();
    json_line(&mut out, &ran)?;
    out.flush()?;
    Ok(Exit::Fine)
}

/// `reigi demo`: watches the town, then shows changes and the audit of its house.
pub(crate) fn demo(asked: &Demo, lang: Option<Lang>) -> Outcome {
    let lang = lang.unwrap_or(Lang::En);
    let place = match &asked.keep {
        Some(dir) => Place::Kept(dir.join("house")),
        None => {
            Place::Passing(std::env::temp_dir().join(format!("reigi-demo-{}", std::process::id())))
        }
    };
    let house = place.house();
    if house.join("reigi.toml").exists() {
        let shown = house.display();
        return Err(Failure::bad_input(
            format!("{shown} にはすでに家があります。"),
            format!("A house stands in {shown} already."),
        )
        .hint(
            "ほかのフォルダーを指定してください。",
            "Name another folder.",
        ));
    }
    let rt = runtime()?;
    let shown = rt.block_on(demo::watch(house, lang))?;
    let home = Home::open(Some(house))?;
    let Some(store) = rt.block_on(home.store())? else {
        return Ok(Exit::CouldNot);
    };
    let report = audit::report(
        &rt,
        &store,
        &Options {
            pages: true,
            ..Options::default()
        },
    )?;
    let found = rt.block_on(changes::read(&store))?;
    let mut text = format!("{}\n{}\n\n", shown.summary, shown.log);
    text += &changes::table(&found, &home, lang);
    text.push('\n');
    text += &audit::table(report.clone(), lang);
    if matches!(place, Place::Kept(_)) || !asked.once {
        text += &where_it_stands(house, lang);
    }
    print(&text)?;
    if asked.once {
        place.clear();
    }
    let clean = shown.breaches == 0 && report.is_clean();
    Ok(if clean { Exit::Fine } else { Exit::No })
}

/// Where the demo's house stands.
enum Place {
    Kept(PathBuf),
    Passing(PathBuf),
}

impl Place {
    fn house(&self) -> &Path {
        match self {
            Self::Kept(dir) | Self::Passing(dir) => dir,
        }
    }

    fn clear(&self) {
        if let Self::Passing(dir) = self {
            // A folder of the system's temporary place: it may stay as well.
            let _ = std::fs::remove_dir_all(dir);
        }
    }
}

fn where_it_stands(house: &Path, lang: Lang) -> String {
    let house = house.display();
    match lang {
        Lang::Ja => format!(
            "\nこの家は {house} に残しました。`reigi changes {house}`、`reigi diff 番号 {house}`、`reigi audit {house}` などで見られます。\n"
        ),
        Lang::En => format!(
            "\nThe house stays in {house}: look around with `reigi changes {house}`, `reigi diff ID {house}`, `reigi audit {house}`.\n"
        ),
    }
}
