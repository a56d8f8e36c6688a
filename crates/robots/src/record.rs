//! Records beyond RFC 9309: kept as data, with what they say about the use of content.

use crate::line::Field;
use crate::rules::{NO_GROUP, RecordLine, Rules};

/// A record that is neither a rule nor a delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'r> {
    /// Which record.
    pub field: Field,
    /// Its name as written.
    pub name: &'r str,
    /// The path pattern in front of the value, canonical; only `Content-Signal` and
    /// `Content-Usage` have one.
    pub path: Option<&'r str>,
    /// Its value without comment and path.
    pub value: &'r str,
    /// Ordinal of the group it stands in, from 0; `None` before the first `User-agent` line.
    pub group: Option<u32>,
    /// Line in the body, from 1.
    pub line: u32,
}

impl<'r> Record<'r> {
    pub(crate) fn new(rules: &'r Rules, line: &RecordLine) -> Record<'r> {
        Record {
            field: line.field,
            name: rules.word(line.name),
            path: line.path.map(|p| p.text(&rules.patterns)),
            value: rules.word(line.value),
            group: (line.group != NO_GROUP).then_some(line.group),
            line: line.line,
        }
    }

    /// The value read as usage preferences (`key=value, …`).
    pub fn preferences(&self) -> Preferences<'r> {
        Preferences {
            path: self.path,
            text: self.value,
            line: self.line,
        }
    }
}

/// Preferences about the use of content: `search=yes, ai-train=no` (Content-Signal) or
/// `train-ai=n` (Content-Usage). They never change whether a URL may be fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preferences<'r> {
    /// The path pattern they are limited to, canonical.
    pub path: Option<&'r str>,
    /// The preferences as written.
    pub text: &'r str,
    /// Line in the body, from 1.
    pub line: u32,
}

impl<'r> Preferences<'r> {
    pub(crate) fn new(rules: &'r Rules, line: &RecordLine) -> Preferences<'r> {
        Record::new(rules, line).preferences()
    }

    /// Keys and values in order; parts without `=` are left out. Commas and semicolons separate.
    pub fn entries(&self) -> impl Iterator<Item = (&'r str, &'r str)> + use<'r> {
        let parts = self
            .text
            .split([',', ';'])
            .filter_map(|part| part.split_once('='));
        parts
            .map(|(key, value)| (key.trim(), value.trim()))
            .filter(|(key, _)| !key.is_empty())
    }

    /// The last value given for `key`, such as `reference` for `use`; keys compare without case.
    pub fn get(&self, key: &str) -> Option<&'r str> {
        self.entries()
            .filter(|(k, _)| k.eq_ignore_ascii_case(key))
            .last()
            .map(|(_, value)| value)
    }

    /// Yes (`y`, `yes`) or no (`n`, `no`) for `key`; `None` where nothing readable is stated, and
    /// no where both are.
    pub fn says(&self, key: &str) -> Option<bool> {
        let values = self.entries().filter(|(k, _)| k.eq_ignore_ascii_case(key));
        let answers = values.filter_map(|(_, value)| match value.to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(true),
            "n" | "no" => Some(false),
            _ => None,
        });
        answers.min()
    }
}
