//! `no-evasion`: a refusal is taken as one. A page is asked for once in a visit, whatever came
//! back; every kind of request has one User-Agent; a host sees one address of ours.
//!
//! Seed: B "CAPTCHAの回避、アクセス制限の回避は行いません"; DECISIONS 25. Addresses are compared
//! while one writer runs, IPv4 and IPv6 apart: an operator's line may change between two starts.

use std::collections::{HashMap, HashSet};

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::digest::Digest;
use crate::event::{Admitted, Answered, Event, LaneId, VisitId};
use crate::gate::{Ask, Scene, Verdict};
use crate::journal::{Header, SegmentId};

/// See the module.
pub struct NoEvasion;

impl Promise for NoEvasion {
    fn id(&self) -> &'static str {
        "no-evasion"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "回避をしない",
            Lang::En => "No evasion",
        }
    }

    fn say(&self, _charter: &Charter, lang: Lang) -> Option<String> {
        Some(match lang {
            Lang::Ja => "断られたときや確認画面（CAPTCHAなど）が返ったときは、それを答えとして受け取り、回避しません。一つのページを一回の巡回で取得し直すことも、別の User-Agent や別の送信元アドレスに切り替えて取得することもありません。".into(),
            Lang::En => "A refusal or a challenge such as a CAPTCHA is taken as the answer, and never worked around. A page is asked for once in a visit, and never again under another User-Agent or from another address.".into(),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let (Some(visit), Some(target)) = (&scene.lane.lane.visit, scene.target) else {
            return Verdict::Pass;
        };
        if ask.kind != RequestKind::Page || ask.hop > 0 || visit.target != ask.target {
            return Verdict::Pass;
        }
        let mut done = target.row.urls.iter().take(visit.at);
        let waits_to_be_judged = visit
            .answer
            .as_ref()
            .is_some_and(|a| a.kind == RequestKind::Page);
        if waits_to_be_judged || done.any(|url| *url == ask.listed) {
            return Verdict::refuse(
                "この巡回ではもう取得しました。",
                "It was asked for in this visit already.",
            );
        }
        Verdict::Pass
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Once::default()))
    }

    /// One of two User-Agents is not the charter's.
    fn implies(&self) -> &'static [&'static str] {
        &["identity"]
    }
}

/// Requests of the visit under way by lane, User-Agents by charter, local addresses by lane.
#[derive(Default)]
struct Once {
    finding: Finding,
    asked: HashMap<LaneId, (VisitId, HashSet<String>)>,
    agents: HashMap<(Digest, RequestKind), String>,
    local: HashMap<(LaneId, bool), (SegmentId, String)>,
}

impl Proof for Once {
    fn see(&mut self, entry: &Seen<'_>, _versions: &Versions<'_>) {
        let header = entry.header;
        match (entry.event, entry.admitted) {
            (Event::Admitted(admitted), _) => self.admit(header, admitted),
            (Event::NotSent(_), Some((_, admitted))) => {
                // Nothing was asked, and it may be yet; a hop begins again at its listed URL.
                if let Some((visit, urls)) = self.asked.get_mut(&header.lane)
                    && *visit == admitted.visit
                {
                    urls.remove(&admitted.listed);
                }
            }
            (Event::Answered(answered), _) => self.answer(header, answered),
            (Event::VisitClosed(_), _) => {
                self.asked.remove(&header.lane);
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Once {
    fn admit(&mut self, header: &Header, admitted: &Admitted) {
        let key = (admitted.charter, admitted.kind);
        let agent = self
            .agents
            .entry(key)
            .or_insert_with(|| admitted.user_agent.clone());
        let one_agent = *agent == admitted.user_agent;
        self.finding.check(one_agent, header.seq, || {
            format!(
                "asked as {:?}, before as {agent:?} under the same charter",
                admitted.user_agent
            )
        });
        if admitted.kind != RequestKind::Page || admitted.hop > 0 {
            return;
        }
        let (visit, urls) = self.asked.entry(header.lane).or_default();
        if *visit != admitted.visit {
            (*visit, *urls) = (admitted.visit, HashSet::new());
        }
        let first = urls.insert(admitted.url.clone());
        self.finding.check(first, header.seq, || {
            "a page was asked for twice in one visit".to_owned()
        });
    }

    fn answer(&mut self, header: &Header, answered: &Answered) {
        let Some((address, _port)) = answered.local.as_deref().and_then(|l| l.rsplit_once(':'))
        else {
            return;
        };
        let family = address.contains(':');
        let known = self.local.entry((header.lane, family));
        let (segment, before) = known.or_insert_with(|| (header.segment, address.to_owned()));
        if *segment != header.segment {
            (*segment, *before) = (header.segment, address.to_owned());
        }
        self.finding.check(before == address, header.seq, || {
            format!("came from {address}, the requests before it from {before}")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::NotSent;
    use crate::promise::testing::{History, LANE, OTHER_PAGE, PAGE, Stage, word};

    #[test]
    fn a_page_is_asked_for_once_in_a_visit() {
        for (name, at, url, hop, expected) in [
            ("its turn", 0, PAGE, 0, "pass"),
            ("the next one's turn", 1, OTHER_PAGE, 0, "pass"),
            ("once more", 1, PAGE, 0, "refuse"),
            ("a hop", 1, PAGE, 1, "pass"),
        ] {
            let mut stage = Stage::new();
            if let Some(visit) = &mut stage.lane.lane.visit {
                visit.at = at;
            }
            let ask = Ask {
                hop,
                ..stage.ask(url)
            };
            assert_eq!(word(&stage.hold(&NoEvasion, &ask)), expected, "{name}");
        }
    }

    #[test]
    fn asking_twice_is_named_but_not_what_was_never_sent() {
        let mut history = History::new();
        history.open();
        let unused = history.admit(history.page(PAGE));
        let not_sent = NotSent {
            admitted: unused,
            why: "window passed".to_owned(),
            at: history.now,
        };
        history.push(LANE, not_sent.clone());
        history.fetch(PAGE);
        history.fetch(OTHER_PAGE);
        // A hop that never left: its listed URL has its turn again.
        let page = history.page("https://school.example.jp/new");
        let hop = history.admit(Admitted {
            listed: OTHER_PAGE.to_owned(),
            hop: 1,
            ..page
        });
        history.push(
            LANE,
            NotSent {
                admitted: hop,
                ..not_sent
            },
        );
        history.fetch(OTHER_PAGE);
        history.close(false);
        history.open();
        history.fetch(PAGE);
        assert_eq!(history.breaches(&NoEvasion), []);
        let again = history.admit(history.page(PAGE));
        assert_eq!(history.breaches(&NoEvasion), [again]);
    }

    #[test]
    fn another_agent_or_another_address_is_named() {
        let mut history = History::new();
        history.open();
        history.fetch(PAGE);
        let mut page = history.page(OTHER_PAGE);
        page.user_agent = "Mozilla/5.0 (ordinary browser)".to_owned();
        let masked = history.admit(page);
        let mut answer = history.answer(masked);
        answer.local = Some("198.51.100.8:50000".to_owned());
        let moved = history.push(LANE, answer);
        // A new start may find another line.
        history.segment = 2;
        history.close(false);
        history.open();
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.local = Some("192.0.2.1:50000".to_owned());
        history.push(LANE, answer);
        assert_eq!(history.breaches(&NoEvasion), [masked, moved]);
    }
}
