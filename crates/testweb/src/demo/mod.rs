//! A small town of sites that change, for the demo: schools that do not exist, with course
//! prices, benefit rates, deadlines and terms, over one Japanese fiscal year of site time.
//!
//! [`sites`] is what to serve, [`targets`] what to watch, [`EVENTS`] what a good watcher should
//! notice, and when. Besides true changes there are noise (nonces, counters, banners that
//! alternate, blocks that change places), failures that pass, refusals, and pages that only seem
//! to be pages.

mod pages;
mod pdf;
mod template;

use crate::answer::{Answer, Validator};
use crate::content;
use crate::site::{Page, Site, day};
use jiff::Timestamp;
use pages::PAGES;
use std::collections::BTreeMap;

/// A page to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Short and unique.
    pub id: &'static str,
    /// Where it is.
    pub url: String,
    /// What it is, in the site's language.
    pub title: &'static str,
}

/// What a watcher should make of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The page says something else than before.
    Change,
    /// The host fails for a while: nothing may be concluded.
    Failure,
    /// The host is well again.
    Recovery,
    /// The host asks not to be fetched.
    Refusal,
    /// An answer that is not the page: keep the last confirmed facts.
    Unconfirmed,
}

/// Something that happens in the town.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// From this day on: year, month, day in Japan.
    pub on: (i16, i8, i8),
    /// The target concerned.
    pub target: &'static str,
    /// What to make of it.
    pub meaning: Meaning,
    /// What happens, in a sentence.
    pub what: &'static str,
}

impl Event {
    /// The moment from which it stands.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        let (year, month, date) = self.on;
        day(year, month, date)
    }
}

/// The town's calendar begins here, before the first event.
#[must_use]
pub fn start() -> Timestamp {
    day(2026, 4, 1)
}

/// After this day nothing happens any more.
#[must_use]
pub fn end() -> Timestamp {
    day(2027, 1, 1)
}

const fn event(
    on: (i16, i8, i8),
    target: &'static str,
    meaning: Meaning,
    what: &'static str,
) -> Event {
    Event {
        on,
        target,
        meaning,
        what,
    }
}

/// All that happens, by day.
pub const EVENTS: [Event; 28] = {
    use Meaning::{Change, Failure, Recovery, Refusal, Unconfirmed};
    [
        event(
            (2026, 4, 1),
            "fuji-price",
            Failure,
            "robots.txt answers 500 all year",
        ),
        event(
            (2026, 4, 1),
            "spa-courses",
            Unconfirmed,
            "needs a script all year",
        ),
        event(
            (2026, 5, 11),
            "kumo-price",
            Change,
            "運用と監視 187,000円 → 176,000円",
        ),
        event(
            (2026, 5, 25),
            "sakura-campaign",
            Change,
            "申込期限 5月31日 → 6月14日",
        ),
        event((2026, 6, 2), "northwind-pricing", Change, "new start dates"),
        event(
            (2026, 6, 15),
            "sakura-courses",
            Change,
            "新しいコース、次回開講 6月8日 → 9月7日",
        ),
        event(
            (2026, 7, 1),
            "sakura-price",
            Change,
            "Webエンジニア 657,800円 → 698,500円",
        ),
        event(
            (2026, 8, 1),
            "northwind-pricing",
            Change,
            "self-paced $249 → $279 a month",
        ),
        event((2026, 8, 3), "hoshizora-price", Failure, "503 for a week"),
        event(
            (2026, 8, 10),
            "hoshizora-price",
            Recovery,
            "サイト停止が終わる",
        ),
        event(
            (2026, 8, 10),
            "hoshizora-price",
            Change,
            "機械学習実習 198,000円 → 209,000円",
        ),
        event(
            (2026, 8, 15),
            "toride-price",
            Unconfirmed,
            "a bot challenge with status 200",
        ),
        event(
            (2026, 8, 20),
            "kyobunka-courses",
            Change,
            "後期、和綴じ 9,500円 → 10,500円",
        ),
        event(
            (2026, 9, 1),
            "matsu-price",
            Change,
            "親子コース 19,800円 → 21,450円",
        ),
        event(
            (2026, 9, 1),
            "sakura-campaign",
            Change,
            "秋のキャンペーン、30,000円引き",
        ),
        event(
            (2026, 9, 1),
            "tsubame-price",
            Failure,
            "429 with Retry-After: 120",
        ),
        event((2026, 9, 4), "tsubame-price", Recovery, "answers again"),
        event(
            (2026, 9, 15),
            "kaede-price",
            Refusal,
            "robots.txt disallows everything",
        ),
        event(
            (2026, 9, 20),
            "northwind-pricing",
            Change,
            "refund within 14 days → 7 days",
        ),
        event(
            (2026, 10, 1),
            "sakura-price",
            Change,
            "給付 70％ → 80％、年間上限 56万円 → 64万円",
        ),
        event(
            (2026, 10, 1),
            "minato-fee",
            Change,
            "家庭料理 ６，６００円 → ７，１５０円",
        ),
        // Nobody who obeys robots.txt can see this one.
        event(
            (2026, 10, 1),
            "kaede-price",
            Refusal,
            "the price changes behind the refusal",
        ),
        event(
            (2026, 10, 1),
            "mori-fees",
            Unconfirmed,
            "redirects to the front page",
        ),
        event((2026, 10, 1), "hikari-guide", Change, "another PDF"),
        event(
            (2026, 11, 1),
            "tsubame-price",
            Change,
            "月4回 13,200円 → 13,750円",
        ),
        event((2026, 11, 1), "sakura-terms", Change, "中途解約の控除額"),
        event(
            (2026, 12, 1),
            "aozora-fee",
            Change,
            "昼間部 880,000円 → 924,000円",
        ),
        event(
            (2026, 12, 1),
            "mori-fees",
            Unconfirmed,
            "still redirects to the front page",
        ),
    ]
};

/// The town's hosts.
#[must_use]
pub fn sites() -> Vec<Site> {
    let mut sites: BTreeMap<&str, Site> = BTreeMap::new();
    for template in PAGES {
        let new = || Site::new(template.host).robots(robots(template.host));
        let site = sites.remove(template.host).unwrap_or_else(new);
        let page = fate(template.host, template.page());
        sites.insert(template.host, site.page(template.path, page));
    }
    let mut sites: Vec<Site> = sites.into_values().collect();
    for (host, path, page) in [
        (
            "spa-campus.test",
            "/courses",
            Page::new(content::script_only()),
        ),
        (
            "hikari-juku.test",
            "/docs/guide-2026.pdf",
            Page::new(guide("Course guide 2026, first edition: 480,000 yen")).then(
                day(2026, 10, 1),
                guide("Course guide 2026, second edition: 495,000 yen"),
            ),
        ),
    ] {
        sites.push(Site::new(host).robots(robots(host)).page(path, page));
    }
    sites.into_iter().map(front_page).collect()
}

/// The pages to watch.
#[must_use]
pub fn targets() -> Vec<Target> {
    let url = |host: &str, path: &str| format!("http://{host}{path}");
    let mut targets: Vec<Target> = PAGES
        .iter()
        .map(|t| Target {
            id: t.id,
            url: url(t.host, t.path),
            title: t.title,
        })
        .collect();
    targets.push(Target {
        id: "spa-courses",
        url: url("spa-campus.test", "/courses"),
        title: "コース一覧",
    });
    targets.push(Target {
        id: "hikari-guide",
        url: url("hikari-juku.test", "/docs/guide-2026.pdf"),
        title: "入学案内（PDF）",
    });
    targets
}

/// robots.txt of a host over the year.
fn robots(host: &str) -> Page {
    let open = || Answer::robots("User-agent: *\nDisallow: /admin/\nDisallow: /mypage/\n");
    match host {
        "kumo-school.test" => Page::new(Answer::status(404)),
        "fuji-it.test" => Page::new(Answer::status(500)),
        "matsu-lab.test" => Page::new(Answer::robots(
            "User-agent: *\nCrawl-delay: 5\nDisallow: /cart/\n",
        )),
        "kaede-web.test" => Page::new(open()).then(
            day(2026, 9, 15),
            Answer::robots("User-agent: *\nDisallow: /\n"),
        ),
        "northwind-academy.test" => Page::new(Answer::robots(
            "User-agent: *\nAllow: /\n\nSitemap: http://northwind-academy.test/sitemap.xml\n",
        )),
        _ => Page::new(open()),
    }
}

/// What befalls the pages of a host, whatever they say.
fn fate(host: &str, page: Page) -> Page {
    match host {
        "hoshizora-data.test" => {
            page.between(day(2026, 8, 3), day(2026, 8, 10), Answer::status(503))
        }
        "tsubame-english.test" => page.between(
            day(2026, 9, 1),
            day(2026, 9, 4),
            Answer::retry_after(429, "120"),
        ),
        "mori-craft.test" => page.then(day(2026, 10, 1), Answer::redirect(302, "/")),
        "toride-security.test" => page.then(day(2026, 8, 15), content::challenge()),
        _ => page,
    }
}

/// Each host has a front page that links to its other pages.
fn front_page(site: Site) -> Site {
    let links: String = site
        .pages
        .keys()
        .filter(|path| *path != "/robots.txt")
        .map(|path| format!("<li><a href=\"{path}\">{path}</a></li>"))
        .collect();
    let host = site.host.clone();
    let page = format!(
        "<!DOCTYPE html>\n<html lang=\"ja\"><head><meta charset=\"utf-8\"><title>{host}</title></head>\n\
         <body><h1>{host}</h1><p>ようこそ。次のページをご覧いただけます。</p><ul>{links}</ul>\
         <p>このサイトは見本のために作られた架空のものです。</p></body></html>\n"
    );
    site.page("/", Answer::html(page).validated(Validator::Both))
}

fn guide(text: &str) -> Answer {
    Answer::new("application/pdf", pdf::one_line(text)).validated(Validator::Both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;
    use crate::site::Ask;
    use std::collections::BTreeSet;

    fn get(sites: &[Site], target: &Target, now: Timestamp) -> Answer {
        let local = target.url.strip_prefix("http://").unwrap();
        let (host, path) = local.split_once('/').unwrap();
        let request = Request::read(format!("GET /{path} HTTP/1.1\r\n\r\n").as_bytes());
        let site = sites.iter().find(|site| site.host == host).unwrap();
        site.answer(Ask {
            host,
            request: &request,
            now,
            turn: 0,
        })
        .answer
    }

    #[test]
    fn ids_are_unique_and_every_event_has_its_target() {
        let ids: BTreeSet<&str> = targets().iter().map(|target| target.id).collect();
        assert_eq!(ids.len(), targets().len());
        for event in EVENTS {
            assert!(ids.contains(event.target), "{}", event.target);
            assert!((start()..end()).contains(&event.at()), "{event:?}");
        }
        assert!(EVENTS.is_sorted_by_key(Event::at));
    }

    #[test]
    fn every_target_is_served_and_no_key_is_left_unfilled() {
        let sites = sites();
        for target in targets() {
            for now in [start(), end()] {
                let answer = get(&sites, &target, now);
                let body = String::from_utf8_lossy(&answer.body);
                assert!(!body.contains("{{"), "{} {body}", target.id);
                assert!(!answer.body.is_empty());
            }
            assert_eq!(get(&sites, &target, start()).status, 200, "{}", target.id);
        }
    }

    #[test]
    fn each_change_changes_its_page_on_its_day() {
        let sites = sites();
        for event in EVENTS
            .iter()
            .filter(|event| event.meaning == Meaning::Change)
        {
            let target = targets()
                .into_iter()
                .find(|t| t.id == event.target)
                .unwrap();
            let eve = event.at() - jiff::SignedDuration::from_secs(1);
            let before = get(&sites, &target, eve).body;
            assert_ne!(before, get(&sites, &target, event.at()).body, "{event:?}");
        }
    }

    #[test]
    fn failures_pass_and_refusals_stay() {
        let sites = sites();
        let status = |id: &str, now| {
            let target = targets().into_iter().find(|t| t.id == id).unwrap();
            get(&sites, &target, now).status
        };
        assert_eq!(status("hoshizora-price", day(2026, 8, 5)), 503);
        assert_eq!(status("hoshizora-price", day(2026, 8, 10)), 200);
        assert_eq!(status("tsubame-price", day(2026, 9, 2)), 429);
        assert_eq!(status("tsubame-price", day(2026, 9, 4)), 200);
        assert_eq!(status("mori-fees", day(2026, 10, 1)), 302);
    }

    #[test]
    fn old_charsets_are_really_used() {
        let sites = sites();
        let body = |id: &str| {
            let target = targets().into_iter().find(|t| t.id == id).unwrap();
            get(&sites, &target, start()).body
        };
        for (id, encoding, text) in [
            ("minato-fee", encoding_rs::SHIFT_JIS, "㈱みなと食文化研究所"),
            ("kyobunka-courses", encoding_rs::EUC_JP, "和綴じの本づくり"),
        ] {
            assert!(std::str::from_utf8(&body(id)).is_err(), "{id}");
            let body = body(id);
            let (decoded, _, wrong) = encoding.decode(&body);
            assert!(decoded.contains(text) && !wrong, "{id}");
        }
    }

    #[test]
    fn noise_differs_from_request_to_request_and_says_nothing() {
        let sites = sites();
        let target = targets()
            .into_iter()
            .find(|t| t.id == "aozora-fee")
            .unwrap();
        let [a, b, c] = [0, 1, 2].map(|_| get(&sites, &target, start()).body);
        assert_ne!(a, b);
        assert_eq!(a, c);
    }
}
