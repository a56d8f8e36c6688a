//! `reigi diff`: a change word by word, with the place where each difference stands.
//!
//! Bodies are restricted evidence: only a person with a role that the charter names may look, and
//! each look is journalled before anything is shown.

use std::io::Write as _;

use reigi_core::charter::Lang;
use reigi_core::digest::Digest;
use reigi_core::event::{Event, EvidenceRead, LaneId};
use reigi_core::state::{Change, LaneState, PageState, TargetKey};
use reigi_page::change::{
    Difference, Hunk, HunkKind, Learned, LearnedRule, Part, Place, Word, compare,
};
use reigi_page::{Page, Read, Select};
use serde::Serialize;

use super::changes::{ChangeId, Line};
use super::{json_line, runtime, stdout};
use crate::cli::Diff;
use crate::exit::{Exit, Failure, Outcome};
use crate::house::{Home, HouseDir, lane_in};
use crate::lang::pick;
use crate::people;
use crate::table::{Ink, is_coloured, moment, plain};
use crate::writer::{Writer, now};

/// The change with its differences.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    line: Line,
    before: Digest,
    after: Digest,
    /// `null`: the bodies are no text, or no longer stored.
    hunks: Option<&'a [Hunk]>,
}

/// Does it.
pub(crate) fn run(asked: &Diff, lang: Option<Lang>) -> Outcome {
    let id = ChangeId::need(&asked.id)?;
    let home = Home::open(asked.dir.as_deref())?;
    let lang = lang.unwrap_or(home.file.lang);
    let (change, difference) = runtime()?.block_on(look(&home, asked, id))?;
    let mut out = stdout();
    if asked.json {
        let shown = Shown {
            line: Line::of(id, &change, lang),
            before: change.what.before,
            after: change.what.after,
            hunks: difference.as_ref().map(|d| d.hunks.as_slice()),
        };
        json_line(&mut out, &shown)?;
    } else {
        out.write_all(head(id, &change, &home, lang, is_coloured()).as_bytes())?;
        match &difference {
            Some(difference) => {
                let sheet = Sheet { lang, coloured: is_coloured() };
                difference.hunks.iter().try_for_each(|hunk| out.write_all(sheet.hunk(hunk).as_bytes()))?;
            }
            None => out.write_all(
                pick(
                    lang,
                    "本文を並べて示すことはできません（文字のページではないか、すでに消されています）。\n",
                    "The texts cannot be shown: no text for readers, or no longer stored.\n",
                )
                .as_bytes(),
            )?,
        }
    }
    out.flush()?;
    Ok(Exit::Fine)
}

async fn look(
    home: &Home,
    asked: &Diff,
    id: ChangeId,
) -> Result<(Change, Option<Difference>), Failure> {
    let store = home.store().await?.ok_or_else(|| id.unknown())?;
    let lane = lane_in(&store.rows_of_lane(id.lane).await?)?.ok_or_else(|| id.unknown())?;
    let change = lane
        .changes
        .get(&id.number)
        .cloned()
        .ok_or_else(|| id.unknown())?;
    let readers = readers(home, &change.what.bot)?;
    let acting = people::acting(&home.file, asked.by.as_deref(), &readers)?;
    let writer = Writer::open(home, "diff").await?;
    let digests = vec![change.what.before, change.what.after];
    let (by, role, purpose) = (acting.by, acting.role, format!("diff {id}"));
    let read = EvidenceRead {
        digests,
        by,
        role,
        purpose,
    };
    writer
        .append(LaneId::HOUSE, Some(&change.what.bot), |_, _| {
            Ok(Event::EvidenceRead(read))
        })
        .await?;
    let before = store.get_body(change.what.before).await?;
    let after = store.get_body(change.what.after).await?;
    let difference = before
        .zip(after)
        .and_then(|(b, a)| difference(&lane, &change, &b, &a));
    Ok((change, difference))
}

/// Roles that the bot's charter lets read bodies.
fn readers(home: &Home, bot: &str) -> Result<Vec<String>, Failure> {
    let files = Home {
        dir: home.dir.clone(),
        file: home.file.clone(),
    };
    let house = HouseDir::of(files, None)?;
    let charter = house
        .bots
        .into_iter()
        .map(|b| b.charter)
        .find(|charter| charter.bot == bot);
    charter
        .map(|charter| charter.evidence.readers.clone())
        .ok_or_else(|| {
            Failure::bad_input(
                format!("ボット {bot} は reigi.toml にありません。"),
                format!("reigi.toml has no bot {bot}."),
            )
        })
}

/// The comparison that found the change, made again.
fn difference(
    lane: &LaneState,
    change: &Change,
    before: &[u8],
    after: &[u8],
) -> Option<Difference> {
    let key = TargetKey {
        bot: change.what.bot.clone(),
        id: change.what.target.clone(),
    };
    let target = lane.targets.get(&key)?;
    let page = target.pages.get(&change.what.url);
    let select = Select::new(&target.row.include, &target.row.ignore).ok()?;
    let read = |body: &[u8], digest| {
        let content_type = page.and_then(|page| content_type(page, digest));
        match Page::read_with(body, content_type, &select) {
            Read::Html(page) => Some(page),
            Read::Other(_) => None,
        }
    };
    let (old, new) = (
        read(before, change.what.before)?,
        read(after, change.what.after)?,
    );
    let rules = page.map(|page| page.learned.as_slice()).unwrap_or_default();
    let rules = rules
        .iter()
        .filter_map(|rule| serde_json::from_value::<LearnedRule>(rule.clone()).ok());
    let mut learned = Learned::default();
    learned.adopt(rules);
    Some(compare(&old, &new, &learned))
}

/// The Content-Type that a version came with, where it is still known.
fn content_type(page: &PageState, digest: Digest) -> Option<&str> {
    let versions = [&page.latest, &page.settled, &page.judged];
    let version = versions
        .into_iter()
        .flatten()
        .find(|v| v.body.digest == digest);
    version.and_then(|version| version.content_type.as_deref())
}

fn head(id: ChangeId, change: &Change, home: &Home, lang: Lang, coloured: bool) -> String {
    let what = &change.what;
    let found = moment(change.found, now(), &home.file.zone, lang);
    let summary = plain(pick(lang, &what.summary_ja, &what.summary_en));
    let title = Ink::Indigo.paint(&id.to_string(), coloured);
    let found = Ink::Muted.paint(&found, coloured);
    format!("{title}  {}  {found}\n{summary}\n", plain(&what.url))
}

/// How hunks are written.
struct Sheet {
    lang: Lang,
    coloured: bool,
}

impl Sheet {
    fn hunk(&self, hunk: &Hunk) -> String {
        let mut out = format!(
            "\n{}\n",
            Ink::Indigo.paint(&self.place(hunk), self.coloured)
        );
        if hunk.kind == HunkKind::Moved {
            let from = hunk
                .from
                .as_ref()
                .map(|place| self.words_of(place))
                .unwrap_or_default();
            let word = pick(self.lang, "移動", "moved");
            out += &format!("  {word}: {from}\n");
        }
        if let Some(words) = &hunk.before
            && hunk.kind != HunkKind::Moved
        {
            out += &self.line("- ", words, Ink::Vermilion);
        }
        if let Some(words) = &hunk.after {
            out += &self.line("+ ", words, Ink::Pine);
        }
        out
    }

    /// Where it stands: headings, then the cell by its labels; noise is called so.
    fn place(&self, hunk: &Hunk) -> String {
        let mut place = self.words_of(&hunk.place);
        if let Some(noise) = &hunk.noise {
            let kind = serde_json::to_value(noise).ok();
            let kind = kind
                .as_ref()
                .and_then(|v| v.as_str())
                .unwrap_or("noise")
                .replace('_', " ");
            place += &format!("  ({}: {kind})", pick(self.lang, "雑音", "noise"));
        }
        format!("@ {place}")
    }

    fn words_of(&self, place: &Place) -> String {
        let part = match place.part {
            Part::Text => None,
            Part::Title => Some(pick(self.lang, "ページの題名", "title of the page")),
            Part::Link => Some(pick(self.lang, "リンク先", "target of a link")),
            Part::Image => Some(pick(self.lang, "画像の説明", "text of an image")),
        };
        let labels = [place.row_label.as_deref(), place.col_label.as_deref()];
        let cell: Vec<&str> = labels.into_iter().flatten().collect();
        let cell = (!cell.is_empty()).then(|| format!("[{}]", cell.join(" × ")));
        let mut words: Vec<String> = place.headings.iter().map(|h| plain(h)).collect();
        words.extend(part.map(str::to_owned));
        words.extend(place.link.as_deref().map(plain));
        words.extend(cell.as_deref().map(plain));
        if words.is_empty() {
            return pick(self.lang, "ページの本文", "text of the page").to_owned();
        }
        words.join(" › ")
    }

    /// A line with its changed words marked: by colour on a terminal, by brackets elsewhere.
    fn line(&self, sign: &str, words: &[Word], ink: Ink) -> String {
        let is_partly = words.iter().any(|word| !word.changed);
        let mut out = ink.paint(sign, self.coloured);
        for word in words {
            let text = plain(&word.text);
            out += &match (word.changed, self.coloured, is_partly) {
                (true, true, true) => format!("\u{1b}[7m{}\u{1b}[0m", ink.paint(&text, true)),
                (true, false, true) => format!("[{text}]"),
                (true, ..) => ink.paint(&text, self.coloured),
                (false, ..) => text,
            };
        }
        out + "\n"
    }
}
