//! Requests under way: sending what was admitted, booking what came back, having it judged.

use std::collections::HashMap;
use std::sync::Arc;

use reigi_core::charter::RequestKind;
use reigi_core::crawl::observe::{self, Raw, Reading};
use reigi_core::digest::Digest;
use reigi_core::event::{Answered, Event, LaneId, NotSent, Observation, Seq};
use reigi_core::fetched::{Fetch, Fetched, Outcome, WireText};
use reigi_core::gate::Permit;
use reigi_core::ledger::Target;
use reigi_core::state::{LaneState, PageState, PendingAnswer};
use reigi_core::time::{Clock as _, Mono};

use super::turn::{Batch, Body};
use super::{Busy, Driver, Incoming, Result, Tally};

/// What came of one permit.
pub(super) struct Answer {
    pub(super) lane: LaneId,
    admitted: Seq,
    kind: RequestKind,
    owner: String,
    opens: Mono,
    fetch: Fetch,
    reading: Reading,
    keep_reading: bool,
}

impl Driver {
    /// Sends an admitted request; its answer comes back as [`Incoming::Answered`].
    pub(super) fn send(&mut self, id: LaneId, admitted: Seq, permit: Permit) {
        let Some(lane) = self.lanes.get(&id) else {
            return;
        };
        let ask = permit.admitted();
        let key = reigi_core::state::TargetKey {
            bot: ask.bot.clone(),
            id: ask.target.clone(),
        };
        let target = lane.targets.get(&key);
        let row: Option<Target> = target.map(|t| t.row.clone());
        let known = target
            .and_then(|t| t.pages.get(&ask.listed))
            .and_then(|p| p.latest.as_ref())
            .map(|version| version.body.digest);
        let (kind, opens) = (ask.kind, ask.not_before.mono);
        let owner = match kind {
            RequestKind::Robots => {
                format!("robots {}", ask.answers_for.clone().unwrap_or_default())
            }
            RequestKind::Page => format!("{key} {}", ask.listed),
        };
        self.busy.insert(id, Busy::Request);
        let (fetcher, sender) = (Arc::clone(&self.fetcher), self.sender.clone());
        tokio::spawn(async move {
            let fetch = fetcher.fetch(permit).await;
            let keep_reading = row.is_some();
            let read = tokio::task::spawn_blocking(move || {
                let reading = match &fetch {
                    Fetch::Done(fetched) => read(kind, fetched, row.as_ref(), known),
                    Fetch::NotSent { .. } => Reading::default(),
                };
                (fetch, reading)
            });
            let Ok((fetch, reading)) = read.await else {
                return;
            };
            let answer = Answer {
                lane: id,
                admitted,
                kind,
                owner,
                opens,
                fetch,
                reading,
                keep_reading,
            };
            let _ = sender.send(Incoming::Answered(Box::new(answer)));
        });
    }

    /// Journals what came of a permit, with its body.
    pub(super) fn book(&mut self, answer: Answer, batch: &mut Batch) {
        self.slots += 1;
        let fetched = match answer.fetch {
            Fetch::NotSent { why, at } => {
                let event = NotSent {
                    admitted: answer.admitted,
                    why,
                    at,
                };
                batch.push_fact(answer.lane, event.into(), None);
                return;
            }
            Fetch::Done(fetched) => *fetched,
        };
        self.tally.requests += 1;
        if let Some(sent) = fetched.sent {
            let late = sent.mono.since(answer.opens).as_micros();
            self.tally
                .late_us
                .push(u32::try_from(late).unwrap_or(u32::MAX));
        }
        if let Some(lane) = self.lanes.get(&answer.lane) {
            self.tally.host = lane.lane.host.as_str().to_owned();
        }
        let event = answered(answer.admitted, &fetched, &answer.reading);
        let body = event.body.as_ref().map(|body| Body {
            digest: body.digest,
            bytes: fetched.body,
            owner: answer.owner,
        });
        if answer.kind == RequestKind::Robots
            && let Some(body) = &body
            && let Some(lane) = self.lanes.get_mut(&answer.lane)
        {
            let rules = reigi_robots::Rules::parse(&body.bytes);
            lane.rules
                .entry(body.digest)
                .or_insert_with(|| Arc::new(rules));
        }
        if answer.kind == RequestKind::Page && answer.keep_reading {
            self.read
                .insert(answer.lane, (answer.admitted, Arc::new(answer.reading)));
        }
        batch.push_fact(answer.lane, event.into(), body);
    }

    /// Has a page's answer judged: at once where nothing must be compared, else beside the loop.
    pub(super) async fn judge(&mut self, id: LaneId, pending: &PendingAnswer) -> Result<()> {
        let reading = match self.read.remove(&id) {
            Some((_, reading)) if pending.hop == 0 || self.is_own(id, pending) => reading,
            _ => Arc::new(self.read_again(id, pending).await?),
        };
        let Some(lane) = self.lanes.get(&id) else {
            return Ok(());
        };
        let mut bodies: HashMap<Digest, Vec<u8>> = HashMap::new();
        for digest in wanted(lane, &reading) {
            if let Some(body) = self.store.get_body(digest).await? {
                bodies.insert(digest, body);
            }
        }
        let lane_seq = lane.lane.lane_seq;
        let (house, lane) = (self.house.clone(), slim(lane));
        let (now, sender) = (self.clock.now(), self.sender.clone());
        self.busy.insert(id, Busy::Judgement);
        tokio::task::spawn_blocking(move || {
            let body = |digest: Digest| bodies.get(&digest).cloned();
            let written = observe::judge(&house, &lane, &reading, &body, now);
            let _ = sender.send(Incoming::Judged(id, lane_seq, written));
        });
        Ok(())
    }

    fn is_own(&self, id: LaneId, pending: &PendingAnswer) -> bool {
        let host = url::Url::parse(&pending.url)
            .ok()
            .and_then(|u| reigi_core::host::Host::of(&u));
        self.lanes
            .get(&id)
            .is_some_and(|lane| Some(&lane.lane.host) == host.as_ref())
    }

    /// Reads an answer from journal and store: after a restart, or made in another lane.
    async fn read_again(&self, id: LaneId, pending: &PendingAnswer) -> Result<Reading> {
        let entry = self.store.entry(pending.answered).await?;
        let event = entry.and_then(|e| e.event().ok().flatten());
        let Some(Event::Answered(answered)) = event else {
            return Ok(Reading::default());
        };
        let body = match &answered.body {
            Some(body) => self.store.get_body(body.digest).await?.unwrap_or_default(),
            None => Vec::new(),
        };
        let headers: Vec<(&str, &str)> = answered
            .headers
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), value.as_text()?)))
            .collect();
        let raw = Raw {
            kind: RequestKind::Page,
            outcome: &answered.outcome,
            headers: &headers,
            body: &body,
        };
        let row = self
            .lanes
            .get(&id)
            .and_then(|lane| lane.targets.get(&lane.lane.visit.as_ref()?.target))
            .map(|target| &target.row);
        let mut reading = Reading::of(raw, row, None);
        if answered.body.is_none() {
            reading.body = None;
        }
        Ok(reading)
    }
}

impl Tally {
    /// Counts an entry.
    pub(super) fn count(&mut self, event: &Event) {
        match event {
            Event::VisitClosed(_) => self.visits += 1,
            Event::Changed(_) => self.changes += 1,
            Event::Observed(observed) => {
                let word = match &observed.observation {
                    Observation::Confirmed => "confirmed",
                    Observation::Unchanged => "unchanged",
                    Observation::Noise => "noise",
                    Observation::Changed => "changed",
                    Observation::Unconfirmed { .. } => "unconfirmed",
                    Observation::Held { .. } => "held",
                    Observation::Refused { .. } => "refused",
                };
                *self.observations.entry(word.to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }
}

fn read(
    kind: RequestKind,
    fetched: &Fetched,
    row: Option<&Target>,
    known: Option<Digest>,
) -> Reading {
    let headers: Vec<(&str, &str)> = fetched
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), std::str::from_utf8(value).ok()?)))
        .collect();
    let raw = Raw {
        kind,
        outcome: &fetched.outcome,
        headers: &headers,
        body: &fetched.body,
    };
    Reading::of(raw, row, known)
}

fn answered(admitted: Seq, fetched: &Fetched, reading: &Reading) -> Answered {
    let kept = matches!(fetched.outcome, Outcome::Status(200..=299));
    Answered {
        admitted,
        outcome: fetched.outcome.clone(),
        opened: fetched.opened,
        sent: fetched.sent,
        head_at: fetched.head_at,
        ended: fetched.ended,
        local: fetched.local.clone(),
        remote: fetched.remote.clone(),
        request_head: WireText::from(fetched.request_head.as_slice()),
        headers: fetched
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), WireText::from(value.as_slice())))
            .collect(),
        body: reading.body.clone().filter(|_| kept),
        raw_bytes: fetched.raw_bytes,
        faults: fetched.faults.clone(),
        certificate: fetched.certificate.clone(),
    }
}

/// Bodies that judging this answer may compare with.
fn wanted(lane: &LaneState, reading: &Reading) -> Vec<Digest> {
    if reading.page.is_none() {
        return Vec::new();
    }
    let Some(page) = page_of(lane) else {
        return Vec::new();
    };
    let versions = [&page.settled, &page.judged, &page.latest]
        .into_iter()
        .flatten();
    let earlier = page
        .earlier
        .iter()
        .filter(|_| page.earlier.len() >= 3)
        .map(|e| e.body);
    versions.map(|v| v.body.digest).chain(earlier).collect()
}

fn page_of(lane: &LaneState) -> Option<&PageState> {
    let visit = lane.lane.visit.as_ref()?;
    let target = lane.targets.get(&visit.target)?;
    target.pages.get(target.row.urls.get(visit.at)?)
}

/// The lane with the visit's own target only: what a judgement looks at.
fn slim(lane: &LaneState) -> LaneState {
    let mut slim = LaneState::new(
        lane.lane.id,
        lane.lane.host.clone(),
        lane.taken_over.0,
        lane.taken_over.1,
    );
    slim.lane = lane.lane.clone();
    if let Some(visit) = &lane.lane.visit
        && let Some(target) = lane.targets.get(&visit.target)
    {
        slim.targets.insert(visit.target.clone(), target.clone());
    }
    slim
}
