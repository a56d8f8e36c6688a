//! What would happen to a URL now, and which sentence of the policy page says so.
//!
//! [`explain`] proposes the request that the bot would make and asks the gate, as a run would; it
//! writes nothing and sends nothing. [`Explanation`] says it in the order of all our messages:
//! what happened, why, what comes next.

mod said;

use reigi_robots::Group;
use serde::Serialize;
use url::Url;

use crate::charter::{Bilingual, Charter, Freshness, Lang, RequestKind, RobotsMeaning};
use crate::event::Paused;
use crate::gate::{Ask, Judgement, Scene, Until, Verdict, judge};
use crate::host::Origin;
use crate::promise::{by_id, cadence};
use crate::state::house::Zone;
use crate::state::lane::robots_key;
use crate::state::{House, LaneState, RobotsRecord, RobotsVerdict, TargetKey, TargetState};
use crate::time::{Now, Timestamp};

/// What would happen to a URL now.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The URL asked about.
    pub url: Url,
    /// The bot.
    pub bot: String,
    /// The bot's name for people.
    pub name: String,
    /// The row that covers the URL.
    pub target: Option<TargetKey>,
    /// What would happen.
    pub outcome: Outcome,
    /// The sentence of the page that decides.
    pub sentence: Option<Sentence>,
    /// What robots.txt says, as last read.
    pub robots: Option<Robots>,
    /// Every promise's answer above "nothing against it", strictest first.
    pub answers: Vec<Answer>,
    /// The earliest time at which this can come out otherwise; `None`: a person decides, or the
    /// answer is not one of time.
    pub next: Option<Timestamp>,
    /// When it was asked.
    pub now: Timestamp,
    /// The last requests for the URL, newest first. Given by the caller, who has the journal.
    pub last: Vec<LastRequest>,
    zone: Zone,
}

/// What would happen.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// The bot has no charter in force.
    NoCharter,
    /// Its owner wishes to be left alone.
    OptedOut {
        /// When that took effect.
        since: Timestamp,
    },
    /// No ledger row covers the URL.
    NotListed,
    /// Collection is paused.
    Paused {
        /// A person, or the id of the promise that did it.
        by: String,
        /// Why, as recorded.
        reason: String,
    },
    /// A promise forbids it.
    Refused {
        /// Why.
        why: Bilingual,
    },
    /// A promise is unsure.
    Held {
        /// Why.
        why: Bilingual,
        /// Whether only a person ends it.
        person: bool,
    },
    /// The next visit is not due.
    NotDue,
    /// Only pace stands against it.
    Waits,
    /// It would be asked for now.
    Fetched {
        /// robots.txt would be read first.
        robots_first: bool,
    },
}

/// A sentence of the policy page.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sentence {
    /// The promise's id: the anchor on the page.
    pub promise: String,
    /// The words on the page.
    pub words: Bilingual,
}

/// One promise's answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Answer {
    /// The promise's id.
    pub promise: String,
    /// `not-before`, `hold` or `refuse`.
    pub verdict: String,
    /// Until when, where time ends it.
    pub until: Option<String>,
    /// Why, where it says so.
    pub why: Option<Bilingual>,
}

/// What robots.txt says about the URL, as last read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Robots {
    /// When it was read.
    pub read: Timestamp,
    /// Whether a request now would have to read it again first.
    pub stale: bool,
    /// What it says.
    pub says: RobotsSays,
}

/// The meaning of a robots.txt for one URL.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case", tag = "says")]
pub enum RobotsSays {
    /// A rule decides.
    Rule {
        /// May it be fetched?
        allowed: bool,
        /// Line in the file, from 1.
        line: u32,
        /// The rule as we read it, `Disallow: /members/`.
        rule: String,
        /// Whether the group names the bot (else it is the group of `*`).
        own_group: bool,
    },
    /// No rule of the file is about it.
    NoRule,
    /// There was no file with rules; the charter says what that means.
    Means {
        /// Whether new fetches are held.
        hold: bool,
        /// What came instead, in words.
        why: String,
    },
    /// The file that was read is not at hand.
    Unread,
}

/// One earlier request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LastRequest {
    /// When.
    pub at: Timestamp,
    /// The URL.
    pub url: String,
    /// How it ended, in words.
    pub outcome: String,
}

/// The rows of `lane` that list `url`, of every bot.
#[must_use]
pub fn covering(lane: &LaneState, url: &Url) -> Vec<TargetKey> {
    let listed = |t: &&TargetState| !t.left && t.row.urls.iter().any(|u| is_same(u, url));
    let rows = lane.targets.values().filter(listed);
    rows.map(|t| t.key.clone()).collect()
}

fn is_same(listed: &str, url: &Url) -> bool {
    Url::parse(listed).is_ok_and(|listed| listed == *url)
}

/// What `bot` would do about `url` now. `lane` is the lane of the URL's host, `None` where the
/// house has none; `target` the row to judge it under, by default the bot's first that lists it.
#[must_use]
pub fn explain(
    house: &House,
    lane: Option<&LaneState>,
    bot: &str,
    target: Option<&TargetKey>,
    url: &Url,
    now: Now,
) -> Explanation {
    let mut url = url.clone();
    url.set_fragment(None);
    let mut explanation = Explanation {
        bot: bot.to_owned(),
        name: bot.to_owned(),
        target: None,
        outcome: Outcome::NoCharter,
        sentence: None,
        robots: None,
        answers: Vec::new(),
        next: None,
        now: now.wall,
        last: Vec::new(),
        zone: house.zone.clone(),
        url,
    };
    let Some(charter) = house.charter(bot) else {
        return explanation;
    };
    explanation.name.clone_from(&charter.identity.name);
    if let Some(out) = house.opt_out(&explanation.url) {
        let since = out.effective;
        explanation.decide(Outcome::OptedOut { since }, "opt-out", charter);
        return explanation;
    }
    let key = target.cloned().or_else(|| {
        let keys = covering(lane?, &explanation.url);
        keys.into_iter().find(|key| key.bot == bot)
    });
    let row = lane.zip(key.as_ref()).and_then(|(lane, key)| {
        let row = lane.targets.get(key).filter(|t| !t.left)?;
        Some((lane, row))
    });
    let Some((lane, target)) = row else {
        explanation.decide(Outcome::NotListed, "scope", charter);
        return explanation;
    };
    explanation.target = key;
    let scene = Scene {
        house,
        charter,
        lane,
        target: Some(target),
        now,
    };
    explanation.of_target(&scene, target);
    explanation
}

impl Explanation {
    fn decide(&mut self, outcome: Outcome, promise: &str, charter: &Charter) {
        self.outcome = outcome;
        self.sentence = by_id(promise).and_then(|promise| {
            Some(Sentence {
                promise: promise.id().to_owned(),
                words: Bilingual {
                    ja: promise.say(charter, Lang::Ja)?,
                    en: promise.say(charter, Lang::En)?,
                },
            })
        });
    }

    fn of_target(&mut self, scene: &Scene<'_>, target: &TargetState) {
        let charter = scene.charter;
        let ask = proposed(scene, target, &self.url);
        self.robots = robots(scene, &ask);
        let stale = self.robots.as_ref().is_none_or(|r| r.stale);
        let mut judgement = judge(scene, &ask);
        if stale {
            // A run would read robots.txt first and then ask again: what is refused for want of a
            // fresh one says nothing about the URL.
            judgement
                .answers
                .retain(|(id, _)| !id.starts_with("robots-"));
        }
        self.answers = judgement.answers.iter().map(answer).collect();
        if let Some(pause) = pause(scene, target, &self.url) {
            let (by, reason) = (pause.by.clone(), pause.reason.clone());
            self.next = pause.until;
            // A person's pause rests on no sentence of the page.
            let promise = by.clone();
            self.decide(Outcome::Paused { by, reason }, &promise, charter);
            return;
        }
        self.of_judgement(scene, target, &judgement, stale);
    }

    fn of_judgement(
        &mut self,
        scene: &Scene<'_>,
        target: &TargetState,
        judgement: &Judgement,
        stale: bool,
    ) {
        let (charter, now) = (scene.charter, scene.now.wall);
        let under_way = scene.lane.lane.visit.as_ref();
        let due = cadence::due(charter, target, &scene.house.zone.0);
        let due = (due > now && under_way.is_none_or(|v| v.target != target.key)).then_some(due);
        match judgement.decisive() {
            Some((id, Verdict::Refuse { why })) => {
                self.decide(Outcome::Refused { why: why.clone() }, id, charter);
            }
            Some((id, Verdict::Hold { until, why })) => {
                let why = why.clone();
                let person = *until == Until::Person;
                self.next = match until {
                    Until::At(at) => Some(*at),
                    Until::Person => None,
                };
                self.decide(Outcome::Held { why, person }, id, charter);
            }
            _ if self.robots_refuse() => {
                let why = self.robots_in_words();
                self.next = Some(due.unwrap_or(now));
                self.decide(Outcome::Refused { why }, "robots-obeyed", charter);
            }
            Some((id, Verdict::NotBefore(at))) if due.is_none_or(|due| due <= *at) => {
                self.next = Some(*at);
                self.decide(Outcome::Waits, id, charter);
            }
            _ if due.is_some() => {
                self.next = due;
                self.decide(Outcome::NotDue, "cadence", charter);
            }
            _ => {
                let robots_first = stale;
                self.next = Some(now);
                self.decide(Outcome::Fetched { robots_first }, "scope", charter);
            }
        }
    }

    /// Whether robots.txt, as last read, speaks against it.
    fn robots_refuse(&self) -> bool {
        matches!(
            self.robots.as_ref().map(|r| &r.says),
            Some(RobotsSays::Rule { allowed: false, .. })
        )
    }

    fn robots_in_words(&self) -> Bilingual {
        let in_words = |lang| {
            let robots = self.robots.as_ref();
            robots.map_or_else(String::new, |r| said::robots(self, r, lang))
        };
        Bilingual {
            ja: in_words(Lang::Ja),
            en: in_words(Lang::En),
        }
    }

    /// In plain words: what would happen, why, what comes next.
    #[must_use]
    pub fn words(&self, lang: Lang) -> String {
        said::words(self, lang)
    }

    /// As one JSON object with stable field names and RFC 3339 times.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        said::json(self)
    }
}

/// The request that a run would propose.
fn proposed(scene: &Scene<'_>, target: &TargetState, url: &Url) -> Ask {
    let (charter, lane) = (scene.charter, &scene.lane.lane);
    let under_way = lane.visit.as_ref().filter(|v| v.target == target.key);
    let listed = target.row.urls.iter().find(|u| is_same(u, url));
    let listed = listed.cloned().unwrap_or_else(|| url.to_string());
    let page = target
        .pages
        .get(&listed)
        .filter(|_| charter.visit.conditional);
    Ask {
        target: target.key.clone(),
        visit: under_way.map_or(lane.visits + 1, |v| v.id),
        kind: RequestKind::Page,
        url: url.clone(),
        answers_for: None,
        agent: charter.agent(RequestKind::Page).clone(),
        cause: None,
        hop: 0,
        validators: page.map(|p| p.validators()).unwrap_or_default(),
        // The drawn interval may be longer: what is said is "not before".
        draw: charter.pace.interval_min,
        pages: under_way.map_or(0, |v| v.pages),
        listed,
    }
}

fn pause<'a>(scene: &Scene<'a>, target: &'a TargetState, url: &Url) -> Option<&'a Paused> {
    let now = scene.now.wall;
    let in_force = |p: &&Paused| p.until.is_none_or(|until| now < until);
    let of_target = LaneState::target_reach(&target.key);
    let by_name = |p: &&Paused| p.reach == of_target;
    scene
        .house
        .pause(url, now)
        .or_else(|| {
            scene
                .house
                .facts
                .pauses
                .iter()
                .filter(in_force)
                .find(by_name)
        })
        .or(target.pause.as_ref().filter(in_force))
}

fn robots(scene: &Scene<'_>, ask: &Ask) -> Option<Robots> {
    let agent = scene.charter.agent(RequestKind::Robots);
    let key = robots_key(Origin::of(&ask.url).as_str(), &agent.user_agent);
    let record = scene.lane.lane.robots.get(&key)?;
    let says = match &record.verdict {
        RobotsVerdict::Means { meaning, why } => RobotsSays::Means {
            hold: *meaning == RobotsMeaning::Hold,
            why: why.clone(),
        },
        RobotsVerdict::Rules(digest) => match scene.lane.rules.get(digest) {
            None => RobotsSays::Unread,
            Some(rules) => by_rule(rules, &ask.agent.token, &ask.url),
        },
    };
    Some(Robots {
        read: record.at,
        stale: is_stale(scene, ask, record),
        says,
    })
}

fn by_rule(rules: &reigi_robots::Rules, token: &str, url: &Url) -> RobotsSays {
    let verdict = rules.verdict(token, url.as_str());
    let Some(rule) = verdict.rule else {
        return RobotsSays::NoRule;
    };
    let field = if rule.allow { "Allow" } else { "Disallow" };
    RobotsSays::Rule {
        allowed: verdict.allowed,
        line: rule.line,
        rule: format!("{field}: {}", rule.pattern),
        own_group: verdict.group == Group::Own,
    }
}

fn is_stale(scene: &Scene<'_>, ask: &Ask, record: &RobotsRecord) -> bool {
    let now = scene.now.wall;
    match scene.charter.robots.fresh_for {
        Freshness::Visit => record.visit != (ask.target.clone(), ask.visit),
        Freshness::For(span) => record.at > now || now.since(record.at) >= span,
    }
}

fn answer((promise, verdict): &(&'static str, Verdict)) -> Answer {
    let (word, until, why) = match verdict {
        Verdict::Pass => ("pass", None, None),
        Verdict::NotBefore(at) => ("not-before", Some(*at), None),
        Verdict::Hold { until, why } => {
            let at = match until {
                Until::At(at) => Some(*at),
                Until::Person => None,
            };
            ("hold", at, Some(why.clone()))
        }
        Verdict::Refuse { why } => ("refuse", None, Some(why.clone())),
    };
    Answer {
        promise: (*promise).to_owned(),
        verdict: word.to_owned(),
        until: until.map(Timestamp::rfc3339),
        why,
    }
}
