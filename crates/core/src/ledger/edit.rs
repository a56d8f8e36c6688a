//! Changes to a ledger's text that keep what else its writer put there: comments, order, columns.
//!
//! Text in, text out. The caller reads the result with [`super::Ledger::parse`] before it puts
//! the file in place: an edit is checked like any other version.

use std::borrow::Cow;

use thiserror::Error;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::{Target, TermsVerdict, csv, is_csv};
use crate::charter::problem::Sheet;
use crate::charter::unit::show_every;

/// Why a ledger's text was not changed.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// The text cannot be parsed; [`super::Ledger::parse`] says why in detail.
    #[error("the ledger cannot be read: {0}")]
    Unreadable(String),
    /// `target` is there, but not as `[[target]]` tables.
    #[error("the ledger's targets are not written as [[target]] tables")]
    OtherShape,
    /// A CSV ledger has no column for something that the target has.
    #[error("the ledger has no column `{0}`")]
    NoColumn(String),
    /// A target to add is there already.
    #[error("the ledger already has a target `{0}`")]
    Exists(String),
    /// A target to remove is not there.
    #[error("the ledger has no target `{0}`")]
    Unknown(String),
}

/// The text of a ledger, TOML or CSV, with `target` added at its end.
///
/// # Errors
/// See [`EditError`]; nothing is changed then.
pub fn add(file_name: &str, text: &str, target: &Target) -> Result<String, EditError> {
    if is_csv(file_name) {
        add_row(file_name, text, target)
    } else {
        with_line_ends(text, |text| add_table(text, target))
    }
}

/// The text of a ledger, TOML or CSV, without the target `id` (and, in TOML, the comment right
/// above it).
///
/// # Errors
/// See [`EditError`]; nothing is changed then.
pub fn remove(file_name: &str, text: &str, id: &str) -> Result<String, EditError> {
    if is_csv(file_name) {
        remove_row(file_name, text, id)
    } else {
        with_line_ends(text, |text| remove_table(text, id))
    }
}

/// Edits with `\n`, which is all that the TOML writer knows, and gives the text its `\r\n` back.
fn with_line_ends(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<String, EditError> {
    if !text.contains("\r\n") {
        return edit(text);
    }
    let edited = edit(&text.replace("\r\n", "\n"))?;
    Ok(edited.replace('\n', "\r\n"))
}

fn add_table(text: &str, target: &Target) -> Result<String, EditError> {
    let mut document = parse(text)?;
    if position(targets(&mut document)?, &target.id).is_some() {
        return Err(EditError::Exists(target.id.clone()));
    }
    let mut table = table(target);
    // What stands at the end of the text stays above what is added to it.
    let before = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    let gap = if text.trim().is_empty() { "" } else { "\n" };
    table.decor_mut().set_prefix(before + gap);
    targets(&mut document)?.push(table);
    Ok(document.to_string())
}

fn remove_table(text: &str, id: &str) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let targets = targets(&mut document)?;
    let at = position(targets, id).ok_or_else(|| EditError::Unknown(id.to_owned()))?;
    let above = targets.get(at).map(prefix).unwrap_or_default();
    // A comment with a blank line below it was about more than this target.
    let kept = above.rfind("\n\n").and_then(|end| above.get(..=end));
    let kept = kept.filter(|k| !k.trim().is_empty()).unwrap_or_default();
    targets.remove(at);
    match targets.get_mut(at) {
        Some(next) => {
            let joined = kept.to_owned() + &prefix(next);
            next.decor_mut().set_prefix(joined);
        }
        None => {
            let trailing = document.trailing().as_str().unwrap_or_default();
            document.set_trailing(kept.to_owned() + trailing);
        }
    }
    Ok(document.to_string())
}

/// What stands above a table since the one before it.
fn prefix(table: &Table) -> String {
    let prefix = table.decor().prefix().and_then(|raw| raw.as_str());
    prefix.unwrap_or_default().to_owned()
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse()
        .map_err(|error: toml_edit::TomlError| EditError::Unreadable(error.message().to_owned()))
}

fn targets(document: &mut DocumentMut) -> Result<&mut ArrayOfTables, EditError> {
    document
        .entry("target")
        .or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()))
        .as_array_of_tables_mut()
        .ok_or(EditError::OtherShape)
}

fn position(targets: &ArrayOfTables, id: &str) -> Option<usize> {
    let is = |table: &Table| table.get("id").and_then(Item::as_str) == Some(id);
    targets.iter().position(is)
}

fn table(target: &Target) -> Table {
    let mut table = Table::new();
    table.insert("id", value(&target.id));
    table.insert("name", value(&target.name));
    table.insert("urls", strings(&target.urls));
    let words = [
        ("category", &target.category),
        ("provider", &target.provider),
        ("notes", &target.notes),
    ];
    for (key, text) in words {
        if let Some(text) = text {
            table.insert(key, value(text));
        }
    }
    if let Some(every) = target.every {
        table.insert("every", value(show_every(every)));
    }
    for (key, selectors) in [("include", &target.include), ("ignore", &target.ignore)] {
        if !selectors.is_empty() {
            table.insert(key, strings(selectors));
        }
    }
    if let Some(check) = &target.terms {
        let mut terms = Table::new();
        terms.set_dotted(true);
        terms.insert("url", value(&check.url));
        terms.insert("checked_by", value(&check.checked_by));
        terms.insert("checked_on", value(&check.checked_on));
        terms.insert("verdict", value(word(check.verdict)));
        table.insert("terms", Item::Table(terms));
    }
    table
}

fn word(verdict: TermsVerdict) -> &'static str {
    match verdict {
        TermsVerdict::Allowed => "allowed",
        TermsVerdict::Refused => "refused",
        TermsVerdict::Unclear => "unclear",
    }
}

fn strings(list: &[String]) -> Item {
    let mut array = toml_edit::Array::new();
    array.extend(list.iter().map(String::as_str));
    value(array)
}

fn add_row(file: &str, text: &str, target: &Target) -> Result<String, EditError> {
    let records = records(file, text)?;
    let (header, rows) = records
        .split_first()
        .ok_or_else(|| EditError::NoColumn("id".to_owned()))?;
    if row_of(header, rows, &target.id).is_some() {
        return Err(EditError::Exists(target.id.clone()));
    }
    let mut fields = fields(target);
    let mut row = Vec::new();
    for cell in &header.cells {
        let at = fields
            .iter()
            .position(|(name, _)| *name == cell.text.trim());
        let field = at.map(|at| fields.remove(at).1).unwrap_or_default();
        row.push(csv::quoted(&field).into_owned());
    }
    if let Some((column, _)) = fields.iter().find(|(_, field)| !field.is_empty()) {
        return Err(EditError::NoColumn((*column).to_owned()));
    }
    let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let ended = text.ends_with('\n');
    let gap = if ended { "" } else { line_end };
    Ok(format!("{text}{gap}{}{line_end}", row.join(",")))
}

fn remove_row(file: &str, text: &str, id: &str) -> Result<String, EditError> {
    let records = records(file, text)?;
    let row = records
        .split_first()
        .and_then(|(header, rows)| row_of(header, rows, id))
        .ok_or_else(|| EditError::Unknown(id.to_owned()))?;
    let mut text = text.to_owned();
    text.replace_range(row.span.clone(), "");
    Ok(text)
}

fn records<'t>(file: &'t str, text: &'t str) -> Result<Vec<csv::Record<'t>>, EditError> {
    let sheet = Sheet::new(file, text);
    let records = csv::records(&sheet);
    match sheet.finish(Some(records)) {
        Ok((records, _)) => Ok(records),
        Err(problems) => Err(EditError::Unreadable(problems.to_string())),
    }
}

fn row_of<'r, 't>(
    header: &csv::Record<'t>,
    rows: &'r [csv::Record<'t>],
    id: &str,
) -> Option<&'r csv::Record<'t>> {
    let column = header.cells.iter().position(|c| c.text.trim() == "id")?;
    let has = |row: &&csv::Record<'t>| row.cells.get(column).is_some_and(|c| c.text.trim() == id);
    rows.iter().find(has)
}

/// The columns of a target, blank ones too.
fn fields(target: &Target) -> Vec<(&'static str, Cow<'_, str>)> {
    let text = |text: &'_ Option<String>| Cow::Owned(text.clone().unwrap_or_default());
    let check = target.terms.as_ref();
    let every = target.every.map(show_every).unwrap_or_default();
    // A name that repeats the id needs no column.
    let name = if target.name == target.id {
        ""
    } else {
        &target.name
    };
    vec![
        ("id", target.id.as_str().into()),
        ("name", name.into()),
        ("urls", target.urls.join(" ").into()),
        ("category", text(&target.category)),
        ("provider", text(&target.provider)),
        ("every", every.into()),
        ("terms_url", check.map_or("", |c| &c.url).into()),
        (
            "terms_checked_by",
            check.map_or("", |c| &c.checked_by).into(),
        ),
        (
            "terms_checked_on",
            check.map_or("", |c| &c.checked_on).into(),
        ),
        (
            "terms_verdict",
            check.map_or("", |c| word(c.verdict)).into(),
        ),
        ("include", target.include.join(", ").into()),
        ("ignore", target.ignore.join(", ").into()),
        ("notes", text(&target.notes)),
    ]
}
