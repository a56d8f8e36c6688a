//! Adoption: charters and ledgers on disk come into force as entries of the journal, so that an
//! old request can be judged by its own version (DECISIONS 7).

use std::collections::{BTreeMap, HashMap};

use reigi_core::event::{
    CharterAdopted, LaneId, LaneOpened, LedgerAdopted, TargetEntered, TargetLeft,
};
use reigi_core::host::Host;
use reigi_core::ledger::Target;
use reigi_core::state::{LaneState, Table, TargetState};
use reigi_core::time::Clock as _;
use url::Url;

use super::turn::Batch;
use super::{Driver, Result, lanes};
use crate::house::Bot;

/// Entries of one commit while adopting.
const CHUNK: usize = 10_000;

impl Driver {
    /// Adopts what changed since the last adoption; nothing is written where nothing did.
    pub(crate) async fn adopt(&mut self, bots: &[Bot]) -> Result<()> {
        for bot in bots {
            self.adopt_charter(bot).await?;
            let in_force = self
                .house
                .facts
                .charters
                .get(&bot.charter.bot)
                .and_then(|c| c.ledger);
            if in_force != Some(bot.ledger.digest) {
                self.adopt_ledger(bot).await?;
            }
        }
        self.lanes.clear();
        self.ready.clear();
        Ok(())
    }

    async fn adopt_charter(&mut self, bot: &Bot) -> Result<()> {
        let charter = &bot.charter;
        let before = self.house.facts.charters.get(&charter.bot);
        if before.is_some_and(|c| c.digest == charter.digest) {
            return Ok(());
        }
        let adopted = CharterAdopted {
            bot: charter.bot.clone(),
            version: before.map_or(0, |c| c.version) + 1,
            digest: charter.digest,
            text: charter.text.clone(),
            zone: self.house.zone.0.iana_name().unwrap_or("UTC").to_owned(),
            epoch: self.house.facts.epoch + 1,
        };
        let mut batch = Batch::default();
        batch.push(LaneId::HOUSE, adopted);
        self.commit(batch).await
    }

    async fn adopt_ledger(&mut self, bot: &Bot) -> Result<()> {
        let name = &bot.charter.bot;
        let (mut lanes, mut known) = (HashMap::new(), BTreeMap::new());
        for row in self.store.rows_of(Table::Lane).await? {
            lanes.insert(row.key.clone(), row.lane);
        }
        for row in self.store.rows_of(Table::Target).await? {
            let target: TargetState = lanes::read(&row)?;
            if target.key.bot == *name && !target.left {
                known.insert(target.key.id.clone(), (row.lane, target.row));
            }
        }
        let epoch = self.house.facts.epoch + 1;
        let mut batch = Batch::default();
        for target in &bot.ledger.targets {
            let Some(host) = host_of(target) else {
                continue;
            };
            let lane = self.lane_for(&host, &mut lanes, &mut batch);
            match known.remove(&target.id) {
                Some((at, row)) if at == lane && row == *target => continue,
                Some((at, _)) if at != lane => {
                    self.leave(name, &target.id, at, epoch, &mut batch).await?
                }
                _ => {}
            }
            self.hold_lane(lane).await?;
            let due = self.clock.now().wall;
            let entered = TargetEntered {
                bot: name.clone(),
                row: target.clone(),
                due,
                epoch,
            };
            batch.push(lane, entered);
            if batch.len() >= CHUNK {
                self.commit(std::mem::take(&mut batch)).await?;
            }
        }
        for (id, (lane, _)) in known {
            self.leave(name, &id, lane, epoch, &mut batch).await?;
        }
        let rows = u64::try_from(bot.ledger.targets.len()).unwrap_or(u64::MAX);
        let adopted = LedgerAdopted {
            bot: name.clone(),
            digest: bot.ledger.digest,
            rows,
            epoch,
        };
        batch.push(LaneId::HOUSE, adopted);
        self.commit(batch).await
    }

    async fn leave(
        &mut self,
        bot: &str,
        id: &str,
        lane: LaneId,
        epoch: u64,
        batch: &mut Batch,
    ) -> Result<()> {
        self.hold_lane(lane).await?;
        batch.push(
            lane,
            TargetLeft {
                bot: bot.to_owned(),
                target: id.to_owned(),
                epoch,
            },
        );
        Ok(())
    }

    /// Loads a lane that entries are about to be written to.
    async fn hold_lane(&mut self, lane: LaneId) -> Result<()> {
        if !self.lanes.contains_key(&lane) {
            self.load(lane).await?;
        }
        Ok(())
    }

    /// The lane of a host; a new host gets its number here.
    fn lane_for(
        &mut self,
        host: &Host,
        lanes: &mut HashMap<String, LaneId>,
        batch: &mut Batch,
    ) -> LaneId {
        if let Some(lane) = lanes.get(host.as_str()) {
            return *lane;
        }
        let id = LaneId(self.house.next_lane().0.max(self.opened + 1));
        self.opened = id.0;
        lanes.insert(host.as_str().to_owned(), id);
        let fresh = LaneState::new(id, host.clone(), self.segment, self.clock.now().mono);
        self.lanes.insert(id, fresh);
        batch.push(
            id,
            LaneOpened {
                host: host.as_str().to_owned(),
            },
        );
        id
    }
}

fn host_of(target: &Target) -> Option<Host> {
    Host::of(&Url::parse(target.urls.first()?).ok()?)
}
