//! `identity`: every request says who we are, byte for byte as on the page.
//!
//! Seeds: all three; B "すべてのリクエストに次の User-Agent を付けます" and its UA string.

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::event::{Event, LaneId};
use crate::gate::{Ask, Scene, Verdict};

/// See the module.
pub struct Identity;

impl Promise for Identity {
    fn id(&self) -> &'static str {
        "identity"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "名乗り",
            Lang::En => "Identity",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let (page, robots) = (
            charter.agent(RequestKind::Page),
            charter.agent(RequestKind::Robots),
        );
        let mut text = match lang {
            Lang::Ja => format!(
                "どのリクエストにも User-Agent「{}」を付け、自動取得であることと連絡先がアクセスログから分かるようにします。robots.txt での名前は {} です。",
                page.user_agent, page.token
            ),
            Lang::En => format!(
                "Every request carries the User-Agent \"{}\", so that an access log shows that it is automatic and whom to ask. In robots.txt our name is {}.",
                page.user_agent, page.token
            ),
        };
        if robots != page {
            text += &match lang {
                Lang::Ja => format!(
                    "robots.txt の取得だけは「{}」（名前は {}）です。",
                    robots.user_agent, robots.token
                ),
                Lang::En => format!(
                    " Only robots.txt is asked for as \"{}\" (name {}).",
                    robots.user_agent, robots.token
                ),
            };
        }
        Some(text)
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let own = scene.charter.agent(ask.kind);
        if ask.agent == *own && own.user_agent.contains(&own.token) {
            Verdict::Pass
        } else {
            Verdict::refuse(
                "名乗りが規約と違います。",
                "The request does not name us as the charter says.",
            )
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Names::default()))
    }
}

/// The charter that each permit names, and the User-Agent field of each request head as it left.
#[derive(Default)]
struct Names(Finding);

impl Proof for Names {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let seq = entry.header.seq;
        if let Event::Admitted(admitted) = entry.event {
            // Every other proof judges by the charter that the permit names.
            let in_force = versions.in_force.get(&admitted.bot);
            if in_force != Some(&admitted.charter) && versions.is_erased_in(LaneId::HOUSE) {
                self.0.undecidable(seq, "an adoption was erased");
            } else {
                self.0.check(in_force == Some(&admitted.charter), seq, || {
                    "it names another charter than the one in force".to_owned()
                });
            }
        }
        let (Event::Answered(answered), Some((_, admitted))) = (entry.event, entry.admitted) else {
            return;
        };
        let Some(charter) = versions.charter(admitted.charter) else {
            self.0.undecidable(seq, "its charter is not readable");
            return;
        };
        if answered.sent.is_none() {
            return;
        }
        let promised = match admitted.kind {
            RequestKind::Page => &charter.identity.agent,
            RequestKind::Robots => charter
                .identity
                .robots_agent
                .as_ref()
                .unwrap_or(&charter.identity.agent),
        };
        let Some(head) = answered.request_head.as_text() else {
            self.0
                .check(false, seq, || "the request head is no text".to_owned());
            return;
        };
        let sent: Vec<&str> = head
            .lines()
            .filter_map(|line| line.split_once(':'))
            .filter(|(name, _)| name.eq_ignore_ascii_case("user-agent"))
            .map(|(_, value)| value.trim())
            .collect();
        let kept =
            sent == [promised.user_agent.as_str()] && admitted.user_agent == promised.user_agent;
        self.0.check(kept, seq, || {
            format!(
                "sent User-Agent {sent:?}, promised {:?}",
                promised.user_agent
            )
        });
    }

    fn finish(self: Box<Self>) -> Finding {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{History, PAGE, Stage, word};
    use super::*;
    use crate::fetched::WireText;

    #[test]
    fn a_request_under_another_name_is_refused() {
        let stage = Stage::new();
        let mut ask = stage.ask(PAGE);
        assert_eq!(word(&stage.hold(&Identity, &ask)), "pass");
        ask.agent.user_agent = "Mozilla/5.0".to_owned();
        assert_eq!(word(&stage.hold(&Identity, &ask)), "refuse");
    }

    #[test]
    fn the_head_that_left_must_carry_the_name_once() {
        for (fields, kept) in [
            ("user-agent: {UA}\r\n", true),
            ("User-Agent:   {UA}  \r\n", true),
            ("", false),
            ("user-agent: other\r\n", false),
            ("user-agent: {UA}\r\nuser-agent: other\r\n", false),
        ] {
            let mut history = History::new();
            history.open();
            let admitted = history.admit(history.page(PAGE));
            let fields = fields.replace("{UA}", &history.charter.identity.agent.user_agent);
            let mut answer = history.answer(admitted);
            answer.request_head = WireText::Text(format!("GET /price HTTP/1.1\r\n{fields}\r\n"));
            let answered = history.push(super::super::testing::LANE, answer);
            let expected = if kept { vec![] } else { vec![answered] };
            assert_eq!(history.breaches(&Identity), expected, "{fields:?}");
        }
    }

    #[test]
    fn a_permit_under_a_charter_that_is_no_longer_in_force_is_named() {
        let mut history = History::new();
        history.open();
        history.fetch(PAGE);
        history.adopt(|charter| charter.updated = "2026-12-01".to_owned());
        assert_eq!(history.breaches(&Identity), []);
        let stale = history.admit(history.page(PAGE));
        assert_eq!(history.breaches(&Identity), [stale]);
    }
}
