//! `opt-out`: who asks to be left alone is left alone, by every bot of the house, from the next
//! request on, redirects included.
//!
//! Seed: B "停止依頼を受けたURLは、確認後すみやかに対象から外します"; DECISIONS 14: "before the
//! next request" means the journal's order.

use url::Url;

use super::reach::Covered;
use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Event, Seq};
use crate::gate::{Ask, Scene, Verdict};

/// See the module.
pub struct OptOut;

impl Promise for OptOut {
    fn id(&self) -> &'static str {
        "opt-out"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "停止のご依頼",
            Lang::En => "Opt-out",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let (contact, token) = (&charter.identity.contact_url, &charter.identity.agent.token);
        Some(match lang {
            Lang::Ja => format!(
                "停止をご希望の方は {contact} からURLをお知らせいただくか、robots.txt で {token} を Disallow してください。ご依頼を記録した時点で次のリクエストから止まり、ほかのページからのリダイレクト先としても取得しません。"
            ),
            Lang::En => format!(
                "To stop us, send the URL to {contact}, or disallow {token} in robots.txt. Once a wish is recorded no further request goes there, not even as the target of a redirect."
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let listed = Url::parse(&ask.listed).ok();
        let mut urls = [Some(&ask.url), listed.as_ref()].into_iter().flatten();
        if urls.any(|url| scene.house.opt_out(url).is_some()) {
            return Verdict::refuse(
                "停止のご依頼をいただいています。",
                "We were asked to stay away.",
            );
        }
        Verdict::Pass
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Wishes::default()))
    }
}

#[derive(Default)]
struct Wishes {
    finding: Finding,
    in_force: Covered<Seq>,
}

impl Proof for Wishes {
    fn see(&mut self, entry: &Seen<'_>, _versions: &Versions<'_>) {
        let seq = entry.header.seq;
        match entry.event {
            Event::OptedOut(wish) if wish.withdrawn => self.in_force.lift(&wish.reach),
            Event::OptedOut(wish) => {
                let is_clear = self.in_force.put(&wish.reach, seq);
                if !is_clear {
                    self.finding
                        .undecidable(seq, "what the wish covers cannot be read");
                }
            }
            Event::Admitted(admitted) => {
                let mut against: Vec<&Seq> = Vec::new();
                if !self.in_force.is_empty() {
                    against.extend(self.in_force.of_target(&admitted.bot, &admitted.target));
                    against.extend(self.in_force.of_url(&admitted.url));
                    against.extend(self.in_force.of_url(&admitted.listed));
                }
                let wish = against.first().map(|wish| wish.0);
                self.finding.check(wish.is_none(), seq, || {
                    format!("asked for after the wish of entry {}", wish.unwrap_or(0))
                });
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
    use super::*;
    use crate::event::{Admitted, OptedOut, Reach};
    use crate::promise::testing::{History, OTHER_PAGE, PAGE, Stage, at, word};
    use crate::state::house;

    fn wish(reach: Reach, withdrawn: bool) -> OptedOut {
        OptedOut {
            reach,
            by: "sato".to_owned(),
            reason: "by mail".to_owned(),
            received: at(0.0).wall,
            withdrawn,
            epoch: 2,
        }
    }

    #[test]
    fn wishes_are_followed_for_hops_and_by_what_they_cover() {
        let host = |name: &str| Reach::Host(name.to_owned());
        let domain = |name: &str| Reach::Domain(name.to_owned());
        let twin = "https://www.school.example.jp/price";
        for (reach, url, listed, expected) in [
            (host("other.example.jp"), PAGE, PAGE, "pass"),
            (host("school.example.jp"), PAGE, PAGE, "refuse"),
            (domain("example.jp"), PAGE, PAGE, "refuse"),
            (host("www.school.example.jp"), twin, PAGE, "refuse"),
            (Reach::Prefix(PAGE.to_owned()), twin, PAGE, "refuse"),
            (
                Reach::Prefix(PAGE.to_owned()),
                OTHER_PAGE,
                OTHER_PAGE,
                "pass",
            ),
        ] {
            let mut stage = Stage::new();
            stage.house.facts.opt_outs.push(house::OptOut {
                reach: reach.clone(),
                received: at(0.0).wall,
                effective: at(0.0).wall,
            });
            let ask = Ask {
                listed: listed.to_owned(),
                ..stage.ask(url)
            };
            let got = stage.hold(&OptOut, &ask);
            assert_eq!(word(&got), expected, "{reach:?} {url}");

            let mut history = History::new();
            history.open();
            history.house(wish(reach.clone(), false));
            let page = history.page(url);
            let seq = history.admit(Admitted {
                listed: listed.to_owned(),
                ..page
            });
            let named = if expected == "pass" {
                vec![]
            } else {
                vec![seq]
            };
            assert_eq!(history.breaches(&OptOut), named, "{reach:?} {url}");
        }
    }

    #[test]
    fn a_wish_holds_from_its_entry_until_it_is_taken_back() {
        let mut history = History::new();
        history.open();
        history.fetch(PAGE);
        let reach = Reach::Host("school.example.jp".to_owned());
        history.house(wish(reach.clone(), false));
        let broken = history.admit(history.page(OTHER_PAGE));
        history.house(wish(reach, true));
        history.admit(history.page(OTHER_PAGE));
        assert_eq!(history.breaches(&OptOut), [broken]);
    }

    #[test]
    fn a_wish_nobody_can_read_leaves_the_proof_open() {
        let mut history = History::new();
        history.house(wish(Reach::Prefix("school".to_owned()), false));
        assert_eq!(history.prove(&OptOut).undecidable, 1);
    }
}
