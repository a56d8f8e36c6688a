//! Proposing a request: who asks, for what, with which validators and which drawn interval.

use std::time::Duration;

use url::Url;

use crate::charter::{Charter, RequestKind};
use crate::digest::Digest;
use crate::event::{Seq, Validators, VisitId};
use crate::gate::Ask;
use crate::host::Origin;
use crate::state::{LaneState, TargetKey};

/// What a proposal is made of.
pub(super) struct Proposal<'a> {
    pub(super) target: &'a TargetKey,
    pub(super) visit: VisitId,
    pub(super) kind: RequestKind,
    pub(super) url: Url,
    pub(super) listed: &'a str,
    pub(super) answers_for: Option<Origin>,
    pub(super) cause: Option<Seq>,
    pub(super) hop: u8,
    pub(super) pages: u32,
}

pub(super) fn ask(charter: &Charter, lane: &LaneState, proposal: Proposal<'_>) -> Ask {
    let validators = validators(charter, lane, &proposal);
    Ask {
        target: proposal.target.clone(),
        visit: proposal.visit,
        kind: proposal.kind,
        url: proposal.url,
        listed: proposal.listed.to_owned(),
        answers_for: proposal.answers_for,
        agent: charter.agent(proposal.kind).clone(),
        cause: proposal.cause,
        hop: proposal.hop,
        validators,
        draw: draw(charter, lane),
        pages: proposal.pages,
    }
}

/// The validators of the body that we hold for the listed URL; a hop asks for another URL.
fn validators(charter: &Charter, lane: &LaneState, proposal: &Proposal<'_>) -> Validators {
    if proposal.kind != RequestKind::Page || proposal.hop > 0 || !charter.visit.conditional {
        return Validators::default();
    }
    let target = lane.targets.get(proposal.target);
    target
        .and_then(|t| t.pages.get(proposal.listed))
        .map(|p| p.validators())
        .unwrap_or_default()
}

/// The drawn interval between `interval_min` and `interval_max`. Drawn from host and lane number
/// by a hash: even over the range, the same in a replay, and no source of randomness is needed.
fn draw(charter: &Charter, lane: &LaneState) -> Duration {
    let (min, max) = (charter.pace.interval_min, charter.pace.interval_max);
    let digest = Digest::of_parts(&[
        lane.lane.host.as_str().as_bytes(),
        &lane.lane.lane_seq.to_be_bytes(),
    ]);
    let [a, b, ..] = digest.as_bytes();
    let part = f64::from(u16::from_be_bytes([*a, *b])) / f64::from(u16::MAX);
    min + max.saturating_sub(min).mul_f64(part)
}
