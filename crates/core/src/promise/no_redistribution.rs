//! `no-redistribution`: pages are not published again: what goes out is short, and of the kinds
//! that the charter releases.
//!
//! Seed: B "公式ページ全文の再配布は行いません"; DECISIONS 37: proved by a scan of the releases.

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, ReleaseKind};
use crate::event::{Event, ReleasedItem};

/// See the module.
pub struct NoRedistribution;

/// Characters of one published text: a summary's own bound.
pub const TEXT_CHARS_MAX: usize = 140;
/// Texts of one published item: one in each language.
pub const TEXTS_MAX: usize = 2;

/// Whether an item may be published; asked by the publisher before it goes out.
#[must_use]
pub fn may_release(charter: &Charter, item: &ReleasedItem) -> bool {
    let texts = match charter.release.contains(&ReleaseKind::Summaries) {
        true => TEXTS_MAX,
        false => 0,
    };
    let short = |text: &String| text.chars().nth(TEXT_CHARS_MAX).is_none();
    !charter.release.is_empty() && item.text.len() <= texts && item.text.iter().all(short)
}

impl Promise for NoRedistribution {
    fn id(&self) -> &'static str {
        "no-redistribution"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "再配布をしない",
            Lang::En => "No redistribution",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let facts = charter.release.contains(&ReleaseKind::Facts);
        let summaries = charter.release.contains(&ReleaseKind::Summaries);
        let what = match (lang, facts, summaries) {
            (Lang::Ja, false, false) => "取得したものは公開しません。".to_owned(),
            (Lang::En, false, false) => "Nothing that was fetched is published.".to_owned(),
            (Lang::Ja, true, false) => "公開するのは、確認した事実だけです。".to_owned(),
            (Lang::En, true, false) => "Only confirmed facts are published.".to_owned(),
            (Lang::Ja, false, true) => {
                format!("公開するのは、{TEXT_CHARS_MAX}字以内の変更要約だけです。")
            }
            (Lang::En, false, true) => format!(
                "Only summaries of changes are published, of {TEXT_CHARS_MAX} characters at most."
            ),
            (Lang::Ja, true, true) => {
                format!("公開するのは、確認した事実と、{TEXT_CHARS_MAX}字以内の変更要約だけです。")
            }
            (Lang::En, true, true) => format!(
                "Only confirmed facts and summaries of changes are published, of {TEXT_CHARS_MAX} characters at most."
            ),
        };
        Some(match lang {
            Lang::Ja => {
                format!("取得したページの全文や大部分を、ふたたび配ることはありません。{what}")
            }
            Lang::En => {
                format!(
                    "We do not publish again a page that we fetched, nor large parts of it. {what}"
                )
            }
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Releases::default()))
    }
}

#[derive(Default)]
struct Releases {
    finding: Finding,
}

impl Proof for Releases {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let Event::Released(released) = entry.event else {
            return;
        };
        let seq = entry.header.seq;
        let Some(charter) = versions.charter_of(&released.bot) else {
            self.finding
                .undecidable(seq, "the charter in force is not readable");
            return;
        };
        for item in &released.items {
            let longest = item.text.iter().map(|t| t.chars().count()).max();
            let fault = if charter.release.is_empty() {
                Some("although nothing is to be published".to_owned())
            } else if longest.is_some() && !charter.release.contains(&ReleaseKind::Summaries) {
                Some("with a text, although no summaries are to be published".to_owned())
            } else if longest > Some(140) {
                Some(format!("with {} characters", longest.unwrap_or(0)))
            } else if item.text.len() > 2 {
                Some(format!("with {} texts", item.text.len()))
            } else {
                None
            };
            self.finding.check(fault.is_none(), seq, || {
                let why = fault.unwrap_or_default();
                format!(
                    "change {} of lane {} was published {why}",
                    item.change, item.lane.0
                )
            });
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::testing::{History, released};

    #[test]
    fn both_faces_bound_what_goes_out() {
        use ReleaseKind::{Facts, Summaries};
        let long = "字".repeat(141);
        let fits = "字".repeat(140);
        for (kinds, text, fine) in [
            (&[Facts, Summaries][..], vec!["授業料が変わりました"], true),
            (&[Summaries], vec![fits.as_str(), "shorter"], true),
            (&[Summaries], vec![long.as_str()], false),
            (&[Summaries], vec!["a", "b", "c"], false),
            (&[Facts], vec!["a"], false),
            (&[Facts], vec![], true),
            (&[], vec![], false),
        ] {
            let mut history = History::under(|c| c.release = kinds.to_vec());
            let mut release = released(1, &history.now);
            for item in &mut release.items {
                item.text = text.iter().map(|t| (*t).to_owned()).collect();
                assert_eq!(
                    may_release(&history.charter, item),
                    fine,
                    "{kinds:?} {text:?}"
                );
            }
            let seq = history.house(release);
            let named = if fine { vec![] } else { vec![seq] };
            assert_eq!(
                history.breaches(&NoRedistribution),
                named,
                "{kinds:?} {text:?}"
            );
        }
    }
}
