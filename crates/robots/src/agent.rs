//! What a robots.txt says to one crawler.

use crate::delay::{CrawlRate, Delay};
use crate::line::Field;
use crate::pattern::Path;
use crate::record::Preferences;
use crate::rules::{DelayLine, NO_GROUP, RecordLine, Rule, Rules};
use crate::verdict::{Group, Reading, RuleRef, Verdict};

/// A `User-agent` line that names the crawler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hit {
    pub(crate) group: u32,
    pub(crate) run: u32,
}

/// What a robots.txt says to one crawler: its merged groups, borrowed from [`Rules`].
#[derive(Clone, Debug)]
pub struct Agent<'r> {
    pub(crate) rules: &'r Rules,
    pub(crate) group: Group,
    pub(crate) reading: Reading,
    /// In file order.
    pub(crate) hits: Vec<Hit>,
}

impl<'r> Agent<'r> {
    /// Whether the crawler may fetch a URL, and by which rule.
    ///
    /// `url_or_path` is an absolute URL, a network-path reference (`//host/a`), or a path with its
    /// query; the fragment is dropped and unencoded octets are percent-encoded. The longest pattern
    /// that matches decides, `Allow` where two are equally long, and nothing matching allows (RFC
    /// 9309 section 2.2.2). `/robots.txt` itself is always allowed.
    ///
    /// Takes at most a number of steps proportional to (rules of the groups) × (length of the
    /// path).
    pub fn verdict(&self, url_or_path: &str) -> Verdict<'r> {
        let path = Path::of(url_or_path);
        let rule = if path.is_robots_txt() {
            None
        } else {
            self.strongest(&path)
        };
        Verdict {
            allowed: rule.is_none_or(|rule| rule.allow),
            rule: rule.map(|rule| RuleRef {
                allow: rule.allow,
                pattern: rule.pattern.text(&self.rules.patterns),
                line: rule.line,
            }),
            group: self.group,
        }
    }

    fn strongest(&self, path: &Path<'_>) -> Option<&'r Rule> {
        let mut best: Option<&'r Rule> = None;
        let mut before = NO_GROUP;
        for hit in self
            .hits
            .iter()
            .filter(|hit| std::mem::replace(&mut before, hit.group) != hit.group)
        {
            for rule in self.rules.group_rules(hit.group) {
                let stronger = best.is_none_or(|best| {
                    let (new, old) = (rule.pattern.octets, best.pattern.octets);
                    new > old || new == old && rule.allow && !best.allow
                });
                if stronger && rule.pattern.matches(&self.rules.patterns, path) {
                    best = Some(rule);
                }
            }
        }
        best
    }

    /// Whose group applies.
    pub fn group(&self) -> Group {
        self.group
    }

    /// How the crawler's name was compared.
    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// The delay asked of this crawler, by the common convention (RFC 9309 has no `Crawl-delay`).
    ///
    /// A delay belongs to the run of `User-agent` lines read last before it; a rule or a delay ends
    /// a run. The longest one counts, and a crawler with a group of its own never takes that of
    /// `*`. Only plain decimal seconds are read; see [`Agent::unclear_delays`] for the rest.
    pub fn crawl_delay(&self) -> Option<Delay> {
        let mine = self.rules.delays.iter().filter(|d| self.is_in_run(d.run));
        mine.filter_map(|d| d.delay).reduce(Delay::longer)
    }

    /// The longest delay anywhere in this crawler's groups, as RFC 9309 sees groups: a delay
    /// between two `User-agent` lines stands for both. Never shorter than [`Agent::crawl_delay`];
    /// the one to obey where authors may have meant either.
    pub fn group_delay(&self) -> Option<Delay> {
        self.my_delays()
            .filter_map(|d| d.delay)
            .reduce(Delay::longer)
    }

    /// Delays in this crawler's groups that are no plain number of seconds.
    pub fn unclear_delays(&self) -> impl Iterator<Item = UnclearDelay<'r>> {
        let rules = self.rules;
        self.my_delays()
            .filter(|d| d.delay.is_none())
            .map(move |d| {
                let value = rules.word(d.value);
                let readable = Delay::largest_readable(value.as_bytes(), d.line);
                UnclearDelay {
                    value,
                    readable,
                    line: d.line,
                }
            })
    }

    /// Lines are hit in file order, in which the numbers of groups and runs only rise.
    fn is_in_group(&self, group: u32) -> bool {
        self.hits
            .binary_search_by_key(&group, |hit| hit.group)
            .is_ok()
    }

    fn is_in_run(&self, run: u32) -> bool {
        self.hits.binary_search_by_key(&run, |hit| hit.run).is_ok()
    }

    fn my_delays(&self) -> impl Iterator<Item = &'r DelayLine> {
        self.rules
            .delays
            .iter()
            .filter(|d| self.is_in_group(d.group))
    }

    /// The slowest `Max-crawl-rate` in this crawler's groups.
    pub fn max_crawl_rate(&self) -> Option<CrawlRate> {
        let rates = self.my_records(Field::MaxCrawlRate);
        let rates =
            rates.filter_map(|r| CrawlRate::read(self.rules.word(r.value).as_bytes(), r.line));
        rates.reduce(|a, b| if b.interval() > a.interval() { b } else { a })
    }

    /// The `Content-Signal` records that hold for a URL: those of this crawler's groups, and any
    /// before the first group, with the longest path. Where several remain, the most restrictive
    /// should win: `signals.iter().filter_map(|s| s.says("ai-train")).min()`.
    pub fn content_signals(&self, url_or_path: &str) -> Vec<Preferences<'r>> {
        self.preferences(Field::ContentSignal, url_or_path)
    }

    /// The `Content-Usage` records that hold for a URL, chosen as [`Agent::content_signals`] are.
    pub fn content_usage(&self, url_or_path: &str) -> Vec<Preferences<'r>> {
        self.preferences(Field::ContentUsage, url_or_path)
    }

    fn preferences(&self, field: Field, url: &str) -> Vec<Preferences<'r>> {
        let (rules, path) = (self.rules, Path::of(url));
        let octets = |r: &RecordLine| r.path.map_or(0, |p| p.octets);
        let mut held: Vec<&RecordLine> = self
            .my_records(field)
            .filter(|r| r.path.is_none_or(|p| p.matches(&rules.patterns, &path)))
            .collect();
        let longest = held.iter().map(|r| octets(r)).max().unwrap_or_default();
        held.retain(|r| octets(r) == longest);
        held.into_iter()
            .map(|r| Preferences::new(rules, r))
            .collect()
    }

    fn my_records(&self, field: Field) -> impl Iterator<Item = &'r RecordLine> {
        let mine = |r: &RecordLine| r.group == NO_GROUP || self.is_in_group(r.group);
        self.rules
            .records
            .iter()
            .filter(move |r| r.field == field && mine(r))
    }
}

/// A `Crawl-delay` that is no plain number of seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnclearDelay<'r> {
    /// The value as it stands.
    pub value: &'r str,
    /// The largest number in it, taken as seconds; `None` where there is none.
    pub readable: Option<Delay>,
    /// Line in the body, from 1.
    pub line: u32,
}
