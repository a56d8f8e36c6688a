//! `scope`: only what the ledger lists, and where it redirects to within the same site.
//!
//! Seeds: B "公開ページの変更有無を判定するために必要な範囲", A "台帳に列挙した…だけ". A redirect may
//! lead from http to https and between `www` and the bare name; a robots.txt may redirect anywhere
//! (DECISIONS 16).

use url::Url;

use super::{Finding, Promise, Proof, Seen, Versions};
use crate::charter::{Charter, Lang, RequestKind};
use crate::event::{Admitted, Event};
use crate::gate::{Ask, Scene, Verdict};
use crate::host::{Host, Origin};

/// See the module.
pub struct Scope;

impl Promise for Scope {
    fn id(&self) -> &'static str {
        "scope"
    }

    fn title(&self, lang: Lang) -> &'static str {
        match lang {
            Lang::Ja => "取得の範囲",
            Lang::En => "Scope",
        }
    }

    fn say(&self, _charter: &Charter, lang: Lang) -> Option<String> {
        Some(match lang {
            Lang::Ja => "取得するのは、台帳に一件ずつ登録したページと、そのサイトの robots.txt だけです。ページ内のリンクはたどりません。転送は、同じサイトの中（http から https、www の有無）に限ってたどります。".into(),
            Lang::En => "We fetch only pages that our ledger lists one by one, and their site's robots.txt. We follow no links on a page, and redirects only within the same site (http to https, with or without www).".into(),
        })
    }

    fn hold(&self, scene: &Scene<'_>, ask: &Ask) -> Verdict {
        let listed = match scene.target {
            Some(target) => !target.left && target.row.urls.contains(&ask.listed),
            // A hop that another lane's visit waits for: that lane looked at the row.
            None => scene
                .lane
                .lane
                .errands
                .iter()
                .any(|e| e.is_for(&ask.target, ask.visit) && e.hop.listed == ask.listed),
        };
        let Some(page) = Url::parse(&ask.listed).ok().filter(|_| listed) else {
            return Verdict::refuse("台帳にないページです。", "No ledger entry lists this page.");
        };
        let reaches = match (ask.kind, ask.hop) {
            (RequestKind::Page, 0) => ask.url == page,
            (RequestKind::Page, _) => same_site(&ask.url, &page),
            (RequestKind::Robots, 0) => {
                same_site(&ask.url, &page)
                    && Origin::of(&ask.url).robots_url().as_ref() == Some(&ask.url)
            }
            (RequestKind::Robots, _) => true,
        };
        if reaches {
            Verdict::Pass
        } else {
            Verdict::refuse(
                "登録したサイトの外へ出る取得です。",
                "It leads out of the listed site.",
            )
        }
    }

    fn prove(&self) -> Option<Box<dyn Proof>> {
        Some(Box::new(Traces::default()))
    }
}

fn same_site(url: &Url, page: &Url) -> bool {
    match (Host::of(url), Host::of(page)) {
        (Some(a), Some(b)) => a.is_twin_of(&b),
        _ => false,
    }
}

/// Each permit against the ledger row in force when it was written.
#[derive(Default)]
struct Traces(Finding);

impl Proof for Traces {
    fn see(&mut self, entry: &Seen<'_>, versions: &Versions<'_>) {
        let Event::Admitted(admitted) = entry.event else {
            return;
        };
        let seq = entry.header.seq;
        if versions.is_erased_in(entry.header.lane)
            && versions.row(&admitted.bot, &admitted.target).is_none()
        {
            self.0.undecidable(seq, "the ledger row's entry was erased");
            return;
        }
        let listed = versions
            .row(&admitted.bot, &admitted.target)
            .is_some_and(|(_, row)| row.urls.contains(&admitted.listed));
        let within = listed && within(admitted);
        self.0.check(within, seq, || {
            format!("{} traces to no ledger entry in force", admitted.url)
        });
    }

    fn finish(self: Box<Self>) -> Finding {
        self.0
    }
}

/// Whether what was asked for belongs to the listed page: read from the text of both URLs.
fn within(admitted: &Admitted) -> bool {
    let (site, path) = parts(&admitted.url);
    let (listed, _) = parts(&admitted.listed);
    match (admitted.kind, admitted.hop) {
        (RequestKind::Page, 0) => admitted.url == admitted.listed,
        (RequestKind::Page, _) => admitted.cause.is_some() && site == listed,
        (RequestKind::Robots, 0) => site == listed && path == "/robots.txt",
        (RequestKind::Robots, _) => admitted.cause.is_some(),
    }
}

/// The host without port and `www.`, and what follows the authority.
fn parts(url: &str) -> (&str, &str) {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    (host.strip_prefix("www.").unwrap_or(host), path)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{History, OTHER_PAGE, PAGE, Stage, row, word};
    use super::*;
    use crate::event::Seq;

    #[test]
    fn only_listed_pages_and_hops_within_their_site() {
        for (kind, hop, url, listed, expected) in [
            (RequestKind::Page, 0, PAGE, PAGE, "pass"),
            (
                RequestKind::Page,
                0,
                "https://school.example.jp/news",
                "https://school.example.jp/news",
                "refuse",
            ),
            (RequestKind::Page, 0, OTHER_PAGE, PAGE, "refuse"),
            (
                RequestKind::Page,
                1,
                "https://www.school.example.jp/price",
                PAGE,
                "pass",
            ),
            (
                RequestKind::Page,
                1,
                "https://evil.example/price",
                PAGE,
                "refuse",
            ),
            (
                RequestKind::Robots,
                0,
                "https://school.example.jp/robots.txt",
                PAGE,
                "pass",
            ),
            (
                RequestKind::Robots,
                0,
                "https://school.example.jp/robots.txt?x",
                PAGE,
                "refuse",
            ),
            (
                RequestKind::Robots,
                1,
                "https://cdn.example/robots.txt",
                PAGE,
                "pass",
            ),
        ] {
            let stage = Stage::new();
            let mut ask = stage.ask(url);
            (ask.kind, ask.hop, ask.listed) = (kind, hop, listed.to_owned());
            assert_eq!(
                word(&stage.hold(&Scope, &ask)),
                expected,
                "{kind:?} {hop} {url}"
            );
        }
    }

    #[test]
    fn a_row_that_left_covers_nothing() {
        let mut stage = Stage::new();
        if let Some(target) = &mut stage.target {
            target.left = true;
        }
        assert_eq!(word(&stage.hold(&Scope, &stage.ask(PAGE))), "refuse");
    }

    #[test]
    fn a_request_that_no_row_covers_is_named() {
        let mut history = History::new();
        history.open();
        history.admit(history.robots());
        history.fetch(PAGE);
        let mut hop = history.page("https://www.school.example.jp/price");
        (hop.listed, hop.hop, hop.cause) = (PAGE.to_owned(), 1, Some(Seq(4)));
        history.admit(hop.clone());
        assert_eq!(history.breaches(&Scope), []);
        let strange = history.admit(history.page("https://school.example.jp/members"));
        hop.url = "https://other.example/".to_owned();
        let astray = history.admit(hop);
        let mut shorter = row();
        shorter.urls.pop();
        history.enter(shorter);
        let gone = history.admit(history.page(OTHER_PAGE));
        assert_eq!(history.breaches(&Scope), [strange, astray, gone]);
    }

    #[test]
    fn robots_txt_is_that_of_a_listed_site() {
        for (url, within) in [
            ("https://school.example.jp/robots.txt", true),
            ("http://www.school.example.jp/robots.txt", true),
            ("https://other.example/robots.txt", false),
            ("https://school.example.jp/x/robots.txt", false),
            (
                "https://school.example.jp:x@other.example/robots.txt",
                false,
            ),
        ] {
            let mut history = History::new();
            history.open();
            let mut robots = history.robots();
            robots.url = url.to_owned();
            let admitted = history.admit(robots);
            let named = if within { vec![] } else { vec![admitted] };
            assert_eq!(history.breaches(&Scope), named, "{url}");
            let stage = Stage::new();
            if let Ok(url) = Url::parse(url) {
                let ask = Ask {
                    kind: RequestKind::Robots,
                    url,
                    ..stage.ask(PAGE)
                };
                let expected = if within { "pass" } else { "refuse" };
                assert_eq!(word(&stage.hold(&Scope, &ask)), expected, "{}", ask.url);
            }
        }
    }
}
