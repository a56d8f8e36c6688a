//! `robots-failure`: an unreadable robots.txt is no permission. What each kind of answer means is
//! the charter's table; where it says hold, nothing new is fetched.
//!
//! Seed: B's list of statuses; DECISIONS 36, RFC 9309 section 2.3.1.

use super::robots_first::record;
use super::settlements::{Meaning, Settlements};
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind, RobotsMeaning};
use crate::event::{Admitted, Event};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::journal::Header;
use crate::state::lane::RobotsVerdict;

/// See the module.
pub struct RobotsFailure;

impl Promise for RobotsFailure {
    fn id(&self) -> &'static str {
        "robots-failure"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "robots.txt が読めないとき",
            Lang::En => "robots.txt unreadable",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let open = answers_that(charter, RobotsMeaning::NoRules, lang);
        let mut held = answers_that(charter, RobotsMeaning::Hold, lang);
        held.extend(match lang {
            Lang::Ja => ["たどれないリダイレクト", "大きすぎる本文"],
            Lang::En => [
                "a redirect that is not followed",
                "a body that is too large",
            ],
        });
        let (and, open_says, held_says) = match lang {
            Lang::Ja => (
                "、",
                "robots.txt への応答が次のものなら、規則がないものとします：",
                "次のものなら、何が書かれているか分からないので、新しい取得を保留します：",
            ),
            Lang::En => (
                ", ",
                "These answers to robots.txt mean that there are no rules: ",
                "These leave us without knowledge of the rules, so that nothing new is fetched: ",
            ),
        };
        let end = match lang {
            Lang::Ja => "。",
            Lang::En => ".",
        };
        let held = format!("{held_says}{}{end}", held.join(and));
        if open.is_empty() {
            return Some(match lang {
                Lang::Ja => format!("robots.txt への応答が{held}"),
                Lang::En => held,
            });
        }
        let space = if lang == Lang::En { " " } else { "" };
        Some(format!("{open_says}{}{end}{space}{held}", open.join(and)))
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        if ask.kind == RequestKind::Robots {
            return Verdict::Pass;
        }
        let Some(record) = record(scene, ask) else {
            return Verdict::Pass;
        };
        match &record.verdict {
            RobotsVerdict::Means { meaning, why }
                if *meaning == RobotsMeaning::Hold || record.answered.is_none() =>
            {
                Verdict::hold(
                    Until::At(scene.now.wall),
                    format!(
                        "robots.txt に何が書かれているか確かめられないため、保留します（{why}）。"
                    ),
                    format!("What robots.txt says could not be learned ({why})."),
                )
            }
            _ => Verdict::Pass,
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Failures::default()))
    }

    /// A look-up that failed leaves no answer that a page could rest on.
    fn implies(&self) -> &'static [&'static str] {
        &["robots-first"]
    }
}

/// Kinds of answers that the charter's table gives this meaning, in words.
fn answers_that(charter: &Charter, meaning: RobotsMeaning, lang: Lang) -> Vec<&'static str> {
    let table = &charter.robots.status;
    let rows = [
        (
            table.client_error,
            "404・410 など 429 以外の 4xx",
            "404, 410 and every other 4xx but 429",
        ),
        (table.too_many, "429", "429"),
        (table.server_error, "5xx", "5xx"),
        (
            table.network,
            "通信の失敗（名前解決、接続、時間切れ、途切れた応答）",
            "no complete answer (look-up, connection, timeout, cut short)",
        ),
    ];
    rows.into_iter()
        .filter(|(means, _, _)| *means == meaning)
        .map(|(_, ja, en)| if lang == Lang::Ja { ja } else { en })
        .collect()
}

/// No page rests on an answer that the table calls hold.
#[derive(Default)]
struct Failures {
    finding: Finding,
    journal: Settlements,
}

impl Proof for Failures {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        self.journal.see(entry, versions);
        if let Event::Admitted(admitted) = entry.event
            && admitted.kind == RequestKind::Page
        {
            self.page(entry.header, admitted, versions);
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Failures {
    fn page(&mut self, header: &Header, admitted: &Admitted, versions: &Versions<'_>) {
        let Some(charter) = versions.charter(admitted.charter) else {
            self.finding
                .undecidable(header.seq, "its charter is not readable");
            return;
        };
        // A page without a reading of its own is a matter of `robots-first`.
        let meaning = self
            .journal
            .of(header.lane, admitted, charter)
            .and_then(|settled| settled.answer.as_ref())
            .map(|answer| &answer.meaning);
        match meaning {
            None => {}
            Some(Meaning::Unknown) => self.finding.undecidable(
                header.seq,
                "the charter that its robots.txt was asked under is not readable",
            ),
            Some(Meaning::Hold(why)) => self
                .finding
                .check(false, header.seq, || format!("its robots.txt {why}")),
            Some(Meaning::Rules | Meaning::NoRules) => {
                self.finding.check(true, header.seq, String::new);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::robots_first::tests::{know, page_after, read, settle};
    use super::super::testing::{History, LANE, PAGE, Stage, word};
    use super::*;
    use crate::event::Lost;
    use crate::fetched::{Outcome, Phase};

    #[test]
    fn an_unknown_robots_txt_holds_every_page() {
        for (meaning, expected) in [
            (RobotsMeaning::NoRules, "pass"),
            (RobotsMeaning::Hold, "hold"),
        ] {
            let mut stage = Stage::new();
            let why = "HTTP 503".to_owned();
            settle(&mut stage, RobotsVerdict::Means { meaning, why });
            let got = stage.hold(&RobotsFailure, &stage.ask(PAGE));
            assert_eq!(word(&got), expected, "{meaning:?}");
        }
        let mut stage = Stage::new();
        know(&mut stage, "User-agent: *\nDisallow: /");
        assert_eq!(word(&stage.hold(&RobotsFailure, &stage.ask(PAGE))), "pass");
    }

    #[test]
    fn the_next_visit_may_ask_again() {
        let mut stage = Stage::new();
        let why = "timeout".to_owned();
        let meaning = RobotsMeaning::Hold;
        settle(&mut stage, RobotsVerdict::Means { meaning, why });
        let ask = Ask {
            kind: RequestKind::Robots,
            ..stage.ask("https://school.example.jp/robots.txt")
        };
        assert_eq!(word(&stage.hold(&RobotsFailure, &ask)), "pass");
    }

    #[test]
    fn each_kind_of_answer_has_its_meaning() {
        for (outcome, broken) in [
            (Outcome::Status(200), 0),
            (Outcome::Status(404), 0),
            (Outcome::Status(403), 0),
            (Outcome::Status(410), 0),
            (Outcome::Status(429), 1),
            (Outcome::Status(301), 1),
            (Outcome::Status(500), 1),
            (Outcome::Status(503), 1),
            (Outcome::TimedOut(Phase::Body), 1),
            (Outcome::Reset(Phase::Head), 1),
            (
                Outcome::TooLarge {
                    status: 200,
                    limit: 9,
                },
                1,
            ),
        ] {
            let mut history = History::new();
            history.open();
            let rules = (outcome == Outcome::Status(200)).then_some("");
            let answered = read(&mut history, outcome.clone(), rules);
            let page = page_after(&history, PAGE, answered, rules);
            let admitted = history.admit(page);
            let named = vec![admitted; broken];
            assert_eq!(history.breaches(&RobotsFailure), named, "{outcome:?}");
        }
    }

    #[test]
    fn the_table_is_the_charters() {
        let mut history = History::under(|charter| {
            charter.robots.status.client_error = RobotsMeaning::Hold;
        });
        history.open();
        let answered = read(&mut history, Outcome::Status(404), None);
        let admitted = history.admit(page_after(&history, PAGE, answered, None));
        assert_eq!(history.breaches(&RobotsFailure), [admitted]);
        let says = RobotsFailure.say(&history.charter, Lang::En).unwrap();
        assert!(!says.contains("no rules"), "{says}");
    }

    #[test]
    fn a_lost_request_tells_nothing() {
        let mut history = History::new();
        history.open();
        read(&mut history, Outcome::Status(404), None);
        let admitted = history.admit(history.robots());
        let at = history.now;
        let lost = history.push(LANE, Lost { admitted, at });
        let settled = crate::event::RobotsSettled {
            visit: 1,
            bot: super::super::testing::BOT.to_owned(),
            target: super::super::testing::TARGET.to_owned(),
            origin: "https://school.example.jp".to_owned(),
            user_agent: history.robots().user_agent,
            answered: Some(lost),
            rules: None,
            meaning: Some(RobotsMeaning::NoRules),
            why: String::new(),
        };
        history.push(LANE, settled);
        let page = history.admit(page_after(&history, PAGE, lost, None));
        assert_eq!(history.breaches(&RobotsFailure), [page]);
    }
}
