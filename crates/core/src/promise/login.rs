//! `login`: nothing from behind a login, a membership or a form.
//!
//! Seed: B "会員ページ、管理画面、ログインが必要な領域、フォーム送信の先にある情報は取得しません". A page that
//! turns out to ask for a login is unconfirmed, and its body is not kept (DECISIONS 31).

use std::collections::HashMap;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Event, Observation, Seq};
use crate::gate::{Ask, Scene, Verdict};

/// See the module.
pub struct Login;

impl Promise for Login {
    fn id(&self) -> &'static str {
        "login"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "ログインの先",
            Lang::En => "Behind a login",
        }
    }

    fn say(&self, _charter: &Charter, lang: Lang) -> Option<String> {
        Some(match lang {
            Lang::Ja => "ログインや会員登録、フォームの送信が要る場所には入りません。求められたときは「確認できず」と記録し、本文は残しません。".into(),
            Lang::En => "We never go behind a login, a registration or a form. Where one is asked for, we record \"unconfirmed\" and keep no body.".into(),
        })
    }

    fn hold(&self, _scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let credentials = !ask.url.username().is_empty() || ask.url.password().is_some();
        if credentials {
            Verdict::refuse(
                "URL に認証情報が含まれています。",
                "The URL carries credentials.",
            )
        } else {
            Verdict::Pass
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Doors::default()))
    }
}

/// Answers that asked for a login kept no body; no URL carried credentials.
#[derive(Default)]
struct Doors {
    finding: Finding,
    /// The last answer of each target, in whatever lane, and whether its body was kept.
    last: HashMap<(String, String), (Seq, bool)>,
}

impl Proof for Doors {
    fn see(&mut self, entry: &Seen<'_>, _versions: &Versions<'_>) {
        let seq = entry.header.seq;
        match entry.event {
            Event::Admitted(admitted) => {
                let authority = admitted.url.split_once("://").map_or("", |(_, rest)| rest);
                let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
                let kept = !authority.contains('@');
                self.finding.check(kept, seq, || {
                    "a URL with credentials was asked for".to_owned()
                });
            }
            Event::Answered(answered) => {
                let kept = answered.body.is_some();
                if let Some((_, admitted)) = entry.admitted {
                    let target = (admitted.bot.clone(), admitted.target.clone());
                    self.last.insert(target, (seq, kept));
                }
                if answered.outcome.status() == Some(401) {
                    self.finding.check(!kept, seq, || {
                        "the body of a login answer was kept".to_owned()
                    });
                }
            }
            Event::Observed(observed) => {
                let Observation::Unconfirmed { reason } = &observed.observation else {
                    return;
                };
                let target = (observed.bot.clone(), observed.target.clone());
                let last = self.last.get(&target).copied();
                if reason.starts_with("login")
                    && let (Some(of), Some((answer, kept))) = (observed.answered, last)
                    && of == answer
                {
                    self.finding.check(!kept, seq, || {
                        "the body of a login page was kept".to_owned()
                    });
                }
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{BOT, History, LANE, PAGE, Stage, TARGET, word};
    use super::*;
    use crate::event::{LaneId, Observed};
    use crate::fetched::Outcome;

    #[test]
    fn a_url_with_credentials_is_refused() {
        let stage = Stage::new();
        assert_eq!(word(&stage.hold(&Login, &stage.ask(PAGE))), "pass");
        let ask = stage.ask("https://user:secret@school.example.jp/price");
        assert_eq!(word(&stage.hold(&Login, &ask)), "refuse");
    }

    #[test]
    fn a_kept_login_page_is_named() {
        for (kept, status, breaches) in [
            (false, 200, 0),
            (true, 200, 1),
            (false, 401, 0),
            (true, 401, 2),
        ] {
            let mut history = History::new();
            history.open();
            let admitted = history.admit(history.page(PAGE));
            let mut answer = history.answer(admitted);
            answer.outcome = Outcome::Status(status);
            answer.body = answer.body.filter(|_| kept);
            let answered = history.push(LANE, answer);
            let observed = Observed {
                visit: 1,
                bot: BOT.to_owned(),
                target: TARGET.to_owned(),
                url: PAGE.to_owned(),
                observation: Observation::Unconfirmed {
                    reason: "login".to_owned(),
                },
                answered: Some(answered),
                version: None,
            };
            history.push(LANE, observed);
            assert_eq!(history.breaches(&Login).len(), breaches, "{kept} {status}");
        }
    }

    #[test]
    fn a_login_page_behind_a_hop_in_another_lane_is_named() {
        let mut history = History::new();
        history.open();
        let (twin, bytes) = (
            LaneId(2),
            history.page("https://www.school.example.jp/price"),
        );
        let admitted = history.push(twin, bytes);
        let answered = history.push(twin, history.answer(admitted));
        let reason = "login".to_owned();
        let observed = super::super::testing::observed(
            1,
            PAGE,
            Observation::Unconfirmed { reason },
            Some(answered),
        );
        let named = history.push(LANE, observed);
        assert_eq!(history.breaches(&Login), [named]);
    }
}
