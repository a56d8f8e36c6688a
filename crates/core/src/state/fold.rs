//! The fold: what each entry does to the state. The only place where state changes.
//!
//! `apply` is called for a fresh entry right after it was numbered, and for an old one during a
//! rebuild: both must give the same rows.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::charter::{Charter, RequestKind, RetryAfter};
use crate::event::{
    Admitted, Answered, Changed, Decision, Event, HopResult, LaneId, Observation, Observed, Reach,
    Reviewed, RobotsSettled, VisitClosed,
};
use crate::fetched::Outcome;
use crate::journal::Header;
use crate::promise::retry_after::named_instant;
use crate::state::house::{CharterInForce, House, HouseFacts, OptOut, Pacer};
use crate::state::lane::{
    Errand, InFlight, Lane, LaneState, Owed, PendingAnswer, RobotsRecord, RobotsVerdict, Visit,
    Waiting,
};
use crate::state::target::{Change, ChangeState, Earlier, PageState, TargetKey, TargetState};
use crate::state::{Row, RowChange, Table};
use crate::time::{Now, Timestamp};

/// Earlier text digests kept for A→B→A.
const EARLIER_MAX: usize = 8;
/// Rejected bodies remembered by page.
const REJECTED_MAX: usize = 16;
/// Clean answers that halve the backoff (DECISIONS 19).
const CLEAN_TO_HALVE: u32 = 5;

impl House {
    /// Applies an entry; returns the rows it touched.
    pub fn apply(&mut self, header: &Header, event: &Event) -> Vec<RowChange> {
        let facts = &mut self.facts;
        match event {
            Event::CharterAdopted(adopted) => {
                facts.epoch = facts.epoch.max(adopted.epoch);
                let next = u32::try_from(facts.charters.len())
                    .unwrap_or(u32::MAX)
                    .saturating_add(1);
                let before = facts.charters.get(&adopted.bot);
                let in_force = CharterInForce {
                    number: before.map_or(next, |c| c.number),
                    version: adopted.version,
                    digest: adopted.digest,
                    since: header.at,
                    ledger: before.and_then(|c| c.ledger),
                    rows: before.map_or(0, |c| c.rows),
                };
                facts.charters.insert(adopted.bot.clone(), in_force);
            }
            Event::LedgerAdopted(adopted) => {
                facts.epoch = facts.epoch.max(adopted.epoch);
                if let Some(charter) = facts.charters.get_mut(&adopted.bot) {
                    charter.ledger = Some(adopted.digest);
                    charter.rows = adopted.rows;
                }
            }
            Event::TargetEntered(entered) => facts.epoch = facts.epoch.max(entered.epoch),
            Event::TargetLeft(left) => facts.epoch = facts.epoch.max(left.epoch),
            Event::Reviewed(reviewed) => facts.epoch = facts.epoch.max(reviewed.epoch),
            Event::LaneOpened(_) => facts.lanes = facts.lanes.max(header.lane.0),
            Event::Paused(paused) if header.lane == LaneId::HOUSE => {
                facts.epoch = facts.epoch.max(paused.epoch);
                facts.pauses.retain(|p| p.reach != paused.reach);
                facts.pauses.push(paused.clone());
            }
            Event::Resumed(resumed) if header.lane == LaneId::HOUSE => {
                facts.epoch = facts.epoch.max(resumed.epoch);
                facts.pauses.retain(|p| p.reach != resumed.reach);
                facts.clock_hold &= resumed.reach != Reach::All;
            }
            Event::OptedOut(wish) => {
                facts.epoch = facts.epoch.max(wish.epoch);
                facts.opt_outs.retain(|o| o.reach != wish.reach);
                if !wish.withdrawn {
                    facts.opt_outs.push(OptOut {
                        reach: wish.reach.clone(),
                        received: wish.received,
                        effective: header.at,
                    });
                }
            }
            Event::ClockStepped(step) => facts.clock_hold |= step.hold,
            Event::Admitted(admitted) if !admitted.pacers.is_empty() => {
                let charter = self.charters.get(&admitted.bot);
                win_pacers(facts, header, admitted, charter.map(|c| &**c));
            }
            _ => return Vec::new(),
        }
        vec![self.row()]
    }

    /// The stored row.
    #[must_use]
    pub fn row(&self) -> RowChange {
        RowChange::Put(Row::new(
            Table::House,
            LaneId::HOUSE,
            "house",
            None,
            &self.facts,
        ))
    }
}

/// The next start counts from the end of this permit's window: whenever in it the head leaves,
/// the spacing holds.
fn win_pacers(
    facts: &mut HouseFacts,
    header: &Header,
    admitted: &Admitted,
    charter: Option<&Charter>,
) {
    let spacing = charter
        .and_then(|c| c.pace.global_interval)
        .unwrap_or_default();
    let pacer = Pacer {
        until: admitted.send_by,
        spacing,
        segment: header.segment,
    };
    for key in &admitted.pacers {
        facts.pacers.insert(key.clone(), pacer);
    }
}

/// What an entry touched within a lane.
#[derive(Default)]
struct Touched {
    targets: Vec<TargetKey>,
    changes: Vec<u64>,
}

impl LaneState {
    /// Applies an entry of this lane; returns the rows it touched. `house` must be as it was when
    /// the entry was written: pace rules come from the charter then in force.
    pub fn apply(&mut self, house: &House, header: &Header, event: &Event) -> Vec<RowChange> {
        self.lane.lane_seq = header.lane_seq;
        let mut touched = Touched::default();
        match event {
            Event::TargetEntered(entered) => {
                let key = TargetKey {
                    bot: entered.bot.clone(),
                    id: entered.row.id.clone(),
                };
                self.enter(&key, entered.row.clone(), entered.due);
                touched.targets.push(key);
            }
            Event::TargetLeft(left) => {
                let key = TargetKey {
                    bot: left.bot.clone(),
                    id: left.target.clone(),
                };
                if let Some(target) = self.targets.get_mut(&key) {
                    target.left = true;
                }
                touched.targets.push(key);
            }
            Event::Paused(paused) => {
                self.set_pause(&paused.reach, Some(paused.clone()), &mut touched)
            }
            Event::Resumed(resumed) => self.set_pause(&resumed.reach, None, &mut touched),
            Event::VisitOpened(opened) => {
                let key = TargetKey {
                    bot: opened.bot.clone(),
                    id: opened.target.clone(),
                };
                self.open_visit(house, header, opened.visit, opened.due, &key);
                touched.targets.push(key);
            }
            Event::Admitted(admitted) => self.admit(header, admitted),
            Event::NotSent(_) => self.not_sent(),
            Event::Answered(answered) => self.answer(house, header, answered),
            Event::Lost(lost) => self.lose(house, header, lost.at),
            Event::HopParked(parked) => {
                if let Some(visit) = &mut self.lane.visit
                    && let Some(cause) = visit.answer.take()
                {
                    visit.waiting = Some(Waiting {
                        cause,
                        lane: parked.to,
                        deadline: parked.deadline,
                    });
                }
            }
            Event::HopQueued(hop) => {
                self.lane.errands.push(Errand {
                    hop: hop.clone(),
                    robots: None,
                    answer: None,
                });
            }
            Event::HopDone(done) => self.lane.errands.retain(|e| {
                (e.hop.from, e.hop.visit, e.hop.cause) != (done.from, done.visit, done.cause)
            }),
            Event::HopReturned(returned) => {
                self.hop_returned(&returned.url, returned.hop, &returned.result)
            }
            Event::RobotsSettled(settled) => self.settle_robots(header, settled),
            Event::Observed(observed) => self.observe(header, observed, &mut touched),
            Event::Changed(changed) => self.change(header, changed, &mut touched),
            Event::VisitClosed(closed) => self.close_visit(closed, &mut touched),
            Event::NoiseLearned(noise) => {
                let key = TargetKey {
                    bot: noise.bot.clone(),
                    id: noise.target.clone(),
                };
                let page = self
                    .targets
                    .get_mut(&key)
                    .and_then(|t| t.pages.get_mut(&noise.url));
                if let Some(page) = page {
                    page.learned.retain(|rule| *rule != noise.rule);
                    if !noise.undone {
                        page.learned.push(noise.rule.clone());
                    }
                }
                touched.targets.push(key);
            }
            Event::Reviewed(reviewed) => self.review(header, reviewed, &mut touched),
            _ => {}
        }
        self.rows(touched)
    }

    fn rows(&self, touched: Touched) -> Vec<RowChange> {
        let mut rows = vec![RowChange::Put(self.row())];
        for key in touched.targets {
            if let Some(target) = self.targets.get(&key) {
                let key = key.to_string();
                rows.push(RowChange::Put(Row::new(
                    Table::Target,
                    self.lane.id,
                    &key,
                    None,
                    target,
                )));
            }
        }
        for number in touched.changes {
            if let Some(change) = self.changes.get(&number) {
                let waits = matches!(change.state, ChangeState::Waiting).then_some(change.found);
                let key = format!("{number:012}");
                rows.push(RowChange::Put(Row::new(
                    Table::Change,
                    self.lane.id,
                    &key,
                    waits,
                    change,
                )));
            }
        }
        rows
    }

    /// The lane's own row; due when somebody must look at it.
    #[must_use]
    pub fn row(&self) -> Row {
        Row::new(
            Table::Lane,
            self.lane.id,
            self.lane.host.as_str(),
            self.due(),
            &self.lane,
        )
    }

    /// When the lane wants attention: at once while something is under way, else when its first
    /// target is due; `None`: nothing to do until the ledger or a person says so.
    #[must_use]
    pub fn due(&self) -> Option<Timestamp> {
        let lane = &self.lane;
        if lane.in_flight.is_some() || lane.visit.is_some() || !lane.errands.is_empty() {
            return Some(Timestamp::default());
        }
        self.targets
            .values()
            .filter_map(TargetState::ready_at)
            .min()
    }

    fn enter(&mut self, key: &TargetKey, row: crate::ledger::Target, due: Timestamp) {
        let target = self
            .targets
            .entry(key.clone())
            .or_insert_with(|| TargetState {
                key: key.clone(),
                row: row.clone(),
                left: false,
                due,
                anchor_day: None,
                last_visit: None,
                failures: 0,
                pause: None,
                pages: BTreeMap::new(),
            });
        target.row = row;
        target.left = false;
        target.due = target.due.max(due);
    }

    fn set_pause(
        &mut self,
        reach: &Reach,
        pause: Option<crate::event::Paused>,
        touched: &mut Touched,
    ) {
        let Reach::Target { bot, target } = reach else {
            return;
        };
        let key = TargetKey {
            bot: bot.clone(),
            id: target.clone(),
        };
        if let Some(target) = self.targets.get_mut(&key) {
            if pause.is_none() {
                target.failures = 0;
            }
            target.pause = pause;
        }
        touched.targets.push(key);
    }

    fn open_visit(
        &mut self,
        house: &House,
        header: &Header,
        id: u64,
        due: Timestamp,
        key: &TargetKey,
    ) {
        self.lane.visits = id;
        if let Some(target) = self.targets.get_mut(key) {
            let local = header.at.jiff().to_zoned_datetime(house.zone.0.clone());
            target.anchor_day.get_or_insert(local.date().day());
            target.last_visit = Some(header.at);
        }
        self.lane.visit = Some(Visit {
            id,
            target: key.clone(),
            opened: header.at,
            due,
            pages: 0,
            at: 0,
            answer: None,
            redirect: None,
            waiting: None,
            failed: false,
            held: None,
        });
    }

    fn admit(&mut self, header: &Header, admitted: &Admitted) {
        let target = TargetKey {
            bot: admitted.bot.clone(),
            id: admitted.target.clone(),
        };
        let errand = self
            .lane
            .errands
            .iter()
            .any(|e| e.is_for(&target, admitted.visit));
        if !errand && let Some(visit) = &mut self.lane.visit {
            let was = visit.answer.take();
            match admitted.kind {
                // A redirect of the page waits while robots.txt of its origin is read.
                RequestKind::Robots => {
                    let page = was.filter(|a| a.kind == RequestKind::Page);
                    visit.redirect = page.or(visit.redirect.take());
                }
                RequestKind::Page => visit.redirect = None,
            }
            visit.pages += u32::from(admitted.kind == RequestKind::Page);
        }
        self.lane.in_flight = Some(InFlight {
            admitted: header.seq,
            kind: admitted.kind,
            url: admitted.url.clone(),
            listed: admitted.listed.clone(),
            answers_for: admitted.answers_for.clone(),
            user_agent: admitted.user_agent.clone(),
            cause: admitted.cause,
            hop: admitted.hop,
            target,
            visit: admitted.visit,
            errand,
            segment: header.segment,
        });
    }

    /// No request was made: the budget gets its page back; a hop begins again at its listed URL.
    fn not_sent(&mut self) {
        let Some(flight) = self.lane.in_flight.take() else {
            return;
        };
        if !flight.errand
            && let Some(visit) = &mut self.lane.visit
        {
            visit.pages -= u32::from(flight.kind == RequestKind::Page && visit.pages > 0);
        }
    }

    fn answer(&mut self, house: &House, header: &Header, answered: &Answered) {
        let Some(flight) = self.lane.in_flight.take() else {
            return;
        };
        if let Some(charter) = house.charter(&flight.target.bot) {
            self.lane.feel(charter, answered, &flight);
            self.lane.owe(charter);
        }
        self.lane.fall_quiet(header, answered.ended);
        let pending = PendingAnswer {
            answered: header.seq,
            kind: flight.kind,
            url: flight.url.clone(),
            answers_for: flight.answers_for.clone(),
            hop: flight.hop,
            outcome: Some(answered.outcome.clone()),
            location: answered.header("location").map(str::to_owned),
            sets_cookie: answered.header("set-cookie").is_some(),
            held: None,
            retry_after: answered.header("retry-after").map(str::to_owned),
            body: answered.body.clone(),
        };
        self.lane.hand_over(&flight, pending);
    }

    fn lose(&mut self, house: &House, header: &Header, at: Now) {
        let Some(flight) = self.lane.in_flight.take() else {
            return;
        };
        if let Some(charter) = house.charter(&flight.target.bot) {
            self.lane.owe(charter);
        }
        self.lane.fall_quiet(header, at);
        let pending = PendingAnswer {
            answered: header.seq,
            kind: flight.kind,
            url: flight.url.clone(),
            answers_for: flight.answers_for.clone(),
            hop: flight.hop,
            outcome: None,
            location: None,
            sets_cookie: false,
            held: None,
            retry_after: None,
            body: None,
        };
        self.lane.hand_over(&flight, pending);
    }

    /// The hop's answer takes the place of the answer that redirected; a page hop made elsewhere
    /// counts in this visit's budget.
    fn hop_returned(&mut self, url: &str, hop: u8, result: &HopResult) {
        let Some(visit) = &mut self.lane.visit else {
            return;
        };
        let Some(waiting) = visit.waiting.take() else {
            return;
        };
        let mut pending = PendingAnswer {
            url: url.to_owned(),
            hop,
            ..waiting.cause
        };
        match result {
            HopResult::Answer {
                answered,
                outcome,
                location,
                retry_after,
                body,
            } => {
                visit.pages += u32::from(pending.kind == RequestKind::Page);
                pending.answered = *answered;
                pending.outcome.clone_from(outcome);
                pending.location.clone_from(location);
                pending.retry_after.clone_from(retry_after);
                pending.body.clone_from(body);
            }
            HopResult::Held { promise, why } => {
                pending.outcome = Some(Outcome::Protocol(format!(
                    "redirect not followed ({promise}): {why}"
                )));
                pending.body = None;
                pending.held = Some((promise.clone(), why.clone()));
            }
        }
        visit.answer = Some(pending);
    }

    fn settle_robots(&mut self, header: &Header, settled: &RobotsSettled) {
        let target = TargetKey {
            bot: settled.bot.clone(),
            id: settled.target.clone(),
        };
        let verdict = match (settled.rules, settled.meaning) {
            (Some(digest), _) => RobotsVerdict::Rules(digest),
            (None, meaning) => RobotsVerdict::Means {
                meaning: meaning.unwrap_or(crate::charter::RobotsMeaning::Hold),
                why: settled.why.clone(),
            },
        };
        let record = RobotsRecord {
            answered: settled.answered,
            at: header.at,
            visit: (target, settled.visit),
            verdict,
        };
        let key = super::lane::robots_key(&settled.origin, &settled.user_agent);
        let target = record.visit.0.clone();
        self.lane.robots.insert(key, record);
        let mut errands = self.lane.errands.iter_mut();
        if let Some(errand) = errands.find(|e| e.is_for(&target, settled.visit)) {
            errand.robots = None;
        } else if let Some(visit) = &mut self.lane.visit
            && visit
                .answer
                .as_ref()
                .is_some_and(|a| a.kind == RequestKind::Robots)
        {
            visit.answer = visit.redirect.take();
        }
    }

    fn observe(&mut self, header: &Header, observed: &Observed, touched: &mut Touched) {
        let key = TargetKey {
            bot: observed.bot.clone(),
            id: observed.target.clone(),
        };
        if let Some(visit) = &mut self.lane.visit {
            visit.answer = None;
            visit.redirect = None;
            visit.waiting = None;
            visit.at += 1;
            visit.failed |= counts_as_failure(&observed.observation);
        }
        if let Some(target) = self.targets.get_mut(&key) {
            target
                .pages
                .entry(observed.url.clone())
                .or_default()
                .observe(header.at, observed);
        }
        touched.targets.push(key);
    }

    fn change(&mut self, header: &Header, changed: &Changed, touched: &mut Touched) {
        let key = TargetKey {
            bot: changed.bot.clone(),
            id: changed.target.clone(),
        };
        self.lane.changes = self.lane.changes.max(changed.change);
        if let Some(old) = changed.supersedes
            && let Some(change) = self.changes.get_mut(&old)
        {
            change.state = ChangeState::Superseded(changed.change);
            touched.changes.push(old);
        }
        if let Some(page) = self
            .targets
            .get_mut(&key)
            .and_then(|t| t.pages.get_mut(&changed.url))
        {
            page.waiting = Some(changed.change);
        }
        let change = Change {
            seq: header.seq,
            found: header.at,
            visit: self.lane.visits,
            what: changed.clone(),
            state: ChangeState::Waiting,
        };
        self.changes.insert(changed.change, change);
        touched.changes.push(changed.change);
        touched.targets.push(key);
    }

    fn close_visit(&mut self, closed: &VisitClosed, touched: &mut Touched) {
        let key = TargetKey {
            bot: closed.bot.clone(),
            id: closed.target.clone(),
        };
        self.lane.visit = None;
        if let Some(target) = self.targets.get_mut(&key) {
            target.due = closed.next_due;
            target.failures = if closed.failed {
                target.failures.saturating_add(1)
            } else {
                0
            };
        }
        touched.targets.push(key);
    }

    fn review(&mut self, header: &Header, reviewed: &Reviewed, touched: &mut Touched) {
        let Some(change) = self.changes.get_mut(&reviewed.change) else {
            return;
        };
        change.state = ChangeState::Settled {
            decision: reviewed.decision,
            by: reviewed.by.clone(),
            at: header.at,
            note: reviewed.note.clone(),
        };
        touched.changes.push(reviewed.change);
        let key = TargetKey {
            bot: change.what.bot.clone(),
            id: change.what.target.clone(),
        };
        let page = self
            .targets
            .get_mut(&key)
            .and_then(|t| t.pages.get_mut(&change.what.url));
        if let Some(page) = page {
            page.settle(reviewed.change, reviewed.decision, &change.what);
        }
        touched.targets.push(key);
    }
}

impl Lane {
    /// What an answer tells about the host: pressure, slowness, a time it named.
    fn feel(&mut self, charter: &Charter, answered: &Answered, flight: &InFlight) {
        let status = answered.outcome.status();
        let pressed = answered
            .outcome
            .head_status()
            .filter(|s| *s == 429 || *s >= 500);
        if pressed.is_some() {
            let most = u32::try_from(charter.failure.steps.len()).unwrap_or(u32::MAX);
            self.backoff = self.backoff.saturating_add(1).min(most);
            self.clean = 0;
        } else if status.is_some() {
            self.clean += 1;
            if self.clean >= CLEAN_TO_HALVE {
                (self.backoff, self.clean) = (self.backoff / 2, 0);
            }
        }
        let took = answered
            .ended
            .mono
            .since(answered.sent.unwrap_or(answered.opened).mono);
        let slow = charter.pace.slow.filter(|slow| took >= slow.after);
        self.slow_wait = slow.map_or(Duration::ZERO, |slow| took.saturating_mul(slow.factor));
        self.too_slow = slow
            .filter(|slow| took >= slow.stop_after)
            .map(|_| (flight.target.clone(), flight.visit));
        if let RetryAfter::Honour { cap } = charter.failure.retry_after
            && matches!(pressed, Some(429 | 503))
            && let Some(at) = answered
                .header("retry-after")
                .and_then(|v| named_instant(v, answered.ended.wall))
            && at <= answered.ended.wall.plus(cap)
        {
            self.retry_after = self.retry_after.max(Some(at));
        }
    }

    /// The waits that begin now, by the charter of the request that ends.
    fn owe(&mut self, charter: &Charter) {
        let steps = &charter.failure.steps;
        let level = usize::try_from(self.backoff).unwrap_or(usize::MAX);
        let step = level.min(steps.len()).checked_sub(1);
        self.owed = Owed {
            interval: charter.pace.interval_min,
            backoff: step
                .and_then(|at| steps.get(at))
                .copied()
                .unwrap_or_default(),
        };
    }

    fn fall_quiet(&mut self, header: &Header, at: Now) {
        self.quiet_since = Some(at);
        self.segment = header.segment;
    }

    fn hand_over(&mut self, flight: &InFlight, pending: PendingAnswer) {
        if flight.errand {
            let target = &flight.target;
            let errand = self
                .errands
                .iter_mut()
                .find(|e| e.is_for(target, flight.visit));
            match errand {
                Some(errand) if errand.hop.kind != flight.kind => errand.robots = Some(pending),
                Some(errand) => errand.answer = Some(pending),
                None => {}
            }
        } else if let Some(visit) = &mut self.visit {
            visit.answer = Some(pending);
        }
    }
}

impl TargetState {
    /// When the target can be visited; `None`: not until a person or the ledger says so.
    #[must_use]
    pub fn ready_at(&self) -> Option<Timestamp> {
        if self.left {
            return None;
        }
        match &self.pause {
            None => Some(self.due),
            Some(pause) => pause.until.map(|until| until.max(self.due)),
        }
    }
}

impl PageState {
    fn observe(&mut self, at: Timestamp, observed: &Observed) {
        self.last = Some(in_words(&observed.observation));
        match &observed.observation {
            Observation::Confirmed => {
                self.settled.clone_from(&observed.version);
                self.latest.clone_from(&observed.version);
                self.seen = Some(at);
            }
            Observation::Unchanged => {
                self.seen = Some(at);
                if let Some(version) = &observed.version {
                    let same = self
                        .latest
                        .as_ref()
                        .is_some_and(|v| v.body.digest == version.body.digest);
                    let sent = !self.validators().is_empty();
                    self.useless_validators += u32::from(same && sent);
                    self.latest = Some(version.clone());
                } else {
                    self.useless_validators = 0;
                }
            }
            Observation::Noise | Observation::Changed => {
                self.seen = Some(at);
                if let Some((text, body)) = self
                    .latest
                    .as_ref()
                    .and_then(|v| Some((v.text?, v.body.digest)))
                {
                    self.earlier.retain(|e| e.text != text);
                    self.earlier.push(Earlier { body, text });
                    let surplus = self.earlier.len().saturating_sub(EARLIER_MAX);
                    self.earlier.drain(..surplus);
                }
                self.latest.clone_from(&observed.version);
                if observed.observation == Observation::Changed {
                    self.judged.clone_from(&observed.version);
                }
            }
            Observation::Unconfirmed { .. }
            | Observation::Held { .. }
            | Observation::Refused { .. } => {}
        }
    }

    /// A person decided: the version that was judged is settled, whatever the decision; a
    /// rejected body stays quiet (DECISIONS 30).
    fn settle(&mut self, change: u64, decision: Decision, what: &Changed) {
        if self.waiting == Some(change) {
            self.waiting = None;
        }
        if self
            .judged
            .as_ref()
            .is_some_and(|v| v.body.digest == what.after)
        {
            self.settled = self.judged.take();
        }
        if decision == Decision::Reject && !self.rejected.contains(&what.after) {
            self.rejected.push(what.after);
            let surplus = self.rejected.len().saturating_sub(REJECTED_MAX);
            self.rejected.drain(..surplus);
        }
    }
}

/// Unconfirmed pages and a robots.txt that does not answer: enough of them in a row pause a target.
fn counts_as_failure(observation: &Observation) -> bool {
    match observation {
        Observation::Unconfirmed { .. } => true,
        Observation::Held { promise, .. } => promise == "robots-failure",
        _ => false,
    }
}

fn in_words(observation: &Observation) -> String {
    match observation {
        Observation::Confirmed => "confirmed".to_owned(),
        Observation::Unchanged => "unchanged".to_owned(),
        Observation::Noise => "noise".to_owned(),
        Observation::Changed => "changed".to_owned(),
        Observation::Unconfirmed { reason } => format!("unconfirmed: {reason}"),
        Observation::Held { promise, reason } => format!("held ({promise}): {reason}"),
        Observation::Refused { promise, reason } => format!("refused ({promise}): {reason}"),
    }
}
