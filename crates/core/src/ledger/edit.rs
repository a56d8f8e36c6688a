//! Changes to a TOML ledger's text that keep its comments, order and spacing.
//!
//! Text in, text out. The caller reads the result with [`super::Ledger::parse`] before it puts
//! the file in place: an edit is checked like any other version.

use thiserror::Error;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::{Target, TermsVerdict};
use crate::charter::unit::show_every;

/// Why a ledger's text was not changed.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EditError {
    /// The text is no TOML; [`super::Ledger::parse`] says why in detail.
    #[error("the ledger is not valid TOML: {0}")]
    NotToml(String),
    /// `target` is there, but not as `[[target]]` tables.
    #[error("the ledger's targets are not written as [[target]] tables")]
    OtherShape,
    /// A target to add is there already.
    #[error("the ledger already has a target `{0}`")]
    Exists(String),
    /// A target to remove is not there.
    #[error("the ledger has no target `{0}`")]
    Unknown(String),
}

/// The text with `target` added at its end.
///
/// # Errors
/// See [`EditError`]; nothing is changed then.
pub fn add(text: &str, target: &Target) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let targets = targets(&mut document)?;
    if position(targets, &target.id).is_some() {
        return Err(EditError::Exists(target.id.clone()));
    }
    let mut table = table(target);
    // What stands at the end of the text stays above what is added to it.
    let before = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    let gap = if text.trim().is_empty() { "" } else { "\n" };
    table.decor_mut().set_prefix(before + gap);
    self::targets(&mut document)?.push(table);
    Ok(document.to_string())
}

/// The text without the target `id` and the comment right above it.
///
/// # Errors
/// See [`EditError`]; nothing is changed then.
pub fn remove(text: &str, id: &str) -> Result<String, EditError> {
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
        .map_err(|error: toml_edit::TomlError| EditError::NotToml(error.message().to_owned()))
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
        let verdict = match check.verdict {
            TermsVerdict::Allowed => "allowed",
            TermsVerdict::Refused => "refused",
            TermsVerdict::Unclear => "unclear",
        };
        terms.insert("verdict", value(verdict));
        table.insert("terms", Item::Table(terms));
    }
    table
}

fn strings(list: &[String]) -> Item {
    let mut array = toml_edit::Array::new();
    array.extend(list.iter().map(String::as_str));
    value(array)
}
