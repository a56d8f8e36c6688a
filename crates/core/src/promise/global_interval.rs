//! `global-interval`: least spacing of request starts over all hosts, won at a pacer row
//! (DECISIONS 10). Seeds: Ar and Ad "最低300ミリ秒", Ap "最低500ミリ秒".

use std::collections::HashMap;
use std::time::Duration;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::Event;
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::{Header, SegmentId};
use crate::promise::interval::{Ended, wait_since};
use crate::time::Now;

/// See the module.
pub struct GlobalInterval;

/// The pacer that a charter's requests must win: its group, or the bot itself.
pub(crate) fn pacer(charter: &Charter) -> Option<String> {
    charter.pace.global_interval?;
    Some(
        charter
            .pace
            .group
            .clone()
            .unwrap_or_else(|| charter.bot.clone()),
    )
}

impl Promise for GlobalInterval {
    fn id(&self) -> &'static str {
        "global-interval"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "全体の間隔",
            Lang::En => "Interval over all hosts",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let ms = charter.pace.global_interval?.as_millis();
        Some(match lang {
            Lang::Ja => {
                format!("どのホストあてかを問わず、リクエストの間隔を最低{ms}ミリ秒あけます。")
            }
            Lang::En => format!("Requests start at least {ms} ms apart, whatever host they go to."),
        })
    }

    fn hold(&self, scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        let Some(interval) = scene.charter.pace.global_interval else {
            return Verdict::Pass;
        };
        let Some(last) = pacer(scene.charter).and_then(|key| scene.house.facts.pacers.get(&key))
        else {
            return Verdict::Pass;
        };
        wait_since(
            scene,
            (last.segment, last.until),
            interval.max(last.spacing),
        )
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Starts::default()))
    }
}

/// Spacing of starts by pacer. Answers may come out of order, so each start is held against both
/// its neighbours in a short window of recent starts.
#[derive(Default)]
struct Starts {
    finding: Finding,
    recent: HashMap<String, Vec<Start>>,
}

struct Start {
    at: Ended,
    stamp: Now,
    segment: SegmentId,
    /// What its own charter promises.
    promised: Duration,
}

const RECENT_MAX: usize = 64;

impl Proof for Starts {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let (Event::Answered(answered), Some((_, admitted))) = (entry.event, entry.admitted) else {
            return;
        };
        let Some(sent) = answered.sent else { return };
        for key in &admitted.pacers {
            let Some(charter) = versions.charter(admitted.charter) else {
                self.finding
                    .undecidable(entry.header.seq, "its charter is not readable");
                continue;
            };
            let promised = charter.pace.global_interval.unwrap_or_default();
            let recent = self.recent.entry(key.clone()).or_default();
            let fault = recent.iter().find_map(|other| {
                let apart = other.apart(entry.header, sent, versions);
                // The bots of a group: the stricter of both (DECISIONS 9).
                let promised = promised.max(other.promised);
                (apart < promised).then_some((apart, promised))
            });
            if !recent.is_empty() {
                self.finding.check(fault.is_none(), entry.header.seq, || {
                    let (apart, promised) = fault.unwrap_or_default();
                    format!("started {apart:?} from another request, promised {promised:?}")
                });
            }
            recent.push(Start {
                at: Ended::of(entry.header, sent),
                stamp: sent,
                segment: entry.header.segment,
                promised,
            });
            if recent.len() > RECENT_MAX {
                recent.remove(0);
            }
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Start {
    /// Time between this start and another one, whichever came first.
    fn apart(&self, header: &Header, sent: Now, versions: &Versions<'_>) -> Duration {
        let after = self.at.until(header, sent, versions);
        match self.segment == header.segment {
            true => after.max(self.stamp.mono.since(sent.mono)),
            false => after,
        }
    }
}
