//! Each fault is served as its name says, seen by a client that reads bytes.

#![expect(
    clippy::unwrap_used,
    reason = "functions that tests share are not seen as tests by the lint"
)]

mod wire;

use reigi_testweb::log::End;
use reigi_testweb::{Door, Fault, Options, TestWeb, content};
use std::io::Read as _;
use tokio::net::TcpStream;
use wire::{Ended, Reply, ask, ask_briefly, read_all};

/// What a client must see of a fault.
fn expected(fault: &Fault, reply: &Reply) -> bool {
    let text = reply.text();
    let body = reply.body();
    let has = |part: &str| text.contains(part);
    let sound = has("200 OK\r\n") && has("<h1>Test page</h1>");
    let closed = reply.ended == Ended::Closed;
    let inflated = |zlib: bool| {
        let mut out = Vec::new();
        let read = if zlib {
            flate2::read::ZlibDecoder::new(&body[..]).read_to_end(&mut out)
        } else {
            flate2::read::GzDecoder::new(&body[..]).read_to_end(&mut out)
        };
        read.map(|_| out)
    };
    match fault {
        Fault::CloseUnanswered => reply.bytes.is_empty() && closed,
        Fault::ResetUnanswered => reply.bytes.is_empty() && reply.ended == Ended::Reset,
        Fault::Silence => reply.bytes.is_empty() && reply.ended == Ended::Silent,
        // A reset may overtake what was sent before it.
        Fault::ResetInHead => "HTTP/1.1 20".starts_with(&text) && reply.ended == Ended::Reset,
        Fault::ResetAfterHead | Fault::ResetInBody => {
            reply.ended == Ended::Reset && !has("</html>")
        }
        Fault::StallAfterHead => text.ends_with("\r\n\r\n") && reply.ended == Ended::Silent,
        Fault::StallInBody => has("<title>") && !has("</html>") && reply.ended == Ended::Silent,
        Fault::Http09 => text.starts_with("<!DOCTYPE") && closed,
        Fault::Garbage => !has("HTTP/") && reply.bytes.len() == 2048,
        Fault::BadStatusLine => text.starts_with("HTTP/7.7 9999"),
        Fault::NoReason => text.starts_with("HTTP/1.1 200\r\n") && has("Test page"),
        Fault::MalformedLines => {
            has("X-Folded: one\r\n\ttwo\r\n") && has("\r\n<meta http-equiv") && body == b"Works"
        }
        Fault::BareLf => !has("\r") && has("\n\n<!DOCTYPE"),
        Fault::NulInHeader => has("X-Nul: a\0b\r\n") && sound,
        Fault::HeaderFlood { lines } => sound && text.matches("X-Flood-").count() == *lines,
        Fault::LongHeader { bytes } => sound && has(&"a".repeat(*bytes)),
        Fault::EndlessHead => !has("\r\n\r\n") && text.matches("X-More").count() > 50,
        Fault::SlowHead { .. } => sound,
        Fault::EarlyHints => text.starts_with("HTTP/1.1 103") && sound,
        Fault::InterimFlood { status, answers } => {
            text.matches(&format!("HTTP/1.1 {status} ")).count() == *answers && sound
        }
        Fault::InterimForever => text.matches("102 Processing").count() > 5 && !has("200 OK"),
        Fault::Upgrade => text.starts_with("HTTP/1.1 101") && closed,
        Fault::TwoLengths => text.matches("Content-Length").count() == 2,
        Fault::NegativeLength => has("Content-Length: -1\r\n"),
        Fault::LengthAndChunked => has("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
        Fault::ShortBody { declared, sent } => {
            has(&format!("Content-Length: {declared}\r\n")) && body.len() == *sent && closed
        }
        Fault::ExtraBytes => text.ends_with("</html>\nand something more"),
        Fault::ExtraAnswer => text.matches("HTTP/1.1 200 OK").count() == 2,
        Fault::ChunkedCut => has("chunked") && text.ends_with("</html>\n\r\n") && closed,
        Fault::BadChunkSize => has("\r\n\r\nzz\r\n"),
        Fault::HugeChunkSize => has("\r\n\r\nfffffffffffffffff\r\n"),
        Fault::EndlessBody => text.matches("and so on").count() > 1000 && !has("\r\n0\r\n"),
        Fault::Drip { .. } => sound,
        Fault::GzipBomb { bytes } => {
            let mut blanks = flate2::read::GzDecoder::new(&body[..]);
            let grown = std::io::copy(&mut blanks, &mut std::io::sink()).unwrap();
            grown == *bytes as u64 && body.len() < bytes / 500
        }
        Fault::GzipCut | Fault::GzipBadChecksum => {
            has("Content-Encoding: gzip")
                && body.starts_with(b"\x1f\x8b")
                && inflated(false).is_err()
        }
        Fault::GzipLabel => has("Content-Encoding: gzip") && sound,
        Fault::UnknownCoding => has("Content-Encoding: x-rot13") && sound,
        Fault::DeflateGarbage => {
            body.ends_with(b"garbage") && inflated(true).unwrap() == vec![b'a'; 100_000]
        }
        Fault::DeflateTwice => {
            let (first, second) = body.split_at(body.len() / 2);
            first == second && inflated(true).unwrap() == vec![b'a'; 100_000]
        }
        _ => panic!("{fault:?} has no expectation"),
    }
}

#[tokio::test]
async fn each_fault_is_served_as_its_name_says() {
    let web = TestWeb::start(content::gallery(), Options::default())
        .await
        .unwrap();
    for (path, fault) in Fault::all() {
        let reply = if fault.endless() {
            ask_briefly(&web, "faults.test", path).await
        } else {
            ask(&web, "faults.test", path, "").await
        };
        let start: String = reply.text().chars().take(400).collect();
        assert!(
            expected(&fault, &reply),
            "{path}: {:?}, {start:?}",
            reply.ended
        );
    }
}

#[tokio::test]
async fn the_log_tells_how_each_answer_ended() {
    let web = TestWeb::start(content::gallery(), Options::default())
        .await
        .unwrap();
    for (path, fault) in Fault::all() {
        if fault.endless() {
            ask_briefly(&web, "faults.test", path).await;
        } else {
            ask(&web, "faults.test", path, "").await;
        }
    }
    let log = wait_for(&web, Fault::all().len()).await;
    for (path, fault) in Fault::all() {
        let exchange = log.iter().find(|e| e.path == path).unwrap();
        let end = match fault {
            Fault::ResetUnanswered
            | Fault::ResetInHead
            | Fault::ResetAfterHead
            | Fault::ResetInBody => End::Reset,
            _ if fault.endless() => End::Left,
            _ => exchange.end,
        };
        assert_eq!(exchange.end, end, "{path}");
        assert_eq!(exchange.status == 0, fault.headless(), "{path}");
        assert_eq!(exchange.whole, !fault.spoils(), "{path}");
        assert!(exchange.fault.is_some(), "{path}");
    }
}

/// The log once it has this many requests: the web notices a client's leave a little later.
async fn wait_for(
    web: &reigi_testweb::Running,
    requests: usize,
) -> Vec<reigi_testweb::log::Exchange> {
    loop {
        let log = web.log().requests();
        if log.len() >= requests {
            return log;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn doors_open_in_their_own_ways() {
    let web = TestWeb::start(content::gallery(), Options::default())
        .await
        .unwrap();
    for (door, ended, bytes) in [
        (Door::Closes, Ended::Closed, ""),
        (Door::Resets, Ended::Reset, ""),
        (Door::Mute, Ended::Silent, ""),
        (
            Door::Babbles,
            Ended::Silent,
            "220 mail.test ESMTP ready\r\n",
        ),
    ] {
        let mut stream = TcpStream::connect(web.addr_of("x.test", door))
            .await
            .unwrap();
        let reply = read_all(&mut stream, std::time::Duration::from_millis(250), 1000).await;
        assert_eq!(
            (reply.ended, reply.text().as_str()),
            (ended, bytes),
            "{door:?}"
        );
    }
    let refused = TcpStream::connect(web.addr_of("x.test", Door::Refused)).await;
    assert_eq!(
        refused.unwrap_err().kind(),
        std::io::ErrorKind::ConnectionRefused
    );
}

#[tokio::test]
async fn statuses_and_retry_after_come_as_written() {
    let web = TestWeb::start(content::gallery(), Options::default())
        .await
        .unwrap();
    for status in content::STATUSES {
        assert_eq!(
            ask(&web, "status.test", &format!("/{status}"), "")
                .await
                .status(),
            status
        );
    }
    for (path, value) in content::RETRY_AFTER {
        let reply = ask(&web, "retry.test", path, "").await;
        assert_eq!(
            (reply.status(), reply.header("retry-after")),
            (429, Some(value.to_owned()))
        );
        let reply = ask(&web, "retry.test", &format!("/503{path}"), "").await;
        assert_eq!(
            (reply.status(), reply.header("retry-after")),
            (503, Some(value.to_owned()))
        );
    }
    for (_, value) in content::RETRY_AFTER {
        let reply = ask(&web, "retry.test", "/turns", "").await;
        assert_eq!(reply.header("retry-after").as_deref(), Some(value));
    }
    assert_eq!(ask(&web, "retry.test", "/turns", "").await.status(), 200);
}

#[tokio::test]
async fn redirects_are_sent_as_written_and_walls_look_at_cookies() {
    let web = TestWeb::start(content::gallery(), Options::default())
        .await
        .unwrap();
    for (path, status, location) in content::REDIRECTS {
        let reply = ask(&web, "redirects.test", path, "").await;
        assert_eq!(reply.status(), status, "{path}");
        assert_eq!(
            reply.header("location").as_deref(),
            Some(location),
            "{path}"
        );
    }
    let host = "redirects.test";
    assert_eq!(ask(&web, host, "/cookie-wall", "").await.status(), 302);
    assert_eq!(
        ask(&web, host, "/cookie-wall", "Cookie: ok=1\r\n")
            .await
            .status(),
        200
    );
    let cookie = |reply: Reply| reply.header("set-cookie");
    let first = cookie(ask(&web, host, "/cookie-loop", "Cookie: ok=1\r\n").await);
    let second = cookie(ask(&web, host, "/cookie-loop", "").await);
    assert!(first.is_some() && first != second);
    assert_eq!(
        ask(&web, host, "/hops/2", "")
            .await
            .header("location")
            .unwrap(),
        "/hops/1"
    );
    assert_eq!(ask(&web, host, "/hops/0", "").await.status(), 200);
}

#[tokio::test]
async fn odd_content_is_sound_http() {
    let web = TestWeb::start(content::gallery(), Options::default())
        .await
        .unwrap();
    let host = "content.test";
    let challenge = ask(&web, host, "/challenge", "").await;
    assert!(challenge.status() == 200 && challenge.text().contains("CONTENT=\"noindex,nofollow\""));
    assert_eq!(ask(&web, host, "/challenge-wait", "").await.status(), 403);
    assert!(
        ask(&web, host, "/login", "")
            .await
            .text()
            .contains("type=\"password\"")
    );
    assert!(
        ask(&web, host, "/script-only", "")
            .await
            .text()
            .contains("<div id=\"root\"></div>")
    );
    let huge = ask(&web, host, "/huge", "").await;
    assert!(
        (15_000_000..18_500_000).contains(&huge.body().len()),
        "{}",
        huge.body().len()
    );
    assert_eq!(huge.text().matches("<svg").count(), 50_000);
    assert_eq!(ask(&web, host, "/empty", "").await.body(), b"");
    for path in ["/gzip", "/deflate", "/raw-deflate", "/br", "/zstd"] {
        let plain = ask(&web, host, path, "").await;
        assert_eq!(plain.header("content-encoding"), None, "{path}");
        let coded = ask(
            &web,
            host,
            path,
            "Accept-Encoding: gzip, deflate, br, zstd\r\n",
        )
        .await;
        assert!(coded.header("content-encoding").is_some(), "{path}");
        assert!(coded.body().len() < plain.body().len() / 10, "{path}");
        let forced = ask(&web, host, &format!("/forced{path}"), "").await;
        assert_eq!(forced.body(), coded.body(), "{path}");
    }
    let a = ask(&web, host, "/alternating", "").await.body();
    let b = ask(&web, host, "/alternating", "").await.body();
    assert_ne!(a, b);
    assert_eq!(ask(&web, host, "/alternating", "").await.body(), a);
}

#[tokio::test]
async fn robots_gallery_answers_as_named() {
    let web = TestWeb::start(content::gallery(), Options::default())
        .await
        .unwrap();
    for (name, status) in [
        ("allow", 200),
        ("404", 404),
        ("403", 403),
        ("410", 410),
        ("429", 429),
        ("500", 500),
        ("500-allow", 500),
        ("html", 200),
        ("oversize", 200),
        ("redirect", 302),
        ("redirect-host", 302),
    ] {
        let reply = ask(&web, &format!("robots-{name}.test"), "/robots.txt", "").await;
        assert_eq!(reply.status(), status, "{name}");
    }
    let long = ask(&web, "robots-oversize.test", "/robots.txt", "").await;
    assert!(long.body().len() > 512 * 1024);
    let reset = ask(&web, "robots-reset.test", "/robots.txt", "").await;
    assert_eq!(reset.ended, Ended::Reset);
}
