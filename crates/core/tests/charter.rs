//! A charter file: what holds, what is refused, and what its writer is told.

use std::time::Duration;

use reigi_core::cadence::Every;
use reigi_core::charter::{
    Charter, Freshness, Lang, RequestKind, Resume, RetryAfter, RobotsMeaning,
};
use reigi_core::digest::Digest;

const BLUEAI: &str = include_str!("../../../charters/blueai-change.toml");

fn blueai() -> Charter {
    Charter::parse("charters/blueai-change.toml", BLUEAI)
        .unwrap_or_else(|problems| panic!("{}", problems.render(BLUEAI, Lang::En)))
}

#[test]
fn the_published_policy_of_blueai_is_restated() {
    let charter = blueai();
    assert_eq!(charter.bot, "blueai-change");
    assert!(charter.acceptance);
    assert_eq!(charter.updated, "2026-08-23");
    assert_eq!(
        charter.identity.agent.user_agent,
        "Mozilla/5.0 (compatible; BlueAIChangeBot/1.0; +https://blueai.co.jp/change-bot)"
    );
    assert_eq!(charter.pace.interval_min, Duration::from_secs(2));
    assert_eq!(charter.pace.interval_max, Duration::from_secs(2));
    assert_eq!(charter.pace.connections_per_host, 1);
    assert_eq!(charter.robots.fresh_for, Freshness::Visit);
    assert_eq!(charter.robots.status.client_error, RobotsMeaning::NoRules);
    assert_eq!(charter.robots.status.server_error, RobotsMeaning::Hold);
    assert_eq!(
        charter.visit.every,
        Every::Period(Duration::from_secs(86_400))
    );
    let cap = Duration::from_secs(86_400);
    assert_eq!(charter.failure.retry_after, RetryAfter::Honour { cap });
    assert_eq!(charter.failure.resume, Resume::Person);
    assert_eq!(
        charter.evidence.retention_unreferenced,
        Duration::from_secs(3650 * 86_400)
    );
    assert!(charter.terms.is_some());
    assert_eq!(charter.declared.len(), 3);
}

const SOUND: &str = include_str!("../testdata/charters/sound.toml");
const INTERVAL: &str = "interval = \"2s\"";

/// The sound charter with one of its lines written otherwise.
fn with(line: &str, other: &str) -> Charter {
    assert!(SOUND.contains(line), "{line}");
    let text = SOUND.replace(line, other);
    Charter::parse("charters/school-watch.toml", &text)
        .unwrap_or_else(|problems| panic!("{}", problems.render(&text, Lang::En)))
}

#[test]
fn what_a_charter_may_choose() {
    let secs = Duration::from_secs;

    let drawn = with(INTERVAL, "interval = [\"1s\", \"2s\"]").pace;
    assert_eq!((drawn.interval_min, drawn.interval_max), (secs(1), secs(2)));
    let paced = with(
        INTERVAL,
        "interval = \"1.5s\"\nglobal_interval = \"100ms\"\ngroup = \"day\"",
    );
    assert_eq!(paced.pace.interval_min, Duration::from_millis(1500));
    assert_eq!(paced.pace.global_interval, Some(Duration::from_millis(100)));
    assert_eq!(paced.pace.group.as_deref(), Some("day"));

    let fresh = with("fresh_for = \"visit\"", "fresh_for = \"24h\"").robots;
    assert_eq!(fresh.fresh_for, Freshness::For(secs(86_400)));
    let strict = with("4xx = \"no-rules\"", "4xx = \"hold\"").robots;
    assert_eq!(strict.status.client_error, RobotsMeaning::Hold);
    let exact = with("max_bytes = \"1MiB\"", "max_bytes = \"500KiB\"").robots;
    assert_eq!(exact.max_bytes, 512_000);

    let honour = "retry_after = \"honour\"\nretry_after_cap = \"24h\"";
    let deaf = with(honour, "retry_after = \"ignore\"").failure;
    assert_eq!(deaf.retry_after, RetryAfter::Ignore);
    let timed = with("resume = \"person\"", "resume = \"7d\"").failure;
    assert_eq!(timed.resume, Resume::After(secs(7 * 86_400)));

    assert_eq!(
        with("every = \"1d\"", "every = \"month\"").visit.every,
        Every::Month
    );
    assert!(with("[terms]\nmax_age = \"365d\"", "").terms.is_none());
    assert!(
        with("what = [\"facts\", \"summaries\"]", "what = []")
            .release
            .is_empty()
    );
    // A date may be TOML's own, and what is always so may be said.
    assert_eq!(
        with("updated = \"2026-08-23\"", "updated = 2026-08-23").updated,
        "2026-08-23"
    );
    with(
        "[robots]",
        "[robots]\nevidence = \"fetch\"\ncrawl_delay = \"lengthen\"",
    );
}

#[test]
fn robots_txt_may_be_asked_for_under_another_name() {
    let charter = with(
        "[identity.purpose]",
        "[identity.robots]\ntoken = \"example-robots-watch\"\nuser_agent = \"example-robots-watch/0.1 (+https://example.org/robots; monthly)\"\npolicy_url = \"https://example.org/robots\"\n\n[identity.purpose]",
    );
    assert_eq!(
        charter.agent(RequestKind::Robots).token,
        "example-robots-watch"
    );
    assert_eq!(charter.agent(RequestKind::Page).token, "ExampleBot");
}

#[test]
fn only_an_acceptance_charter_bears_another_operators_name() {
    let own = BLUEAI.replace("acceptance = true\n", "");
    let problems = Charter::parse("charters/blueai-change.toml", &own).unwrap_err();
    // Its name, its token and its user agent.
    assert_eq!(problems.errors().count(), 3, "{problems}");
}

#[test]
fn a_charter_is_named_by_its_file_and_known_by_its_text() {
    let charter = with(INTERVAL, INTERVAL);
    assert_eq!(charter.bot, "school-watch");
    assert_eq!(charter.digest, Digest::of(SOUND.as_bytes()));
    for name in ["School.toml", "学校.toml", ".toml", "a b.toml", ""] {
        let problems = Charter::parse(name, SOUND).unwrap_err();
        assert_eq!(problems.list.len(), 1, "{name}: {problems}");
    }
    // As some editors save it.
    let windows = format!("\u{feff}{}", SOUND.replace('\n', "\r\n"));
    assert_eq!(
        Charter::parse("a.toml", &windows).unwrap().pace,
        charter.pace
    );
}
