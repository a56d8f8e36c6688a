//! What stands on the page and in which order: promises by topic, and the words between them.

use super::document::{Block, Section, Sentence};
use super::example::BadExample;
use super::{AuditFigures, PageFacts, Standing, prose, words};
use crate::charter::{Charter, Lang};
use crate::promise::{PROMISES, Promise};

/// Sections of the page, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Topic {
    Who,
    Stop,
    Ask,
    Robots,
    Pace,
    Failures,
    Data,
    Publication,
    More,
    Declared,
    Record,
}

const TOPICS: [Topic; 11] = [
    Topic::Who,
    Topic::Stop,
    Topic::Ask,
    Topic::Robots,
    Topic::Pace,
    Topic::Failures,
    Topic::Data,
    Topic::Publication,
    Topic::More,
    Topic::Declared,
    Topic::Record,
];

impl Topic {
    /// Where a promise stands; one that this page does not know goes to a section of its own.
    fn of(promise: &dyn Promise) -> Self {
        if promise.prove().is_none() {
            return Self::Declared;
        }
        match promise.id() {
            "identity" => Self::Who,
            "opt-out" => Self::Stop,
            "scope" | "public-only" | "terms" | "login" => Self::Ask,
            "crawl-delay" => Self::Robots,
            id if id.starts_with("robots-") => Self::Robots,
            "interval" | "global-interval" | "connections" | "page-budget" | "cadence"
            | "conditional" | "load" => Self::Pace,
            "backoff" | "retry-after" | "auto-pause" | "no-evasion" | "timeout" | "size"
            | "safe-redirect" => Self::Failures,
            "evidence" | "retention" | "page-signals" | "extraction" => Self::Data,
            "review" | "provenance" | "no-redistribution" => Self::Publication,
            "complete-page" => Self::Record,
            _ => Self::More,
        }
    }

    fn anchor(self) -> &'static str {
        match self {
            Self::Who => "about",
            Self::Stop => "stop",
            Self::Ask => "requests",
            Self::Robots => "robots",
            Self::Pace => "pace",
            Self::Failures => "failures",
            Self::Data => "data",
            Self::Publication => "publication",
            Self::More => "more",
            Self::Declared => "our-word",
            Self::Record => "record",
        }
    }

    fn title(self, lang: Lang) -> &'static str {
        let (ja, en) = match self {
            Self::Who => ("だれが、何のために", "Who we are and what for"),
            Self::Stop => ("止めかた・お問い合わせ", "How to stop it, and whom to ask"),
            Self::Ask => ("取得するもの", "What we ask for"),
            Self::Robots => ("robots.txt の扱い", "How robots.txt is followed"),
            Self::Pace => ("間隔と頻度", "Pace"),
            Self::Failures => ("うまくいかないとき", "When something fails"),
            Self::Data => ("保存するもの", "What is kept"),
            Self::Publication => ("公開するもの", "What is published"),
            Self::More => ("そのほかの約束", "Other promises"),
            Self::Declared => ("証明できないお約束", "Our word alone"),
            Self::Record => ("このページの記録", "Record of this page"),
        };
        pick(lang, ja, en)
    }
}

pub(super) fn pick(lang: Lang, ja: &'static str, en: &'static str) -> &'static str {
    match lang {
        Lang::Ja => ja,
        Lang::En => en,
    }
}

pub(super) fn sections(
    charter: &Charter,
    facts: &PageFacts,
    lang: Lang,
) -> Result<Vec<Section>, BadExample> {
    let mut sections = Vec::with_capacity(TOPICS.len());
    for topic in TOPICS {
        let blocks = blocks(topic, charter, facts, lang)?;
        if !blocks.is_empty() {
            sections.push(Section {
                anchor: topic.anchor(),
                title: topic.title(lang).to_owned(),
                blocks,
            });
        }
    }
    Ok(sections)
}

fn blocks(
    topic: Topic,
    charter: &Charter,
    facts: &PageFacts,
    lang: Lang,
) -> Result<Vec<Block>, BadExample> {
    let mut blocks = match topic {
        Topic::Who => prose::who(charter, lang),
        Topic::Stop => prose::stop(charter, lang)?,
        Topic::Ask => prose::ask(charter, lang),
        Topic::Data => prose::data(charter, lang),
        Topic::Publication => prose::publication(charter, lang),
        Topic::Record => prose::record(charter, facts, lang),
        Topic::Robots | Topic::Pace | Topic::Failures | Topic::More | Topic::Declared => Vec::new(),
    };
    let promises = promises(topic, charter, facts.audit.as_ref(), lang);
    if !promises.is_empty() {
        blocks.push(Block::Promises(promises));
    }
    Ok(blocks)
}

fn promises(
    topic: Topic,
    charter: &Charter,
    audit: Option<&AuditFigures>,
    lang: Lang,
) -> Vec<Sentence> {
    let made = PROMISES
        .iter()
        .filter(|promise| Topic::of(**promise) == topic)
        .filter_map(|promise| {
            let declared = promise.prove().is_none().then_some(Standing::Declared);
            let standing = audit.and_then(|a| a.promises.get(promise.id())).copied();
            Some(Sentence {
                anchor: promise.id().to_owned(),
                title: promise.title(lang).to_owned(),
                text: promise.say(charter, lang)?,
                standing: declared
                    .or(standing)
                    .map(|s| (s, standing_in_words(s, lang))),
            })
        });
    let mut sentences: Vec<_> = made.collect();
    if topic == Topic::Declared {
        sentences.extend(charter.declared.iter().map(|declared| Sentence {
            anchor: format!("declared-{}", declared.id),
            title: String::new(),
            text: declared.text.get(lang).to_owned(),
            standing: Some((
                Standing::Declared,
                standing_in_words(Standing::Declared, lang),
            )),
        }));
    }
    sentences
}

/// A standing as a sentence: a colour or a sign alone says nothing.
fn standing_in_words(standing: Standing, lang: Lang) -> String {
    let Standing::Checked {
        kept,
        broken,
        undecidable,
    } = standing
    else {
        return pick(
            lang,
            "宣言（プログラムでは証明できません）",
            "Declared (no program can prove it)",
        )
        .to_owned();
    };
    let checks = words::count(kept + broken);
    let mut said = match (kept + broken, broken, lang) {
        (0, _, Lang::Ja) => "監査：まだ判定した件はありません".to_owned(),
        (0, _, Lang::En) => "Audit: nothing to check yet".to_owned(),
        (_, 0, Lang::Ja) => format!("監査：{checks}件すべて守られています"),
        (_, 0, Lang::En) => format!("Audit: kept, {}", words::plural(kept, "check")),
        (_, _, Lang::Ja) => format!(
            "監査：{checks}件のうち{}件で守れませんでした",
            words::count(broken)
        ),
        (_, _, Lang::En) => format!(
            "Audit: broken in {} of {checks} checks",
            words::count(broken)
        ),
    };
    if undecidable > 0 {
        let n = words::count(undecidable);
        said.push_str(&match lang {
            Lang::Ja => format!("。ほかに{n}件は判定できません"),
            Lang::En => format!("; {n} more cannot be decided"),
        });
    }
    said
}
