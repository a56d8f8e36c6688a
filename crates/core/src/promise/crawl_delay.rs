//! `crawl-delay`: what a robots.txt asks for as a wait is waited; it only ever lengthens the gap.
//!
//! Seeds: P, B "その値以上"; DECISIONS 11 and 36. RFC 9309 has no `Crawl-delay`: the longest one of
//! our groups counts, and the largest number of one that is no plain number.

use std::collections::HashMap;
use std::time::Duration;

use reigi_robots::Rules;

use super::interval::{gap, wait_from_quiet};
use super::robots_first::{Settlements, record};
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::digest::Digest;
use crate::event::{Admitted, Event, LaneId, Seq};
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::SegmentId;
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
    ended: HashMap<LaneId, (SegmentId, Now)>,
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
                        let now = (entry.header.segment, sent);
                        self.check(lane, entry.header.seq, permit.seq, admitted, now, versions);
                    }
                    let end = (entry.header.segment, answered.ended);
                    self.ended.insert(lane, end);
                }
                Event::Lost(lost) => {
                    self.ended.insert(lane, (entry.header.segment, lost.at));
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
        lane: LaneId,
        seq: Seq,
        permit: Seq,
        admitted: &Admitted,
        (segment, sent): (SegmentId, Now),
        versions: &Versions<'_>,
    ) {
        let body = self.asked.get(&lane).filter(|(of, _)| *of == permit);
        let (Some((_, body)), Some((before, ended))) = (body, self.ended.get(&lane)) else {
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
        let gap = gap(*before == segment, *ended, sent);
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
