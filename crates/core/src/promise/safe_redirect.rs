//! `safe-redirect`: a redirect is followed only where a courteous client would: http(s), no
//! credentials, never from https down to http, a bounded number of hops, each through the gate.
//!
//! Seed: B "危険なリダイレクトの場合は新規取得を保留"; DECISIONS 16, RFC 9309 section 2.3.1.2.
//! Which hosts a hop may lead to is `scope`, which addresses is `public-only`.

use std::collections::BTreeMap;

use url::Url;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::crawl::ROBOTS_HOPS_MAX;
use crate::event::{Admitted, Event, Seq, VisitId};
use crate::gate::{Ask, Scene, Until, Verdict};
use crate::journal::Header;

/// See the module.
pub struct SafeRedirect;

impl Promise for SafeRedirect {
    fn id(&self) -> &'static str {
        "safe-redirect"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "リダイレクト",
            Lang::En => "Redirects",
        }
    }

    fn say(&self, charter: &Charter, lang: Lang) -> Option<String> {
        let (pages, robots) = (charter.limits.redirects_max, ROBOTS_HOPS_MAX);
        Some(match (lang, pages) {
            (Lang::Ja, 0) => format!(
                "ページのリダイレクトはたどりません（robots.txt は{robots}回まで）。転送先も一つのリクエストとして、ほかのすべての約束に照らします。https から http へ戻す転送や、認証情報を含む転送先など、危険なものは保留します。"
            ),
            (Lang::Ja, _) => format!(
                "リダイレクトはページで{pages}回、robots.txt で{robots}回までたどります。転送先も一つのリクエストとして、ほかのすべての約束に照らします。https から http へ戻す転送や、認証情報を含む転送先など、危険なものは保留します。"
            ),
            (Lang::En, 0) => format!(
                "Redirects of pages are not followed (of robots.txt, up to {robots}). Each hop is a request like any other and under every other promise. A dangerous one is held: from https back to http, or to an address with credentials in it."
            ),
            (Lang::En, _) => format!(
                "Up to {pages} redirects of a page and {robots} of a robots.txt are followed. Each hop is a request like any other and under every other promise. A dangerous one is held: from https back to http, or to an address with credentials in it."
            ),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let held = |ja: &str, en: &str| Verdict::hold(Until::Person, ja, en);
        if !matches!(ask.url.scheme(), "http" | "https") {
            return held("http(s) でないURLです。", "The URL is not http(s).");
        }
        if !ask.url.username().is_empty() || ask.url.password().is_some() {
            return held(
                "URLに認証情報が含まれています。",
                "The URL has credentials in it.",
            );
        }
        let most = match ask.kind {
            RequestKind::Page => scene.charter.limits.redirects_max,
            RequestKind::Robots => ROBOTS_HOPS_MAX,
        };
        if ask.hop > most {
            return held(
                "リダイレクトが上限の回数を超えました。",
                "More redirects than the charter follows.",
            );
        }
        let begins_at = match (&ask.kind, &ask.answers_for) {
            (RequestKind::Robots, Some(origin)) => origin.as_str(),
            _ => ask.listed.as_str(),
        };
        if ask.hop > 0 && begins_at.starts_with("https:") && ask.url.scheme() == "http" {
            return held(
                "https から http へ戻すリダイレクトです。",
                "A redirect from https back to http.",
            );
        }
        Verdict::Pass
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Hops::default()))
    }
}

/// Redirecting answers that a later permit may name as its cause.
#[derive(Default)]
struct Hops {
    finding: Finding,
    recent: BTreeMap<Seq, Redirect>,
}

/// Redirecting answers kept at once, over all lanes.
const RECENT_MAX: usize = 65_536;

struct Redirect {
    bot: String,
    target: String,
    visit: VisitId,
    kind: RequestKind,
    hop: u8,
    from: String,
    location: String,
}

impl Proof for Hops {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        match (entry.event, entry.admitted) {
            (Event::Answered(answered), Some((_, admitted))) => {
                let status = answered.outcome.status();
                let location = answered.header("location");
                if let (Some(300..=399), Some(location)) = (status, location) {
                    self.recent.insert(
                        entry.header.seq,
                        Redirect {
                            bot: admitted.bot.clone(),
                            target: admitted.target.clone(),
                            visit: admitted.visit,
                            kind: admitted.kind,
                            hop: admitted.hop,
                            from: admitted.url.clone(),
                            location: location.to_owned(),
                        },
                    );
                    if self.recent.len() > RECENT_MAX {
                        self.recent.pop_first();
                    }
                }
            }
            (Event::Admitted(admitted), _) => self.admit(entry.header, admitted, versions),
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Finding {
        self.finding
    }
}

impl Hops {
    fn admit(&mut self, header: &Header, admitted: &Admitted, versions: &Versions<'_>) {
        let Some(cause) = admitted.cause else {
            self.finding.check(admitted.hop == 0, header.seq, || {
                "a hop that names no answer as its cause".to_owned()
            });
            return;
        };
        let forgotten = self.recent.len() >= RECENT_MAX
            && self
                .recent
                .keys()
                .next()
                .is_some_and(|oldest| cause < *oldest);
        if forgotten {
            self.finding.undecidable(
                header.seq,
                "too many redirects lie between it and its cause",
            );
            return;
        }
        if versions.is_erased(cause) {
            self.finding.undecidable(header.seq, "its cause was erased");
            return;
        }
        let Some(redirect) = self.recent.get(&cause) else {
            self.finding.check(false, header.seq, || {
                format!("entry {} is no redirecting answer", cause.0)
            });
            return;
        };
        let Some(charter) = versions.charter(admitted.charter) else {
            self.finding
                .undecidable(header.seq, "its charter is not readable");
            return;
        };
        let most = match admitted.kind {
            RequestKind::Page => charter.limits.redirects_max,
            RequestKind::Robots => 5,
        };
        let fault = fault(redirect, admitted, most);
        self.finding
            .check(fault.is_none(), header.seq, || fault.unwrap_or_default());
    }
}

/// What is wrong with following `redirect` by `admitted`.
fn fault(redirect: &Redirect, admitted: &Admitted, most: u8) -> Option<String> {
    let same_errand = redirect.bot == admitted.bot
        && redirect.target == admitted.target
        && redirect.visit == admitted.visit
        && redirect.kind == admitted.kind;
    if !same_errand {
        return Some("its cause is an answer of another visit".to_owned());
    }
    if admitted.hop != redirect.hop.saturating_add(1) || admitted.hop > most {
        return Some(format!(
            "hop {} after hop {}, promised at most {most}",
            admitted.hop, redirect.hop
        ));
    }
    let from = Url::parse(&redirect.from).ok()?;
    let mut to = match from.join(&redirect.location) {
        Ok(to) => to,
        Err(_) => return Some("its cause redirects to no URL".to_owned()),
    };
    to.set_fragment(None);
    if to.as_str() != admitted.url {
        return Some("its cause redirects to another URL".to_owned());
    }
    if !to.username().is_empty() || to.password().is_some() {
        return Some("the redirect has credentials in it".to_owned());
    }
    match (from.scheme(), to.scheme()) {
        ("http" | "https", "https") | ("http", "http") => None,
        (from, to) => Some(format!("a redirect from {from} to {to}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fetched::Outcome;
    use crate::promise::testing::{History, LANE, OTHER_PAGE, PAGE, Stage, header, word};

    #[test]
    fn dangerous_hops_are_held() {
        for (url, hop, expected) in [
            ("https://school.example.jp/new", 1, "pass"),
            ("https://school.example.jp/new", 5, "pass"),
            ("https://school.example.jp/new", 6, "hold"),
            ("http://school.example.jp/new", 1, "hold"),
            ("https://me:secret@school.example.jp/new", 1, "hold"),
            ("ftp://school.example.jp/new", 1, "hold"),
            ("http://school.example.jp/price", 0, "pass"),
        ] {
            let stage = Stage::new();
            let ask = Ask {
                hop,
                listed: PAGE.to_owned(),
                ..stage.ask(url)
            };
            let got = stage.hold(&SafeRedirect, &ask);
            assert_eq!(word(&got), expected, "{url} at hop {hop}");
        }
    }

    /// One redirect of `PAGE` to `location`, followed to `to` as `hop`.
    fn followed(location: &str, to: &str, hop: u8) -> Vec<Seq> {
        let mut history = History::new();
        history.open();
        let admitted = history.admit(history.page(PAGE));
        let mut answer = history.answer(admitted);
        answer.outcome = Outcome::Status(302);
        answer.headers.push(header("location", location));
        let cause = history.push(LANE, answer);
        let page = history.page(to);
        history.admit(Admitted {
            cause: Some(cause),
            hop,
            listed: PAGE.to_owned(),
            ..page
        });
        history.breaches(&SafeRedirect)
    }

    #[test]
    fn a_hop_must_be_what_its_cause_says() {
        let there = "https://school.example.jp/new";
        let named = [Seq(6)];
        for (location, to, hop, breaches) in [
            ("/new#top", there, 1, &[][..]),
            ("/elsewhere", there, 1, &named),
            ("/new", there, 2, &named),
            (
                "http://school.example.jp/new",
                "http://school.example.jp/new",
                1,
                &named,
            ),
            (
                "https://me@school.example.jp/new",
                "https://me@school.example.jp/new",
                1,
                &named,
            ),
        ] {
            assert_eq!(followed(location, to, hop), breaches, "{location} {hop}");
        }
    }

    #[test]
    fn a_hop_without_a_redirect_is_named() {
        let mut history = History::new();
        history.open();
        let plain = history.fetch(PAGE);
        let page = history.page(OTHER_PAGE);
        let from_plain = history.admit(Admitted {
            cause: Some(plain),
            hop: 1,
            ..page
        });
        let page = history.page(PAGE);
        let from_nowhere = history.admit(Admitted { hop: 1, ..page });
        assert_eq!(history.breaches(&SafeRedirect), [from_plain, from_nowhere]);
    }

    #[test]
    fn the_budget_of_hops_is_the_charters() {
        let mut history = History::under(|c| c.limits.redirects_max = 1);
        history.open();
        let mut cause = None;
        let mut hops = Vec::new();
        for (hop, url) in [
            PAGE,
            "https://school.example.jp/1",
            "https://school.example.jp/2",
        ]
        .iter()
        .enumerate()
        {
            let page = history.page(url);
            let admitted = history.admit(Admitted {
                cause,
                hop: u8::try_from(hop).unwrap(),
                ..page
            });
            hops.push(admitted);
            let mut answer = history.answer(admitted);
            answer.outcome = Outcome::Status(301);
            answer
                .headers
                .push(header("location", &format!("/{}", hop + 1)));
            cause = Some(history.push(LANE, answer));
        }
        assert_eq!(history.breaches(&SafeRedirect), hops[2..]);
    }
}
