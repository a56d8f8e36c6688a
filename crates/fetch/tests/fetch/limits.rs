//! No answer takes more than its share of memory, time or the site's bytes.

use std::time::{Duration, Instant};

use reigi_core::fetched::{Fetched, Outcome};
use reigi_testweb::{Answer, Encoding, Fault, Options, Site, TestWeb};

use crate::listen::{End, Listener};
use crate::support::{TestClock, Wanted, fetch};

fn up_to(max_bytes: u64) -> Wanted {
    Wanted {
        max_bytes,
        ..Wanted::page("http://a.test/")
    }
}

#[tokio::test]
async fn the_limit_itself_is_read_and_one_more_is_too_large() {
    let clock = TestClock::new();
    let bodies = [
        b"HTTP/1.1 200 OK\r\n\r\n12345".to_vec(),
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345".to_vec(),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n123\r\n2\r\n45\r\n0\r\n\r\n"
            .to_vec(),
    ];
    for body in bodies {
        let listener = Listener::play(vec![body], End::Close).await;
        let exact = fetch(&clock, listener.at, &up_to(5)).await;
        assert_eq!(exact.outcome, Outcome::Status(200));
        assert_eq!((exact.body.as_slice(), exact.raw_bytes), (&b"12345"[..], 5));
        let over = fetch(&clock, listener.at, &up_to(4)).await;
        let too_large = Outcome::TooLarge {
            status: 200,
            limit: 4,
        };
        assert_eq!((over.outcome, over.body), (too_large, vec![]));
    }
}

/// A length over the limit is enough: its body is not asked of the site.
#[tokio::test]
async fn an_announced_length_over_the_limit_is_not_read() {
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 50000000000\r\n\r\n".to_vec();
    let listener = Listener::play(vec![head], End::Hold).await;
    let clock = TestClock::new();
    let fetched = fetch(&clock, listener.at, &up_to(10_000_000)).await;
    let limit = 10_000_000;
    assert_eq!(fetched.outcome, Outcome::TooLarge { status: 200, limit });
    assert_eq!(fetched.raw_bytes, 0);
}

async fn of_web(answer: Answer, max_bytes: u64) -> (Fetched, Duration) {
    let site = Site::new("a.test").page("/", answer);
    let web = TestWeb::start(vec![site], Options::default())
        .await
        .unwrap();
    let clock = TestClock::new();
    let began = Instant::now();
    let fetched = fetch(&clock, web.addr(), &up_to(max_bytes)).await;
    (fetched, began.elapsed())
}

#[tokio::test]
async fn bombs_and_floods_stop_early() {
    let bomb = Fault::GzipBomb { bytes: 50_000_000 };
    let limit = 1_000_000;
    let too_large = Outcome::TooLarge { status: 200, limit };
    let head = Outcome::Protocol("the answer's head is too large".to_owned());
    for (fault, outcome) in [
        (bomb, too_large.clone()),
        (Fault::EndlessBody, too_large),
        (Fault::EndlessHead, head.clone()),
        (Fault::InterimForever, head.clone()),
        (Fault::LongHeader { bytes: 200_000 }, head.clone()),
        (Fault::HeaderFlood { lines: 50_000 }, head.clone()),
        (Fault::HeaderFlood { lines: 600 }, head),
    ] {
        let answer = Answer::html("<p>hello</p>").with(fault.clone());
        let (fetched, took) = of_web(answer, limit).await;
        assert_eq!(fetched.outcome, outcome, "{fault:?}");
        assert!(fetched.body.is_empty(), "{fault:?}");
        assert!(fetched.raw_bytes <= limit + 200_000, "{fault:?}");
        let kept: usize = fetched.headers.iter().map(|(n, v)| n.len() + v.len()).sum();
        assert!(kept <= 64 * 1024, "{fault:?}: {kept} bytes of fields");
        assert!(took < Duration::from_secs(5), "{fault:?}: {took:?}");
    }
}

/// dgtlmoon/changedetection.io#3892: 16 MB of markup are an ordinary large page, or over the
/// limit; never an empty one.
#[tokio::test]
async fn a_huge_page_comes_whole_or_not_at_all() {
    let html = format!("<style>{}</style><h1>one</h1>", "a{}".repeat(5_000_000));
    let size = html.len() as u64;
    for encoding in [Encoding::Identity, Encoding::Gzip] {
        let answer = Answer::html(html.clone()).encoded(encoding);
        let (whole, _) = of_web(answer.clone(), size).await;
        assert_eq!(whole.outcome, Outcome::Status(200), "{encoding:?}");
        assert!(whole.body == html.as_bytes(), "{encoding:?}");
        let (over, _) = of_web(answer, size - 1).await;
        let limit = size - 1;
        assert_eq!(over.outcome, Outcome::TooLarge { status: 200, limit });
        assert!(over.body.is_empty());
    }
}

/// Every fault of the test web ends, in time, in an outcome of its kind; none is taken for a page
/// that came whole and right.
#[tokio::test]
async fn every_fault_of_the_test_web_is_survived() {
    let mut at_once = tokio::task::JoinSet::new();
    for (path, fault) in Fault::all() {
        at_once.spawn(async move {
            let page = Answer::html("<h1>Test page</h1>").with(fault.clone());
            let site = Site::new("a.test").page(path, page);
            let web = TestWeb::start(vec![site], Options::default())
                .await
                .unwrap();
            let wanted = Wanted {
                timeout: Duration::from_secs(3),
                max_bytes: 1_000_000,
                ..Wanted::page(format!("http://a.test{path}"))
            };
            let fetched = fetch(&TestClock::new(), web.addr(), &wanted).await;
            let whole = fetched.outcome == Outcome::Status(200);
            assert!(!(whole && fault.spoils()), "{path}: {:?}", fetched.outcome);
            assert_eq!(fetched.body.is_empty(), !whole, "{path}");
        });
    }
    at_once.join_all().await;
}
