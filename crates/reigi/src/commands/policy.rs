//! `reigi policy`: the public policy page, with the latest audit figures where there is a journal.
//!
//! The page of a charter in force goes on record before it is printed, so that the audit can show
//! which pages were handed out. A charter that no run has adopted yet is only previewed: its page
//! promises nothing so far.

use std::collections::BTreeSet;

use jiff::tz::TimeZone;
use reigi_core::audit::{Options, Report, Status};
use reigi_core::charter::problem::decode;
use reigi_core::charter::{Charter, Lang};
use reigi_core::digest::Digest;
use reigi_core::event::{Event, LaneId, PolicyRendered, Seq};
use reigi_core::host::Host;
use reigi_core::ledger::Ledger;
use reigi_core::policy::{
    self, AuditFigures, CharterVersion, LedgerCounts, PageFacts, PublishedHead, Standing,
};
use reigi_core::state::{House, LaneState};
use reigi_core::time::Timestamp;
use reigi_store::Store;
use tokio::runtime::Runtime;
use url::Url;

use super::audit::{day, report};
use super::{print, runtime};
use crate::cli::{Form, Policy};
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, HouseDir, NotOpened, Report as Problems};
use crate::lang::pick;
use crate::writer::{Writer, now};

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
        print(&page(
            &charter,
            &facts,
            lang.unwrap_or(Lang::En),
            asked.format,
        )?)?;
    }
    Ok(Exit::Fine)
}

fn of_house(asked: &Policy, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let name = home.bot_named(asked.bot.as_deref())?.bot.clone();
    let rt = runtime()?;
    let store = rt.block_on(home.store())?;
    let files = Home {
        dir: home.dir.clone(),
        file: home.file.clone(),
    };
    let house = HouseDir::of(files, None)?;
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
    let latest = facts.versions.first();
    let in_force = latest.is_some_and(|latest| latest.digest == bot.charter.digest);
    if !in_force {
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
    let page = page(&bot.charter, &facts, lang, asked.format)?;
    if in_force {
        rt.block_on(record(&home, &bot.charter, &page, lang, asked.format))?;
    }
    print(&page)?;
    Ok(Exit::Fine)
}

/// Puts the page on record, if its charter is still in force.
async fn record(
    home: &Home,
    charter: &Charter,
    page: &str,
    lang: Lang,
    form: Form,
) -> Result<(), Failure> {
    let language = pick(lang, "ja", "en");
    let form = match form {
        Form::Html => "html",
        Form::Md => "md",
    };
    let rendered = PolicyRendered {
        bot: charter.bot.clone(),
        charter: charter.digest,
        page: Digest::of(page.as_bytes()),
        form: format!("{language}/{form}"),
    };
    let writer = Writer::open(home, "policy").await?;
    let decide = |now: &House, _: Option<&LaneState>| {
        let adopted = now.facts.charters.get(&charter.bot);
        if adopted.is_some_and(|adopted| adopted.digest == charter.digest) {
            return Ok(rendered.into());
        }
        Err(Failure::could_not(
            "ページを作っているあいだに、運用規約が新しい版に替わりました。",
            "A newer charter came into force while the page was made.",
        )
        .hint("もう一度実行してください。", "Try again."))
    };
    writer
        .append(LaneId::HOUSE, Some(&charter.bot), decide)
        .await?;
    Ok(())
}

fn page(charter: &Charter, facts: &PageFacts, lang: Lang, form: Form) -> Result<String, Failure> {
    let page = policy::page(charter, facts, lang).map_err(|bad| {
        Failure::bad_input(
            format!("ページを作れません（{bad}）。"),
            format!("The page cannot be made: {bad}."),
        )
    })?;
    Ok(match form {
        Form::Html => page.html(),
        Form::Md => page.markdown(),
    })
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
