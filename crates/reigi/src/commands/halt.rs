//! `reigi pause`, `reigi resume`, `reigi optout`: what is left alone from the next request on.
//!
//! They work whatever state charters and ledgers are in, and beside a running driver. They return
//! when every permit given before has ended or can no longer be used (DECISIONS 14).

use std::collections::BTreeSet;
use std::time::Duration;

use reigi_core::charter::Lang;
use reigi_core::event::{Event, LaneId, OptedOut, Paused, Reach, Resumed, Seq};
use reigi_core::host::Host;
use reigi_core::journal::Header;
use reigi_core::state::house::covers;
use reigi_core::state::{Lane, Table, TargetState};
use reigi_store::Store;
use serde::Serialize;
use url::Url;

use super::{json_line, print, runtime, stdout, time_of};
use crate::cli::{OptOutAdd, OptOutCommand, Pause, Where};
use crate::driver::read_row;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, HouseDir, facts};
use crate::lang::pick;
use crate::people;
use crate::table::{self, Ink, is_coloured, moment};
use crate::writer::{Writer, now};
use std::io::Write as _;

/// How often permits given before are looked at.
const LOOK: Duration = Duration::from_millis(100);

/// `reigi pause`.
pub(crate) fn pause(asked: &Pause, lang: Option<Lang>) -> Outcome {
    let (home, what) = place(asked)?;
    let lang = lang.unwrap_or(home.file.lang);
    runtime()?.block_on(async {
        let (reach, _) = reach_of(&home, what).await?;
        let writer = Writer::open(&home, "pause").await?;
        let by = people::name(asked.by.as_deref());
        let header = writer
            .append(LaneId::HOUSE, None, |house, _| {
                let (reach, reason) = (reach.clone(), reason(&asked.reason, lang));
                let epoch = house.facts.epoch + 1;
                Ok(Event::Paused(Paused {
                    reach,
                    by,
                    reason,
                    until: None,
                    epoch,
                }))
            })
            .await?;
        settle(&writer.store, &header, &reach).await?;
        let what = in_words(&reach, lang);
        print(&match lang {
            Lang::Ja => format!("{what}を一時停止しました。`reigi resume` まで取得しません。\n"),
            Lang::En => format!("Paused: {what}. Nothing is asked for until `reigi resume`.\n"),
        })?;
        Ok(Exit::Fine)
    })
}

/// `reigi resume`: ends a person's pause in the house, and a promise's own in the target's lane.
pub(crate) fn resume(asked: &Pause, lang: Option<Lang>) -> Outcome {
    let (home, what) = place(asked)?;
    let lang = lang.unwrap_or(home.file.lang);
    runtime()?.block_on(async {
        let (reach, lane) = reach_of(&home, what).await?;
        let writer = Writer::open(&home, "resume").await?;
        let facts = facts(&writer.store).await?;
        let by = people::name(asked.by.as_deref());
        let mut places = Vec::new();
        let of_clock = reach == Reach::All && facts.clock_hold;
        if of_clock || facts.pauses.iter().any(|p| p.reach == reach) {
            places.push(LaneId::HOUSE);
        }
        if let Some(lane) = lane
            && has_own_pause(&writer.store, lane, &reach).await?
        {
            places.push(lane);
        }
        for lane in &places {
            let (reach, by, reason) = (reach.clone(), by.clone(), reason(&asked.reason, lang));
            let decide = |house: &reigi_core::state::House, _: Option<&_>| {
                let epoch = house.facts.epoch + 1;
                Ok(Event::Resumed(Resumed {
                    reach,
                    by,
                    reason,
                    epoch,
                }))
            };
            writer.append(*lane, None, decide).await?;
        }
        let what = in_words(&reach, lang);
        print(&match (lang, places.is_empty()) {
            (Lang::Ja, false) => format!("{what}を再開しました。\n"),
            (Lang::En, false) => format!("Resumed: {what}.\n"),
            (Lang::Ja, true) => format!("{what}は一時停止していません。\n"),
            (Lang::En, true) => format!("Not paused: {what}.\n"),
        })?;
        Ok(Exit::Fine)
    })
}

fn reason(told: &str, lang: Lang) -> String {
    match told {
        "" => pick(lang, "担当者の指示", "asked for by a person").to_owned(),
        told => told.to_owned(),
    }
}

/// With `--all` the first word is the folder.
fn place(asked: &Pause) -> Result<(Home, Option<&str>), Failure> {
    if !asked.all {
        return Ok((Home::open(asked.dir.as_deref())?, asked.what.as_deref()));
    }
    let dir = asked
        .dir
        .clone()
        .or_else(|| asked.what.as_ref().map(Into::into));
    Ok((Home::open(dir.as_deref())?, None))
}

/// What a word means: a target of the house, else a host that it knows; and the target's lane.
async fn reach_of(home: &Home, what: Option<&str>) -> Result<(Reach, Option<LaneId>), Failure> {
    let Some(what) = what else {
        return Ok((Reach::All, None));
    };
    let known = Known::of(home).await?;
    let mut targets = known.targets.iter().filter(|(bot, id, _)| {
        id == what
            || what
                .split_once('/')
                .is_some_and(|(b, i)| b == bot && i == id)
    });
    if let Some((bot, target, lane)) = targets.next() {
        if targets.next().is_some() {
            return Err(Failure::bad_input(
                format!("{what} はいくつかのボットの台帳にあります。"),
                format!("{what} stands in the ledgers of several bots."),
            )
            .hint("ボット名/ID で指定してください。", "Name it as bot/id."));
        }
        let reach = Reach::Target {
            bot: bot.clone(),
            target: target.clone(),
        };
        return Ok((reach, *lane));
    }
    let host = Url::parse(what)
        .ok()
        .and_then(|url| Host::of(&url))
        .or_else(|| Host::parse(what));
    match host.filter(|host| known.hosts.contains(host.as_str())) {
        Some(host) => Ok((Reach::Host(host.as_str().to_owned()), None)),
        None => Err(Failure::bad_input(
            format!("{what} という対象もホストも、この家にはありません。"),
            format!("This house has no target and no host {what}."),
        )
        .hint(
            "`reigi status` で名前を確かめてください。",
            "See `reigi status` for the names.",
        )),
    }
}

/// Targets (with their lanes) and hosts: those in force, and those of the ledgers on disk.
#[derive(Default)]
struct Known {
    targets: BTreeSet<(String, String, Option<LaneId>)>,
    hosts: BTreeSet<String>,
}

impl Known {
    async fn of(home: &Home) -> Result<Self, Failure> {
        let mut known = Self::default();
        if let Some(store) = home.store().await? {
            for row in store.rows_of(Table::Target).await? {
                let target: TargetState = read_row(&row)?;
                known
                    .targets
                    .insert((target.key.bot, target.key.id, Some(row.lane)));
            }
            known.hosts.extend(
                store
                    .rows_of(Table::Lane)
                    .await?
                    .into_iter()
                    .map(|row| row.key),
            );
        }
        // Files with problems must not keep anyone from pausing what is in force.
        let files = Home {
            dir: home.dir.clone(),
            file: home.file.clone(),
        };
        let bots = HouseDir::of(files, None)
            .map(|house| house.bots)
            .unwrap_or_default();
        for bot in bots {
            for target in bot.ledger.targets {
                let name = bot.charter.bot.clone();
                let host = target
                    .urls
                    .first()
                    .and_then(|url| Host::of(&Url::parse(url).ok()?));
                known
                    .hosts
                    .extend(host.map(|host| host.as_str().to_owned()));
                if !known
                    .targets
                    .iter()
                    .any(|(b, id, _)| *b == name && *id == target.id)
                {
                    known.targets.insert((name, target.id, None));
                }
            }
        }
        Ok(known)
    }
}

async fn has_own_pause(store: &Store, lane: LaneId, reach: &Reach) -> Result<bool, Failure> {
    let Reach::Target { bot, target } = reach else {
        return Ok(false);
    };
    let row = store
        .row(Table::Target, lane, &format!("{bot}/{target}"))
        .await?;
    let state: Option<TargetState> = row.as_ref().map(read_row).transpose()?;
    Ok(state.is_some_and(|target| target.pause.is_some()))
}

/// Waits until no permit that was given before `header` can lead to a request any more.
async fn settle(store: &Store, header: &Header, reach: &Reach) -> Result<(), Failure> {
    let mut open: BTreeSet<LaneId> = BTreeSet::new();
    for row in store.rows_of(Table::Lane).await? {
        let lane: Lane = read_row(&row)?;
        let Some(flight) = &lane.in_flight else {
            continue;
        };
        let is_covered = match reach {
            Reach::Target { bot, target } => {
                flight.target.bot == *bot && flight.target.id == *target
            }
            _ => Url::parse(&flight.url).is_ok_and(|url| covers(reach, &url)),
        };
        if is_covered {
            open.insert(lane.id);
        }
    }
    while let Some(lane) = open.first().copied() {
        if ended(store, lane, header.seq).await? {
            open.remove(&lane);
        } else {
            tokio::time::sleep(LOOK).await;
        }
    }
    Ok(())
}

async fn ended(store: &Store, lane: LaneId, before: Seq) -> Result<bool, Failure> {
    let rows = store.rows_of_lane(lane).await?;
    let row = rows.iter().find(|row| row.table == Table::Lane);
    let lane: Option<Lane> = row.map(read_row).transpose()?;
    let Some(flight) = lane.and_then(|lane| lane.in_flight) else {
        return Ok(true);
    };
    if flight.admitted > before {
        return Ok(true);
    }
    let entry = store.entry(flight.admitted).await?;
    let permit = entry.and_then(|entry| entry.event().ok().flatten());
    Ok(match permit {
        Some(Event::Admitted(admitted)) => now() > admitted.send_by.wall,
        _ => true,
    })
}

/// `reigi optout`.
pub(crate) fn opt_out(asked: &OptOutCommand, lang: Option<Lang>) -> Outcome {
    match asked {
        OptOutCommand::Add(add) => add_wish(add, lang),
        OptOutCommand::List(list) => list_wishes(list, lang),
    }
}

fn add_wish(asked: &OptOutAdd, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let reach = wish_of(&asked.what)?;
    let received = asked
        .received
        .as_deref()
        .map(|text| time_of(text, &home.file.zone));
    let received = received.transpose()?.unwrap_or_else(now);
    runtime()?.block_on(async {
        let writer = Writer::open(&home, "optout").await?;
        let by = people::name(asked.by.as_deref());
        let header = writer
            .append(LaneId::HOUSE, None, |house, _| {
                let known = house.facts.opt_outs.iter().any(|o| o.reach == reach);
                if asked.withdraw && !known {
                    return Err(not_wished(&asked.what));
                }
                Ok(Event::OptedOut(OptedOut {
                    reach: reach.clone(),
                    by,
                    reason: asked.reason.clone(),
                    received,
                    withdrawn: asked.withdraw,
                    epoch: house.facts.epoch + 1,
                }))
            })
            .await?;
        settle(&writer.store, &header, &reach).await?;
        let what = in_words(&reach, lang);
        print(&match (lang, asked.withdraw) {
            (Lang::Ja, false) => {
                format!("{what}を対象から外しました。次のリクエストから有効です。\n")
            }
            (Lang::En, false) => format!("Left alone from the next request on: {what}.\n"),
            (Lang::Ja, true) => format!("{what}の停止のご依頼を取り下げとして記録しました。\n"),
            (Lang::En, true) => format!("The wish was taken back: {what}.\n"),
        })?;
        Ok(Exit::Fine)
    })
}

fn not_wished(what: &str) -> Failure {
    Failure::bad_input(
        format!("{what} への停止のご依頼は記録されていません。"),
        format!("No wish is on record for {what}."),
    )
    .hint(
        "`reigi optout list` で確かめてください。",
        "See `reigi optout list`.",
    )
}

/// What a wish covers. A name stands for itself and every host below it: who asks for
/// `example.jp` to be left alone means `www.example.jp`, too.
fn wish_of(text: &str) -> Result<Reach, Failure> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    let host = match &url {
        Some(url) => Host::of(url),
        None => Host::parse(text.strip_prefix("*.").unwrap_or(text)),
    };
    let host = host.ok_or_else(|| {
        Failure::bad_input(
            format!("{text} をホスト、ドメイン、URLのどれとしても読めません。"),
            format!("{text} is no host, domain or URL."),
        )
    })?;
    match url {
        Some(mut url) if url.path() != "/" => {
            url.set_query(None);
            url.set_fragment(None);
            Ok(Reach::Prefix(url.into()))
        }
        _ if host.address().is_some() => Ok(Reach::Host(host.as_str().to_owned())),
        _ => Ok(Reach::Domain(host.as_str().to_owned())),
    }
}

/// A wish as `reigi optout list --json` shows it.
#[derive(Serialize)]
struct WishLine<'a> {
    /// `host`, `domain`, `prefix`.
    kind: &'static str,
    what: &'a str,
    received: String,
    effective: String,
}

fn list_wishes(asked: &Where, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let facts = runtime()?.block_on(async {
        match home.store().await? {
            Some(store) => Ok::<_, Failure>(facts(&store).await?),
            None => Ok(Default::default()),
        }
    })?;
    let mut out = stdout();
    if asked.json {
        for wish in &facts.opt_outs {
            let (kind, what) = parts(&wish.reach);
            let (received, effective) = (wish.received.rfc3339(), wish.effective.rfc3339());
            json_line(
                &mut out,
                &WishLine {
                    kind,
                    what,
                    received,
                    effective,
                },
            )?;
        }
    } else if facts.opt_outs.is_empty() {
        out.write_all(
            pick(
                lang,
                "停止のご依頼は記録されていません。`reigi optout add HOST|URL` で記録します。\n",
                "No wish is on record. `reigi optout add HOST|URL` records one.\n",
            )
            .as_bytes(),
        )?;
    } else {
        let headings = match lang {
            Lang::Ja => ["対象外", "受け取った日時", "有効になった日時"],
            Lang::En => ["left alone", "received", "in force since"],
        };
        let mut table = table::Table::new(&headings, &[]);
        let at = |t| moment(t, now(), &home.file.zone, lang);
        for wish in &facts.opt_outs {
            table.row(vec![
                (in_words(&wish.reach, lang), Ink::Plain),
                (at(wish.received), Ink::Plain),
                (at(wish.effective), Ink::Plain),
            ]);
        }
        out.write_all(table.render(is_coloured()).as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

fn parts(reach: &Reach) -> (&'static str, &str) {
    match reach {
        Reach::All => ("all", ""),
        Reach::Target { target, .. } => ("target", target),
        Reach::Host(host) => ("host", host),
        Reach::Domain(domain) => ("domain", domain),
        Reach::Prefix(prefix) => ("prefix", prefix),
    }
}

/// What is covered, for people.
pub(crate) fn in_words(reach: &Reach, lang: Lang) -> String {
    match (reach, lang) {
        (Reach::All, Lang::Ja) => "すべての巡回".to_owned(),
        (Reach::All, Lang::En) => "everything".to_owned(),
        (Reach::Target { bot, target }, _) => format!("{bot}/{target}"),
        (Reach::Host(host), _) => host.clone(),
        (Reach::Domain(domain), Lang::Ja) => format!("{domain} とその下のすべてのホスト"),
        (Reach::Domain(domain), Lang::En) => format!("{domain} and all hosts below it"),
        (Reach::Prefix(prefix), Lang::Ja) => format!("{prefix} 以下"),
        (Reach::Prefix(prefix), Lang::En) => format!("{prefix} and below"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_covers_what_its_words_mean() {
        for (text, reach) in [
            ("www.example.jp", Reach::Domain("www.example.jp".to_owned())),
            ("EXAMPLE.jp", Reach::Domain("example.jp".to_owned())),
            (
                "*.city.example.jp",
                Reach::Domain("city.example.jp".to_owned()),
            ),
            (
                "https://www.example.jp/",
                Reach::Domain("www.example.jp".to_owned()),
            ),
            (
                "http://www.example.jp/a?b#c",
                Reach::Prefix("http://www.example.jp/a".to_owned()),
            ),
            ("192.0.2.7", Reach::Host("192.0.2.7".to_owned())),
        ] {
            assert_eq!(wish_of(text).ok(), Some(reach), "{text}");
        }
        for text in ["", "ftp://www.example.jp/", "a b", "*."] {
            assert!(wish_of(text).is_err(), "{text}");
        }
    }
}
