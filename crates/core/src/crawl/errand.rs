//! Hops that lead to another lane: the visit parks, the other lane asks, the answer returns
//! (DECISIONS 16). Nobody holds two lanes.

use url::Url;

use super::ask::{Proposal, ask};
use super::{HOP_DEADLINE, Step, Written, looked_up, robots, write};
use crate::charter::{Charter, Freshness, Lang, RequestKind};
use crate::event::{HopDone, HopParked, HopQueued, HopResult, HopReturned, LaneId};
use crate::gate::{Scene, Verdict, decide, judge};
use crate::host::Origin;
use crate::state::lane::robots_key;
use crate::state::{Errand, House, LaneState, PendingAnswer, TargetKey};
use crate::time::Now;

/// What to write when a visit's redirect leads into lane `to`.
#[must_use]
pub fn park(
    lane: &LaneState,
    answer: &PendingAnswer,
    url: &Url,
    to: LaneId,
    now: Now,
) -> Vec<Written> {
    let Some(visit) = &lane.lane.visit else {
        return Vec::new();
    };
    let listed = lane
        .targets
        .get(&visit.target)
        .and_then(|t| t.row.urls.get(visit.at));
    let deadline = now.wall.plus(HOP_DEADLINE);
    let parked = HopParked {
        visit: visit.id,
        cause: answer.answered,
        to,
        deadline,
    };
    let queued = HopQueued {
        from: lane.lane.id,
        visit: visit.id,
        bot: visit.target.bot.clone(),
        target: visit.target.id.clone(),
        cause: answer.answered,
        url: url.to_string(),
        listed: listed.cloned().unwrap_or_default(),
        kind: answer.kind,
        answers_for: answer.answers_for.clone(),
        hop: answer.hop + 1,
        deadline,
    };
    vec![
        Written {
            lane: lane.lane.id,
            event: parked.into(),
        },
        Written {
            lane: to,
            event: queued.into(),
        },
    ]
}

/// The errand's next step in the lane that asks.
pub(super) fn next(house: &House, lane: &LaneState, errand: &Errand, now: Now) -> Step {
    let hop = &errand.hop;
    if let Some(answer) = &errand.answer {
        let result = HopResult::Answer {
            answered: answer.answered,
            outcome: answer.outcome.clone(),
            location: answer.location.clone(),
            retry_after: answer.retry_after.clone(),
            body: answer.body.clone(),
        };
        return hand_back(lane, hop, result);
    }
    let (Some(charter), Ok(url)) = (house.charter(&hop.bot), Url::parse(&hop.url)) else {
        return hand_back(
            lane,
            hop,
            not_asked("scope", "its charter is no longer in force"),
        );
    };
    if now.wall >= hop.deadline {
        return hand_back(
            lane,
            hop,
            not_asked("safe-redirect", "not answered in time"),
        );
    }
    let target = TargetKey {
        bot: hop.bot.clone(),
        id: hop.target.clone(),
    };
    let scene = Scene {
        house,
        charter,
        lane,
        target: None,
        now,
    };
    let origin = Origin::of(&url);
    let reads_robots = hop.kind == RequestKind::Page && !knows_robots(charter, lane, &origin, now);
    if let Some(answer) = errand
        .robots
        .as_ref()
        .filter(|a| reads_robots && a.outcome.is_some())
    {
        // Where this robots.txt redirects to is not followed from here: settled as a hold.
        return write(
            lane,
            robots::settled(charter, &asker(hop, Some(answer)), answer),
        );
    }
    let proposal = match origin.robots_url().filter(|_| reads_robots) {
        Some(robots_url) => Proposal {
            target: &target,
            visit: hop.visit,
            kind: RequestKind::Robots,
            url: robots_url,
            listed: &hop.listed,
            answers_for: Some(origin.clone()),
            cause: None,
            hop: 0,
            pages: 0,
        },
        None => Proposal {
            target: &target,
            visit: hop.visit,
            kind: hop.kind,
            url: url.clone(),
            listed: &hop.listed,
            answers_for: hop
                .answers_for
                .as_deref()
                .and_then(|o| Url::parse(o).ok())
                .map(|u| Origin::of(&u)),
            cause: Some(hop.cause),
            hop: hop.hop,
            pages: 0,
        },
    };
    let ask = ask(charter, lane, proposal);
    let judgement = judge(&scene, &ask);
    if let Some((_, Verdict::NotBefore(at))) = judgement.decisive()
        && *at > now.wall.plus(crate::gate::LEAD)
    {
        return Step::Sleep {
            until: Some((*at).min(hop.deadline)),
            pacing: true,
        };
    }
    match looked_up(lane, now) {
        Err(step) => return step,
        Ok(Err(why)) if reads_robots => {
            return robots::unreachable(charter, lane, &asker(hop, None), Some(&origin), why);
        }
        Ok(Err(why)) => return hand_back(lane, hop, not_asked("safe-redirect", why)),
        Ok(Ok(())) => {}
    }
    match decide(&scene, ask) {
        Ok(permit) => Step::Fetch(Box::new(permit)),
        Err(judgement) => match judgement.decisive() {
            Some((_, Verdict::NotBefore(at))) => Step::Sleep {
                until: Some((*at).min(hop.deadline)),
                pacing: true,
            },
            Some((id, Verdict::Hold { why, .. } | Verdict::Refuse { why })) => {
                hand_back(lane, hop, not_asked(id, why.get(Lang::En)))
            }
            _ => hand_back(lane, hop, not_asked("gate", "no reason was given")),
        },
    }
}

fn asker<'a>(hop: &'a HopQueued, answer: Option<&'a PendingAnswer>) -> robots::Asker<'a> {
    robots::Asker {
        visit: hop.visit,
        bot: &hop.bot,
        target: &hop.target,
        answer,
    }
}

/// Whether the lane has a reading of the origin's robots.txt that a hop may rest on.
fn knows_robots(charter: &Charter, lane: &LaneState, origin: &Origin, now: Now) -> bool {
    let key = robots_key(
        origin.as_str(),
        &charter.agent(RequestKind::Robots).user_agent,
    );
    let fresh_for = match charter.robots.fresh_for {
        Freshness::For(span) => span,
        Freshness::Visit => HOP_DEADLINE,
    };
    lane.lane
        .robots
        .get(&key)
        .is_some_and(|record| record.at <= now.wall && now.wall.since(record.at) < fresh_for)
}

fn not_asked(promise: &str, why: &str) -> HopResult {
    HopResult::Held {
        promise: promise.to_owned(),
        why: why.to_owned(),
    }
}

fn hand_back(lane: &LaneState, hop: &HopQueued, result: HopResult) -> Step {
    let returned = HopReturned {
        visit: hop.visit,
        url: hop.url.clone(),
        hop: hop.hop,
        result,
    };
    let done = HopDone {
        from: hop.from,
        visit: hop.visit,
        cause: hop.cause,
    };
    Step::Write(vec![
        Written {
            lane: hop.from,
            event: returned.into(),
        },
        Written {
            lane: lane.lane.id,
            event: done.into(),
        },
    ])
}
