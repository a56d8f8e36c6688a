//! `provenance`: everything published names its official page and when a person confirmed it.
//! Seed: B "確認日時、公式URLを中心に掲載".

use std::collections::HashMap;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Decision, Event, LaneId, ReleasedItem};
use crate::time::Timestamp;

/// See the module.
pub struct Provenance;

impl Promise for Provenance {
    fn id(&self) -> &'static str {
        "provenance"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "出典と確認日時",
            Lang::En => "Provenance",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        if charter.release.is_empty() {
            return None;
        }
        Some(match lang {
            Lang::Ja => "公開する事実や要約には、一つひとつ、もとになった公式ページのURLと、担当者が確認した日時を添えます。".into(),
            Lang::En => "Every fact or summary that is published names the official page that it comes from and when a person confirmed it.".into(),
        })
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Sources::default()))
    }
}

/// Page of each change and times of its confirmations: a release may be of an earlier one.
#[derive(Default)]
struct Sources {
    finding: Finding,
    changes: HashMap<(LaneId, u64), (String, Vec<Timestamp>)>,
}

impl Proof for Sources {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let (header, lane) = (entry.header, entry.header.lane);
        match entry.event {
            Event::Changed(changed) => {
                let source = (changed.url.clone(), Vec::new());
                self.changes.insert((lane, changed.change), source);
            }
            Event::Reviewed(reviewed) if reviewed.decision == Decision::Confirm => {
                if let Some((_, times)) = self.changes.get_mut(&(lane, reviewed.change)) {
                    times.push(header.at);
                }
            }
            Event::Released(released) => {
                for item in &released.items {
                    let fault = self.fault(item);
                    if fault.is_some() && versions.is_erased_in(item.lane) {
                        self.finding
                            .undecidable(header.seq, "an entry of the change's lane was erased");
                        continue;
                    }
                    self.finding.check(fault.is_none(), header.seq, || {
                        let why = fault.unwrap_or_default();
                        format!("change {} of lane {}: {why}", item.change, item.lane.0)
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

impl Sources {
    fn fault(&self, item: &ReleasedItem) -> Option<&'static str> {
        let Some((url, confirmed)) = self.changes.get(&(item.lane, item.change)) else {
            return Some("its source is not on record");
        };
        if item.url != *url {
            return Some("published with another page as its source");
        }
        (!confirmed.contains(&item.confirmed))
            .then_some("published with a time at which nobody confirmed it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::testing::{
        History, LANE, OTHER_PAGE, changed, charter, released, reviewed,
    };

    #[test]
    fn a_wrong_source_or_time_is_named() {
        let mut history = History::new();
        history.push(LANE, changed(1));
        history.wait(60.0);
        let confirmed = history.now;
        history.push(LANE, reviewed(1, Decision::Confirm, "sato"));
        history.wait(60.0);
        history.house(released(1, &confirmed));
        let wrong_time = history.house(released(1, &history.now.clone()));
        let mut item = released(1, &confirmed);
        for item in &mut item.items {
            item.url = OTHER_PAGE.to_owned();
        }
        let wrong_page = history.house(item);
        let unknown = history.house(released(7, &confirmed));
        let named = [wrong_time, wrong_page, unknown];
        assert_eq!(history.breaches(&Provenance), named);
    }

    #[test]
    fn who_publishes_nothing_promises_no_sources() {
        let mut charter = charter();
        assert!(Provenance.say(&charter, Lang::Ja).is_some());
        charter.release.clear();
        assert_eq!(Provenance.say(&charter, Lang::Ja), None);
    }
}
