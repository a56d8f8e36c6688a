//! The journal's own record of robots.txt, for the proofs of the robots promises: what was asked,
//! what came, and what was settled by it. No gate reads this.

use std::collections::{BTreeMap, HashMap};

use url::Url;

use super::{Seen, Versions};
use crate::charter::{Charter, RequestKind, RobotsMeaning};
use crate::digest::Digest;
use crate::event::{Admitted, Event, LaneId, RobotsBasis, RobotsSettled, Seq, VisitId};
use crate::fetched::Outcome;
use crate::journal::Header;
use crate::time::Timestamp;

/// What was settled last for each origin and agent of a lane, and the answer behind it.
#[derive(Default)]
pub(super) struct Settlements {
    /// Answers that nothing has been settled by yet.
    open: BTreeMap<Seq, Answer>,
    settled: HashMap<LaneId, HashMap<(String, String), Settled>>,
}

/// Open answers kept at once, over all lanes.
const OPEN_MAX: usize = 65_536;

/// One answer to robots.txt.
#[derive(Clone)]
pub(super) struct Answer {
    origin: Option<String>,
    user_agent: String,
    /// What it means by the table of the charter that it was asked under.
    pub(super) meaning: Meaning,
    /// Its body.
    pub(super) body: Option<Digest>,
}

/// What an answer to robots.txt means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Meaning {
    /// Judge by its body.
    Rules,
    /// Nothing is excluded.
    NoRules,
    /// Nobody knows: why.
    Hold(String),
    /// Its charter cannot be read.
    Unknown,
}

/// See [`Settlements`].
pub(super) struct Settled {
    /// When.
    pub(super) at: Timestamp,
    /// By the visit of which target.
    pub(super) visit: (String, String, VisitId),
    answered: Option<Seq>,
    rules: Option<Digest>,
    /// The answer, where the journal has it.
    pub(super) answer: Option<Answer>,
    /// What the journal's statement gets wrong about the answer.
    fault: Option<&'static str>,
}

impl Settled {
    /// What is wrong with a page that rests on `basis`, where this was settled.
    pub(super) fn differs_from(&self, basis: &RobotsBasis) -> Option<&'static str> {
        if self.answered != Some(basis.answered) {
            return Some("it rests on another answer than the last one to its robots.txt");
        }
        if self.rules != basis.body {
            return Some("it rests on another body than the last one of its robots.txt");
        }
        self.fault
    }

    /// Whether a page that rests on `basis` rests on this.
    pub(super) fn is_behind(&self, basis: &RobotsBasis) -> bool {
        self.answered == Some(basis.answered)
    }
}

impl Settlements {
    /// Takes in an entry.
    pub(super) fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        match (entry.event, entry.admitted) {
            (Event::Answered(answered), Some((_, admitted))) => {
                let body = answered.body.as_ref().map(|b| b.digest);
                self.answer(
                    entry.header.seq,
                    admitted,
                    Some(&answered.outcome),
                    body,
                    versions,
                );
            }
            (Event::Lost(_), Some((_, admitted))) => {
                self.answer(entry.header.seq, admitted, None, None, versions);
            }
            (Event::Admitted(admitted), _) if admitted.kind == RequestKind::Robots => {
                // The redirect that leads here is followed: it settles nothing.
                if let Some(cause) = admitted.cause {
                    self.open.remove(&cause);
                }
            }
            (Event::RobotsSettled(settled), _) => self.settle(entry.header, settled),
            _ => {}
        }
    }

    /// What was settled last for the origin of a page.
    pub(super) fn of(&self, lane: LaneId, page: &Admitted, charter: &Charter) -> Option<&Settled> {
        let origin = Url::parse(&page.url).ok()?.origin().ascii_serialization();
        let agent = charter.agent(RequestKind::Robots).user_agent.clone();
        self.settled.get(&lane)?.get(&(origin, agent))
    }

    /// The body settled last for the origin of a robots.txt that is asked for again.
    pub(super) fn rules_of(&self, lane: LaneId, robots: &Admitted) -> Option<Digest> {
        let origin = Url::parse(&robots.url).ok()?.origin().ascii_serialization();
        let key = (origin, robots.user_agent.clone());
        self.settled.get(&lane)?.get(&key)?.rules
    }

    fn answer(
        &mut self,
        seq: Seq,
        admitted: &Admitted,
        outcome: Option<&Outcome>,
        body: Option<Digest>,
        versions: &Versions<'_>,
    ) {
        if admitted.kind != RequestKind::Robots {
            return;
        }
        let meaning = match versions.charter(admitted.charter) {
            Some(charter) => meaning(charter, outcome),
            None => Meaning::Unknown,
        };
        let answer = Answer {
            origin: admitted.answers_for.clone(),
            user_agent: admitted.user_agent.clone(),
            meaning,
            body,
        };
        self.open.insert(seq, answer);
        if self.open.len() > OPEN_MAX {
            self.open.pop_first();
        }
    }

    fn settle(&mut self, header: &Header, settled: &RobotsSettled) {
        let answer = settled.answered.and_then(|seq| self.open.remove(&seq));
        let fault = match &answer {
            None => Some("no answer to robots.txt stands behind what was settled"),
            Some(a) if a.origin.as_deref() != Some(settled.origin.as_str()) => {
                Some("its robots.txt was settled by an answer for another origin")
            }
            Some(a) if a.user_agent != settled.user_agent => {
                Some("its robots.txt was settled by an answer to another User-Agent")
            }
            Some(a) if settled.rules.is_some() && settled.rules != a.body => {
                Some("its robots.txt was settled by a body that did not come")
            }
            Some(_) => None,
        };
        let key = (settled.origin.clone(), settled.user_agent.clone());
        let what = Settled {
            at: header.at,
            visit: (settled.bot.clone(), settled.target.clone(), settled.visit),
            answered: settled.answered,
            rules: settled.rules,
            answer,
            fault,
        };
        let of_lane = self.settled.entry(header.lane).or_default();
        of_lane.insert(key, what);
    }
}

/// The charter's table, read for an audit. `None`: lost with its writer.
fn meaning(charter: &Charter, outcome: Option<&Outcome>) -> Meaning {
    let table = &charter.robots.status;
    let status = match outcome {
        Some(Outcome::Status(status)) => *status,
        Some(Outcome::TooLarge { limit, .. }) => {
            return Meaning::Hold(format!("was larger than {limit} bytes"));
        }
        other => {
            let what = if other.is_some() {
                "failed"
            } else {
                "was lost"
            };
            return said(table.network, what.to_owned());
        }
    };
    let words = format!("was answered with HTTP {status}");
    match status {
        200..=299 => Meaning::Rules,
        300..=399 => Meaning::Hold("redirected to where nobody followed".to_owned()),
        429 => said(table.too_many, words),
        400..=499 => said(table.client_error, words),
        _ => said(table.server_error, words),
    }
}

fn said(meaning: RobotsMeaning, words: String) -> Meaning {
    match meaning {
        RobotsMeaning::NoRules => Meaning::NoRules,
        RobotsMeaning::Hold => Meaning::Hold(words),
    }
}
