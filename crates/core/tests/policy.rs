//! The policy page: complete, true to its charter, and a document that people and programs can
//! read.

use std::collections::{BTreeMap, BTreeSet};

use reigi_core::charter::{Charter, Lang};
use reigi_core::digest::Digest;
use reigi_core::event::Seq;
use reigi_core::policy::{
    AuditFigures, CharterVersion, LedgerCounts, Page, PageFacts, PublishedHead, Standing, page,
};
use reigi_core::promise::{PROMISES, by_id};

const BLUEAI: &str = include_str!("../../../charters/blueai-change.toml");
const LANGS: [Lang; 2] = [Lang::Ja, Lang::En];

fn charter_of(text: &str) -> Charter {
    Charter::parse("blueai-change.toml", text)
        .unwrap_or_else(|problems| panic!("{}", problems.render(text, Lang::En)))
}

fn blueai() -> Charter {
    charter_of(BLUEAI)
}

/// A page with everything on it: every promise stands in some way or other.
fn facts(charter: &Charter) -> PageFacts {
    let standings = [(46_212, 0, 0), (46_209, 3, 0), (120, 0, 12), (0, 0, 0)];
    let promises = PROMISES.iter().zip(standings.iter().cycle());
    let promises: BTreeMap<_, _> = promises
        .map(|(promise, &(kept, broken, undecidable))| {
            let standing = Standing::Checked {
                kept,
                broken,
                undecidable,
            };
            (promise.id().to_owned(), standing)
        })
        .collect();
    let version = |version, date: &str, digest| CharterVersion {
        version,
        date: date.to_owned(),
        digest,
    };
    PageFacts {
        ledger: Some(LedgerCounts {
            targets: 26,
            pages: 1_204,
            hosts: 1,
        }),
        audit: Some(AuditFigures {
            date: "2026-11-30".to_owned(),
            promises,
            head: Some(PublishedHead {
                hash: Digest::of(b"head"),
                seq: Seq(93_117),
                date: "2026-11-30".to_owned(),
            }),
        }),
        other_lang_href: Some("other.html".to_owned()),
        versions: vec![
            version(2, "2026-08-23", charter.digest),
            version(1, "2026-07-01", Digest::of(b"first")),
        ],
    }
}

fn page_of(charter: &Charter, facts: &PageFacts, lang: Lang) -> Page {
    page(charter, facts, lang).unwrap()
}

fn bare(lang: Lang) -> String {
    page_of(&blueai(), &PageFacts::default(), lang).html()
}

/// The page's words, as a reader sees them.
fn words(html: &str) -> String {
    let body = html.split("<body>").nth(1).unwrap();
    let mut out = String::new();
    let mut in_tag = false;
    for c in body.chars() {
        match c {
            '<' => in_tag = true,
            '>' => in_tag = false,
            c if !in_tag => out.push(c),
            _ => {}
        }
    }
    out.replace("&quot;", "\"")
        .replace("&amp;", "&")
        .replace("&lt;", "<")
}

fn attributes<'h>(html: &'h str, name: &str) -> Vec<&'h str> {
    let open = format!(" {name}=\"");
    let values = html.split(open.as_str()).skip(1);
    values.filter_map(|rest| rest.split('"').next()).collect()
}

/// What the published policy says, each statement as a check in our own words: the promise that
/// says it (`-`: the page itself), what must stand on the page in Japanese and in English. Parts
/// between `…` stand in this order.
const STATEMENTS: &str = include_str!("../testdata/policy/blueai-statements.tsv");

#[test]
fn every_statement_of_the_published_policy_stands_on_the_page() {
    let charter = blueai();
    let (ja, en) = (words(&bare(Lang::Ja)), words(&bare(Lang::En)));
    let mut missing = Vec::new();
    let lines = STATEMENTS.lines().skip(1).filter(|line| !line.is_empty());
    for line in lines {
        let columns: Vec<&str> = line.split('\t').collect();
        let [promise, what, in_ja, in_en] = columns[..] else {
            panic!("four columns: {line}");
        };
        if promise != "-" {
            let made = by_id(promise).is_some_and(|p| p.is_made(&charter));
            if !made {
                eprintln!("not promised yet, so not looked for: {promise}: {what}");
                continue;
            }
        }
        for (page, pattern) in [(&ja, in_ja), (&en, in_en)] {
            if !stands(page, &pattern.replace("\\n", "\n")) {
                missing.push(format!("{what}: {pattern}"));
            }
        }
    }
    assert!(
        missing.is_empty(),
        "not on the page:\n{}",
        missing.join("\n")
    );
}

/// Whether all parts of a pattern stand within one stretch of 400 characters, in order.
fn stands(page: &str, pattern: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    page.match_indices(first).any(|(at, _)| {
        let mut stretch: String = page[at + first.len()..].chars().take(400).collect();
        rest.iter().all(|part| match stretch.find(part) {
            Some(at) => {
                stretch.drain(..at + part.len());
                true
            }
            None => false,
        })
    })
}

#[test]
fn every_promise_made_stands_exactly_once_under_its_anchor() {
    let charter = blueai();
    for lang in LANGS {
        let html = page_of(&charter, &facts(&charter), lang).html();
        let markdown = page_of(&charter, &facts(&charter), lang).markdown();
        let seen = words(&html);
        for promise in PROMISES {
            let Some(sentence) = promise.say(&charter, lang) else {
                assert!(!html.contains(&format!("id=\"{}\"", promise.id())));
                continue;
            };
            let anchor = format!("id=\"{}\"", promise.id());
            assert_eq!(html.matches(&anchor).count(), 1, "{}", promise.id());
            assert_eq!(markdown.matches(&anchor).count(), 1, "{}", promise.id());
            assert_eq!(seen.matches(&sentence).count(), 1, "{sentence}");
        }
        for declared in &charter.declared {
            assert_eq!(seen.matches(declared.text.get(lang)).count(), 1);
        }
    }
}

#[test]
fn a_standing_is_said_in_words() {
    let charter = blueai();
    for (standing, ja, en) in [
        (
            (46_212, 0, 0),
            "監査：46,212件すべて守られています",
            "Audit: kept, 46,212 checks",
        ),
        (
            (1, 0, 0),
            "監査：1件すべて守られています",
            "Audit: kept, 1 check",
        ),
        (
            (46_209, 3, 0),
            "監査：46,212件のうち3件で守れませんでした",
            "Audit: broken in 3 of 46,212 checks",
        ),
        (
            (120, 0, 12),
            "監査：120件すべて守られています。ほかに12件は判定できません",
            "Audit: kept, 120 checks; 12 more cannot be decided",
        ),
        (
            (0, 0, 0),
            "監査：まだ判定した件はありません",
            "Audit: nothing to check yet",
        ),
    ] {
        let (kept, broken, undecidable) = standing;
        let mut facts = PageFacts::default();
        let standing = Standing::Checked {
            kept,
            broken,
            undecidable,
        };
        let promises = [("interval".to_owned(), standing)].into();
        facts.audit = Some(AuditFigures {
            promises,
            ..AuditFigures::default()
        });
        for (lang, said) in [(Lang::Ja, ja), (Lang::En, en)] {
            let seen = words(&page_of(&charter, &facts, lang).html());
            assert_eq!(seen.matches(said).count(), 1, "{said}");
        }
    }
}

#[test]
fn what_no_program_can_prove_is_never_called_kept() {
    let charter = blueai();
    for (lang, mark) in [
        (Lang::Ja, "宣言（プログラムでは証明できません）"),
        (Lang::En, "Declared (no program can prove it)"),
    ] {
        let html = page_of(&charter, &facts(&charter), lang).html();
        for declared in &charter.declared {
            let anchor = format!("id=\"declared-{}\"", declared.id);
            let block = html.split(&anchor).nth(1).unwrap();
            let block = block.split("class=\"promise\"").next().unwrap();
            let block = block.split("</section>").next().unwrap();
            assert!(block.contains(mark) && !block.contains("監査") && !block.contains("Audit"));
        }
    }
}

#[test]
fn the_user_agent_stands_byte_for_byte() {
    for lang in LANGS {
        let ua = "Mozilla/5.0 (compatible; BlueAIChangeBot/1.0; +https://blueai.co.jp/change-bot)";
        assert!(bare(lang).contains(&format!("<pre><code>{ua}</code></pre>")));
        let markdown = page_of(&blueai(), &PageFacts::default(), lang).markdown();
        assert!(markdown.contains(&format!("```text\n{ua}\n```")));
    }
}

#[test]
fn a_second_agent_for_robots_is_named() {
    let robots = "[identity.robots]\ntoken = \"BlueAIChangeBot\"\nuser_agent = \"BlueAIChangeBot/1.0 (+https://blueai.co.jp/change-bot; robots)\"\npolicy_url = \"https://blueai.co.jp/change-bot\"\n\n[identity.purpose]";
    let charter = charter_of(&BLUEAI.replace("[identity.purpose]", robots));
    for lang in LANGS {
        let html = page_of(&charter, &PageFacts::default(), lang).html();
        assert!(html.contains("BlueAIChangeBot/1.0 (+https://blueai.co.jp/change-bot; robots)"));
    }
}

#[test]
fn a_number_of_the_charter_is_a_number_of_the_page() {
    let other = charter_of(&BLUEAI.replace("interval = \"2s\"", "interval = \"7s\""));
    for (lang, was, is) in [
        (Lang::Ja, "2秒以上・同時に1件", "7秒以上・同時に1件"),
        (
            Lang::En,
            "at least 2 seconds, one",
            "at least 7 seconds, one",
        ),
    ] {
        let html = page_of(&other, &PageFacts::default(), lang).html();
        assert!(html.contains(is) && !html.contains(was));
        assert!(html.contains(&other.digest.to_string()));
        assert!(
            html.contains("Crawl-delay: 20"),
            "slower than the usual interval"
        );
    }
}

#[test]
fn words_of_a_charter_cannot_become_markup() {
    let hostile = BLUEAI
        .replace(
            "集めた情報を広告の配信に使いません。",
            "<b onclick='x'>&amp; *強調* | _a_",
        )
        .replace("株式会社BlueAI\", en", "<script>alert(1)</script>\", en");
    let charter = charter_of(&hostile);
    let page = page_of(&charter, &PageFacts::default(), Lang::Ja);
    assert!(!page.html().contains("<script") && !page.html().contains("<b "));
    assert!(
        page.markdown()
            .contains(r"\<b onclick='x'\>&amp; \*強調\* \| \_a\_")
    );
}

/// Elements that have no end tag.
const VOID: [&str; 3] = ["meta", "link", "br"];

#[test]
fn the_document_is_well_formed() {
    let charter = blueai();
    for lang in LANGS {
        for facts in [PageFacts::default(), facts(&charter)] {
            let html = page_of(&charter, &facts, lang).html();
            assert!(html.starts_with("<!DOCTYPE html><html lang=\""));
            let mut open: Vec<&str> = Vec::new();
            let style = html.find("</style>").unwrap();
            let tags = html[style..]
                .split('<')
                .skip(1)
                .filter_map(|t| t.split('>').next());
            for tag in tags {
                let name = tag.split(' ').next().unwrap();
                match name.strip_prefix('/') {
                    // The scan begins inside html and head.
                    Some("style" | "head") => {}
                    Some("html") => assert!(open.is_empty(), "{open:?}"),
                    Some(name) => assert_eq!(open.pop(), Some(name)),
                    None if VOID.contains(&name) => {}
                    None => open.push(name),
                }
            }
        }
    }
}

#[test]
fn every_anchor_is_unique_and_every_link_leads_somewhere() {
    let charter = blueai();
    for lang in LANGS {
        let html = page_of(&charter, &facts(&charter), lang).html();
        let ids = attributes(&html, "id");
        let unique: BTreeSet<_> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{ids:?}");
        for href in attributes(&html, "href") {
            match href.strip_prefix('#') {
                Some(id) => assert!(unique.contains(id), "{href}"),
                None => assert!(
                    href == "other.html" || href == charter.identity.contact_url,
                    "{href}"
                ),
            }
        }
        for labelled in attributes(&html, "aria-labelledby") {
            assert!(unique.contains(labelled), "{labelled}");
        }
    }
}

#[test]
fn the_document_loads_nothing_and_can_be_walked_by_headings() {
    let charter = blueai();
    for (lang, tag) in [(Lang::Ja, "ja"), (Lang::En, "en")] {
        let html = page_of(&charter, &facts(&charter), lang).html();
        assert!(html.contains(&format!("<html lang=\"{tag}\">")));
        for foreign in [
            "<script",
            " src=",
            "@import",
            "url(",
            "<iframe",
            "<img",
            "stylesheet",
        ] {
            assert!(!html.contains(foreign), "{foreign}");
        }
        for landmark in [
            "<header>",
            "<nav ",
            "<main ",
            "<footer>",
            "class=\"skip\" href=\"#text\"",
        ] {
            assert_eq!(html.matches(landmark).count(), 1, "{landmark}");
        }
        let levels: Vec<u8> = html
            .split("<h")
            .skip(1)
            .filter_map(|rest| rest.bytes().next().filter(u8::is_ascii_digit))
            .map(|digit| digit - b'0')
            .collect();
        assert_eq!(levels.iter().filter(|l| **l == 1).count(), 1);
        assert!(levels.windows(2).all(|w| w[1] <= w[0] + 1), "{levels:?}");
        let tables = html.matches("<table").count();
        assert_eq!(html.matches("<caption>").count(), tables);
        assert!(html.contains("scope=\"col\"") && html.contains("scope=\"row\""));
    }
}

/// The four pages as they are, for a reviewer's eye; the style is left out.
#[test]
fn the_pages_as_printed() {
    let charter = blueai();
    for (lang, tag) in [(Lang::Ja, "ja"), (Lang::En, "en")] {
        let page = page_of(&charter, &facts(&charter), lang);
        let html = page.html();
        let (head, rest) = html.split_once("<style>").unwrap();
        let (_, body) = rest.split_once("</style>").unwrap();
        insta::assert_snapshot!(format!("policy_{tag}_html"), format!("{head}{body}"));
        insta::assert_snapshot!(format!("policy_{tag}_md"), page.markdown());
    }
}
