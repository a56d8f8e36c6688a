//! Judging an answer of a page: unchanged, noise, changed, or unconfirmed and why.
//!
//! Two steps, so that the costly one can run beside the event loop: [`Reading::of`] looks at the
//! answer alone, before it is journalled, and says whether its body is kept; [`judge`] compares it
//! with what is known and says what to write.

use reigi_page::change::{Learned, LearnedRule, Seen, Verdict, compare, learn, text_digest};
use reigi_page::{Needs, Page, Read, Select, signals_from_headers};
use url::Url;

use super::Written;
use crate::charter::RequestKind;
use crate::digest::Digest;
use crate::event::{
    BodyRef, Cause, Changed, NoiseLearned, Observation, Observed, Paused, Validators, Version,
};
use crate::fetched::{Outcome, Phase};
use crate::ledger::Target;
use crate::promise::retry_after::named_instant;
use crate::state::{House, LaneState, PageState, PendingAnswer, Visit};
use crate::time::Now;

/// Versions that learning looks back on.
const HISTORY_MIN: usize = 3;

/// What one answer is, seen for itself.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Digest of the body, where there is one worth keeping.
    pub body: Option<BodyRef>,
    /// Why the answer confirms nothing, if so.
    pub reason: Option<String>,
    /// The page; `None` where the body was seen before or is no HTML.
    pub page: Option<Box<Page>>,
    /// Signals in head fields and on the page.
    pub signals: Vec<String>,
    /// Content-Type as received.
    pub content_type: Option<String>,
    /// Validators of this body.
    pub validators: Validators,
    /// Time named by Retry-After, as received.
    pub retry_after: Option<String>,
}

/// An answer's parts, from the wire or from the journal.
#[derive(Clone, Copy)]
pub struct Raw<'a> {
    /// What was asked for.
    pub kind: RequestKind,
    /// How it ended.
    pub outcome: &'a Outcome,
    /// Head fields, names in lower case.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body, content coding removed.
    pub body: &'a [u8],
}

impl Raw<'_> {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, value)| *value)
    }
}

impl Reading {
    /// Reads an answer. `known` is the body that we hold of this URL: the same bytes need no
    /// second look.
    #[must_use]
    pub fn of(raw: Raw<'_>, row: Option<&Target>, known: Option<Digest>) -> Self {
        let mut reading = Self {
            content_type: raw.header("content-type").map(str::to_owned),
            validators: Validators {
                etag: raw.header("etag").map(str::to_owned),
                last_modified: raw.header("last-modified").map(str::to_owned),
            },
            retry_after: raw.header("retry-after").map(str::to_owned),
            ..Self::default()
        };
        match raw.outcome {
            Outcome::Status(200..=299) => reading.read_body(raw, row, known),
            Outcome::Status(304) => {}
            other => reading.reason = Some(in_words(other)),
        }
        reading
    }

    fn read_body(&mut self, raw: Raw<'_>, row: Option<&Target>, known: Option<Digest>) {
        let digest = Digest::of(raw.body);
        self.body = Some(BodyRef {
            digest,
            bytes: u64::try_from(raw.body.len()).unwrap_or(u64::MAX),
        });
        if raw.kind == RequestKind::Robots {
            return;
        }
        // The same bytes may come with new signals in their head.
        let signals = signals_from_headers(raw.headers);
        self.signals = signals.iter().map(ToString::to_string).collect();
        if known == Some(digest) {
            return;
        }
        match Page::read_with(raw.body, self.content_type.as_deref(), &select(row)) {
            Read::Html(page) => {
                self.signals
                    .extend(page.signals.iter().map(ToString::to_string));
                self.reason = page.needs.as_ref().map(|needs| match needs {
                    Needs::Script => "needs script".to_owned(),
                    Needs::CookieWall => "cookie wall".to_owned(),
                    Needs::Login => "login".to_owned(),
                    Needs::Challenge(which) => format!("bot protection ({which})"),
                });
                if page.needs == Some(Needs::Login) {
                    self.body = None;
                }
                self.page = Some(page);
            }
            Read::Other(_) => {}
        }
        if raw.body.is_empty() {
            self.reason = Some("empty answer".to_owned());
        }
    }

    fn version(&self, body: BodyRef) -> Version {
        let page = self.page.as_ref();
        Version {
            body,
            text: page.and_then(|p| Digest::parse(&text_digest(p))),
            content_type: self.content_type.clone(),
            charset: page.map(|p| format!("{} ({})", p.charset.name, p.charset.from.as_str())),
            validators: self.validators.clone(),
            signals: self.signals.clone(),
        }
    }
}

/// A target's selectors; invalid ones were refused when the ledger was read.
fn select(row: Option<&Target>) -> Select {
    row.and_then(|row| Select::new(&row.include, &row.ignore).ok())
        .unwrap_or_default()
}

/// What an outcome that confirms nothing is called.
#[must_use]
pub fn in_words(outcome: &Outcome) -> String {
    let phase = |phase: &Phase| match phase {
        Phase::Connect => "connecting",
        Phase::Tls => "TLS",
        Phase::Head => "waiting for the answer",
        Phase::Body => "the body",
    };
    match outcome {
        Outcome::Status(401) => "login (HTTP 401)".to_owned(),
        Outcome::Status(403) => "refused by the site (HTTP 403)".to_owned(),
        Outcome::Status(status @ (404 | 410)) => format!("not found (HTTP {status})"),
        Outcome::Status(status) => format!("HTTP {status}"),
        Outcome::Incomplete {
            got,
            expected: Some(expected),
            ..
        } => {
            format!("incomplete ({got}/{expected})")
        }
        Outcome::Incomplete {
            got,
            expected: None,
            ..
        } => format!("incomplete ({got} bytes)"),
        Outcome::TooLarge { limit, .. } => format!("over size limit ({limit} bytes)"),
        Outcome::LookupFailed(why) => format!("name look-up: {why}"),
        Outcome::ConnectFailed(why) => format!("no connection: {why}"),
        Outcome::TlsFailed(why) => format!("TLS: {why}"),
        Outcome::TimedOut(at) => format!("timeout ({})", phase(at)),
        Outcome::Reset(at) => format!("connection broken ({})", phase(at)),
        Outcome::Protocol(why) => format!("protocol error: {why}"),
    }
}

/// Whether a redirect leads from an inner page to the site's front door: the page is gone (G14).
#[must_use]
pub fn is_front_door(to: &Url, listed: &Url) -> bool {
    let door = |path: &str| {
        let path = path.trim_end_matches('/');
        path.is_empty() || (path.rfind('/') == Some(0) && path.starts_with("/index."))
    };
    door(to.path()) && to.query().is_none() && !door(listed.path())
}

/// Judges the visit's pending answer. `bodies` gives stored bodies by digest.
#[must_use]
pub fn judge(
    house: &House,
    lane: &LaneState,
    reading: &Reading,
    bodies: &dyn Fn(Digest) -> Option<Vec<u8>>,
    now: Now,
) -> Vec<Written> {
    let Some(visit) = &lane.lane.visit else {
        return Vec::new();
    };
    let (Some(answer), Some(target)) = (&visit.answer, lane.targets.get(&visit.target)) else {
        return Vec::new();
    };
    let url = target.row.urls.get(visit.at).cloned().unwrap_or_default();
    let empty = PageState::default();
    let page = target.pages.get(&url).unwrap_or(&empty);
    let case = Case {
        lane,
        visit,
        answer,
        reading,
        row: &target.row,
        page,
        url: &url,
        bodies,
    };
    let mut written = case.judge();
    let named = reading.retry_after.as_deref();
    written.extend(pause_for_retry_after(house, lane, visit, named, now));
    written
}

/// One answer with all that it is judged by.
struct Case<'a> {
    lane: &'a LaneState,
    visit: &'a Visit,
    answer: &'a PendingAnswer,
    reading: &'a Reading,
    row: &'a Target,
    page: &'a PageState,
    url: &'a str,
    bodies: &'a dyn Fn(Digest) -> Option<Vec<u8>>,
}

impl Case<'_> {
    fn judge(&self) -> Vec<Written> {
        if let Some((promise, why)) = &self.answer.held {
            return self.held(promise, format!("its redirect was not followed: {why}"));
        }
        let Some(outcome) = &self.answer.outcome else {
            return self.unconfirmed("the request was interrupted");
        };
        if matches!(outcome.status(), Some(300..=399)) && outcome.status() != Some(304) {
            return self.redirected();
        }
        if outcome.status() == Some(304) {
            return match self.page.latest {
                Some(_) if self.answer.hop == 0 => self.observed(Observation::Unchanged, None),
                _ => self.unconfirmed("HTTP 304 without a question"),
            };
        }
        if let Some(reason) = &self.reading.reason {
            return self.unconfirmed(reason);
        }
        let Some(body) = self.reading.body.clone() else {
            return self.unconfirmed("the body was not kept");
        };
        self.versions(body)
    }

    /// A redirect that is not followed.
    fn redirected(&self) -> Vec<Written> {
        let from = Url::parse(&self.answer.url).ok();
        let location = self.answer.location.as_deref();
        let to = from
            .as_ref()
            .zip(location)
            .and_then(|(f, l)| super::visit::observe_target(f, l));
        match to {
            Some(to) if Some(&to) == from.as_ref() && self.answer.sets_cookie => {
                self.unconfirmed("cookie wall")
            }
            Some(to) if Url::parse(self.url).is_ok_and(|listed| is_front_door(&to, &listed)) => {
                self.unconfirmed(&format!("moved or removed: redirect to {to}"))
            }
            Some(to) => self.held("safe-redirect", format!("redirect to {to}")),
            None => self.held(
                "safe-redirect",
                "redirect to a place that is not followed".to_owned(),
            ),
        }
    }

    fn versions(&self, body: BodyRef) -> Vec<Written> {
        let Some(latest) = &self.page.latest else {
            return self.observed(Observation::Confirmed, Some(self.reading.version(body)));
        };
        if latest.body.digest == body.digest {
            // The same bytes: what was read of them still holds, only the head is news.
            let mut version = Version {
                validators: self.reading.validators.clone(),
                ..latest.clone()
            };
            let said = |signal: &&String| !latest.signals.contains(signal);
            let news = self.reading.signals.iter().filter(said).cloned();
            version.signals.extend(news);
            return self.observed(Observation::Unchanged, Some(version));
        }
        let version = self.reading.version(body);
        if self.page.rejected.contains(&version.body.digest) {
            return self.observed(Observation::Unchanged, Some(version));
        }
        let settled = self.page.settled.as_ref().unwrap_or(latest);
        let (Some(after), Some(before)) = (&self.reading.page, self.read(settled)) else {
            return self.file_changed(settled, version);
        };
        self.compared(settled, &before, after, version)
    }

    /// No text is claimed for files that are no HTML (DECISIONS 31).
    fn file_changed(&self, settled: &Version, version: Version) -> Vec<Written> {
        if settled.body.digest == version.body.digest {
            return self.observed(Observation::Unchanged, Some(version));
        }
        let before = settled.body.digest;
        self.changed(
            before,
            version,
            "ファイルが変わりました",
            "The file changed",
            Vec::new(),
        )
    }

    fn compared(
        &self,
        settled: &Version,
        before: &Page,
        after: &Page,
        version: Version,
    ) -> Vec<Written> {
        let mut learned = self.learned(&[]);
        let mut difference = compare(before, after, &learned);
        let mut news = Vec::new();
        if difference.verdict == Verdict::Changed && self.page.earlier.len() >= HISTORY_MIN {
            news = self.learn(after);
            if !news.is_empty() {
                learned = self.learned(&news);
                difference = compare(before, after, &learned);
            }
        }
        // Back to what was settled, while a difference waits: that, too, is news (DECISIONS 30).
        if difference.verdict != Verdict::Changed
            && self.page.waiting.is_some()
            && let Some(latest) = self.page.judged.as_ref()
            && let Some(waiting) = self.read(latest)
        {
            let back = compare(&waiting, after, &learned);
            if back.verdict == Verdict::Changed {
                let (ja, en) = (&back.summary.ja, &back.summary.en);
                return self.changed(latest.body.digest, version, ja, en, news);
            }
        }
        match difference.verdict {
            Verdict::Unchanged => self.observed(Observation::Unchanged, Some(version)),
            Verdict::Noise => {
                let mut written = self.noise(news);
                written.extend(self.observed(Observation::Noise, Some(version)));
                written
            }
            Verdict::Changed => {
                let (ja, en) = (&difference.summary.ja, &difference.summary.en);
                self.changed(settled.body.digest, version, ja, en, news)
            }
        }
    }

    fn read(&self, version: &Version) -> Option<Box<Page>> {
        let body = (self.bodies)(version.body.digest)?;
        match Page::read_with(
            &body,
            version.content_type.as_deref(),
            &select(Some(self.row)),
        ) {
            Read::Html(page) => Some(page),
            Read::Other(_) => None,
        }
    }

    fn learned(&self, news: &[LearnedRule]) -> Learned {
        let recent: Vec<String> = self
            .page
            .earlier
            .iter()
            .map(|e| e.text.to_string())
            .collect();
        let shape =
            serde_json::json!({ "rules": self.page.learned, "retired": [], "recent": recent });
        let mut learned: Learned = serde_json::from_value(shape).unwrap_or_default();
        learned.adopt(news.iter().cloned());
        learned
    }

    /// Rules that the target's own history teaches and that are not in force yet.
    fn learn(&self, after: &Page) -> Vec<LearnedRule> {
        let mut names = Vec::new();
        let mut pages = Vec::new();
        for body in self
            .page
            .earlier
            .iter()
            .map(|e| e.body)
            .chain(self.page.latest.iter().map(|v| v.body.digest))
        {
            let content_type = self.reading.content_type.as_deref();
            if let Some(bytes) = (self.bodies)(body)
                && let Read::Html(page) =
                    Page::read_with(&bytes, content_type, &select(Some(self.row)))
            {
                names.push(body.short());
                pages.push(page);
            }
        }
        let mut history: Vec<Seen<'_>> = names
            .iter()
            .zip(&pages)
            .map(|(at, page)| Seen { at, page })
            .collect();
        history.push(Seen {
            at: "now",
            page: after,
        });
        let known = self.learned(&[]);
        let is_known = |rule: &LearnedRule| known.rules().iter().any(|k| k.id == rule.id);
        learn(&history)
            .into_iter()
            .filter(|rule| !is_known(rule))
            .collect()
    }

    fn noise(&self, rules: Vec<LearnedRule>) -> Vec<Written> {
        let event = |rule: &LearnedRule| NoiseLearned {
            bot: self.visit.target.bot.clone(),
            target: self.visit.target.id.clone(),
            url: self.url.to_owned(),
            rule: serde_json::to_value(rule).unwrap_or_default(),
            reason: format!("seen {} times at {}", rule.count, rule.place),
            undone: false,
        };
        rules.iter().map(|rule| self.write(event(rule))).collect()
    }

    fn changed(
        &self,
        before: Digest,
        version: Version,
        ja: &str,
        en: &str,
        news: Vec<LearnedRule>,
    ) -> Vec<Written> {
        let after = version.body.digest;
        let mut written = self.noise(news);
        written.extend(self.observed(Observation::Changed, Some(version)));
        written.push(self.write(Changed {
            change: self.lane.lane.changes + 1,
            bot: self.visit.target.bot.clone(),
            target: self.visit.target.id.clone(),
            url: self.url.to_owned(),
            before,
            after,
            summary_ja: ja.to_owned(),
            summary_en: en.to_owned(),
            cause: Cause::Site,
            supersedes: self.page.waiting,
        }));
        written
    }

    fn unconfirmed(&self, reason: &str) -> Vec<Written> {
        self.observed(
            Observation::Unconfirmed {
                reason: reason.to_owned(),
            },
            None,
        )
    }

    fn held(&self, promise: &str, reason: String) -> Vec<Written> {
        self.observed(
            Observation::Held {
                promise: promise.to_owned(),
                reason,
            },
            None,
        )
    }

    fn observed(&self, observation: Observation, version: Option<Version>) -> Vec<Written> {
        vec![self.write(Observed {
            visit: self.visit.id,
            bot: self.visit.target.bot.clone(),
            target: self.visit.target.id.clone(),
            url: self.url.to_owned(),
            observation,
            answered: Some(self.answer.answered),
            version,
        })]
    }

    fn write(&self, event: impl Into<crate::event::Event>) -> Written {
        Written {
            lane: self.lane.lane.id,
            event: event.into(),
        }
    }
}

/// A Retry-After beyond the charter's cap pauses the target; it is never asked earlier.
/// `named`: the field's value, in the visit's last answer.
pub(super) fn pause_for_retry_after(
    house: &House,
    lane: &LaneState,
    visit: &Visit,
    named: Option<&str>,
    now: Now,
) -> Option<Written> {
    use crate::charter::{Resume, RetryAfter};
    let charter = house.charter(&visit.target.bot)?;
    let RetryAfter::Honour { cap } = charter.failure.retry_after else {
        return None;
    };
    let status = visit.answer.as_ref()?.outcome.as_ref()?.head_status()?;
    // Judged from the answer's end, as the lane's own wait is: a restart may lie between.
    let ended = lane.lane.quiet_since.map_or(now.wall, |quiet| quiet.wall);
    let at = named_instant(named?, ended)?;
    if !matches!(status, 429 | 503) || at <= ended.plus(cap) {
        return None;
    }
    let until = match charter.failure.resume {
        Resume::Person => None,
        Resume::After(span) => Some(at.max(now.wall.plus(span))),
    };
    let paused = Paused {
        reach: LaneState::target_reach(&visit.target),
        by: "retry-after".to_owned(),
        reason: format!("the site asked for quiet until {}", at.rfc3339()),
        until,
        epoch: house.facts.epoch,
    };
    Some(Written {
        lane: lane.lane.id,
        event: paused.into(),
    })
}
