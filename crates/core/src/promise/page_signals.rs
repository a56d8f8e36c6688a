//! `page-signals`: what a page's publisher says about its use is recorded with each version.
//!
//! DECISIONS 38. The journal holds the answer's fields, so that signals in the head are recomputed
//! from it alone; those in the page's markup stand in its body, and are recomputed where the audit
//! is asked to read pages.

use std::collections::HashMap;

use reigi_page::{Page, Read, signals_from_headers};

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind, SignalsPolicy};
use crate::event::{Answered, Event, Observed, Seq};
use crate::journal::Header;

/// See the module.
pub struct PageSignals;

impl Promise for PageSignals {
    fn id(&self) -> &'static str {
        "page-signals"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "ページの意思表示",
            Lang::En => "Signals on a page",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let SignalsPolicy::Record = charter.evidence.signals;
        Some(match lang {
            Lang::Ja => "ページやその応答ヘッダーにある意思表示（meta robots、X-Robots-Tag、TDMRep、Content-Signal、Content-Usage、ライセンス表示）を、取得した版とともに記録します。".into(),
            Lang::En => "What a page or its response header says about its use (meta robots, X-Robots-Tag, TDMRep, Content-Signal, Content-Usage, licence links) is recorded with each version that we fetch.".into(),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Recorded::default()))
    }
}

/// Signals in the heads of page answers that wait for their observation.
#[derive(Default)]
struct Recorded {
    finding: Finding,
    heads: HashMap<(String, String), Vec<Head>>,
}

/// An answer and the signals in its head.
type Head = (Seq, Vec<String>);

impl Proof for Recorded {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        match (entry.event, entry.admitted) {
            (Event::Answered(answered), Some((_, admitted)))
                if admitted.kind == RequestKind::Page && answered.body.is_some() =>
            {
                let signals = in_head(answered);
                if !signals.is_empty() {
                    let key = (admitted.bot.clone(), admitted.target.clone());
                    let heads = self.heads.entry(key).or_default();
                    heads.push((entry.header.seq, signals));
                }
            }
            (Event::Observed(observed), _) => self.observe(entry.header, observed, versions),
            (Event::VisitClosed(closed), _) if !self.heads.is_empty() => {
                self.heads
                    .remove(&(closed.bot.clone(), closed.target.clone()));
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Recorded {
    fn observe(&mut self, header: &Header, observed: &Observed, versions: &Versions<'_>) {
        let (Some(version), Some(answered)) = (&observed.version, observed.answered) else {
            return;
        };
        let mut said = Vec::new();
        if !self.heads.is_empty() {
            let key = (observed.bot.clone(), observed.target.clone());
            let heads = self.heads.get(&key).into_iter().flatten();
            said.extend(
                heads
                    .filter(|(seq, _)| *seq == answered)
                    .flat_map(|(_, signals)| signals.clone()),
            );
        }
        if let Some(body) = versions.page(version.body.digest)
            && let Read::Html(page) = Page::read(&body, version.content_type.as_deref())
        {
            said.extend(page.signals.iter().map(ToString::to_string));
        }
        let missing = said.iter().find(|signal| !version.signals.contains(signal));
        self.finding.check(missing.is_none(), header.seq, || {
            let signal = missing.map(String::as_str).unwrap_or_default();
            format!("the version does not record the signal {signal:?}")
        });
    }
}

fn in_head(answered: &Answered) -> Vec<String> {
    let fields: Vec<(&str, &str)> = answered
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.as_text()?)))
        .collect();
    let signals = signals_from_headers(&fields);
    signals.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::event::{BodyRef, Observation, Version};
    use crate::promise::testing::{History, LANE, PAGE, header, observed};

    /// A page with a signal in its head and one in its markup, recorded with `signals`.
    fn history(signals: &[&str], with_body: bool) -> (History, Seq) {
        let body = br#"<html><head><meta name="robots" content="noarchive"></head><body>x</body>"#;
        let digest = Digest::of(body);
        let bytes = 74;
        let mut history = History::new();
        if with_body {
            history.bodies.insert(digest, body.to_vec());
        }
        let visit = history.open();
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.headers.push(header("x-robots-tag", "noai"));
        answer.body = Some(BodyRef { digest, bytes });
        let answered = history.push(LANE, answer);
        let mut observation = observed(visit, PAGE, Observation::Confirmed, Some(answered));
        observation.version = Some(Version {
            body: BodyRef { digest, bytes },
            text: None,
            content_type: Some("text/html; charset=utf-8".to_owned()),
            charset: None,
            validators: Default::default(),
            signals: signals.iter().map(|s| (*s).to_owned()).collect(),
        });
        let seq = history.push(LANE, observation);
        (history, seq)
    }

    #[test]
    fn a_signal_that_was_not_recorded_is_named() {
        for (signals, with_body, kept) in [
            (&["noai", "noarchive"][..], true, true),
            (&["noai"], false, true),
            (&["noai"], true, false),
            (&["noarchive"], false, false),
            (&[], false, false),
        ] {
            let (history, seq) = history(signals, with_body);
            let named = if kept { vec![] } else { vec![seq] };
            assert_eq!(history.breaches(&PageSignals), named, "{signals:?}");
        }
    }
}
