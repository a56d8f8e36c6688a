//! `reigi run` against a web on loopback, and what can be said of the house afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use reigi_testweb::{Options, Running, TestWeb, demo};
use serde_json::json;

use crate::bench::reigi;

const PAGE: &str = "http://kumo-school.test/price.html";

async fn web() -> Running {
    let options = Options {
        site_time: Some(demo::start()),
        ..Options::default()
    };
    TestWeb::start(demo::sites(), options).await.unwrap()
}

/// A house in `dir` that watches `PAGE` on this web.
fn house(dir: &Path, web: &Running) -> PathBuf {
    let arguments = [
        "init",
        "house",
        "--template",
        "changes",
        "--operator",
        "Example",
        "--token",
        "SchoolWatch",
        "--policy-url",
        "https://watch.example.jp/bot",
        "--contact-url",
        "mailto:bot@example.jp",
        "--purpose-en",
        "To see changes.",
        "--reviewer",
        "sato",
        "--target-url",
        PAGE,
        "--target-terms-url",
        "http://kumo-school.test/terms",
    ];
    reigi(dir, &arguments).with(0);
    let house = dir.join("house");
    fs::write(house.join("hosts.txt"), web.hosts_file()).unwrap();
    let file = house.join("reigi.toml");
    let text = fs::read_to_string(&file).unwrap();
    let network = "\n[network]\nallow_private = [\"127.0.0.0/8\"]\n";
    fs::write(&file, text + network).unwrap();
    reigi(&house, &["check"]).with(0);
    house
}

const RUN: [&str; 5] = ["run", "--until-idle", "--json", "--hosts-file", "hosts.txt"];

#[tokio::test(flavor = "multi_thread")]
async fn a_run_visits_what_is_due_and_the_audit_proves_it() {
    let web = web().await;
    let dir = tempfile::tempdir().unwrap();
    let house = house(dir.path(), &web);
    let said = reigi(&house, &RUN).with(0).json();
    assert_eq!(
        (&said[0]["ended"], &said[0]["visits"]),
        (&json!("idle"), &json!(1))
    );
    // robots.txt, then the page.
    assert_eq!(said[0]["requests"], 2);
    assert_eq!(said[0]["observations"], json!({"confirmed": 1}));

    let said = reigi(&house, &RUN).with(0).json();
    assert_eq!(said[0]["requests"], 0, "nothing is due a second time");
    let said = reigi(&house, &["explain", PAGE, "--json"]).with(0).json();
    assert_eq!(said[0]["outcome"], "not-due");
    assert_eq!(said[0]["last"][0]["outcome"], "HTTP 200");
    let said = reigi(&house, &["status", "--json"]).with(0).json();
    assert_eq!(
        (&said[0]["state"], &said[0]["pages"][0]["last"]),
        (&json!("waiting"), &json!("confirmed"))
    );

    let said = reigi(&house, &["audit", "--json", "--evidence", "--rebuild"])
        .with(0)
        .json();
    assert_eq!(
        (&said[0]["clean"], &said[0]["requests"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(said[0]["rebuild"]["differ"], json!([]));
    let page = reigi(&house, &["policy", "--format", "md"]).with(0).out;
    assert!(page.contains("SchoolWatch"), "{page}");
    web.shutdown().await.unwrap();

    // That page is on record; a preview of a charter that is not in force is not.
    let pages = || {
        let said = reigi(&house, &["audit", "--json"]).with(0).json();
        let promises = said[0]["promises"].as_array().unwrap().clone();
        let page = promises.iter().find(|p| p["id"] == "complete-page");
        page.unwrap()["kept"].as_u64().unwrap()
    };
    assert_eq!(pages(), 1);
    reigi(&house, &["policy", "--lang", "ja"]).with(0);
    assert_eq!(pages(), 2);
    let charter = house.join("charters/schoolwatch.toml");
    let text = fs::read_to_string(&charter).unwrap();
    fs::write(&charter, text.replace("pages_max = 20", "pages_max = 19")).unwrap();
    reigi(&house, &["policy"]).with(0);
    assert_eq!(pages(), 2);
}

/// DECISIONS 14: no request of its scope is admitted after the entry of a pause.
#[tokio::test(flavor = "multi_thread")]
async fn a_pause_reaches_a_run_under_way_before_its_next_request() {
    let web = web().await;
    let dir = tempfile::tempdir().unwrap();
    let house = house(dir.path(), &web);
    let pages = demo::targets()
        .into_iter()
        .filter(|t| t.url.contains("//sakura-code.test/"));
    let mut add = vec![
        "ledger".to_owned(),
        "add".to_owned(),
        "--id".to_owned(),
        "s".to_owned(),
    ];
    add.extend(pages.flat_map(|t| ["--url".to_owned(), t.url.to_string()]));
    let terms = [
        "--terms-url",
        "http://sakura-code.test/terms",
        "--terms-by",
        "sato",
    ];
    let add: Vec<&str> = add.iter().map(String::as_str).chain(terms).collect();
    reigi(&house, &add).with(0);

    let running = tokio::task::spawn_blocking({
        let house = house.clone();
        move || reigi(&house, &RUN)
    });
    let visited = |house: &Path| {
        let lines = reigi(house, &["status", "--json"]).with(0).json();
        lines
            .iter()
            .any(|line| line["target"] == "s" && !line["last_visit"].is_null())
    };
    while !visited(&house) {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    reigi(&house, &["pause", "sakura-code.test"]).with(0);
    let asked = |host: &str| {
        let requests = web.log().requests();
        requests.iter().filter(|r| r.host == host).count()
    };
    let before = asked("sakura-code.test");
    running.await.unwrap().with(0);
    assert_eq!(
        asked("sakura-code.test"),
        before,
        "asked for after the pause had returned"
    );
    assert_eq!(
        asked("kumo-school.test"),
        2,
        "what is not paused is visited"
    );
    reigi(&house, &["audit", "--rebuild"]).with(0);
    web.shutdown().await.unwrap();
}
