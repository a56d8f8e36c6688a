//! Redirects on a web of our own: which are followed, which are held, and that nothing is asked
//! that its own robots.txt refuses.

use std::collections::BTreeMap;
use std::time::Duration;

use reigi_testweb::{Answer, Options, Site, TestWeb, check};
use serde_json::json;

use crate::bench::{acceptance_house, reigi};

/// Listed host, what it does, and what must be learned of `/p`: a word and a part of the reason.
const CASES: [(&str, &str, &str); 11] = [
    ("twin.test", "confirmed", ""),
    ("shut.test", "held (robots-obeyed)", "not followed"),
    ("same.test", "confirmed", ""),
    ("away.test", "held", "redirect to http://other.test/p"),
    ("deaf.test", "refused (robots-obeyed)", ""),
    ("gone.test", "unconfirmed", "moved or removed"),
    ("wall.test", "unconfirmed", "cookie wall"),
    ("meta.test", "held", "redirect to http://169.254.169.254/"),
    ("file.test", "held", "not followed"),
    ("back.test", "held", "not followed"),
    ("ring.test", "held", "redirect to"),
];

fn sites() -> Vec<Site> {
    let page = || Answer::html("<h1>Fees</h1><p>Adults 1,200 yen, children free of charge.</p>");
    let open = || Answer::robots("User-agent: *\nDisallow: /private\n");
    let sends = |host: &str, to: &str| {
        Site::new(host)
            .robots(open())
            .page("/p", Answer::redirect(302, to))
    };
    vec![
        sends("twin.test", "http://www.twin.test/p"),
        Site::new("www.twin.test").robots(open()).page("/p", page()),
        sends("shut.test", "http://www.shut.test/p"),
        Site::new("www.shut.test")
            .robots(Answer::robots("User-agent: *\nDisallow: /\n"))
            .page("/p", page()),
        sends("same.test", "/q").page("/q", page()),
        sends("away.test", "http://other.test/p"),
        Site::new("other.test").robots(open()).page("/p", page()),
        Site::new("deaf.test")
            .robots(Answer::redirect(301, "http://rules.test/robots.txt"))
            .page("/p", page()),
        Site::new("rules.test").robots(Answer::robots("User-agent: *\nDisallow: /p\n")),
        sends("gone.test", "/").page("/", page()),
        Site::new("wall.test").robots(open()).page(
            "/p",
            Answer::redirect(302, "/p").header("set-cookie", "ok=1"),
        ),
        sends("meta.test", "http://169.254.169.254/latest/meta-data/"),
        sends("file.test", "file:///etc/passwd"),
        sends("back.test", "http://169.254.169.254\\@back.test/p"),
        sends("ring.test", "/a")
            .page("/a", Answer::redirect(302, "/b"))
            .page("/b", Answer::redirect(302, "/a")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_followed_within_a_site_and_never_past_its_robots_txt() {
    let web = TestWeb::start(sites(), Options::default()).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let targets: Vec<Vec<String>> = CASES
        .iter()
        .map(|(host, ..)| vec![format!("http://{host}/p")])
        .collect();
    let house = acceptance_house(dir.path(), &web.hosts_file(), &targets);
    reigi(&house, &["run", "--until-idle"]).with(0);

    let mut learned = BTreeMap::new();
    for status in reigi(&house, &["status", "--json"]).with(0).json() {
        let page = &status["pages"][0];
        let (url, last) = (
            page["url"].as_str().unwrap(),
            page["last"].as_str().unwrap(),
        );
        learned.insert(url.to_owned(), last.to_owned());
    }
    for (host, word, part) in CASES {
        let last = &learned[&format!("http://{host}/p")];
        assert!(
            last.starts_with(word) && last.contains(part),
            "{host}: {last}"
        );
    }

    let asked = |host: &str| -> Vec<String> {
        let of_host = |r: &&reigi_testweb::log::Exchange| r.host == host;
        web.log()
            .requests()
            .iter()
            .filter(of_host)
            .map(|r| r.path.clone())
            .collect()
    };
    assert_eq!(asked("www.twin.test"), ["/robots.txt", "/p"]);
    assert_eq!(
        asked("www.shut.test"),
        ["/robots.txt"],
        "its own robots.txt refuses the hop"
    );
    assert_eq!(
        asked("twin.test"),
        ["/robots.txt", "/p"],
        "the listed page is asked for once"
    );
    assert_eq!(asked("other.test"), Vec::<String>::new());
    assert_eq!(asked("deaf.test"), ["/robots.txt"]);
    assert_eq!(
        asked("wall.test"),
        ["/robots.txt", "/p"],
        "nobody turns in a ring for a cookie"
    );

    let promise = check::Promise {
        interval: Duration::from_secs(2),
        ..check::Promise::default()
    };
    let report = check::check(&web.log().events(), &promise);
    assert!(report.breaches.is_empty(), "{:?}", report.breaches);
    let audit = reigi(&house, &["audit", "--json", "--rebuild"])
        .with(0)
        .json();
    assert_eq!(audit[0]["clean"], json!(true), "{}", audit[0]);
    assert_eq!(audit[0]["rebuild"]["differ"], json!([]));
    web.shutdown().await.unwrap();
}
