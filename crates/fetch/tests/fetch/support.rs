//! What the tests need around a fetcher: a clock that can be moved on, permits as the gate mints
//! them, and a listener that plays bytes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use reigi_core::charter::{Charter, RequestKind, RobotsMeaning};
use reigi_core::digest::Digest;
use reigi_core::event::{BodyRef, LaneId, Seq, Validators, Version};
use reigi_core::fetched::{Fetch, Fetched};
use reigi_core::gate::{Ask, Permit, Scene, decide};
use reigi_core::host::{Host, Origin};
use reigi_core::ledger::{Target, TermsCheck, TermsVerdict};
use reigi_core::state::lane::{Addresses, robots_key};
use reigi_core::state::{
    House, LaneState, PageState, RobotsRecord, RobotsVerdict, TargetKey, TargetState,
};
use reigi_core::time::{Clock, Mono, Now, Timestamp};
use reigi_fetch::{Fetcher, HostsFile, Names, Tls};

pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Runs in real time from 2026-11-30T03:00:00Z; can be moved on.
pub(crate) struct TestClock {
    started: Instant,
    moved_us: AtomicI64,
}

impl TestClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            started: Instant::now(),
            moved_us: AtomicI64::new(0),
        })
    }

    pub(crate) fn move_on(&self, by: Duration) {
        self.moved_us
            .fetch_add(by.as_micros() as i64, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Now {
        let us = self.started.elapsed().as_micros() as i64 + self.moved_us.load(Ordering::SeqCst);
        Now {
            wall: Timestamp::from_micros(1_796_007_600_000_000 + us),
            mono: Mono::from_micros(10_000_000 + us),
        }
    }
}

/// A request that the gate is asked about.
#[derive(Clone)]
pub(crate) struct Wanted {
    pub(crate) url: String,
    pub(crate) kind: RequestKind,
    pub(crate) addresses: Vec<IpAddr>,
    pub(crate) validators: Validators,
    /// The window opens this much later; less than the gate's lead.
    pub(crate) opens_in: Duration,
    pub(crate) timeout: Duration,
    pub(crate) max_bytes: u64,
}

impl Wanted {
    pub(crate) fn page(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            kind: RequestKind::Page,
            addresses: vec![LOOPBACK],
            validators: Validators::default(),
            opens_in: Duration::ZERO,
            timeout: Duration::from_secs(10),
            max_bytes: 10_000_000,
        }
    }

    /// The permit, by the gate, under the example charter.
    pub(crate) fn permit(&self, clock: &dyn Clock) -> Permit {
        let text = include_str!("../../../../charters/blueai-change.toml");
        let mut charter = Charter::parse("blueai-change.toml", text).unwrap();
        charter.limits.timeout = self.timeout;
        charter.limits.max_bytes = self.max_bytes;
        charter.robots.max_bytes = self.max_bytes;
        let url: url::Url = self.url.parse().unwrap();
        let key = TargetKey {
            bot: charter.bot.clone(),
            id: "site".to_owned(),
        };
        let now = clock.now();
        let target = self.target(&key, now);
        let mut lane = LaneState::new(LaneId(1), Host::of(&url).unwrap(), 1, now.mono);
        lane.targets.insert(key.clone(), target.clone());
        lane.addresses = Some(Addresses {
            at: now.mono,
            found: Ok(self.addresses.clone()),
        });
        let agent = charter.agent(RequestKind::Robots).clone();
        let origin = Origin::of(&url);
        let record = RobotsRecord {
            answered: Some(Seq(1)),
            at: now.wall,
            visit: (key.clone(), 1),
            verdict: RobotsVerdict::Means {
                meaning: RobotsMeaning::NoRules,
                why: "HTTP 404".to_owned(),
            },
        };
        let robots = robots_key(origin.as_str(), &agent.user_agent);
        lane.lane.robots.insert(robots, record);
        if !self.opens_in.is_zero() {
            let ended =
                self.opens_in.as_micros() as i64 - charter.pace.interval_min.as_micros() as i64;
            lane.lane.quiet_since = Some(Now {
                wall: Timestamp::from_micros(now.wall.micros() + ended),
                mono: Mono::from_micros(now.mono.micros() + ended),
            });
        }
        let house = House::default();
        let scene = Scene {
            house: &house,
            charter: &charter,
            lane: &lane,
            target: Some(&target),
            now,
        };
        let ask = Ask {
            target: key,
            visit: 1,
            kind: self.kind,
            listed: self.url.clone(),
            answers_for: (self.kind == RequestKind::Robots).then_some(origin),
            url,
            agent: charter.agent(self.kind).clone(),
            cause: None,
            hop: 0,
            validators: self.validators.clone(),
            draw: charter.pace.interval_min,
            pages: 0,
        };
        decide(&scene, ask).unwrap_or_else(|no| panic!("{}: {no:?}", self.url))
    }

    fn target(&self, key: &TargetKey, now: Now) -> TargetState {
        let row = Target {
            id: key.id.clone(),
            name: "site".to_owned(),
            urls: vec![self.url.clone()],
            category: None,
            provider: None,
            every: None,
            terms: Some(TermsCheck {
                url: self.url.clone(),
                checked_by: "sato".to_owned(),
                checked_on: "2026-11-01".to_owned(),
                verdict: TermsVerdict::Allowed,
            }),
            include: Vec::new(),
            ignore: Vec::new(),
            notes: None,
        };
        let version = Version {
            body: BodyRef {
                digest: Digest::of(b"body"),
                bytes: 4,
            },
            text: None,
            content_type: None,
            charset: None,
            validators: self.validators.clone(),
            signals: Vec::new(),
        };
        let page = PageState {
            latest: Some(version),
            ..PageState::default()
        };
        TargetState {
            key: key.clone(),
            row,
            left: false,
            due: now.wall,
            anchor_day: None,
            last_visit: None,
            failures: 0,
            pause: None,
            pages: [(self.url.clone(), page)].into(),
        }
    }
}

/// A fetcher that finds every name below `.test` at `at`.
pub(crate) fn fetcher(clock: &Arc<TestClock>, at: SocketAddr) -> Fetcher {
    fetcher_with(clock, &format!("*.test {at}"), Tls::system())
}

/// A fetcher with this hosts file and these roots.
pub(crate) fn fetcher_with(clock: &Arc<TestClock>, hosts: &str, tls: Tls) -> Fetcher {
    let names = Names {
        hosts: HostsFile::parse(hosts).unwrap(),
        // Nobody answers there: no test asks a real name server.
        resolver: Some(SocketAddr::new(LOOPBACK, 9)),
    };
    let clock: Arc<dyn Clock> = Arc::clone(clock) as Arc<dyn Clock>;
    Fetcher::new(clock, names, tls).unwrap()
}

/// Fetches and expects that a request was made.
pub(crate) async fn fetch(clock: &Arc<TestClock>, at: SocketAddr, wanted: &Wanted) -> Fetched {
    done(&fetcher(clock, at), clock, wanted).await
}

/// Fetches with `fetcher` and expects that a request was made.
pub(crate) async fn done(fetcher: &Fetcher, clock: &TestClock, wanted: &Wanted) -> Fetched {
    match fetcher.fetch(wanted.permit(clock)).await {
        Fetch::Done(fetched) => *fetched,
        Fetch::NotSent { why, .. } => panic!("{}: not sent: {why}", wanted.url),
    }
}
