//! `backoff`: each 429 or 5xx lengthens the host's wait by a step; good answers work it off.
//!
//! Seeds: P "段階的に", B "429・5xx"; DECISIONS 19. The host's state is shared by all bots of the
//! house, the steps are each charter's own.

use std::collections::HashMap;
use std::time::Duration;

use super::interval::{Ended, wait_from_quiet};
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Admitted, Answered, Event, LaneId};
use crate::fetched::Outcome;
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::Header;
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
            Some(wait) => wait_from_quiet(scene, scene.lane.lane.owed.backoff.max(*wait)),
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
    /// The end of the last request.
    ended: Ended,
    /// What the charter in force then promises after it.
    owed: Duration,
}

impl Proof for Pressure {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let Some((_, admitted)) = entry.admitted else {
            return;
        };
        match entry.event {
            Event::Answered(answered) => self.answer(entry.header, admitted, answered, versions),
            Event::Lost(lost) => self.ends(entry.header, admitted, lost.at, versions),
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
        if let (Some(host), Some(sent)) = (self.hosts.get(&header.lane), answered.sent)
            && host.steps > 0
        {
            let gap = host.ended.until(header, sent, versions);
            let charter = versions.charter(admitted.charter);
            let own = charter.map(|c| promised(&c.failure.steps, host.steps));
            // A charter without steps makes no such promise.
            match own.map(|own| {
                if own.is_zero() {
                    own
                } else {
                    own.max(host.owed)
                }
            }) {
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
        let ended = Ended::of(header, answered.ended);
        let host = self.hosts.entry(header.lane).or_insert(HostUnderPressure {
            steps: 0,
            good: 0,
            ended,
            owed: Duration::ZERO,
        });
        let most = versions.charter_of(&admitted.bot);
        host.count(&answered.outcome, most.map(|c| c.failure.steps.len()));
        self.ends(header, admitted, answered.ended, versions);
    }

    fn ends(&mut self, header: &Header, admitted: &Admitted, at: Now, versions: &Versions<'_>) {
        if let Some(host) = self.hosts.get_mut(&header.lane) {
            host.ended = Ended::of(header, at);
            host.owed = versions
                .charter_of(&admitted.bot)
                .map_or(Duration::ZERO, |c| promised(&c.failure.steps, host.steps));
        }
    }
}

impl HostUnderPressure {
    /// Takes in how an answer came out. A status counts as pressure as soon as it was heard; a
    /// good answer is one that came whole.
    fn count(&mut self, outcome: &Outcome, most: Option<usize>) {
        match outcome {
            Outcome::Status(status)
            | Outcome::Incomplete { status, .. }
            | Outcome::TooLarge { status, .. }
                if matches!(status, 429 | 500..) =>
            {
                self.steps = (self.steps + 1).min(most.unwrap_or(usize::MAX));
                self.good = 0;
            }
            Outcome::Status(_) if self.good == 4 => {
                self.steps /= 2;
                self.good = 0;
            }
            Outcome::Status(_) => self.good += 1,
            _ => {}
        }
    }
}

/// The wait after so many answers of pressure: the last step stands for all beyond it.
fn promised(steps: &[Duration], count: usize) -> Duration {
    steps
        .get(..count.min(steps.len()))
        .and_then(<[_]>::last)
        .copied()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{History, LANE, PAGE, Stage, at};
    use super::*;
    use crate::event::{Lost, Seq};
    use crate::fetched::Phase;

    #[test]
    fn the_wait_grows_by_steps() {
        // The example charter's steps: 1 m, 10 m, 1 h, 6 h.
        for (level, seconds) in [
            (0, None),
            (1, Some(60.0)),
            (2, Some(600.0)),
            (4, Some(21_600.0)),
            (9, Some(21_600.0)),
        ] {
            let mut stage = Stage::new();
            stage.lane.lane.quiet_since = Some(at(0.0));
            stage.lane.lane.backoff = level;
            stage.now = at(1.0);
            let expected = match seconds {
                Some(seconds) => Verdict::NotBefore(at(seconds).wall),
                None => Verdict::Pass,
            };
            assert_eq!(stage.hold(&Backoff, &stage.ask(PAGE)), expected, "{level}");
        }
    }

    #[test]
    fn a_charter_without_steps_promises_none() {
        let mut stage = Stage::new();
        stage.charter.failure.steps.clear();
        stage.lane.lane.backoff = 2;
        stage.lane.lane.quiet_since = Some(at(0.0));
        assert_eq!(stage.hold(&Backoff, &stage.ask(PAGE)), Verdict::Pass);
        assert!(!Backoff.is_made(&stage.charter));
    }

    /// Answers one request with `outcome`, the head sent `after` seconds from the last end.
    fn ask(history: &mut History, outcome: Outcome, after: f64) -> Seq {
        history.wait(after - 0.05);
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.outcome = outcome;
        let answered = history.push(LANE, answer);
        history.wait(0.2);
        answered
    }

    #[test]
    fn each_answer_of_pressure_is_followed_by_a_longer_gap() {
        let mut history = History::new();
        history.open();
        let (good, busy) = (Outcome::Status(200), Outcome::Status(503));
        ask(&mut history, busy.clone(), 2.0);
        ask(&mut history, busy, 60.0);
        ask(&mut history, Outcome::TimedOut(Phase::Head), 600.0);
        ask(&mut history, Outcome::Status(429), 600.0);
        ask(&mut history, good.clone(), 3600.0);
        assert_eq!(history.breaches(&Backoff), []);
        let early = ask(&mut history, good, 3599.0);
        assert_eq!(history.breaches(&Backoff), [early]);
    }

    #[test]
    fn five_good_answers_halve_the_steps() {
        let mut history = History::new();
        history.open();
        for wait in [2.0, 60.0] {
            ask(&mut history, Outcome::Status(500), wait);
        }
        for _ in 0..5 {
            ask(&mut history, Outcome::Status(404), 600.0);
        }
        ask(&mut history, Outcome::Status(200), 60.0);
        assert_eq!(history.breaches(&Backoff), []);
        let early = ask(&mut history, Outcome::Status(200), 59.0);
        assert_eq!(history.breaches(&Backoff), [early]);
    }

    #[test]
    fn a_restart_forgets_no_pressure() {
        let mut history = History::new();
        history.open();
        ask(&mut history, Outcome::Status(503), 2.0);
        let admitted = history.admit(history.page(PAGE));
        let at = history.now;
        history.push(LANE, Lost { admitted, at });
        history.segment = 2;
        let early = ask(&mut history, Outcome::Status(200), 30.0);
        assert_eq!(history.breaches(&Backoff), [early]);
    }

    /// The host said 503, whether or not we got to the end of it.
    #[test]
    fn an_answer_of_pressure_that_was_cut_is_one() {
        for outcome in [
            Outcome::Incomplete {
                status: 503,
                got: 1,
                expected: None,
            },
            Outcome::TooLarge {
                status: 429,
                limit: 9,
            },
        ] {
            let mut history = History::new();
            history.open();
            ask(&mut history, outcome, 2.0);
            let early = ask(&mut history, Outcome::Status(200), 59.0);
            assert_eq!(history.breaches(&Backoff), [early]);
        }
    }

    #[test]
    fn a_milder_charter_does_not_shorten_a_wait_that_runs() {
        let mut history = History::new();
        history.open();
        ask(&mut history, Outcome::Status(503), 2.0);
        history.charter = (*history.adopt(|c| {
            c.failure.steps = vec![Duration::from_secs(1)];
        }))
        .clone();
        let early = ask(&mut history, Outcome::Status(200), 30.0);
        ask(&mut history, Outcome::Status(200), 2.0);
        assert_eq!(history.breaches(&Backoff), [early]);
    }
}
