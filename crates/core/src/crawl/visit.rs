//! One visit of one target: robots.txt first, then each listed URL, then the visit is closed.

use url::Url;

use super::ask::{Proposal, ask};
use super::{HOP_DEADLINE, Step, Written, looked_up, robots, write};
use crate::charter::{Charter, Freshness, Lang, RequestKind, Resume};
use crate::event::{Observation, Observed, Paused, VisitClosed, VisitOpened};
use crate::gate::{Judgement, Scene, Verdict, decide, judge};
use crate::host::{Host, Origin};
use crate::promise::cadence;
use crate::state::lane::robots_key;
use crate::state::{House, LaneState, PendingAnswer, TargetState, Visit};
use crate::time::{Now, Timestamp};

/// Opens the visit of the target that has been due longest.
pub(super) fn open(house: &House, lane: &LaneState, now: Now) -> Step {
    if house.facts.clock_hold {
        return Step::Sleep {
            until: None,
            pacing: false,
        };
    }
    let ready = lane
        .targets
        .values()
        .filter_map(|t| Some((ready_at(house, t, now.wall)?, t)));
    let Some((at, target)) = ready.min_by_key(|(at, target)| (*at, target.key.clone())) else {
        return Step::Sleep {
            until: None,
            pacing: false,
        };
    };
    if at > now.wall {
        return Step::Sleep {
            until: Some(at),
            pacing: false,
        };
    }
    write(
        lane,
        VisitOpened {
            visit: lane.lane.visits + 1,
            bot: target.key.bot.clone(),
            target: target.key.id.clone(),
            due: target.due,
        },
    )
}

/// When a target can be visited, house-wide pauses counted in.
fn ready_at(house: &House, target: &TargetState, now: Timestamp) -> Option<Timestamp> {
    let charter = house.charter(&target.key.bot)?;
    let own = target
        .ready_at()?
        .max(cadence::due(charter, target, &house.zone.0));
    let reach = LaneState::target_reach(&target.key);
    let urls: Vec<Url> = target
        .row
        .urls
        .iter()
        .filter_map(|u| Url::parse(u).ok())
        .collect();
    let covered = house
        .facts
        .pauses
        .iter()
        .filter(|p| p.until.is_none_or(|until| now < until))
        .find(|p| {
            p.reach == reach
                || urls
                    .iter()
                    .any(|url| crate::state::house::covers(&p.reach, url))
        });
    match covered {
        None => Some(own),
        Some(pause) => pause.until.map(|until| until.max(own)),
    }
}

/// The visit's next step.
pub(super) fn next(house: &House, lane: &LaneState, visit: &Visit, now: Now) -> Step {
    let target = lane.targets.get(&visit.target);
    let (Some(target), Some(charter)) = (target, house.charter(&visit.target.bot)) else {
        return close_orphan(lane, visit, now);
    };
    if let Some(waiting) = &visit.waiting {
        return match now.wall < waiting.deadline {
            true => Step::Sleep {
                until: Some(waiting.deadline),
                pacing: true,
            },
            false => held(
                lane,
                visit,
                target,
                "safe-redirect",
                "the redirect was not answered in time",
            ),
        };
    }
    // A robots.txt request that died with its writer says nothing about the site: it is asked again.
    let lost = |a: &&PendingAnswer| a.kind == RequestKind::Robots && a.outcome.is_none();
    let answer = visit.answer.as_ref().filter(|a| !lost(a));
    if let Some(answer) = answer.or(visit.redirect.as_ref()) {
        return answered(house, charter, lane, visit, target, answer, now);
    }
    let listed = target
        .row
        .urls
        .get(visit.at)
        .and_then(|u| Some((u, Url::parse(u).ok()?)));
    let Some((listed, url)) = listed.filter(|_| !target.left) else {
        return close(house, charter, lane, visit, target, now);
    };
    let page = Proposal {
        target: &visit.target,
        visit: visit.id,
        kind: RequestKind::Page,
        url: url.clone(),
        listed,
        answers_for: None,
        cause: None,
        hop: 0,
        pages: visit.pages,
    };
    propose(house, charter, lane, visit, target, page, now)
}

/// Asks the gate for a page; reads robots.txt first where the evidence is missing or old.
fn propose(
    house: &House,
    charter: &Charter,
    lane: &LaneState,
    visit: &Visit,
    target: &TargetState,
    page: Proposal<'_>,
    now: Now,
) -> Step {
    let scene = Scene {
        house,
        charter,
        lane,
        target: Some(target),
        now,
    };
    let origin = Origin::of(&page.url);
    let evidence_missing =
        page.kind == RequestKind::Page && !robots_fresh(charter, lane, visit, &origin, now);
    let listed = page.listed;
    let proposal = if evidence_missing {
        let Some(url) = origin.robots_url() else {
            return held(lane, visit, target, "scope", "the URL has no robots.txt");
        };
        // What refuses the page for good need not cost its site a robots.txt request.
        let wanted = ask(charter, lane, page);
        if let Some(denied) = denied_whatever_robots_say(&scene, &wanted) {
            return no(lane, visit, target, &denied);
        }
        Proposal {
            target: &visit.target,
            visit: visit.id,
            kind: RequestKind::Robots,
            url,
            listed,
            answers_for: Some(origin),
            cause: None,
            hop: 0,
            pages: visit.pages,
        }
    } else {
        page
    };
    let kind = proposal.kind;
    let answers_for = proposal.answers_for.clone();
    let ask = ask(charter, lane, proposal);
    // The name is looked up only when a request is about to leave.
    let first = judge(&scene, &ask);
    match first.decisive() {
        Some((_, Verdict::NotBefore(at))) if *at > now.wall.plus(crate::gate::LEAD) => {
            return Step::Sleep {
                until: Some(before(*at)),
                pacing: true,
            };
        }
        Some((_, Verdict::Hold { .. } | Verdict::Refuse { .. })) if !only_addresses(&first) => {
            return denied(
                charter,
                lane,
                visit,
                target,
                kind,
                answers_for.as_ref(),
                &first,
            );
        }
        _ => {}
    }
    match looked_up(lane, now) {
        Err(step) => return step,
        Ok(Err(why)) => {
            return match kind {
                RequestKind::Robots => robots::unreachable(
                    charter,
                    lane,
                    &robots::Asker::of(visit),
                    answers_for.as_ref(),
                    why,
                ),
                RequestKind::Page => {
                    unconfirmed(lane, visit, target, &format!("name look-up: {why}"))
                }
            };
        }
        Ok(Ok(())) => {}
    }
    match decide(&scene, ask) {
        Ok(permit) => Step::Fetch(Box::new(permit)),
        Err(judgement) => match judgement.decisive() {
            Some((_, Verdict::NotBefore(at))) => Step::Sleep {
                until: Some(before(*at)),
                pacing: true,
            },
            _ => denied(
                charter,
                lane,
                visit,
                target,
                kind,
                answers_for.as_ref(),
                &judgement,
            ),
        },
    }
}

/// A little before the window opens, so that connecting costs no pace.
fn before(at: Timestamp) -> Timestamp {
    let lead = i64::try_from(crate::gate::LEAD.as_micros()).unwrap_or(0);
    Timestamp::from_micros(at.micros().saturating_sub(lead))
}

/// Whether only the addresses stand against it: they may be from an old look-up.
fn only_addresses(judgement: &Judgement) -> bool {
    let hard =
        |(_, v): &&(&str, Verdict)| matches!(v, Verdict::Hold { .. } | Verdict::Refuse { .. });
    judgement
        .answers
        .iter()
        .filter(hard)
        .all(|(id, _)| *id == "public-only")
}

/// A refusal or hold that no robots.txt could change: opt-out, scope, terms, pause.
fn denied_whatever_robots_say(scene: &Scene<'_>, page: &crate::gate::Ask) -> Option<Judgement> {
    let mut judgement = judge(scene, page);
    judgement.answers.retain(|(id, verdict)| {
        !id.starts_with("robots-")
            && *id != "public-only"
            && matches!(verdict, Verdict::Hold { .. } | Verdict::Refuse { .. })
    });
    (!judgement.answers.is_empty()).then_some(judgement)
}

fn robots_fresh(
    charter: &Charter,
    lane: &LaneState,
    visit: &Visit,
    origin: &Origin,
    now: Now,
) -> bool {
    let agent = charter.agent(RequestKind::Robots);
    let Some(record) = lane
        .lane
        .robots
        .get(&robots_key(origin.as_str(), &agent.user_agent))
    else {
        return false;
    };
    match charter.robots.fresh_for {
        Freshness::Visit => record.visit == (visit.target.clone(), visit.id),
        Freshness::For(span) => record.at <= now.wall && now.wall.since(record.at) < span,
    }
}

/// An answer came: follow it, settle it, or have it judged.
fn answered(
    house: &House,
    charter: &Charter,
    lane: &LaneState,
    visit: &Visit,
    target: &TargetState,
    answer: &PendingAnswer,
    now: Now,
) -> Step {
    let hop = match answer.kind {
        RequestKind::Robots => robots::redirect(answer),
        RequestKind::Page => page_redirect(charter, answer, target.row.urls.get(visit.at)),
    };
    let Some(url) = hop else {
        return match answer.kind {
            RequestKind::Robots => robots::settle(house, charter, lane, visit, answer, now),
            RequestKind::Page => Step::Judge(Box::new(answer.clone())),
        };
    };
    let Some(host) = Host::of(&url) else {
        return Step::Judge(Box::new(answer.clone()));
    };
    if host != lane.lane.host {
        return Step::Park {
            answer: Box::new(answer.clone()),
            url,
            host,
        };
    }
    let listed = target.row.urls.get(visit.at).map_or("", String::as_str);
    let proposal = Proposal {
        target: &visit.target,
        visit: visit.id,
        kind: answer.kind,
        url,
        listed,
        answers_for: answer
            .answers_for
            .as_deref()
            .and_then(|o| Url::parse(o).ok())
            .map(|u| Origin::of(&u)),
        cause: Some(answer.answered),
        hop: answer.hop + 1,
        pages: visit.pages,
    };
    propose(house, charter, lane, visit, target, proposal, now)
}

/// Where a page's redirect may be followed to: the same host, its `www`/apex twin, http→https.
fn page_redirect(
    charter: &Charter,
    answer: &PendingAnswer,
    listed: Option<&String>,
) -> Option<Url> {
    let status = answer.outcome.as_ref()?.status()?;
    if !matches!(status, 301 | 302 | 303 | 307 | 308) || answer.hop >= charter.limits.redirects_max
    {
        return None;
    }
    let (from, listed) = (Url::parse(&answer.url).ok()?, Url::parse(listed?).ok()?);
    let to = observe_target(&from, answer.location.as_deref()?)?;
    let same_page = to == from;
    let downgrade = from.scheme() == "https" && to.scheme() == "http";
    let twin = Host::of(&to)?.is_twin_of(&Host::of(&listed)?);
    (twin && !same_page && !downgrade && !super::observe::is_front_door(&to, &listed)).then_some(to)
}

/// A Location resolved; `None` for what no courteous client follows (userinfo, backslash in the
/// authority, other schemes).
pub(super) fn observe_target(from: &Url, location: &str) -> Option<Url> {
    let authority = location.split_once("//").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or("");
    if authority.contains(['\\', '@']) || location.starts_with('\\') {
        return None;
    }
    let mut to = from.join(location).ok()?;
    to.set_fragment(None);
    let plain = to.username().is_empty() && to.password().is_none();
    (plain && matches!(to.scheme(), "http" | "https") && to.as_str().len() <= 8192).then_some(to)
}

fn denied(
    charter: &Charter,
    lane: &LaneState,
    visit: &Visit,
    target: &TargetState,
    kind: RequestKind,
    answers_for: Option<&Origin>,
    judgement: &Judgement,
) -> Step {
    let redirected = visit
        .answer
        .as_ref()
        .is_some_and(|a| a.kind == RequestKind::Robots);
    if kind == RequestKind::Robots && redirected {
        let why = judgement.decisive().map_or("", |(id, _)| *id);
        return robots::unreachable(
            charter,
            lane,
            &robots::Asker::of(visit),
            answers_for,
            &format!("redirect held by {why}"),
        );
    }
    no(lane, visit, target, judgement)
}

/// The gate's no, as an observation.
fn no(lane: &LaneState, visit: &Visit, target: &TargetState, judgement: &Judgement) -> Step {
    let Some((promise, verdict)) = judgement.decisive() else {
        return held(lane, visit, target, "gate", "no reason was given");
    };
    let promise = (*promise).to_owned();
    let observation = match verdict {
        Verdict::Refuse { why } => Observation::Refused {
            promise,
            reason: why.get(Lang::En).to_owned(),
        },
        Verdict::Hold { why, .. } => Observation::Held {
            promise,
            reason: why.get(Lang::En).to_owned(),
        },
        Verdict::Pass | Verdict::NotBefore(_) => {
            return Step::Sleep {
                until: None,
                pacing: true,
            };
        }
    };
    observed(lane, visit, target, observation)
}

fn held(
    lane: &LaneState,
    visit: &Visit,
    target: &TargetState,
    promise: &str,
    reason: &str,
) -> Step {
    let observation = Observation::Held {
        promise: promise.to_owned(),
        reason: reason.to_owned(),
    };
    observed(lane, visit, target, observation)
}

fn unconfirmed(lane: &LaneState, visit: &Visit, target: &TargetState, reason: &str) -> Step {
    observed(
        lane,
        visit,
        target,
        Observation::Unconfirmed {
            reason: reason.to_owned(),
        },
    )
}

fn observed(
    lane: &LaneState,
    visit: &Visit,
    target: &TargetState,
    observation: Observation,
) -> Step {
    let event = Observed {
        visit: visit.id,
        bot: visit.target.bot.clone(),
        target: visit.target.id.clone(),
        url: target.row.urls.get(visit.at).cloned().unwrap_or_default(),
        observation,
        answered: None,
        version: None,
    };
    write(lane, event)
}

/// Ends the visit; pauses the target where failures in a row say so.
fn close(
    house: &House,
    charter: &Charter,
    lane: &LaneState,
    visit: &Visit,
    target: &TargetState,
    now: Now,
) -> Step {
    let every = cadence::period(charter, target);
    let anchor = target.anchor_day.unwrap_or(1);
    let mut written = vec![Written {
        lane: lane.lane.id,
        event: VisitClosed {
            visit: visit.id,
            bot: visit.target.bot.clone(),
            target: visit.target.id.clone(),
            pages: visit.pages,
            failed: visit.failed,
            next_due: every.next(visit.opened, anchor, &house.zone.0),
            held: visit.held.clone(),
        }
        .into(),
    }];
    if visit.failed && target.failures + 1 >= charter.failure.pause_after {
        let until = match charter.failure.resume {
            Resume::Person => None,
            Resume::After(span) => Some(now.wall.plus(span)),
        };
        written.push(Written {
            lane: lane.lane.id,
            event: Paused {
                reach: LaneState::target_reach(&visit.target),
                by: "auto-pause".to_owned(),
                reason: format!("{} failed visits in a row", target.failures + 1),
                until,
                epoch: house.facts.epoch,
            }
            .into(),
        });
    }
    Step::Write(written)
}

/// The charter or the row is gone in mid-visit: nothing more is asked.
fn close_orphan(lane: &LaneState, visit: &Visit, now: Now) -> Step {
    let closed = VisitClosed {
        visit: visit.id,
        bot: visit.target.bot.clone(),
        target: visit.target.id.clone(),
        pages: visit.pages,
        failed: false,
        next_due: now.wall.plus(HOP_DEADLINE),
        held: Some("its charter is no longer in force".to_owned()),
    };
    write(lane, closed)
}
