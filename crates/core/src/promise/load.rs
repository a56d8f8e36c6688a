//! `load`: a host that answers slowly is asked more slowly, and left alone when it is very slow.
//!
//! Seed: B "間隔の延長または停止"; the charter says from when, and how much.

use std::collections::HashMap;
use std::time::Duration;

use super::interval::{gap, wait_from_quiet};
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Admitted, Answered, Event, LaneId, VisitId};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::journal::{Header, SegmentId};
use crate::policy::words;
use crate::time::Now;

/// See the module.
pub struct Load;

impl Promise for Load {
    fn id(&self) -> &'static str {
        "load"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "サイトの負荷",
            Lang::En => "Load",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let slow = charter.pace.slow?;
        let (after, stop) = (
            words::span(slow.after, lang),
            words::span(slow.stop_after, lang),
        );
        let factor = slow.factor;
        Some(match lang {
            Lang::Ja => format!(
                "応答に{after}以上かかったホストには、次のリクエストまで、かかった時間の{factor}倍以上あけます。{stop}以上かかったときは、その巡回をそこで終えます。"
            ),
            Lang::En => format!(
                "After an answer that took {after} or more, we wait at least {factor} times as long as it took before the next request to that host. If it took {stop} or more, the visit ends there."
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        let Some(slow) = scene.charter.pace.slow else {
            return Verdict::Pass;
        };
        let lane = &scene.lane.lane;
        // A later visit may try again, after the wait.
        let in_this_visit = match (&lane.visit, lane.quiet_since, scene.target) {
            (Some(visit), Some(quiet), Some(_)) => quiet.wall > visit.opened,
            _ => false,
        };
        if in_this_visit && lane.slow_wait >= slow.stop_after.saturating_mul(slow.factor) {
            return Verdict::hold(
                Until::At(scene.now.wall),
                "応答がとても遅いため、この巡回を終えます。",
                "The host answers very slowly: this visit ends.",
            );
        }
        if lane.slow_wait.is_zero() {
            return Verdict::Pass;
        }
        wait_from_quiet(scene, lane.slow_wait)
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Slowness::default()))
    }
}

/// How long each answer took, and the gap after it.
#[derive(Default)]
struct Slowness {
    finding: Finding,
    hosts: HashMap<LaneId, Host>,
}

struct Host {
    ended: (SegmentId, Now),
    /// Owed after the last answer.
    wait: Duration,
    /// The visit that it ended.
    over: Option<(String, String, VisitId)>,
}

impl Proof for Slowness {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let lane = entry.header.lane;
        match (entry.event, entry.admitted) {
            (Event::Admitted(admitted), _) => self.admit(entry.header, admitted, versions),
            (Event::Answered(answered), Some((_, admitted))) => {
                self.answer(entry.header, admitted, answered, versions);
            }
            (Event::Lost(lost), Some(_)) => {
                if let Some(host) = self.hosts.get_mut(&lane) {
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

impl Slowness {
    fn admit(&mut self, header: &Header, admitted: &Admitted, versions: &Versions<'_>) {
        let Some((bot, target, visit)) = self.hosts.get(&header.lane).and_then(|h| h.over.as_ref())
        else {
            return;
        };
        let promised = versions
            .charter(admitted.charter)
            .is_none_or(|charter| charter.pace.slow.is_some());
        let same = (bot, target, *visit) == (&admitted.bot, &admitted.target, admitted.visit);
        self.finding.check(!(promised && same), header.seq, || {
            "the visit went on after an answer that was to end it".to_owned()
        });
    }

    fn answer(
        &mut self,
        header: &Header,
        admitted: &Admitted,
        answered: &Answered,
        versions: &Versions<'_>,
    ) {
        let before = self.hosts.remove(&header.lane);
        let slow = versions
            .charter(admitted.charter)
            .map(|charter| charter.pace.slow);
        if let (Some(host), Some(sent)) = (&before, answered.sent)
            && !host.wait.is_zero()
        {
            let gap = gap(host.ended.0 == header.segment, host.ended.1, sent);
            match slow {
                None => self
                    .finding
                    .undecidable(header.seq, "its charter is not readable"),
                Some(None) => {}
                Some(Some(_)) if gap < host.wait && versions.is_erased_in(header.lane) => self
                    .finding
                    .undecidable(header.seq, "an entry of its lane was erased"),
                Some(Some(_)) => self.finding.check(gap >= host.wait, header.seq, || {
                    format!("sent {gap:?} after a slow answer, promised {:?}", host.wait)
                }),
            }
        }
        let began = answered.sent.unwrap_or(answered.opened);
        let took = gap(true, began, answered.ended);
        let slow = slow.flatten().filter(|slow| took >= slow.after);
        let over = slow.filter(|slow| took >= slow.stop_after).map(|_| {
            (
                admitted.bot.clone(),
                admitted.target.clone(),
                admitted.visit,
            )
        });
        let host = Host {
            ended: (header.segment, answered.ended),
            wait: slow.map_or(Duration::ZERO, |slow| took.saturating_mul(slow.factor)),
            over,
        };
        self.hosts.insert(header.lane, host);
    }
}
