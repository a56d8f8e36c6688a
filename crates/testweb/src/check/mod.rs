//! Reads the access log and says where a crawler broke its word.
//!
//! It sees what a site's operator could see and nothing of the crawler, and it shares no code
//! with the crawler. Where the clock cannot decide (the web may notice an arrival or a leave a
//! little late) it counts a gap as undecided and does not accuse.

mod history;
mod robots;
mod spread;

use crate::log::{Event, Exchange};
use history::{Connection, History, Seen, us};
use robots::Rules;
use serde::Serialize;
pub use spread::Spread;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// What a crawler promised.
#[derive(Debug, Clone)]
pub struct Promise {
    /// From the end of a host's previous answer to the next request head.
    pub interval: Duration,
    /// Between the starts of any two requests, over all hosts.
    pub global_interval: Option<Duration>,
    /// The only `User-Agent` values sent; empty = not judged.
    pub user_agents: Vec<String>,
    /// The product token by which robots.txt is read; empty = only `*` groups.
    pub token: String,
    /// Whether robots.txt is read before pages, and obeyed, `Crawl-delay` included.
    pub robots: bool,
    /// How old (real time) a robots.txt answer may be.
    pub robots_fresh: Duration,
    /// Whether a page that came with validators is asked for with them.
    pub conditional: bool,
    /// Whether `Retry-After` in seconds is waited for, up to this; `None` = not judged.
    pub retry_after_max: Option<Duration>,
    /// How late the web may have noticed an arrival or a leave.
    pub slack: Duration,
}

impl Default for Promise {
    fn default() -> Promise {
        Promise {
            interval: Duration::from_secs(2),
            global_interval: None,
            user_agents: Vec::new(),
            token: String::new(),
            robots: true,
            robots_fresh: Duration::from_secs(24 * 3600),
            conditional: true,
            retry_after_max: None,
            slack: Duration::from_millis(5),
        }
    }
}

/// The kinds of breach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A request before the previous answer of its host had ended.
    Overlap,
    /// A gap shorter than the interval.
    Interval,
    /// A gap shorter than the host's `Crawl-delay`.
    CrawlDelay,
    /// Starts over all hosts too close.
    GlobalInterval,
    /// A request before `Retry-After` had passed.
    RetryAfter,
    /// Two connections of a host open at once.
    Connections,
    /// A page without a fresh robots.txt answer before it.
    NoRobots,
    /// A page after robots.txt had failed.
    RobotsFailure,
    /// A page that robots.txt refuses.
    Disallowed,
    /// A method other than GET.
    Method,
    /// A header that gives away more than it should: cookie, credential, referer.
    Header,
    /// Another `User-Agent` than promised.
    UserAgent,
    /// A page asked for again without the validators it came with, and sent again unchanged.
    Unconditional,
    /// An `If-None-Match` that was never given out for this page.
    Validator,
}

/// One breach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Breach {
    /// Which promise.
    pub kind: Kind,
    /// The host.
    pub host: String,
    /// The path.
    pub path: String,
    /// The log's line of the request, from 1.
    pub line: usize,
    /// The log's line that it is judged against.
    pub against: Option<usize>,
    /// What was seen, with figures.
    pub detail: String,
}

/// One host's figures.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HostFigures {
    /// Requests seen.
    pub requests: usize,
    /// The shortest gap; `None` below two requests.
    pub gap_min_ms: Option<f64>,
}

/// What the log says.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Report {
    /// Requests seen.
    pub requests: usize,
    /// Of them for robots.txt.
    pub robots_requests: usize,
    /// Of them answered 304.
    pub not_modified: usize,
    /// Conditional requests answered 200 although nothing had changed: useless validators.
    pub validators_useless: usize,
    /// Connections that carried requests.
    pub connections: usize,
    /// From the end of an answer to the same host's next request.
    pub gaps: Spread,
    /// From one start to the next over all hosts.
    pub starts: Spread,
    /// How long after the earliest moment allowed a request came, where it came within 10 s.
    pub lateness: Spread,
    /// Gaps that lie on the promise to within what the clock can tell.
    pub undecided: usize,
    /// Figures by host.
    pub hosts: BTreeMap<String, HostFigures>,
    /// All breaches, in the order of the log.
    pub breaches: Vec<Breach>,
}

impl Report {
    /// How many breaches there are of each kind.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for breach in &self.breaches {
            *counts.entry(breach.kind).or_default() += 1;
        }
        counts
    }
}

/// Requests later than this after their earliest moment are of another visit: no lateness.
const LATENESS_MAX: Duration = Duration::from_secs(10);

/// Judges a log.
#[must_use]
pub fn check(events: &[Event], promise: &Promise) -> Report {
    let history = History::read(events);
    let mut judge = Judge {
        promise,
        report: Report::default(),
        gaps: vec![],
        lateness: vec![],
    };
    for lane in history.lanes.values() {
        judge.lane(lane);
    }
    for connections in history.connections.values() {
        judge.connections(connections);
    }
    judge.starts(&history);
    let mut report = judge.report;
    report.requests = history.lanes.values().map(Vec::len).sum();
    report.connections = history.connection_count;
    report.gaps = Spread::of(judge.gaps);
    report.lateness = Spread::of(judge.lateness);
    report
        .breaches
        .sort_by_key(|breach| (breach.line, breach.kind));
    report
}

struct Judge<'a> {
    promise: &'a Promise,
    report: Report,
    gaps: Vec<i64>,
    lateness: Vec<i64>,
}

/// The latest robots.txt answer of a host.
struct Robots<'a> {
    seen: Seen<'a>,
    /// `None` where it failed.
    rules: Option<Rules>,
}

impl Judge<'_> {
    fn breach(&mut self, kind: Kind, at: Seen<'_>, against: Option<Seen<'_>>, detail: String) {
        self.report.breaches.push(Breach {
            kind,
            host: at.exchange.host.clone(),
            path: at.exchange.path.clone(),
            line: at.line,
            against: against.map(|seen| seen.line),
            detail,
        });
    }

    /// All requests of one host in the order of their arrival.
    fn lane(&mut self, lane: &[Seen<'_>]) {
        let mut latest: Option<Seen<'_>> = None;
        let mut not_before: Option<(i64, Seen<'_>)> = None;
        let mut robots: Vec<Robots<'_>> = Vec::new();
        let mut pages = HashMap::new();
        let mut gap_min: Option<i64> = None;
        let slack = us(self.promise.slack);
        for seen in lane.iter().copied() {
            self.manners(seen);
            let standing = robots
                .iter()
                .rev()
                .find(|r| r.seen.end_earliest(slack) <= seen.arrived());
            if let Some(previous) = latest {
                let delay = standing
                    .and_then(|r| r.rules.as_ref())
                    .and_then(|rules| rules.delay);
                let gap = self.gap(seen, previous, delay);
                gap_min = Some(gap_min.map_or(gap, |min| min.min(gap)));
            }
            if let Some((until, by)) = not_before
                && seen.arrived() < until - slack
            {
                let early = ms(until - seen.arrived());
                self.breach(
                    Kind::RetryAfter,
                    seen,
                    Some(by),
                    format!("{early} ms too early"),
                );
            }
            if seen.is_robots() {
                self.report.robots_requests += 1;
            } else if self.promise.robots {
                self.robots(seen, standing);
            }
            self.conditional(seen, &mut pages);
            if let Some(wait) = self.retry_after(seen.exchange) {
                let until = seen.end() + wait;
                not_before = not_before
                    .filter(|(other, _)| *other > until)
                    .or(Some((until, seen)));
            }
            if seen.is_robots() {
                robots.push(Robots {
                    seen,
                    rules: rules(seen.exchange, &self.promise.token),
                });
            }
            latest = match latest {
                Some(previous) if previous.end() > seen.end() => Some(previous),
                _ => Some(seen),
            };
        }
        if let Some(first) = lane.first() {
            let figures = HostFigures {
                requests: lane.len(),
                gap_min_ms: gap_min.map(ms),
            };
            self.report
                .hosts
                .insert(first.exchange.host.clone(), figures);
        }
    }

    /// Judges the time between an answer's end and the next request; gives it in microseconds.
    fn gap(&mut self, seen: Seen<'_>, previous: Seen<'_>, delay: Option<Duration>) -> i64 {
        let gap = seen.arrived() - previous.end();
        let gap_max = seen.arrived() - previous.end_earliest(us(self.promise.slack));
        self.gaps.push(gap);
        let interval = us(self.promise.interval);
        let delay = delay.filter(|_| self.promise.robots).map_or(0, us);
        let needed = interval.max(delay);
        let figures = |needed: i64| format!("{} ms, promised {} ms", ms(gap), ms(needed));
        if gap_max < 0 {
            self.breach(
                Kind::Overlap,
                seen,
                Some(previous),
                format!("{} ms early", ms(-gap)),
            );
        } else if gap_max < interval {
            self.breach(Kind::Interval, seen, Some(previous), figures(interval));
        } else if gap_max < delay {
            self.breach(Kind::CrawlDelay, seen, Some(previous), figures(delay));
        } else if gap < needed {
            self.report.undecided += 1;
        }
        let late = gap - needed;
        if (0..us(LATENESS_MAX)).contains(&late) {
            self.lateness.push(late);
        }
        gap
    }

    /// Method, headers and user agent.
    fn manners(&mut self, seen: Seen<'_>) {
        let exchange = seen.exchange;
        if exchange.method != "GET" {
            self.breach(Kind::Method, seen, None, exchange.method.clone());
        }
        for name in ["cookie", "authorization", "proxy-authorization", "referer"] {
            if exchange.header(name).is_some() {
                self.breach(Kind::Header, seen, None, format!("{name} was sent"));
            }
        }
        let expected = &self.promise.user_agents;
        let agent = exchange.user_agent.as_deref().unwrap_or_default();
        if !expected.is_empty() && !expected.iter().any(|ua| ua == agent) {
            self.breach(Kind::UserAgent, seen, None, format!("{agent:?}"));
        }
    }

    /// Judges a page by the robots.txt answer that stood when it was asked for.
    fn robots(&mut self, seen: Seen<'_>, standing: Option<&Robots<'_>>) {
        let Some(robots) = standing else {
            self.breach(
                Kind::NoRobots,
                seen,
                None,
                "no robots.txt before it".to_owned(),
            );
            return;
        };
        let by = Some(robots.seen);
        let age = seen.arrived() - robots.seen.end();
        if age > us(self.promise.robots_fresh) {
            self.breach(
                Kind::NoRobots,
                seen,
                by,
                format!("robots.txt is {} ms old", ms(age)),
            );
        }
        match &robots.rules {
            None => {
                let status = robots.seen.exchange.status;
                self.breach(
                    Kind::RobotsFailure,
                    seen,
                    by,
                    format!("robots.txt: {status}"),
                );
            }
            Some(rules) if !rules.allow(&seen.exchange.path) => {
                self.breach(
                    Kind::Disallowed,
                    seen,
                    by,
                    "refused by robots.txt".to_owned(),
                );
            }
            Some(_) => {}
        }
    }

    /// Validators given out come back, byte for byte.
    fn conditional<'a>(&mut self, seen: Seen<'a>, pages: &mut HashMap<&'a str, Given<'a>>) {
        let exchange = seen.exchange;
        let given = pages.entry(exchange.path.as_str()).or_default();
        let tag = exchange.header("if-none-match");
        let date = exchange.header("if-modified-since");
        if exchange.status == 304 {
            self.report.not_modified += 1;
        }
        if let Some(tag) = tag.filter(|tag| self.promise.conditional && !given.tags.contains(tag)) {
            self.breach(
                Kind::Validator,
                seen,
                given.held,
                format!("{tag} was never given out"),
            );
        }
        if let Some(held) = given.held
            && held.exchange.body == exchange.body
            && exchange.status == 200
        {
            let known = |sent: Option<&str>, given: &Option<String>| {
                given.is_some() && sent == given.as_deref()
            };
            let asked = known(tag, &held.exchange.etag)
                || (held.exchange.etag.is_none() && known(date, &held.exchange.last_modified));
            if asked {
                self.report.validators_useless += 1;
            } else if held.exchange.validates && self.promise.conditional && !seen.is_robots() {
                let detail = "the same body was sent again".to_owned();
                self.breach(Kind::Unconditional, seen, Some(held), detail);
            }
        }
        if exchange.status == 200 && exchange.whole {
            given.held = Some(seen);
        }
        given.tags.extend(exchange.etag.as_deref());
    }

    /// The wait that a refusal asks for, in microseconds.
    fn retry_after(&self, exchange: &Exchange) -> Option<i64> {
        let seconds = exchange.retry_after.as_deref()?.trim().parse().ok()?;
        let wait = Duration::from_secs(seconds);
        (matches!(exchange.status, 429 | 503) && wait <= self.promise.retry_after_max?)
            .then(|| us(wait))
    }

    /// A host's connections: one is closed before the next opens.
    fn connections(&mut self, connections: &[Connection<'_>]) {
        let mut open: Option<Connection<'_>> = None;
        for connection in connections.iter().copied() {
            if let Some(other) = open
                && connection.opened < other.closed - us(self.promise.slack)
            {
                let detail = match other.closed {
                    i64::MAX => "the other one was still open".to_owned(),
                    closed => format!("{} ms together", ms(closed - connection.opened)),
                };
                self.breach(
                    Kind::Connections,
                    connection.first,
                    Some(other.first),
                    detail,
                );
            }
            if open.is_none_or(|other| other.closed < connection.closed) {
                open = Some(connection);
            }
        }
    }

    /// The spacing of starts over all hosts.
    fn starts(&mut self, history: &History<'_>) {
        let mut all: Vec<Seen<'_>> = history.lanes.values().flatten().copied().collect();
        all.sort_by_key(|seen| (seen.arrived(), seen.line));
        let mut spaces = Vec::with_capacity(all.len());
        for pair in all.windows(2) {
            let [before, seen] = pair else { continue };
            let space = seen.arrived() - before.arrived();
            spaces.push(space);
            if let Some(promised) = self.promise.global_interval.map(us)
                && space + us(self.promise.slack) < promised
            {
                let detail = format!("{} ms, promised {} ms", ms(space), ms(promised));
                self.breach(Kind::GlobalInterval, *seen, Some(*before), detail);
            }
        }
        self.report.starts = Spread::of(spaces);
    }
}

/// The validators given out for a page.
#[derive(Default)]
struct Given<'a> {
    /// The latest whole 200.
    held: Option<Seen<'a>>,
    tags: Vec<&'a str>,
}

/// What a robots.txt answer allows; `None` where it failed and the host is to be left alone.
/// A redirect says nothing here: the answer it leads to may stand anywhere in the log.
fn rules(exchange: &Exchange, token: &str) -> Option<Rules> {
    match exchange.status {
        200 if exchange.whole => Some(Rules::read(exchange.robots.as_deref()?, token)),
        300..=399 => Some(Rules::default()),
        429 => None,
        400..=499 => Some(Rules::default()),
        _ => None,
    }
}

/// Microseconds as milliseconds.
#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn ms(us: i64) -> f64 {
    us as f64 / 1000.0
}
