//! The web itself: names, connections, conditional requests, time, and the log.

#![expect(
    clippy::unwrap_used,
    reason = "functions that tests share are not seen as tests by the lint"
)]

mod wire;

use jiff::SignedDuration;
use reigi_testweb::log::{self, End, Event};
use reigi_testweb::{Answer, Bulk, Door, Options, Page, Site, TestWeb, Validator, day, demo};
use std::io::{BufRead as _, BufReader};
use std::net::IpAddr;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use wire::{Ended, ask, read_all, read_one};

async fn start(sites: Vec<Site>) -> reigi_testweb::Running {
    TestWeb::start(sites, Options::default()).await.unwrap()
}

#[tokio::test]
async fn hosts_file_leads_to_each_host() {
    let doors = Site::new("closed.test").door(Door::Refused);
    let web = start(vec![
        Site::new("b.test"),
        Site::new("a.test"),
        doors,
        Bulk::default().site(),
    ])
    .await;
    let file = web.hosts_file();
    let names: Vec<&str> = file
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(names, ["a.test", "b.test", "closed.test", "*.bulk.test"]);
    assert!(file.contains(&format!("a.test {}\n", web.addr())));
    assert!(!file.contains(&format!("closed.test {}\n", web.addr())));
}

#[tokio::test]
async fn hosts_are_spread_over_several_addresses() {
    let addresses: Vec<IpAddr> = ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
        .map(|a| a.parse().unwrap())
        .into();
    let sites = (0..30).map(|n| Site::new(&format!("h{n}.test")).page("/", Answer::html("a")));
    let options = Options {
        addresses: addresses.clone(),
        ..Options::default()
    };
    let web = TestWeb::start(sites.collect(), options).await.unwrap();
    for address in addresses {
        assert!(
            web.hosts_file().contains(&format!(" {address}:")),
            "{address}"
        );
    }
    assert_eq!(ask(&web, "h7.test", "/", "").await.status(), 200);
    let local = web.log().requests()[0].local;
    assert_eq!(local, web.addr_of("h7.test", Door::Open));
}

#[tokio::test]
async fn a_connection_is_kept_alive_until_asked_to_close() {
    let web = start(vec![Site::new("a.test").page("/", Answer::html("a"))]).await;
    let mut stream = TcpStream::connect(web.addr()).await.unwrap();
    for _ in 0..2 {
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
            .await
            .unwrap();
        let reply = read_one(&mut stream).await;
        assert_eq!((reply.status(), reply.ended), (200, Ended::Silent));
    }
    let last = b"GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
    stream.write_all(last).await.unwrap();
    let reply = read_all(&mut stream, Duration::from_secs(5), usize::MAX).await;
    assert_eq!((reply.status(), reply.ended), (200, Ended::Closed));
    let nth: Vec<(u64, u64)> = web
        .log()
        .requests()
        .iter()
        .map(|e| (e.connection, e.nth))
        .collect();
    assert_eq!(nth, [(1, 1), (1, 2), (1, 3)]);
}

#[tokio::test]
async fn validators_bring_304_over_the_wire_and_no_body() {
    let page = Page::new(Answer::html("old").validated(Validator::Both)).then(
        day(2026, 5, 1),
        Answer::html("new").validated(Validator::Both),
    );
    let web = start(vec![Site::new("a.test").page("/", page)]).await;
    web.set_time(day(2026, 4, 30));
    let first = ask(&web, "a.test", "/", "").await;
    let again = format!("If-None-Match: {}\r\n", first.header("etag").unwrap());
    let second = ask(&web, "a.test", "/", &again).await;
    assert_eq!((second.status(), second.body().len()), (304, 0));
    web.advance(SignedDuration::from_hours(48));
    let third = ask(&web, "a.test", "/", &again).await;
    assert_eq!((third.status(), third.body()), (200, b"new".to_vec()));
    let modified = third.header("last-modified").unwrap();
    assert_eq!(modified, "Thu, 30 Apr 2026 15:00:00 GMT");
    assert!(
        third.header("date").unwrap().contains("May 2026"),
        "Date is site time"
    );
}

#[tokio::test]
async fn sites_can_be_changed_while_they_are_served() {
    let web = start(vec![Site::new("a.test").page("/", Answer::html("a"))]).await;
    assert!(web.edit("a.test", |site| {
        site.pages.insert("/".to_owned(), Answer::html("b").into());
    }));
    assert!(!web.edit("b.test", |_| ()));
    web.put(Site::new("b.test").page("/", Answer::html("c")));
    assert_eq!(ask(&web, "a.test", "/", "").await.body(), b"b");
    assert_eq!(ask(&web, "b.test", "/", "").await.body(), b"c");
    assert_eq!(ask(&web, "c.test", "/", "").await.status(), 421);
}

#[tokio::test]
async fn the_log_keeps_what_was_sent_and_when() {
    let slow = Answer::html("slow").after(Duration::from_millis(30));
    let web = start(vec![Site::new("a.test").page("/", slow)]).await;
    ask(
        &web,
        "a.test",
        "/?q=\u{e9}",
        "User-Agent: bot/1\r\nX-Odd: \u{3042}\r\n",
    )
    .await;
    let e = &web.log().requests()[0];
    assert_eq!(
        (e.path.as_str(), e.user_agent.as_deref()),
        ("/?q=\u{e9}", Some("bot/1"))
    );
    assert_eq!(e.header("x-odd"), Some("\u{3042}"));
    assert!(
        e.head
            .starts_with(b"GET /?q=\xc3\xa9 HTTP/1.1\r\nHost: a.test\r\n")
    );
    assert!(e.head.ends_with(b"\r\n\r\n"));
    let answered = e.answered.unwrap();
    let order = [
        e.opened,
        e.arrived,
        e.asked,
        answered,
        e.last_write.unwrap(),
        e.finished,
    ];
    assert!(order.is_sorted(), "{order:?}");
    assert!(answered.mono_us - e.asked.mono_us >= 30_000);
    assert_eq!((e.status, e.end), (200, End::Closed));
    assert!(e.bytes > 100);
}

#[tokio::test]
async fn the_log_file_reads_back_and_has_a_combined_form() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("access.jsonl");
    let options = Options {
        log_file: Some(file.clone()),
        ..Options::default()
    };
    let web = TestWeb::start(vec![Site::new("a.test")], options)
        .await
        .unwrap();
    ask(
        &web,
        "a.test",
        "/x",
        "User-Agent: a \"bot\"\r\nReferer: http://b/\r\n",
    )
    .await;
    // Left open without a request: its close is logged at shutdown.
    let _idle = TcpStream::connect(web.addr()).await.unwrap();
    ask(&web, "a.test", "/y", "").await;
    web.shutdown().await.unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let events = log::read(text.as_bytes()).unwrap();
    let count = |wanted: fn(&&Event) -> bool| events.iter().filter(wanted).count();
    assert_eq!(count(|e| matches!(e, Event::Start { .. })), 1);
    assert_eq!(count(|e| matches!(e, Event::Open { .. })), 3);
    assert_eq!(count(|e| matches!(e, Event::Close { .. })), 3);
    let mut combined = Vec::new();
    log::write_combined(log::requests(&events), &mut combined).unwrap();
    let combined = String::from_utf8(combined).unwrap();
    let first = combined.lines().next().unwrap();
    assert!(first.starts_with("127.0.0.1 - - ["), "{first}");
    assert!(first.contains("] \"GET /x HTTP/1.1\" 404 "), "{first}");
    assert!(
        first.ends_with("\"http://b/\" \"a \\\"bot\\\"\""),
        "{first}"
    );
    // A last line cut by a crash is ignored, a wrong line is named.
    let cut = text.get(..text.len() - 9).unwrap();
    assert_eq!(log::read(cut.as_bytes()).unwrap().len(), events.len() - 1);
    let error = log::read("{}\n".as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("line 1 of the log"), "{error}");
}

#[tokio::test]
async fn odd_requests_are_answered_and_logged() {
    let web = start(vec![Site::new("a.test").page("/", Answer::html("abc"))]).await;
    for (head, status) in [
        (
            "HEAD / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n".to_owned(),
            200,
        ),
        ("GET / HTTP/1.0\r\nHost: a.test\r\n\r\n".to_owned(), 200),
        (
            "GET / HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(),
            421,
        ),
        (
            "POST / HTTP/1.0\r\nHost: a.test\r\nContent-Length: 3\r\n\r\nxyz".to_owned(),
            200,
        ),
        (format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(70_000)), 431),
    ] {
        let mut stream = TcpStream::connect(web.addr()).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let reply = read_all(&mut stream, Duration::from_secs(5), usize::MAX).await;
        assert_eq!(reply.status(), status, "{:?}", head.get(..40));
        assert_eq!(reply.body().is_empty(), head.starts_with("HEAD"));
    }
    let methods: Vec<String> = web.log().requests().into_iter().map(|e| e.method).collect();
    assert_eq!(methods, ["HEAD", "GET", "GET", "POST", "GET"]);
}

#[tokio::test]
async fn the_demo_is_served_on_its_calendar() {
    let web = start(demo::sites()).await;
    web.set_time(demo::start());
    let before = ask(&web, "sakura-code.test", "/price.html", "")
        .await
        .text();
    web.set_time(demo::end());
    let after = ask(&web, "sakura-code.test", "/price.html", "")
        .await
        .text();
    assert!(before.contains("657,800円") && !before.contains("698,500円"));
    assert!(after.contains("698,500円") && after.contains("最大80％"));
}

#[tokio::test]
async fn a_thousand_connections_at_once() {
    let web = start(vec![
        Bulk {
            hosts: 10_000,
            ..Bulk::default()
        }
        .site(),
    ])
    .await;
    let mut streams = Vec::new();
    for n in 0..1000 {
        let mut stream = TcpStream::connect(web.addr()).await.unwrap();
        let head = format!(
            "GET /p/1.html HTTP/1.0\r\nHost: {}\r\n\r\n",
            Bulk::host(n * 10)
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        streams.push(stream);
    }
    for mut stream in streams {
        let reply = read_all(&mut stream, Duration::from_secs(10), usize::MAX).await;
        assert_eq!((reply.status(), reply.ended), (200, Ended::Closed));
    }
    assert_eq!(web.log().requests().len(), 1000);
}

#[test]
fn the_program_serves_and_checks() {
    let dir = tempfile::tempdir().unwrap();
    let (log, hosts) = (dir.path().join("log"), dir.path().join("hosts"));
    let testweb = || Command::new(env!("CARGO_BIN_EXE_testweb"));
    let mut web = testweb()
        .args(["serve", "--hosts", "5", "--demo", "--gallery", "--log"])
        .arg(&log)
        .arg("--hosts-file")
        .arg(&hosts)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut addr = String::new();
    BufReader::new(web.stdout.take().unwrap())
        .read_line(&mut addr)
        .unwrap();
    let hosts = std::fs::read_to_string(hosts).unwrap();
    assert!(hosts.contains("*.bulk.test ") && hosts.contains("sakura-code.test "));
    let reply = {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(addr.trim()).unwrap();
        stream
            .write_all(b"GET /p/1.html HTTP/1.0\r\nHost: h00004.bulk.test\r\n\r\n")
            .unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    };
    assert!(reply.starts_with("HTTP/1.1 200 OK\r\n"));
    // The log is written out every 200 ms; the request has no robots.txt before it.
    let judged = loop {
        let done = testweb()
            .args(["check", "--json"])
            .arg(&log)
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        if report["requests"] == 1 {
            break (done.status.code(), report);
        }
        std::thread::yield_now();
    };
    web.kill().unwrap();
    web.wait().unwrap();
    assert_eq!(judged.0, Some(1));
    assert_eq!(judged.1["breaches"][0]["kind"], "no_robots");
    let fine = testweb()
        .args(["check", "--no-robots"])
        .arg(&log)
        .output()
        .unwrap();
    assert_eq!(fine.status.code(), Some(0));
    let bad = testweb()
        .args(["check", "/nonexistent/log"])
        .output()
        .unwrap();
    assert_eq!(bad.status.code(), Some(2));
}
