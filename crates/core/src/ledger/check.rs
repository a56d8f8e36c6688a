//! What a row must be, alone and among the others, whatever file it came from.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use jiff::civil::Date;
use reigi_page::Select;

use super::url::{Fragment, web_url};
use super::{Target, TermsCheck, TermsVerdict};
use crate::cadence::Every;
use crate::charter::problem::{Sheet, say};
use crate::charter::reader;
use crate::charter::unit::{show_duration, show_every};
use crate::charter::{Bilingual, Charter};
use crate::host::Host;

/// A string and its place.
#[derive(Clone, Debug)]
pub(super) struct Cell<'t> {
    pub(super) span: Range<usize>,
    pub(super) text: Cow<'t, str>,
}

/// A row as the file has it.
#[derive(Clone, Debug, Default)]
pub(super) struct Row<'t> {
    pub(super) span: Range<usize>,
    pub(super) id: Option<Cell<'t>>,
    pub(super) name: Option<Cell<'t>>,
    pub(super) urls: Vec<Cell<'t>>,
    pub(super) category: Option<Cell<'t>>,
    pub(super) provider: Option<Cell<'t>>,
    pub(super) every: Option<Cell<'t>>,
    pub(super) terms: Option<TermsRow<'t>>,
    pub(super) include: Vec<Cell<'t>>,
    pub(super) ignore: Vec<Cell<'t>>,
    pub(super) notes: Option<Cell<'t>>,
}

/// A terms check as the file has it.
#[derive(Clone, Debug, Default)]
pub(super) struct TermsRow<'t> {
    pub(super) span: Range<usize>,
    pub(super) url: Option<Cell<'t>>,
    pub(super) checked_by: Option<Cell<'t>>,
    pub(super) checked_on: Option<Cell<'t>>,
    pub(super) verdict: Option<Cell<'t>>,
}

impl TermsRow<'_> {
    pub(super) fn is_blank(&self) -> bool {
        [&self.url, &self.checked_by, &self.checked_on, &self.verdict]
            .iter()
            .all(|cell| cell.is_none())
    }
}

/// Longest text of a row besides its URLs.
const TEXT_MAX: usize = 4 << 10;
const ID_MAX: usize = 100;
/// A date past this year is a typing error even where nobody says what day it is.
const YEARS: std::ops::RangeInclusive<i16> = 1990..=2100;

/// Turns rows into targets.
pub(super) struct Checks<'s, 't> {
    sheet: &'s Sheet<'t>,
    charter: &'s Charter,
    today: Option<Date>,
    targets: Vec<Target>,
    /// Line of each id and URL seen.
    ids: HashMap<String, usize>,
    urls: HashMap<String, usize>,
}

impl<'s, 't> Checks<'s, 't> {
    pub(super) fn new(sheet: &'s Sheet<'t>, charter: &'s Charter, today: Option<Date>) -> Self {
        Self {
            sheet,
            charter,
            today,
            targets: Vec::new(),
            ids: HashMap::new(),
            urls: HashMap::new(),
        }
    }

    pub(super) fn finish(self) -> Vec<Target> {
        self.targets
    }

    /// Looks at one row; a sound one becomes a target.
    pub(super) fn row(&mut self, row: Row<'_>) {
        let id = row.id.as_ref().and_then(|cell| self.id(cell));
        let urls = self.urls(&row);
        let every = row.every.as_ref().map(|cell| self.every(cell));
        let terms = self.terms(&row);
        let [include, ignore] = [&row.include, &row.ignore].map(|cells| self.selectors(cells));
        let [name, category, provider, notes] =
            [&row.name, &row.category, &row.provider, &row.notes]
                .map(|cell| cell.as_ref().and_then(|cell| self.words(cell)));
        if let (Some(id), Some(urls)) = (id, urls) {
            self.targets.push(Target {
                name: name.unwrap_or_else(|| id.clone()),
                id,
                urls,
                category,
                provider,
                every: every.flatten(),
                terms,
                include,
                ignore,
                notes,
            });
        }
    }

    fn error(&self, cell: &Cell<'_>, what: Bilingual, remedy: Bilingual) {
        self.sheet.error(cell.span.clone(), what, remedy);
    }

    fn id(&mut self, cell: &Cell<'_>) -> Option<String> {
        let id = cell.text.trim();
        let fine =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
        if id.is_empty() || id.len() > ID_MAX || !id.chars().all(fine) {
            self.error(
                cell,
                say(
                    format!("id は小文字の英数字と . _ - で、{ID_MAX}字までです。"),
                    format!("an id has lower-case letters, digits, . _ and -, at most {ID_MAX}"),
                ),
                say(
                    "`city-school` のように書いてください。",
                    "write it like `city-school`",
                ),
            );
            return None;
        }
        let line = self.sheet.line(cell.span.start);
        if let Some(first) = self.ids.get(id) {
            self.error(
                cell,
                say(
                    format!("id `{id}` は {first} 行目にもあります。"),
                    format!("the id `{id}` is on line {first} too"),
                ),
                say(
                    "どちらかの id を変えるか、行を外してください。",
                    "change or remove one of them",
                ),
            );
        } else {
            self.ids.insert(id.to_owned(), line);
        }
        Some(id.to_owned())
    }

    fn urls(&mut self, row: &Row<'_>) -> Option<Vec<String>> {
        let mut urls: Vec<String> = Vec::new();
        let mut first_host: Option<Host> = None;
        let mut sound = true;
        for cell in &row.urls {
            let url = match web_url(&cell.text, Fragment::Refused) {
                Ok(url) => url,
                Err((what, remedy)) => {
                    self.error(cell, what, remedy);
                    sound = false;
                    continue;
                }
            };
            let host = Host::of(&url);
            if let (Some(first), Some(host)) = (&first_host, &host)
                && first != host
            {
                self.other_host(cell, first, host);
            }
            first_host = first_host.or(host);
            let line = self.sheet.line(cell.span.start);
            if let Some(known) = self.urls.get(url.as_str()) {
                self.error(
                    cell,
                    say(
                        format!("`{url}` は {known} 行目にもあります。"),
                        format!("`{url}` is on line {known} too"),
                    ),
                    say("一つにしてください。", "keep one"),
                );
            } else {
                self.urls.insert(url.to_string(), line);
            }
            urls.push(url.into());
        }
        self.budget(row, urls.len());
        (sound && !urls.is_empty()).then_some(urls)
    }

    fn other_host(&self, cell: &Cell<'_>, first: &Host, host: &Host) {
        self.error(
            cell,
            say(
                format!("一つの対象の URL は一つのホストに揃えます（{first} と {host}）。"),
                format!("all URLs of a target lie on one host (here {first} and {host})"),
            ),
            say(
                "ホストごとに対象を分けてください。",
                "split it: a target for each host",
            ),
        );
    }

    /// More URLs than a visit may ask for: the last ones would never be seen.
    fn budget(&self, row: &Row<'_>, urls: usize) {
        let most = self.charter.visit.pages_max;
        if let (true, Some(cell)) = (urls > most as usize, row.urls.first()) {
            self.sheet.warn(
                cell.span.clone(),
                say(
                    format!(
                        "URL が {urls} 件ありますが、1回の巡回で取得するのは {most} 件までです。"
                    ),
                    format!("{urls} URLs, but a visit asks for at most {most}"),
                ),
                say(
                    "対象を分けるか、charter の `visit.pages_max` を増やしてください。",
                    "split the target, or raise `visit.pages_max` in the charter",
                ),
            );
        }
    }

    /// A period of its own, which may only be rarer than the charter's.
    fn every(&self, cell: &Cell<'_>) -> Option<Every> {
        let every = match reader::every(cell.text.trim()) {
            Ok(every) => every,
            Err((what, remedy)) => {
                self.error(cell, what, remedy);
                return None;
            }
        };
        let promised = self.charter.visit.every;
        if !rarer_or_same(every, promised) {
            let (own, promised) = (show_every(every), show_every(promised));
            self.error(
                cell,
                say(
                    format!("周期 {own} は、約束した {promised} より頻繁になりえます。"),
                    format!("a period of {own} can be more often than the promised {promised}"),
                ),
                say(
                    "より長い周期にするか、この項目を外してください。",
                    "write a longer one, or leave it out",
                ),
            );
        }
        Some(every)
    }

    fn terms(&self, row: &Row<'_>) -> Option<TermsCheck> {
        let Some(terms) = &row.terms else {
            if let (Some(policy), Some(id)) = (&self.charter.terms, &row.id) {
                let age = show_duration(policy.max_age);
                self.sheet.warn(
                    id.span.clone(),
                    say(
                        "利用規約の確認がないので、この対象は訪問されません。",
                        "without a check of its terms of use this target is not visited",
                    ),
                    say(
                        format!("規約を読み、terms の url・checked_by・checked_on・verdict を書いてください（{age} 有効）。"),
                        format!("read them and fill in terms: url, checked_by, checked_on, verdict (good for {age})"),
                    ),
                );
            }
            return None;
        };
        self.terms_complete(terms);
        let url = terms.url.as_ref().and_then(|cell| {
            let url = web_url(&cell.text, Fragment::Allowed);
            url.map_err(|(what, remedy)| self.error(cell, what, remedy))
                .ok()
        });
        let checked_by = terms.checked_by.as_ref().and_then(|cell| self.words(cell));
        let checked_on = terms
            .checked_on
            .as_ref()
            .and_then(|cell| self.checked_on(cell));
        let verdict = terms.verdict.as_ref().and_then(|cell| self.verdict(cell));
        Some(TermsCheck {
            url: url?.into(),
            checked_by: checked_by?,
            checked_on: checked_on?.to_string(),
            verdict: verdict?,
        })
    }

    /// A CSV row may have some of the four; a TOML table was told already what it lacks.
    fn terms_complete(&self, terms: &TermsRow<'_>) {
        let [url, by, on, verdict] = [
            &terms.url,
            &terms.checked_by,
            &terms.checked_on,
            &terms.verdict,
        ]
        .map(|cell| cell.is_none());
        if !terms.span.is_empty() || !(url || by || on || verdict) {
            return;
        }
        self.sheet.error(
            terms.span.clone(),
            say(
                "利用規約の確認が途中までしか書かれていません。",
                "the check of the terms of use is only half filled in",
            ),
            say(
                "terms_url・terms_checked_by・terms_checked_on・terms_verdict を揃えてください。",
                "fill in terms_url, terms_checked_by, terms_checked_on and terms_verdict",
            ),
        );
    }

    fn checked_on(&self, cell: &Cell<'_>) -> Option<Date> {
        let date = reader::date(cell.text.trim());
        // A day of grace: the reader may live further east than the house.
        let latest = self.today.and_then(|today| today.tomorrow().ok());
        let Some(date) = date.filter(|d| YEARS.contains(&d.year())) else {
            self.error(
                cell,
                say(
                    "暦にある日付ではありません。",
                    "this is not a calendar date",
                ),
                say(
                    "`2026-08-23` のように、年-月-日で書いてください。",
                    "write year-month-day, like `2026-08-23`",
                ),
            );
            return None;
        };
        if latest.is_some_and(|latest| date > latest) {
            self.error(
                cell,
                say(
                    format!("確認日 {date} はまだ来ていません。"),
                    format!("the check of {date} lies in the future"),
                ),
                say(
                    "規約を読んだ日を書いてください。",
                    "write the day on which the terms were read",
                ),
            );
        }
        self.still_counts(cell, date);
        Some(date)
    }

    fn still_counts(&self, cell: &Cell<'_>, date: Date) {
        let (Some(policy), Some(today)) = (&self.charter.terms, self.today) else {
            return;
        };
        let age = today
            .since(date)
            .map(|span| span.get_days())
            .unwrap_or_default();
        let age = Duration::from_secs(u64::try_from(age).unwrap_or_default() * 24 * 3600);
        if age > policy.max_age {
            let (age, most) = (show_duration(age), show_duration(policy.max_age));
            self.sheet.warn(
                cell.span.clone(),
                say(
                    format!("規約の確認から {age} 経っています（{most} まで有効）。この対象は訪問されません。"),
                    format!("the terms were read {age} ago (good for {most}): this target is not visited"),
                ),
                say("規約を読み直し、日付を書き換えてください。", "read them again and change the date"),
            );
        }
    }

    fn verdict(&self, cell: &Cell<'_>) -> Option<TermsVerdict> {
        match cell.text.trim() {
            "allowed" => return Some(TermsVerdict::Allowed),
            "refused" => return Some(TermsVerdict::Refused),
            "unclear" => return Some(TermsVerdict::Unclear),
            _ => {}
        }
        self.error(
            cell,
            say(
                format!("規約の判断に `{}` という値はありません。", cell.text),
                format!("`{}` is no verdict on terms", cell.text),
            ),
            say(
                "allowed（妨げなし）、refused（禁止）、unclear（判断できず）のどれかです。",
                "choose from allowed | refused | unclear",
            ),
        );
        None
    }

    fn selectors(&self, cells: &[Cell<'_>]) -> Vec<String> {
        let sound = |cell: &&Cell<'_>| match Select::new(&[cell.text.as_ref()], &[]) {
            Ok(_) => true,
            Err(bad) => {
                self.error(
                    cell,
                    say(
                        format!("CSS セレクターとして読めません（{}）。", bad.reason),
                        format!("not a CSS selector: {}", bad.reason),
                    ),
                    say(
                        "`main .price` のように書いてください。",
                        "write it like `main .price`",
                    ),
                );
                false
            }
        };
        let sound = cells.iter().filter(sound);
        sound.map(|cell| cell.text.clone().into_owned()).collect()
    }

    fn words(&self, cell: &Cell<'_>) -> Option<String> {
        let text = cell.text.trim();
        let fine = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
        if !text.is_empty() && text.len() <= TEXT_MAX && text.chars().all(fine) {
            return Some(text.to_owned());
        }
        self.error(
            cell,
            say(
                "空か、長すぎるか、制御文字を含んでいます。",
                "this is blank, too long, or has control characters",
            ),
            say(
                "文を書くか、項目を外してください。",
                "write text, or leave it out",
            ),
        );
        None
    }
}

/// Whether visits at `own` can never be more frequent than at `promised`.
fn rarer_or_same(own: Every, promised: Every) -> bool {
    // Two visits 26 days apart may fall into one month: only 31 days never do.
    const LONGEST_MONTH: Duration = Duration::from_secs(31 * 24 * 3600);
    match (own, promised) {
        (Every::Month, Every::Month) => true,
        (Every::Week | Every::Period(_), Every::Month) => own.shortest() >= LONGEST_MONTH,
        _ => own.shortest() >= promised.shortest(),
    }
}
