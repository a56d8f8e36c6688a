//! One turn: ask each ready lane for its next step, append everything in one durable commit, then
//! act on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use reigi_core::crawl::{self, Step, Written};
use reigi_core::event::{Event, LaneId};
use reigi_core::gate::Permit;
use reigi_core::journal::{Draft, Header};
use reigi_core::state::RowChange;
use reigi_core::time::{Clock as _, Timestamp};
use reigi_store::{Append, Error, NewBody};

use super::{Busy, Driver, Incoming, Result};

/// Entries of one commit, at most; more wait for the next.
const BATCH_MAX: usize = 4_096;

/// Entries to append together, and what to do once they are durable.
#[derive(Default)]
pub(super) struct Batch {
    items: Vec<Item>,
    bodies: Vec<Body>,
}

struct Item {
    lane: LaneId,
    event: Event,
    /// The permit that this `admitted` entry makes durable.
    permit: Option<Permit>,
    /// Whether it must be appended even if the rules changed meanwhile: it already happened.
    happened: bool,
}

/// A body to store with the entry that names it.
pub(super) struct Body {
    pub(super) digest: reigi_core::digest::Digest,
    pub(super) bytes: Vec<u8>,
    pub(super) owner: String,
}

impl Batch {
    /// A decision: judged anew if the rules change before it is durable.
    pub(super) fn push(&mut self, lane: LaneId, event: impl Into<Event>) {
        self.items.push(Item {
            lane,
            event: event.into(),
            permit: None,
            happened: false,
        });
    }

    /// Something that already happened.
    pub(super) fn push_fact(&mut self, lane: LaneId, event: Event, body: Option<Body>) {
        self.items.push(Item {
            lane,
            event,
            permit: None,
            happened: true,
        });
        self.bodies.extend(body);
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    fn push_permit(&mut self, lane: LaneId, permit: Permit) {
        let event = permit.admitted().clone().into();
        self.items.push(Item {
            lane,
            event,
            permit: Some(permit),
            happened: false,
        });
    }

    fn extend(&mut self, written: Vec<Written>) {
        for w in written {
            self.push(w.lane, w.event);
        }
    }
}

impl Driver {
    /// Takes in what came, asks ready lanes, commits, acts.
    pub(super) async fn turn(&mut self) -> Result<()> {
        let mut batch = Batch::default();
        for incoming in std::mem::take(&mut self.inbox) {
            self.take_in(incoming, &mut batch);
        }
        let ready = std::mem::take(&mut self.ready);
        for id in ready {
            if self.busy.contains_key(&id) {
                continue;
            }
            if batch.items.len() >= BATCH_MAX {
                self.ready.insert(id);
                continue;
            }
            self.step(id, &mut batch).await?;
        }
        self.commit(batch).await
    }

    fn take_in(&mut self, incoming: Incoming, batch: &mut Batch) {
        match incoming {
            Incoming::LookedUp(id, found) => {
                self.busy.remove(&id);
                let at = self.clock.now().mono;
                if let Some(lane) = self.lanes.get_mut(&id) {
                    lane.addresses = Some(reigi_core::state::lane::Addresses { at, found });
                    self.ready.insert(id);
                }
            }
            Incoming::Answered(answer) => {
                self.busy.remove(&answer.lane);
                self.ready.extend(self.queue.pop_front());
                self.book(*answer, batch);
            }
            Incoming::Judged(id, lane_seq, written) => {
                self.busy.remove(&id);
                let unmoved = self
                    .lanes
                    .get(&id)
                    .is_some_and(|l| l.lane.lane_seq == lane_seq);
                if unmoved {
                    batch.extend(written);
                }
                self.ready.insert(id);
            }
        }
    }

    /// Asks one lane and prepares what it says.
    async fn step(&mut self, id: LaneId, batch: &mut Batch) -> Result<()> {
        let Some(lane) = self.lanes.get(&id) else {
            return Ok(());
        };
        let already = batch.items.iter().any(|item| item.lane == id);
        if already {
            // Its state is about to change: ask again after the commit.
            self.ready.insert(id);
            return Ok(());
        }
        let now = self.clock.now();
        if self.stopping && lane.lane.in_flight.is_none() {
            return Ok(());
        }
        match crawl::next(&self.house, lane, now) {
            Step::Sleep { until, pacing } => self.sleep(id, until, pacing),
            Step::Resolve(host) => {
                self.busy.insert(id, Busy::LookUp);
                let (fetcher, sender) = (Arc::clone(&self.fetcher), self.sender.clone());
                tokio::spawn(async move {
                    let found = fetcher.lookup(host.as_str()).await;
                    let _ = sender.send(Incoming::LookedUp(id, found));
                });
            }
            Step::Write(written) => {
                for w in &written {
                    if w.lane != LaneId::HOUSE && !self.lanes.contains_key(&w.lane) {
                        self.load(w.lane).await?;
                    }
                }
                batch.extend(written);
            }
            Step::Fetch(permit) => {
                if self.slots == 0 {
                    self.queue.push_back(id);
                } else {
                    self.slots -= 1;
                    batch.push_permit(id, *permit);
                }
            }
            Step::Judge(pending) => self.judge(id, &pending).await?,
            Step::Park { answer, url, host } => {
                let to = self.lane_of(&host).await?;
                if let Some(lane) = self.lanes.get(&id) {
                    batch.extend(crawl::park(lane, &answer, &url, to, now));
                }
            }
        }
        Ok(())
    }

    fn sleep(&mut self, id: LaneId, until: Option<Timestamp>, pacing: bool) {
        let now = self.clock.now();
        // What it waited for before has passed or changed: a stale alarm would keep the drive up.
        if let Some(at) = self.alarms.remove(&id) {
            self.waking.remove(&(at, id));
        }
        let idle = self
            .lanes
            .get(&id)
            .is_none_or(|l| l.due().is_none_or(|due| due > now.wall));
        if !pacing && idle {
            self.lanes.remove(&id);
            self.resting.remove(&id);
            return;
        }
        if pacing {
            self.resting.remove(&id);
        } else {
            self.resting.insert(id);
        }
        if let Some(until) = until {
            let at = now.mono_at(until);
            self.alarms.insert(id, at);
            self.waking.insert((at, id));
        }
    }

    /// Appends a batch durably, applies it, and sends what it permits. Where the rules changed
    /// meanwhile, what already happened is appended all the same; decisions are taken anew.
    pub(super) async fn commit(&mut self, mut batch: Batch) -> Result<()> {
        while !batch.items.is_empty() {
            match self.append(&batch).await {
                Ok(headers) => {
                    let settled = |i: &Item| matches!(i.event, Event::RobotsSettled(_));
                    let settled = batch.items.iter().filter(|i| settled(i)).map(|i| i.lane);
                    let settled: Vec<LaneId> = settled.collect();
                    self.act(batch, &headers);
                    // The body may have come through another lane.
                    for lane in settled {
                        self.load_rules(lane).await?;
                    }
                    return Ok(());
                }
                Err(Error::Stale { .. }) => {
                    self.reload().await?;
                    self.slots += batch.items.iter().filter(|i| i.permit.is_some()).count();
                    batch.items.retain(|item| item.happened);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn append(&mut self, batch: &Batch) -> Result<Vec<Header>> {
        let at = self.clock.now().wall;
        let mut seqs: BTreeMap<LaneId, u64> = BTreeMap::new();
        let mut drafts = Vec::with_capacity(batch.items.len());
        for item in &batch.items {
            let lane_seq = if item.lane == LaneId::HOUSE {
                0
            } else {
                let last = self.lanes.get(&item.lane).map_or(0, |l| l.lane.lane_seq);
                let seq = seqs.entry(item.lane).or_insert(last);
                *seq += 1;
                *seq
            };
            let bot = bot_of(&item.event)
                .and_then(|bot| self.house.facts.charters.get(bot))
                .map_or(0, |c| c.number);
            drafts.push(Draft {
                event: item.event.clone(),
                at,
                bot,
                lane: item.lane,
                lane_seq,
            });
        }
        let bodies: Vec<NewBody<'_>> = batch
            .bodies
            .iter()
            .map(|b| NewBody {
                digest: b.digest,
                bytes: &b.bytes,
                owner: &b.owner,
                at,
            })
            .collect();
        let before = self.house.facts.epoch;
        let raised = drafts.iter().filter_map(|d| d.event.epoch_raised()).max();
        let append = Append {
            segment: self.segment,
            drafts: &drafts,
            bodies: &bodies,
            guard: Some(before),
            raise_epoch: raised.filter(|epoch| *epoch > before),
        };
        let (house, lanes, store) = (&mut self.house, &mut self.lanes, self.store.clone());
        store
            .append_with(append, |headers| {
                let mut rows = Vec::new();
                for (header, draft) in headers.iter().zip(&drafts) {
                    rows.extend(house.apply(header, &draft.event));
                    if let Some(lane) = lanes.get_mut(&draft.lane) {
                        rows.extend(lane.apply(house, header, &draft.event));
                    }
                }
                last_of_each(rows)
            })
            .await
    }

    fn act(&mut self, batch: Batch, headers: &[Header]) {
        let touched: BTreeSet<LaneId> = batch.items.iter().map(|item| item.lane).collect();
        for (item, header) in batch.items.into_iter().zip(headers) {
            self.tally.count(&item.event);
            if let Some(permit) = item.permit {
                self.send(item.lane, header.seq, permit);
            }
        }
        self.ready
            .extend(touched.into_iter().filter(|lane| *lane != LaneId::HOUSE));
    }
}

fn bot_of(event: &Event) -> Option<&str> {
    match event {
        Event::CharterAdopted(e) => Some(&e.bot),
        Event::LedgerAdopted(e) => Some(&e.bot),
        Event::TargetEntered(e) => Some(&e.bot),
        Event::TargetLeft(e) => Some(&e.bot),
        Event::VisitOpened(e) => Some(&e.bot),
        Event::Admitted(e) => Some(&e.bot),
        Event::Observed(e) => Some(&e.bot),
        Event::Changed(e) => Some(&e.bot),
        Event::VisitClosed(e) => Some(&e.bot),
        Event::RobotsSettled(e) => Some(&e.bot),
        _ => None,
    }
}

/// Of several changes of one row only the last one counts.
fn last_of_each(rows: Vec<RowChange>) -> Vec<RowChange> {
    let mut last: BTreeMap<_, RowChange> = BTreeMap::new();
    for row in rows {
        let key = match &row {
            RowChange::Put(row) => (row.table, row.lane, row.key.clone()),
            RowChange::Drop { table, lane, key } => (*table, *lane, key.clone()),
        };
        last.insert(key, row);
    }
    last.into_values().collect()
}
