//! Writing into the journal beside a driver: what a person decides, one entry at a time.
//!
//! A driver may run meanwhile. Each entry is decided on the state as its own transaction sees it,
//! and entries that change the rules raise the epoch, so that the driver reads them before its
//! next request (DECISIONS 14).

use reigi_core::event::{Event, LaneId, SegmentOpened};
use reigi_core::journal::{Draft, Header, SegmentId};
use reigi_core::state::house::Zone;
use reigi_core::state::{House, LaneState};
use reigi_core::time::{Clock as _, Timestamp};
use reigi_store::Store;

use crate::clock::SystemClock;
use crate::exit::Failure;
use crate::house::{Home, facts_in, lane_in};

/// A segment of the journal that belongs to one command.
pub(crate) struct Writer {
    /// The store.
    pub(crate) store: Store,
    segment: SegmentId,
    zone: Zone,
}

impl Writer {
    /// Opens the store of a house, and a segment in the name of `role`.
    pub(crate) async fn open(home: &Home, role: &str) -> Result<Self, Failure> {
        let store = Store::open(&home.data()).await?;
        let now = SystemClock::new().now();
        let opened = |heads| SegmentOpened {
            program: format!("reigi {}", env!("CARGO_PKG_VERSION")),
            role: role.to_owned(),
            heads,
            clock: now,
        };
        let segment = store.begin_segment(opened, now.wall).await?;
        Ok(Self {
            store,
            segment,
            zone: Zone(home.file.zone.clone()),
        })
    }

    /// Appends what `decide` makes of the house and of the lane (`None`: there is none). `bot`:
    /// whom the entry is about, if it is about one.
    pub(crate) async fn append<D>(
        &self,
        lane: LaneId,
        bot: Option<&str>,
        decide: D,
    ) -> Result<Header, Failure>
    where
        D: FnOnce(&House, Option<&LaneState>) -> Result<Event, Failure>,
    {
        let at = now();
        let decided = |rows: Vec<_>| {
            let mut house = House {
                facts: facts_in(&rows)?,
                zone: self.zone.clone(),
                ..House::default()
            };
            let mut state = lane_in(&rows)?;
            let event = decide(&house, state.as_ref())?;
            let lane_seq = match &state {
                Some(state) => state.lane.lane_seq + 1,
                None => 0,
            };
            let lane = if state.is_some() { lane } else { LaneId::HOUSE };
            let number = bot
                .and_then(|bot| house.facts.charters.get(bot))
                .map_or(0, |c| c.number);
            let draft = Draft {
                event: event.clone(),
                at,
                bot: number,
                lane,
                lane_seq,
            };
            let fold = move |header: &Header| {
                let mut changes = house.apply(header, &event);
                changes.extend(
                    state
                        .iter_mut()
                        .flat_map(|lane| lane.apply(&house, header, &event)),
                );
                changes
            };
            Ok::<_, Failure>((draft, fold))
        };
        self.store.append_decided(self.segment, lane, decided).await
    }
}

/// The wall clock.
pub(crate) fn now() -> Timestamp {
    SystemClock::new().now().wall
}
