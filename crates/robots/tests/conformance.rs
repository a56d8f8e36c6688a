//! Cases in JSON lines: our own in `testdata/`, and a shared conformance suite and corpus where
//! they are present (`REIGI_SHARED`, or the folder `shared` beside the checkout).

#![expect(
    clippy::unwrap_used,
    reason = "a test stops at what it did not foresee"
)]

use std::fs;
use std::path::{Path, PathBuf};

use reigi_robots::Rules;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Case {
    id: String,
    robots: Option<String>,
    robots_b64: Option<String>,
    robots_repeat: Option<Repeat>,
    agent: Option<String>,
    url: Option<String>,
    #[serde(flatten)]
    expected: serde_json::Map<String, Value>,
}

#[derive(Deserialize)]
struct Repeat {
    head: String,
    unit: String,
    count: usize,
    tail: String,
}

impl Case {
    fn body(&self) -> Vec<u8> {
        if let Some(text) = &self.robots {
            return text.clone().into_bytes();
        }
        if let Some(text) = &self.robots_b64 {
            return data_encoding::BASE64.decode(text.as_bytes()).unwrap();
        }
        let r = self.robots_repeat.as_ref().unwrap();
        format!("{}{}{}", r.head, r.unit.repeat(r.count), r.tail).into_bytes()
    }

    /// What we answer under the name that the case format gives to each question.
    fn answer(&self, question: &str) -> Value {
        let rules = Rules::parse(&self.body());
        let agent = self.agent.as_deref().unwrap_or_default();
        let verdict = || rules.verdict(agent, self.url.as_deref().unwrap());
        match question {
            "allowed" => verdict().allowed.into(),
            "line" => verdict().rule.map(|rule| rule.line).into(),
            "pattern" => verdict().rule.map(|rule| rule.pattern).into(),
            "group" => format!("{:?}", verdict().group).to_lowercase().into(),
            "reading" => format!("{:?}", rules.for_agent(agent).reading())
                .to_lowercase()
                .into(),
            "crawl_delay" => rules.crawl_delay(agent).map(|d| d.seconds).into(),
            "group_delay" => rules
                .for_agent(agent)
                .group_delay()
                .map(|d| d.seconds)
                .into(),
            "delay_line" => rules.crawl_delay(agent).map(|d| d.line).into(),
            "unclear" => {
                let readable = |d: reigi_robots::UnclearDelay| d.readable.map(|d| d.seconds);
                rules
                    .for_agent(agent)
                    .unclear_delays()
                    .map(readable)
                    .collect()
            }
            "max_rate_interval" => {
                let rate = rules.for_agent(agent).max_crawl_rate();
                rate.map(|rate| rate.interval().as_secs_f64()).into()
            }
            "sitemaps" => rules.sitemaps().collect(),
            "licenses" => rules.licenses().collect(),
            "records" => rules
                .records()
                .map(|r| format!("{} {:?}", r.line, r.field))
                .collect(),
            "content" => format!("{:?}", rules.content()).to_lowercase().into(),
            "notes" => rules
                .notes()
                .iter()
                .map(|n| format!("{} {:?}", n.line, n.oddity))
                .collect(),
            question => self.preference(&rules, agent, question),
        }
    }

    /// `signal:KEY` and `usage:KEY` ask for the most restrictive answer for this URL.
    fn preference(&self, rules: &Rules, agent: &str, question: &str) -> Value {
        let (agent, url) = (rules.for_agent(agent), self.url.as_deref().unwrap_or("/"));
        let (held, key) = match question.split_once(':') {
            Some(("signal", key)) => (agent.content_signals(url), key),
            Some(("usage", key)) => (agent.content_usage(url), key),
            _ => panic!("{}: unknown question {question}", self.id),
        };
        held.iter().filter_map(|p| p.says(key)).min().into()
    }

    fn check(&self, question: &str, expected: &Value) -> Option<String> {
        let answer = self.answer(question);
        let same = match (answer.as_f64(), expected.as_f64()) {
            (Some(a), Some(b)) => a == b,
            _ => answer == *expected,
        };
        (!same).then(|| format!("{}: {question} is {answer}, should be {expected}", self.id))
    }
}

fn cases(path: &Path) -> Vec<Case> {
    let text = fs::read_to_string(path).unwrap();
    let parsed = |line: &str| serde_json::from_str(line).unwrap_or_else(|e| panic!("{line}: {e}"));
    text.lines()
        .filter(|line| !line.is_empty())
        .map(parsed)
        .collect()
}

fn shared(part: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let root = std::env::var_os("REIGI_SHARED").map_or_else(beside, PathBuf::from);
    let path = root.join(part);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {part} is not here (set REIGI_SHARED)");
    None
}

fn assert_none(failures: Vec<String>) {
    assert!(
        failures.is_empty(),
        "{} failed:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn own_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut failures = Vec::new();
    let mut count = 0;
    for file in fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        for case in cases(&path) {
            let asked = case
                .expected
                .iter()
                .filter(|(key, _)| key.as_str() != "why");
            let before = count;
            count += asked.clone().count();
            assert!(count > before, "{}: nothing is asked", case.id);
            failures.extend(asked.filter_map(|(question, v)| case.check(question, v)));
        }
    }
    assert_none(failures);
    assert!(count >= 120, "only {count} questions");
}

#[test]
fn shared_cases() {
    let Some(path) = shared("conformance/robots/cases.jsonl") else {
        return;
    };
    let questions = ["allowed", "crawl_delay", "sitemaps"];
    let failures = cases(&path).into_iter().flat_map(|case| {
        let asked = questions
            .iter()
            .filter_map(|q| Some((*q, case.expected.get(*q)?)));
        asked
            .filter_map(|(q, expected)| case.check(q, expected))
            .collect::<Vec<_>>()
    });
    assert_none(failures.collect());
}

/// Where RFC 9309 and Google's matcher differ, the RFC is followed.
#[test]
fn contested_cases_as_settled() {
    let Some(path) = shared("conformance/robots/contested.jsonl") else {
        return;
    };
    let failures = cases(&path).into_iter().filter_map(|case| {
        let by = |key: &str| case.expected.get(key).filter(|v| !v.is_null());
        if case.url.is_some() {
            return case.check("allowed", by("rfc9309")?);
        }
        if case.agent.is_some() {
            return case.check("crawl_delay", case.expected.get("project")?);
        }
        case.check("sitemaps", by("google")?)
    });
    assert_none(failures.collect());
}

#[test]
fn census_of_the_corpus() {
    let Some(folder) = shared("corpus/robots") else {
        return;
    };
    let table = fs::read_to_string(folder.join("census_expected.tsv")).unwrap();
    let mut rows = table.lines().map(|row| row.split('\t'));
    let agents: Vec<&str> = rows.next().unwrap().skip(1).collect();
    let mut failures = Vec::new();
    for mut row in rows {
        let file = row.next().unwrap();
        let rules = Rules::parse(&fs::read(folder.join(file)).unwrap());
        for (agent, expected) in agents.iter().zip(row) {
            let allowed = rules.verdict(agent, "/").allowed;
            if allowed != (expected == "allowed") {
                failures.push(format!("{file}: {agent} should be {expected}"));
            }
        }
    }
    assert_none(failures);
}

/// Pages served as robots.txt are told apart from files that allow everything.
#[test]
fn pages_in_the_corpus_are_no_robots_files() {
    let Some(folder) = shared("corpus/robots") else {
        return;
    };
    let index = fs::read_to_string(folder.join("index.tsv")).unwrap();
    let rows: Vec<Vec<&str>> = index
        .lines()
        .skip(1)
        .map(|row| row.split('\t').collect())
        .collect();
    let pages: Vec<_> = rows
        .iter()
        .filter(|row| row[6].split(',').any(|t| t == "html"))
        .collect();
    assert!(!pages.is_empty());
    let unseen = pages.iter().filter(|row| {
        let body = fs::read(folder.join(row[0])).unwrap();
        Rules::parse(&body).content() != reigi_robots::Content::Markup
    });
    assert_none(unseen.map(|row| row[0].to_owned()).collect());
}
