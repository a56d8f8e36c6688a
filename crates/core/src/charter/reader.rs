//! A TOML document read key by key, with the place of everything.
//!
//! Serde stops at the first error; a person who writes a charter wants all of them. So each file
//! asks its tables for keys by name. What it never asked for is an unknown key, what it could not
//! use is a problem at that value, and reading goes on.

use std::cell::RefCell;
use std::ops::Range;

use serde_spanned::Spanned;
use toml::de::DeTable;

use super::Bilingual;
use super::problem::{Sheet, say};
pub(crate) use super::value::{Value, date, every, is_slug};

/// Parses the sheet's text; syntax errors are recorded, and what could be read is returned.
pub(crate) fn parse<'t>(sheet: &Sheet<'t>) -> Spanned<DeTable<'t>> {
    let (document, mut errors) = DeTable::parse_recoverable(sheet.text);
    let end = sheet.text.len();
    errors.sort_by_key(|error| error.span().map_or(end, |span| span.start));
    for error in errors {
        let span = error.span().unwrap_or(end..end);
        let message = error.message();
        let remedy = syntax_remedy(message, sheet.text.get(span.clone()).unwrap_or_default());
        let what = say(
            format!("TOML として読めません（{message}）。"),
            format!("not TOML: {message}"),
        );
        sheet.syntax_error(span.clone(), what, remedy);
        // An array or inline table that is not closed swallows what follows: whatever would be
        // said about that is no problem of its own.
        if ["array", "inline table", "key-value pairs"]
            .iter()
            .any(|w| message.contains(w))
        {
            sheet.give_up_after(span.start);
            break;
        }
    }
    document
}

fn syntax_remedy(message: &str, found: &str) -> Bilingual {
    // What a word processor makes of "…".
    let quotes = ['”', '“', '„', '＂', '「', '」', '\''];
    let found = found.trim_matches(quotes);
    let has = |words: &str| message.contains(words);
    if has("must be quoted") && !found.is_empty() && !found.contains(['"', '\n']) {
        return say(
            format!("`\"{found}\"` と囲んでください。"),
            format!("write `\"{found}\"`"),
        );
    }
    let (ja, en) = match message {
        _ if has("duplicate key") => ("同じキーは一度だけにしてください。", "name each key once"),
        _ if has("must be quoted")
            || has("unquoted key")
            || has("no value")
            || has("missing value") =>
        {
            (
                "`キー = 値` の形で書いてください。",
                "write it as `key = value`",
            )
        }
        _ if has("unclosed table") || has("unclosed array table") => (
            "見出しを ] で閉じてください（[[…]] は ]] で）。",
            "close the header with ] (or ]])",
        ),
        _ if has("array") => (
            "要素をコンマで区切り、配列を ] で閉じてください。",
            "put commas between the elements, and close the array with ]",
        ),
        _ if has("inline table") || has("key-value pairs") => (
            "`{ キー = 値, キー = 値 }` の形で書き、} で閉じてください。",
            "write it as `{ key = value, key = value }`, and close it with }",
        ),
        _ if has("string") => ("文字列を \" で閉じてください。", "close the string with \""),
        _ => (
            "文字列と単位つきの値は \"…\" で囲み、表は [名前] と書きます。",
            "put strings and values with a unit in \"…\", write tables as [name]",
        ),
    };
    say(ja, en)
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
        Self::new(sheet, String::new(), 0..0, document.get_ref())
    }

    pub(super) fn new(
        sheet: &'s Sheet<'t>,
        path: String,
        span: Range<usize>,
        inner: &'s DeTable<'t>,
    ) -> Self {
        Self {
            sheet,
            path,
            span,
            inner,
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
        let value = self.inner.get(key)?;
        Some(Value::new(self.sheet, self.path_of(key), value))
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
        self.inner
            .iter()
            .map(|(key, value)| {
                let key = key.get_ref();
                read(key, &Value::new(self.sheet, self.path_of(key), value))
            })
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

    /// Records that `key` is not there, where everything else could be parsed. `line` is what to
    /// write.
    pub(crate) fn missing(&self, key: &str, line: &str) {
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
