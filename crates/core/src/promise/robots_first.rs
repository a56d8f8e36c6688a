//! `robots-first`: no page is asked for before its origin's robots.txt was read, lately enough.
//!
//! Seeds: P reads it before every visit, B "取得前に確認"; DECISIONS 17, RFC 9309 section 2.4. What
//! it says is `robots-obeyed`'s business, what its failures mean `robots-failure`'s.

use std::collections::HashMap;
use std::time::Duration;

use super::settlements::Settlements;
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Freshness, Lang, RequestKind};
use crate::event::{Admitted, Event, LaneId, VisitId};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::host::Origin;
use crate::journal::Header;
use crate::policy::words;
use crate::state::lane::{RobotsRecord, robots_key};

/// See the module.
pub struct RobotsFirst;

/// RFC 9309 section 2.4; for a hop that a visit of another lane waits for.
const DAY: Duration = Duration::from_secs(24 * 3600);

impl Promise for RobotsFirst {
    fn id(&self) -> &'static str {
        "robots-first"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "robots.txt の事前確認",
            Lang::En => "robots.txt first",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        Some(match (lang, charter.robots.fresh_for) {
            (Lang::Ja, Freshness::Visit) => "巡回のたびに、ページより先にその robots.txt を読み直します。読めていないあいだ、ページは取得しません。同じサイトの別のホストへ転送されたときは、24時間以内に読んだ robots.txt を使うことがあります。".into(),
            (Lang::Ja, Freshness::For(span)) => format!(
                "ページより先に、その robots.txt を読みます。読んでから{}たったものは使わず、読み直すまでページを取得しません。",
                words::span(span, lang)
            ),
            (Lang::En, Freshness::Visit) => "In each visit we read a site's robots.txt before any of its pages; until it has been read, no page is asked for. A redirect to another host of the same site may rest on a robots.txt read within the last 24 hours.".into(),
            (Lang::En, Freshness::For(span)) => format!(
                "We read a site's robots.txt before any of its pages. One read {} ago or earlier is not relied on: it is read again first.",
                words::span(span, lang)
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        if ask.kind == RequestKind::Robots {
            return Verdict::Pass;
        }
        let until = Until::At(scene.now.wall);
        match record(scene, ask) {
            None => Verdict::hold(
                until,
                "robots.txt をまだ読んでいません。",
                "Its robots.txt has not been read yet.",
            ),
            Some(record) if !is_fresh(scene, ask, record) => Verdict::hold(
                until,
                "robots.txt を読み直す必要があります。",
                "Its robots.txt has to be read again first.",
            ),
            Some(_) => Verdict::Pass,
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Readings::default()))
    }
}

/// What is known of the robots.txt of the URL's origin.
pub(super) fn record<'a>(scene: &Scene<'a>, ask: &Ask) -> Option<&'a RobotsRecord> {
    let agent = scene.charter.agent(RequestKind::Robots);
    let key = robots_key(Origin::of(&ask.url).as_str(), &agent.user_agent);
    scene.lane.lane.robots.get(&key)
}

fn is_fresh(scene: &Scene<'_>, ask: &Ask, record: &RobotsRecord) -> bool {
    let now = scene.now.wall;
    let within = |span| record.at <= now && now.since(record.at) < span;
    match (scene.charter.robots.fresh_for, scene.target) {
        (Freshness::For(span), _) => within(span),
        (Freshness::Visit, None) => within(DAY),
        (Freshness::Visit, Some(_)) => {
            let (target, visit) = &record.visit;
            *target == ask.target && *visit == ask.visit
        }
    }
}

/// Between the gate's look and the entry's stamp.
const DECIDING: Duration = Duration::from_secs(1);

/// Each page request rests on a reading of its own origin's robots.txt that was fresh.
#[derive(Default)]
struct Readings {
    finding: Finding,
    journal: Settlements,
    /// The visit under way of each lane: a page of another one is a hop for another lane.
    visits: HashMap<LaneId, (String, String, VisitId)>,
}

impl Proof for Readings {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        self.journal.see(entry, versions);
        match entry.event {
            Event::VisitOpened(opened) => {
                let visit = (opened.bot.clone(), opened.target.clone(), opened.visit);
                self.visits.insert(entry.header.lane, visit);
            }
            Event::Admitted(admitted) if admitted.kind == RequestKind::Page => {
                self.page(entry.header, admitted, versions);
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Readings {
    fn page(&mut self, header: &Header, admitted: &Admitted, versions: &Versions<'_>) {
        let Some(charter) = versions.charter(admitted.charter) else {
            self.finding
                .undecidable(header.seq, "its charter is not readable");
            return;
        };
        let fault = self.fault(header, admitted, charter);
        let gone = admitted
            .robots
            .as_ref()
            .is_some_and(|basis| versions.is_erased(basis.answered));
        if fault.is_some() && (gone || versions.is_erased_in(header.lane)) {
            self.finding
                .undecidable(header.seq, "an entry that it rests on was erased");
            return;
        }
        self.finding
            .check(fault.is_none(), header.seq, || fault.unwrap_or_default());
    }

    fn fault(&self, header: &Header, admitted: &Admitted, charter: &Charter) -> Option<String> {
        let Some(basis) = &admitted.robots else {
            return Some("a page asked for without a reading of robots.txt".to_owned());
        };
        let Some(settled) = self.journal.of(header.lane, admitted, charter) else {
            return Some("no robots.txt of its origin had been read".to_owned());
        };
        if let Some(fault) = settled.differs_from(basis) {
            return Some(fault.to_owned());
        }
        let own = self
            .visits
            .get(&header.lane)
            .is_some_and(|(bot, target, visit)| {
                (bot, target, *visit) == (&admitted.bot, &admitted.target, admitted.visit)
            });
        let most = match charter.robots.fresh_for {
            Freshness::For(span) => span,
            Freshness::Visit if !own => DAY,
            Freshness::Visit => {
                let (bot, target, visit) = &settled.visit;
                let same =
                    (bot, target, *visit) == (&admitted.bot, &admitted.target, admitted.visit);
                return (!same).then(|| "its robots.txt was read in another visit".to_owned());
            }
        };
        let age = header.at.since(settled.at);
        if settled.at > header.at {
            return Some("its robots.txt was read later than it".to_owned());
        }
        (age > most.saturating_add(DECIDING))
            .then(|| format!("its robots.txt was read {age:?} ago, promised {most:?}"))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use reigi_robots::Rules;

    use super::*;
    use crate::charter::RobotsMeaning;
    use crate::digest::Digest;
    use crate::event::{BodyRef, RobotsBasis, RobotsSettled, Seq};
    use crate::fetched::Outcome;
    use crate::promise::testing::{BOT, History, LANE, PAGE, Stage, TARGET, at, key, word};
    use crate::state::RobotsVerdict;

    const ORIGIN: &str = "https://school.example.jp";

    /// Lets the lane know a robots.txt that this visit read.
    pub(in super::super) fn know(stage: &mut Stage, robots: &str) -> Digest {
        let digest = Digest::of(robots.as_bytes());
        let rules = Arc::new(Rules::parse(robots.as_bytes()));
        stage.lane.rules.insert(digest, rules);
        settle(stage, RobotsVerdict::Rules(digest));
        digest
    }

    /// Lets the lane know what an answer of this visit to robots.txt means.
    pub(in super::super) fn settle(stage: &mut Stage, verdict: RobotsVerdict) {
        let agent = stage.charter.agent(RequestKind::Robots);
        let record = RobotsRecord {
            answered: Some(Seq(4)),
            at: stage.now.wall,
            visit: (key(), 1),
            verdict,
        };
        let robots = &mut stage.lane.lane.robots;
        robots.insert(robots_key(ORIGIN, &agent.user_agent), record);
    }

    /// Reads robots.txt and settles it: its body where `rules` is given, else what the example
    /// charter's table could be bent to.
    pub(in super::super) fn read(
        history: &mut History,
        outcome: Outcome,
        rules: Option<&str>,
    ) -> Seq {
        let admitted = history.admit(history.robots());
        let mut answer = history.answer(admitted);
        answer.outcome = outcome;
        answer.body = rules.map(|text| keep(history, text));
        let answered = history.push(LANE, answer);
        history.wait(2.3);
        let rules = rules.map(|text| Digest::of(text.as_bytes()));
        history.push(LANE, settlement(history, Some(answered), rules));
        answered
    }

    fn keep(history: &mut History, text: &str) -> BodyRef {
        let digest = Digest::of(text.as_bytes());
        history.bodies.insert(digest, text.as_bytes().to_vec());
        BodyRef {
            digest,
            bytes: u64::try_from(text.len()).unwrap(),
        }
    }

    fn settlement(
        history: &History,
        answered: Option<Seq>,
        rules: Option<Digest>,
    ) -> RobotsSettled {
        RobotsSettled {
            visit: history.page(PAGE).visit,
            bot: BOT.to_owned(),
            target: TARGET.to_owned(),
            origin: ORIGIN.to_owned(),
            user_agent: history.robots().user_agent,
            answered,
            rules,
            meaning: rules.is_none().then_some(RobotsMeaning::NoRules),
            why: "rules".to_owned(),
        }
    }

    /// A permit for a page that rests on this reading.
    pub(in super::super) fn page_after(
        history: &History,
        url: &str,
        answered: Seq,
        rules: Option<&str>,
    ) -> Admitted {
        Admitted {
            robots: Some(RobotsBasis {
                answered,
                body: rules.map(|text| Digest::of(text.as_bytes())),
                line: None,
                crawl_delay_us: None,
            }),
            ..history.page(url)
        }
    }

    #[test]
    fn a_page_waits_for_a_fresh_robots_txt() {
        let hour = Duration::from_secs(3600);
        let stale = |stage: &mut Stage| stage.lane.lane.visit.as_mut().unwrap().id = 2;
        type Case = (&'static str, Freshness, fn(&mut Stage), &'static str);
        let cases: [Case; 6] = [
            ("read in this visit", Freshness::Visit, |_| {}, "pass"),
            (
                "not read",
                Freshness::Visit,
                |s| s.lane.lane.robots.clear(),
                "hold",
            ),
            (
                "an hour old",
                Freshness::For(2 * hour),
                |s| s.now = at(3600.0),
                "pass",
            ),
            (
                "two hours old",
                Freshness::For(2 * hour),
                |s| s.now = at(7200.0),
                "hold",
            ),
            (
                "from the future",
                Freshness::For(2 * hour),
                |s| s.now = at(-1.0),
                "hold",
            ),
            (
                "a hop's, an hour old",
                Freshness::Visit,
                |s| {
                    s.now = at(3600.0);
                    s.target = None;
                },
                "pass",
            ),
        ];
        for (what, fresh_for, change, expected) in cases {
            let mut stage = Stage::new();
            stage.charter.robots.fresh_for = fresh_for;
            know(&mut stage, "");
            change(&mut stage);
            let got = stage.hold(&RobotsFirst, &stage.ask(PAGE));
            assert_eq!(word(&got), expected, "{what}");
        }
        let mut stage = Stage::new();
        know(&mut stage, "");
        stale(&mut stage);
        let ask = Ask {
            visit: 2,
            ..stage.ask(PAGE)
        };
        assert_eq!(word(&stage.hold(&RobotsFirst, &ask)), "hold");
    }

    #[test]
    fn robots_txt_itself_needs_no_reading() {
        let stage = Stage::new();
        let ask = Ask {
            kind: RequestKind::Robots,
            ..stage.ask("https://school.example.jp/robots.txt")
        };
        assert_eq!(word(&stage.hold(&RobotsFirst, &ask)), "pass");
    }

    #[test]
    fn a_page_after_its_robots_txt_is_kept() {
        for (outcome, rules) in [(200, Some("User-agent: *\nDisallow:")), (404, None)] {
            let mut history = History::new();
            history.open();
            let answered = read(&mut history, Outcome::Status(outcome), rules);
            history.admit(page_after(&history, PAGE, answered, rules));
            let finding = history.prove(&RobotsFirst);
            assert_eq!((finding.kept, finding.broken), (1, 0), "{outcome}");
        }
    }

    #[test]
    fn a_page_without_its_robots_txt_is_named() {
        type Forge = fn(&mut Admitted);
        let forgeries: [(&str, Forge); 4] = [
            ("no basis", |p| p.robots = None),
            ("another answer", |p| {
                p.robots.as_mut().unwrap().answered = Seq(1)
            }),
            ("another body", |p| {
                p.robots.as_mut().unwrap().body = Some(Digest::of(b"x"))
            }),
            ("another origin", |p| {
                p.url = "https://other.example.jp/".to_owned()
            }),
        ];
        for (what, forge) in forgeries {
            let mut history = History::new();
            history.open();
            let answered = read(&mut history, Outcome::Status(404), None);
            let mut page = page_after(&history, PAGE, answered, None);
            forge(&mut page);
            let admitted = history.admit(page);
            assert_eq!(history.breaches(&RobotsFirst), [admitted], "{what}");
        }
    }

    #[test]
    fn a_reading_of_another_visit_is_not_fresh() {
        let mut history = History::new();
        history.open();
        let answered = read(&mut history, Outcome::Status(404), None);
        history.open();
        let admitted = history.admit(page_after(&history, PAGE, answered, None));
        assert_eq!(history.breaches(&RobotsFirst), [admitted]);
    }

    #[test]
    fn an_old_reading_is_not_fresh() {
        for (seconds, broken) in [(3590.0, 0), (3610.0, 1)] {
            let mut history = History::under(|charter| {
                charter.robots.fresh_for = Freshness::For(Duration::from_secs(3600));
            });
            history.open();
            let answered = read(&mut history, Outcome::Status(404), None);
            history.wait(seconds);
            history.open();
            history.admit(page_after(&history, PAGE, answered, None));
            assert_eq!(history.prove(&RobotsFirst).broken, broken, "{seconds}");
        }
    }

    #[test]
    fn what_was_settled_must_have_been_answered() {
        type Forge = fn(&mut History, &mut RobotsSettled);
        let forgeries: [(&str, Forge); 4] = [
            ("no answer", |_, s| s.answered = Some(Seq(1))),
            ("a page's answer", |h, s| s.answered = Some(h.fetch(PAGE))),
            ("another agent", |h, s| {
                let other = Admitted {
                    user_agent: "other".to_owned(),
                    ..h.robots()
                };
                let admitted = h.admit(other);
                s.answered = Some(h.push(LANE, h.answer(admitted)));
            }),
            ("a body that did not come", |_, s| {
                s.rules = Some(Digest::of(b"x"))
            }),
        ];
        for (what, forge) in forgeries {
            let mut history = History::new();
            history.open();
            let admitted = history.admit(history.robots());
            let answered = history.push(LANE, history.answer(admitted));
            let mut settled = settlement(&history, Some(answered), Some(Digest::of(b"body")));
            forge(&mut history, &mut settled);
            let mut page = history.page(PAGE);
            page.robots = Some(RobotsBasis {
                answered: settled.answered.unwrap(),
                body: settled.rules,
                line: None,
                crawl_delay_us: None,
            });
            history.push(LANE, settled);
            let page = history.admit(page);
            assert!(history.breaches(&RobotsFirst).contains(&page), "{what}");
        }
    }
}
