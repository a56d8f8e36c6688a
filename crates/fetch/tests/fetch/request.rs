//! What leaves: one GET, who we are, the validators as the site gave them, and nothing else.

use reigi_core::charter::RequestKind;
use reigi_core::event::Validators;
use reigi_core::fetched::Outcome;

use crate::listen::{End, Listener};
use crate::support::{TestClock, Wanted, fetch};

const AGENT: &str =
    "Mozilla/5.0 (compatible; BlueAIChangeBot/1.0; +https://blueai.co.jp/change-bot)";

/// The head that a listener at a.test sees.
async fn head(wanted: Wanted) -> String {
    let listener = Listener::play(
        vec![b"HTTP/1.1 304 Not Modified\r\n\r\n".to_vec()],
        End::Hold,
    )
    .await;
    let clock = TestClock::new();
    let fetched = fetch(&clock, listener.at, &wanted).await;
    assert_eq!(fetched.outcome, Outcome::Status(304));
    let visits = listener.visits().await;
    assert_eq!(fetched.request_head, visits[0].head.as_bytes());
    visits[0].head.clone()
}

#[tokio::test]
async fn a_page_is_asked_for_with_these_fields_only() {
    assert_eq!(
        head(Wanted::page("http://a.test/fees?year=2026&q=%E5%86%86|[1]")).await,
        format!(
            "GET /fees?year=2026&q=%E5%86%86|[1] HTTP/1.1\r\nhost: a.test\r\nuser-agent: {AGENT}\r\n\
             accept: text/html, application/xhtml+xml, */*;q=0.5\r\n\
             accept-encoding: gzip, br, zstd, deflate\r\nconnection: close\r\n\r\n"
        )
    );
}

#[tokio::test]
async fn robots_txt_is_asked_for_as_text() {
    let robots = Wanted {
        kind: RequestKind::Robots,
        ..Wanted::page("http://a.test:8080/robots.txt")
    };
    let head = head(robots).await;
    assert!(
        head.starts_with("GET /robots.txt HTTP/1.1\r\nhost: a.test:8080\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\naccept: text/plain, */*;q=0.5\r\n"),
        "{head}"
    );
}

/// mdn/content#4343: a validator goes back byte for byte, or not at all.
#[tokio::test]
async fn validators_go_back_as_they_came() {
    let date = "Tue, 1 Apr 2025 9:00:00 JST";
    for (etag, sent) in [
        ("\"abc-gzip\"", true),
        ("W/\"abc\"", true),
        ("unquoted", true),
        ("\"é\"", true),
        ("\"a\"\r\nCookie: a=1", false),
        ("\"\0\"", false),
    ] {
        let wanted = Wanted {
            validators: Validators {
                etag: Some(etag.to_owned()),
                last_modified: Some(date.to_owned()),
            },
            ..Wanted::page("http://a.test/")
        };
        let head = head(wanted).await;
        let line = format!("\r\nif-none-match: {etag}\r\n");
        assert_eq!(head.contains(&line), sent, "{etag:?}: {head}");
        assert_eq!(head.contains("if-none-match"), sent, "{etag:?}: {head}");
        assert!(
            head.contains(&format!("\r\nif-modified-since: {date}\r\n")),
            "{head}"
        );
        assert!(!head.to_ascii_lowercase().contains("cookie"), "{head}");
    }
}

/// xroche/httrack#15: a site that wants a cookie back never gets one; we stop at its redirect.
#[tokio::test]
async fn no_cookie_goes_back() {
    let wall = b"HTTP/1.1 302 Found\r\nLocation: /p\r\nSet-Cookie: ok=1; Path=/\r\n\
                 Content-Length: 0\r\n\r\n";
    let listener = Listener::play(vec![wall.to_vec()], End::Hold).await;
    let clock = TestClock::new();
    for _ in 0..2 {
        let fetched = fetch(&clock, listener.at, &Wanted::page("http://a.test/p")).await;
        assert_eq!(fetched.outcome, Outcome::Status(302));
        assert_eq!(fetched.header("location"), Some("/p"));
    }
    let visits = listener.visits().await;
    assert_eq!(visits.len(), 2, "a redirect is not followed here");
    for visit in visits {
        let head = visit.head.to_ascii_lowercase();
        for field in ["cookie", "authorization", "referer", "from:", "origin"] {
            assert!(!head.contains(field), "{head}");
        }
    }
}
