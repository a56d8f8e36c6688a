//! `extraction`: what is learned of a page comes from an allowed answer of this very visit: a page
//! disallowed now gives no new fact and no new "still as it was" (DECISIONS 23).

use std::collections::HashMap;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::event::{Event, Observation, Observed, Seq, VisitId};
use crate::journal::Header;

/// See the module.
pub struct Extraction;

impl Promise for Extraction {
    fn id(&self) -> &'static str {
        "extraction"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "許されたページだけから",
            Lang::En => "Only from permitted pages",
        }
    }

    fn say(&self, _charter: &Charter, lang: Lang) -> Option<String> {
        Some(match lang {
            Lang::Ja => "内容を読み取るのは、その巡回で robots.txt に照らして取得できたページだけです。いま拒まれているページについて、以前の取得物から新しい事実や確認日を作ることはありません。".into(),
            Lang::En => "We draw from a page only what this visit fetched under its robots.txt. Of a page that is disallowed now, nothing new is drawn from what was fetched before, not even a new date of confirmation.".into(),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Traces::default()))
    }
}

/// Page answers of each target's visit under way.
#[derive(Default)]
struct Traces {
    finding: Finding,
    answers: HashMap<(String, String), Vec<Answer>>,
}

struct Answer {
    seq: Seq,
    visit: VisitId,
    listed: String,
    by_robots: bool,
    good: bool,
}

impl Proof for Traces {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        match (entry.event, entry.admitted) {
            (Event::Answered(answered), Some((_, admitted)))
                if admitted.kind == RequestKind::Page =>
            {
                let key = (admitted.bot.clone(), admitted.target.clone());
                self.answers.entry(key).or_default().push(Answer {
                    seq: entry.header.seq,
                    visit: admitted.visit,
                    listed: admitted.listed.clone(),
                    by_robots: admitted.robots.is_some(),
                    good: matches!(answered.outcome.status(), Some(200..=299 | 304)),
                });
            }
            (Event::VisitClosed(closed), _) => {
                self.answers
                    .remove(&(closed.bot.clone(), closed.target.clone()));
            }
            (Event::Observed(observed), _) => self.observe(entry.header, observed, versions),
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Traces {
    fn observe(&mut self, header: &Header, observed: &Observed, versions: &Versions<'_>) {
        match observed.observation {
            Observation::Confirmed
            | Observation::Unchanged
            | Observation::Noise
            | Observation::Changed => {}
            Observation::Unconfirmed { .. }
            | Observation::Held { .. }
            | Observation::Refused { .. } => return,
        }
        if observed.answered.is_some_and(|seq| versions.is_erased(seq)) {
            self.finding
                .undecidable(header.seq, "the answer that it rests on was erased");
            return;
        }
        let key = (observed.bot.clone(), observed.target.clone());
        let answer = self
            .answers
            .get(&key)
            .into_iter()
            .flatten()
            .find(|answer| Some(answer.seq) == observed.answered);
        let fault = match answer {
            None => Some("it rests on no answer of this visit"),
            Some(answer) if answer.visit != observed.visit => Some("its answer is another visit's"),
            Some(answer) if answer.listed != observed.url => Some("its answer is another page's"),
            Some(answer) if !answer.by_robots => Some("its request was not judged by a robots.txt"),
            Some(answer) if !answer.good => Some("its answer was no good one"),
            Some(_) => None,
        };
        self.finding.check(fault.is_none(), header.seq, || {
            fault.unwrap_or_default().to_owned()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Admitted;
    use crate::fetched::Outcome;
    use crate::promise::testing::{History, LANE, OTHER_PAGE, PAGE, observed};

    #[test]
    fn what_is_learned_without_an_allowed_answer_is_named() {
        let mut history = History::new();
        let visit = history.open();
        let good = history.fetch(PAGE);
        history.push(
            LANE,
            observed(visit, PAGE, Observation::Confirmed, Some(good)),
        );
        let stale = history.push(
            LANE,
            observed(visit, OTHER_PAGE, Observation::Unchanged, None),
        );
        let other = history.push(
            LANE,
            observed(visit, OTHER_PAGE, Observation::Unchanged, Some(good)),
        );
        let page = history.page(OTHER_PAGE);
        let unjudged = history.admit(Admitted {
            robots: None,
            ..page
        });
        let answered = history.push(LANE, history.answer(unjudged));
        let blind = history.push(
            LANE,
            observed(visit, OTHER_PAGE, Observation::Changed, Some(answered)),
        );
        let admitted = history.admit(history.page(OTHER_PAGE));
        let mut answer = history.answer(admitted);
        answer.outcome = Outcome::Status(403);
        let refused = history.push(LANE, answer);
        let bad = history.push(
            LANE,
            observed(visit, OTHER_PAGE, Observation::Noise, Some(refused)),
        );
        let held = Observation::Held {
            promise: "robots-obeyed".to_owned(),
            reason: String::new(),
        };
        history.push(LANE, observed(visit, OTHER_PAGE, held, None));
        history.close(false);
        let visit = history.open();
        let late = history.push(
            LANE,
            observed(visit, PAGE, Observation::Unchanged, Some(good)),
        );
        let named = [stale, other, blind, bad, late];
        assert_eq!(history.breaches(&Extraction), named);
    }
}
