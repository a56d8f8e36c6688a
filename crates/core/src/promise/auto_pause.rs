//! `auto-pause`: a target whose visits keep failing pauses by itself, and nothing that is paused,
//! by a promise or by a person, is asked for. Seed: B "失敗が続く対象は自動的に一時停止".

use std::collections::HashMap;

use super::reach::Covered;
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind, Resume};
use crate::event::{Admitted, Answered, Event, LaneId, Paused, Reach};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::journal::Header;
use crate::policy::words;
use crate::state::LaneState;
use crate::time::Timestamp;

/// See the module.
pub struct AutoPause;

impl Promise for AutoPause {
    fn id(&self) -> &'static str {
        "auto-pause"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "自動の一時停止",
            Lang::En => "Automatic pause",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let visits = words::count(charter.failure.pause_after.into());
        Some(match (lang, charter.failure.resume) {
            (Lang::Ja, Resume::Person) => format!(
                "巡回の失敗が{visits}回続いた対象は、自動的に一時停止します。担当者が再開するまで、取得しません。"
            ),
            (Lang::Ja, Resume::After(span)) => format!(
                "巡回の失敗が{visits}回続いた対象は、自動的に{}のあいだ一時停止し、取得しません。",
                words::span(span, lang)
            ),
            (Lang::En, Resume::Person) => format!(
                "A target whose visits fail {visits} times in a row pauses by itself. Nothing of it is asked for until a person resumes it."
            ),
            (Lang::En, Resume::After(span)) => format!(
                "A target whose visits fail {visits} times in a row pauses by itself for {}. Nothing of it is asked for meanwhile.",
                words::span(span, lang)
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let now = scene.now.wall;
        let in_force = |pause: &&Paused| pause.until.is_none_or(|until| now < until);
        let reach = LaneState::target_reach(&ask.target);
        let pauses = &scene.house.facts.pauses;
        let by_person = pauses.iter().filter(in_force).find(|p| p.reach == reach);
        let own = scene.target.and_then(|t| t.pause.as_ref());
        let pause = own
            .filter(in_force)
            .or(by_person)
            .or_else(|| scene.house.pause(&ask.url, now));
        pause.map_or(Verdict::Pass, held)
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Pauses::default()))
    }
}

fn held(pause: &Paused) -> Verdict {
    let until = pause.until.map_or(Until::Person, Until::At);
    let (ja, en) = match pause.until {
        Some(at) => (
            format!("（{}まで）", at.rfc3339()),
            format!(" until {}", at.rfc3339()),
        ),
        None => Default::default(),
    };
    Verdict::hold(
        until,
        format!("一時停止中です{ja}：{}", pause.reason),
        format!("paused{en}: {}", pause.reason),
    )
}

/// Nothing paused is asked for, and enough failures in a row are followed by a pause.
#[derive(Default)]
struct Pauses {
    finding: Finding,
    /// By where they stand: a lane's own pauses and the house's are lifted apart.
    in_lanes: Covered<Option<Timestamp>>,
    in_house: Covered<Option<Timestamp>>,
    streaks: HashMap<(String, String), Streak>,
}

/// Failed visits in a row of one target.
#[derive(Default)]
struct Streak {
    visits: u32,
    /// The answers of the visit under way tell of a failure, whatever the visit says at its end.
    failing: bool,
    paused: bool,
}

impl Proof for Pauses {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let header = entry.header;
        match entry.event {
            Event::Paused(paused) => self.pause(header, paused),
            Event::Resumed(resumed) => {
                self.table(header.lane).lift(&resumed.reach);
                if let Some(streak) = self.streak_of(&resumed.reach) {
                    *streak = Streak::default();
                }
            }
            Event::Admitted(admitted) => self.admit(header, admitted),
            Event::Answered(answered) => {
                if let Some((_, admitted)) = entry.admitted
                    && admitted.kind == RequestKind::Page
                    && is_failure(answered)
                {
                    self.streak(&admitted.bot, &admitted.target).failing = true;
                }
            }
            Event::VisitOpened(opened) => {
                let after = versions
                    .charter_of(&opened.bot)
                    .map(|c| c.failure.pause_after);
                let streak = self.streak(&opened.bot, &opened.target);
                let (visits, kept) = (
                    streak.visits,
                    streak.paused || after.is_none_or(|after| streak.visits < after),
                );
                streak.failing = false;
                if !kept && versions.is_erased_in(header.lane) {
                    self.finding
                        .undecidable(header.seq, "an entry of its lane was erased");
                } else if visits > 0 {
                    self.finding.check(kept, header.seq, || {
                        format!("visited again after {visits} failed visits without a pause")
                    });
                }
            }
            Event::VisitClosed(closed) => {
                let streak = self.streak(&closed.bot, &closed.target);
                let failed = closed.failed || streak.failing;
                streak.visits = if failed { streak.visits + 1 } else { 0 };
                streak.paused = false;
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Pauses {
    fn table(&mut self, lane: LaneId) -> &mut Covered<Option<Timestamp>> {
        match lane {
            LaneId::HOUSE => &mut self.in_house,
            _ => &mut self.in_lanes,
        }
    }

    fn pause(&mut self, header: &Header, paused: &Paused) {
        if !self.table(header.lane).put(&paused.reach, paused.until) {
            self.finding
                .undecidable(header.seq, "what the pause covers cannot be read");
        }
        if let Some(streak) = self.streak_of(&paused.reach) {
            streak.paused = true;
        }
    }

    fn admit(&mut self, header: &Header, admitted: &Admitted) {
        let mut pauses: Vec<&Option<Timestamp>> = Vec::new();
        for table in [&self.in_lanes, &self.in_house] {
            if !table.is_empty() {
                pauses.extend(table.of_target(&admitted.bot, &admitted.target));
                pauses.extend(table.of_url(&admitted.url));
            }
        }
        let leaves = admitted.not_before.wall;
        let paused = pauses
            .iter()
            .any(|until| until.is_none_or(|until| leaves < until));
        self.finding.check(!paused, header.seq, || {
            "asked for while its target, host or address was paused".to_owned()
        });
    }

    fn streak(&mut self, bot: &str, target: &str) -> &mut Streak {
        self.streaks
            .entry((bot.to_owned(), target.to_owned()))
            .or_default()
    }

    fn streak_of(&mut self, reach: &Reach) -> Option<&mut Streak> {
        match reach {
            Reach::Target { bot, target } => Some(self.streak(bot, target)),
            _ => None,
        }
    }
}

/// Pressure, or no complete answer.
fn is_failure(answered: &Answered) -> bool {
    match answered.outcome.status() {
        Some(status) => status == 429 || status >= 500,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::event::{Resumed, Seq};
    use crate::fetched::Outcome;
    use crate::promise::testing::{History, LANE, PAGE, Stage, at, key, word};

    fn pause(reach: Reach, until: Option<Timestamp>) -> Paused {
        Paused {
            reach,
            by: "sato".to_owned(),
            reason: "点検".to_owned(),
            until,
            epoch: 1,
        }
    }

    fn target() -> Reach {
        LaneState::target_reach(&key())
    }

    #[test]
    fn what_is_paused_waits_for_its_end_or_for_a_person() {
        let host = || Reach::Host("school.example.jp".to_owned());
        let elsewhere = Reach::Host("other.example.jp".to_owned());
        for (name, own, house, expected) in [
            ("nothing", None, None, "pass"),
            (
                "the target, till later",
                Some((target(), Some(60.0))),
                None,
                "hold",
            ),
            (
                "the target, till before",
                Some((target(), Some(-1.0))),
                None,
                "pass",
            ),
            (
                "the target, by a person",
                None,
                Some((target(), None)),
                "hold",
            ),
            ("the host", None, Some((host(), None)), "hold"),
            ("all", None, Some((Reach::All, Some(60.0))), "hold"),
            ("another host", None, Some((elsewhere, None)), "pass"),
        ] {
            let mut stage = Stage::new();
            let made =
                |(reach, until): (Reach, Option<f64>)| pause(reach, until.map(|s| at(s).wall));
            if let Some(target) = &mut stage.target {
                target.pause = own.map(made);
            }
            stage.house.facts.pauses.extend(house.map(made));
            let ask = stage.ask(PAGE);
            assert_eq!(word(&stage.hold(&AutoPause, &ask)), expected, "{name}");
        }
    }

    #[test]
    fn a_request_during_a_pause_is_named() {
        let mut history = History::new();
        history.open();
        history.fetch(PAGE);
        history.house(pause(target(), None));
        let during = history.admit(history.page(PAGE));
        history.house(Resumed {
            reach: target(),
            by: "sato".to_owned(),
            reason: String::new(),
            epoch: 2,
        });
        history.admit(history.page(PAGE));
        let until = history.now.wall.plus(Duration::from_secs(60));
        history.push(LANE, pause(target(), Some(until)));
        let early = history.admit(history.page(PAGE));
        history.wait(60.0);
        history.admit(history.page(PAGE));
        assert_eq!(history.breaches(&AutoPause), [during, early]);
    }

    #[test]
    fn failures_in_a_row_must_end_in_a_pause() {
        let mut history = History::under(|c| c.failure.pause_after = 2);
        for failed in [true, false, true, true] {
            history.open();
            history.close(failed);
        }
        history.push(LANE, pause(target(), Some(history.now.wall)));
        history.open();
        assert_eq!(history.breaches(&AutoPause), []);
        // The visit says that all was well; its answers say otherwise.
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.outcome = Outcome::Status(503);
        history.push(LANE, answer);
        let opened = Seq(history.close(false).0 + 1);
        history.open();
        assert_eq!(history.breaches(&AutoPause), [opened]);
    }
}
