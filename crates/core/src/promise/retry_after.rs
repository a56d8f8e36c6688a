//! `retry-after`: a time that a site names by Retry-After is waited for, or the charter says that
//! it is only written down.
//!
//! Seeds: B "Retry-After に従います", P "参照しません"; DECISIONS 36, RFC 9110 section 10.2.3.

use std::collections::HashMap;
use std::time::Duration;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RetryAfter as Policy};
use crate::event::{Admitted, Answered, Event, LaneId, Reach};
use crate::fetched::Outcome;
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::Header;
use crate::policy::words;
use crate::time::Timestamp;

/// See the module.
pub struct RetryAfter;

impl Promise for RetryAfter {
    fn id(&self) -> &'static str {
        "retry-after"
    }

    fn title(&self, _lang: Lang) -> &'static str {
        "Retry-After"
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        Some(match (lang, charter.failure.retry_after) {
            (Lang::Ja, Policy::Honour { cap }) => format!(
                "429 か 503 の応答が Retry-After で示した時刻（秒数でも日時でも）までは、そのホストにリクエストを送りません。{}より先の時刻なら対象を一時停止し、その時刻より前に自動で再開することはありません。",
                words::span(cap, lang)
            ),
            (Lang::Ja, Policy::Ignore) => {
                "Retry-After の値は記録だけして、待ち時間の計算には使いません。".into()
            }
            (Lang::En, Policy::Honour { cap }) => format!(
                "Where an answer of 429 or 503 names a time by Retry-After (in seconds or as a date), nothing is sent to that host before it. A time more than {} ahead pauses the target, which never resumes by itself any earlier.",
                words::span(cap, lang)
            ),
            (Lang::En, Policy::Ignore) => {
                "A Retry-After is written down, but our waits do not depend on it.".into()
            }
        })
    }

    fn hold(&self, scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        match (
            scene.charter.failure.retry_after,
            scene.lane.lane.retry_after,
        ) {
            (Policy::Honour { .. }, Some(at)) if at > scene.now.wall => Verdict::NotBefore(at),
            _ => Verdict::Pass,
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Named::default()))
    }

    /// The pause that a long one asks for is kept by `auto-pause`.
    fn implies(&self) -> &'static [&'static str] {
        &["auto-pause"]
    }
}

/// The instant that a Retry-After value names, seen at `at`: seconds or an HTTP-date (RFC 9110
/// section 10.2.3). `None`: unreadable, negative or past, which is no information (G07).
pub(crate) fn named_instant(value: &str, at: Timestamp) -> Option<Timestamp> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) {
        // More digits than any calendar has still mean "much later".
        let seconds = value
            .parse::<u64>()
            .unwrap_or(u64::MAX)
            .min(100 * 365 * 86_400);
        return (seconds > 0).then(|| at.plus(std::time::Duration::from_secs(seconds)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    let since = date.duration_since(std::time::UNIX_EPOCH).ok()?;
    let named = Timestamp::default().plus(since);
    (named > at).then_some(named)
}

/// Times that sites named, read again by a reader of the proof's own.
#[derive(Default)]
struct Named {
    finding: Finding,
    hosts: HashMap<LaneId, Timestamp>,
    /// Targets that must be quiet, and whether a pause says so.
    quiet: HashMap<(String, String), (Timestamp, bool)>,
}

impl Proof for Named {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let header = entry.header;
        match (entry.event, entry.admitted) {
            (Event::Admitted(admitted), _) => {
                let leaves = admitted.not_before.wall;
                self.begin(header, &admitted.bot, &admitted.target, leaves);
            }
            (Event::VisitOpened(opened), _) => {
                self.begin(header, &opened.bot, &opened.target, header.at);
            }
            (Event::Answered(answered), Some((_, admitted))) => {
                if let Some(sent) = answered.sent {
                    self.sent(header, admitted, sent.wall, versions);
                }
                self.answer(header.lane, admitted, answered, versions);
            }
            (Event::Lost(_), Some((_, admitted))) => {
                self.sent(header, admitted, admitted.not_before.wall, versions);
            }
            (Event::Paused(paused), _) if paused.by == "retry-after" => {
                if let Reach::Target { bot, target } = &paused.reach
                    && let Some((_, is_paused)) = self.quiet.get_mut(&(bot.clone(), target.clone()))
                {
                    *is_paused = true;
                }
            }
            (Event::Resumed(resumed), _) => {
                if let Reach::Target { bot, target } = &resumed.reach {
                    self.quiet.remove(&(bot.clone(), target.clone()));
                }
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Named {
    /// A visit or a request of a target begins.
    fn begin(&mut self, header: &Header, bot: &str, target: &str, at: Timestamp) {
        let key = (bot.to_owned(), target.to_owned());
        let Some((until, paused)) = self.quiet.get(&key).copied() else {
            return;
        };
        self.finding.check(paused && at >= until, header.seq, || {
            let until = until.rfc3339();
            match paused {
                true => format!("its site had asked for quiet until {until}"),
                false => format!("not paused, though its site asked for quiet until {until}"),
            }
        });
        // Named once: what follows of the same target is no other breach.
        self.quiet.remove(&key);
    }

    fn sent(&mut self, header: &Header, admitted: &Admitted, at: Timestamp, v: &Versions<'_>) {
        let Some(until) = self.hosts.get(&header.lane).copied() else {
            return;
        };
        match v.charter(admitted.charter).map(|c| c.failure.retry_after) {
            None => self
                .finding
                .undecidable(header.seq, "its charter is not readable"),
            Some(Policy::Ignore) => {}
            Some(Policy::Honour { .. }) => self.finding.check(at >= until, header.seq, || {
                let (at, until) = (at.rfc3339(), until.rfc3339());
                format!("sent at {at}, its host had asked for quiet until {until}")
            }),
        }
        if at >= until {
            self.hosts.remove(&header.lane);
        }
    }

    fn answer(&mut self, lane: LaneId, admitted: &Admitted, answered: &Answered, v: &Versions<'_>) {
        // What counts is the charter in force when the time was named.
        let policy = v.charter_of(&admitted.bot).map(|c| c.failure.retry_after);
        let (
            Some(Policy::Honour { cap }),
            Outcome::Status(429 | 503)
            | Outcome::Incomplete {
                status: 429 | 503, ..
            }
            | Outcome::TooLarge {
                status: 429 | 503, ..
            },
        ) = (policy, &answered.outcome)
        else {
            return;
        };
        let ended = answered.ended.wall;
        let Some(wait) = answered.header("retry-after").and_then(|v| wait(v, ended)) else {
            return;
        };
        let until = ended.plus(wait);
        if wait <= cap {
            let named = self.hosts.entry(lane).or_insert(until);
            *named = until.max(*named);
        } else {
            let key = (admitted.bot.clone(), admitted.target.clone());
            self.quiet.insert(key, (until, false));
        }
    }
}

/// How long after `from` the value says to wait; `None` where it says nothing of use.
fn wait(value: &str, from: Timestamp) -> Option<Duration> {
    const CENTURY: u64 = 100 * 365 * 86_400;
    let value = value.trim();
    let seconds = if value.chars().all(|c| c.is_ascii_digit()) && !value.is_empty() {
        let digits = value.trim_start_matches('0');
        match digits.len() {
            0 => return None,
            1..=10 => Duration::from_secs(digits.parse::<u64>().ok()?.min(CENTURY)),
            _ => Duration::from_secs(CENTURY),
        }
    } else {
        let named = httpdate::parse_http_date(value).ok()?;
        let epoch = named
            .duration_since(std::time::SystemTime::UNIX_EPOCH)
            .ok()?;
        let from = u64::try_from(from.micros()).ok()?;
        epoch.checked_sub(Duration::from_micros(from))?
    };
    (!seconds.is_zero()).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{BOT, History, LANE, OTHER_PAGE, PAGE, Stage, TARGET, at, header};
    use super::*;
    use crate::charter::RequestKind;
    use crate::event::{Paused, Resumed, Seq};
    use crate::state::PendingAnswer;

    /// Values, and the seconds that they ask for when seen at 2026-11-30T03:00:00Z.
    const VALUES: [(&str, Option<u64>); 12] = [
        ("120", Some(120)),
        (" 7 ", Some(7)),
        ("Mon, 30 Nov 2026 03:10:00 GMT", Some(600)),
        ("Monday, 30-Nov-26 03:10:00 GMT", Some(600)),
        ("99999999999999999999999", Some(100 * 365 * 86_400)),
        ("0", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("Mon, 30 Nov 2026 02:00:00 GMT", None),
        ("１２０", None),
    ];

    #[test]
    fn both_readers_read_alike() {
        let from = at(0.0).wall;
        for (value, seconds) in VALUES {
            let wanted = seconds.map(Duration::from_secs);
            assert_eq!(wait(value, from), wanted, "{value:?}");
            assert_eq!(
                named_instant(value, from),
                wanted.map(|w| from.plus(w)),
                "{value:?}"
            );
        }
    }

    #[test]
    fn a_named_time_is_waited_for() {
        let mut stage = Stage::new();
        stage.lane.lane.retry_after = Some(at(60.0).wall);
        let ask = stage.ask(PAGE);
        assert_eq!(
            stage.hold(&RetryAfter, &ask),
            Verdict::NotBefore(at(60.0).wall)
        );
        stage.now = at(60.0);
        assert_eq!(stage.hold(&RetryAfter, &ask), Verdict::Pass);
        stage.now = at(0.0);
        stage.charter.failure.retry_after = Policy::Ignore;
        assert_eq!(stage.hold(&RetryAfter, &ask), Verdict::Pass);
    }

    #[test]
    fn each_policy_has_its_sentence() {
        let mut charter = super::super::testing::charter();
        let says = RetryAfter.say(&charter, Lang::Ja).unwrap();
        assert!(says.contains("24時間"), "{says}");
        charter.failure.retry_after = Policy::Ignore;
        assert_ne!(RetryAfter.say(&charter, Lang::Ja).unwrap(), says);
    }

    /// A page answered by `status` with this Retry-After, at second 0.2.
    fn busy(history: &mut History, status: u16, value: &str) {
        history.open();
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.outcome = Outcome::Status(status);
        answer.headers.push(header("retry-after", value));
        history.push(LANE, answer);
    }

    #[test]
    fn nothing_is_sent_before_the_time() {
        for (status, value, after, broken) in [
            (503, "120", 119.0, 1),
            (503, "120", 121.0, 0),
            (429, "Mon, 30 Nov 2026 03:10:00 GMT", 599.0, 1),
            (429, "Mon, 30 Nov 2026 03:10:00 GMT", 600.0, 0),
            (200, "120", 3.0, 0),
            (503, "soon", 3.0, 0),
            (503, "-5", 3.0, 0),
        ] {
            let mut history = History::new();
            busy(&mut history, status, value);
            history.wait(after);
            let sent = history.fetch(OTHER_PAGE);
            let named = vec![sent; broken];
            assert_eq!(history.breaches(&RetryAfter), named, "{status} {value}");
        }
    }

    #[test]
    fn a_charter_that_ignores_it_breaks_nothing() {
        let mut history = History::under(|c| c.failure.retry_after = Policy::Ignore);
        busy(&mut history, 503, "120");
        history.wait(3.0);
        history.fetch(OTHER_PAGE);
        assert_eq!(history.breaches(&RetryAfter), []);
    }

    fn target() -> Reach {
        Reach::Target {
            bot: BOT.to_owned(),
            target: TARGET.to_owned(),
        }
    }

    fn pause(history: &mut History, by: &str, until: Option<Timestamp>) -> Seq {
        history.push(
            LANE,
            Paused {
                reach: target(),
                by: by.to_owned(),
                reason: String::new(),
                until,
                epoch: 1,
            },
        )
    }

    #[test]
    fn a_robots_txt_beyond_the_cap_pauses_the_target_too() {
        for (value, entries) in [("604800", 2), ("60", 1), ("soon", 1)] {
            let mut stage = Stage::new();
            let charter = std::sync::Arc::new(stage.charter.clone());
            stage.house.charters.insert(BOT.to_owned(), charter);
            stage.lane.lane.visit.as_mut().unwrap().answer = Some(PendingAnswer {
                answered: Seq(4),
                kind: RequestKind::Robots,
                url: "https://school.example.jp/robots.txt".to_owned(),
                answers_for: Some("https://school.example.jp".to_owned()),
                hop: 0,
                outcome: Some(Outcome::Status(503)),
                location: None,
                sets_cookie: false,
                held: None,
                retry_after: Some(value.to_owned()),
                body: None,
            });
            let step = crate::crawl::next(&stage.house, &stage.lane, stage.now);
            let crate::crawl::Step::Write(written) = step else {
                panic!("{step:?}");
            };
            assert_eq!(written.len(), entries, "{value}");
            let pauses = |w: &crate::crawl::Written| matches!(&w.event, Event::Paused(_));
            assert_eq!(written.iter().any(pauses), entries == 2, "{value}");
        }
    }

    #[test]
    fn beyond_the_cap_the_target_pauses() {
        let week = "604800";
        let mut history = History::new();
        busy(&mut history, 503, week);
        pause(&mut history, "retry-after", None);
        history.house(Resumed {
            reach: target(),
            by: "sato".to_owned(),
            reason: String::new(),
            epoch: 2,
        });
        history.wait(86_400.0);
        history.fetch(PAGE);
        assert_eq!(history.breaches(&RetryAfter), []);

        let mut history = History::new();
        busy(&mut history, 503, week);
        history.wait(700_000.0);
        history.open();
        assert_eq!(history.prove(&RetryAfter).broken, 1, "no pause");

        let mut history = History::new();
        busy(&mut history, 503, week);
        pause(&mut history, "retry-after", None);
        // A shorter pause in its place does not end it.
        pause(&mut history, "auto-pause", Some(at(86_400.0).wall));
        history.wait(90_000.0);
        let early = history.admit(history.page(OTHER_PAGE));
        assert_eq!(history.breaches(&RetryAfter), [early]);
    }

    #[test]
    fn a_time_named_by_an_answer_that_was_cut_counts() {
        let mut history = History::new();
        history.open();
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.outcome = Outcome::TooLarge {
            status: 503,
            limit: 9,
        };
        answer.headers.push(header("retry-after", "120"));
        history.push(LANE, answer);
        history.wait(60.0);
        let early = history.fetch(OTHER_PAGE);
        assert_eq!(history.breaches(&RetryAfter), [early]);
    }
}
