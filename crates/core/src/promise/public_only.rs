//! `public-only`: GET without cookie or credential, to addresses that the public web can have.
//!
//! Seed: B "認証なしで一般に公開されているページ", "取得にはGETリクエストのみ". The address is checked
//! on the socket that is used, not on a name (G15).

use std::net::{IpAddr, SocketAddr};

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang};
use crate::event::{Answered, Event};
use crate::gate::{Ask, Scene, Verdict};
use crate::host::is_special;

/// See the module.
pub struct PublicOnly;

/// The lane's looked-up addresses that may be connected to.
pub(crate) fn vetted(scene: &Scene<'_>) -> Vec<IpAddr> {
    let found = scene
        .lane
        .addresses
        .as_ref()
        .and_then(|a| a.found.as_ref().ok());
    let found = found.into_iter().flatten().copied();
    found
        .filter(|address| may_connect(scene, *address))
        .collect()
}

/// An acceptance charter bears another house's name: it reaches loopback and nothing else
/// (DECISIONS 26). Others reach the public web, and what the house file allows for tests.
fn may_connect(scene: &Scene<'_>, address: IpAddr) -> bool {
    if scene.charter.acceptance {
        return address.to_canonical().is_loopback();
    }
    let allowed = || {
        scene
            .house
            .allow_private
            .iter()
            .any(|block| block.contains(address))
    };
    !is_special(address) || allowed()
}

impl Promise for PublicOnly {
    fn id(&self) -> &'static str {
        "public-only"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "公開ページだけ",
            Lang::En => "Public pages only",
        }
    }

    fn say(&self, _charter: &Charter, lang: Lang) -> Option<String> {
        Some(match lang {
            Lang::Ja => "だれでも認証なしに読めるページだけを対象とし、GET だけで取得します。Cookie や認証情報は送らず、保存もしません。組織内のアドレスには接続しません。".into(),
            Lang::En => "We read only pages that anyone can read without signing in, and only by GET. We send and keep no cookie and no credential, and connect to no private address.".into(),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        if !matches!(ask.url.scheme(), "http" | "https") {
            return Verdict::refuse("http(s) の URL ではありません。", "The URL is not http(s).");
        }
        let known = scene
            .lane
            .addresses
            .as_ref()
            .is_some_and(|a| a.found.is_ok());
        if !known || !vetted(scene).is_empty() {
            return Verdict::Pass;
        }
        if scene.charter.acceptance {
            return Verdict::refuse(
                "この規約は見本で、ループバックのアドレスにしか接続しません。",
                "This charter is an example: it connects to loopback addresses only.",
            );
        }
        Verdict::refuse(
            "ホスト名が一般に公開されたアドレスを指していません。",
            "The host's name leads to no address of the public web.",
        )
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Openly::default()))
    }
}

/// Each request head as it left, and the address at the other end.
#[derive(Default)]
struct Openly(Finding);

impl Proof for Openly {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let (Event::Answered(answered), Some((_, admitted))) = (entry.event, entry.admitted) else {
            return;
        };
        let seq = entry.header.seq;
        if answered.sent.is_some() {
            let found = private_field(answered);
            self.0.check(found.is_none(), seq, || {
                format!("the request carried {}", found.unwrap_or_default())
            });
        }
        let Some(remote) = answered.remote.as_deref() else {
            return;
        };
        let Ok(remote) = remote.parse::<SocketAddr>() else {
            self.0.check(false, seq, || {
                "the far end's address does not read".to_owned()
            });
            return;
        };
        let vetted = admitted.addresses.contains(&remote.ip());
        let Some(charter) = versions.charter(admitted.charter) else {
            self.0.undecidable(seq, "its charter is not readable");
            return;
        };
        let ip = remote.ip().to_canonical();
        if vetted && !charter.acceptance && is_special(ip) {
            // Only the house file can have allowed it, and that is not in the journal.
            self.0.undecidable(
                seq,
                format!("{ip} is no public address; the house file allows it for tests"),
            );
            return;
        }
        let kept = vetted && (!charter.acceptance || ip.is_loopback());
        self.0.check(kept, seq, || {
            format!("connected to {ip}, which the permit does not name or allow")
        });
    }

    fn finish(self: Box<Self>) -> Finding {
        self.0
    }
}

/// What a courteous, public GET does not carry.
fn private_field(answered: &Answered) -> Option<String> {
    let Some(head) = answered.request_head.as_text() else {
        return Some("bytes that are no text".to_owned());
    };
    let mut lines = head.lines();
    if !lines.next().is_some_and(|line| line.starts_with("GET ")) {
        return Some("another method than GET".to_owned());
    }
    let name = |line: &str| {
        line.split(':')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    };
    let private = ["cookie", "authorization", "proxy-authorization", "referer"];
    lines
        .map(name)
        .find(|name| private.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{History, LANE, PAGE, Stage, word};
    use super::*;
    use crate::fetched::WireText;
    use crate::host::Block;
    use crate::state::lane::Addresses;
    use crate::time::Mono;

    #[test]
    fn addresses_decide_once_they_are_known() {
        let loopback = Block::parse("127.0.0.0/8");
        for (acceptance, allow, found, expected) in [
            (true, None, Ok("127.0.0.1"), "pass"),
            (true, None, Ok("93.184.215.14"), "refuse"),
            (
                true,
                Block::parse("0.0.0.0/0"),
                Ok("93.184.215.14"),
                "refuse",
            ),
            (false, None, Ok("93.184.215.14"), "pass"),
            (false, None, Ok("127.0.0.1"), "refuse"),
            (false, loopback, Ok("127.0.0.1"), "pass"),
            (false, None, Ok("169.254.169.254"), "refuse"),
            (false, None, Ok("::ffff:10.0.0.1"), "refuse"),
            (false, None, Err("no such name"), "pass"),
        ] {
            let mut stage = Stage::new();
            stage.charter.acceptance = acceptance;
            stage.house.allow_private.extend(allow);
            let found = found
                .map(|ip| vec![ip.parse().unwrap()])
                .map_err(str::to_owned);
            stage.lane.addresses = Some(Addresses {
                at: Mono::default(),
                found: found.clone(),
            });
            assert_eq!(
                word(&stage.hold(&PublicOnly, &stage.ask(PAGE))),
                expected,
                "{acceptance} {found:?}"
            );
        }
    }

    #[test]
    fn cookies_other_methods_and_strange_addresses_are_named() {
        let plain = "GET /price HTTP/1.1\r\nhost: school.example.jp\r\n";
        for (head, remote, expected) in [
            (plain.to_owned(), "127.0.0.1:80", 0),
            (format!("{plain}Cookie: a=b\r\n"), "127.0.0.1:80", 1),
            (format!("{plain}referer: https://a/\r\n"), "127.0.0.1:80", 1),
            (plain.replace("GET", "POST"), "127.0.0.1:80", 1),
            (plain.to_owned(), "127.0.0.2:80", 1),
        ] {
            let mut history = History::new();
            history.open();
            let mut page = history.page(PAGE);
            page.addresses = vec!["127.0.0.1".parse().unwrap()];
            let admitted = history.admit(page);
            let mut answer = history.answer(admitted);
            answer.request_head = WireText::Text(format!("{head}\r\n"));
            answer.remote = Some(remote.to_owned());
            history.push(LANE, answer);
            assert_eq!(
                history.breaches(&PublicOnly).len(),
                expected,
                "{head:?} {remote}"
            );
        }
    }

    #[test]
    fn a_head_that_is_no_text_proves_nothing_private() {
        let mut history = History::new();
        history.open();
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.request_head = WireText::from(&b"GET / HTTP/1.1\r\ncookie: \xff\r\n\r\n"[..]);
        let answered = history.push(LANE, answer);
        assert_eq!(history.breaches(&PublicOnly), [answered]);
    }
}
