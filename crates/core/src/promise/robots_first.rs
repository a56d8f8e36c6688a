//! `robots-first`: no page is asked for before its origin's robots.txt was read, lately enough.
//!
//! Seeds: P reads it before every visit, B "取得前に確認"; DECISIONS 17, RFC 9309 section 2.4. What
//! it says is `robots-obeyed`'s business, what its failures mean `robots-failure`'s.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use url::Url;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Freshness, Lang, RequestKind, RobotsMeaning};
use crate::digest::Digest;
use crate::event::{Admitted, Event, LaneId, RobotsBasis, RobotsSettled, Seq, VisitId};
use crate::fetched::Outcome;
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::host::Origin;
use crate::journal::Header;
use crate::policy::words;
use crate::state::lane::{RobotsRecord, robots_key};
use crate::time::Timestamp;

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

/// The journal's own record of robots.txt: what was settled last for each origin and agent of a
/// lane, and the answer behind it. Proofs read it; no gate does.
#[derive(Default)]
pub(super) struct Settlements {
    /// Answers that nothing has been settled by yet.
    open: BTreeMap<Seq, Answer>,
    settled: HashMap<LaneId, HashMap<(String, String), Settled>>,
}

/// Open answers kept at once, over all lanes.
const OPEN_MAX: usize = 65_536;

/// One answer to robots.txt.
#[derive(Clone)]
pub(super) struct Answer {
    origin: Option<String>,
    user_agent: String,
    /// What it means by the table of the charter that it was asked under.
    pub(super) meaning: Meaning,
    /// Its body.
    pub(super) body: Option<Digest>,
}

/// What an answer to robots.txt means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// Judge by its body.
    Rules,
    /// Nothing is excluded.
    NoRules,
    /// Nobody knows: why.
    Hold(String),
    /// Its charter cannot be read.
    Unknown,
}

/// See [`Settlements`].
pub(super) struct Settled {
    at: Timestamp,
    visit: (String, String, VisitId),
    answered: Option<Seq>,
    rules: Option<Digest>,
    /// The answer, where the journal has it.
    pub(super) answer: Option<Answer>,
    /// What the journal's statement gets wrong about the answer.
    fault: Option<&'static str>,
}

impl Settled {
    /// What is wrong with a page that rests on `basis`, where this was settled.
    fn differs_from(&self, basis: &RobotsBasis) -> Option<&'static str> {
        if self.answered != Some(basis.answered) {
            return Some("it rests on another answer than the last one to its robots.txt");
        }
        if self.rules != basis.body {
            return Some("it rests on another body than the last one of its robots.txt");
        }
        self.fault
    }

    /// Whether a page that rests on `basis` rests on this.
    pub(super) fn is_behind(&self, basis: &RobotsBasis) -> bool {
        self.answered == Some(basis.answered)
    }
}

impl Settlements {
    /// Takes in an entry.
    pub(super) fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        match (entry.event, entry.admitted) {
            (Event::Answered(answered), Some((_, admitted))) => {
                let body = answered.body.as_ref().map(|b| b.digest);
                self.answer(
                    entry.header.seq,
                    admitted,
                    Some(&answered.outcome),
                    body,
                    versions,
                );
            }
            (Event::Lost(_), Some((_, admitted))) => {
                self.answer(entry.header.seq, admitted, None, None, versions);
            }
            (Event::Admitted(admitted), _) if admitted.kind == RequestKind::Robots => {
                // The redirect that leads here is followed: it settles nothing.
                if let Some(cause) = admitted.cause {
                    self.open.remove(&cause);
                }
            }
            (Event::RobotsSettled(settled), _) => self.settle(entry.header, settled),
            _ => {}
        }
    }

    /// What was settled last for the origin of a page.
    pub(super) fn of(&self, lane: LaneId, page: &Admitted, charter: &Charter) -> Option<&Settled> {
        let origin = Url::parse(&page.url).ok()?.origin().ascii_serialization();
        let agent = charter.agent(RequestKind::Robots).user_agent.clone();
        self.settled.get(&lane)?.get(&(origin, agent))
    }

    /// The body settled last for the origin of a robots.txt that is asked for again.
    pub(super) fn rules_of(&self, lane: LaneId, robots: &Admitted) -> Option<Digest> {
        let origin = Url::parse(&robots.url).ok()?.origin().ascii_serialization();
        let key = (origin, robots.user_agent.clone());
        self.settled.get(&lane)?.get(&key)?.rules
    }

    fn answer(
        &mut self,
        seq: Seq,
        admitted: &Admitted,
        outcome: Option<&Outcome>,
        body: Option<Digest>,
        versions: &Versions<'_>,
    ) {
        if admitted.kind != RequestKind::Robots {
            return;
        }
        let meaning = match versions.charter(admitted.charter) {
            Some(charter) => meaning(charter, outcome),
            None => Meaning::Unknown,
        };
        let answer = Answer {
            origin: admitted.answers_for.clone(),
            user_agent: admitted.user_agent.clone(),
            meaning,
            body,
        };
        self.open.insert(seq, answer);
        if self.open.len() > OPEN_MAX {
            self.open.pop_first();
        }
    }

    fn settle(&mut self, header: &Header, settled: &RobotsSettled) {
        let answer = settled.answered.and_then(|seq| self.open.remove(&seq));
        let fault = match &answer {
            None => Some("no answer to robots.txt stands behind what was settled"),
            Some(a) if a.origin.as_deref() != Some(settled.origin.as_str()) => {
                Some("its robots.txt was settled by an answer for another origin")
            }
            Some(a) if a.user_agent != settled.user_agent => {
                Some("its robots.txt was settled by an answer to another User-Agent")
            }
            Some(a) if settled.rules.is_some() && settled.rules != a.body => {
                Some("its robots.txt was settled by a body that did not come")
            }
            Some(_) => None,
        };
        let key = (settled.origin.clone(), settled.user_agent.clone());
        let what = Settled {
            at: header.at,
            visit: (settled.bot.clone(), settled.target.clone(), settled.visit),
            answered: settled.answered,
            rules: settled.rules,
            answer,
            fault,
        };
        let of_lane = self.settled.entry(header.lane).or_default();
        of_lane.insert(key, what);
    }
}

/// The charter's table, read for an audit. `None`: lost with its writer.
fn meaning(charter: &Charter, outcome: Option<&Outcome>) -> Meaning {
    let table = &charter.robots.status;
    let status = match outcome {
        Some(Outcome::Status(status)) => *status,
        Some(Outcome::TooLarge { limit, .. }) => {
            return Meaning::Hold(format!("was larger than {limit} bytes"));
        }
        other => {
            let what = if other.is_some() {
                "failed"
            } else {
                "was lost"
            };
            return said(table.network, what.to_owned());
        }
    };
    let words = format!("was answered with HTTP {status}");
    match status {
        200..=299 => Meaning::Rules,
        300..=399 => Meaning::Hold("redirected to where nobody followed".to_owned()),
        429 => said(table.too_many, words),
        400..=499 => said(table.client_error, words),
        _ => said(table.server_error, words),
    }
}

fn said(meaning: RobotsMeaning, words: String) -> Meaning {
    match meaning {
        RobotsMeaning::NoRules => Meaning::NoRules,
        RobotsMeaning::Hold => Meaning::Hold(words),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use reigi_robots::Rules;

    use super::*;
    use crate::event::BodyRef;
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
