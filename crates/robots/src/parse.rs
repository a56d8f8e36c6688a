//! From octets to [`Rules`], in one pass.
//!
//! The only state between lines is whether the list of `User-agent` lines is still open: a rule
//! closes it, any other record does not (RFC 9309 section 2.2.4). `Crawl-delay`, which the RFC does
//! not know, keeps a list of its own, the *run*, which a delay closes as well.

use crate::Content;
use crate::delay::Delay;
use crate::line::{Field, LINE_LIMIT, Line, Lines, read};
use crate::note::{self, Oddity};
use crate::pattern::{Pattern, size};
use crate::rules::{AgentLine, DelayLine, NO_GROUP, RecordLine, Rule, Rules, Span};

/// Records with an unknown name that are kept; later ones are only noted.
pub const RECORDS_KEPT: usize = 1_000;

/// Bodies are never read past this, so that every offset fits 32 bits.
const CEILING: usize = 1 << 30;

pub(crate) fn parse(body: &[u8], limit: usize) -> Rules {
    let mut parser = Parser::default();
    let text = parser.without_mark(body);
    parser.rules.content = if is_markup(text) {
        Content::Markup
    } else {
        Content::Blank
    };
    if parser.rules.content == Content::Markup {
        parser.note(Oddity::Markup, 1);
    }
    let (text, cut) = cut_at(text, limit.min(CEILING));
    parser.reserve(text.len());
    let has_nul = text.contains(&0);
    for line in Lines::of(text) {
        parser.number = parser.number.saturating_add(1);
        parser.line(line, has_nul);
    }
    if cut {
        parser.note(Oddity::BodyCut, parser.number);
    }
    parser.finish()
}

/// The whole lines within the first `limit` octets, and whether anything was left out.
fn cut_at(text: &[u8], limit: usize) -> (&[u8], bool) {
    let Some((kept, rest)) = text
        .split_at_checked(limit)
        .filter(|(_, rest)| !rest.is_empty())
    else {
        return (text, false);
    };
    let eol = |b: &u8| matches!(b, b'\n' | b'\r');
    if rest.first().is_some_and(eol) {
        return (kept, true);
    }
    let end = kept.iter().rposition(eol).map_or(0, |at| at + 1);
    (kept.get(..end).unwrap_or_default(), true)
}

/// Whether a body begins as HTML or XML does.
fn is_markup(text: &[u8]) -> bool {
    match text.trim_ascii_start() {
        [b'<', b'!' | b'?', ..] => true,
        [b'<', letter, ..] => letter.is_ascii_alphabetic(),
        _ => false,
    }
}

#[derive(Default)]
struct Parser {
    rules: Rules,
    /// Canonical patterns; pure ASCII.
    patterns: Vec<u8>,
    number: u32,
    /// A `User-agent` line now would join the group.
    group_open: bool,
    /// A `User-agent` line now would join the run.
    run_open: bool,
    run: u32,
    /// Line of a delay read while the group was open.
    delay_in_list: Option<u32>,
    unknown: usize,
}

impl Parser {
    /// Room for what a body of this length mostly holds, so that few tables grow step by step.
    fn reserve(&mut self, len: usize) {
        self.patterns.reserve((len / 2).min(16 * 1024));
        self.rules.words.reserve((len / 4).min(4 * 1024));
        self.rules.rules.reserve((len / 32).min(512));
    }

    fn note(&mut self, oddity: Oddity, line: u32) {
        note::push(&mut self.rules.notes, oddity, line);
    }

    /// Skips a byte order mark, or as much of one as there is (as Google's parser does).
    fn without_mark<'a>(&mut self, body: &'a [u8]) -> &'a [u8] {
        let (rest, oddity) = match body {
            [0xEF, 0xBB, 0xBF, rest @ ..] => (rest, Oddity::ByteOrderMark),
            [0xEF, 0xBB, rest @ ..] | [0xEF, rest @ ..] => (rest, Oddity::PartialByteOrderMark),
            [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..] => (body, Oddity::Utf16),
            _ => return body,
        };
        self.note(oddity, 1);
        rest
    }

    #[inline]
    fn line(&mut self, line: &[u8], has_nul: bool) {
        let mut line = line;
        if let Some((start, _)) = line.split_at_checked(LINE_LIMIT)
            && start.len() < line.len()
        {
            self.note(Oddity::LineCut, self.number);
            line = start;
        }
        if has_nul && let Some(at) = line.iter().position(|&b| b == 0) {
            self.note(Oddity::Nul, self.number);
            line = line.get(..at).unwrap_or_default();
        }
        if let Some(record) = read(line) {
            self.record(&record);
        } else if self.rules.content == Content::Blank && !is_blank(line) {
            self.rules.content = Content::Other;
        }
    }

    #[inline]
    fn record(&mut self, line: &Line<'_>) {
        if let Some(oddity) = line.odd {
            self.note(oddity, self.number);
        }
        match line.field {
            Field::UserAgent => self.user_agent(line.value),
            Field::Allow => self.rule(true, line.value),
            Field::Disallow => self.rule(false, line.value),
            Field::CrawlDelay => self.crawl_delay(line.value),
            Field::Other => return self.unknown(line),
            _ => self.keep(line),
        }
        if self.rules.content != Content::Markup || line.field == Field::UserAgent {
            self.rules.content = Content::Robots;
        }
    }

    fn user_agent(&mut self, value: &[u8]) {
        if !self.group_open {
            self.rules.groups.push(size(self.rules.rules.len()));
            self.group_open = true;
        } else if let Some(line) = self.delay_in_list.take() {
            self.note(Oddity::DelayBetweenAgents, line);
        }
        if !self.run_open {
            self.run += 1;
            self.run_open = true;
        }
        let span = self.rules.keep_words(value);
        let agent = AgentLine::new(value, span, self.group(), self.run);
        match agent.cut {
            _ if agent.star => {}
            0 => self.note(Oddity::AgentEmpty, self.number),
            n if (n as usize) < value.len() => self.note(Oddity::AgentCut, self.number),
            _ => {}
        }
        self.rules.agents.push(agent);
    }

    /// The group read last; [`NO_GROUP`] before the first.
    fn group(&self) -> u32 {
        size(self.rules.groups.len())
            .checked_sub(1)
            .unwrap_or(NO_GROUP)
    }

    fn rule(&mut self, allow: bool, value: &[u8]) {
        if self.rules.groups.is_empty() {
            return self.note(Oddity::RuleOutsideGroup, self.number);
        }
        self.group_open = false;
        self.run_open = false;
        self.delay_in_list = None;
        if !matches!(value.first(), Some(b'/' | b'*') | None) {
            self.note(Oddity::RuleWithoutSlash, self.number);
        }
        if value.is_empty() {
            return;
        }
        self.push_rule(allow, value);
        if allow && let Some(directory) = directory_of_index(value) {
            self.note(Oddity::IndexPage, self.number);
            self.push_rule(true, &[directory, b"$"].concat());
        }
    }

    fn push_rule(&mut self, allow: bool, value: &[u8]) {
        let pattern = Pattern::compile(value, &mut self.patterns);
        self.rules.rules.push(Rule {
            pattern,
            line: self.number,
            allow,
        });
    }

    fn crawl_delay(&mut self, value: &[u8]) {
        if self.rules.groups.is_empty() {
            return self.note(Oddity::DelayOutsideGroup, self.number);
        }
        self.run_open = false;
        if self.group_open {
            self.delay_in_list = Some(self.number);
        }
        let delay = Delay::read(value, self.number);
        if delay.is_none() {
            self.note(Oddity::UnclearDelay, self.number);
        }
        let value = self.rules.keep_words(value);
        let (group, run, line) = (self.group(), self.run, self.number);
        self.rules.delays.push(DelayLine {
            group,
            run,
            line,
            value,
            delay,
        });
    }

    fn unknown(&mut self, line: &Line<'_>) {
        if self.rules.content == Content::Blank {
            self.rules.content = Content::Other;
        }
        let named = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b' ' | b'.');
        if !line.name.iter().all(named) {
            return;
        }
        match self.unknown {
            n if n < RECORDS_KEPT => self.keep(line),
            RECORDS_KEPT => self.note(Oddity::RecordsDropped, self.number),
            _ => {}
        }
        self.unknown += 1;
    }

    /// Keeps a record that is neither rule nor delay, with the path that it may begin with.
    fn keep(&mut self, line: &Line<'_>) {
        if line.value.is_empty() {
            return;
        }
        let mut value = line.value;
        let mut path = None;
        let scoped = matches!(line.field, Field::ContentSignal | Field::ContentUsage);
        if scoped && matches!(value.first(), Some(b'/' | b'*')) {
            let end = value
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap_or(value.len());
            let (start, rest) = value.split_at_checked(end).unwrap_or_default();
            path = Some(Pattern::compile(start, &mut self.patterns));
            value = rest.trim_ascii_start();
        }
        let (name, value) = (
            self.rules.keep_words(line.name),
            self.rules.keep_words(value),
        );
        let (group, field, line) = (self.group(), line.field, self.number);
        self.rules.records.push(RecordLine {
            field,
            name,
            value,
            path,
            group,
            line,
        });
    }

    fn finish(self) -> Rules {
        let mut rules = self.rules;
        rules.patterns = String::from_utf8(self.patterns).unwrap_or_default();
        rules.lines = self.number;
        rules.shrink();
        rules
    }
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line.trim_ascii_start(), [] | [b'#', ..])
}

/// `/dir/` of an `Allow: /dir/index.html`, which Google's matcher takes to cover `/dir/` as well.
fn directory_of_index(value: &[u8]) -> Option<&[u8]> {
    let (directory, page) = value.split_at_checked(value.iter().rposition(|&b| b == b'/')? + 1)?;
    page.starts_with(b"index.htm").then_some(directory)
}

impl Rules {
    /// Appends text as UTF-8, with U+FFFD for what is not.
    fn keep_words(&mut self, text: &[u8]) -> Span {
        let start = size(self.words.len());
        match std::str::from_utf8(text) {
            Ok(text) => self.words.push_str(text),
            Err(_) => self.words.push_str(&String::from_utf8_lossy(text)),
        }
        Span {
            start,
            end: size(self.words.len()),
        }
    }
}
