//! Ledgers as spreadsheets save them: RFC 4180, with the place of every field.
//!
//! The usual readers say on which line a record begins; a caret needs the field, so this one
//! keeps spans. It is held against a usual reader by property test.

use std::borrow::Cow;
use std::ops::Range;

use super::check::{Cell, Row, TermsRow};
use crate::charter::problem::{Sheet, say};
use crate::charter::reader::unknown;

/// Columns; `urls` holds URLs separated by spaces or `|`, `include` and `ignore` one selector
/// list each.
pub(super) const COLUMNS: &[&str] = &[
    "id",
    "name",
    "urls",
    "category",
    "provider",
    "every",
    "terms_url",
    "terms_checked_by",
    "terms_checked_on",
    "terms_verdict",
    "include",
    "ignore",
    "notes",
];

/// The rows below the header. What does not fit the columns is recorded.
pub(super) fn rows<'t>(sheet: &Sheet<'t>) -> Vec<Row<'t>> {
    let mut records = records(sheet).into_iter();
    let Some(header) = records.next() else {
        sheet.error(
            0..0,
            say("見出しの行がありません。", "there is no header row"),
            header_remedy(),
        );
        return Vec::new();
    };
    let columns = columns(sheet, &header.cells);
    if !columns.contains(&Some("id")) || !columns.contains(&Some("urls")) {
        return Vec::new();
    }
    records.map(|record| row(sheet, &columns, record)).collect()
}

fn header_remedy() -> crate::charter::Bilingual {
    say(
        format!(
            "1行目を `{}` のような見出しにしてください（id と urls は必須）。",
            COLUMNS.join(",")
        ),
        format!(
            "make the first row a header like `{}` (id and urls are needed)",
            COLUMNS.join(",")
        ),
    )
}

fn columns(sheet: &Sheet<'_>, header: &[Cell<'_>]) -> Vec<Option<&'static str>> {
    let mut columns = Vec::new();
    for cell in header {
        let name = cell.text.trim();
        let column = COLUMNS.iter().find(|c| **c == name).copied();
        match column {
            None if header.len() == 1 && name.contains([';', '\t']) => {}
            None if name.is_empty() => {}
            None => unknown(sheet, cell.span.clone(), name, name, COLUMNS),
            Some(_) if columns.contains(&column) => sheet.error(
                cell.span.clone(),
                say(
                    format!("列 `{name}` が二つあります。"),
                    format!("the column `{name}` is there twice"),
                ),
                say("一つにしてください。", "keep one"),
            ),
            Some(_) => {}
        }
        columns.push(column);
    }
    let place = header.first().map_or(0..0, |c| c.span.start..c.span.start);
    for needed in ["id", "urls"] {
        if !columns.contains(&Some(needed)) {
            sheet.error(
                place.clone(),
                say(
                    format!("列 `{needed}` がありません（区切りはコンマです）。"),
                    format!("there is no column `{needed}` (columns are separated by commas)"),
                ),
                header_remedy(),
            );
        }
    }
    columns
}

fn row<'t>(sheet: &Sheet<'t>, columns: &[Option<&'static str>], record: Record<'t>) -> Row<'t> {
    let span = record.span.start..record.span.start;
    let mut row = Row {
        span: span.clone(),
        ..Row::default()
    };
    let mut terms = TermsRow {
        span,
        ..TermsRow::default()
    };
    for (n, cell) in record.cells.into_iter().enumerate() {
        if cell.text.trim().is_empty() {
            continue;
        }
        let Some(column) = columns.get(n) else {
            sheet.error(
                cell.span,
                say(
                    "見出しより列の多い行です。",
                    "this row has more fields than the header",
                ),
                say(
                    "コンマを含む欄は \"…\" で囲んでください。",
                    "put fields with a comma in \"…\"",
                ),
            );
            break;
        };
        match *column {
            Some("id") => row.id = Some(cell),
            Some("name") => row.name = Some(cell),
            Some("urls") => row.urls = split(&cell),
            Some("category") => row.category = Some(cell),
            Some("provider") => row.provider = Some(cell),
            Some("every") => row.every = Some(cell),
            Some("include") => row.include = vec![cell],
            Some("ignore") => row.ignore = vec![cell],
            Some("notes") => row.notes = Some(cell),
            Some("terms_url") => terms.url = Some(cell),
            Some("terms_checked_by") => terms.checked_by = Some(cell),
            Some("terms_checked_on") => terms.checked_on = Some(cell),
            Some("terms_verdict") => terms.verdict = Some(cell),
            _ => {}
        }
    }
    row.terms = (!terms.is_blank()).then_some(terms);
    needed(sheet, &row);
    row
}

/// Records what a row cannot do without.
fn needed(sheet: &Sheet<'_>, row: &Row<'_>) {
    for (column, there) in [("id", row.id.is_some()), ("urls", !row.urls.is_empty())] {
        if !there {
            sheet.error(
                row.span.clone(),
                say(
                    format!("`{column}` が空です。"),
                    format!("`{column}` is blank"),
                ),
                say("書き込んでください。", "fill it in"),
            );
        }
    }
}

/// The parts of a field between spaces, line breaks and `|`.
fn split<'t>(cell: &Cell<'t>) -> Vec<Cell<'t>> {
    let gap = |c: char| c.is_whitespace() || c == '|';
    let part = |(from, to): (usize, usize)| {
        let text = match &cell.text {
            Cow::Borrowed(text) => Cow::Borrowed(text.get(from..to).unwrap_or_default()),
            Cow::Owned(text) => Cow::Owned(text.get(from..to).unwrap_or_default().to_owned()),
        };
        // With a doubled quote, offsets in the field and in the file differ.
        let span = match &cell.text {
            Cow::Borrowed(_) => cell.span.start + from..cell.span.start + to,
            Cow::Owned(_) => cell.span.clone(),
        };
        Cell { span, text }
    };
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, found) in cell.text.match_indices(gap) {
        parts.push((from, at));
        from = at + found.len();
    }
    parts.push((from, cell.text.len()));
    parts.retain(|(from, to)| from < to);
    parts.into_iter().map(part).collect()
}

/// A record and its bytes, up to the next one.
pub(super) struct Record<'t> {
    pub(super) span: Range<usize>,
    pub(super) cells: Vec<Cell<'t>>,
}

/// The records of the text; blank lines are none.
pub(super) fn records<'t>(sheet: &Sheet<'t>) -> Vec<Record<'t>> {
    let mut fields = Fields {
        text: sheet.text,
        at: if sheet.text.starts_with('\u{feff}') {
            3
        } else {
            0
        },
    };
    let mut records = Vec::new();
    let mut cells: Vec<Cell<'t>> = Vec::new();
    let mut start = fields.at;
    while let Some((field, end)) = fields.next(sheet) {
        cells.push(field);
        if end != End::Field {
            let cells = std::mem::take(&mut cells);
            if cells.iter().any(|c| !c.text.trim().is_empty()) {
                let span = start..fields.at;
                records.push(Record { span, cells });
            }
            start = fields.at;
        }
        if end == End::Text {
            break;
        }
    }
    records
}

/// A field as it is written: in quotes where it needs them.
pub(super) fn quoted(field: &str) -> Cow<'_, str> {
    if field.contains([',', '"', '\r', '\n']) || field.trim() != field {
        Cow::Owned(format!("\"{}\"", field.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(field)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Field,
    Record,
    Text,
}

struct Fields<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Fields<'t> {
    fn next(&mut self, sheet: &Sheet<'t>) -> Option<(Cell<'t>, End)> {
        let rest = self.text.get(self.at..)?;
        let field = match rest.strip_prefix('"') {
            Some(quoted) => self.quoted(quoted, sheet),
            None => {
                let len = rest.find([',', '\r', '\n']).unwrap_or(rest.len());
                self.take(self.at..self.at + len, self.at + len)
            }
        };
        let rest = self.text.get(self.at..).unwrap_or_default();
        let (end, len) = match rest.as_bytes() {
            [b',', ..] => (End::Field, 1),
            [b'\r', b'\n', ..] => (End::Record, 2),
            [b'\r' | b'\n', ..] => (End::Record, 1),
            _ => (End::Text, 0),
        };
        self.at += len;
        Some((field, end))
    }

    fn take(&mut self, span: Range<usize>, next: usize) -> Cell<'t> {
        self.at = next;
        Cell {
            text: Cow::Borrowed(self.text.get(span.clone()).unwrap_or_default()),
            span,
        }
    }

    /// A field after its opening quote.
    fn quoted(&mut self, quoted: &'t str, sheet: &Sheet<'t>) -> Cell<'t> {
        let start = self.at + 1;
        let mut len = 0;
        let mut doubled = false;
        let closed = loop {
            let Some(quote) = quoted.get(len..).and_then(|rest| rest.find('"')) else {
                break false;
            };
            len += quote;
            if !quoted.get(len + 1..).is_some_and(|r| r.starts_with('"')) {
                break true;
            }
            doubled = true;
            len += 2;
        };
        if !closed {
            sheet.error(
                self.at..start,
                say("引用符が閉じていません。", "this quote is never closed"),
                say(
                    "欄の終わりに \" を書いてください。欄の中の \" は \"\" と書きます。",
                    "write \" at the end of the field; a \" within is written \"\"",
                ),
            );
            return self.take(start..self.text.len(), self.text.len());
        }
        let after = start + len + 1;
        let tail = self.text.get(after..).unwrap_or_default();
        let junk = tail.find([',', '\r', '\n']).unwrap_or(tail.len());
        if junk > 0 {
            sheet.error(
                after..after + junk,
                say(
                    "閉じた引用符のうしろに文字があります。",
                    "there is text after the closing quote",
                ),
                say(
                    "欄の中の \" は \"\" と書いてください。",
                    "write a \" within a field as \"\"",
                ),
            );
        }
        let mut cell = self.take(start..start + len, after + junk);
        if doubled {
            cell.text = Cow::Owned(cell.text.replace("\"\"", "\""));
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<Vec<Vec<String>>> {
        let sheet = Sheet::new("ledger.csv", text);
        let records = records(&sheet);
        for cell in records.iter().flat_map(|r| &r.cells) {
            assert!(text.get(cell.span.clone()).is_some(), "{:?}", cell.span);
        }
        let read = records
            .into_iter()
            .map(|record| {
                record
                    .cells
                    .into_iter()
                    .map(|c| c.text.into_owned())
                    .collect()
            })
            .collect();
        sheet.finish(Some(read)).ok().map(|(read, _)| read)
    }

    proptest! {
        /// What a usual reader makes of a well-quoted text, this one makes of it too.
        #[test]
        fn agrees_with_a_usual_reader(
            rows in prop::collection::vec(prop::collection::vec("[a\",\r\n 界]{0,6}", 3), 1..5),
        ) {
            let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let want: Vec<Vec<String>> = rows
                .into_iter()
                .filter(|row| row.iter().any(|f| !f.trim().is_empty()))
                .collect();
            prop_assert_eq!(read(&text), Some(want));
        }
    }

    #[test]
    fn broken_quotes_are_told() {
        assert_eq!(read("a,\"b\n"), None);
        assert_eq!(read("a,\"b\"c\n"), None);
        assert_eq!(
            read("a,b\"c\n"),
            Some(vec![vec!["a".into(), "b\"c".into()]])
        );
    }
}
