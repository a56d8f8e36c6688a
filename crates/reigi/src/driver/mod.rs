//! The driver: the only place where time, disk and net meet.
//!
//! It asks [`reigi_core::crawl::next`] for each lane that may do something, appends what it says
//! in one durable commit for many lanes, and only then looks up names and sends requests. What
//! comes back is journalled before anything is decided on it. It decides nothing itself.

mod adopt;
mod answer;
mod lanes;
mod turn;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use reigi_core::event::{ClockStepped, Event, LaneId, SegmentOpened, Seq, StepCause};
use reigi_core::journal::SegmentId;
use reigi_core::state::{House, LaneState};
use reigi_core::time::{Clock, Mono, Now, Timestamp};
use reigi_fetch::Fetcher;
use reigi_store::Store;
use tokio::sync::mpsc;

use crate::clock::SystemClock;
use answer::Answer;
pub(crate) use lanes::read as read_row;
use turn::Batch;

/// Requests under way at once over all lanes.
const IN_FLIGHT_MAX: usize = 2_000;
/// Lanes held in memory at once.
pub(crate) const LANES_MAX: usize = 20_000;
/// A wall step below this is no step.
const STEP_MIN: Duration = Duration::from_secs(1);
/// A forward step of the system's clock from which cadences wait for a person (DECISIONS 13).
const STEP_HOLD: Duration = Duration::from_secs(60);

/// Why a drive ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// Nothing was due any more.
    Idle,
    /// Somebody asked it to stop; requests under way were finished.
    Stopped,
}

/// What a drive did, for progress lines and the closing table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Visits closed.
    pub(crate) visits: u64,
    /// Requests sent, robots.txt included.
    pub(crate) requests: u64,
    /// Observations by word (`unchanged`, `changed`, `held`, …).
    pub(crate) observations: BTreeMap<String, u64>,
    /// Changes that wait for review now.
    pub(crate) changes: u64,
    /// Lanes at work.
    pub(crate) lanes: usize,
    /// Host of the last answer.
    pub(crate) host: String,
    /// Lateness of sends behind the earliest allowed moment, microseconds.
    pub(crate) late_us: Vec<u32>,
}

/// Something that came in.
enum Incoming {
    /// A look-up ended.
    LookedUp(LaneId, std::result::Result<Vec<std::net::IpAddr>, String>),
    /// A request ended.
    Answered(Box<Answer>),
    /// An answer was judged.
    Judged(LaneId, u64, Vec<reigi_core::crawl::Written>),
}

/// One house being driven.
pub(crate) struct Driver {
    house: House,
    store: Store,
    segment: SegmentId,
    clock: Arc<SystemClock>,
    fetcher: Arc<Fetcher>,
    lanes: HashMap<LaneId, LaneState>,
    ready: BTreeSet<LaneId>,
    waking: BTreeSet<(Mono, LaneId)>,
    /// The alarm of each lane in `waking`.
    alarms: HashMap<LaneId, Mono>,
    busy: HashMap<LaneId, Busy>,
    read: HashMap<LaneId, (Seq, Arc<reigi_core::crawl::observe::Reading>)>,
    /// Requests that may still be sent at once, and lanes that wait for one.
    slots: usize,
    queue: VecDeque<LaneId>,
    inbox: Vec<Incoming>,
    /// Lanes kept although nothing may be asked of them now (paused, held).
    resting: BTreeSet<LaneId>,
    /// No other lane is due before this.
    not_before: Option<Timestamp>,
    /// Highest lane number given away by this driver.
    opened: u64,
    incoming: mpsc::UnboundedReceiver<Incoming>,
    sender: mpsc::UnboundedSender<Incoming>,
    last_clock: Now,
    tally: Tally,
    stopping: bool,
}

/// What a lane is waiting for outside the journal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Busy {
    LookUp,
    Request,
    Judgement,
}

/// Anything that ends a drive for good.
pub(crate) type Result<T> = std::result::Result<T, reigi_store::Error>;

impl Driver {
    /// Takes over the house: opens a segment of the journal and reads the state.
    pub(crate) async fn start(
        store: Store,
        house: House,
        clock: Arc<SystemClock>,
        fetcher: Arc<Fetcher>,
        role: &str,
    ) -> Result<Self> {
        let now = clock.now();
        let role = role.to_owned();
        let opened = move |heads| SegmentOpened {
            program: format!("reigi {}", env!("CARGO_PKG_VERSION")),
            role,
            heads,
            clock: now,
        };
        let segment = store.begin_segment(opened, now.wall).await?;
        let (sender, incoming) = mpsc::unbounded_channel();
        Ok(Self {
            house,
            store,
            segment,
            clock,
            fetcher,
            lanes: HashMap::new(),
            ready: BTreeSet::new(),
            waking: BTreeSet::new(),
            alarms: HashMap::new(),
            busy: HashMap::new(),
            read: HashMap::new(),
            slots: IN_FLIGHT_MAX,
            queue: VecDeque::new(),
            inbox: Vec::new(),
            resting: BTreeSet::new(),
            not_before: None,
            opened: 0,
            incoming,
            sender,
            last_clock: now,
            tally: Tally::default(),
            stopping: false,
        })
    }

    /// The tally so far.
    pub(crate) fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Drives until nothing is due any more, or until told to stop. `watch` is called after each turn.
    pub(crate) async fn drive(
        &mut self,
        stop: &tokio::sync::Notify,
        watch: &mut dyn FnMut(&Tally),
    ) -> Result<Ended> {
        loop {
            self.mind_the_clock().await?;
            let _ = self.load_due().await?;
            self.turn().await?;
            self.tally.lanes = self.lanes.len();
            watch(&self.tally);
            if self.stopping && self.busy.is_empty() {
                return Ok(Ended::Stopped);
            }
            if !self.ready.is_empty() {
                continue;
            }
            // Ask the store once more: a lane may have fallen due since the last look.
            if self.is_idle() {
                self.not_before = None;
            }
            if self.is_idle() && !self.load_due().await? {
                return Ok(Ended::Idle);
            }
            self.wait(stop).await;
        }
    }

    /// Nothing under way, and no promise's wait is running.
    fn is_idle(&self) -> bool {
        let waits = self
            .waking
            .iter()
            .any(|(_, lane)| !self.resting.contains(lane));
        self.busy.is_empty() && self.inbox.is_empty() && self.ready.is_empty() && !waits
    }

    /// Sleeps until something comes in, a lane wakes, or somebody stops the drive.
    async fn wait(&mut self, stop: &tokio::sync::Notify) {
        let now = self.clock.now();
        let nap = match self.waking.first() {
            Some((at, _)) => at.since(now.mono).min(Duration::from_secs(1)),
            None => Duration::from_secs(1),
        };
        tokio::select! {
            incoming = self.incoming.recv() => {
                let mut next = incoming;
                while let Some(incoming) = next {
                    self.inbox.push(incoming);
                    next = self.incoming.try_recv().ok();
                }
            }
            () = tokio::time::sleep(nap) => {}
            () = stop.notified() => self.stopping = true,
        }
        let now = self.clock.now().mono;
        while let Some((at, lane)) = self.waking.first().copied()
            && at <= now
        {
            self.waking.remove(&(at, lane));
            self.alarms.remove(&lane);
            self.ready.insert(lane);
        }
    }

    /// Journals a step of the wall clock (DECISIONS 13).
    async fn mind_the_clock(&mut self) -> Result<()> {
        let now = self.clock.now();
        let expected = self.last_clock.wall_at(now.mono);
        let (ahead, behind) = (now.wall.since(expected), expected.since(now.wall));
        self.last_clock = now;
        if ahead.max(behind) < STEP_MIN {
            return Ok(());
        }
        let hold = ahead >= STEP_HOLD;
        let step = ClockStepped {
            expected,
            found: now.wall,
            cause: StepCause::System,
            hold,
        };
        self.append_house(step.into()).await
    }

    /// Turns the demo's calendar, forward only. Only while nothing is in flight and no pacing wait
    /// is pending.
    pub(crate) async fn turn_calendar(&mut self, to: Timestamp) -> Result<()> {
        let expected = self.clock.now().wall;
        if to <= expected {
            return Ok(());
        }
        self.clock.turn_to(to);
        self.last_clock = self.clock.now();
        self.not_before = None;
        let step = ClockStepped {
            expected,
            found: self.last_clock.wall,
            cause: StepCause::Calendar,
            hold: false,
        };
        self.append_house(step.into()).await
    }

    /// When the next lane is due; `None`: nothing is planned.
    pub(crate) async fn next_due(&self) -> Result<Option<Timestamp>> {
        self.store.next_due().await
    }

    async fn append_house(&mut self, event: Event) -> Result<()> {
        let mut batch = Batch::default();
        batch.push(LaneId::HOUSE, event);
        self.commit(batch).await
    }
}
