//! `reigi check`: everything that is wrong with a house's files, at once.

use std::io::Write as _;

use reigi_core::charter::problem::{Problem, Severity};
use reigi_core::charter::{Charter, Lang};
use reigi_core::policy::{self, PageFacts};
use reigi_core::promise::complete_page::missing_sentences;
use serde::Serialize;

use super::{counted, json_line, stdout};
use crate::cli::Check;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, HouseDir, NotOpened, Report};
use crate::lang::pick;
use crate::writer::now;

/// Does it.
pub(crate) fn run(asked: &Check, lang: Option<Lang>) -> Outcome {
    let opened = Home::open(asked.dir.as_deref()).and_then(|home| {
        let zone = home.file.zone.clone();
        let lang = lang.unwrap_or(home.file.lang);
        let today = now().jiff().to_zoned_datetime(zone).date();
        HouseDir::of(home, Some(today)).map(|house| (house, lang))
    });
    match opened {
        Ok((house, lang)) => whole(&house, asked.json, lang),
        Err(not) => broken(not, asked.json, lang.unwrap_or(Lang::En)),
    }
}

fn broken(not: NotOpened, json: bool, lang: Lang) -> Outcome {
    let reports = not.reports()?;
    show(&reports, json, lang)?;
    let refused = reports.iter().any(|r| r.problems.errors().next().is_some());
    Ok(if refused { Exit::BadInput } else { Exit::Fine })
}

/// The files are valid one by one; what remains is whether the page can say all of it.
fn whole(house: &HouseDir, json: bool, lang: Lang) -> Outcome {
    show(&house.warnings, json, lang)?;
    for bot in &house.bots {
        page_is_complete(&bot.charter)?;
    }
    if !json {
        let targets: usize = house.bots.iter().map(|bot| bot.ledger.targets.len()).sum();
        let (name, bots) = (&house.file.name, house.bots.len());
        super::print(&match lang {
            Lang::Ja => format!("{name}：誤りはありません。ボット {bots}、対象 {targets} 件。\n"),
            Lang::En => format!(
                "{name}: nothing is wrong. {}, {}.\n",
                counted(bots, "bot", "bots"),
                counted(targets, "target", "targets")
            ),
        })?;
    }
    Ok(Exit::Fine)
}

/// A charter whose page would leave something unsaid is refused (DECISIONS 22).
fn page_is_complete(charter: &Charter) -> Result<(), Failure> {
    let bot = &charter.bot;
    for lang in [Lang::Ja, Lang::En] {
        policy::page(charter, &PageFacts::default(), lang).map_err(|bad| {
            Failure::bad_input(
                format!("{bot} の運用規約のページを作れません（{bad}）。"),
                format!("The policy page of {bot} cannot be made: {bad}."),
            )
        })?;
    }
    let missing = missing_sentences(charter);
    if missing.is_empty() {
        return Ok(());
    }
    Err(Failure::bad_input(
        format!("{bot} の運用規約のページで説明されないものがあります（{missing:?}）。"),
        format!("The policy page of {bot} would leave something unsaid: {missing:?}."),
    ))
}

/// One problem as a JSON line.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    problem: &'a Problem,
    /// In the language asked for.
    text: &'a str,
}

fn show(reports: &[Report], json: bool, lang: Lang) -> Result<(), Failure> {
    let mut out = stdout();
    for report in reports {
        if json {
            for problem in &report.problems.list {
                json_line(
                    &mut out,
                    &Line {
                        problem,
                        text: problem.what.get(lang),
                    },
                )?;
            }
        } else {
            out.write_all(report.problems.render(&report.text, lang).as_bytes())?;
        }
    }
    let of = |severity| {
        let all = reports.iter().flat_map(|r| &r.problems.list);
        all.filter(|p| p.severity == severity).count()
    };
    if !json && reports.len() > 1 {
        let (errors, warnings) = (of(Severity::Error), of(Severity::Warning));
        let ja = format!(
            "ファイル {} 件：誤り {errors} 件、注意 {warnings} 件",
            reports.len()
        );
        let en = format!(
            "{} files: {errors} errors, {warnings} warnings",
            reports.len()
        );
        writeln!(out, "{}", pick(lang, &ja, &en))?;
    }
    Ok(out.flush()?)
}
