//! A TOML document read key by key, with the place of everything.
//!
//! Serde stops at the first error; a person who writes a charter wants all of them. So each file
//! asks its tables for keys by name. What it never asked for is an unknown key, what it could not
//! use is a problem at that value, and reading goes on.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use serde_spanned::Spanned;
use toml::de::{DeTable, DeValue};

use super::Bilingual;
use super::problem::{Sheet, say};
use super::unit::{self, BadQuantity, show_duration, show_size};
use crate::cadence::Every;

/// Parses the sheet's text; syntax errors are recorded, and what could be read is returned.
pub(crate) fn parse<'t>(sheet: &Sheet<'t>) -> Spanned<DeTable<'t>> {
    let (document, errors) = DeTable::parse_recoverable(sheet.text);
    for error in errors {
        let end = sheet.text.len();
        let span = error.span().unwrap_or(end..end);
        let remedy = syntax_remedy(error.message(), sheet.text.get(span.clone()));
        let message = error.message();
        let what = say(
            format!("TOML として読めません（{message}）。"),
            format!("not TOML: {message}"),
        );
        sheet.syntax_error(span, what, remedy);
    }
    document
}

fn syntax_remedy(message: &str, found: Option<&str>) -> Bilingual {
    match found {
        Some(found) if message.contains("must be quoted") && !found.contains(['"', '\n']) => say(
            format!("`\"{found}\"` と囲んでください。"),
            format!("write `\"{found}\"`"),
        ),
        _ if message.contains("duplicate key") => {
            say("同じキーは一度だけにしてください。", "name each key once")
        }
        _ => say(
            "文字列と単位つきの値は \"…\" で囲み、表は [名前]、配列は [\"…\", \"…\"] と書きます。",
            "put strings and values with a unit in \"…\", write tables as [name], arrays as [\"…\", \"…\"]",
        ),
    }
}

/// A table of the document. Ask for every key it may have, then [`Table::finish`].
pub(crate) struct Table<'s, 't> {
    pub(crate) sheet: &'s Sheet<'t>,
    /// `pace.slow`; empty for the root.
    path: String,
    /// Its header, or the braces of an inline table.
    pub(crate) span: Range<usize>,
    inner: &'s DeTable<'t>,
    known: RefCell<Vec<&'static str>>,
    later: RefCell<Vec<&'static str>>,
}

impl<'s, 't> Table<'s, 't> {
    pub(crate) fn root(sheet: &'s Sheet<'t>, document: &'s Spanned<DeTable<'t>>) -> Self {
        Self {
            sheet,
            path: String::new(),
            span: 0..0,
            inner: document.get_ref(),
            known: RefCell::default(),
            later: RefCell::default(),
        }
    }

    /// The value of `key`, if it is there.
    pub(crate) fn get(&self, key: &'static str) -> Option<Value<'s, 't>> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&key) {
            known.push(key);
        }
        self.inner.get(key).map(|value| Value {
            sheet: self.sheet,
            path: self.path_of(key),
            span: value.span(),
            inner: value.get_ref(),
        })
    }

    /// The value of `key`; its absence is a problem, whose remedy shows `example` (TOML).
    pub(crate) fn need(&self, key: &'static str, example: &str) -> Option<Value<'s, 't>> {
        let value = self.get(key);
        if value.is_none() {
            self.missing(key, &format!("{key} = {example}"));
        }
        value
    }

    /// What `read` makes of `key`; `Some(None)` if it is absent, `None` if it is wrong.
    pub(crate) fn maybe<T>(
        &self,
        key: &'static str,
        read: impl FnOnce(&Value<'s, 't>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.get(key) {
            None => Some(None),
            Some(value) => read(&value).map(Some),
        }
    }

    /// The table `key`; its absence is a problem.
    pub(crate) fn section(&self, key: &'static str) -> Option<Self> {
        match self.get(key) {
            Some(value) => value.table(),
            None => {
                self.missing(key, &format!("[{}]", self.path_of(key)));
                None
            }
        }
    }

    /// What `read` makes of each key, where the keys are names that the writer chose.
    pub(crate) fn map<T>(&self, read: impl Fn(&str, &Value<'s, 't>) -> T) -> Vec<T> {
        let value = |key: &str, value: &'s Spanned<DeValue<'t>>| Value {
            sheet: self.sheet,
            path: self.path_of(key),
            span: value.span(),
            inner: value.get_ref(),
        };
        self.inner
            .iter()
            .map(|(key, inner)| read(key.get_ref(), &value(key.get_ref(), inner)))
            .collect()
    }

    /// Both languages of `key`.
    pub(crate) fn bilingual(&self, key: &'static str) -> Option<Bilingual> {
        let table = self
            .need(key, r#"{ ja = "…", en = "…" }"#)?
            .table_or(r#"{ ja = "…", en = "…" }"#)?;
        let text = table.both_languages();
        table.finish();
        text
    }

    /// The keys `ja` and `en` of this table.
    pub(crate) fn both_languages(&self) -> Option<Bilingual> {
        let [ja, en] = ["ja", "en"].map(|lang| self.need(lang, "\"…\"").and_then(|v| v.words()));
        Some(Bilingual { ja: ja?, en: en? })
    }

    /// Keys that a later version will have: said so, instead of "unknown".
    pub(crate) fn later(&self, keys: &[&'static str]) {
        for (key, _) in self.inner.iter() {
            if !keys.contains(&key.get_ref().as_ref()) {
                continue;
            }
            let path = self.path_of(key.get_ref());
            self.sheet.error(
                key.span(),
                say(
                    format!("`{path}` は、この版ではまだ使えません。"),
                    format!("`{path}` is not yet supported by this version"),
                ),
                say(
                    "この行を外してください。守れない約束を載せないためです。",
                    "take it out: a promise that cannot be kept must not be on the page",
                ),
            );
        }
        self.later.borrow_mut().extend(keys);
    }

    /// Records each key that nobody asked for.
    pub(crate) fn finish(&self) {
        let (known, later) = (self.known.borrow(), self.later.borrow());
        for (key, _) in self.inner.iter() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) && !later.contains(&name) {
                let path = self.path_of(key.get_ref());
                unknown(self.sheet, key.span(), &path, key.get_ref(), &known);
            }
        }
    }

    fn missing(&self, key: &str, line: &str) {
        if !self.sheet.is_parsed() {
            return;
        }
        let path = self.path_of(key);
        self.sheet.error(
            self.span.clone(),
            say(
                format!("`{path}` がありません。"),
                format!("`{path}` is missing"),
            ),
            say(
                format!("`{line}` のように書き加えてください。"),
                format!("add it, like `{line}`"),
            ),
        );
    }

    fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_owned(),
            path => format!("{path}.{key}"),
        }
    }
}

/// Records an unknown name, with the known one that was probably meant.
pub(crate) fn unknown(
    sheet: &Sheet<'_>,
    span: Range<usize>,
    path: &str,
    name: &str,
    known: &[&str],
) {
    let remedy = match nearest(name, known) {
        Some(near) => say(
            format!("`{near}` のことですか。"),
            format!("did you mean `{near}`?"),
        ),
        None => {
            let all = known.join(", ");
            say(
                format!("ここで使えるのは {all} です。"),
                format!("known here: {all}"),
            )
        }
    };
    let what = say(
        format!("`{path}` という項目はありません。"),
        format!("`{path}` is not known"),
    );
    sheet.error(span, what, remedy);
}

/// The known name that `name` probably meant: part of it, or a few letters away.
fn nearest<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let name = name.to_lowercase().replace('-', "_");
    let part_of = |k: &&&str| k.len() > 2 && (name.contains(**k) || k.contains(name.as_str()));
    let close = known
        .iter()
        .map(|k| (distance(&name, k), *k))
        .min()
        .filter(|(distance, k)| *distance <= k.chars().count().max(3) / 3);
    match close {
        Some((_, k)) => Some(k),
        None if name.len() > 2 => known.iter().find(part_of).copied(),
        None => None,
    }
}

/// Levenshtein distance in characters. Names longer than any key are far from all.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 64;
    if a.len() > LONGEST {
        return a.len();
    }
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let (mut diagonal, mut left) = (i, i + 1);
        for (to, cell) in b.chars().zip(row.iter_mut().skip(1)) {
            let replaced = diagonal + usize::from(from != to);
            diagonal = *cell;
            left = replaced.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

/// A value of the document and its place.
pub(crate) struct Value<'s, 't> {
    pub(crate) sheet: &'s Sheet<'t>,
    /// `pace.interval`.
    pub(crate) path: String,
    pub(crate) span: Range<usize>,
    inner: &'s DeValue<'t>,
}

impl<'s, 't> Value<'s, 't> {
    /// Records a problem at this value. `None`, for the caller to return.
    pub(crate) fn wrong<T>(&self, what: Bilingual, remedy: Bilingual) -> Option<T> {
        // What a syntax error left behind has no place of its own.
        if !self.span.is_empty() || self.sheet.is_parsed() {
            self.sheet.error(self.span.clone(), what, remedy);
        }
        None
    }

    /// Records that the value is of another kind than `example` (TOML) shows.
    fn other_kind<T>(&self, example: &str) -> Option<T> {
        let (ja, en) = match self.inner {
            DeValue::String(_) => ("文字列", "a string"),
            DeValue::Integer(_) => ("整数", "an integer"),
            DeValue::Float(_) => ("小数", "a float"),
            DeValue::Boolean(_) => ("真偽値", "a boolean"),
            DeValue::Datetime(_) => ("日時", "a date or time"),
            DeValue::Array(_) => ("配列", "an array"),
            DeValue::Table(_) => ("表", "a table"),
        };
        let path = &self.path;
        self.wrong(
            say(
                format!("`{path}` に{ja}は書けません。"),
                format!("`{path}` cannot be {en}"),
            ),
            say(
                format!("`{example}` のように書いてください。"),
                format!("write it like `{example}`"),
            ),
        )
    }

    /// Any string.
    pub(crate) fn text(&self) -> Option<&'s str> {
        match self.inner {
            DeValue::String(text) => Some(text),
            _ => self.other_kind("\"…\""),
        }
    }

    /// A string for people: not blank, no control characters.
    pub(crate) fn words(&self) -> Option<String> {
        let text = self.text()?.trim();
        if text.is_empty() || text.chars().any(char::is_control) {
            let path = &self.path;
            return self.wrong(
                say(
                    format!("`{path}` が空か、制御文字を含んでいます。"),
                    format!("`{path}` is blank or has control characters"),
                ),
                say("一行の文を書いてください。", "write one line of text"),
            );
        }
        Some(text.to_owned())
    }

    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.inner {
            DeValue::Boolean(value) => Some(*value),
            _ => self.other_kind("true"),
        }
    }

    /// An integer within `range`.
    pub(crate) fn integer(&self, range: RangeInclusive<u32>) -> Option<u32> {
        let DeValue::Integer(integer) = self.inner else {
            return self.other_kind(&range.start().to_string());
        };
        let digits = integer.as_str();
        let value = i128::from_str_radix(digits, integer.radix()).ok();
        let value = value.and_then(|v| u32::try_from(v).ok());
        match value.filter(|v| range.contains(v)) {
            Some(value) => Some(value),
            None => self.outside(&integer.to_string(), range.start(), range.end()),
        }
    }

    /// Records that a quantity lies outside its bounds.
    fn outside<T>(
        &self,
        is: &str,
        least: impl std::fmt::Display,
        most: impl std::fmt::Display,
    ) -> Option<T> {
        let path = &self.path;
        self.wrong(
            say(
                format!("`{path}` が {is} です。認められるのは {least} 以上 {most} 以下です。"),
                format!("`{path}` is {is}; allowed is {least} to {most}"),
            ),
            say(
                "範囲内の値にしてください。この範囲は設定では変えられません。",
                "choose a value within; these bounds are built in",
            ),
        )
    }

    /// A duration within `range`.
    pub(crate) fn duration(&self, range: RangeInclusive<Duration>) -> Option<Duration> {
        let least = show_duration(*range.start());
        let text = self.quantity_text("s", &least)?;
        let duration = match unit::duration(text) {
            Ok(duration) => duration,
            Err(BadQuantity::TooLarge) => {
                return self.outside(text, &least, show_duration(*range.end()));
            }
            Err(bad) => return self.bad_quantity(&bad, "ms, s, m, h, d", &least),
        };
        if range.contains(&duration) {
            return Some(duration);
        }
        self.outside(text, &least, show_duration(*range.end()))
    }

    /// A number of bytes within `range`.
    pub(crate) fn size(&self, range: RangeInclusive<u64>) -> Option<u64> {
        let least = show_size(*range.start());
        let text = self.quantity_text("B", &least)?;
        let size = match unit::size(text) {
            Ok(size) => size,
            Err(BadQuantity::TooLarge) => {
                return self.outside(text, &least, show_size(*range.end()));
            }
            Err(bad) => return self.bad_quantity(&bad, "B, KB, KiB, MB, MiB, GB, GiB", &least),
        };
        if range.contains(&size) {
            return Some(size);
        }
        self.outside(text, &least, show_size(*range.end()))
    }

    /// A visiting period, at least a minute.
    pub(crate) fn every(&self) -> Option<Every> {
        let text = self.quantity_text("d", "month")?;
        match every(text) {
            Ok(every) => Some(every),
            Err((what, remedy)) => self.wrong(
                say(
                    format!("`{}`: {}", self.path, what.ja),
                    format!("`{}`: {}", self.path, what.en),
                ),
                remedy,
            ),
        }
    }

    /// The string of a quantity. A bare number is answered with what it should have been.
    fn quantity_text(&self, unit: &str, example: &str) -> Option<&'s str> {
        let number = match self.inner {
            DeValue::String(text) => return Some(text),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            _ => return self.other_kind(&format!("\"{example}\"")),
        };
        let bad = BadQuantity::Unit {
            suggestion: Some(format!("{number}{unit}")),
        };
        self.bad_quantity(&bad, unit, example)
    }

    fn bad_quantity<T>(&self, bad: &BadQuantity, units: &str, example: &str) -> Option<T> {
        let path = &self.path;
        let what = match bad {
            BadQuantity::Unit { .. } => say(
                format!("`{path}` の単位がないか、読めません。"),
                format!("`{path}` has no unit that is known"),
            ),
            BadQuantity::Form | BadQuantity::TooLarge => say(
                format!("`{path}` は数と単位として読めません。"),
                format!("`{path}` is not a number and a unit"),
            ),
        };
        let remedy = match bad {
            BadQuantity::Unit {
                suggestion: Some(meant),
            } => say(
                format!("`\"{meant}\"` と書いてください。"),
                format!("write `\"{meant}\"`"),
            ),
            _ => say(
                format!("`\"{example}\"` のように書いてください（単位は {units}）。"),
                format!("write it like `\"{example}\"` (units: {units})"),
            ),
        };
        self.wrong(what, remedy)
    }

    /// The text of TOML's own date, if it is one.
    pub(crate) fn date_text(&self) -> Option<String> {
        match self.inner {
            DeValue::Datetime(date) => Some(date.to_string()),
            _ => None,
        }
    }

    /// A calendar date, as a string or as TOML's own date.
    pub(crate) fn date(&self) -> Option<jiff::civil::Date> {
        let text = match self.inner {
            DeValue::String(text) => text.to_string(),
            DeValue::Datetime(date) => date.to_string(),
            _ => return self.other_kind("\"2026-08-23\""),
        };
        if let Some(date) = date(&text) {
            return Some(date);
        }
        let path = &self.path;
        self.wrong(
            say(
                format!("`{path}` は暦にある日付ではありません。"),
                format!("`{path}` is not a calendar date"),
            ),
            say(
                "`\"2026-08-23\"` のように、年-月-日で書いてください。",
                "write year-month-day, like `\"2026-08-23\"`",
            ),
        )
    }

    /// One of `choices`; `later` names what a later version will know.
    pub(crate) fn one_of<T: Copy>(&self, choices: &[(&str, T)], later: &[&str]) -> Option<T> {
        let (first, _) = choices.first()?;
        let DeValue::String(text) = self.inner else {
            return self.other_kind(&format!("\"{first}\""));
        };
        if let Some((_, value)) = choices.iter().find(|(name, _)| name == text) {
            return Some(*value);
        }
        let names: Vec<_> = choices.iter().map(|(n, _)| format!("\"{n}\"")).collect();
        let names = names.join(" | ");
        let path = &self.path;
        let what = if later.contains(&text.as_ref()) {
            say(
                format!("`{path} = \"{text}\"` は、この版ではまだ使えません。"),
                format!("`{path} = \"{text}\"` is not yet supported by this version"),
            )
        } else {
            say(
                format!("`{path}` に `{text}` という値はありません。"),
                format!("`{path}` has no value `{text}`"),
            )
        };
        self.wrong(
            what,
            say(
                format!("選べるのは {names} です。"),
                format!("choose from {names}"),
            ),
        )
    }

    /// The elements of an array.
    pub(crate) fn list(&self) -> Option<Vec<Self>> {
        let DeValue::Array(array) = self.inner else {
            return self.other_kind("[\"…\"]");
        };
        let element = |(n, value): (usize, &'s Spanned<DeValue<'t>>)| Self {
            sheet: self.sheet,
            path: format!("{}[{n}]", self.path),
            span: value.span(),
            inner: value.get_ref(),
        };
        Some(array.iter().enumerate().map(element).collect())
    }

    /// What `read` makes of the elements of an array; `None` if one is wrong.
    pub(crate) fn list_of<T>(&self, read: impl Fn(&Self) -> Option<T>) -> Option<Vec<T>> {
        let read: Vec<_> = self.list()?.iter().map(read).collect();
        read.into_iter().collect()
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.inner, DeValue::Array(_))
    }

    pub(crate) fn table(&self) -> Option<Table<'s, 't>> {
        self.table_or(&format!("[{}]", self.path))
    }

    fn table_or(&self, example: &str) -> Option<Table<'s, 't>> {
        match self.inner {
            DeValue::Table(inner) => Some(Table {
                sheet: self.sheet,
                path: self.path.clone(),
                span: self.span.clone(),
                inner,
                known: RefCell::default(),
                later: RefCell::default(),
            }),
            _ => self.other_kind(example),
        }
    }
}

/// A date of the form `YYYY-MM-DD`.
pub(crate) fn date(text: &str) -> Option<jiff::civil::Date> {
    let shaped = text.len() == 10 && text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    shaped.then(|| text.parse().ok()).flatten()
}

/// Shortest visiting period (DECISIONS 19).
const EVERY_MIN: Duration = Duration::from_secs(60);

/// A visiting period, or what is wrong with it and the remedy.
pub(crate) fn every(text: &str) -> Result<Every, (Bilingual, Bilingual)> {
    match unit::every(text) {
        Ok(every) if every.shortest() < EVERY_MIN => Err((
            say(
                format!("周期 {text} は短すぎます。下限は 1m（1分）です。"),
                format!("a period of {text} is too short; the least is 1m (a minute)"),
            ),
            say(
                "`\"1m\"` 以上にしてください。月は `\"month\"` と書きます。",
                "write `\"1m\"` or more; a month is `\"month\"`",
            ),
        )),
        Ok(every) => Ok(every),
        Err(BadQuantity::Unit {
            suggestion: Some(meant),
        }) => Err((
            say(
                format!("周期 `{text}` の単位がないか、読めません。"),
                format!("the period `{text}` has no unit that is known"),
            ),
            say(
                format!("`\"{meant}\"` と書いてください。"),
                format!("write `\"{meant}\"`"),
            ),
        )),
        Err(_) => Err((
            say(
                format!("周期として `{text}` は読めません。"),
                format!("`{text}` is not a period"),
            ),
            say(
                "`\"month\"`、`\"week\"`、`\"1d\"`、`\"P1D\"` のように書いてください。",
                "write `\"month\"`, `\"week\"`, `\"1d\"` or `\"P1D\"`",
            ),
        )),
    }
}
