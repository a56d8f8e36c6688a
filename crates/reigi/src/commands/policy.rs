//! `reigi policy`: the public policy page, with the latest audit figures where there is a journal.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use reigi_core::audit::{Options, Report, Status};
use reigi_core::charter::problem::decode;
use reigi_core::charter::{Charter, Lang};
use reigi_core::event::{Event, LaneId, Seq};
use reigi_core::host::Host;
use reigi_core::ledger::Ledger;
use reigi_core::policy::{
    self, AuditFigures, CharterVersion, LedgerCounts, PageFacts, PublishedHead, Standing,
};
use reigi_core::time::Timestamp;
use reigi_store::Store;
use tokio::runtime::Runtime;
use url::Url;

use super::audit::{day, report};
use super::{print, runtime};
use crate::cli::{Form, Policy};
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, HouseDir, NotOpened, Report as Problems};
use crate::writer::now;

/// Does it.
pub(crate) fn run(asked: &Policy, lang: Option<Lang>) -> Outcome {
    if asked.charter.is_empty() {
        return of_house(asked, lang);
    }
    for path in &asked.charter {
        let bytes = std::fs::read(path).map_err(|e| Failure::unreadable(path, &e))?;
        let name = path.display().to_string();
        let refused = |problems| {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Failure::from(NotOpened::Problems(vec![Problems { text, problems }]))
        };
        let text = decode(&name, &bytes).map_err(refused)?;
        let charter = Charter::parse(&name, text).map_err(refused)?;
        let version = CharterVersion {
            version: 1,
            date: charter.updated.clone(),
            digest: charter.digest,
        };
        let facts = PageFacts {
            versions: vec![version],
            ..PageFacts::default()
        };
        page(&charter, &facts, lang.unwrap_or(Lang::En), asked.format)?;
    }
    Ok(Exit::Fine)
}

fn of_house(asked: &Policy, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let name = home.bot_named(asked.bot.as_deref())?.bot.clone();
    let rt = runtime()?;
    let store = rt.block_on(home.store())?;
    let house = HouseDir::of(home, None)?;
    let zone = &house.file.zone;
    let Some(bot) = house.bots.iter().find(|bot| bot.charter.bot == name) else {
        return Ok(Exit::Fine);
    };
    let mut facts = PageFacts {
        ledger: Some(counts(&bot.ledger)),
        ..PageFacts::default()
    };
    if let Some(store) = &store {
        let report = report(&rt, store, &Options::default())?;
        facts.audit = Some(figures(&report, now(), zone));
        facts.versions = versions(&rt, store, &name, zone)?;
    }
    if facts
        .versions
        .first()
        .is_none_or(|latest| latest.digest != bot.charter.digest)
    {
        let version = facts.versions.first().map_or(0, |latest| latest.version) + 1;
        let (date, digest) = (bot.charter.updated.clone(), bot.charter.digest);
        facts.versions.insert(
            0,
            CharterVersion {
                version,
                date,
                digest,
            },
        );
    }
    page(&bot.charter, &facts, lang, asked.format)?;
    Ok(Exit::Fine)
}

fn page(charter: &Charter, facts: &PageFacts, lang: Lang, form: Form) -> Result<(), Failure> {
    let page = policy::page(charter, facts, lang).map_err(|bad| {
        Failure::bad_input(
            format!("ページを作れません（{bad}）。"),
            format!("The page cannot be made: {bad}."),
        )
    })?;
    Ok(print(&match form {
        Form::Html => page.html(),
        Form::Md => page.markdown(),
    })?)
}

fn counts(ledger: &Ledger) -> LedgerCounts {
    let urls = || ledger.targets.iter().flat_map(|target| &target.urls);
    let hosts: BTreeSet<String> = urls()
        .filter_map(|url| Some(Host::of(&Url::parse(url).ok()?)?.as_str().to_owned()))
        .collect();
    let number = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    LedgerCounts {
        targets: number(ledger.targets.len()),
        pages: number(urls().count()),
        hosts: number(hosts.len()),
    }
}

fn figures(report: &Report, now: Timestamp, zone: &TimeZone) -> AuditFigures {
    let standing = |promise: &reigi_core::audit::PromiseReport| match promise.status {
        Status::Declared => Standing::Declared,
        _ => Standing::Checked {
            kept: promise.finding.kept,
            broken: promise.finding.broken,
            undecidable: promise.finding.undecidable,
        },
    };
    let date = day(now, zone);
    let head = report.heads.iter().max_by_key(|head| head.seq);
    AuditFigures {
        promises: report
            .promises
            .iter()
            .map(|p| (p.id.to_owned(), standing(p)))
            .collect(),
        head: head.map(|h| PublishedHead {
            hash: h.hash,
            seq: h.seq,
            date: date.clone(),
        }),
        date,
    }
}

/// Versions in force so far, newest first: house entries, read backwards.
fn versions(
    rt: &Runtime,
    store: &Store,
    bot: &str,
    zone: &TimeZone,
) -> Result<Vec<CharterVersion>, Failure> {
    let (mut versions, mut before): (Vec<CharterVersion>, Option<Seq>) = (Vec::new(), None);
    loop {
        let page = rt.block_on(store.lane_entries(LaneId::HOUSE, before, 500))?;
        let Some(last) = page.last() else {
            return Ok(versions);
        };
        before = Some(last.header.seq);
        for entry in &page {
            if let Ok(Some(Event::CharterAdopted(adopted))) = entry.event()
                && adopted.bot == bot
            {
                versions.push(CharterVersion {
                    version: adopted.version,
                    date: day(entry.header.at, zone),
                    digest: adopted.digest,
                });
            }
        }
    }
}
