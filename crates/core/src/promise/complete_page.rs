//! `complete-page`: the policy page says everything that the bot does, and is the page of the
//! charter in force (DECISIONS 22).

use super::{Finding, Promise, Proof, Seen, Versions, by_id};
use crate::charter::{Charter, Lang, RequestKind};
use crate::event::{Event, KINDS};
use crate::policy::stored::{Stored, of_entry};

/// See the module.
pub struct CompletePage;

/// Something that a bot does and its page would not say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Missing {
    /// A kind of request.
    Request(RequestKind),
    /// A kind of stored thing.
    Stored(Stored),
    /// A kind of journal entry.
    Entry(&'static str),
}

/// What the page of this charter would leave unsaid: kinds of request that no promise is about,
/// stored things and kinds of entries without a sentence.
#[must_use]
pub fn missing_sentences(charter: &Charter) -> Vec<Missing> {
    let both = |say: &dyn Fn(Lang) -> bool| say(Lang::Ja) && say(Lang::En);
    let requests = [RequestKind::Robots, RequestKind::Page]
        .into_iter()
        .filter(|kind| {
            let mut promises = said_by(*kind).iter().filter_map(|id| by_id(id));
            !promises.any(|p| both(&|lang| p.say(charter, lang).is_some()))
        })
        .map(Missing::Request);
    let stored = Stored::ALL
        .iter()
        .copied()
        .filter(|stored| !both(&|lang| !stored.say(charter, lang).1.is_empty()))
        .map(Missing::Stored);
    let entries = KINDS
        .iter()
        .copied()
        .filter(|kind| of_entry(kind).is_none())
        .map(Missing::Entry);
    requests.chain(stored).chain(entries).collect()
}

/// Promises that say that such requests are made; a new kind of request needs its line here.
fn said_by(kind: RequestKind) -> &'static [&'static str] {
    match kind {
        RequestKind::Robots => &["robots-first"],
        RequestKind::Page => &["scope", "public-only"],
    }
}

impl Promise for CompletePage {
    fn id(&self) -> &'static str {
        "complete-page"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "書いてあることがすべて",
            Lang::En => "A complete page",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let digest = charter.digest.short();
        Some(match lang {
            Lang::Ja => format!(
                "このボットが送るリクエストと保存するものは、すべてこのページに書いてあります。ページは、動作を決める設定（ハッシュ {digest}…）そのものから作られ、設定が変わればページも変わります。"
            ),
            Lang::En => format!(
                "Every kind of request that this bot sends and everything that it keeps is on this page. The page is printed from the very charter that the bot obeys (digest {digest}…) and changes with it."
            ),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Pages::default()))
    }
}

#[derive(Default)]
struct Pages {
    finding: Finding,
}

impl Proof for Pages {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let Event::PolicyRendered(page) = entry.event else {
            return;
        };
        let in_force = versions.in_force.get(&page.bot);
        let kept = in_force == Some(&page.charter);
        self.finding.check(kept, entry.header.seq, || {
            format!(
                "the page shows charter {}, which was not in force",
                page.charter.short()
            )
        });
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::event::PolicyRendered;
    use crate::promise::testing::{BOT, History, charter};

    #[test]
    fn every_request_every_stored_thing_and_every_entry_has_its_sentence() {
        assert_eq!(missing_sentences(&charter()), []);
    }

    #[test]
    fn a_page_of_another_charter_is_named() {
        let mut history = History::new();
        let page = |charter| PolicyRendered {
            bot: BOT.to_owned(),
            charter,
            page: Digest::of(b"page"),
            form: "ja/html".to_owned(),
        };
        history.house(page(history.charter.digest));
        let other = history.house(page(Digest::of(b"another charter")));
        assert_eq!(history.breaches(&CompletePage), [other]);
    }

    #[test]
    fn the_sentence_carries_the_charters_digest() {
        let charter = charter();
        let said = CompletePage.say(&charter, Lang::Ja).unwrap();
        assert!(said.contains(&charter.digest.short()));
    }
}
