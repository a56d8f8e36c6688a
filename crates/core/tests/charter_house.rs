//! The house file, and the house that `reigi init` writes.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::BTreeMap;

use reigi_core::charter::{Bilingual, Charter, Lang};
use reigi_core::house_file::{Answers, FirstTarget, HouseFile, TEMPLATES, template};
use reigi_core::ledger::Ledger;

#[test]
fn a_house_file_with_everything() {
    let text = r#"
[house]
name = "Example"
zone = "Asia/Tokyo"
lang = "en"
[[bot]]
charter = "charters/a.toml"
ledger = "ledgers/a.csv"
[[bot]]
charter = "charters/b.toml"
ledger = "ledgers/b.toml"
[network]
resolver = "127.0.0.1:5300"
allow_private = ["127.0.0.0/8", "::1/128"]
hosts_file = "hosts.txt"
[store]
path = "/srv/reigi"
[roles]
reviewer = ["hanako", "taro"]
legal = ["jiro"]
"#;
    let house = HouseFile::parse("reigi.toml", text).unwrap();
    assert_eq!(house.zone.iana_name(), Some("Asia/Tokyo"));
    assert_eq!(house.lang, Lang::En);
    let bots: Vec<_> = house.bots.iter().map(|b| b.bot.as_str()).collect();
    assert_eq!(bots, ["a", "b"]);
    assert_eq!(house.network.allow_private.len(), 2);
    assert_eq!(house.store, "/srv/reigi");
    let readers = ["reviewer".to_owned()];
    assert!(house.has_role("hanako", &readers));
    assert!(!house.has_role("jiro", &readers));
}

#[test]
fn a_small_house_file() {
    let text = "house.name = \"x\"\n[[bot]]\ncharter = \"a.toml\"\nledger = \"a.csv\"\n";
    let house = HouseFile::parse("reigi.toml", text).unwrap();
    assert_eq!(house.zone.iana_name(), Some("UTC"));
    assert_eq!(house.store, "data");
    assert!(house.network.resolver.is_none() && house.network.allow_private.is_empty());
    assert!(house.roles.is_empty());
}

fn answers() -> Answers {
    let both = |ja: &str, en: &str| Bilingual {
        ja: ja.into(),
        en: en.into(),
    };
    Answers {
        bot: "school-watch".into(),
        name: "学校ウォッチ \"tokyo\" {{zone}}".into(),
        token: "ExampleSchoolBot".into(),
        operator: both("例示社", "Example Inc."),
        policy_url: "https://example.org/bot".into(),
        contact_url: "mailto:bot@example.org".into(),
        purpose: both("学校の料金を比べるため。", "To compare what schools cost."),
        zone: "Asia/Tokyo".into(),
        lang: "ja".into(),
        reviewer: "hanako".into(),
        today: "2026-11-30".into(),
        first: Some(FirstTarget {
            id: "city-school".into(),
            name: "市立校".into(),
            url: "https://www.example.org/prices".into(),
            terms_url: Some("https://www.example.org/terms".into()),
        }),
    }
}

fn files(kind: &str, answers: &Answers) -> BTreeMap<String, String> {
    template(kind, answers).unwrap().into_iter().collect()
}

#[test]
fn a_new_house_holds_and_says_who_runs_it() {
    for kind in TEMPLATES {
        let answers = answers();
        let files = files(kind, &answers);
        let read = |name: &str| files.get(name).unwrap_or_else(|| panic!("no {name}"));
        let house = HouseFile::parse("reigi.toml", read("reigi.toml")).unwrap();
        assert_eq!(house.name, answers.name);
        let [bot] = house.bots.as_slice() else {
            panic!("{:?}", house.bots);
        };
        let charter = Charter::parse(&bot.charter, read(&bot.charter)).unwrap();
        assert!(!charter.acceptance);
        assert_eq!(charter.bot, answers.bot);
        assert_eq!(charter.identity.name, answers.name);
        assert_eq!(
            charter.identity.agent.user_agent,
            "ExampleSchoolBot/1.0 (+https://example.org/bot)"
        );
        assert_eq!(charter.updated, answers.today);
        assert!(house.has_role("hanako", &charter.evidence.readers));
        let today = answers.today.parse().ok();
        let ledger = Ledger::parse_as_of(&bot.ledger, read(&bot.ledger), &charter, today).unwrap();
        assert_eq!(ledger.targets.len(), 1);
        assert!(ledger.warnings.is_empty(), "{}", ledger.warnings);
        assert_eq!(files.len(), 3);
    }
    assert_eq!(template("castles", &answers()), None);
}

/// A comment stands above each key, or above the table of keys that say one thing.
#[test]
fn every_key_of_a_new_house_is_explained() {
    for path in ["reigi.toml", "charters/school-watch.toml"] {
        let text = &files("changes", &answers())[path];
        let mut explained = false;
        for line in text.lines() {
            match line.split_once(" = ") {
                _ if line.starts_with('#') => explained = true,
                // The second sentence needs no comment of its own.
                _ if line == "[[declared]]" => explained = true,
                _ if line.is_empty() => explained = false,
                Some((key, _)) => {
                    assert!(explained, "{path}: nothing explains {key}");
                    explained =
                        path == "reigi.toml" || matches!(key, "ja" | "en" | "id" | "429" | "5xx");
                }
                None => {}
            }
        }
    }
}

#[test]
fn a_first_target_is_optional_and_its_terms_too() {
    let mut answers = answers();
    let read = |answers: &Answers| {
        let files = files("changes", answers);
        let charter = Charter::parse("school-watch.toml", &files["charters/school-watch.toml"]);
        let text = &files["ledgers/school-watch.toml"];
        Ledger::parse("school-watch.toml", text, &charter.unwrap()).unwrap()
    };
    answers.first.as_mut().unwrap().terms_url = None;
    assert_eq!(read(&answers).warnings.list.len(), 1);
    answers.first = None;
    assert!(read(&answers).targets.is_empty());
}

#[test]
fn an_answer_that_cannot_be_is_told_where_it_stands() {
    let mut answers = answers();
    answers.token = "Bot2".into();
    answers.contact_url = "bot@example.org".into();
    let files = files("changes", &answers);
    let problems =
        Charter::parse("school-watch.toml", &files["charters/school-watch.toml"]).unwrap_err();
    let what: Vec<_> = problems.errors().map(|p| p.what.en.as_str()).collect();
    assert_eq!(what.len(), 2, "{what:#?}");
}
