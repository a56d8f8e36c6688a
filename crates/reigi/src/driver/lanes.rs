//! Lanes in memory: loaded when due, let go when idle. An idle lane costs nothing here.

use std::collections::BTreeMap;
use std::sync::Arc;

use reigi_core::digest::Digest;
use reigi_core::event::LaneId;
use reigi_core::host::Host;
use reigi_core::state::{Change, Lane, LaneState, RobotsVerdict, Table, TargetState};
use reigi_core::time::Clock as _;
use reigi_robots::Rules;

use super::{Driver, LANES_MAX, Result};

impl Driver {
    /// Loads lanes that are due; tells whether it found any.
    pub(super) async fn load_due(&mut self) -> Result<bool> {
        let room = LANES_MAX.saturating_sub(self.lanes.len());
        let now = self.clock.now().wall;
        if room == 0 || self.stopping || self.not_before.is_some_and(|at| now < at) {
            return Ok(false);
        }
        let due = self.store.due_lanes(now, LANES_MAX).await?;
        let fresh: Vec<LaneId> = due
            .into_iter()
            .filter(|id| !self.lanes.contains_key(id))
            .take(room)
            .collect();
        for id in &fresh {
            self.load(*id).await?;
        }
        // Nothing else is due before this: no need to ask the store each turn.
        self.not_before = match fresh.is_empty() {
            true => Some(now.plus(std::time::Duration::from_millis(500))),
            false => None,
        };
        Ok(!fresh.is_empty())
    }

    /// Loads one lane and makes it ready.
    pub(super) async fn load(&mut self, id: LaneId) -> Result<()> {
        if let Some(lane) =
            read_lane(&self.store, id, (self.segment, self.clock.now().mono)).await?
        {
            self.lanes.insert(id, lane);
            self.load_rules(id).await?;
            self.ready.insert(id);
        }
        Ok(())
    }

    /// Parses the robots bodies that the lane's records name and that are not parsed yet.
    pub(super) async fn load_rules(&mut self, id: LaneId) -> Result<()> {
        let Some(lane) = self.lanes.get(&id) else {
            return Ok(());
        };
        let wanted: Vec<Digest> = lane
            .lane
            .robots
            .values()
            .filter_map(|record| match record.verdict {
                RobotsVerdict::Rules(digest) => Some(digest),
                RobotsVerdict::Means { .. } => None,
            })
            .filter(|digest| !lane.rules.contains_key(digest))
            .collect();
        for digest in wanted {
            let Some(body) = self.store.get_body(digest).await? else {
                continue;
            };
            if let Some(lane) = self.lanes.get_mut(&id) {
                lane.rules.insert(digest, Arc::new(Rules::parse(&body)));
            }
        }
        Ok(())
    }

    /// Reads every loaded lane and the house anew: somebody else appended.
    pub(super) async fn reload(&mut self) -> Result<()> {
        self.house = crate::house::reload(&self.store, &self.house).await?;
        let ids: Vec<LaneId> = self.lanes.keys().copied().collect();
        for id in ids {
            let Some(old) = self.lanes.remove(&id) else {
                continue;
            };
            if let Some(mut lane) = read_lane(&self.store, id, old.taken_over).await? {
                (lane.rules, lane.addresses) = (old.rules, old.addresses);
                self.lanes.insert(id, lane);
                self.ready.insert(id);
            }
        }
        self.not_before = None;
        Ok(())
    }

    /// The lane of a host, opened if it has none.
    pub(super) async fn lane_of(&mut self, host: &Host) -> Result<LaneId> {
        let known = self
            .lanes
            .values()
            .find(|l| l.lane.host == *host)
            .map(|l| l.lane.id);
        if let Some(id) = known {
            return Ok(id);
        }
        let rows = self.store.rows_by_key(Table::Lane, host.as_str()).await?;
        if let Some(row) = rows.first() {
            let id = row.lane;
            self.load(id).await?;
            return Ok(id);
        }
        let id = self.house.next_lane();
        let mut batch = super::turn::Batch::default();
        batch.push(
            id,
            reigi_core::event::LaneOpened {
                host: host.as_str().to_owned(),
            },
        );
        let fresh = LaneState::new(id, host.clone(), self.segment, self.clock.now().mono);
        self.lanes.insert(id, fresh);
        self.commit(batch).await?;
        Ok(id)
    }
}

/// Reads a lane's rows; `None`: no such lane.
pub(crate) async fn read_lane(
    store: &reigi_store::Store,
    id: LaneId,
    taken_over: (u64, reigi_core::time::Mono),
) -> Result<Option<LaneState>> {
    let mut lane: Option<Lane> = None;
    let mut targets = BTreeMap::new();
    let mut changes = BTreeMap::new();
    for row in store.rows_of_lane(id).await? {
        match row.table {
            Table::Lane => lane = Some(read(&row)?),
            Table::Target => {
                let target: TargetState = read(&row)?;
                targets.insert(target.key.clone(), target);
            }
            Table::Change => {
                let change: Change = read(&row)?;
                changes.insert(change.what.change, change);
            }
            Table::House => {}
        }
    }
    Ok(lane.map(|lane| LaneState {
        lane,
        targets,
        changes,
        rules: BTreeMap::new(),
        addresses: None,
        taken_over,
    }))
}

/// A row of another shape than this program writes means the projections must be rebuilt.
pub(crate) fn read<T: serde::de::DeserializeOwned>(row: &reigi_core::state::Row) -> Result<T> {
    row.read()
        .map_err(|e| reigi_store::Error::row(row.table.name(), &row.key, &e.to_string()))
}
