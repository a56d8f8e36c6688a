//! `robots-obeyed`: what robots.txt does not allow us is not fetched.
//!
//! Seeds: P and B, RFC 9309: the groups that name our token, else those of `*`. The settled
//! readings of the format are `reigi_robots`' own, tested there against other parsers.

use super::robots_first::record;
use super::settlements::{Meaning, Settlements};
use super::{Finding, Promise, Proof, Seen, Versions, crawl_delay};
use crate::charter::{Charter, Lang, RequestKind};
use crate::event::{Admitted, Event, RobotsBasis};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::journal::Header;
use crate::state::lane::RobotsVerdict;

/// See the module.
pub struct RobotsObeyed;

/// The evidence that a page request rests on: the last answer to its origin's robots.txt, and the
/// rule in it that decides.
pub(crate) fn basis(scene: &Scene<'_>, ask: &Ask) -> Option<RobotsBasis> {
    let record = record(scene, ask)?;
    let mut basis = RobotsBasis {
        answered: record.answered?,
        body: None,
        line: None,
        crawl_delay_us: None,
    };
    if let RobotsVerdict::Rules(digest) = record.verdict {
        basis.body = Some(digest);
        if let Some(rules) = scene.lane.rules.get(&digest) {
            let token = &scene.charter.agent(ask.kind).token;
            let rule = rules.verdict(token, ask.url.as_str()).rule;
            basis.line = rule.map(|rule| rule.line);
            basis.crawl_delay_us = crawl_delay::asked(rules, token)
                .map(|wait| u64::try_from(wait.as_micros()).unwrap_or(u64::MAX));
        }
    }
    Some(basis)
}

impl Promise for RobotsObeyed {
    fn id(&self) -> &'static str {
        "robots-obeyed"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "robots.txt の遵守",
            Lang::En => "robots.txt obeyed",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let token = &charter.agent(RequestKind::Page).token;
        Some(match lang {
            Lang::Ja => format!(
                "robots.txt は RFC 9309 のとおりに読みます。{token} を名指しするグループがあればそのグループに、なければ「User-agent: *」のグループに従い、許されていないURLは取得しません。"
            ),
            Lang::En => format!(
                "robots.txt is read as RFC 9309 says: by the groups that name {token} if there are any, else by those of User-agent: *. A URL that they do not allow is not fetched."
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        if ask.kind == RequestKind::Robots {
            return Verdict::Pass;
        }
        let Some(RobotsVerdict::Rules(digest)) = record(scene, ask).map(|r| &r.verdict) else {
            return Verdict::Pass;
        };
        let Some(rules) = scene.lane.rules.get(digest) else {
            return Verdict::hold(
                Until::At(scene.now.wall),
                "読んだ robots.txt の本文が手元にありません。",
                "The robots.txt that was read is not at hand.",
            );
        };
        let token = &scene.charter.agent(ask.kind).token;
        let verdict = rules.verdict(token, ask.url.as_str());
        if verdict.allowed {
            return Verdict::Pass;
        }
        let (line, pattern) = verdict.rule.map_or((0, ""), |r| (r.line, r.pattern));
        Verdict::refuse(
            format!(
                "robots.txt の{line}行目「Disallow: {pattern}」が、このURLの取得を認めていません。"
            ),
            format!("Line {line} of robots.txt does not allow this URL: Disallow: {pattern}"),
        )
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Verdicts::default()))
    }
}

/// Each page's verdict, computed again from the stored body.
#[derive(Default)]
struct Verdicts {
    finding: Finding,
    journal: Settlements,
}

impl Proof for Verdicts {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        self.journal.see(entry, versions);
        if let Event::Admitted(admitted) = entry.event
            && let Some(basis) = &admitted.robots
        {
            self.page(entry.header, admitted, basis, versions);
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Verdicts {
    fn page(
        &mut self,
        header: &Header,
        admitted: &Admitted,
        basis: &RobotsBasis,
        versions: &Versions<'_>,
    ) {
        // A basis that names no body is judged by the body that came all the same.
        let came = versions
            .charter(admitted.charter)
            .and_then(|charter| self.journal.of(header.lane, admitted, charter))
            .filter(|settled| settled.is_behind(basis))
            .and_then(|settled| settled.answer.as_ref())
            .filter(|answer| answer.meaning == Meaning::Rules)
            .and_then(|answer| answer.body);
        let Some(body) = basis.body.or(came) else {
            return;
        };
        let Some(rules) = versions.rules(body) else {
            self.finding
                .undecidable(header.seq, "the robots.txt that it rests on is not kept");
            return;
        };
        let found = rules.for_agent(&admitted.token).verdict(&admitted.url);
        let line = found.rule.map(|rule| rule.line);
        let kept = found.allowed && line == basis.line;
        self.finding
            .check(kept, header.seq, || match (found.allowed, line) {
                (false, Some(line)) => format!("line {line} of robots.txt does not allow it"),
                _ => format!(
                    "robots.txt decides by line {line:?}, noted {:?}",
                    basis.line
                ),
            });
    }
}

#[cfg(test)]
mod tests {
    use super::super::robots_first::tests::{know, page_after, read};
    use super::super::testing::{History, LANE, OTHER_PAGE, PAGE, Stage, word};
    use super::*;
    use crate::fetched::Outcome;

    const OWN: &str =
        "User-agent: *\nDisallow: /\n\nUser-agent: BlueAIChangeBot\nDisallow: /terms\n";

    #[test]
    fn the_groups_that_name_us_come_before_the_star() {
        for (robots, url, expected) in [
            ("", PAGE, "pass"),
            (OWN, PAGE, "pass"),
            (OWN, OTHER_PAGE, "refuse"),
            ("User-agent: *\nDisallow: /", PAGE, "refuse"),
            ("User-agent: GPTBot\nDisallow: /", PAGE, "pass"),
            ("User-agent: *\nDisallow: /\nAllow: /price", PAGE, "pass"),
        ] {
            let mut stage = Stage::new();
            know(&mut stage, robots);
            let got = stage.hold(&RobotsObeyed, &stage.ask(url));
            assert_eq!(word(&got), expected, "{url}: {robots:?}");
        }
    }

    #[test]
    fn a_refusal_names_its_line() {
        let mut stage = Stage::new();
        know(&mut stage, OWN);
        let got = stage.hold(&RobotsObeyed, &stage.ask(OTHER_PAGE));
        let Verdict::Refuse { why } = got else {
            panic!("{got:?}");
        };
        assert!(why.ja.contains("5行目「Disallow: /terms」"), "{}", why.ja);
        assert!(why.en.contains("Line 5"), "{}", why.en);
    }

    #[test]
    fn a_body_that_is_not_at_hand_holds() {
        let mut stage = Stage::new();
        know(&mut stage, OWN);
        stage.lane.rules.clear();
        assert_eq!(word(&stage.hold(&RobotsObeyed, &stage.ask(PAGE))), "hold");
    }

    #[test]
    fn the_basis_names_answer_body_line_and_delay() {
        let mut stage = Stage::new();
        let digest = know(&mut stage, "User-agent: *\nCrawl-delay: 7\nAllow: /price");
        let ask = stage.ask(PAGE);
        let scene = Scene {
            house: &stage.house,
            charter: &stage.charter,
            lane: &stage.lane,
            target: stage.target.as_ref(),
            now: stage.now,
        };
        let basis = basis(&scene, &ask).unwrap();
        assert_eq!(basis.body, Some(digest));
        assert_eq!(basis.line, Some(3));
        assert_eq!(basis.crawl_delay_us, Some(7_000_000));
    }

    /// The breaches of one page asked for after reading `robots`, the basis naming `line`.
    fn proved(robots: &str, url: &str, line: Option<u32>) -> usize {
        let mut history = History::new();
        history.open();
        let answered = read(&mut history, Outcome::Status(200), Some(robots));
        let mut page = page_after(&history, url, answered, Some(robots));
        page.robots.as_mut().unwrap().line = line;
        let admitted = history.admit(page);
        let breaches = history.breaches(&RobotsObeyed);
        assert!(breaches.iter().all(|seq| *seq == admitted));
        breaches.len()
    }

    #[test]
    fn verdicts_are_computed_again() {
        for (robots, url, line, broken) in [
            ("", PAGE, None, 0),
            (OWN, PAGE, None, 0),
            (OWN, OTHER_PAGE, Some(5), 1),
            (OWN, PAGE, Some(5), 1),
            ("User-agent: *\nAllow: /price", PAGE, Some(2), 0),
            ("User-agent: *\nAllow: /price", PAGE, None, 1),
        ] {
            assert_eq!(proved(robots, url, line), broken, "{url}: {robots:?}");
        }
    }

    #[test]
    fn rules_that_came_cannot_be_left_out_of_the_basis() {
        let mut history = History::new();
        history.open();
        let answered = read(&mut history, Outcome::Status(200), Some(OWN));
        let page = page_after(&history, OTHER_PAGE, answered, None);
        let admitted = history.admit(page);
        assert_eq!(history.breaches(&RobotsObeyed), [admitted]);
    }

    #[test]
    fn a_body_that_is_gone_leaves_the_proof_open() {
        let mut history = History::new();
        history.open();
        let answered = read(&mut history, Outcome::Status(200), Some(OWN));
        let page = page_after(&history, PAGE, answered, Some(OWN));
        let admitted = history.admit(page);
        history.push(LANE, history.answer(admitted));
        history.bodies.clear();
        let finding = history.prove(&RobotsObeyed);
        assert_eq!((finding.broken, finding.undecidable), (0, 1));
    }
}
