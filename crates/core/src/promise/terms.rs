//! `terms`: nothing is asked for whose terms of use no person has read lately, or that they forbid.
//!
//! Seed: B "サイトごとの robots.txt と利用条件を確認"; DECISIONS 36. Dates are the house's own.

use std::time::Duration;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, TermsPolicy};
use crate::event::Event;
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::ledger::{TermsCheck, TermsVerdict};
use crate::policy::words;
use crate::time::Timestamp;

/// See the module.
pub struct Terms;

const DAY: Duration = Duration::from_secs(24 * 3600);

impl Promise for Terms {
    fn id(&self) -> &'static str {
        "terms"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "利用条件の確認",
            Lang::En => "Terms of use",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let age = words::span(charter.terms?.max_age, lang);
        Some(match lang {
            Lang::Ja => format!(
                "対象ごとに利用条件を担当者が読み、機械的な取得が禁じられていないことを確かめて、記録します。確認が{age}より古くなった対象や、判断できない対象は取得しません。"
            ),
            Lang::En => format!(
                "For each target a person reads the terms of use and records that they do not forbid automatic reading. Where that check is older than {age}, or left a doubt, nothing is asked for."
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, _ask: &Ask) -> Verdict {
        let (Some(policy), Some(target)) = (scene.charter.terms, scene.target) else {
            return Verdict::Pass;
        };
        let ask_a_person = |ja: String, en: String| Verdict::hold(Until::Person, ja, en);
        let Some(check) = &target.row.terms else {
            return ask_a_person(
                "利用条件がまだ確認されていません。".into(),
                "The terms of use have not been checked yet.".into(),
            );
        };
        match check.verdict {
            TermsVerdict::Allowed => {}
            TermsVerdict::Refused => {
                return Verdict::refuse(
                    "利用条件が機械的な取得を認めていません。",
                    "The terms of use forbid automatic reading.",
                );
            }
            TermsVerdict::Unclear => {
                return ask_a_person(
                    "利用条件から判断できませんでした。".into(),
                    "The terms of use left a doubt.".into(),
                );
            }
        }
        let today = date(scene.now.wall, &scene.house.zone.0);
        if counts_on(check, policy, today) {
            return Verdict::Pass;
        }
        ask_a_person(
            format!("利用条件の確認（{}）が古くなりました。", check.checked_on),
            format!(
                "The check of the terms ({}) is out of date.",
                check.checked_on
            ),
        )
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Checks::default()))
    }
}

fn date(at: Timestamp, zone: &TimeZone) -> Date {
    at.jiff().to_zoned_datetime(zone.clone()).date()
}

/// A check counts from its day on, through the last day of its age. One dated ahead does not.
fn counts_on(check: &TermsCheck, policy: TermsPolicy, today: Date) -> bool {
    let Ok(checked) = check.checked_on.parse::<Date>() else {
        return false;
    };
    let last = checked.saturating_add(policy.max_age);
    checked <= today && today <= last
}

/// Each request's ledger row, as it then was, held against the charter it was made under.
#[derive(Default)]
struct Checks {
    finding: Finding,
}

impl Proof for Checks {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let Event::Admitted(admitted) = entry.event else {
            return;
        };
        let seq = entry.header.seq;
        let Some(charter) = versions.charter(admitted.charter) else {
            self.finding.undecidable(seq, "its charter is not readable");
            return;
        };
        let Some(policy) = charter.terms else {
            return;
        };
        let Some((_, row)) = versions.row(&admitted.bot, &admitted.target) else {
            self.finding
                .undecidable(seq, "no ledger row in force says what was checked");
            return;
        };
        let fault = fault(row.terms.as_ref(), policy, entry.header.at, &versions.zone);
        self.finding
            .check(fault.is_none(), seq, || fault.unwrap_or_default());
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

fn fault(
    check: Option<&TermsCheck>,
    policy: TermsPolicy,
    at: Timestamp,
    zone: &TimeZone,
) -> Option<String> {
    let Some(check) = check else {
        return Some("asked for without a check of the terms".to_owned());
    };
    if check.verdict != TermsVerdict::Allowed {
        return Some(format!("the check of the terms says {:?}", check.verdict).to_lowercase());
    }
    let Ok(checked) = check.checked_on.parse::<Date>() else {
        return Some(format!("{:?} is no date", check.checked_on));
    };
    let today = at.jiff().to_zoned_datetime(zone.clone()).date();
    let days = (today - checked).get_days();
    let most = policy.max_age.as_secs() / DAY.as_secs();
    let fresh = u64::try_from(days).is_ok_and(|days| days <= most);
    (!fresh).then(|| format!("the terms were checked {days} days before, promised at most {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::testing::{History, OTHER_PAGE, PAGE, Stage, at, row, word};

    /// Day, verdict and expected answer on 2026-11-30, 12:00 in Tokyo.
    const CASES: [(&str, TermsVerdict, &str); 8] = [
        ("2026-11-01", TermsVerdict::Allowed, "pass"),
        ("2026-11-30", TermsVerdict::Allowed, "pass"),
        ("2025-11-30", TermsVerdict::Allowed, "pass"),
        ("2025-11-29", TermsVerdict::Allowed, "hold"),
        ("2026-12-01", TermsVerdict::Allowed, "hold"),
        ("last year", TermsVerdict::Allowed, "hold"),
        ("2026-11-01", TermsVerdict::Unclear, "hold"),
        ("2026-11-01", TermsVerdict::Refused, "refuse"),
    ];

    fn checked(on: &str, verdict: TermsVerdict) -> crate::ledger::Target {
        let mut row = row();
        if let Some(check) = &mut row.terms {
            (check.checked_on, check.verdict) = (on.to_owned(), verdict);
        }
        row
    }

    #[test]
    fn both_faces_read_a_check_alike() {
        for (on, verdict, expected) in CASES {
            let mut stage = Stage::new();
            stage.house.zone.0 = TimeZone::get("Asia/Tokyo").unwrap();
            if let Some(target) = &mut stage.target {
                target.row = checked(on, verdict);
            }
            let got = stage.hold(&Terms, &stage.ask(PAGE));
            assert_eq!(word(&got), expected, "{on} {verdict:?}");

            let mut history = History::new();
            history.enter(checked(on, verdict));
            history.open();
            let seq = history.admit(history.page(PAGE));
            let named = if expected == "pass" {
                vec![]
            } else {
                vec![seq]
            };
            assert_eq!(history.breaches(&Terms), named, "{on} {verdict:?}");
        }
    }

    #[test]
    fn days_change_at_the_houses_midnight() {
        let mut stage = Stage::new();
        stage.now = at(12.5 * 3600.0); // 2026-12-01 00:30 in Tokyo, still November in UTC
        if let Some(target) = &mut stage.target {
            target.row = checked("2026-12-01", TermsVerdict::Allowed);
        }
        assert_eq!(word(&stage.hold(&Terms, &stage.ask(PAGE))), "hold");
        stage.house.zone.0 = TimeZone::get("Asia/Tokyo").unwrap();
        assert_eq!(word(&stage.hold(&Terms, &stage.ask(PAGE))), "pass");
    }

    #[test]
    fn each_request_is_held_against_the_row_of_its_own_time() {
        let mut history = History::new();
        let mut unchecked = row();
        unchecked.terms = None;
        history.open();
        history.fetch(PAGE);
        history.enter(unchecked);
        let broken = history.admit(history.page(OTHER_PAGE));
        history.enter(row());
        history.admit(history.page(OTHER_PAGE));
        assert_eq!(history.breaches(&Terms), [broken]);
    }

    #[test]
    fn a_charter_without_terms_promises_nothing() {
        let mut stage = Stage::new();
        stage.charter.terms = None;
        if let Some(target) = &mut stage.target {
            target.row.terms = None;
        }
        assert_eq!(word(&stage.hold(&Terms, &stage.ask(PAGE))), "pass");
        assert_eq!(Terms.say(&stage.charter, Lang::En), None);
    }
}
