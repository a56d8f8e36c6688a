//! What holds for the registry as a whole.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;

use super::robots_first::tests::{know, settle};
use super::testing::{OTHER_PAGE, PAGE, Stage, at, key};
use super::*;
use crate::charter::{Freshness, RequestKind, RobotsMeaning};
use crate::gate::{judge, judge_by};
use crate::state::RobotsVerdict;
use crate::state::house::Pacer;
use crate::state::lane::{Addresses, Owed};
use crate::time::Now;

/// Modules of this folder that are no promise.
const SUPPORT: [&str; 5] = ["mod", "reach", "settlements", "testing", "tests"];

#[test]
fn each_promise_is_one_file_named_by_its_id() {
    let ids: BTreeSet<String> = PROMISES.iter().map(|p| p.id().replace('-', "_")).collect();
    assert_eq!(ids.len(), PROMISES.len(), "ids are unique");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/promise");
    let files: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .filter(|stem| !SUPPORT.contains(&stem.as_str()))
        .collect();
    assert_eq!(ids, files);
    for promise in PROMISES {
        assert_eq!(by_id(promise.id()).map(Promise::id), Some(promise.id()));
    }
}

#[test]
fn what_a_promise_implies_is_a_promise() {
    for promise in PROMISES {
        for implied in promise.implies() {
            assert!(by_id(implied).is_some(), "{}: {implied}", promise.id());
            assert_ne!(*implied, promise.id());
        }
    }
}

#[test]
fn titles_tell_promises_apart() {
    for lang in [Lang::Ja, Lang::En] {
        let titles: BTreeSet<&str> = PROMISES.iter().map(|p| p.title(lang)).collect();
        assert_eq!(titles.len(), PROMISES.len(), "{titles:?}");
        assert!(!titles.contains(""));
    }
}

/// The example charter makes every promise but the spacing over all hosts.
#[test]
fn each_promise_has_its_sentence_in_both_languages() {
    let charter = testing::charter();
    for promise in PROMISES {
        let (ja, en) = (
            promise.say(&charter, Lang::Ja),
            promise.say(&charter, Lang::En),
        );
        let made = promise.id() != "global-interval";
        assert_eq!(
            (ja.is_some(), en.is_some()),
            (made, made),
            "{}",
            promise.id()
        );
        let (Some(ja), Some(en)) = (ja, en) else {
            continue;
        };
        let is_kana = |c: char| matches!(c, '\u{3041}'..='\u{30ff}');
        assert!(ja.ends_with('。') && ja.contains(is_kana), "{ja}");
        assert!(en.ends_with('.') && !en.contains(is_kana), "{en}");
        for text in [ja, en] {
            assert!(!text.contains("  ") && !text.contains('{'), "{text}");
        }
    }
}

/// A scene somewhere between "nothing against it" and "everything".
#[derive(Clone, Debug)]
struct Odds {
    quiet_for: Option<i16>,
    draw: u8,
    backoff: u32,
    slow_wait: u16,
    too_slow: bool,
    owed: u16,
    retry_after: Option<i16>,
    /// 0: none read; 1: allows; 2: refuses; 3: asks for a delay; 4: means hold.
    robots: u8,
    address: Option<u8>,
    pacer: Option<i16>,
    other_page: bool,
    as_robots: bool,
    agent_differs: bool,
    validators_differ: bool,
    left: bool,
    clock_hold: bool,
    by_another_writer: bool,
}

prop_compose! {
    fn odds()(
        waits in (prop::option::of(-10..200i16), 0..5u8, 0..6u32, 0..40u16, any::<bool>(), 0..20u16),
        site in (
            prop::option::of(-10..200i16),
            0..5u8,
            prop::sample::select(vec![None, Some(127), Some(127), Some(8)]),
        ),
        pacer in prop::option::of(-10..10i16),
        flags in prop::array::uniform7(prop::bool::weighted(0.2)),
        other_page in any::<bool>(),
    ) -> Odds {
        let (quiet_for, draw, backoff, slow_wait, too_slow, owed) = waits;
        let (retry_after, robots, address) = site;
        let [
            as_robots,
            agent_differs,
            validators_differ,
            left,
            clock_hold,
            by_another_writer,
            too_slow_too,
        ] = flags;
        Odds {
            quiet_for, draw, backoff, slow_wait, too_slow: too_slow && too_slow_too, owed,
            retry_after, robots, address, pacer, other_page, as_robots, agent_differs,
            validators_differ, left, clock_hold, by_another_writer,
        }
    }
}

fn stage(odds: &Odds) -> (Stage, Ask) {
    let mut stage = Stage::new();
    stage.charter.robots.fresh_for = Freshness::For(Duration::from_secs(3600));
    match odds.robots {
        0 => {}
        1 => drop(know(&mut stage, "")),
        2 => drop(know(&mut stage, "User-agent: *\nDisallow: /terms")),
        3 => drop(know(&mut stage, "User-agent: *\nCrawl-delay: 30")),
        _ => {
            let (meaning, why) = (RobotsMeaning::Hold, "HTTP 503".to_owned());
            settle(&mut stage, RobotsVerdict::Means { meaning, why });
        }
    }
    let secs = |s: u16| Duration::from_secs(u64::from(s));
    let lane = &mut stage.lane.lane;
    lane.quiet_since = odds.quiet_for.map(|s| at(-f64::from(s)));
    lane.backoff = odds.backoff;
    lane.slow_wait = secs(odds.slow_wait);
    lane.too_slow = odds.too_slow.then(|| (key(), 1));
    lane.owed = Owed {
        interval: secs(odds.owed),
        backoff: secs(odds.owed * 7),
    };
    lane.retry_after = odds.retry_after.map(|s| at(f64::from(s)).wall);
    stage.lane.addresses = odds.address.map(|a| Addresses {
        at: at(0.0).mono,
        found: Ok(vec![[a, 0, 0, 1].into()]),
    });
    if let Some(until) = odds.pacer {
        stage.charter.pace.global_interval = Some(Duration::from_millis(300));
        let pacer = Pacer {
            until: at(f64::from(until) / 10.0),
            spacing: Duration::from_millis(500),
            segment: 1,
        };
        stage
            .house
            .facts
            .pacers
            .insert(testing::BOT.to_owned(), pacer);
    }
    stage.house.facts.clock_hold = odds.clock_hold;
    if odds.by_another_writer {
        stage.lane.taken_over = (2, at(-1.0).mono);
    }
    if let Some(target) = &mut stage.target {
        target.left = odds.left;
    }
    let mut ask = stage.ask(if odds.other_page { OTHER_PAGE } else { PAGE });
    ask.draw = secs(u16::from(odds.draw));
    if odds.as_robots {
        ask.kind = RequestKind::Robots;
    }
    if odds.agent_differs {
        ask.agent.user_agent = "other".to_owned();
    }
    if odds.validators_differ {
        ask.validators.etag = Some("\"x\"".to_owned());
    }
    (stage, ask)
}

fn scene(stage: &Stage) -> Scene<'_> {
    Scene {
        house: &stage.house,
        charter: &stage.charter,
        lane: &stage.lane,
        target: stage.target.as_ref(),
        now: stage.now,
    }
}

fn decisive(judgement: &crate::gate::Judgement) -> Verdict {
    let decisive = judgement.decisive().map(|(_, verdict)| verdict.clone());
    decisive.unwrap_or(Verdict::Pass)
}

proptest! {
    /// A promise more can only slow the bot: for any subset of them and one more, the verdict is
    /// at least as strict, and the whole registry is as strict as any part of it.
    #[test]
    fn one_more_promise_never_makes_the_verdict_more_lenient(
        odds in odds(),
        subset in any::<u64>(),
        one_more in 0..PROMISES.len(),
    ) {
        let (stage, ask) = stage(&odds);
        let scene = scene(&stage);
        let by = |set: u64| {
            let chosen = PROMISES.iter().enumerate().filter(move |(n, _)| set >> n & 1 == 1);
            decisive(&judge_by(chosen.map(|(_, promise)| *promise), &scene, &ask))
        };
        let (fewer, more) = (by(subset), by(subset | 1 << one_more));
        prop_assert!(more.strictness() >= fewer.strictness(), "{fewer:?} became {more:?}");
        let all = decisive(&judge(&scene, &ask));
        prop_assert!(all.strictness() >= more.strictness());
        let alone = by(1 << one_more);
        prop_assert!(all.strictness() >= alone.strictness());
    }

    /// A wait that time alone ends has ended at the instant it names.
    #[test]
    fn a_wait_is_over_when_it_says(odds in odds()) {
        let (mut stage, ask) = stage(&odds);
        let before = judge(&scene(&stage), &ask);
        if let Verdict::NotBefore(until) = decisive(&before) {
            prop_assert!(until > stage.now.wall);
            stage.now = Now { wall: until, mono: stage.now.mono_at(until) };
            let after = decisive(&judge(&scene(&stage), &ask));
            prop_assert!(!matches!(after, Verdict::NotBefore(_)), "{after:?}");
        }
    }
}
