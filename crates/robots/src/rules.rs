//! The parsed rules: flat tables, and the search for the lines that name a crawler.

use crate::agent::{Agent, Hit};
use crate::delay::Delay;
use crate::line::Field;
use crate::note::Note;
use crate::parse::parse;
use crate::pattern::{Pattern, size};
use crate::record::Record;
use crate::verdict::{Group, Reading, Verdict};

/// Octets that RFC 9309 section 2.5 wants every crawler to read at least: 500 KiB.
pub const LIMIT_MIN: usize = 500 * 1024;

/// What a body turned out to be. A body without rules allows everything, but a page of HTML served
/// as robots.txt says less about its site's wishes than an empty file does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// At least one record that a robots.txt is known to hold.
    Robots,
    /// Nothing but blank lines and comments.
    #[default]
    Blank,
    /// An HTML or XML page without any group: not a robots file.
    Markup,
    /// Text without any known record: not a robots file.
    Other,
}

/// A robots.txt body, parsed once, to be asked many times.
///
/// Owns all it keeps, in a few flat tables; a question neither parses nor copies anything again.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    pub(crate) patterns: String,
    pub(crate) words: String,
    /// All rules in file order; a group's rules stand together.
    pub(crate) rules: Vec<Rule>,
    /// Where each group's rules begin.
    pub(crate) groups: Vec<u32>,
    pub(crate) agents: Vec<AgentLine>,
    pub(crate) delays: Vec<DelayLine>,
    pub(crate) records: Vec<RecordLine>,
    pub(crate) notes: Vec<Note>,
    pub(crate) content: Content,
    pub(crate) lines: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub(crate) pattern: Pattern,
    pub(crate) line: u32,
    pub(crate) allow: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayLine {
    pub(crate) group: u32,
    pub(crate) run: u32,
    pub(crate) line: u32,
    pub(crate) value: Span,
    pub(crate) delay: Option<Delay>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct RecordLine {
    pub(crate) field: Field,
    pub(crate) name: Span,
    pub(crate) value: Span,
    pub(crate) path: Option<Pattern>,
    pub(crate) group: u32,
    pub(crate) line: u32,
}

/// The group of a record that stands before any `User-agent` line.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// Part of `Rules::words`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// One `User-agent` line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgentLine {
    /// Length and ends of the product token: most comparisons stop here.
    key: u32,
    /// Length of the product token at the start of the value.
    pub(crate) cut: u32,
    value: Span,
    group: u32,
    run: u32,
    pub(crate) star: bool,
}

impl AgentLine {
    pub(crate) fn new(value: &[u8], span: Span, group: u32, run: u32) -> AgentLine {
        let token = product_token(value);
        let star = match value {
            [b'*'] => true,
            [b'*', next, ..] => next.is_ascii_whitespace() || *next == 0x0B,
            _ => false,
        };
        AgentLine {
            key: key(token),
            cut: size(token.len()),
            value: span,
            group,
            run,
            star,
        }
    }
}

/// The characters of RFC 9309 product tokens that `value` begins with.
fn product_token(value: &[u8]) -> &[u8] {
    let other = |b: &u8| !(b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'));
    value
        .iter()
        .position(other)
        .and_then(|at| value.get(..at))
        .unwrap_or(value)
}

fn key(token: &[u8]) -> u32 {
    let end = |b: Option<&u8>| u32::from(b.copied().unwrap_or_default() | 0x20);
    size(token.len()) << 16 | end(token.first()) << 8 | end(token.last())
}

impl Rules {
    /// Parses a whole body. Never fails: what is no record is skipped, and oddities are
    /// [noted](Rules::notes). Takes time and memory linear in the body.
    pub fn parse(body: &[u8]) -> Rules {
        parse(body, usize::MAX)
    }

    /// Parses whole lines within the first `limit` octets (after a byte order mark).
    ///
    /// RFC 9309 section 2.5 asks for no limit under [`LIMIT_MIN`]; a smaller one is raised to it.
    /// A line that the limit would cut is left out, since half a rule is another rule.
    pub fn parse_with(body: &[u8], limit: usize) -> Rules {
        parse(body, limit.max(LIMIT_MIN))
    }

    /// Whether `token` may fetch `url_or_path`, by which rule, in whose group.
    ///
    /// `url_or_path` is an absolute URL or a path with its query; see [`Agent::verdict`].
    pub fn verdict(&self, token: &str, url_or_path: &str) -> Verdict<'_> {
        self.for_agent(token).verdict(url_or_path)
    }

    /// Finds once what applies to a crawler, to ask about many URLs.
    ///
    /// `token` is the crawler's product token: groups whose `User-agent` line begins with exactly
    /// this token merge, ignoring case; without any, the groups of `*` do (RFC 9309 section 2.2.1).
    /// A name that is no product token (`MJ12bot`, `008`) is first looked for as it is documented,
    /// then by the token that it begins with (`MJ`); [`Agent::reading`] says how it was found. What
    /// follows a `/`, mostly a version, never counts.
    pub fn for_agent(&self, token: &str) -> Agent<'_> {
        let name = token.trim().as_bytes();
        let cut = product_token(name);
        let agent = |group, reading, hits| Agent {
            rules: self,
            group,
            reading,
            hits,
        };
        let documented = name.split(|&b| b == b'/').next().unwrap_or_default();
        if cut.len() < documented.len() {
            let hits = self.hits(|line| self.is_documented(line, documented));
            if !hits.is_empty() {
                return agent(Group::Own, Reading::Documented, hits);
            }
        }
        let reading = if cut.len() < name.len() {
            Reading::Cut
        } else {
            Reading::Token
        };
        let wanted = key(cut);
        let hits = self.hits(|line| {
            line.key == wanted && !cut.is_empty() && self.token(line).eq_ignore_ascii_case(cut)
        });
        if !hits.is_empty() {
            return agent(Group::Own, reading, hits);
        }
        let hits = self.hits(|line| line.star);
        let group = if hits.is_empty() {
            Group::None
        } else {
            Group::Star
        };
        agent(group, reading, hits)
    }

    fn hits(&self, named: impl Fn(&AgentLine) -> bool) -> Vec<Hit> {
        let lines = self.agents.iter().filter(|line| named(line));
        lines
            .map(|line| Hit {
                group: line.group,
                run: line.run,
            })
            .collect()
    }

    fn token(&self, line: &AgentLine) -> &[u8] {
        self.word(line.value)
            .as_bytes()
            .get(..line.cut as usize)
            .unwrap_or_default()
    }

    /// Whether a line begins with a documented name and no letter, digit, `-` or `_` follows.
    fn is_documented(&self, line: &AgentLine, name: &[u8]) -> bool {
        let Some((start, after)) = self
            .word(line.value)
            .as_bytes()
            .split_at_checked(name.len())
        else {
            return false;
        };
        let joins = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        start.eq_ignore_ascii_case(name) && !after.first().is_some_and(joins)
    }

    pub(crate) fn word(&self, span: Span) -> &str {
        self.words
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    pub(crate) fn group_rules(&self, group: u32) -> &[Rule] {
        let start = self.groups.get(group as usize).map_or(0, |&at| at as usize);
        let end = self
            .groups
            .get(group as usize + 1)
            .map_or(self.rules.len(), |&at| at as usize);
        self.rules.get(start..end).unwrap_or_default()
    }

    /// The delay for `token`; see [`Agent::crawl_delay`].
    pub fn crawl_delay(&self, token: &str) -> Option<Delay> {
        self.for_agent(token).crawl_delay()
    }

    /// The values of all `Sitemap` records in file order, as they stand; they belong to no group.
    /// Octets that are no UTF-8 are given as U+FFFD.
    pub fn sitemaps(&self) -> impl Iterator<Item = &str> {
        self.records()
            .filter(|r| r.field == Field::Sitemap)
            .map(|r| r.value)
    }

    /// The values of all `License` records (RSL 1.0); they belong to no group.
    pub fn licenses(&self) -> impl Iterator<Item = &str> {
        self.records()
            .filter(|r| r.field == Field::License)
            .map(|r| r.value)
    }

    /// Every record that is no `User-agent`, `Allow`, `Disallow` or `Crawl-delay`, in file order:
    /// all of known names, and up to [`RECORDS_KEPT`](crate::RECORDS_KEPT) of unknown ones. Records
    /// without a value are left out.
    pub fn records(&self) -> impl Iterator<Item = Record<'_>> {
        self.records.iter().map(|line| Record::new(self, line))
    }

    /// What was odd, in the order in which it was met.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// What the body turned out to be.
    pub fn content(&self) -> Content {
        self.content
    }

    /// Number of lines read; a body that ends with a line break counts one more, empty line.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// The values of all `User-agent` lines in file order, without comments.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|line| self.word(line.value))
    }

    pub(crate) fn shrink(&mut self) {
        const SPARE: usize = 1_024;
        if self.patterns.capacity() - self.patterns.len() > SPARE {
            self.patterns.shrink_to_fit();
        }
        if self.words.capacity() - self.words.len() > SPARE {
            self.words.shrink_to_fit();
        }
        if (self.rules.capacity() - self.rules.len()) * size_of::<Rule>() > SPARE {
            self.rules.shrink_to_fit();
        }
    }
}
