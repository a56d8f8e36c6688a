//! What an answer to robots.txt means: rules, none, or hold (RFC 9309 section 2.3.1).

use url::Url;

use super::observe::pause_for_retry_after;
use super::{ROBOTS_HOPS_MAX, Step, Written, visit::observe_target, write};
use crate::charter::{Charter, RequestKind, RobotsMeaning};
use crate::event::{RobotsSettled, VisitId};
use crate::fetched::Outcome;
use crate::host::Origin;
use crate::state::{House, LaneState, PendingAnswer, Visit};
use crate::time::Now;

/// Where a redirect of robots.txt is followed to; any host, through the gate.
pub(super) fn redirect(answer: &PendingAnswer) -> Option<Url> {
    let status = answer.outcome.as_ref()?.status()?;
    if !matches!(status, 301 | 302 | 303 | 307 | 308) || answer.hop >= ROBOTS_HOPS_MAX {
        return None;
    }
    let from = Url::parse(&answer.url).ok()?;
    let to = observe_target(&from, answer.location.as_deref()?)?;
    let downgrade = from.scheme() == "https" && to.scheme() == "http";
    (to != from && !downgrade).then_some(to)
}

/// For whom robots.txt was read: a visit of this lane, or one whose hop this lane asks for.
pub(super) struct Asker<'a> {
    pub(super) visit: VisitId,
    pub(super) bot: &'a str,
    pub(super) target: &'a str,
    /// The answer that settles it, if there was one.
    pub(super) answer: Option<&'a PendingAnswer>,
}

impl<'a> Asker<'a> {
    pub(super) fn of(visit: &'a Visit) -> Self {
        Self {
            visit: visit.id,
            bot: &visit.target.bot,
            target: &visit.target.id,
            answer: visit
                .answer
                .as_ref()
                .filter(|a| a.kind == RequestKind::Robots),
        }
    }
}

/// Settles what the origin's robots.txt means from here on.
pub(super) fn settle(
    house: &House,
    charter: &Charter,
    lane: &LaneState,
    visit: &Visit,
    answer: &PendingAnswer,
    now: Now,
) -> Step {
    let settled = settled(charter, &Asker::of(visit), answer);
    let mut written = vec![Written {
        lane: lane.lane.id,
        event: settled.into(),
    }];
    let named = answer.retry_after.as_deref();
    written.extend(pause_for_retry_after(house, lane, visit, named, now));
    Step::Write(written)
}

/// What an answer says of its origin.
pub(super) fn settled(
    charter: &Charter,
    asker: &Asker<'_>,
    answer: &PendingAnswer,
) -> RobotsSettled {
    let (meaning, why) = meaning(charter, answer);
    let rules = match meaning {
        None => answer.body.as_ref().map(|b| b.digest),
        Some(_) => None,
    };
    // A 2xx whose body was not kept cannot be judged: hold.
    let meaning = if rules.is_none() {
        Some(meaning.unwrap_or(RobotsMeaning::Hold))
    } else {
        None
    };
    RobotsSettled {
        visit: asker.visit,
        bot: asker.bot.to_owned(),
        target: asker.target.to_owned(),
        origin: answer.answers_for.clone().unwrap_or_default(),
        user_agent: charter.agent(RequestKind::Robots).user_agent.clone(),
        answered: Some(answer.answered),
        rules,
        meaning,
        why,
    }
}

/// The host could not be asked: what the charter's table says of the network.
pub(super) fn unreachable(
    charter: &Charter,
    lane: &LaneState,
    asker: &Asker<'_>,
    origin: Option<&Origin>,
    why: &str,
) -> Step {
    write(
        lane,
        RobotsSettled {
            visit: asker.visit,
            bot: asker.bot.to_owned(),
            target: asker.target.to_owned(),
            origin: origin.map(|o| o.as_str().to_owned()).unwrap_or_default(),
            user_agent: charter.agent(RequestKind::Robots).user_agent.clone(),
            answered: asker.answer.map(|a| a.answered),
            rules: None,
            meaning: Some(charter.robots.status.network),
            why: why.to_owned(),
        },
    )
}

/// The charter's table. `None`: a complete 2xx, to be judged by its rules.
fn meaning(charter: &Charter, answer: &PendingAnswer) -> (Option<RobotsMeaning>, String) {
    let table = &charter.robots.status;
    let Some(outcome) = &answer.outcome else {
        return (
            Some(table.network),
            "the request was interrupted".to_owned(),
        );
    };
    match outcome {
        Outcome::Status(200..=299) => (None, "rules".to_owned()),
        Outcome::Status(429) => (Some(table.too_many), "HTTP 429".to_owned()),
        Outcome::Status(status @ 400..=499) => (Some(table.client_error), format!("HTTP {status}")),
        Outcome::Status(status @ 300..=399) => (
            Some(RobotsMeaning::Hold),
            format!("HTTP {status}: a redirect that is not followed"),
        ),
        Outcome::Status(status) => (Some(table.server_error), format!("HTTP {status}")),
        Outcome::TooLarge { limit, .. } => (
            Some(RobotsMeaning::Hold),
            format!("larger than {limit} bytes"),
        ),
        other => (Some(table.network), super::observe::in_words(other)),
    }
}
