//! The checker finds each planted breach, names it, and stays silent on a clean log.

#![expect(
    clippy::unwrap_used,
    reason = "functions that tests share are not seen as tests by the lint"
)]

mod wire;

use jiff::Timestamp;
use reigi_testweb::check::{Kind, Promise, check};
use reigi_testweb::log::{End, Event, Exchange, Stamp};
use reigi_testweb::{Answer, Options, Site, TestWeb, Validator};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// Milliseconds after the web's start.
fn at(ms: i64) -> Stamp {
    let wall = Timestamp::from_microsecond(1_780_000_000_000_000 + ms * 1000).unwrap();
    Stamp {
        wall,
        mono_us: u64::try_from(ms * 1000).unwrap(),
    }
}

/// A request that arrives at `start` and is answered by `end` (milliseconds), connection by
/// connection.
fn request(host: &str, path: &str, start: i64, end: i64) -> Exchange {
    let robots = (path == "/robots.txt").then(|| "User-agent: *\nDisallow: /private\n".to_owned());
    Exchange {
        connection: u64::try_from(start).unwrap(),
        nth: 1,
        peer: "127.0.0.1:50000".parse().unwrap(),
        local: "127.0.0.1:8080".parse().unwrap(),
        host: host.to_owned(),
        method: "GET".to_owned(),
        path: path.to_owned(),
        user_agent: Some("bot/1.0".to_owned()),
        headers: Vec::new(),
        head: Vec::new(),
        opened: at(start),
        arrived: at(start),
        asked: at(start),
        answered: Some(at(end)),
        last_write: Some(at(end)),
        finished: at(end),
        end: End::Complete,
        status: 200,
        bytes: 100,
        etag: None,
        last_modified: None,
        retry_after: None,
        location: None,
        body: Some(path.to_owned()),
        whole: true,
        validates: false,
        fault: None,
        robots,
        site_time: at(0).wall,
    }
}

/// robots.txt, then pages, each 2 s after the end of the previous answer.
fn clean() -> Vec<Exchange> {
    vec![
        request("a.test", "/robots.txt", 0, 100),
        request("a.test", "/one", 2100, 2200),
        request("a.test", "/two", 4200, 4300),
    ]
}

/// Each exchange on a connection of its own that closes with the answer.
fn log(exchanges: Vec<Exchange>) -> Vec<Event> {
    let mut events = vec![Event::Start { at: at(0) }];
    for exchange in exchanges {
        let (connection, closed) = (exchange.connection, exchange.finished);
        events.push(Event::Request(Box::new(exchange)));
        events.push(Event::Close {
            connection,
            requests: 1,
            at: closed,
        });
    }
    events
}

fn promise() -> Promise {
    Promise {
        interval: Duration::from_secs(2),
        user_agents: vec!["bot/1.0".to_owned()],
        token: "bot".to_owned(),
        retry_after_max: Some(Duration::from_secs(3600)),
        ..Promise::default()
    }
}

fn kinds(exchanges: Vec<Exchange>) -> Vec<Kind> {
    check(&log(exchanges), &promise())
        .breaches
        .iter()
        .map(|breach| breach.kind)
        .collect()
}

#[test]
fn a_clean_log_has_no_breach() {
    let report = check(&log(clean()), &promise());
    assert_eq!(report.breaches, []);
    assert_eq!(
        (report.requests, report.robots_requests, report.connections),
        (3, 1, 3)
    );
    assert_eq!(report.hosts["a.test"].gap_min_ms, Some(2000.0));
    assert_eq!(report.gaps.min_ms, Some(2000.0));
    assert_eq!(report.lateness.max_ms, Some(0.0));
    assert_eq!(report.starts.count, 2);
}

/// A change to the clean log and the one breach that it plants.
type Plant = (Kind, fn(&mut Vec<Exchange>));

#[test]
fn each_planted_breach_is_found_and_no_other() {
    let plants: [Plant; 16] = [
        (Kind::Interval, |log| {
            log[2] = request("a.test", "/two", 4100, 4300)
        }),
        (Kind::Overlap, |log| {
            log[2] = Exchange {
                connection: 2100,
                ..request("a.test", "/two", 2150, 4300)
            };
        }),
        (Kind::CrawlDelay, |log| {
            log[0].robots = Some("User-agent: bot\nCrawl-delay: 2.05\n".to_owned());
            log[1] = request("a.test", "/one", 2160, 2200);
        }),
        (Kind::RetryAfter, |log| {
            log[1].status = 429;
            log[1].retry_after = Some("3".to_owned());
        }),
        (Kind::Connections, |log| log[2].opened = at(2150)),
        (Kind::NoRobots, |log| {
            log.remove(0);
            log.pop();
        }),
        (Kind::RobotsFailure, |log| {
            log[0].status = 503;
            log.pop();
        }),
        (Kind::RobotsFailure, |log| {
            log[0].end = End::Reset;
            log[0].whole = false;
            log.pop();
        }),
        (Kind::Disallowed, |log| {
            log[1].path = "/private/x".to_owned()
        }),
        (Kind::Method, |log| log[1].method = "HEAD".to_owned()),
        (Kind::Header, |log| {
            log[1].headers.push(("Cookie".to_owned(), "a=b".to_owned()))
        }),
        (Kind::Header, |log| {
            log[1].headers.push(("Referer".to_owned(), "/".to_owned()))
        }),
        (Kind::UserAgent, |log| {
            log[1].user_agent = Some("bot/1.1".to_owned())
        }),
        (Kind::UserAgent, |log| log[1].user_agent = None),
        (Kind::Unconditional, |log| {
            log[2].path = "/one".to_owned();
            for exchange in &mut log[1..] {
                exchange.etag = Some("\"v1\"".to_owned());
                exchange.validates = true;
                exchange.body = Some("same".to_owned());
            }
        }),
        (Kind::Validator, |log| {
            log[1]
                .headers
                .push(("If-None-Match".to_owned(), "\"v1-gzip\"".to_owned()));
        }),
    ];
    for (kind, plant) in plants {
        let mut log = clean();
        plant(&mut log);
        assert_eq!(kinds(log), [kind]);
    }
}

#[test]
fn what_is_no_breach() {
    // 404 on robots.txt: no rules.
    let mut log = clean();
    log[0].status = 404;
    log[0].robots = None;
    assert_eq!(kinds(log), []);
    // Another host needs no gap to this one, but its own robots.txt.
    let mut log = clean();
    log.push(request("b.test", "/robots.txt", 2110, 2150));
    assert_eq!(kinds(log), []);
    // A validator that came back, though uselessly; a page that did change.
    let mut log = clean();
    log[2].path = "/one".to_owned();
    log[1].etag = Some("\"v1\"".to_owned());
    log[2]
        .headers
        .push(("If-None-Match".to_owned(), "\"v1\"".to_owned()));
    log[2].body = Some("/one".to_owned());
    let report = check(&self::log(log), &promise());
    assert_eq!((report.breaches.len(), report.validators_useless), (0, 1));
    // The web noticed late that the client had left: it cannot accuse.
    let mut log = clean();
    log[1].end = End::Left;
    log[1].finished = at(2204);
    let report = check(&self::log(log), &promise());
    assert_eq!((report.breaches.len(), report.undecided), (0, 1));
}

#[test]
fn a_global_interval_counts_starts_over_all_hosts() {
    let promise = Promise {
        global_interval: Some(Duration::from_millis(300)),
        ..promise()
    };
    let robots = |host, start| request(host, "/robots.txt", start, start + 1000);
    let near = log(vec![
        robots("a.test", 0),
        robots("b.test", 200),
        robots("c.test", 500),
    ]);
    let report = check(&near, &promise);
    assert_eq!(report.breaches.len(), 1);
    assert_eq!(report.breaches[0].kind, Kind::GlobalInterval);
    assert_eq!(
        (report.breaches[0].line, report.breaches[0].against),
        (4, Some(2))
    );
}

#[test]
fn the_report_is_json_with_stable_names() {
    let mut exchanges = clean();
    exchanges[1].method = "POST".to_owned();
    let report = serde_json::to_value(check(&log(exchanges), &promise())).unwrap();
    assert_eq!(report["breaches"][0]["kind"], "method");
    assert_eq!(report["breaches"][0]["line"], 4);
    assert_eq!(report["gaps"]["p50_ms"], 2000.0);
}

async fn get(stream: &mut TcpStream, path: &str, lines: &str) {
    let head = format!("GET {path} HTTP/1.1\r\nHost: a.test\r\nUser-Agent: bot/1.0\r\n{lines}\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    wire::read_one(stream).await;
}

#[tokio::test]
async fn a_real_crawl_is_judged_by_its_real_log() {
    let page = Answer::html("<p>a</p>").validated(Validator::Strong);
    let site = Site::new("a.test")
        .robots(Answer::robots("User-agent: *\n"))
        .page("/", page);
    let web = TestWeb::start(vec![site], Options::default())
        .await
        .unwrap();
    let promise = Promise {
        interval: Duration::from_millis(30),
        ..promise()
    };
    let mut stream = TcpStream::connect(web.addr()).await.unwrap();
    get(&mut stream, "/robots.txt", "").await;
    get(&mut stream, "/", "").await;
    let etag = web.log().requests()[1].etag.clone().unwrap();
    get(&mut stream, "/", &format!("If-None-Match: {etag}\r\n")).await;
    let report = check(&web.log().events(), &promise);
    assert_eq!(report.breaches, []);
    assert_eq!(
        (report.requests, report.not_modified, report.connections),
        (3, 1, 1)
    );

    // Two requests in one write: the second is there before the first is answered.
    let head = "GET / HTTP/1.1\r\nHost: a.test\r\nUser-Agent: bot/1.0\r\nIf-None-Match: ";
    let twice = format!("{head}{etag}\r\n\r\n{head}{etag}\r\n\r\n");
    stream.write_all(twice.as_bytes()).await.unwrap();
    wire::read_one(&mut stream).await;
    let report = check(&web.log().events(), &promise);
    let found: Vec<Kind> = report.breaches.iter().map(|breach| breach.kind).collect();
    assert_eq!(found, [Kind::Overlap]);
}
