//! Answers that are sound HTTP and still no page: walls, challenges, loops, floods of markup.
//!
//! Also [`gallery`], the hosts on which each fault and each oddity has a path of its own.

use crate::answer::{Answer, Encoding, Validator};
use crate::fault::Fault;
use crate::message::Framing;
use crate::site::{Door, Page, Site, Source};
use std::fmt::Write as _;
use std::time::Duration;

/// A page with a sentence in Japanese: the sound answer among the odd ones.
#[must_use]
pub fn plain(title: &str) -> Answer {
    Answer::html(format!(
        "<!DOCTYPE html>\n<html lang=\"ja\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         </head>\n<body><main><h1>{title}</h1><p>このページは試験用です。受講料は120,000円です。</p>\
         </main></body></html>\n"
    ))
}

/// A bot challenge: status 200, no text, one script of the guard.
#[must_use]
pub fn challenge() -> Answer {
    Answer::new(
        "text/html",
        "<html>\n<head>\n<META NAME=\"robots\" CONTENT=\"noindex,nofollow\">\n\
         <script src=\"/_guard_Resource?token=5f0c1e77aa31\"></script>\n<body>\n</body></html>\n",
    )
    .header("Cache-Control", "no-cache, no-store")
}

/// A bot challenge that asks the visitor to wait, with status 403 as some guards use it.
#[must_use]
pub fn challenge_wait() -> Answer {
    let page = "<!DOCTYPE html><html lang=\"en-US\"><head><title>Just a moment...</title>\
                <meta http-equiv=\"refresh\" content=\"390\"></head><body>\
                <noscript>Enable JavaScript and cookies to continue</noscript>\
                <script>window._chl={cRay:'8f1',t:'MTc='};</script></body></html>\n";
    Answer {
        status: 403,
        ..Answer::html(page)
    }
    .header("Server", "guard")
}

/// A login form with status 200 where a page should be.
#[must_use]
pub fn login() -> Answer {
    Answer::html(
        "<!DOCTYPE html>\n<html lang=\"ja\"><head><meta charset=\"utf-8\"><title>ログイン</title></head>\n\
         <body><h1>会員ログイン</h1><p>続けるにはログインしてください。</p>\n\
         <form method=\"post\" action=\"/login\"><label>メールアドレス <input type=\"email\" name=\"mail\">\
         </label><label>パスワード <input type=\"password\" name=\"password\"></label>\
         <button>ログイン</button></form></body></html>\n",
    )
}

/// A page whose text is made by a script.
#[must_use]
pub fn script_only() -> Answer {
    Answer::html(
        "<!doctype html><html lang=\"ja\"><head><meta charset=\"utf-8\"><title>コース一覧</title>\
         <script defer src=\"/static/js/main.7c1d.js\"></script></head><body><noscript>\
         このアプリを使うには JavaScript を有効にしてください。</noscript><div id=\"root\"></div>\
         </body></html>\n",
    )
}

/// A page of about 16 MB: style, script and head markup without end, then one `h1` and one `p`.
#[must_use]
pub fn huge() -> Answer {
    let mut page = String::with_capacity(17_000_000);
    page.push_str(
        "<!DOCTYPE html><html lang=\"ja\"><head><meta charset=\"utf-8\"><title>大</title>",
    );
    page.push_str("<style>");
    page.push_str(&".a{color:#123456}\n".repeat(5_000_000 / 18));
    page.push_str("</style><script>");
    page.push_str(&"var a = 1 < 2;   \n".repeat(5_000_000 / 18));
    page.push_str("</script>");
    for i in 0..50_000 {
        // Writing to a string cannot fail.
        let _ = write!(
            page,
            "<svg id=\"s{i}\"><path d=\"M0 0h9v9H0z\"/></svg><meta name=\"m{i}\" content=\"{i}\">\
             <link rel=\"x\" href=\"/l{i}\"><!-- {i} -->"
        );
    }
    page.push_str(
        "</head><body><h1>大きなページ</h1><p>本文はこの一文だけです。</p></body></html>",
    );
    Answer::html(page).encoded(Encoding::Gzip)
}

/// Sends a visitor without cookie back to the same page with a cookie; with it, the page.
#[must_use]
pub fn cookie_wall() -> Source {
    Source::made(|ask| {
        let cookie = ask.request.header("cookie").unwrap_or_default();
        if cookie.contains("ok=1") {
            return plain("クッキーのあるページ");
        }
        Answer::redirect(302, ask.path()).header("Set-Cookie", "ok=1; Path=/")
    })
}

/// Sends every visitor back to the same page, each time with another cookie.
#[must_use]
pub fn cookie_loop() -> Source {
    Source::made(|ask| {
        let cookie = format!("visit={}; Path=/", ask.turn);
        Answer::redirect(302, ask.path()).header("Set-Cookie", cookie)
    })
}

/// Refuses with each `Retry-After` in turn, then serves the page.
#[must_use]
pub fn retry_after_turns(status: u16, values: &[&str]) -> Source {
    let refusals = values
        .iter()
        .map(|value| Answer::retry_after(status, value));
    Source::Sequence(refusals.chain([plain("ふたたび開いたページ")]).collect())
}

/// The `Retry-After` values that a client must survive, one a path on `retry.test`.
pub const RETRY_AFTER: [(&str, &str); 8] = [
    ("/seconds", "120"),
    ("/negative", "-5"),
    ("/zero", "0"),
    ("/past", "Wed, 21 Oct 2015 07:28:00 GMT"),
    ("/future", "Fri, 31 Dec 2032 23:59:59 GMT"),
    ("/huge", "99999999"),
    ("/words", "soon"),
    ("/empty", ""),
];

/// Redirect targets, right and wrong, one a path on `redirects.test`. A target beginning with `/`
/// is relative.
pub const REDIRECTS: [(&str, u16, &str); 27] = [
    ("/relative", 302, "/target"),
    ("/relative-dot", 302, "./target"),
    ("/permanent", 301, "/target"),
    ("/see-other", 303, "/target"),
    ("/temporary", 307, "/target"),
    ("/permanent-308", 308, "/target"),
    ("/slash", 301, "/slash/"),
    ("/other-host", 302, "http://plain.test/"),
    ("/scheme-relative", 302, "//plain.test/"),
    ("/museum/fees.html", 302, "/"),
    ("/museum/hours.html", 302, "/index.html"),
    ("/loop", 302, "/loop"),
    ("/loop-a", 302, "/loop-b"),
    ("/loop-b", 302, "/loop-a"),
    ("/metadata", 302, "http://169.254.169.254/latest/meta-data/"),
    ("/mapped-loopback", 302, "http://[::ffff:127.0.0.1]/"),
    ("/loopback", 302, "http://127.0.0.1/"),
    ("/loopback-decimal", 302, "http://2130706433/"),
    ("/cgnat", 302, "http://100.64.0.1/"),
    ("/private", 302, "http://10.0.0.1/"),
    ("/unique-local", 302, "http://[fd00::1]/"),
    (
        "/backslash",
        302,
        "http://169.254.169.254:8888\\@example.org/",
    ),
    ("/userinfo", 302, "http://user:secret@plain.test/"),
    ("/file", 302, "file:///etc/passwd"),
    ("/javascript", 302, "javascript:alert(1)"),
    ("/empty", 302, ""),
    ("/port", 302, "http://plain.test:22/"),
];

/// Statuses that have a path `/NNN` on `status.test`.
pub const STATUSES: [u16; 19] = [
    204, 206, 300, 305, 400, 401, 403, 404, 405, 408, 410, 418, 429, 451, 500, 502, 503, 504, 599,
];

fn allow() -> Answer {
    Answer::robots("User-agent: *\nAllow: /\n")
}

/// Hosts on which every fault and oddity can be fetched:
///
/// | host | what |
/// | --- | --- |
/// | `plain.test` | nothing is wrong |
/// | `faults.test` | each [`Fault`], by [`Fault::all`]'s paths |
/// | `status.test` | `/404` and so on |
/// | `retry.test` | [`RETRY_AFTER`] with 429; under `/503/…` with 503; `/turns` one after the other |
/// | `redirects.test` | [`REDIRECTS`], `/hops/9` counting down to `/hops/0`, cookie walls |
/// | `content.test` | challenge, login, script only, huge, empty, each coding, each framing |
/// | `etag.test` | a path for each [`Validator`] |
/// | `cases.test` | pages of kinds once seen in the field ([`crate::cases`]) |
/// | `robots-….test` | each robots.txt failure (see [`robots_gallery`]) |
/// | `door-….test` | each [`Door`] |
#[must_use]
pub fn gallery() -> Vec<Site> {
    let mut sites = vec![
        Site::new("plain.test")
            .robots(allow())
            .page("/", plain("ふつうのページ")),
        faults(),
        statuses(),
        retries(),
        redirects(),
        oddities(),
        validators(),
        crate::cases::site(),
    ];
    sites.extend(robots_gallery());
    for (name, door) in [
        ("refused", Door::Refused),
        ("closes", Door::Closes),
        ("resets", Door::Resets),
        ("mute", Door::Mute),
        ("babbles", Door::Babbles),
    ] {
        let site = Site::new(&format!("door-{name}.test")).door(door);
        sites.push(site.robots(allow()).page("/", plain("開かない扉")));
    }
    sites
}

fn faults() -> Site {
    let site = Site::new("faults.test").robots(allow());
    Fault::all().into_iter().fold(site, |site, (path, fault)| {
        site.page(path, Answer::fault(fault))
    })
}

fn statuses() -> Site {
    let site = Site::new("status.test").robots(allow());
    STATUSES.iter().fold(site, |site, code| {
        site.page(&format!("/{code}"), Answer::status(*code))
    })
}

fn retries() -> Site {
    let values = RETRY_AFTER.map(|(_, value)| value);
    let site = Site::new("retry.test").robots(allow());
    let site = site.page("/turns", retry_after_turns(429, &values));
    RETRY_AFTER.iter().fold(site, |site, (path, value)| {
        site.page(path, Answer::retry_after(429, value))
            .page(&format!("/503{path}"), Answer::retry_after(503, value))
    })
}

fn redirects() -> Site {
    let site = Site::new("redirects.test")
        .robots(allow())
        .page("/", plain("入口"))
        .page("/index.html", plain("入口"))
        .page("/target", plain("行き先"))
        .page("/slash/", plain("行き先"))
        .page("/cookie-wall", cookie_wall())
        .page("/cookie-loop", cookie_loop())
        .rest(Source::made(|ask| {
            let hops = ask
                .path()
                .strip_prefix("/hops/")
                .and_then(|n| n.parse::<u32>().ok());
            match hops {
                Some(0) => plain("最後のページ"),
                Some(n) => Answer::redirect(302, &format!("/hops/{}", n - 1)),
                None => Answer::status(404),
            }
        }));
    REDIRECTS
        .iter()
        .fold(site, |site, (path, status, location)| {
            site.page(path, Answer::redirect(*status, location))
        })
}

fn oddities() -> Site {
    let long = || {
        Answer::html(format!(
            "<!DOCTYPE html><p>{}</p>",
            "料金のご案内。".repeat(2000)
        ))
    };
    let site = Site::new("content.test")
        .robots(allow())
        .page("/challenge", challenge())
        .page("/challenge-wait", challenge_wait())
        .page("/login", login())
        .page("/script-only", script_only())
        // Made only when asked for: it is large.
        .page("/huge", Source::made(|_| huge()))
        .page("/empty", Answer::html(""))
        .page(
            "/no-type",
            Answer {
                headers: Vec::new(),
                ..plain("種類なし")
            },
        )
        .page("/slow", plain("おそいページ").after(Duration::from_secs(2)))
        .page("/chunked", long().framed(Framing::Chunked))
        .page("/until-close", long().framed(Framing::Close))
        .page(
            "/alternating",
            Source::Rotating(vec![plain("甲のページ"), plain("乙のページ")]),
        );
    [
        ("/gzip", Encoding::Gzip),
        ("/deflate", Encoding::Deflate),
        ("/raw-deflate", Encoding::RawDeflate),
        ("/br", Encoding::Brotli),
        ("/zstd", Encoding::Zstd),
    ]
    .into_iter()
    .fold(site, |site, (path, encoding)| {
        let forced = Answer {
            encoding_forced: true,
            ..long().encoded(encoding)
        };
        site.page(path, long().encoded(encoding))
            .page(&format!("/forced{path}"), forced)
    })
}

fn validators() -> Site {
    let site = Site::new("etag.test").robots(allow());
    [
        ("/none", Validator::None),
        ("/strong", Validator::Strong),
        ("/weak", Validator::Weak),
        ("/date", Validator::Date),
        ("/both", Validator::Both),
        ("/useless", Validator::Useless),
        ("/flipping", Validator::Flipping),
        ("/fresh", Validator::Fresh),
        ("/stuck", Validator::Stuck),
    ]
    .into_iter()
    .fold(site, |site, (path, validator)| {
        site.page(path, plain("版のあるページ").validated(validator))
    })
}

/// A host for each way in which robots.txt can answer; `/` is a sound page on each.
#[must_use]
pub fn robots_gallery() -> Vec<Site> {
    let html = "<!DOCTYPE html><html lang=\"ja\"><head><title>トップ</title></head><body>\
                <p>User-agent:*<br />Disallow: /<br /></p></body></html>";
    let oversize = format!(
        "User-agent: *\nDisallow: /private\n{}",
        "# 余白\n".repeat(120_000)
    );
    let cases: Vec<(&str, Page)> = vec![
        ("allow", allow().into()),
        (
            "disallow",
            Answer::robots("User-agent: *\nDisallow: /\n").into(),
        ),
        (
            "delay",
            Answer::robots("User-agent: *\nCrawl-delay: 5\nAllow: /\n").into(),
        ),
        ("404", Answer::status(404).into()),
        ("410", Answer::status(410).into()),
        ("401", Answer::status(401).into()),
        ("403", Answer::status(403).into()),
        ("429", Answer::retry_after(429, "60").into()),
        ("500", Answer::status(500).into()),
        (
            "500-empty",
            Answer {
                body: "".into(),
                ..Answer::status(500)
            }
            .into(),
        ),
        (
            "500-allow",
            Answer {
                status: 500,
                ..allow()
            }
            .into(),
        ),
        ("503", Answer::retry_after(503, "60").into()),
        ("empty", Answer::text("").into()),
        ("html", Answer::html(html).into()),
        (
            "html-long",
            Answer::html(html.replace("<p>", &"<p>案内</p>".repeat(15_000))).into(),
        ),
        ("oversize", Answer::text(oversize).into()),
        ("silence", Answer::fault(Fault::Silence).into()),
        ("reset", Answer::fault(Fault::ResetUnanswered).into()),
        (
            "reset-after-head",
            Answer::fault(Fault::ResetAfterHead).into(),
        ),
        (
            "cut",
            allow()
                .with(Fault::ShortBody {
                    declared: 1000,
                    sent: 24,
                })
                .into(),
        ),
        (
            "redirect",
            Answer::redirect(302, "/robots/robots.txt").into(),
        ),
        (
            "redirect-host",
            Answer::redirect(302, "http://plain.test/robots.txt").into(),
        ),
        (
            "redirect-landing",
            Answer::redirect(302, "http://plain.test/").into(),
        ),
        ("redirect-loop", Answer::redirect(302, "/robots.txt").into()),
        (
            "redirect-private",
            Answer::redirect(302, "http://169.254.169.254/robots.txt").into(),
        ),
    ];
    let site = |(name, robots): (&str, Page)| {
        Site::new(&format!("robots-{name}.test"))
            .robots(robots)
            .page(
                "/robots/robots.txt",
                Answer::robots("User-agent: *\nDisallow: /private\n"),
            )
            .page("/", plain("本文のあるページ"))
            .page("/private", plain("断られたページ"))
    };
    cases.into_iter().map(site).collect()
}
