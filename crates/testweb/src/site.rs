//! What a host serves: its pages over site time.
//!
//! A [`Site`] is a name and its pages; a [`Page`] is a list of dated versions; a version is a
//! [`Source`] of answers. robots.txt is a page like any other, so that everything that can happen
//! to a page can happen to it. Site time is the calendar on which sites change; the caller moves it.

use crate::answer::Answer;
use crate::request::Request;
use jiff::{Timestamp, civil::Date, tz::offset};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Midnight in Japan (UTC+9) at the start of a day. An impossible date gives the Unix epoch.
#[must_use]
pub fn day(year: i16, month: i8, day: i8) -> Timestamp {
    Date::new(year, month, day)
        .and_then(|date| offset(9).to_timestamp(date.at(0, 0, 0, 0)))
        .unwrap_or(Timestamp::UNIX_EPOCH)
}

/// One request as a page sees it.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The host asked, in lower case.
    pub host: &'a str,
    /// The whole request.
    pub request: &'a Request,
    /// Site time of the request.
    pub now: Timestamp,
    /// How often this page was asked before, from 0.
    pub turn: u64,
}

impl Ask<'_> {
    /// The path asked, without query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.request.path()
    }
}

/// Makes an answer from a request.
pub type Maker = Arc<dyn Fn(&Ask<'_>) -> Answer + Send + Sync>;

/// Where a version's answers come from.
#[derive(Clone)]
pub enum Source {
    /// Always the same answer.
    Fixed(Answer),
    /// One answer after the other, by request; then again from the first.
    Rotating(Vec<Answer>),
    /// One answer after the other, by request; the last one stays.
    Sequence(Vec<Answer>),
    /// Made for each request.
    Made(Maker),
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Fixed(answer) => f.debug_tuple("Fixed").field(answer).finish(),
            Source::Rotating(answers) => f.debug_tuple("Rotating").field(answers).finish(),
            Source::Sequence(answers) => f.debug_tuple("Sequence").field(answers).finish(),
            Source::Made(_) => f.write_str("Made"),
        }
    }
}

impl From<Answer> for Source {
    fn from(answer: Answer) -> Source {
        Source::Fixed(answer)
    }
}

impl Source {
    /// Makes an answer for each request.
    pub fn made(make: impl Fn(&Ask<'_>) -> Answer + Send + Sync + 'static) -> Source {
        Source::Made(Arc::new(make))
    }

    fn answer(&self, ask: &Ask<'_>) -> Answer {
        let turn = usize::try_from(ask.turn).unwrap_or(usize::MAX);
        let chosen = match self {
            Source::Fixed(answer) => Some(answer),
            Source::Rotating(answers) => answers.get(turn.checked_rem(answers.len()).unwrap_or(0)),
            Source::Sequence(answers) => answers.get(turn).or(answers.last()),
            Source::Made(make) => return make(ask),
        };
        chosen.cloned().unwrap_or_else(|| Answer::status(404))
    }
}

/// A page: its versions, each from a moment of site time on.
#[derive(Debug)]
pub struct Page {
    versions: Vec<(Timestamp, Source)>,
    turns: AtomicU64,
}

impl<S: Into<Source>> From<S> for Page {
    fn from(source: S) -> Page {
        Page {
            versions: vec![(Timestamp::MIN, source.into())],
            turns: AtomicU64::new(0),
        }
    }
}

impl Page {
    /// A page that is this from the start.
    pub fn new(source: impl Into<Source>) -> Page {
        source.into().into()
    }

    /// From this moment on, the page is that.
    #[must_use]
    pub fn then(mut self, from: Timestamp, source: impl Into<Source>) -> Page {
        self.versions.push((from, source.into()));
        self.versions.sort_by_key(|(from, _)| *from);
        self
    }

    /// From one moment until another, the page is that, whatever it would say; then as before.
    /// What changed meanwhile is seen afterwards.
    #[must_use]
    pub fn between(self, from: Timestamp, until: Timestamp, source: impl Into<Source>) -> Page {
        let after = self.at(until).map(|(_, source)| source.clone());
        let mut page = self;
        page.versions
            .retain(|(start, _)| *start < from || *start >= until);
        page = page.then(from, source);
        match after {
            Some(after) if page.versions.iter().all(|(start, _)| *start != until) => {
                page.then(until, after)
            }
            _ => page,
        }
    }

    /// The version at a moment and since when it stands.
    fn at(&self, now: Timestamp) -> Option<&(Timestamp, Source)> {
        self.versions.iter().rev().find(|(from, _)| *from <= now)
    }

    fn answer(&self, mut ask: Ask<'_>) -> Found {
        ask.turn = self.turns.fetch_add(1, Ordering::Relaxed);
        match self.at(ask.now) {
            Some((since, source)) => Found {
                answer: source.answer(&ask),
                since: *since,
                turn: ask.turn,
            },
            None => Found {
                answer: Answer::status(404),
                since: Timestamp::MIN,
                turn: ask.turn,
            },
        }
    }
}

/// An answer chosen for a request.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) answer: Answer,
    /// When the version began: its `Last-Modified`.
    pub(crate) since: Timestamp,
    pub(crate) turn: u64,
}

/// How a host behaves before any request is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Door {
    /// Reads requests and answers them.
    #[default]
    Open,
    /// Nothing listens: connection refused.
    Refused,
    /// Accepts and closes at once.
    Closes,
    /// Accepts and resets at once.
    Resets,
    /// Accepts and never reads or writes.
    Mute,
    /// Speaks first, and not HTTP.
    Babbles,
}

/// A virtual host.
#[derive(Debug)]
pub struct Site {
    /// The host's name in lower case, or `*.suffix` for every host under a suffix.
    pub host: String,
    /// Pages by path (queries are ignored). `/robots.txt` is one of them.
    pub pages: BTreeMap<String, Page>,
    /// Answers every path that has no page of its own; without it: 404.
    pub rest: Option<Page>,
    /// How connections begin. A door other than `Open` gets a port of its own.
    pub door: Door,
}

impl Site {
    /// A host without pages. Its robots.txt answers 404 until one is set.
    #[must_use]
    pub fn new(host: &str) -> Site {
        let host = host.to_ascii_lowercase();
        Site {
            host,
            pages: BTreeMap::new(),
            rest: None,
            door: Door::Open,
        }
    }

    /// Adds or replaces a page.
    #[must_use]
    pub fn page(mut self, path: &str, page: impl Into<Page>) -> Site {
        self.pages.insert(path.to_owned(), page.into());
        self
    }

    /// Sets robots.txt; [`Answer::robots`] makes one from text.
    #[must_use]
    pub fn robots(self, page: impl Into<Page>) -> Site {
        self.page("/robots.txt", page)
    }

    /// Sets what answers all other paths.
    #[must_use]
    pub fn rest(mut self, page: impl Into<Page>) -> Site {
        self.rest = Some(page.into());
        self
    }

    /// Sets how connections begin.
    #[must_use]
    pub fn door(mut self, door: Door) -> Site {
        self.door = door;
        self
    }

    pub(crate) fn answer(&self, ask: Ask<'_>) -> Found {
        match self.pages.get(ask.path()).or(self.rest.as_ref()) {
            Some(page) => page.answer(ask),
            None => Found {
                answer: Answer::status(404),
                since: Timestamp::MIN,
                turn: 0,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(page: &Page, now: Timestamp) -> Vec<u8> {
        let request = Request::read(b"GET /p HTTP/1.1\r\n\r\n");
        let ask = Ask {
            host: "a.test",
            request: &request,
            now,
            turn: 0,
        };
        page.answer(ask).answer.body.to_vec()
    }

    #[test]
    fn versions_follow_site_time() {
        let page = Page::new(Answer::text("old"))
            .then(day(2026, 7, 1), Answer::text("newest"))
            .then(day(2026, 4, 1), Answer::text("new"));
        assert_eq!(body(&page, day(2026, 3, 31)), b"old");
        assert_eq!(body(&page, day(2026, 4, 1)), b"new");
        assert_eq!(body(&page, day(2027, 1, 1)), b"newest");
    }

    #[test]
    fn rotating_starts_again_and_a_sequence_stays() {
        let texts = || ["a", "b"].map(Answer::text).to_vec();
        let rotating = Page::new(Source::Rotating(texts()));
        let sequence = Page::new(Source::Sequence(texts()));
        let now = day(2026, 4, 1);
        let three = |page: &Page| (0..3).flat_map(|_| body(page, now)).collect::<Vec<_>>();
        assert_eq!(three(&rotating), b"aba");
        assert_eq!(three(&sequence), b"abb");
    }

    #[test]
    fn an_interlude_ends_in_the_version_that_is_due_then() {
        let page = Page::new(Answer::text("old"))
            .then(day(2026, 4, 2), Answer::text("new"))
            .between(day(2026, 4, 1), day(2026, 4, 3), Answer::text("away"));
        let bodies = [31, 1, 2, 3].map(|date| match date {
            31 => body(&page, day(2026, 3, 31)),
            _ => body(&page, day(2026, 4, date)),
        });
        assert_eq!(
            bodies,
            ["old", "away", "away", "new"].map(|text| text.as_bytes().to_vec())
        );
    }

    #[test]
    fn day_is_midnight_in_japan() {
        assert_eq!(day(2026, 4, 1).to_string(), "2026-03-31T15:00:00Z");
    }
}
