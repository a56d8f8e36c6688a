//! `connections`: requests to one host go out one after the other.
//!
//! Seeds: B "同時取得1件", P "1ホストあたり最大2接続" (a ceiling: the engine uses one, DECISIONS 11).

use std::collections::HashMap;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Event, LaneId, Seq};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::journal::SegmentId;
use crate::time::Now;

/// See the module.
pub struct Connections;

impl Promise for Connections {
    fn id(&self) -> &'static str {
        "connections"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "同時接続数",
            Lang::En => "Connections",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let most = charter.pace.connections_per_host;
        Some(match (lang, most) {
            (Lang::Ja, 1) => "同じホストへの取得は一件ずつ順に行い、同時に二つ以上の接続を開きません。".into(),
            (Lang::Ja, _) => format!("同じホストへの同時接続は最大{most}件です（実際には一件ずつ順に取得します）。"),
            (Lang::En, 1) => "Requests to one host go out one after the other; we never hold two connections to it.".into(),
            (Lang::En, _) => format!("At most {most} connections to one host (in practice we use one at a time)."),
        })
    }

    fn hold(&self, scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        if scene.lane.lane.in_flight.is_none() {
            return Verdict::Pass;
        }
        Verdict::hold(
            Until::At(scene.now.wall),
            "同じホストへのリクエストの応答を待っています。",
            "Another request to this host is under way.",
        )
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Sweep::default()))
    }
}

/// Each connection of a lane opens only after the one before has closed.
#[derive(Default)]
struct Sweep {
    finding: Finding,
    closed: HashMap<LaneId, Closed>,
}

struct Closed {
    entry: Seq,
    segment: SegmentId,
    at: Now,
}

impl Proof for Sweep {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let lane = entry.header.lane;
        let segment = entry.header.segment;
        let closed = |at| Closed {
            entry: entry.header.seq,
            segment,
            at,
        };
        match entry.event {
            Event::Answered(answered) => {
                if let Some(last) = self.closed.get(&lane) {
                    // A writer that began after the closing was on record cannot have overlapped.
                    let began = versions.began(segment).map(|(entry, _)| entry);
                    let after = if last.segment == segment {
                        answered.opened.mono >= last.at.mono
                    } else {
                        began > Some(last.entry) || answered.opened.wall >= last.at.wall
                    };
                    self.finding.check(after, entry.header.seq, || {
                        "its connection opened while another to the host was open".to_owned()
                    });
                }
                self.closed.insert(lane, closed(answered.ended));
            }
            Event::Lost(lost) => {
                self.closed.insert(lane, closed(lost.at));
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{History, LANE, OTHER_PAGE, PAGE, Stage, word};
    use super::*;

    #[test]
    fn a_second_request_waits_for_the_first() {
        let mut stage = Stage::new();
        assert_eq!(word(&stage.hold(&Connections, &stage.ask(PAGE))), "pass");
        stage.lane.lane.in_flight = Some(crate::state::InFlight {
            admitted: crate::event::Seq(7),
            kind: crate::charter::RequestKind::Page,
            url: PAGE.to_owned(),
            answers_for: None,
            user_agent: String::new(),
            listed: PAGE.to_owned(),
            cause: None,
            hop: 0,
            target: super::super::testing::key(),
            visit: 1,
            errand: false,
            segment: 1,
        });
        assert_eq!(word(&stage.hold(&Connections, &stage.ask(PAGE))), "hold");
    }

    #[test]
    fn overlapping_connections_are_named() {
        let mut history = History::new();
        history.open();
        history.fetch(PAGE);
        history.fetch(OTHER_PAGE);
        assert_eq!(history.breaches(&Connections), []);
        let first = history.admit(history.page(PAGE));
        history.push(LANE, history.answer(first));
        history.wait(0.1); // the answer takes 0.2 s
        let second = history.admit(history.page(OTHER_PAGE));
        let overlapping = history.push(LANE, history.answer(second));
        assert_eq!(history.breaches(&Connections), [overlapping]);
    }
}
