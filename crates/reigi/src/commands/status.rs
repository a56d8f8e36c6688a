//! `reigi status`: every target, what was last seen of it and when it is due.

use std::collections::BTreeMap;
use std::io::Write as _;

use reigi_core::charter::Lang;
use reigi_core::event::{LaneId, Paused};
use reigi_core::promise::by_id;
use reigi_core::state::house::{HouseFacts, covers};
use reigi_core::state::{LaneState, TargetState};
use reigi_core::time::Timestamp;
use reigi_store::Store;
use serde::Serialize;
use url::Url;

use super::{counted, json_line, print, runtime, stdout};
use crate::cli::Where;
use crate::driver::read_row;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, facts};
use crate::lang::pick;
use crate::table::{Ink, Table, clip, is_coloured, moment};
use crate::writer::now;

/// One target.
#[derive(Serialize)]
struct Line {
    bot: String,
    target: String,
    name: String,
    host: String,
    /// `due`, `waiting`, `paused`, `opted-out`, `left`.
    state: &'static str,
    last_visit: Option<String>,
    due: Option<String>,
    failures: u32,
    paused_by: Option<String>,
    pages: Vec<PageLine>,
}

#[derive(Serialize)]
struct PageLine {
    url: String,
    /// The last outcome in words.
    last: Option<String>,
    /// When it was last seen to be as we know it.
    seen: Option<String>,
    /// The change that waits for review.
    waiting: Option<String>,
}

/// What is read for it.
struct Seen {
    facts: HouseFacts,
    hosts: BTreeMap<LaneId, String>,
    targets: Vec<(LaneId, TargetState)>,
    now: Timestamp,
}

/// Does it.
pub(crate) fn run(asked: &Where, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let seen = runtime()?.block_on(async {
        match home.store().await? {
            Some(store) => Seen::of(&store).await.map(Some),
            None => Ok(None),
        }
    })?;
    let seen = seen.filter(|seen| !seen.targets.is_empty());
    let Some(seen) = seen else {
        if !asked.json {
            print(pick(
                lang,
                "まだ巡回していません。`reigi check` で確かめてから、`reigi run` で始めてください。\n",
                "Nothing was visited yet. See that `reigi check` is content, then `reigi run`.\n",
            ))?;
        }
        return Ok(Exit::Fine);
    };
    let mut out = stdout();
    if asked.json {
        for (lane, target) in &seen.targets {
            json_line(&mut out, &seen.line(*lane, target))?;
        }
    } else {
        out.write_all(seen.in_words(&home, lang, is_coloured()).as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Fine)
}

impl Seen {
    async fn of(store: &Store) -> Result<Self, Failure> {
        use reigi_core::state::Table;
        let mut targets = Vec::new();
        for row in store.rows_of(Table::Target).await? {
            targets.push((row.lane, read_row::<TargetState>(&row)?));
        }
        targets.sort_by(|a, b| a.1.key.cmp(&b.1.key));
        let lanes = store.rows_of(Table::Lane).await?;
        let hosts = lanes.into_iter().map(|row| (row.lane, row.key)).collect();
        Ok(Self {
            facts: facts(store).await?,
            hosts,
            targets,
            now: now(),
        })
    }

    /// The pause that holds the target, and whether it was asked to be left alone.
    fn held<'a>(&'a self, target: &'a TargetState) -> (Option<&'a str>, bool) {
        let urls: Vec<Url> = target
            .row
            .urls
            .iter()
            .filter_map(|u| Url::parse(u).ok())
            .collect();
        let in_force = |p: &&Paused| p.until.is_none_or(|until| self.now < until);
        let of_target = LaneState::target_reach(&target.key);
        let over =
            |p: &&Paused| p.reach == of_target || urls.iter().any(|url| covers(&p.reach, url));
        let pauses = self.facts.pauses.iter().filter(over);
        let by_person = pauses
            .chain(&target.pause)
            .find(in_force)
            .map(|p| p.by.as_str());
        let wishes = &self.facts.opt_outs;
        let out = wishes
            .iter()
            .any(|o| urls.iter().any(|url| covers(&o.reach, url)));
        (by_person, out)
    }

    fn state(&self, target: &TargetState) -> &'static str {
        match self.held(target) {
            _ if target.left => "left",
            (_, true) => "opted-out",
            (Some(_), _) => "paused",
            _ if target.due <= self.now => "due",
            _ => "waiting",
        }
    }

    fn line(&self, lane: LaneId, target: &TargetState) -> Line {
        let state = self.state(target);
        let due = matches!(state, "due" | "waiting").then(|| target.due.rfc3339());
        let page = |url: &String| {
            let page = target.pages.get(url);
            PageLine {
                url: url.clone(),
                last: page.and_then(|p| p.last.clone()),
                seen: page.and_then(|p| p.seen).map(Timestamp::rfc3339),
                waiting: page
                    .and_then(|p| p.waiting)
                    .map(|n| format!("{}-{n}", lane.0)),
            }
        };
        Line {
            bot: target.key.bot.clone(),
            target: target.key.id.clone(),
            name: target.row.name.clone(),
            host: self.hosts.get(&lane).cloned().unwrap_or_default(),
            state,
            last_visit: target.last_visit.map(Timestamp::rfc3339),
            due,
            failures: target.failures,
            paused_by: self.held(target).0.map(str::to_owned),
            pages: target.row.urls.iter().map(page).collect(),
        }
    }

    fn in_words(&self, home: &Home, lang: Lang, coloured: bool) -> String {
        let count = |state| {
            self.targets
                .iter()
                .filter(|(_, t)| self.state(t) == state)
                .count()
        };
        let waiting = |t: &TargetState| t.pages.values().filter(|p| p.waiting.is_some()).count();
        let changes: usize = self.targets.iter().map(|(_, t)| waiting(t)).sum();
        let (due, paused, out) = (count("due"), count("paused"), count("opted-out"));
        let all = self.targets.len() - count("left");
        let name = &home.file.name;
        let mut text = match lang {
            Lang::Ja => format!(
                "{name}：対象 {all}、巡回の時期 {due}、一時停止 {paused}、対象外 {out}、確認待ちの変更 {changes}\n"
            ),
            Lang::En => format!(
                "{name}: {}, {due} due, {paused} paused, {out} left alone, {} for review\n",
                counted(all, "target", "targets"),
                counted(changes, "change waits", "changes wait"),
            ),
        };
        if self.facts.clock_hold {
            text += pick(
                lang,
                "時計が進められたため、巡回を待っています。確かめたら `reigi resume --all` で再開してください。\n",
                "The clock was set forward: visits wait. When that is right, `reigi resume --all`.\n",
            );
        }
        let headings = match lang {
            Lang::Ja => ["対象", "ホスト", "前回の訪問", "結果", "次回"],
            Lang::En => ["target", "host", "last visit", "outcome", "next"],
        };
        let mut table = Table::new(&headings, &[]);
        for (lane, target) in self.targets.iter().filter(|(_, t)| !t.left) {
            let at = |t| moment(t, self.now, &home.file.zone, lang);
            let (outcome, ink) = outcome(target, lang);
            table.row(vec![
                (clip(&target.row.name, 28), Ink::Plain),
                (
                    clip(self.hosts.get(lane).map_or("", String::as_str), 32),
                    Ink::Muted,
                ),
                (target.last_visit.map_or("—".to_owned(), at), Ink::Plain),
                (clip(&outcome, 40), ink),
                self.next(target, at(target.due), lang),
            ]);
        }
        text + &table.render(coloured)
    }

    fn next(&self, target: &TargetState, due: String, lang: Lang) -> (String, Ink) {
        match self.state(target) {
            "opted-out" => (
                pick(lang, "対象外（ご依頼）", "left alone").to_owned(),
                Ink::Muted,
            ),
            "paused" => {
                let by = self.held(target).0.unwrap_or_default();
                let word = pick(lang, "一時停止", "paused");
                (format!("{word} ({by})"), Ink::Amber)
            }
            "due" => (pick(lang, "今", "now").to_owned(), Ink::Plain),
            _ => (due, Ink::Plain),
        }
    }
}

/// What the page that most wants attention came to, and for a hold or a refusal the promise that
/// asks for it; `reigi explain` says the rest.
fn outcome(target: &TargetState, lang: Lang) -> (String, Ink) {
    let words = [
        ("refused", "対象外", "refused", Ink::Amber),
        ("held", "保留", "held", Ink::Amber),
        ("unconfirmed", "確認できず", "unconfirmed", Ink::Amber),
        ("changed", "変更あり", "changed", Ink::Indigo),
        ("noise", "ノイズのみ", "noise only", Ink::Plain),
        ("unchanged", "変更なし", "unchanged", Ink::Plain),
        ("confirmed", "初回の確認", "first seen", Ink::Plain),
    ];
    let lasts = || {
        target
            .pages
            .values()
            .filter_map(|page| page.last.as_deref())
    };
    for (word, ja, en, ink) in words {
        let Some(rest) = lasts().find_map(|last| last.strip_prefix(word)) else {
            continue;
        };
        let label = pick(lang, ja, en);
        let (colon, promise) = (pick(lang, "：", ": "), promise_in(rest));
        let said = match promise.and_then(by_id) {
            Some(promise) => format!("{label}{colon}{}", promise.title(lang)),
            None if lang == Lang::En => format!("{label}{rest}"),
            None => label.to_owned(),
        };
        return (said, ink);
    }
    ("—".to_owned(), Ink::Muted)
}

/// The promise's id in ` (terms): why`.
fn promise_in(rest: &str) -> Option<&str> {
    Some(rest.strip_prefix(" (")?.split_once(')')?.0)
}
