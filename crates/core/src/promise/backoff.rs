//! `backoff`: each 429 or 5xx lengthens the host's wait by a step; good answers work it off.
//!
//! Seeds: P "段階的に", B "429・5xx"; DECISIONS 19. The host's state is shared by all bots of the
//! house, the steps are each charter's own.

use std::collections::HashMap;
use std::time::Duration;

use super::interval::{gap, wait_from_quiet};
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Admitted, Answered, Event, LaneId};
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::{Header, SegmentId};
use crate::policy::words;
use crate::time::Now;

/// See the module.
pub struct Backoff;

impl Promise for Backoff {
    fn id(&self) -> &'static str {
        "backoff"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "エラー時の間隔",
            Lang::En => "Backing off",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let steps: Vec<String> = charter
            .failure
            .steps
            .iter()
            .map(|step| words::span(*step, lang))
            .collect();
        (!steps.is_empty()).then(|| match lang {
            Lang::Ja => format!(
                "429 か 5xx の応答を受けるたびに、同じホストへの間隔を段階的に長くします（{}以上）。それ以外の応答を5回受けるごとに、段階を半分に下げます。",
                steps.join(" → ")
            ),
            Lang::En => format!(
                "Each answer of 429 or 5xx lengthens our wait on that host by a step (at least {}). Every five other answers halve the steps.",
                steps.join(" → ")
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        let steps = &scene.charter.failure.steps;
        let level = usize::try_from(scene.lane.lane.backoff).unwrap_or(usize::MAX);
        let step = level.min(steps.len()).checked_sub(1);
        match step.and_then(|at| steps.get(at)) {
            Some(wait) => wait_from_quiet(scene, *wait),
            None => Verdict::Pass,
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Pressure::default()))
    }
}

/// Answers of pressure, counted again from their statuses, and the gaps after them.
#[derive(Default)]
struct Pressure {
    finding: Finding,
    hosts: HashMap<LaneId, HostUnderPressure>,
}

struct HostUnderPressure {
    /// Steps not worked off.
    steps: usize,
    /// Good answers since.
    good: u8,
    ended: (SegmentId, Now),
}

impl Proof for Pressure {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let Some((_, admitted)) = entry.admitted else {
            return;
        };
        match entry.event {
            Event::Answered(answered) => self.answer(entry.header, admitted, answered, versions),
            Event::Lost(lost) => {
                if let Some(host) = self.hosts.get_mut(&entry.header.lane) {
                    host.ended = (entry.header.segment, lost.at);
                }
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Pressure {
    fn answer(
        &mut self,
        header: &Header,
        admitted: &Admitted,
        answered: &Answered,
        versions: &Versions<'_>,
    ) {
        let ended = (header.segment, answered.ended);
        let host = self.hosts.entry(header.lane).or_insert(HostUnderPressure {
            steps: 0,
            good: 0,
            ended,
        });
        let charter = versions.charter(admitted.charter);
        if let Some(sent) = answered.sent
            && host.steps > 0
        {
            let gap = gap(host.ended.0 == header.segment, host.ended.1, sent);
            match charter.map(|c| promised(&c.failure.steps, host.steps)) {
                None => self
                    .finding
                    .undecidable(header.seq, "its charter is not readable"),
                Some(wait) if gap < wait && versions.is_erased_in(header.lane) => self
                    .finding
                    .undecidable(header.seq, "an entry of its lane was erased"),
                Some(wait) => self.finding.check(gap >= wait, header.seq, || {
                    format!("sent {gap:?} after the previous answer, promised {wait:?}")
                }),
            }
        }
        host.ended = ended;
        match answered.outcome.status() {
            Some(429 | 500..) => {
                let most = charter.map_or(usize::MAX, |c| c.failure.steps.len());
                host.steps = (host.steps + 1).min(most);
                host.good = 0;
            }
            Some(_) if host.good == 4 => {
                host.steps /= 2;
                host.good = 0;
            }
            Some(_) => host.good += 1,
            None => {}
        }
    }
}

/// The wait after so many answers of pressure: the last step stands for all beyond it.
fn promised(steps: &[Duration], count: usize) -> Duration {
    steps.iter().take(count).last().copied().unwrap_or_default()
}
