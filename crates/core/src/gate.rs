//! The one gate: judges one request, and alone can mint the right to send it.
//!
//! It asks every promise; the strictest answer wins, so that a promise more can only slow the bot.
//! A [`Permit`] has private fields, no `Clone` and no other constructor: the fetcher takes it by
//! value, so a request that was not judged does not compile.

use std::net::IpAddr;
use std::time::Duration;

use url::Url;

use crate::charter::{Agent, Bilingual, Charter, RequestKind};
use crate::event::{Admitted, RobotsBasis, Seq, Validators, VisitId};
use crate::host::Origin;
use crate::promise::{PROMISES, Promise};
use crate::state::{House, LaneState, TargetKey, TargetState};
use crate::time::{Now, Timestamp};

/// A permit is minted up to this long before its window opens, so that look-up, connect and TLS
/// do not cost pace.
pub const LEAD: Duration = Duration::from_millis(500);
/// Length of the window in which the request head may leave (DECISIONS 12).
pub const WINDOW: Duration = Duration::from_secs(5);
/// Window of a request that a pacer spaces: short, because the next start counts from its end.
pub const PACED_WINDOW: Duration = Duration::from_millis(50);

/// A request as proposed.
#[derive(Clone, PartialEq, Debug)]
pub struct Ask {
    /// Bot and row.
    pub target: TargetKey,
    /// The visit.
    pub visit: VisitId,
    /// What is asked for.
    pub kind: RequestKind,
    /// The URL.
    pub url: Url,
    /// The listed URL that it is asked for.
    pub listed: String,
    /// For robots.txt: the origin that the answer will speak for.
    pub answers_for: Option<Origin>,
    /// Who we say we are.
    pub agent: Agent,
    /// The answer whose redirect leads here.
    pub cause: Option<Seq>,
    /// 0, or the hop's number.
    pub hop: u8,
    /// Validators to send.
    pub validators: Validators,
    /// The drawn interval: a lower bound, at least the charter's `interval_min`.
    pub draw: Duration,
    /// GETs other than robots.txt that the visit has made.
    pub pages: u32,
}

/// What the gate looks at.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The house.
    pub house: &'a House,
    /// The asking bot's charter.
    pub charter: &'a Charter,
    /// The lane of the URL's host.
    pub lane: &'a LaneState,
    /// The ledger row; `None` for a hop that another lane's visit waits for (that lane judged it).
    pub target: Option<&'a TargetState>,
    /// Both clocks.
    pub now: Now,
}

/// A promise's answer about one request, from lenient to strict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Nothing against it.
    Pass,
    /// Not yet.
    NotBefore(Timestamp),
    /// Unsure: nothing of this URL now.
    Hold {
        /// What ends it.
        until: Until,
        /// Why, for people.
        why: Bilingual,
    },
    /// Not at all.
    Refuse {
        /// Why, for people.
        why: Bilingual,
    },
}

/// What ends a hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Until {
    /// Time.
    At(Timestamp),
    /// A person.
    Person,
}

impl Verdict {
    /// A hold with its reason in both languages.
    #[must_use]
    pub fn hold(until: Until, ja: impl Into<String>, en: impl Into<String>) -> Self {
        Self::Hold {
            until,
            why: Bilingual {
                ja: ja.into(),
                en: en.into(),
            },
        }
    }

    /// A refusal with its reason in both languages.
    #[must_use]
    pub fn refuse(ja: impl Into<String>, en: impl Into<String>) -> Self {
        Self::Refuse {
            why: Bilingual {
                ja: ja.into(),
                en: en.into(),
            },
        }
    }

    /// Key of the order `Pass < NotBefore(t) < Hold(t) < Hold(person) < Refuse`.
    #[must_use]
    pub fn strictness(&self) -> (u8, Timestamp) {
        match self {
            Self::Pass => (0, Timestamp::default()),
            Self::NotBefore(at) => (1, *at),
            Self::Hold {
                until: Until::At(at),
                ..
            } => (2, *at),
            Self::Hold {
                until: Until::Person,
                ..
            } => (3, Timestamp::default()),
            Self::Refuse { .. } => (4, Timestamp::default()),
        }
    }
}

/// Every promise's answer above `Pass`, strictest first; ties in the registry's order.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// Promise id and its answer.
    pub answers: Vec<(&'static str, Verdict)>,
}

impl Judgement {
    /// The answer that decides.
    #[must_use]
    pub fn decisive(&self) -> Option<&(&'static str, Verdict)> {
        self.answers.first()
    }
}

/// Asks every promise.
#[must_use]
pub fn judge(scene: &Scene<'_>, ask: &Ask) -> Judgement {
    judge_by(PROMISES.iter().copied(), scene, ask)
}

/// Asks these promises; one more can only make the judgement stricter.
pub(crate) fn judge_by(
    promises: impl Iterator<Item = &'static dyn Promise>,
    scene: &Scene<'_>,
    ask: &Ask,
) -> Judgement {
    let mut answers: Vec<_> = promises
        .filter(|promise| promise.is_made(scene.charter))
        .map(|promise| (promise.id(), promise.hold(scene, ask)))
        .filter(|(_, verdict)| *verdict != Verdict::Pass)
        .collect();
    answers.sort_by_key(|(_, verdict)| std::cmp::Reverse(verdict.strictness()));
    Judgement { answers }
}

/// Judges a request; mints the permit if nothing stands against it, or only time shorter than
/// [`LEAD`].
///
/// # Errors
/// The judgement that says no, or not yet.
pub fn decide(scene: &Scene<'_>, ask: Ask) -> Result<Permit, Judgement> {
    let judgement = judge(scene, &ask);
    let opens = match judgement.decisive() {
        None => scene.now.wall,
        Some((_, Verdict::NotBefore(at))) if *at <= scene.now.wall.plus(LEAD) => *at,
        Some(_) => return Err(judgement),
    };
    Ok(Permit::mint(scene, ask, opens))
}

/// The right to send one request, once, within its window.
#[must_use]
#[derive(Debug)]
pub struct Permit {
    admitted: Admitted,
    timeout: Duration,
    max_bytes: u64,
}

impl Permit {
    fn mint(scene: &Scene<'_>, ask: Ask, opens: Timestamp) -> Self {
        let (charter, now) = (scene.charter, scene.now);
        let at = |wall: Timestamp| Now {
            wall,
            mono: now.mono_at(wall),
        };
        let pacers: Vec<String> = crate::promise::global_interval::pacer(charter)
            .into_iter()
            .collect();
        let window = if pacers.is_empty() {
            WINDOW
        } else {
            PACED_WINDOW
        };
        // A paced window is short: it opens late enough to look up, connect and agree on TLS before.
        let soonest = if pacers.is_empty() {
            now.wall
        } else {
            now.wall.plus(LEAD)
        };
        let opens = opens.max(soonest);
        let addresses = crate::promise::public_only::vetted(scene);
        let max_bytes = match ask.kind {
            RequestKind::Robots => charter.robots.max_bytes,
            RequestKind::Page => charter.limits.max_bytes,
        };
        let admitted = Admitted {
            visit: ask.visit,
            bot: ask.target.bot.clone(),
            target: ask.target.id.clone(),
            kind: ask.kind,
            robots: robots_basis(scene, &ask),
            url: ask.url.to_string(),
            listed: ask.listed,
            answers_for: ask.answers_for.map(|o| o.as_str().to_owned()),
            user_agent: ask.agent.user_agent,
            token: ask.agent.token,
            charter: charter.digest,
            epoch: scene.house.facts.epoch,
            cause: ask.cause,
            hop: ask.hop,
            validators: ask.validators,
            addresses,
            draw_us: u64::try_from(ask.draw.as_micros()).unwrap_or(u64::MAX),
            not_before: at(opens),
            send_by: at(opens.plus(window)),
            pacers,
        };
        Self {
            admitted,
            timeout: charter.limits.timeout,
            max_bytes,
        }
    }

    /// What is journalled before the socket opens.
    #[must_use]
    pub fn admitted(&self) -> &Admitted {
        &self.admitted
    }

    /// Addresses that may be connected to, in order.
    #[must_use]
    pub fn addresses(&self) -> &[IpAddr] {
        &self.admitted.addresses
    }

    /// From connecting to the last byte.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Most decoded bytes of the body; one more makes the answer too large.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }
}

fn robots_basis(scene: &Scene<'_>, ask: &Ask) -> Option<RobotsBasis> {
    (ask.kind == RequestKind::Page)
        .then(|| crate::promise::robots_obeyed::basis(scene, ask))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::promise::testing::{PAGE, Stage};
    use crate::state::lane::Addresses;

    /// A paced window is 50 ms: without time to connect before it, no https site could be reached.
    #[test]
    fn a_paced_window_leaves_time_to_connect() {
        for (interval, opens_after) in [(None, Duration::ZERO), (Some(300), LEAD)] {
            let mut stage = Stage::new();
            stage.charter.pace.global_interval = interval.map(Duration::from_millis);
            let found = Ok(vec![IpAddr::from([127, 0, 0, 1])]);
            stage.lane.addresses = Some(Addresses {
                at: stage.now.mono,
                found,
            });
            let mut ask = stage.ask("https://school.example.jp/robots.txt");
            ask.kind = RequestKind::Robots;
            ask.listed = PAGE.to_owned();
            ask.answers_for = Some(Origin::of(&ask.url));
            let scene = Scene {
                house: &stage.house,
                charter: &stage.charter,
                lane: &stage.lane,
                target: stage.target.as_ref(),
                now: stage.now,
            };
            let permit = decide(&scene, ask).expect("nothing stands against it");
            let admitted = permit.admitted();
            assert_eq!(admitted.not_before.mono, stage.now.mono.plus(opens_after));
            let window = admitted.send_by.mono.since(admitted.not_before.mono);
            assert_eq!(
                window,
                if interval.is_some() {
                    PACED_WINDOW
                } else {
                    WINDOW
                }
            );
        }
    }
}
