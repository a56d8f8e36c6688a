//! `crawl-delay`: what a robots.txt asks for as a wait is waited; it only ever lengthens the gap.
//!
//! Seeds: P, B "その値以上"; DECISIONS 11 and 36. RFC 9309 has no `Crawl-delay`: the longest one of
//! our groups counts, and the largest number of one that is no plain number.

use std::collections::HashMap;
use std::time::Duration;

use reigi_robots::Rules;

use super::interval::{Ended, wait_from_quiet};
use super::robots_first::record;
use super::settlements::Settlements;
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::digest::Digest;
use crate::event::{Admitted, Event, LaneId, Seq};
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::Header;
use crate::state::lane::RobotsVerdict;
use crate::time::Now;

/// See the module.
pub struct CrawlDelay;

impl Promise for CrawlDelay {
    fn id(&self) -> &'static str {
        "crawl-delay"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "Crawl-delay",
            Lang::En => "Crawl-delay",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let least = crate::policy::words::span(charter.pace.interval_min, lang);
        Some(match lang {
            Lang::Ja => format!(
                "robots.txt に Crawl-delay（または Max-crawl-rate）があれば、間隔をその値まで長くします。いつもの間隔（{least}）より短くすることはありません。値がはっきりしないときは、書かれている数のうち最も大きいものを秒数とみなします。"
            ),
            Lang::En => format!(
                "A Crawl-delay (or Max-crawl-rate) in robots.txt lengthens our wait to what it asks for; it never shortens the usual one ({least}). Of a value that is unclear, the largest number in it counts, as seconds."
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let Some(RobotsVerdict::Rules(digest)) = record(scene, ask).map(|r| &r.verdict) else {
            return Verdict::Pass;
        };
        let token = &scene.charter.agent(ask.kind).token;
        let rules = scene.lane.rules.get(digest);
        match rules.and_then(|rules| asked(rules, token)) {
            Some(wait) => wait_from_quiet(scene, wait),
            None => Verdict::Pass,
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Delays::default()))
    }
}

/// The longest wait that a robots.txt asks of a token.
pub(super) fn asked(rules: &Rules, token: &str) -> Option<Duration> {
    let agent = rules.for_agent(token);
    let plain = agent.group_delay().map(|d| d.duration);
    let unclear = agent
        .unclear_delays()
        .filter_map(|d| d.readable)
        .map(|d| d.duration)
        .max();
    let rate = agent.max_crawl_rate().map(|rate| rate.interval());
    plain.max(unclear).max(rate)
}

/// Gap between the end of an answer and the next request head, against the file in force.
#[derive(Default)]
struct Delays {
    finding: Finding,
    journal: Settlements,
    ended: HashMap<LaneId, Ended>,
    /// What the request under way of a lane has to keep.
    asked: HashMap<LaneId, (Seq, Digest)>,
}

impl Proof for Delays {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let lane = entry.header.lane;
        if let Event::Admitted(admitted) = entry.event {
            let body = match admitted.kind {
                RequestKind::Page => admitted.robots.as_ref().and_then(|basis| basis.body),
                RequestKind::Robots => self.journal.rules_of(lane, admitted),
            };
            match body {
                Some(body) => self.asked.insert(lane, (entry.header.seq, body)),
                None => self.asked.remove(&lane),
            };
        }
        if let Some((permit, admitted)) = entry.admitted {
            match entry.event {
                Event::Answered(answered) => {
                    if let Some(sent) = answered.sent {
                        self.check(entry.header, permit.seq, admitted, sent, versions);
                    }
                    let end = Ended::of(entry.header, answered.ended);
                    self.ended.insert(lane, end);
                }
                Event::Lost(lost) => {
                    self.ended.insert(lane, Ended::of(entry.header, lost.at));
                }
                _ => {}
            }
        }
        self.journal.see(entry, versions);
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Delays {
    fn check(
        &mut self,
        header: &Header,
        permit: Seq,
        admitted: &Admitted,
        sent: Now,
        versions: &Versions<'_>,
    ) {
        let (lane, seq) = (header.lane, header.seq);
        let body = self.asked.get(&lane).filter(|(of, _)| *of == permit);
        let (Some((_, body)), Some(ended)) = (body, self.ended.get(&lane)) else {
            return;
        };
        let Some(rules) = versions.rules(*body) else {
            self.finding
                .undecidable(seq, "the robots.txt that it rests on is not kept");
            return;
        };
        let Some(wanted) = longest(&rules, &admitted.token) else {
            return;
        };
        let gap = ended.until(header, sent, versions);
        // Stamps are whole microseconds.
        let wanted = Duration::from_micros(u64::try_from(wanted.as_micros()).unwrap_or(u64::MAX));
        self.finding.check(gap >= wanted, seq, || {
            format!("sent {gap:?} after the previous answer, robots.txt asks for {wanted:?}")
        });
    }
}

/// Every number that speaks to the token, for an audit.
fn longest(rules: &Rules, token: &str) -> Option<Duration> {
    let agent = rules.for_agent(token);
    let mut waits: Vec<Duration> = Vec::new();
    waits.extend(agent.group_delay().map(|delay| delay.duration));
    for unclear in agent.unclear_delays() {
        waits.extend(unclear.readable.map(|delay| delay.duration));
    }
    waits.extend(agent.max_crawl_rate().map(|rate| rate.interval()));
    waits.into_iter().max()
}

#[cfg(test)]
mod tests {
    use super::super::robots_first::tests::{know, page_after, read};
    use super::super::testing::{History, LANE, PAGE, Stage, at, word};
    use super::*;
    use crate::fetched::Outcome;

    /// robots.txt, and the seconds that it asks us for.
    const FILES: [(&str, Option<f64>); 9] = [
        ("User-agent: *\nDisallow:", None),
        ("User-agent: *\nCrawl-delay: 10", Some(10.0)),
        ("User-agent: *\nCrawl-delay: 2.5", Some(2.5)),
        ("User-agent: *\nCrawl-delay: 3\nCrawl-delay: 7", Some(7.0)),
        ("User-agent: *\nCrawl-delay: 5-15", Some(15.0)),
        ("User-agent: *\nCrawl-delay: soon", None),
        ("User-agent: *\nMax-crawl-rate: 3/m", Some(20.0)),
        (
            "User-agent: BlueAIChangeBot\nCrawl-delay: 4\nDisallow:\n\nUser-agent: *\nCrawl-delay: 99",
            Some(4.0),
        ),
        (
            "User-agent: BlueAIChangeBot\nDisallow:\n\nUser-agent: *\nCrawl-delay: 99",
            None,
        ),
    ];

    #[test]
    fn the_longest_wait_for_our_token_is_waited() {
        for (robots, seconds) in FILES {
            for kind in [RequestKind::Page, RequestKind::Robots] {
                let mut stage = Stage::new();
                know(&mut stage, robots);
                stage.lane.lane.quiet_since = Some(at(0.0));
                stage.now = at(1.0);
                let ask = Ask {
                    kind,
                    ..stage.ask(PAGE)
                };
                let expected = match seconds {
                    Some(seconds) => Verdict::NotBefore(at(seconds).wall),
                    None => Verdict::Pass,
                };
                assert_eq!(stage.hold(&CrawlDelay, &ask), expected, "{robots:?}");
                stage.now = at(100.0);
                assert_eq!(word(&stage.hold(&CrawlDelay, &ask)), "pass", "{robots:?}");
            }
        }
    }

    /// The breaches of a page sent `seconds` after the end of the answer to robots.txt.
    fn sent_after(robots: &str, seconds: f64) -> u64 {
        let mut history = History::new();
        history.open();
        let answered = read(&mut history, Outcome::Status(200), Some(robots));
        // The reading ended 2.1 s ago; a head leaves 0.05 s after its permit.
        history.wait(seconds - 2.15);
        let page = page_after(&history, PAGE, answered, Some(robots));
        let admitted = history.admit(page);
        history.push(LANE, history.answer(admitted));
        history.prove(&CrawlDelay).broken
    }

    #[test]
    fn gaps_are_measured_again() {
        for (robots, seconds) in FILES {
            let wanted = seconds.unwrap_or(2.2);
            assert_eq!(sent_after(robots, wanted + 0.01), 0, "{robots:?}");
            let early = u64::from(seconds.is_some());
            assert_eq!(sent_after(robots, wanted - 0.01), early, "{robots:?}");
        }
    }

    #[test]
    fn robots_txt_is_read_again_no_faster() {
        for (seconds, broken) in [(5.0, 1), (10.0, 0)] {
            let robots = "User-agent: *\nCrawl-delay: 10";
            let mut history = History::new();
            history.open();
            read(&mut history, Outcome::Status(200), Some(robots));
            history.open();
            history.wait(seconds);
            read(&mut history, Outcome::Status(200), Some(robots));
            assert_eq!(history.prove(&CrawlDelay).broken, broken, "{seconds}");
        }
    }

    #[test]
    fn a_lost_request_counts_as_the_last_one() {
        let robots = "User-agent: *\nCrawl-delay: 10";
        let mut history = History::new();
        history.open();
        let answered = read(&mut history, Outcome::Status(200), Some(robots));
        history.wait(20.0);
        let admitted = history.admit(page_after(&history, PAGE, answered, Some(robots)));
        let lost = crate::event::Lost {
            admitted,
            at: history.now,
        };
        history.push(LANE, lost);
        history.segment = 2;
        history.wait(5.0);
        let page = page_after(&history, PAGE, answered, Some(robots));
        let admitted = history.admit(page);
        let early = history.push(LANE, history.answer(admitted));
        assert_eq!(history.breaches(&CrawlDelay), [early]);
    }
}
