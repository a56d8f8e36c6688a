//! `conditional`: a page that we hold is asked for by its validators; what did not change is not
//! sent again.
//!
//! Seed: B "If-None-Match または If-Modified-Since を付けて確認します。304 … 本文を再取得せず". Validators
//! go back byte for byte (G18), and only those of a body that we hold (G17, DECISIONS 29).

use std::collections::{HashMap, HashSet};

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::digest::Digest;
use crate::event::{Event, Validators};
use crate::gate::{Ask, Scene, Verdict};

/// See the module.
pub struct Conditional;

impl Promise for Conditional {
    fn id(&self) -> &'static str {
        "conditional"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "条件付きリクエスト",
            Lang::En => "Conditional requests",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        charter.visit.conditional.then(|| match lang {
            Lang::Ja => "前回の応答に ETag や Last-Modified があれば、それを付けて尋ねます。304 が返れば変更なしとし、本文をもう一度受け取ることはしません。".into(),
            Lang::En => "Where the last answer had an ETag or Last-Modified, we send it back. A 304 counts as unchanged, and no body is sent again.".into(),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let asks_page = ask.kind == RequestKind::Page && ask.hop == 0;
        let Some(target) = scene.target.filter(|_| asks_page) else {
            return Verdict::Pass;
        };
        let known = target
            .pages
            .get(&ask.listed)
            .map(|page| page.validators())
            .unwrap_or_default();
        if ask.validators == known {
            Verdict::Pass
        } else {
            Verdict::refuse(
                "手元にある検証情報が付いていません。",
                "The request does not carry the validators that we hold.",
            )
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Carried::default()))
    }
}

type Page = (String, String, String);

/// What is known of each page by the journal, against what the next request carried.
#[derive(Default)]
struct Carried {
    finding: Finding,
    known: HashMap<Page, (Digest, Validators)>,
}

impl Proof for Carried {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let seq = entry.header.seq;
        match entry.event {
            Event::Observed(observed) => {
                let Some(version) = &observed.version else {
                    return;
                };
                let page = (
                    observed.bot.clone(),
                    observed.target.clone(),
                    observed.url.clone(),
                );
                self.known
                    .insert(page, (version.body.digest, version.validators.clone()));
            }
            Event::EvidenceDropped(dropped) => {
                let gone: HashSet<&Digest> = dropped.digests.iter().collect();
                self.known.retain(|_, (body, _)| !gone.contains(body));
            }
            Event::Admitted(admitted)
                if admitted.kind == RequestKind::Page && admitted.hop == 0 =>
            {
                let page = (
                    admitted.bot.clone(),
                    admitted.target.clone(),
                    admitted.listed.clone(),
                );
                let known = self.known.get(&page).filter(|(_, v)| !v.is_empty());
                let Some((_, validators)) = known else {
                    return;
                };
                match versions.charter(admitted.charter) {
                    None => {
                        self.finding.undecidable(seq, "its charter is not readable");
                        return;
                    }
                    Some(charter) if !charter.visit.conditional => return,
                    Some(_) => {}
                }
                let same = admitted.validators.etag == validators.etag
                    && admitted.validators.last_modified == validators.last_modified;
                self.finding.check(same, seq, || {
                    "asked again without the validators known".to_owned()
                });
            }
            Event::Answered(answered) if answered.outcome.status() == Some(304) => {
                let kept = answered.body.is_none();
                self.finding
                    .check(kept, seq, || "a 304 brought a body".to_owned());
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{BOT, History, LANE, PAGE, Stage, TARGET, word};
    use super::*;
    use crate::event::{BodyRef, EvidenceDropped, Observation, Observed, Version};
    use crate::state::PageState;

    fn version() -> Version {
        Version {
            body: BodyRef {
                digest: Digest::of(b"body"),
                bytes: 4,
            },
            text: None,
            content_type: None,
            charset: None,
            validators: Validators {
                etag: Some("\"a-gzip\"".to_owned()),
                last_modified: None,
            },
            signals: Vec::new(),
        }
    }

    #[test]
    fn known_validators_must_be_carried() {
        let mut stage = Stage::new();
        assert_eq!(word(&stage.hold(&Conditional, &stage.ask(PAGE))), "pass");
        let page = PageState {
            latest: Some(version()),
            ..PageState::default()
        };
        if let Some(target) = &mut stage.target {
            target.pages.insert(PAGE.to_owned(), page);
        }
        assert_eq!(word(&stage.hold(&Conditional, &stage.ask(PAGE))), "refuse");
        let ask = Ask {
            validators: version().validators,
            ..stage.ask(PAGE)
        };
        assert_eq!(word(&stage.hold(&Conditional, &ask)), "pass");
    }

    #[test]
    fn asking_without_them_is_named_unless_the_body_is_gone() {
        let mut history = History::new();
        history.open();
        let answered = history.fetch(PAGE);
        let observed = Observed {
            visit: 1,
            bot: BOT.to_owned(),
            target: TARGET.to_owned(),
            url: PAGE.to_owned(),
            observation: Observation::Confirmed,
            answered: Some(answered),
            version: Some(version()),
        };
        history.push(LANE, observed);
        let mut with = history.page(PAGE);
        with.validators = version().validators;
        history.admit(with);
        assert_eq!(history.breaches(&Conditional), []);
        let without = history.admit(history.page(PAGE));
        assert_eq!(history.breaches(&Conditional), [without]);
        let dropped = EvidenceDropped {
            digests: vec![Digest::of(b"body")],
            by: "sato".to_owned(),
            reason: "asked".to_owned(),
        };
        history.house(dropped);
        history.admit(history.page(PAGE));
        assert_eq!(history.breaches(&Conditional), [without]);
    }

    #[test]
    fn a_charter_that_does_not_say_so_is_not_held_to_it() {
        let mut history = History::under(|charter| charter.visit.conditional = false);
        history.open();
        let observed = Observed {
            version: Some(version()),
            ..super::super::testing::observed(1, PAGE, Observation::Confirmed, None)
        };
        history.push(LANE, observed);
        history.admit(history.page(PAGE));
        assert_eq!(history.breaches(&Conditional), []);
    }
}
