//! One value of a TOML document: what it is, or what is wrong with it at its place.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use serde_spanned::Spanned;
use toml::de::DeValue;

use super::Bilingual;
use super::problem::{Sheet, say};
use super::reader::Table;
use super::unit::{self, BadQuantity, show_duration, show_size};
use crate::cadence::Every;

/// A value of the document and its place.
pub(crate) struct Value<'s, 't> {
    pub(crate) sheet: &'s Sheet<'t>,
    /// `pace.interval`.
    pub(crate) path: String,
    pub(crate) span: Range<usize>,
    inner: &'s DeValue<'t>,
}

impl<'s, 't> Value<'s, 't> {
    pub(super) fn new(sheet: &'s Sheet<'t>, path: String, value: &'s Spanned<DeValue<'t>>) -> Self {
        Self {
            sheet,
            path,
            span: value.span(),
            inner: value.get_ref(),
        }
    }

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

    /// A name of lower-case letters, digits and `-`.
    pub(crate) fn slug(&self, example: &str) -> Option<String> {
        let text = self.text()?;
        if is_slug(text) {
            return Some(text.to_owned());
        }
        let path = &self.path;
        self.wrong(
            say(
                format!("`{path}` は小文字の英数字と - で書きます。"),
                format!("`{path}` has lower-case letters, digits and -"),
            ),
            say(
                format!("`\"{example}\"` のように書いてください。"),
                format!("write it like `\"{example}\"`"),
            ),
        )
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
        let element = |(n, value)| Self::new(self.sheet, format!("{}[{n}]", self.path), value);
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

    pub(super) fn table_or(&self, example: &str) -> Option<Table<'s, 't>> {
        match self.inner {
            DeValue::Table(inner) => Some(Table::new(
                self.sheet,
                self.path.clone(),
                self.span.clone(),
                inner,
            )),
            _ => self.other_kind(example),
        }
    }
}

/// Whether `text` is a name of lower-case letters, digits and `-`.
pub(crate) fn is_slug(text: &str) -> bool {
    let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=64).contains(&text.len()) && text.chars().all(fine)
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
