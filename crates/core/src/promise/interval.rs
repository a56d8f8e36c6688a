//! `interval`: on one host, at least this long from the end of an answer to the next request head.
//!
//! Seeds: P "1〜2秒", B "2秒以上". Counted on the wire: a site's own log cannot show a shorter gap
//! (DECISIONS 11).

use std::collections::HashMap;
use std::time::Duration;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Event, LaneId};
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::SegmentId;
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
        wait_from_quiet(scene, ask.draw.max(scene.charter.pace.interval_min))
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Gaps::default()))
    }
}

/// "Not before `wait` has passed since the lane fell quiet", by the clock that can be trusted:
/// monotonic within a segment; else wall, and the whole wait anew where the stamp is too young or
/// lies ahead (DECISIONS 13). Shared by the promises that lengthen the gap.
pub(crate) fn wait_from_quiet(scene: &Scene<'_>, wait: Duration) -> Verdict {
    let Some(quiet) = scene.lane.lane.quiet_since else {
        return Verdict::Pass;
    };
    let (segment, taken_over) = scene.lane.taken_over;
    let from = if scene.lane.lane.segment == segment {
        quiet.mono
    } else if quiet.wall > scene.now.wall
        || scene.now.wall.since(quiet.wall) < wait.saturating_add(CLOCK_DOUBT)
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
    ended: HashMap<LaneId, (SegmentId, Now)>,
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
        if let (Some(sent), Some((segment, last))) = (sent, self.ended.get(&lane)) {
            let gap = gap(entry.header.segment == *segment, *last, sent);
            match versions.charter(admitted.charter) {
                None => self
                    .finding
                    .undecidable(entry.header.seq, "its charter is not readable"),
                Some(charter) => {
                    let promised = charter
                        .pace
                        .interval_min
                        .max(Duration::from_micros(admitted.draw_us));
                    self.finding.check(gap >= promised, entry.header.seq, || {
                        format!("sent {gap:?} after the previous answer, promised {promised:?}")
                    });
                }
            }
        }
        self.ended.insert(lane, (entry.header.segment, ended));
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

/// Time between two stamps: by the monotonic clock within a segment, else by the wall clock.
pub(crate) fn gap(same_segment: bool, earlier: Now, later: Now) -> Duration {
    if same_segment {
        later.mono.since(earlier.mono)
    } else {
        later.wall.since(earlier.wall)
    }
}
