//! `load`: a host that answers slowly is asked more slowly, and left alone when it is very slow.
//!
//! Seed: B "間隔の延長または停止"; the charter says from when, and how much.

use std::collections::HashMap;
use std::time::Duration;

use super::interval::{Ended, wait_from_quiet};
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Admitted, Answered, Event, LaneId, VisitId};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::journal::Header;
use crate::policy::words;

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
                "応答の遅い（{after}以上かかった）ホストでは、次のリクエストまでの間隔を、かかった時間の{factor}倍以上に延ばします。{stop}以上かかったときは、その巡回をそこでやめます。"
            ),
            Lang::En => format!(
                "After a slow answer ({after} or more) we wait at least {factor} times as long as it took before the next request to that host. If it took {stop} or more, the visit ends there."
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let lane = &scene.lane.lane;
        if scene.charter.pace.slow.is_none() {
            return Verdict::Pass;
        }
        // A later visit may try again, after the wait.
        let over = lane.too_slow.as_ref();
        if over.is_some_and(|(target, visit)| (target, *visit) == (&ask.target, ask.visit)) {
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
    ended: Ended,
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
                    host.ended = Ended::of(entry.header, lost.at);
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
            let gap = host.ended.until(header, sent, versions);
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
        let took = answered.ended.mono.since(began.mono);
        // The wait that begins now is that of the charter in force now.
        let slow = versions
            .charter_of(&admitted.bot)
            .and_then(|charter| charter.pace.slow)
            .filter(|slow| took >= slow.after);
        let over = slow.filter(|slow| took >= slow.stop_after).map(|_| {
            (
                admitted.bot.clone(),
                admitted.target.clone(),
                admitted.visit,
            )
        });
        let host = Host {
            ended: Ended::of(header, answered.ended),
            wait: slow.map_or(Duration::ZERO, |slow| took.saturating_mul(slow.factor)),
            over,
        };
        self.hosts.insert(header.lane, host);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{History, LANE, OTHER_PAGE, PAGE, Stage, at, key, word};
    use super::*;
    use crate::event::Seq;

    #[test]
    fn a_slow_host_is_asked_more_slowly() {
        // The example charter: slow from 3 s, twice as long, the visit ends from 15 s.
        for (slow_wait, now, expected) in [
            (0, 1.0, "pass"),
            (8, 1.0, "wait"),
            (8, 8.0, "pass"),
            (30, 100.0, "hold"),
        ] {
            let mut stage = Stage::new();
            stage.lane.lane.quiet_since = Some(at(0.5));
            stage.lane.lane.slow_wait = Duration::from_secs(slow_wait);
            stage.lane.lane.too_slow = (slow_wait >= 30).then(|| (key(), 1));
            stage.now = at(now + 0.5);
            let got = stage.hold(&Load, &stage.ask(PAGE));
            assert_eq!(word(&got), expected, "{slow_wait} s after {now} s");
        }
    }

    #[test]
    fn a_later_visit_may_try_again() {
        let mut stage = Stage::new();
        stage.lane.lane.quiet_since = Some(at(-100.0));
        stage.lane.lane.slow_wait = Duration::from_secs(40);
        stage.lane.lane.too_slow = Some((key(), 0));
        assert_eq!(word(&stage.hold(&Load, &stage.ask(PAGE))), "pass");
        stage.now = at(-90.0);
        assert_eq!(word(&stage.hold(&Load, &stage.ask(PAGE))), "wait");
    }

    #[test]
    fn a_charter_that_does_not_say_so_waits_no_longer() {
        let mut stage = Stage::new();
        stage.charter.pace.slow = None;
        stage.lane.lane.quiet_since = Some(at(0.5));
        stage.lane.lane.slow_wait = Duration::from_secs(40);
        stage.now = at(3.0);
        assert_eq!(word(&stage.hold(&Load, &stage.ask(PAGE))), "pass");
        assert!(!Load.is_made(&stage.charter));
    }

    /// An answer that takes `took` seconds, its head sent `after` seconds from the last end.
    fn ask(history: &mut History, url: &str, after: f64, took: f64) -> (Seq, Seq) {
        history.wait(after - 0.05);
        let admitted = history.admit(history.page(url));
        let mut answer = history.answer(admitted);
        history.wait(0.05 + took);
        answer.ended = history.now;
        (admitted, history.push(LANE, answer))
    }

    #[test]
    fn gaps_after_slow_answers_are_measured_again() {
        for (took, after, broken) in [
            (2.9, 2.0, 0),
            (3.0, 6.01, 0),
            (3.0, 5.9, 1),
            (14.0, 27.0, 1),
            (14.0, 28.01, 0),
        ] {
            let mut history = History::new();
            history.open();
            ask(&mut history, PAGE, 2.0, took);
            let (_, next) = ask(&mut history, OTHER_PAGE, after, 0.1);
            let named = vec![next; broken];
            assert_eq!(history.breaches(&Load), named, "{took} s, then {after} s");
        }
    }

    #[test]
    fn a_very_slow_answer_ends_the_visit() {
        let mut history = History::new();
        history.open();
        ask(&mut history, PAGE, 2.0, 15.0);
        let (on, _) = ask(&mut history, OTHER_PAGE, 60.0, 0.1);
        assert_eq!(history.breaches(&Load), [on]);
        let mut history = History::new();
        history.open();
        ask(&mut history, PAGE, 2.0, 15.0);
        history.close(false);
        history.open();
        ask(&mut history, OTHER_PAGE, 60.0, 0.1);
        assert_eq!(history.breaches(&Load), []);
    }

    /// A hop for another lane's visit passes a host by; what it is slow to answer ends that visit.
    #[test]
    fn a_very_slow_hop_ends_the_visit_that_it_is_for() {
        for (visit, expected) in [(1, "hold"), (2, "pass")] {
            let mut stage = Stage::new();
            stage.target = None;
            stage.lane.lane.visit = None;
            stage.lane.lane.quiet_since = Some(at(-100.0));
            stage.lane.lane.slow_wait = Duration::from_secs(40);
            stage.lane.lane.too_slow = Some((key(), 1));
            let ask = Ask {
                visit,
                hop: 1,
                ..stage.ask(PAGE)
            };
            assert_eq!(word(&stage.hold(&Load, &ask)), expected, "visit {visit}");
        }
    }
}
