//! `interval`: on one host, at least this long from the end of an answer to the next request head.
//!
//! Seeds: P "1〜2秒", B "2秒以上". Counted on the wire: a site's own log cannot show a shorter gap
//! (DECISIONS 11).

use std::collections::HashMap;
use std::time::Duration;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Event, LaneId, Seq};
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::{Header, SegmentId};
use crate::time::Now;

/// See the module.
pub struct Interval;

/// Past this age a stamp of another writer's clock cannot matter any more (DECISIONS 13).
const CLOCK_DOUBT: Duration = Duration::from_secs(60);

impl Promise for Interval {
    fn id(&self) -> &'static str {
        "interval"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "アクセス間隔",
            Lang::En => "Interval",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let (min, max) = (charter.pace.interval_min, charter.pace.interval_max);
        let seconds = |d: Duration| format!("{}", d.as_secs_f64());
        Some(match (lang, min == max) {
            (Lang::Ja, true) => format!(
                "同じホストへは、前の応答を受け取り終えてから次のリクエストを送るまで、{}秒以上あけます。",
                seconds(min)
            ),
            (Lang::Ja, false) => format!(
                "同じホストへは、前の応答を受け取り終えてから次のリクエストを送るまで、{}〜{}秒（毎回抽選）以上あけます。{}秒を下回る設定はできません。",
                seconds(min),
                seconds(max),
                seconds(min)
            ),
            (Lang::En, true) => format!(
                "On one host we wait at least {} s from the end of an answer to the next request.",
                seconds(min)
            ),
            (Lang::En, false) => format!(
                "On one host we wait at least {} to {} s (drawn each time) from the end of an answer to the next request, never less than {} s.",
                seconds(min),
                seconds(max),
                seconds(min)
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let own = ask.draw.max(scene.charter.pace.interval_min);
        wait_from_quiet(scene, own.max(scene.lane.lane.owed.interval))
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Gaps::default()))
    }
}

/// "Not before `wait` has passed since the lane fell quiet", by the clock that can be trusted:
/// monotonic within a segment; else wall, and the whole wait anew where the stamp is too young or
/// lies ahead (DECISIONS 13). Shared by the promises that lengthen the gap.
pub(crate) fn wait_from_quiet(scene: &Scene<'_>, wait: Duration) -> Verdict {
    match scene.lane.lane.quiet_since {
        Some(quiet) => wait_since(scene, (scene.lane.lane.segment, quiet), wait),
        None => Verdict::Pass,
    }
}

/// "Not before `wait` has passed since this stamp".
pub(crate) fn wait_since(
    scene: &Scene<'_>,
    (writer, stamp): (SegmentId, Now),
    wait: Duration,
) -> Verdict {
    let (segment, taken_over) = scene.lane.taken_over;
    let from = if writer == segment {
        stamp.mono
    } else if stamp.wall > scene.now.wall
        || scene.now.wall.since(stamp.wall) < wait.saturating_add(CLOCK_DOUBT)
    {
        taken_over
    } else {
        return Verdict::Pass;
    };
    let earliest = from.plus(wait);
    if scene.now.mono >= earliest {
        Verdict::Pass
    } else {
        Verdict::NotBefore(scene.now.wall_at(earliest))
    }
}

/// Gap between the end of a request and the next request head, lane by lane.
#[derive(Default)]
struct Gaps {
    finding: Finding,
    /// The end of each lane's last request, and the least interval of its charter then.
    ended: HashMap<LaneId, (Ended, Duration)>,
}

impl Proof for Gaps {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let Some((_, admitted)) = entry.admitted else {
            return;
        };
        let lane = entry.header.lane;
        let (sent, ended) = match entry.event {
            Event::Answered(answered) => (answered.sent, answered.ended),
            Event::Lost(lost) => (None, lost.at),
            _ => return,
        };
        if let (Some(sent), Some((last, owed))) = (sent, self.ended.get(&lane)) {
            let gap = last.until(entry.header, sent, versions);
            match versions.charter(admitted.charter) {
                None => self
                    .finding
                    .undecidable(entry.header.seq, "its charter is not readable"),
                Some(charter) => {
                    let promised = charter
                        .pace
                        .interval_min
                        .max(Duration::from_micros(admitted.draw_us))
                        .max(*owed);
                    self.finding.check(gap >= promised, entry.header.seq, || {
                        format!("sent {gap:?} after the previous answer, promised {promised:?}")
                    });
                }
            }
        }
        let in_force = versions.charter_of(&admitted.bot);
        let owed = in_force.map_or(Duration::ZERO, |charter| charter.pace.interval_min);
        let ended = Ended::of(entry.header, ended);
        self.ended.insert(lane, (ended, owed));
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

/// The end of a request, as the proofs of gaps remember it.
#[derive(Clone, Copy)]
pub(super) struct Ended {
    entry: Seq,
    segment: SegmentId,
    at: Now,
}

impl Ended {
    /// The end that `header`'s entry tells of.
    pub(super) fn of(header: &Header, at: Now) -> Self {
        Self {
            entry: header.seq,
            segment: header.segment,
            at,
        }
    }

    /// How long after it `later` was, a stamp in `header`'s entry: by the monotonic clock of one
    /// writer. Between two writers by the wall clock, or since the later one began, where it began
    /// after this end was on record: a clock that was set back meanwhile hides no time that the
    /// later one has waited by its own (DECISIONS 13).
    pub(super) fn until(&self, header: &Header, later: Now, versions: &Versions<'_>) -> Duration {
        if self.segment == header.segment {
            return later.mono.since(self.at.mono);
        }
        let own = versions
            .began(header.segment)
            .filter(|(entry, _)| *entry > self.entry)
            .map(|(_, began)| later.mono.since(began));
        later.wall.since(self.at.wall).max(own.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{History, LANE, OTHER_PAGE, PAGE, Stage, at};
    use super::*;
    use crate::event::Lost;

    #[test]
    fn the_wait_runs_from_the_end_of_the_last_answer() {
        // (draw, now) in seconds after that end; the example charter says 2 s.
        for (draw, now, waits_until) in [
            (2.0, 0.5, Some(2.0)),
            (0.0, 0.5, Some(2.0)),
            (3.5, 2.0, Some(3.5)),
            (2.0, 2.0, None),
        ] {
            let mut stage = Stage::new();
            stage.lane.lane.quiet_since = Some(at(0.0));
            stage.now = at(now);
            let ask = Ask {
                draw: Duration::from_secs_f64(draw),
                ..stage.ask(PAGE)
            };
            let expected = match waits_until {
                Some(until) => Verdict::NotBefore(at(until).wall),
                None => Verdict::Pass,
            };
            assert_eq!(stage.hold(&Interval, &ask), expected, "{draw} {now}");
        }
    }

    /// DECISIONS 7 and 9: the stricter of both requests' charters, as they were when it began.
    #[test]
    fn a_slower_bot_and_an_older_charter_are_not_undercut() {
        let mut stage = Stage::new();
        stage.lane.lane.quiet_since = Some(at(0.0));
        stage.lane.lane.owed.interval = Duration::from_secs(10);
        stage.now = at(5.0);
        let ask = stage.ask(PAGE);
        let expected = Verdict::NotBefore(at(10.0).wall);
        assert_eq!(stage.hold(&Interval, &ask), expected);
    }

    /// DECISIONS 13: another writer's stamp is trusted only where it is old enough.
    #[test]
    fn who_takes_a_lane_over_waits_anew_by_its_own_clock() {
        for (stamp, waits) in [(-61.0, true), (-63.0, false), (30.0, true)] {
            let mut stage = Stage::new();
            stage.lane.lane.quiet_since = Some(at(stamp));
            stage.lane.taken_over = (2, at(-1.0).mono);
            let expected = match waits {
                true => Verdict::NotBefore(at(1.0).wall),
                false => Verdict::Pass,
            };
            assert_eq!(stage.hold(&Interval, &stage.ask(PAGE)), expected, "{stamp}");
        }
    }

    /// A page sent `after` seconds from the end of the one before.
    fn sent_after(history: &mut History, after: f64) -> Seq {
        history.wait(after + 0.15);
        let admitted = history.admit(history.page(OTHER_PAGE));
        history.push(LANE, history.answer(admitted))
    }

    #[test]
    fn a_gap_too_short_is_named() {
        for (draw, after, kept) in [
            (2, 2.0, true),
            (2, 1.9, false),
            (3, 2.9, false),
            (3, 3.0, true),
        ] {
            let mut history = History::new();
            history.open();
            let first = history.admit(history.page(PAGE));
            history.push(LANE, history.answer(first));
            history.wait(after + 0.15);
            let mut page = history.page(OTHER_PAGE);
            page.draw_us = draw * 1_000_000;
            let admitted = history.admit(page);
            let answered = history.push(LANE, history.answer(admitted));
            let named = if kept { vec![] } else { vec![answered] };
            assert_eq!(history.breaches(&Interval), named, "{draw} {after}");
        }
    }

    #[test]
    fn the_slower_of_two_bots_on_a_host_is_heard() {
        let slower = |c: &mut Charter| {
            c.bot = "slower".to_owned();
            c.pace.interval_min = Duration::from_secs(10);
        };
        for (after, kept) in [(9.0, false), (10.0, true)] {
            let mut history = History::new();
            let other = history.adopt(slower);
            history.open();
            let mut page = history.page(PAGE);
            (page.bot, page.charter) = (other.bot.clone(), other.digest);
            let admitted = history.admit(page);
            history.push(LANE, history.answer(admitted));
            let answered = sent_after(&mut history, after);
            let named = if kept { vec![] } else { vec![answered] };
            assert_eq!(history.breaches(&Interval), named, "{after}");
        }
    }

    #[test]
    fn a_lost_request_counts_from_when_it_was_missed() {
        for (after, kept) in [(1.0, false), (2.0, true)] {
            let mut history = History::new();
            history.open();
            let admitted = history.admit(history.page(PAGE));
            history.wait(600.0);
            history.begin_segment(2, Vec::new());
            let at = history.now;
            history.push(LANE, Lost { admitted, at });
            history.wait(after - 0.05);
            let admitted = history.admit(history.page(OTHER_PAGE));
            let answered = history.push(LANE, history.answer(admitted));
            let named = if kept { vec![] } else { vec![answered] };
            assert_eq!(history.breaches(&Interval), named, "{after}");
        }
    }

    /// A wall clock that was set back between two writers proves no gap; the time since the later
    /// one began does.
    #[test]
    fn a_clock_set_back_over_a_restart_accuses_nobody() {
        for (after, kept) in [(3.0, true), (1.0, false)] {
            let mut history = History::new();
            history.open();
            history.fetch(PAGE);
            history.now = Now {
                wall: at(-300.0).wall,
                mono: at(-999.0).mono,
            };
            history.begin_segment(2, Vec::new());
            history.wait(after);
            let admitted = history.admit(history.page(OTHER_PAGE));
            let answered = history.push(LANE, history.answer(admitted));
            let named = if kept { vec![] } else { vec![answered] };
            assert_eq!(history.breaches(&Interval), named, "{after}");
        }
    }
}
