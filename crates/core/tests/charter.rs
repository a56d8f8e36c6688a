//! A charter file: what holds, what is refused, and what its writer is told.

use std::time::Duration;

use reigi_core::cadence::Every;
use reigi_core::charter::{Charter, Freshness, Lang, Resume, RetryAfter, RobotsMeaning};

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
