//! An explanation in words (what would happen, why, what comes next) and as JSON.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Explanation, Outcome, Robots, RobotsSays};
use crate::charter::Lang;
use crate::policy::words;
use crate::promise::by_id;
use crate::time::Timestamp;

pub(super) fn words(it: &Explanation, lang: Lang) -> String {
    let mut out = format!("{}\n{}", it.url, what(it, lang));
    if let Some(why) = why(it, lang) {
        let _ = write!(out, "\n{why}");
    }
    if let Some(next) = next(it, lang) {
        let _ = write!(out, "\n{next}");
    }
    if let Some(sentence) = &it.sentence {
        let words = sentence.words.get(lang);
        let _ = match lang {
            Lang::Ja => write!(out, "\n約束（#{}）：「{words}」", sentence.promise),
            Lang::En => write!(out, "\nPromise (#{}): “{words}”", sentence.promise),
        };
    }
    if let Some(robots) = it.robots.as_ref().filter(|_| !robots_is_why(it)) {
        let _ = write!(out, "\n{}", self::robots(it, robots, lang));
    }
    if !it.last.is_empty() {
        let _ = match lang {
            Lang::Ja => write!(out, "\n最近のリクエスト："),
            Lang::En => write!(out, "\nLast requests:"),
        };
    }
    for last in &it.last {
        let at = instant(it, last.at, lang);
        let _ = write!(out, "\n  {at}  {}  {}", last.outcome, last.url);
    }
    out.push('\n');
    out
}

/// Whether the reason is already what robots.txt says.
fn robots_is_why(it: &Explanation) -> bool {
    matches!(&it.outcome, Outcome::Refused { why } if *why == it.robots_in_words())
}

fn what(it: &Explanation, lang: Lang) -> String {
    let name = &it.name;
    match (lang, &it.outcome) {
        (Lang::Ja, Outcome::NoCharter) => format!("{name}は動いていません。"),
        (Lang::En, Outcome::NoCharter) => format!("{name} is not running."),
        (Lang::Ja, Outcome::NotListed) => format!("{name}は、このURLを取得しません。"),
        (Lang::En, Outcome::NotListed) => format!("{name} does not fetch this URL."),
        (Lang::Ja, Outcome::OptedOut { .. } | Outcome::Refused { .. }) => {
            format!("{name}は、このURLを取得しません。")
        }
        (Lang::En, Outcome::OptedOut { .. } | Outcome::Refused { .. }) => {
            format!("{name} does not fetch this URL.")
        }
        (Lang::Ja, Outcome::Paused { .. }) => "取得を一時停止しています。".to_owned(),
        (Lang::En, Outcome::Paused { .. }) => "Fetching is paused.".to_owned(),
        (Lang::Ja, Outcome::Held { .. }) => "取得を保留しています。".to_owned(),
        (Lang::En, Outcome::Held { .. }) => "Fetching is on hold.".to_owned(),
        (Lang::Ja, Outcome::NotDue) => "次の訪問の時期を待っています。".to_owned(),
        (Lang::En, Outcome::NotDue) => "The next visit is not due yet.".to_owned(),
        (Lang::Ja, Outcome::Waits) => "間隔をあけて待っています。".to_owned(),
        (Lang::En, Outcome::Waits) => "It waits its turn.".to_owned(),
        (Lang::Ja, Outcome::Fetched { robots_first: true }) => {
            "いま取得できます。先に robots.txt を読みます。".to_owned()
        }
        (Lang::En, Outcome::Fetched { robots_first: true }) => {
            "It would be fetched now, after a reading of robots.txt.".to_owned()
        }
        (Lang::Ja, Outcome::Fetched { .. }) => "いま取得できます。".to_owned(),
        (Lang::En, Outcome::Fetched { .. }) => "It would be fetched now.".to_owned(),
    }
}

fn why(it: &Explanation, lang: Lang) -> Option<String> {
    Some(match (lang, &it.outcome) {
        (Lang::Ja, Outcome::NoCharter) => "有効な規約がありません。".to_owned(),
        (Lang::En, Outcome::NoCharter) => "No charter of it is in force.".to_owned(),
        (Lang::Ja, Outcome::NotListed) => "台帳に載っていないためです。".to_owned(),
        (Lang::En, Outcome::NotListed) => "No row of its ledger lists the URL.".to_owned(),
        (Lang::Ja, Outcome::OptedOut { since }) => format!(
            "停止のご依頼を受けているためです（{}から有効）。",
            instant(it, *since, lang)
        ),
        (Lang::En, Outcome::OptedOut { since }) => format!(
            "Its owner asked to be left alone (in force since {}).",
            instant(it, *since, lang)
        ),
        (Lang::Ja, Outcome::Paused { by, reason }) => {
            format!("{}による停止です：{reason}", who(by, lang))
        }
        (Lang::En, Outcome::Paused { by, reason }) => {
            format!("Paused by {}: {reason}", who(by, lang))
        }
        (_, Outcome::Refused { why } | Outcome::Held { why, .. }) => why.get(lang).to_owned(),
        (_, Outcome::NotDue | Outcome::Waits | Outcome::Fetched { .. }) => return None,
    })
}

/// A person's name, or the title of the promise that paused.
fn who(by: &str, lang: Lang) -> &str {
    by_id(by).map_or(by, |promise| promise.title(lang))
}

fn next(it: &Explanation, lang: Lang) -> Option<String> {
    let person = match &it.outcome {
        Outcome::NoCharter | Outcome::OptedOut { .. } | Outcome::Fetched { .. } => return None,
        Outcome::NotListed => {
            return Some(match lang {
                Lang::Ja => format!("取得するには、{}の台帳に加えてください。", it.bot),
                Lang::En => format!("To have it fetched, add it to the ledger of {}.", it.bot),
            });
        }
        Outcome::Paused { .. } => it.next.is_none(),
        Outcome::Held { person, .. } => *person,
        _ => false,
    };
    if person {
        let paused = matches!(it.outcome, Outcome::Paused { .. });
        return Some(
            match (lang, paused) {
                (Lang::Ja, true) => "人が再開するまで、このままです。",
                (Lang::En, true) => "It stays so until a person resumes it.",
                (Lang::Ja, false) => "人が対応するまで、このままです。",
                (Lang::En, false) => "It stays so until a person sees to it.",
            }
            .to_owned(),
        );
    }
    let next = it.next?;
    if matches!(it.outcome, Outcome::Refused { .. }) && next <= it.now {
        return Some(match lang {
            Lang::Ja => "robots.txt は、次の訪問で読み直します。".to_owned(),
            Lang::En => "robots.txt is read again at the next visit.".to_owned(),
        });
    }
    let at = instant(it, next, lang);
    Some(match (&it.outcome, lang) {
        (Outcome::Refused { .. }, Lang::Ja) => {
            format!("robots.txt は、{at}以降の訪問で読み直します。")
        }
        (Outcome::Refused { .. }, Lang::En) => {
            format!("robots.txt is read again at the next visit, not before {at}.")
        }
        (_, Lang::Ja) => format!("次は、{at}以降です。"),
        (_, Lang::En) => format!("Next: not before {at}."),
    })
}

/// What robots.txt says, with the line.
pub(super) fn robots(it: &Explanation, robots: &Robots, lang: Lang) -> String {
    let read = instant(it, robots.read, lang);
    match (lang, &robots.says) {
        (
            Lang::Ja,
            RobotsSays::Rule {
                allowed,
                line,
                rule,
                own_group,
            },
        ) => {
            let group = if *own_group {
                "このボットあて"
            } else {
                "すべてのクローラーあて"
            };
            let verdict = if *allowed {
                "許しています"
            } else {
                "断っています"
            };
            format!(
                "robots.txt（{read}に取得）の{line}行目「{rule}」が、{group}のグループで{verdict}。"
            )
        }
        (
            Lang::En,
            RobotsSays::Rule {
                allowed,
                line,
                rule,
                own_group,
            },
        ) => {
            let group = if *own_group {
                "this bot"
            } else {
                "every crawler"
            };
            let verdict = if *allowed { "allows" } else { "refuses" };
            format!(
                "Line {line} of robots.txt (read {read}), “{rule}” in the group for {group}, {verdict} it."
            )
        }
        (Lang::Ja, RobotsSays::NoRule) => {
            format!("robots.txt（{read}に取得）に、このURLを断る行はありません。")
        }
        (Lang::En, RobotsSays::NoRule) => {
            format!("No line of robots.txt (read {read}) speaks against it.")
        }
        (Lang::Ja, RobotsSays::Means { hold, why }) => {
            let meaning = if *hold {
                "取得を保留します"
            } else {
                "断る行はないものとします"
            };
            format!("robots.txt は読めませんでした（{read}、{why}）。{meaning}。")
        }
        (Lang::En, RobotsSays::Means { hold, why }) => {
            let meaning = if *hold {
                "fetching is held"
            } else {
                "taken as no rules"
            };
            format!("robots.txt gave no rules ({read}, {why}): {meaning}.")
        }
        (Lang::Ja, RobotsSays::Unread) => {
            format!("robots.txt は{read}に取得しましたが、控えが手もとにありません。")
        }
        (Lang::En, RobotsSays::Unread) => {
            format!("robots.txt was read {read}, but our copy is not at hand.")
        }
    }
}

/// To the second where it is near, to the minute where it is far.
fn instant(it: &Explanation, at: Timestamp, lang: Lang) -> String {
    let far = at.since(it.now).max(it.now.since(at));
    words::instant(at, &it.zone.0, far < Duration::from_secs(3600), lang)
}

pub(super) fn json(it: &Explanation) -> Value {
    let (outcome, why) = match &it.outcome {
        Outcome::NoCharter => ("no-charter", None),
        Outcome::OptedOut { .. } => ("opted-out", None),
        Outcome::NotListed => ("not-listed", None),
        Outcome::Paused { .. } => ("paused", None),
        Outcome::Refused { why } => ("refused", Some(why)),
        Outcome::Held { why, .. } => ("held", Some(why)),
        Outcome::NotDue => ("not-due", None),
        Outcome::Waits => ("waits", None),
        Outcome::Fetched { .. } => ("fetched", None),
    };
    let pair = |why: &crate::charter::Bilingual| json!({"ja": why.ja, "en": why.en});
    let said = |lang| why.map_or_else(|| self::why(it, lang), |w| Some(w.get(lang).to_owned()));
    json!({
        "url": it.url.as_str(),
        "bot": it.bot,
        "target": it.target.as_ref().map(|t| t.id.clone()),
        "outcome": outcome,
        "why": {"ja": said(Lang::Ja), "en": said(Lang::En)},
        "promise": it.sentence.as_ref().map(|s| s.promise.clone()),
        "sentence": it.sentence.as_ref().map(|s| pair(&s.words)),
        "next": it.next.map(Timestamp::rfc3339),
        "robots": it.robots.as_ref().map(robots_json),
        "answers": it.answers,
        "last": it.last.iter().map(|l| json!({
            "at": l.at.rfc3339(), "url": l.url, "outcome": l.outcome,
        })).collect::<Vec<_>>(),
    })
}

fn robots_json(robots: &Robots) -> Value {
    let mut value = serde_json::to_value(&robots.says).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("read".to_owned(), json!(robots.read.rfc3339()));
        fields.insert("stale".to_owned(), json!(robots.stale));
    }
    value
}
