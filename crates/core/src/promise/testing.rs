//! Support for the promises' tests: a stage that `hold` looks at, and a journal that `prove` reads.
//!
//! Both play the example charter: bot `blueai-change`, target `school` with two pages on one host.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use super::{Finding, Promise, Seen, Versions};
use crate::audit::versions::NoEvidence;
use crate::charter::{Charter, RequestKind};
use crate::digest::Digest;
use crate::event::{
    Admitted, Answered, BodyRef, Cause, Changed, CharterAdopted, Decision, Event, LaneId,
    Observation, Observed, Released, ReleasedItem, Reviewed, RobotsBasis, SegmentOpened, Seq,
    TargetEntered, Validators, VisitClosed, VisitOpened,
};
use crate::fetched::{Outcome, WireText};
use crate::gate::{Ask, Scene, Verdict};
use crate::host::Host;
use crate::journal::{Entry, Head, Header, Sealed};
use crate::ledger::{Target, TermsCheck, TermsVerdict};
use crate::state::{House, LaneState, TargetKey, TargetState};
use crate::time::{Mono, Now, Timestamp};

pub(crate) const BOT: &str = "blueai-change";
pub(crate) const TARGET: &str = "school";
pub(crate) const PAGE: &str = "https://school.example.jp/price";
pub(crate) const OTHER_PAGE: &str = "https://school.example.jp/terms";
pub(crate) const LANE: LaneId = LaneId(1);

/// The example charter.
pub(crate) fn charter() -> Charter {
    let text = include_str!("../../../../charters/blueai-change.toml");
    Charter::parse("blueai-change.toml", text).expect("the example charter is valid")
}

/// The example row, its terms checked on 2026-11-01.
pub(crate) fn row() -> Target {
    Target {
        id: TARGET.to_owned(),
        name: "学校".to_owned(),
        urls: vec![PAGE.to_owned(), OTHER_PAGE.to_owned()],
        category: None,
        provider: None,
        every: None,
        terms: Some(TermsCheck {
            url: "https://school.example.jp/kiyaku".to_owned(),
            checked_by: "sato".to_owned(),
            checked_on: "2026-11-01".to_owned(),
            verdict: TermsVerdict::Allowed,
        }),
        include: Vec::new(),
        ignore: Vec::new(),
        notes: None,
    }
}

/// 2026-11-30T03:00:00Z on both clocks, `seconds` later.
pub(crate) fn at(seconds: f64) -> Now {
    let micros = (seconds * 1e6) as i64;
    Now {
        wall: Timestamp::from_micros(1_796_007_600_000_000 + micros),
        mono: Mono::from_micros(1_000_000_000 + micros),
    }
}

/// What `hold` looks at.
pub(crate) struct Stage {
    pub(crate) house: House,
    pub(crate) charter: Charter,
    pub(crate) lane: LaneState,
    pub(crate) target: Option<TargetState>,
    pub(crate) now: Now,
}

impl Stage {
    /// A lane in the middle of a visit, nothing against a request.
    pub(crate) fn new() -> Self {
        let host = Host::parse("school.example.jp").expect("a host");
        let target = TargetState {
            key: key(),
            row: row(),
            left: false,
            due: at(0.0).wall,
            anchor_day: None,
            last_visit: None,
            failures: 0,
            pause: None,
            pages: Default::default(),
        };
        let mut lane = LaneState::new(LANE, host, 1, at(-3600.0).mono);
        lane.targets.insert(key(), target.clone());
        lane.lane.visit = Some(crate::state::Visit {
            id: 1,
            target: key(),
            opened: at(0.0).wall,
            due: at(0.0).wall,
            pages: 0,
            at: 0,
            answer: None,
            redirect: None,
            waiting: None,
            failed: false,
            held: None,
        });
        Self {
            house: House::default(),
            charter: charter(),
            lane,
            target: Some(target),
            now: at(0.0),
        }
    }

    /// A request for a page.
    pub(crate) fn ask(&self, url: &str) -> Ask {
        Ask {
            target: key(),
            visit: 1,
            kind: RequestKind::Page,
            url: Url::parse(url).expect("a URL"),
            listed: url.to_owned(),
            answers_for: None,
            agent: self.charter.identity.agent.clone(),
            cause: None,
            hop: 0,
            validators: Validators::default(),
            draw: self.charter.pace.interval_min,
            pages: 0,
        }
    }

    pub(crate) fn hold(&self, promise: &dyn Promise, ask: &Ask) -> Verdict {
        let scene = Scene {
            house: &self.house,
            charter: &self.charter,
            lane: &self.lane,
            target: self.target.as_ref(),
            now: self.now,
        };
        promise.hold(&scene, ask)
    }
}

pub(crate) fn key() -> TargetKey {
    TargetKey {
        bot: BOT.to_owned(),
        id: TARGET.to_owned(),
    }
}

/// `pass`, `wait`, `hold` or `refuse`.
pub(crate) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::NotBefore(_) => "wait",
        Verdict::Hold { .. } => "hold",
        Verdict::Refuse { .. } => "refuse",
    }
}

/// A journal in the making: entries as `prove` sees them. It begins with the charter's and the
/// row's adoption (entries 1 and 2).
pub(crate) struct History {
    pub(crate) charter: Charter,
    pub(crate) now: Now,
    pub(crate) segment: u64,
    pub(crate) bodies: HashMap<Digest, Vec<u8>>,
    /// Charters adopted after the first one.
    later: Vec<Arc<Charter>>,
    entries: Vec<(Header, Event)>,
    visits: u64,
}

impl History {
    pub(crate) fn new() -> Self {
        Self::under(|_| {})
    }

    /// A history under the example charter as changed by `change`.
    pub(crate) fn under(change: impl FnOnce(&mut Charter)) -> Self {
        let mut charter = charter();
        change(&mut charter);
        Self::empty(charter).adopted()
    }

    /// A history that begins with its segment's opening, as a stored journal does.
    pub(crate) fn begun() -> Self {
        let mut history = Self::empty(charter());
        history.begin_segment(1, Vec::new());
        history.adopted()
    }

    /// Opens a segment; `heads`: those of the segments before.
    pub(crate) fn begin_segment(&mut self, segment: u64, heads: Vec<Head>) -> Seq {
        self.segment = segment;
        let clock = self.now;
        self.house(SegmentOpened {
            program: "reigi 0.1.0".to_owned(),
            role: "run".to_owned(),
            heads,
            clock,
        })
    }

    fn empty(charter: Charter) -> Self {
        Self {
            now: at(0.0),
            segment: 1,
            bodies: HashMap::new(),
            later: Vec::new(),
            entries: Vec::new(),
            visits: 0,
            charter,
        }
    }

    fn adopted(self) -> Self {
        let mut history = self;
        let adopted = adoption(&history.charter);
        history.house(adopted);
        history.enter(row());
        history
    }

    /// Adopts the example charter as changed by `change`, for its own bot or another one. Permits
    /// under it are the caller's to make.
    pub(crate) fn adopt(&mut self, change: impl FnOnce(&mut Charter)) -> Arc<Charter> {
        let mut charter = charter();
        change(&mut charter);
        charter.digest = Digest::of(format!("{charter:?}").as_bytes());
        let charter = Arc::new(charter);
        self.later.push(Arc::clone(&charter));
        self.house(adoption(&charter));
        charter
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, seconds: f64) -> &mut Self {
        let by = Duration::from_secs_f64(seconds);
        self.now.wall = self.now.wall.plus(by);
        self.now.mono = self.now.mono.plus(by);
        self
    }

    /// Adopts a ledger row.
    pub(crate) fn enter(&mut self, row: Target) -> Seq {
        let due = self.now.wall;
        let epoch = 1;
        self.push(
            LANE,
            TargetEntered {
                bot: BOT.to_owned(),
                row,
                due,
                epoch,
            },
        )
    }

    /// Appends an entry of the house.
    pub(crate) fn house(&mut self, event: impl Into<Event>) -> Seq {
        self.push(LaneId::HOUSE, event)
    }

    /// Appends an entry.
    pub(crate) fn push(&mut self, lane: LaneId, event: impl Into<Event>) -> Seq {
        let event = event.into();
        let seq = Seq(u64::try_from(self.entries.len()).expect("short") + 1);
        let in_lane = self.entries.iter().filter(|(h, _)| h.lane == lane).count();
        let header = Header {
            seq,
            segment: self.segment,
            at: self.now.wall,
            kind: event.kind().to_owned(),
            kind_version: 1,
            bot: 1,
            lane,
            lane_seq: if lane == LaneId::HOUSE {
                0
            } else {
                u64::try_from(in_lane).expect("short") + 1
            },
            payload_digest: Digest::default(),
            prev: Digest::default(),
        };
        self.entries.push((header, event));
        seq
    }

    /// Opens the next visit of the example target.
    pub(crate) fn open(&mut self) -> u64 {
        self.visits += 1;
        let (visit, due) = (self.visits, self.now.wall);
        self.push(
            LANE,
            VisitOpened {
                visit,
                bot: BOT.to_owned(),
                target: TARGET.to_owned(),
                due,
            },
        );
        visit
    }

    /// Closes it.
    pub(crate) fn close(&mut self, failed: bool) -> Seq {
        let (visit, next_due) = (self.visits, self.now.wall.plus(Duration::from_secs(86_400)));
        self.push(
            LANE,
            VisitClosed {
                visit,
                bot: BOT.to_owned(),
                target: TARGET.to_owned(),
                pages: 1,
                failed,
                next_due,
                held: None,
            },
        )
    }

    /// A permit as the gate would write it, for `admit`.
    pub(crate) fn page(&self, url: &str) -> Admitted {
        Admitted {
            visit: self.visits,
            bot: BOT.to_owned(),
            target: TARGET.to_owned(),
            kind: RequestKind::Page,
            url: url.to_owned(),
            listed: url.to_owned(),
            answers_for: None,
            user_agent: self.charter.identity.agent.user_agent.clone(),
            token: self.charter.identity.agent.token.clone(),
            charter: self.charter.digest,
            epoch: 1,
            cause: None,
            hop: 0,
            robots: Some(RobotsBasis {
                answered: Seq(1),
                body: None,
                line: None,
                crawl_delay_us: None,
            }),
            validators: Validators::default(),
            addresses: vec![IpAddr::from([127, 0, 0, 1])],
            draw_us: u64::try_from(self.charter.pace.interval_min.as_micros()).expect("short"),
            not_before: self.now,
            send_by: Now {
                wall: self.now.wall.plus(Duration::from_secs(5)),
                mono: self.now.mono.plus(Duration::from_secs(5)),
            },
            pacers: Vec::new(),
        }
    }

    /// A permit for the robots.txt of the example host.
    pub(crate) fn robots(&self) -> Admitted {
        Admitted {
            kind: RequestKind::Robots,
            listed: PAGE.to_owned(),
            answers_for: Some("https://school.example.jp".to_owned()),
            robots: None,
            ..self.page("https://school.example.jp/robots.txt")
        }
    }

    pub(crate) fn admit(&mut self, admitted: Admitted) -> Seq {
        self.push(LANE, admitted)
    }

    /// An answer of 200 that took 0.2 s, for `push`.
    pub(crate) fn answer(&self, admitted: Seq) -> Answered {
        let later = |ms| Now {
            wall: self.now.wall.plus(Duration::from_millis(ms)),
            mono: self.now.mono.plus(Duration::from_millis(ms)),
        };
        Answered {
            admitted,
            outcome: Outcome::Status(200),
            opened: self.now,
            sent: Some(later(50)),
            head_at: Some(later(150)),
            ended: later(200),
            local: Some("198.51.100.7:50000".to_owned()),
            remote: Some("127.0.0.1:443".to_owned()),
            request_head: WireText::Text(format!(
                "GET /price HTTP/1.1\r\nhost: school.example.jp\r\nuser-agent: {}\r\n\r\n",
                self.charter.identity.agent.user_agent
            )),
            headers: vec![header("content-type", "text/html; charset=utf-8")],
            body: Some(BodyRef {
                digest: Digest::of(b"body"),
                bytes: 4,
            }),
            raw_bytes: 4,
            faults: Vec::new(),
            certificate: None,
        }
    }

    /// Admits a page, answers it with 200 and waits out the interval.
    pub(crate) fn fetch(&mut self, url: &str) -> Seq {
        let admitted = self.admit(self.page(url));
        let answered = self.push(LANE, self.answer(admitted));
        self.wait(2.3);
        answered
    }

    /// What `promise` proves of this history.
    pub(crate) fn prove(&self, promise: &dyn Promise) -> Finding {
        let evidence = Bodies(&self.bodies);
        let mut versions = Versions::new(&evidence).reading_pages(true);
        let mut charters = vec![Arc::new(self.charter.clone())];
        charters.extend(self.later.iter().cloned());
        let mut proof = promise.prove().expect("a promise that can be proved");
        let mut open: HashMap<Seq, (&Header, &Admitted)> = HashMap::new();
        for (header, event) in &self.entries {
            versions.see(header, event);
            // `under` and `adopt` change a charter without its text.
            for charter in &charters {
                versions
                    .charters
                    .insert(charter.digest, Arc::clone(charter));
            }
            let ends = match event {
                Event::Answered(answered) => Some(answered.admitted),
                Event::NotSent(not_sent) => Some(not_sent.admitted),
                Event::Lost(lost) => Some(lost.admitted),
                _ => None,
            };
            let seen = Seen {
                header,
                event,
                admitted: ends.and_then(|seq| open.remove(&seq)),
            };
            proof.see(&seen, &versions);
            if let Event::Admitted(admitted) = event {
                open.insert(header.seq, (header, admitted));
            }
        }
        proof.finish()
    }

    /// The entries as a store would keep them, hashed and chained.
    pub(crate) fn sealed(&self) -> Vec<Entry> {
        let mut heads: HashMap<u64, Digest> = HashMap::new();
        self.entries
            .iter()
            .map(|(header, event)| {
                let mut salt = [0; 16];
                salt[..8].copy_from_slice(&header.seq.0.to_le_bytes());
                let sealed = Sealed {
                    salt,
                    payload: event.encode(),
                };
                let header = Header {
                    payload_digest: sealed.digest(),
                    prev: heads.get(&header.segment).copied().unwrap_or_default(),
                    ..header.clone()
                };
                heads.insert(header.segment, header.hash());
                Entry {
                    header,
                    sealed: Some(sealed),
                }
            })
            .collect()
    }

    /// The entries that `promise` finds broken.
    pub(crate) fn breaches(&self, promise: &dyn Promise) -> Vec<Seq> {
        self.prove(promise).breaches.iter().map(|n| n.seq).collect()
    }
}

fn adoption(charter: &Charter) -> CharterAdopted {
    CharterAdopted {
        bot: charter.bot.clone(),
        version: 1,
        digest: charter.digest,
        text: charter.text.clone(),
        zone: "Asia/Tokyo".to_owned(),
        epoch: 1,
    }
}

struct Bodies<'a>(&'a HashMap<Digest, Vec<u8>>);

impl crate::audit::versions::Evidence for Bodies<'_> {
    fn body(&self, digest: Digest) -> Option<Vec<u8>> {
        match self.0.get(&digest) {
            Some(body) => Some(body.clone()),
            None => NoEvidence.body(digest),
        }
    }
}

/// A field of an answer.
pub(crate) fn header(name: &str, value: &str) -> (String, WireText) {
    (name.to_owned(), WireText::Text(value.to_owned()))
}

/// Change `number` of `PAGE`, as found.
pub(crate) fn changed(number: u64) -> Changed {
    Changed {
        change: number,
        bot: BOT.to_owned(),
        target: TARGET.to_owned(),
        url: PAGE.to_owned(),
        before: Digest::of(b"before"),
        after: Digest::of(b"after"),
        summary_ja: "授業料：33万円→35万円".to_owned(),
        summary_en: "Tuition: 330,000 yen → 350,000 yen".to_owned(),
        cause: Cause::Site,
        supersedes: None,
    }
}

/// A decision about it.
pub(crate) fn reviewed(change: u64, decision: Decision, by: &str) -> Reviewed {
    Reviewed {
        change,
        decision,
        by: by.to_owned(),
        note: None,
        evidence_opened: true,
        epoch: 1,
    }
}

/// Its publication, as confirmed at `confirmed`.
pub(crate) fn released(change: u64, confirmed: &Now) -> Released {
    Released {
        bot: BOT.to_owned(),
        items: vec![ReleasedItem {
            lane: LANE,
            change,
            url: PAGE.to_owned(),
            confirmed: confirmed.wall,
            text: vec!["授業料：33万円→35万円".to_owned()],
        }],
    }
}

/// What a visit learned about a page, without a version.
pub(crate) fn observed(
    visit: u64,
    url: &str,
    observation: Observation,
    answered: Option<Seq>,
) -> Observed {
    Observed {
        visit,
        bot: BOT.to_owned(),
        target: TARGET.to_owned(),
        url: url.to_owned(),
        observation,
        answered,
        version: None,
    }
}
