//! From a ledger file's text to rows; what the rows must be is in [`super::check`].

use std::borrow::Cow;

use jiff::civil::Date;

use super::check::{Cell, Checks, Row, TermsRow};
use super::{Ledger, csv, is_csv};
use crate::charter::Charter;
use crate::charter::problem::{Problems, Sheet, say};
use crate::charter::reader::{self, Table, Value};
use crate::digest::Digest;

impl Ledger {
    /// Reads a ledger of the bot with this charter: TOML or CSV, by the ending of `file_name`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file_name: &str, text: &str, charter: &Charter) -> Result<Self, Problems> {
        Self::parse_as_of(file_name, text, charter, None)
    }

    /// As [`Ledger::parse`], and looks at the dates of terms checks as of `today` (in the house's
    /// zone): none may lie ahead, and one that is too old for the charter is a warning.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse_as_of(
        file_name: &str,
        text: &str,
        charter: &Charter,
        today: Option<Date>,
    ) -> Result<Self, Problems> {
        let sheet = Sheet::new(file_name, text);
        let mut checks = Checks::new(&sheet, charter, today);
        if is_csv(file_name) {
            for row in csv::rows(&sheet) {
                checks.row(row);
            }
        } else if file_name.to_ascii_lowercase().ends_with(".toml") {
            toml_rows(&sheet, &mut checks);
        } else {
            sheet.error(
                0..0,
                say(
                    "台帳は .toml か .csv のファイルです。",
                    "a ledger is a .toml or .csv file",
                ),
                say("ファイル名を直してください。", "rename it"),
            );
        }
        let targets = checks.finish();
        sheet.finish(Some(targets)).map(|(targets, warnings)| Self {
            targets,
            digest: Digest::of(text.as_bytes()),
            warnings,
        })
    }
}

fn toml_rows(sheet: &Sheet<'_>, checks: &mut Checks<'_, '_>) {
    let document = reader::parse(sheet);
    let root = Table::root(sheet, &document);
    let targets = root.get("target").and_then(|v| v.list());
    for value in targets.unwrap_or_default() {
        if let Some(row) = value.table().map(|t| row(&t)) {
            checks.row(row);
        }
    }
    root.finish();
}

/// One `[[target]]`.
fn row<'s>(t: &Table<'s, '_>) -> Row<'s> {
    let cell = |key| t.get(key).and_then(|v| cell(&v));
    let row = Row {
        span: t.span.clone(),
        id: t.need("id", "\"city-school\"").and_then(|v| self::cell(&v)),
        name: cell("name"),
        urls: t
            .need("urls", "[\"https://www.example.org/prices\"]")
            .and_then(|v| urls(&v))
            .unwrap_or_default(),
        category: cell("category"),
        provider: cell("provider"),
        every: cell("every"),
        terms: t.get("terms").and_then(|v| v.table()).map(|t| terms(&t)),
        include: t.get("include").and_then(|v| cells(&v)).unwrap_or_default(),
        ignore: t.get("ignore").and_then(|v| cells(&v)).unwrap_or_default(),
        notes: cell("notes"),
    };
    t.finish();
    row
}

fn terms<'s>(t: &Table<'s, '_>) -> TermsRow<'s> {
    let need = |key, example: &str| t.need(key, example).and_then(|v| cell(&v));
    let terms = TermsRow {
        span: t.span.clone(),
        url: need("url", "\"https://www.example.org/terms\""),
        checked_by: need("checked_by", "\"yamada\""),
        checked_on: need("checked_on", "\"2026-08-23\""),
        verdict: need("verdict", "\"allowed\""),
    };
    t.finish();
    terms
}

fn urls<'s>(value: &Value<'s, '_>) -> Option<Vec<Cell<'s>>> {
    let cells = cells(value)?;
    if cells.is_empty() {
        return value.wrong(
            say("URL がありません。", "there is no URL"),
            say(
                "一つは書くか、対象を外してください。",
                "write at least one, or take the target out",
            ),
        );
    }
    Some(cells)
}

fn cells<'s>(value: &Value<'s, '_>) -> Option<Vec<Cell<'s>>> {
    value.list_of(cell)
}

/// A string or a date, with its place.
fn cell<'s>(value: &Value<'s, '_>) -> Option<Cell<'s>> {
    let text = match value.date_text() {
        Some(date) => Cow::Owned(date),
        None => Cow::Borrowed(value.text()?),
    };
    Some(Cell {
        span: value.span.clone(),
        text,
    })
}
