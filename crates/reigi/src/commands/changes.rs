//! `reigi changes` and `reigi review`: what was found, and what a person says about it.

use std::io::Write as _;

use reigi_core::charter::Lang;
use reigi_core::event::{Decision, Event, LaneId, Reviewed};
use reigi_core::state::{Change, ChangeState, LaneState, Table};
use reigi_store::Store;
use serde::Serialize;

use super::{counted, json_line, print, runtime, stdout};
use crate::cli::{Changes, Decide, ReviewCommand};
use crate::driver::read_row;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::Home;
use crate::lang::pick;
use crate::people;
use crate::table::{Ink, Table as Columns, clip, is_coloured, moment};
use crate::writer::{Writer, now};

/// The roles that review where no charter can be read.
const REVIEWER: &str = "reviewer";

/// A change's name for people: lane and number, `3-12`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ChangeId {
    /// The lane.
    pub(crate) lane: LaneId,
    /// Number within the lane.
    pub(crate) number: u64,
}

impl ChangeId {
    /// Reads `3-12`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (lane, number) = text.split_once('-')?;
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !digits(lane) || !digits(number) {
            return None;
        }
        Some(Self {
            lane: LaneId(lane.parse().ok()?),
            number: number.parse().ok()?,
        })
    }

    /// Reads `3-12`, or says how one looks.
    pub(crate) fn need(text: &str) -> Result<Self, Failure> {
        Self::parse(text).ok_or_else(|| {
            Failure::bad_input(
                format!("{text} は変更の番号ではありません。"),
                format!("{text} is no change."),
            )
            .hint(
                "`reigi changes` に出る 3-12 のような番号で指定してください。",
                "Name it as `reigi changes` does, like 3-12.",
            )
        })
    }

    /// There is no such change.
    pub(crate) fn unknown(self) -> Failure {
        Failure::bad_input(
            format!("{self} という変更はありません。"),
            format!("There is no change {self}."),
        )
        .hint(
            "`reigi changes` で確かめてください。",
            "See `reigi changes`.",
        )
    }
}

impl std::fmt::Display for ChangeId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.lane.0, self.number)
    }
}

/// One change as `--json` shows it.
#[derive(Serialize)]
pub(crate) struct Line {
    id: String,
    bot: String,
    target: String,
    url: String,
    found: String,
    /// `waiting`, `superseded`, `confirmed`, `rejected`.
    state: &'static str,
    summary: String,
    summary_ja: String,
    summary_en: String,
    by: Option<String>,
    decided: Option<String>,
    note: Option<String>,
    superseded_by: Option<String>,
    /// The journal's entry.
    seq: u64,
}

impl Line {
    /// Of one change.
    pub(crate) fn of(id: ChangeId, change: &Change, lang: Lang) -> Self {
        let what = &change.what;
        let (mut by, mut decided, mut note, mut superseded_by) = (None, None, None, None);
        match &change.state {
            ChangeState::Waiting => {}
            ChangeState::Superseded(number) => {
                superseded_by = Some(
                    ChangeId {
                        number: *number,
                        ..id
                    }
                    .to_string(),
                );
            }
            ChangeState::Settled {
                by: who,
                at,
                note: said,
                ..
            } => {
                (by, decided, note) = (Some(who.clone()), Some(at.rfc3339()), said.clone());
            }
        }
        Self {
            id: id.to_string(),
            bot: what.bot.clone(),
            target: what.target.clone(),
            url: what.url.clone(),
            found: change.found.rfc3339(),
            state: word(&change.state),
            summary: pick(lang, &what.summary_ja, &what.summary_en).to_owned(),
            summary_ja: what.summary_ja.clone(),
            summary_en: what.summary_en.clone(),
            by,
            decided,
            note,
            superseded_by,
            seq: change.seq.0,
        }
    }
}

fn word(state: &ChangeState) -> &'static str {
    match state {
        ChangeState::Waiting => "waiting",
        ChangeState::Superseded(_) => "superseded",
        ChangeState::Settled {
            decision: Decision::Confirm,
            ..
        } => "confirmed",
        ChangeState::Settled {
            decision: Decision::Reject,
            ..
        } => "rejected",
    }
}

/// `reigi changes`.
pub(crate) fn list(asked: &Changes, lang: Option<Lang>) -> Outcome {
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let all = runtime()?.block_on(async {
        match home.store().await? {
            Some(store) => read(&store).await,
            None => Ok(Vec::new()),
        }
    })?;
    let is_waiting = |change: &Change| change.state == ChangeState::Waiting;
    let pending = all.iter().filter(|(_, change)| is_waiting(change)).count();
    let shown = all.iter().filter(|(_, change)| match &change.state {
        ChangeState::Waiting => true,
        ChangeState::Superseded(_) => asked.all,
        ChangeState::Settled { .. } => !asked.pending,
    });
    let shown: Vec<&(ChangeId, Change)> = shown.collect();
    let mut out = stdout();
    if asked.json {
        for (id, change) in &shown {
            json_line(&mut out, &Line::of(*id, change, lang))?;
        }
    } else {
        out.write_all(in_words(&shown, pending, &home, lang, is_coloured()).as_bytes())?;
    }
    out.flush()?;
    Ok(if asked.fail_on.is_some() && pending > 0 {
        Exit::No
    } else {
        Exit::Fine
    })
}

/// Changes as a table for people.
pub(crate) fn table(all: &[(ChangeId, Change)], home: &Home, lang: Lang) -> String {
    let shown: Vec<&(ChangeId, Change)> = all.iter().collect();
    in_words(&shown, 0, home, lang, is_coloured())
}

/// All changes: those that wait first, then the newest first.
pub(crate) async fn read(store: &Store) -> Result<Vec<(ChangeId, Change)>, Failure> {
    let mut all = Vec::new();
    for row in store.rows_of(Table::Change).await? {
        let change: Change = read_row(&row)?;
        all.push((
            ChangeId {
                lane: row.lane,
                number: change.what.change,
            },
            change,
        ));
    }
    all.sort_by_key(|(_, change)| {
        (
            change.state != ChangeState::Waiting,
            std::cmp::Reverse(change.seq),
        )
    });
    Ok(all)
}

fn in_words(
    shown: &[&(ChangeId, Change)],
    pending: usize,
    home: &Home,
    lang: Lang,
    coloured: bool,
) -> String {
    if shown.is_empty() {
        return pick(
            lang,
            "変更はありません。`reigi run` で巡回すると、見つかった変更がここに出ます。\n",
            "There are no changes. What a `reigi run` finds is listed here.\n",
        )
        .to_owned();
    }
    let headings = match lang {
        Lang::Ja => ["番号", "状態", "見つけた日時", "対象", "要約"],
        Lang::En => ["id", "state", "found", "target", "summary"],
    };
    let mut table = Columns::new(&headings, &[]);
    let now = now();
    for (id, change) in shown {
        let (state, ink) = match word(&change.state) {
            "waiting" => (pick(lang, "確認待ち", "waits"), Ink::Amber),
            "confirmed" => (pick(lang, "確認済み", "confirmed"), Ink::Vermilion),
            "rejected" => (pick(lang, "却下", "rejected"), Ink::Muted),
            _ => (pick(lang, "置き換え", "superseded"), Ink::Muted),
        };
        let summary = pick(lang, &change.what.summary_ja, &change.what.summary_en);
        table.row(vec![
            (id.to_string(), Ink::Indigo),
            (state.to_owned(), ink),
            (moment(change.found, now, &home.file.zone, lang), Ink::Plain),
            (clip(&change.what.target, 24), Ink::Plain),
            (clip(summary, 72), Ink::Plain),
        ]);
    }
    let next = match (lang, pending) {
        (_, 0) => String::new(),
        (Lang::Ja, n) => {
            format!(
                "\n確認待ち {n} 件。`reigi diff 番号` で見て、`reigi review confirm|reject 番号` で決めてください。\n"
            )
        }
        (Lang::En, n) => {
            format!(
                "\n{} for review: look with `reigi diff ID`, decide with `reigi review confirm|reject ID`.\n",
                counted(n, "waits", "wait")
            )
        }
    };
    table.render(coloured) + &next
}

/// `reigi review`.
pub(crate) fn review(asked: &ReviewCommand, lang: Option<Lang>) -> Outcome {
    let (decision, asked) = match asked {
        ReviewCommand::Confirm(asked) => (Decision::Confirm, asked),
        ReviewCommand::Reject(asked) => (Decision::Reject, asked),
    };
    // The house's folder may stand last.
    let (ids, dir) = match asked.ids.split_last() {
        Some((last, ids)) if ChangeId::parse(last).is_none() && !ids.is_empty() => {
            (ids, Some(std::path::Path::new(last)))
        }
        _ => (asked.ids.as_slice(), None),
    };
    let ids = ids
        .iter()
        .map(|id| ChangeId::need(id))
        .collect::<Result<Vec<_>, _>>()?;
    let home = Home::open(dir)?;
    let lang = lang.unwrap_or(home.file.lang);
    let by = people::acting(&home.file, asked.by.as_deref(), &[REVIEWER.to_owned()])?.by;
    runtime()?.block_on(async {
        let writer = match home.store().await? {
            Some(_) => Writer::open(&home, "review").await?,
            None => {
                return Err(ids
                    .first()
                    .map_or_else(|| Failure::no("", ""), |id| id.unknown()));
            }
        };
        let mut exit = Exit::Fine;
        for id in ids {
            match decide(&writer, id, decision, &by, asked, lang).await {
                Ok(()) => {}
                // The others are decided all the same.
                Err(failure) if failure.exit == Exit::BadInput => {
                    eprint!("{}", failure.say(lang));
                    exit = Exit::BadInput;
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(exit)
    })
}

async fn decide(
    writer: &Writer,
    id: ChangeId,
    decision: Decision,
    by: &str,
    asked: &Decide,
    lang: Lang,
) -> Result<(), Failure> {
    let change = writer
        .store
        .row(Table::Change, id.lane, &format!("{:012}", id.number))
        .await?;
    let change: Change = read_row(&change.ok_or_else(|| id.unknown())?)?;
    let evidence_opened = has_opened(&writer.store, by, &change).await?;
    let mut settled = change.clone();
    let header = writer
        .append(id.lane, Some(&change.what.bot), |house, lane| {
            may_be_decided(id, lane)?;
            Ok(Event::Reviewed(Reviewed {
                change: id.number,
                decision,
                by: by.to_owned(),
                note: asked.note.clone(),
                evidence_opened,
                epoch: house.facts.epoch + 1,
            }))
        })
        .await?;
    settled.state = ChangeState::Settled {
        decision,
        by: by.to_owned(),
        at: header.at,
        note: asked.note.clone(),
    };
    if asked.json {
        let mut out = stdout();
        json_line(&mut out, &Line::of(id, &settled, lang))?;
        return Ok(out.flush()?);
    }
    let summary = clip(
        pick(lang, &change.what.summary_ja, &change.what.summary_en),
        72,
    );
    Ok(print(&match (lang, decision) {
        (Lang::Ja, Decision::Confirm) => format!("{id} を確認しました（{by}）：{summary}\n"),
        (Lang::En, Decision::Confirm) => format!("{id} confirmed by {by}: {summary}\n"),
        (Lang::Ja, Decision::Reject) => format!("{id} を却下しました（{by}）：{summary}\n"),
        (Lang::En, Decision::Reject) => format!("{id} rejected by {by}: {summary}\n"),
    })?)
}

/// Only what waits can be decided; a newer change takes the place of an older one.
fn may_be_decided(id: ChangeId, lane: Option<&LaneState>) -> Result<(), Failure> {
    let change = lane.and_then(|lane| lane.changes.get(&id.number));
    match change.map(|change| &change.state) {
        None => Err(id.unknown()),
        Some(ChangeState::Waiting) => Ok(()),
        Some(ChangeState::Superseded(number)) => {
            let newer = ChangeId {
                number: *number,
                ..id
            };
            Err(Failure::bad_input(
                format!("{id} は、同じページの新しい変更 {newer} に置き換わっています。"),
                format!("A newer change of the same page, {newer}, took the place of {id}."),
            ))
        }
        Some(ChangeState::Settled { by, .. }) => Err(Failure::bad_input(
            format!("{id} は {by} さんがすでに決めています。"),
            format!("{by} has decided about {id} already."),
        )),
    }
}

/// Whether this person has opened the diff: their readings stand in the journal.
async fn has_opened(store: &Store, by: &str, change: &Change) -> Result<bool, Failure> {
    let mut before = None;
    loop {
        let page = store.lane_entries(LaneId::HOUSE, before, 200).await?;
        let Some(last) = page.last() else {
            return Ok(false);
        };
        before = Some(last.header.seq);
        for entry in page.iter().filter(|e| e.header.kind == "evidence-read") {
            if let Ok(Some(Event::EvidenceRead(read))) = entry.event()
                && read.by == by
                && read.digests.contains(&change.what.after)
            {
                return Ok(true);
            }
        }
        if last.header.seq < change.seq {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_named_by_lane_and_number() {
        let id = ChangeId {
            lane: LaneId(3),
            number: 12,
        };
        assert_eq!(ChangeId::parse("3-12"), Some(id));
        assert_eq!(id.to_string(), "3-12");
        for text in [
            "3",
            "3-",
            "-12",
            "a-1",
            "+3-12",
            "3-12-1",
            "99999999999999999999-1",
        ] {
            assert_eq!(ChangeId::parse(text), None, "{text}");
        }
    }
}
