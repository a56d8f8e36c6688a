//! What is wrong with a file that a person wrote, all at once: where, what, and the way out.
//!
//! Shared by the charter, the ledger and the house file. [`Sheet`] collects while a file is read;
//! [`Problems`] is what leaves, and can be shown without any terminal library.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::ops::Range;

use serde::Serialize;
use unicode_width::UnicodeWidthChar;

use super::{Bilingual, Lang};

/// How much a problem weighs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The file is refused.
    Error,
    /// The file holds, but something in it will not do what its writer may expect.
    Warning,
}

/// One thing wrong in one place of one file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Problem {
    /// How much it weighs.
    pub severity: Severity,
    /// The file, as its reader was told.
    pub file: String,
    /// Bytes of the file's text; empty where something is missing altogether.
    pub span: Range<usize>,
    /// Line of the span's start, from 1.
    pub line: usize,
    /// Column of the span's start in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub what: Bilingual,
    /// What to do about it.
    pub remedy: Bilingual,
}

/// Everything that is wrong with one file, in the order of its text.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Problems {
    /// The problems.
    pub list: Vec<Problem>,
}

/// Most errors, and most warnings, that are kept of one file.
pub const RECORDED_MAX: usize = 10_000;

/// Most problems that [`Problems::render`] shows; more are only counted.
pub const SHOWN_MAX: usize = 100;

impl Problems {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Problems for which the file is refused.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.list.iter().filter(|p| p.severity == Severity::Error)
    }

    /// A report for people: each problem with its line, a caret under the place (aligned by
    /// display width, so full-width characters too), and the remedy. `text` is the text that was
    /// read.
    #[must_use]
    pub fn render(&self, text: &str, lang: Lang) -> String {
        let mut out = String::new();
        for problem in self.list.iter().take(SHOWN_MAX) {
            problem.render(text, lang, &mut out);
            out.push('\n');
        }
        let (shown, all) = (self.list.len().min(SHOWN_MAX), self.list.len());
        if shown < all {
            out += &match lang {
                Lang::Ja => format!("ほかに {} 件あります。\n\n", all - shown),
                Lang::En => format!("… and {} more.\n\n", all - shown),
            };
        }
        out += &self.summary(lang);
        out.push('\n');
        out
    }

    fn summary(&self, lang: Lang) -> String {
        let errors = self.errors().count();
        let warnings = self.list.len() - errors;
        match lang {
            Lang::Ja => format!("誤り {errors} 件、注意 {warnings} 件"),
            Lang::En => {
                let s = |n: usize| if n == 1 { "" } else { "s" };
                format!(
                    "{errors} error{}, {warnings} warning{}",
                    s(errors),
                    s(warnings)
                )
            }
        }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary(Lang::En))?;
        for p in self.list.iter().take(SHOWN_MAX) {
            write!(f, "\n{}:{}:{}: {}", p.file, p.line, p.column, p.what.en)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Widest excerpt of a line, in terminal cells.
const EXCERPT_MAX: usize = 96;

impl Problem {
    fn render(&self, text: &str, lang: Lang, out: &mut String) {
        let (kind, remedy) = match (lang, self.severity) {
            (Lang::Ja, Severity::Error) => ("誤り", "対処"),
            (Lang::Ja, Severity::Warning) => ("注意", "対処"),
            (Lang::En, Severity::Error) => ("error", "remedy"),
            (Lang::En, Severity::Warning) => ("warning", "remedy"),
        };
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let (file, line, column) = (&self.file, self.line, self.column);
        let _ = writeln!(out, "{kind}: {}", self.what.get(lang));
        let _ = writeln!(out, "{gutter}--> {file}:{line}:{column}");
        if let Some(excerpt) = Excerpt::of(text, &self.span) {
            let (blank, mark) = (" ".repeat(excerpt.before), "^".repeat(excerpt.under));
            let _ = writeln!(out, "{gutter} |");
            let _ = writeln!(out, "{number} | {}", excerpt.shown);
            let _ = writeln!(out, "{gutter} | {blank}{mark}");
        }
        let _ = writeln!(out, "{gutter} = {remedy}: {}", self.remedy.get(lang));
    }
}

/// A line as shown, with the cells before and under the caret.
struct Excerpt {
    shown: String,
    before: usize,
    under: usize,
}

impl Excerpt {
    fn of(text: &str, span: &Range<usize>) -> Option<Self> {
        if span.is_empty() && span.start == 0 {
            return None;
        }
        let start = text.get(..span.start)?.rfind('\n').map_or(0, |at| at + 1);
        let line = text.get(start..)?.lines().next().unwrap_or_default();
        let (from, to) = (span.start - start, span.end - start);
        let mut excerpt = Self {
            shown: String::new(),
            before: 0,
            under: 0,
        };
        // A line too long to show is cut on the left so far that the caret stays in view.
        let cells = |end: usize| -> usize {
            let before = line.char_indices().take_while(|(at, _)| *at < end);
            before.map(|(_, c)| cell(c).1).sum()
        };
        let skip = match cells(line.len()) {
            whole if whole <= EXCERPT_MAX => 0,
            _ => cells(from).saturating_sub(EXCERPT_MAX / 2),
        };
        let (mut passed, mut shown) = (0, 0);
        for (at, c) in line.char_indices() {
            let (glyph, width) = cell(c);
            passed += width;
            if passed <= skip {
                continue;
            }
            if shown + width > EXCERPT_MAX {
                excerpt.shown.push('…');
                break;
            }
            shown += width;
            excerpt.shown.push(glyph);
            if at < from {
                excerpt.before += width;
            } else if at < to {
                excerpt.under += width;
            }
        }
        if skip > 0 {
            excerpt.shown.insert(0, '…');
            excerpt.before += 1;
        }
        excerpt.under = excerpt.under.max(1);
        Some(excerpt)
    }
}

/// The character as shown, and its cells. What would move the cursor or colour the terminal is
/// shown as a stand-in.
fn cell(c: char) -> (char, usize) {
    match c {
        '\t' => (' ', 1),
        c => match c.width() {
            Some(width) if !is_bidi_control(c) => (c, width),
            _ => ('\u{fffd}', 1),
        },
    }
}

fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One text in both languages.
pub(crate) fn say(ja: impl Into<String>, en: impl Into<String>) -> Bilingual {
    Bilingual {
        ja: ja.into(),
        en: en.into(),
    }
}

/// Longest sentence, in characters: it may quote the file.
const SENTENCE_MAX: usize = 400;

/// The sentences without what a file could put into them to disturb a terminal.
fn plain(text: Bilingual) -> Bilingual {
    let plain = |text: String| -> String {
        let mut plain: String = text.chars().take(SENTENCE_MAX).map(|c| cell(c).0).collect();
        if text.chars().nth(SENTENCE_MAX).is_some() {
            plain.push('…');
        }
        plain
    };
    Bilingual {
        ja: plain(text.ja),
        en: plain(text.en),
    }
}

/// A file being read: its text, and what was found wrong so far.
pub(crate) struct Sheet<'t> {
    file: &'t str,
    /// The text.
    pub(crate) text: &'t str,
    line_starts: Vec<usize>,
    errors: RefCell<Vec<Problem>>,
    warnings: RefCell<Vec<Problem>>,
    /// Lines that could not be parsed; what else is said about them would be guesswork.
    unparsed: RefCell<BTreeSet<usize>>,
    /// Where the text that could be told apart ends.
    readable: Cell<usize>,
}

impl<'t> Sheet<'t> {
    pub(crate) fn new(file: &'t str, text: &'t str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            file,
            text,
            line_starts: std::iter::once(0).chain(after_breaks).collect(),
            errors: RefCell::default(),
            warnings: RefCell::default(),
            unparsed: RefCell::default(),
            readable: Cell::new(usize::MAX),
        }
    }

    /// Records an error.
    pub(crate) fn error(&self, span: Range<usize>, what: Bilingual, remedy: Bilingual) {
        if span.start <= self.readable.get()
            && !self.unparsed.borrow().contains(&self.line(span.start))
        {
            self.record(Severity::Error, span, what, remedy);
        }
    }

    /// Records a warning.
    pub(crate) fn warn(&self, span: Range<usize>, what: Bilingual, remedy: Bilingual) {
        self.record(Severity::Warning, span, what, remedy);
    }

    /// Records that a line could not be parsed. From now on nothing else is said about it, nor
    /// about things that seem to be missing.
    pub(crate) fn syntax_error(&self, span: Range<usize>, what: Bilingual, remedy: Bilingual) {
        self.error(span.clone(), what, remedy);
        self.unparsed.borrow_mut().insert(self.line(span.start));
    }

    /// From here on the text was read as something that it is not: nothing is said about it.
    pub(crate) fn give_up_after(&self, at: usize) {
        self.readable.set(at);
    }

    /// Whether every line could be parsed.
    pub(crate) fn is_parsed(&self) -> bool {
        self.unparsed.borrow().is_empty()
    }

    /// Line of a byte offset, from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.line_starts.partition_point(|start| *start <= at)
    }

    fn record(&self, severity: Severity, span: Range<usize>, what: Bilingual, remedy: Bilingual) {
        let mut found = match severity {
            Severity::Error => self.errors.borrow_mut(),
            Severity::Warning => self.warnings.borrow_mut(),
        };
        if found.len() >= RECORDED_MAX {
            return;
        }
        let start = floor_boundary(self.text, span.start);
        let end = floor_boundary(self.text, span.end).max(start);
        let line = self.line(start);
        let line_start = self.line_starts.get(line - 1).copied().unwrap_or_default();
        let before = self.text.get(line_start..start).unwrap_or_default();
        found.push(Problem {
            severity,
            file: self.file.to_owned(),
            span: start..end,
            line,
            column: before.chars().count() + 1,
            what: plain(what),
            remedy: plain(remedy),
        });
    }

    /// The value with its warnings, if it was read without an error; else all problems.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<(T, Problems), Problems> {
        let mut list = self.errors.into_inner();
        let refused = !list.is_empty();
        list.append(&mut self.warnings.into_inner());
        list.sort_by_key(|p| (p.span.start, p.severity));
        let problems = Problems { list };
        match value {
            Some(value) if !refused => Ok((value, problems)),
            _ => Err(problems),
        }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The text of a file that must be UTF-8 (a byte order mark is left out).
///
/// # Errors
/// One problem at the first byte that is not UTF-8, with what the file may be instead.
pub fn decode<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, Problems> {
    let utf8 = match std::str::from_utf8(bytes) {
        Ok(text) => return Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => error.valid_up_to(),
    };
    let before = bytes.get(..utf8).unwrap_or_default();
    let last_line = before.rsplit(|b| *b == b'\n').next().unwrap_or_default();
    let guess = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16",
        _ => "Shift_JIS (CP932)",
    };
    let problem = Problem {
        severity: Severity::Error,
        file: file.to_owned(),
        span: utf8..utf8,
        line: before.iter().filter(|b| **b == b'\n').count() + 1,
        column: String::from_utf8_lossy(last_line).chars().count() + 1,
        what: say(
            format!("UTF-8 ではありません。{guess} かもしれません。"),
            format!("not UTF-8; it may be {guess}"),
        ),
        remedy: say(
            "UTF-8 で保存し直してください（Excel では「CSV UTF-8（コンマ区切り）」）。",
            "save it again as UTF-8 (in Excel: “CSV UTF-8 (comma delimited)”)",
        ),
    };
    Err(Problems {
        list: vec![problem],
    })
}
