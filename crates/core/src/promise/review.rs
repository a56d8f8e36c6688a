//! `review`: what is published, a person has confirmed before.
//!
//! Seed: B "確認済みの事実、短い変更要約". [`Approved`] is to the publisher what a permit is to the
//! fetcher: it can only be had of a change that a person confirmed.

use std::collections::HashMap;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, ReleaseKind, Review};
use crate::event::{Decision, Event, LaneId, ReleasedItem};
use crate::state::{Change, ChangeState};
use crate::time::Timestamp;

/// See the module.
pub struct Reviewed;

/// A change that a person confirmed: the only thing that can be published.
#[derive(Clone, PartialEq, Debug)]
pub struct Approved {
    change: u64,
    url: String,
    confirmed: Timestamp,
    by: String,
    summary_ja: String,
    summary_en: String,
}

impl Approved {
    /// The change, if a person confirmed it.
    #[must_use]
    pub fn of(change: &Change) -> Option<Self> {
        let ChangeState::Settled {
            decision: Decision::Confirm,
            by,
            at,
            ..
        } = &change.state
        else {
            return None;
        };
        let what = &change.what;
        (!by.is_empty()).then(|| Self {
            change: what.change,
            url: what.url.clone(),
            confirmed: *at,
            by: by.clone(),
            summary_ja: what.summary_ja.clone(),
            summary_en: what.summary_en.clone(),
        })
    }

    /// Who confirmed it.
    #[must_use]
    pub fn by(&self) -> &str {
        &self.by
    }

    /// The change as published: page, time of confirmation and, where the charter releases
    /// summaries, one in each language (ja, en).
    #[must_use]
    pub fn item(self, lane: LaneId, charter: &Charter) -> ReleasedItem {
        let with_text = charter.release.contains(&ReleaseKind::Summaries);
        ReleasedItem {
            lane,
            change: self.change,
            url: self.url,
            confirmed: self.confirmed,
            text: match with_text {
                true => vec![self.summary_ja, self.summary_en],
                false => Vec::new(),
            },
        }
    }
}

impl Promise for Reviewed {
    fn id(&self) -> &'static str {
        "review"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "人による確認",
            Lang::En => "Review by a person",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let Review::Person = charter.review;
        Some(match lang {
            Lang::Ja => "見つかった変更は、担当者が確認したものだけを公開します。だれがいつ確認したかを記録します。".into(),
            Lang::En => "Of the changes that were found, only those that a person confirmed are published. Who confirmed them, and when, is recorded.".into(),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Decisions::default()))
    }

    /// An unreviewed item can have no true time of confirmation either.
    fn implies(&self) -> &'static [&'static str] {
        &["provenance"]
    }
}

/// The last decision on each change.
#[derive(Default)]
struct Decisions {
    finding: Finding,
    changes: HashMap<(LaneId, u64), Option<(Decision, bool)>>,
}

impl Proof for Decisions {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let (header, lane) = (entry.header, entry.header.lane);
        match entry.event {
            Event::Changed(changed) => {
                self.changes.insert((lane, changed.change), None);
            }
            Event::Reviewed(reviewed) => {
                if let Some(state) = self.changes.get_mut(&(lane, reviewed.change)) {
                    *state = Some((reviewed.decision, !reviewed.by.is_empty()));
                }
            }
            Event::Released(released) => {
                for item in &released.items {
                    let state = self.changes.get(&(item.lane, item.change));
                    let fault = match state {
                        Some(Some((Decision::Confirm, true))) => None,
                        Some(Some((Decision::Confirm, false))) => Some("confirmed by nobody"),
                        Some(Some((Decision::Reject, _))) => Some("rejected"),
                        Some(None) => Some("not reviewed"),
                        None => Some("not on record"),
                    };
                    if fault.is_some() && versions.is_erased_in(item.lane) {
                        self.finding
                            .undecidable(header.seq, "an entry of the change's lane was erased");
                        continue;
                    }
                    self.finding.check(fault.is_none(), header.seq, || {
                        let why = fault.unwrap_or_default();
                        format!(
                            "change {} of lane {} was published: {why}",
                            item.change, item.lane.0
                        )
                    });
                }
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
    use super::*;
    use crate::event::{Changed, Seq};
    use crate::promise::testing::{History, LANE, PAGE, at, changed, charter, released, reviewed};

    fn change(state: ChangeState) -> Change {
        let what: Changed = changed(1);
        Change {
            seq: Seq(9),
            found: at(0.0).wall,
            visit: 1,
            what,
            state,
        }
    }

    #[test]
    fn only_what_a_person_confirmed_can_be_published() {
        let settled = |decision, by: &str| ChangeState::Settled {
            decision,
            by: by.to_owned(),
            at: at(60.0).wall,
            note: None,
        };
        for (state, approved) in [
            (ChangeState::Waiting, false),
            (ChangeState::Superseded(2), false),
            (settled(Decision::Reject, "sato"), false),
            (settled(Decision::Confirm, ""), false),
            (settled(Decision::Confirm, "sato"), true),
        ] {
            let got = Approved::of(&change(state.clone()));
            assert_eq!(got.is_some(), approved, "{state:?}");
        }
        let confirmed = change(settled(Decision::Confirm, "sato"));
        let approved = Approved::of(&confirmed).unwrap();
        let mut charter = charter();
        let item = approved.clone().item(LANE, &charter);
        assert_eq!((item.url.as_str(), item.confirmed), (PAGE, at(60.0).wall));
        assert_eq!(item.text.len(), 2);
        charter.release = vec![ReleaseKind::Facts];
        assert!(approved.item(LANE, &charter).text.is_empty());
    }

    #[test]
    fn what_went_out_without_a_confirmation_is_named() {
        let mut history = History::new();
        for change in 1..=4 {
            history.push(LANE, changed(change));
        }
        history.push(LANE, reviewed(1, Decision::Confirm, "sato"));
        history.push(LANE, reviewed(2, Decision::Reject, "sato"));
        history.push(LANE, reviewed(4, Decision::Confirm, ""));
        history.house(released(1, &history.now));
        let broken: Vec<_> = [2, 3, 4, 5]
            .map(|change| history.house(released(change, &history.now.clone())))
            .to_vec();
        assert_eq!(history.breaches(&Reviewed), broken);
    }
}
