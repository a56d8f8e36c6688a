//! A house with a past: entries as a driver would have written them, through the real store and
//! the real fold, so that commands find something to talk about without any network.

use std::path::{Path, PathBuf};

use reigi_core::charter::RequestKind;
use reigi_core::digest::Digest;
use reigi_core::event::{
    Admitted, Answered, BodyRef, Cause, Changed, CharterAdopted, Event, LaneId, LaneOpened,
    Observation, Observed, SegmentOpened, Seq, TargetEntered, Validators, Version, VisitClosed,
    VisitOpened,
};
use reigi_core::fetched::{Outcome, WireText};
use reigi_core::host::Host;
use reigi_core::journal::{Draft, Header};
use reigi_core::ledger::Ledger;
use reigi_core::state::{House, LaneState};
use reigi_core::time::{Mono, Now, Timestamp};
use reigi_store::{Append, NewBody, Store};

use crate::bench::reigi;

pub(crate) const BOT: &str = "schoolwatch";
pub(crate) const PAGE: &str = "https://www.school.example.jp/price";
const TARGET: &str = "www.school.example.jp";
const LANE: LaneId = LaneId(1);

/// A new house with one target in `dir/house`.
pub(crate) fn new_house(dir: &Path) -> PathBuf {
    let arguments = [
        "init",
        "house",
        "--template",
        "changes",
        "--operator",
        "Example",
        "--token",
        "SchoolWatch",
        "--policy-url",
        "https://watch.example.jp/bot",
        "--contact-url",
        "mailto:bot@example.jp",
        "--purpose-en",
        "To see changes.",
        "--reviewer",
        "sato",
        "--target-url",
        PAGE,
        "--target-terms-url",
        "https://www.school.example.jp/terms",
    ];
    reigi(dir, &arguments).with(0);
    dir.join("house")
}

/// Writes the past of a house.
pub(crate) struct Past {
    store: Store,
    house: House,
    lane: LaneState,
    segment: u64,
    at: Timestamp,
    visits: u64,
    changes: u64,
    charter: Digest,
}

impl Past {
    /// Adopts the files of `house`, at `at`.
    pub(crate) async fn begin(house: &Path, at: Timestamp) -> Self {
        let store = Store::open(&house.join("data")).await.unwrap();
        let opened = |heads| SegmentOpened {
            program: "reigi test".to_owned(),
            role: "run".to_owned(),
            heads,
            clock: Now {
                wall: at,
                mono: Mono::default(),
            },
        };
        let segment = store.begin_segment(opened, at).await.unwrap();
        let host = Host::parse(TARGET).unwrap();
        let lane = LaneState::new(LANE, host.clone(), segment, Mono::default());
        let text = std::fs::read_to_string(house.join(format!("charters/{BOT}.toml"))).unwrap();
        let charter = reigi_core::charter::Charter::parse("schoolwatch.toml", &text).unwrap();
        let name = format!("ledgers/{BOT}.toml");
        let ledger = std::fs::read_to_string(house.join(&name)).unwrap();
        let ledger = Ledger::parse(&name, &ledger, &charter).unwrap();
        let mut past = Self {
            store,
            house: House::default(),
            lane,
            segment,
            at,
            visits: 0,
            changes: 0,
            charter: charter.digest,
        };
        past.house
            .charters
            .insert(BOT.to_owned(), std::sync::Arc::new(charter.clone()));
        let (bot, zone) = (BOT.to_owned(), "Asia/Tokyo".to_owned());
        let digest = charter.digest;
        let adopted = CharterAdopted {
            bot: bot.clone(),
            version: 1,
            digest,
            text,
            zone,
            epoch: 1,
        };
        past.push(LaneId::HOUSE, adopted.into(), &[]).await;
        past.push(
            LANE,
            LaneOpened {
                host: host.as_str().to_owned(),
            }
            .into(),
            &[],
        )
        .await;
        let row = ledger.targets.first().unwrap().clone();
        past.push(
            LANE,
            TargetEntered {
                bot,
                row,
                due: at,
                epoch: 1,
            }
            .into(),
            &[],
        )
        .await;
        past
    }

    /// A visit that finds `body`; a change where it is not the first.
    pub(crate) async fn visit(&mut self, body: &str) {
        self.visits += 1;
        let (visit, bot, target) = (self.visits, BOT.to_owned(), TARGET.to_owned());
        let due = self.at;
        let opened = VisitOpened {
            visit,
            bot: bot.clone(),
            target: target.clone(),
            due,
        };
        self.push(LANE, opened.into(), &[]).await;
        let admitted = self.push(LANE, self.admitted().into(), &[]).await.seq;
        let kept = BodyRef {
            digest: Digest::of(body.as_bytes()),
            bytes: body.len() as u64,
        };
        let new = NewBody {
            digest: kept.digest,
            bytes: body.as_bytes(),
            owner: PAGE,
            at: self.at,
        };
        let answered = self.answered(admitted, kept.clone());
        let answered = self.push(LANE, answered.into(), &[new]).await.seq;
        let page = self
            .lane
            .targets
            .values()
            .next()
            .unwrap()
            .pages
            .get(PAGE)
            .cloned();
        let page = page.unwrap_or_default();
        let before = page.settled.map(|version| version.body.digest);
        let observed = Observed {
            visit,
            bot: bot.clone(),
            target: target.clone(),
            url: PAGE.to_owned(),
            observation: match before {
                None => Observation::Confirmed,
                Some(_) => Observation::Changed,
            },
            answered: Some(answered),
            version: Some(version(kept.clone())),
        };
        self.push(LANE, observed.into(), &[]).await;
        if let Some(before) = before {
            self.changes += 1;
            let changed = Changed {
                change: self.changes,
                bot: bot.clone(),
                target: target.clone(),
                url: PAGE.to_owned(),
                before,
                after: kept.digest,
                summary_ja: "料金が変わりました".to_owned(),
                summary_en: "The price changed".to_owned(),
                cause: Cause::Site,
                supersedes: page.waiting,
            };
            self.push(LANE, changed.into(), &[]).await;
        }
        let next_due = self.at.plus(std::time::Duration::from_secs(86_400));
        let (pages, failed, held) = (1, false, None);
        let closed = VisitClosed {
            visit,
            bot,
            target,
            pages,
            failed,
            next_due,
            held,
        };
        self.push(LANE, closed.into(), &[]).await;
        self.at = next_due;
    }

    fn admitted(&self) -> Admitted {
        let now = Now {
            wall: self.at,
            mono: Mono::default(),
        };
        Admitted {
            visit: self.visits,
            bot: BOT.to_owned(),
            target: TARGET.to_owned(),
            kind: RequestKind::Page,
            url: PAGE.to_owned(),
            listed: PAGE.to_owned(),
            answers_for: None,
            user_agent: "SchoolWatch/1.0 (+https://watch.example.jp/bot)".to_owned(),
            token: "SchoolWatch".to_owned(),
            charter: self.charter,
            epoch: 1,
            cause: None,
            hop: 0,
            robots: None,
            validators: Validators::default(),
            addresses: Vec::new(),
            draw_us: 0,
            not_before: now,
            send_by: now,
            pacers: Vec::new(),
        }
    }

    fn answered(&self, admitted: Seq, body: BodyRef) -> Answered {
        let now = Now {
            wall: self.at,
            mono: Mono::default(),
        };
        Answered {
            admitted,
            outcome: Outcome::Status(200),
            opened: now,
            sent: Some(now),
            head_at: Some(now),
            ended: now,
            local: None,
            remote: None,
            request_head: WireText::Text(String::new()),
            headers: Vec::new(),
            raw_bytes: body.bytes,
            body: Some(body),
            faults: Vec::new(),
            certificate: None,
        }
    }

    async fn push(&mut self, lane: LaneId, event: Event, bodies: &[NewBody<'_>]) -> Header {
        let lane_seq = if lane == LaneId::HOUSE {
            0
        } else {
            self.lane.lane.lane_seq + 1
        };
        let draft = Draft {
            event,
            at: self.at,
            bot: 1,
            lane,
            lane_seq,
        };
        let append = Append {
            segment: self.segment,
            drafts: std::slice::from_ref(&draft),
            bodies,
            guard: None,
            raise_epoch: draft.event.epoch_raised(),
        };
        let (house, state) = (&mut self.house, &mut self.lane);
        let fold = |headers: &[Header]| {
            let header = headers.first().unwrap();
            let mut rows = house.apply(header, &draft.event);
            if lane == LANE {
                rows.extend(state.apply(house, header, &draft.event));
            }
            rows
        };
        let headers = self.store.clone().append_with(append, fold).await.unwrap();
        headers.first().unwrap().clone()
    }
}

fn version(body: BodyRef) -> Version {
    Version {
        body,
        text: None,
        content_type: Some("text/html; charset=utf-8".to_owned()),
        charset: None,
        validators: Validators::default(),
        signals: Vec::new(),
    }
}
