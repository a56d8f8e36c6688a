//! What `explain` says: what would happen, why, what comes next.

use std::sync::Arc;
use std::time::Duration;

use reigi_core::charter::{Charter, Lang, RobotsMeaning};
use reigi_core::digest::Digest;
use reigi_core::event::{LaneId, Paused, Reach};
use reigi_core::explain::{Explanation, LastRequest, Outcome, RobotsSays, covering, explain};
use reigi_core::host::Host;
use reigi_core::ledger::{Target, TermsCheck, TermsVerdict};
use reigi_core::state::house::{OptOut, Zone};
use reigi_core::state::lane::robots_key;
use reigi_core::state::{
    House, LaneState, RobotsRecord, RobotsVerdict, TargetKey, TargetState, Visit,
};
use reigi_core::time::{Mono, Now, Timestamp};
use reigi_robots::Rules;
use url::Url;

const BOT: &str = "blueai-change";
const ORIGIN: &str = "https://school.example.jp";
const PRICE: &str = "https://school.example.jp/price";

/// A house with one bot, one host and one listed page, due since midnight.
struct Scene {
    house: House,
    lane: LaneState,
    now: Now,
}

impl Scene {
    fn new() -> Self {
        let text = include_str!("../../../charters/blueai-change.toml");
        let charter = Charter::parse("blueai-change.toml", text).unwrap();
        let now = Now {
            wall: Timestamp::parse("2026-11-30T15:00:00Z").unwrap(),
            mono: Mono::from_micros(3_600_000_000),
        };
        let mut house = House {
            zone: Zone(jiff::tz::TimeZone::get("Asia/Tokyo").unwrap()),
            ..House::default()
        };
        house.charters.insert(BOT.to_owned(), Arc::new(charter));
        let host = Host::parse("school.example.jp").unwrap();
        let mut lane = LaneState::new(LaneId(1), host, 1, Mono::default());
        let target = target(now.wall);
        lane.targets.insert(target.key.clone(), target);
        Self { house, lane, now }
    }

    fn target(&mut self) -> &mut TargetState {
        self.lane.targets.values_mut().next().unwrap()
    }

    /// robots.txt as read an hour ago; `fresh`: in the visit that is under way.
    fn robots(mut self, body: &str, fresh: bool) -> Self {
        let charter = self.house.charters[BOT].clone();
        let digest = Digest::of(body.as_bytes());
        let rules = Rules::parse(body.as_bytes());
        self.lane.rules.insert(digest, Arc::new(rules));
        let at = Timestamp::parse("2026-11-30T14:00:00Z").unwrap();
        let visit = if fresh { 8 } else { 7 };
        let record = RobotsRecord {
            answered: None,
            at,
            visit: (key(), visit),
            verdict: RobotsVerdict::Rules(digest),
        };
        let key = robots_key(ORIGIN, &charter.identity.agent.user_agent);
        self.lane.lane.robots.insert(key, record);
        self.lane.lane.visits = if fresh { 8 } else { 7 };
        if fresh {
            self.lane.lane.visit = Some(visit_under_way(self.now.wall));
        }
        self
    }

    fn explain(&self, url: &str) -> Explanation {
        let url = Url::parse(url).unwrap();
        explain(&self.house, Some(&self.lane), BOT, None, &url, self.now)
    }

    fn pause(&self, by: &str, reach: Reach, until: Option<Timestamp>) -> Paused {
        Paused {
            reach,
            by: by.to_owned(),
            reason: "サーバー移転のため".to_owned(),
            until,
            epoch: 1,
        }
    }
}

fn key() -> TargetKey {
    TargetKey {
        bot: BOT.to_owned(),
        id: "school".to_owned(),
    }
}

fn target(now: Timestamp) -> TargetState {
    let row = Target {
        id: "school".to_owned(),
        name: "例の学校".to_owned(),
        urls: vec![PRICE.to_owned()],
        category: None,
        provider: None,
        every: None,
        terms: Some(TermsCheck {
            url: "https://school.example.jp/terms".to_owned(),
            checked_by: "Sato".to_owned(),
            checked_on: "2026-10-01".to_owned(),
            verdict: TermsVerdict::Allowed,
        }),
        include: Vec::new(),
        ignore: Vec::new(),
        notes: None,
    };
    TargetState {
        key: key(),
        row,
        left: false,
        due: now,
        anchor_day: None,
        last_visit: None,
        failures: 0,
        pause: None,
        pages: [(PRICE.to_owned(), Default::default())].into(),
    }
}

fn visit_under_way(now: Timestamp) -> Visit {
    Visit {
        id: 8,
        target: key(),
        opened: now,
        due: now,
        pages: 0,
        at: 0,
        answer: None,
        redirect: None,
        waiting: None,
        failed: false,
        held: None,
    }
}

/// Both languages and the JSON, checked together.
fn shown(name: &str, explanation: &Explanation) {
    let json = serde_json::to_string_pretty(&explanation.json()).unwrap();
    let (ja, en) = (explanation.words(Lang::Ja), explanation.words(Lang::En));
    insta::assert_snapshot!(format!("explain_{name}"), format!("{ja}\n{en}\n{json}"));
}

#[test]
fn a_url_that_no_ledger_lists() {
    let scene = Scene::new();
    let explanation = scene.explain("https://school.example.jp/other");
    assert_eq!(explanation.outcome, Outcome::NotListed);
    shown("not_listed", &explanation);
    let url = Url::parse("https://elsewhere.example/").unwrap();
    let nowhere = explain(&scene.house, None, BOT, None, &url, scene.now);
    assert_eq!(nowhere.outcome, Outcome::NotListed);
}

#[test]
fn a_bot_without_a_charter() {
    let scene = Scene::new();
    let url = Url::parse(PRICE).unwrap();
    let explanation = explain(
        &scene.house,
        Some(&scene.lane),
        "other",
        None,
        &url,
        scene.now,
    );
    assert_eq!(explanation.outcome, Outcome::NoCharter);
    assert!(
        explanation
            .words(Lang::En)
            .contains("other is not running.")
    );
}

#[test]
fn a_site_whose_owner_wishes_to_be_left_alone() {
    let mut scene = Scene::new();
    let since = Timestamp::parse("2026-11-20T00:00:00Z").unwrap();
    scene.house.facts.opt_outs.push(OptOut {
        reach: Reach::Domain("example.jp".to_owned()),
        received: since,
        effective: since,
    });
    let explanation = scene.explain(PRICE);
    assert_eq!(explanation.outcome, Outcome::OptedOut { since });
    shown("opted_out", &explanation);
    // Whether a ledger lists it or not.
    let other = scene.explain("https://school.example.jp/other");
    assert_eq!(other.outcome, Outcome::OptedOut { since });
}

#[test]
fn a_pause_by_a_person_or_by_a_promise() {
    let mut scene = Scene::new();
    let host = Reach::Host("school.example.jp".to_owned());
    let pause = scene.pause("Sato", host, None);
    scene.house.facts.pauses.push(pause);
    let explanation = scene.explain(PRICE);
    assert!(matches!(explanation.outcome, Outcome::Paused { .. }));
    assert_eq!(explanation.next, None);
    shown("paused", &explanation);

    let mut scene = Scene::new();
    let until = Timestamp::parse("2026-12-07T00:00:00Z").unwrap();
    let reach = LaneState::target_reach(&key());
    let pause = scene.pause("auto-pause", reach, Some(until));
    scene.target().pause = Some(pause);
    let explanation = scene.explain(PRICE);
    assert_eq!(explanation.next, Some(until));
    assert_eq!(explanation.sentence.unwrap().promise, "auto-pause");

    let reach = LaneState::target_reach(&key());
    let over = scene.pause("auto-pause", reach, Some(scene.now.wall));
    scene.target().pause = Some(over);
    let explanation = scene.explain(PRICE);
    assert!(matches!(explanation.outcome, Outcome::Fetched { .. }));
}

const REFUSING: &str = "User-agent: *\nAllow: /\n\nUser-agent: BlueAIChangeBot\nDisallow: /price\n";

#[test]
fn a_page_that_robots_txt_refuses_names_the_line() {
    for fresh in [false, true] {
        let explanation = Scene::new().robots(REFUSING, fresh).explain(PRICE);
        assert!(
            matches!(explanation.outcome, Outcome::Refused { .. }),
            "{fresh}"
        );
        let robots = explanation.robots.clone().unwrap();
        assert_eq!(robots.stale, !fresh);
        let says = RobotsSays::Rule {
            allowed: false,
            line: 5,
            rule: "Disallow: /price".to_owned(),
            own_group: true,
        };
        assert_eq!(robots.says, says);
        if !fresh {
            shown("robots_refuse", &explanation);
        }
    }
}

#[test]
fn a_page_that_waits_for_the_pace_of_its_host() {
    let mut scene = Scene::new().robots("User-agent: *\nDisallow:\n", true);
    scene.lane.lane.quiet_since = Some(scene.now);
    let explanation = scene.explain(PRICE);
    assert_eq!(explanation.outcome, Outcome::Waits);
    let two_seconds = scene.now.wall.plus(Duration::from_secs(2));
    assert_eq!(explanation.next, Some(two_seconds));
    assert_eq!(explanation.sentence.as_ref().unwrap().promise, "interval");
    shown("waits", &explanation);
}

#[test]
fn a_visit_that_is_not_due() {
    let mut scene = Scene::new();
    let due = Timestamp::parse("2026-12-01T00:30:00Z").unwrap();
    scene.target().due = due;
    let explanation = scene.explain(PRICE);
    assert_eq!(explanation.outcome, Outcome::NotDue);
    assert_eq!(explanation.next, Some(due));
    shown("not_due", &explanation);
}

#[test]
fn a_page_that_would_be_fetched_now() {
    let mut explanation = Scene::new().explain(PRICE);
    assert_eq!(explanation.outcome, Outcome::Fetched { robots_first: true });
    explanation.last = vec![LastRequest {
        at: Timestamp::parse("2026-11-29T15:00:00Z").unwrap(),
        url: PRICE.to_owned(),
        outcome: "HTTP 200".to_owned(),
    }];
    shown("fetched", &explanation);
    let fresh = Scene::new().robots("User-agent: *\nDisallow: /x\n", true);
    let explanation = fresh.explain(PRICE);
    assert_eq!(
        explanation.outcome,
        Outcome::Fetched {
            robots_first: false
        }
    );
    assert_eq!(explanation.robots.unwrap().says, RobotsSays::NoRule);
}

#[test]
fn terms_that_nobody_has_read_hold_or_refuse_a_page() {
    let mut scene = Scene::new();
    scene.target().row.terms = None;
    let explanation = scene.explain(PRICE);
    let against = matches!(
        explanation.outcome,
        Outcome::Held { .. } | Outcome::Refused { .. }
    );
    assert!(against, "{:?}", explanation.outcome);
    assert_eq!(explanation.sentence.as_ref().unwrap().promise, "terms");
    assert_eq!(explanation.answers[0].promise, "terms");
    shown("terms", &explanation);
}

#[test]
fn a_robots_txt_that_gave_no_rules_is_said_so() {
    let mut scene = Scene::new().robots("", false);
    for record in scene.lane.lane.robots.values_mut() {
        record.verdict = RobotsVerdict::Means {
            meaning: RobotsMeaning::Hold,
            why: "HTTP 503".to_owned(),
        };
    }
    let explanation = scene.explain(PRICE);
    assert!(explanation.words(Lang::Ja).contains("HTTP 503"));
    assert!(explanation.words(Lang::En).contains("fetching is held"));
    scene.lane.lane.robots.clear();
    assert_eq!(scene.explain(PRICE).robots, None);
}

#[test]
fn a_fragment_is_no_part_of_a_page() {
    let scene = Scene::new();
    let explanation = scene.explain("https://school.example.jp/price#fees");
    assert_eq!(explanation.target, Some(key()));
    assert_eq!(covering(&scene.lane, &Url::parse(PRICE).unwrap()), [key()]);
}
