//! `reigi try`: on cases of our own, and over shared material where it is present.

use std::fs;

use serde_json::{Value, json};

use crate::bench::{reigi, reigi_fed, shared};

#[test]
fn only_what_is_asked_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let robots = "User-agent: a\nDisallow: /x\nCrawl-delay: 2.5\nSitemap: https://s.example/m.xml";
    let cases = [
        json!({"id": "v", "robots": robots, "agent": "a", "url": "https://s.example/x"}),
        json!({"id": "d", "robots": robots, "agent": "a"}),
        json!({"id": 3, "robots": robots}),
        json!({"id": "b64", "robots_b64": "VXNlci1hZ2VudDogKgpEaXNhbGxvdzogLw==",
               "agent": "a", "url": "/"}),
        json!({"id": "big", "robots_repeat": {"head": "User-agent: *\n", "unit": "Disallow: /a\n",
               "count": 50_000, "tail": "Disallow: /b\n"}, "agent": "a", "url": "/a"}),
    ];
    let lines: String = cases.iter().map(|case| format!("{case}\n")).collect();
    let said = reigi_fed(
        dir.path(),
        &["try", "robots", "--cases", "-"],
        lines.as_bytes(),
    )
    .with(0);
    assert_eq!(
        said.json(),
        [
            json!({"id": "v", "allowed": false, "line": 2}),
            json!({"id": "d", "crawl_delay": 2.5, "line": 3}),
            json!({"id": 3, "sitemaps": ["https://s.example/m.xml"], "line": null}),
            json!({"id": "b64", "allowed": false, "line": 2}),
            json!({"id": "big", "allowed": false, "line": 2}),
        ]
    );
}

#[test]
fn a_bad_line_is_named_and_the_rest_is_answered() {
    let dir = tempfile::tempdir().unwrap();
    let bad: [(&[u8], &str); 6] = [
        (b"{\"id\":1,", "EOF"),
        (b"\xff\xfe", "expected value"),
        (b"{\"id\":1}", "robots_b64"),
        (b"{\"id\":1,\"robots\":\"\",\"robots_b64\":\"\"}", "one of"),
        (b"{\"id\":1,\"robots_b64\":\"!\"}", "robots_b64"),
        (
            b"{\"id\":1,\"robots_repeat\":{\"unit\":\"ab\",\"count\":18446744073709551615}}",
            "over",
        ),
    ];
    for (line, why) in bad {
        let input = [b"\xef\xbb\xbf\r\n", line, b"\n{\"id\":2,\"robots\":\"\"}"].concat();
        fs::write(dir.path().join("f.jsonl"), input).unwrap();
        let said = reigi(dir.path(), &["try", "robots", "--cases", "f.jsonl"]).with(2);
        assert_eq!(
            said.json(),
            [json!({"id": 2, "sitemaps": [], "line": null})]
        );
        assert!(
            said.err.starts_with("f.jsonl:2: ") && said.err.contains(why),
            "{}",
            said.err
        );
    }
}

#[test]
fn a_missing_file_is_bad_input_in_either_language() {
    let dir = tempfile::tempdir().unwrap();
    let said = reigi(dir.path(), &["try", "robots", "--cases", "none"]).with(2);
    assert!(said.err.contains("none cannot be read"), "{}", said.err);
    let said = reigi(
        dir.path(),
        &["--lang", "ja", "try", "robots", "--cases", "none"],
    )
    .with(2);
    assert!(said.err.contains("none を読めません"), "{}", said.err);
}

#[test]
fn pages_are_read_by_file_and_by_folder() {
    let dir = tempfile::tempdir().unwrap();
    let page = "<html><head><title>開館時間</title></head><body><p>9:00</p>\
                <a href=/a>次</a><img src=i.png alt=図></body></html>";
    fs::write(dir.path().join("a.html"), page).unwrap();
    fs::write(dir.path().join("b.bin"), b"%PDF-1.7\n\0\xff").unwrap();
    let said = reigi(dir.path(), &["try", "page", "."]).with(0).json();
    assert_eq!(said.len(), 2);
    let read = |at: usize, field: &str| said[at][field].clone();
    assert_eq!(
        (read(0, "file"), read(0, "title")),
        (json!("a.html"), json!("開館時間"))
    );
    assert_eq!(
        (read(0, "charset"), read(0, "charset_from")),
        (json!("utf-8"), json!("utf8"))
    );
    assert_eq!(read(0, "text"), "9:00\n次");
    assert_eq!(
        (&said[0]["links"][0]["href"], &said[0]["images"][0]["src"]),
        (&json!("/a"), &json!("i.png"))
    );
    assert_eq!(
        (read(1, "text"), read(1, "links")),
        (Value::Null, json!([]))
    );
    assert_eq!(said[1]["other"]["mime"], "application/pdf");

    let arguments = [
        "try",
        "page",
        "a.html",
        "--content-type",
        "text/plain; charset=utf-8",
    ];
    let plain = reigi(dir.path(), &arguments).with(0).json();
    assert_eq!(
        (&plain[0]["charset_from"], &plain[0]["text"]),
        (&json!("http"), &json!(page))
    );
}

#[test]
fn versions_are_compared_as_two_files_and_as_pairs() {
    let dir = tempfile::tempdir().unwrap();
    let pair = dir.path().join("pairs/007");
    fs::create_dir_all(&pair).unwrap();
    fs::write(pair.join("before.html"), "<h1>料金</h1><p>大人 500円</p>").unwrap();
    fs::write(pair.join("after.html"), "<h1>料金</h1><p>大人 600円</p>").unwrap();
    fs::create_dir_all(dir.path().join("pairs/008")).unwrap();
    let said = reigi(dir.path(), &["try", "change", "--pairs", "pairs"]).with(2);
    assert!(
        said.err.contains("008"),
        "the pair without files is named: {}",
        said.err
    );
    let (before, after) = ("pairs/007/before.html", "pairs/007/after.html");
    let two = reigi(dir.path(), &["try", "change", before, after]).with(0);
    for (said, id) in [(said, "007"), (two, "after.html")] {
        let [change] = &said.json()[..] else {
            panic!("{said:?}")
        };
        assert_eq!(
            (&change["id"], &change["verdict"]),
            (&json!(id), &json!("changed"))
        );
        assert!(
            change["summary"].as_str().unwrap().contains("600円"),
            "{change}"
        );
        assert_eq!(change["hunks"][0]["where"]["headings"], json!(["料金"]));
    }
    let same = reigi(dir.path(), &["try", "change", before, before])
        .with(0)
        .json();
    assert_eq!(
        (&same[0]["verdict"], &same[0]["hunks"]),
        (&json!("unchanged"), &json!([]))
    );
    reigi(dir.path(), &["try", "change", before]).with(2);
}

#[test]
fn a_census_takes_agents_from_json_in_their_order_or_from_lines() {
    let dir = tempfile::tempdir().unwrap();
    let files = dir.path().join("files");
    fs::create_dir_all(files.join("c.txt")).unwrap();
    fs::write(files.join("a.txt"), "User-agent: Zed\nDisallow: /\n").unwrap();
    fs::write(files.join("b.txt"), "").unwrap();
    fs::write(files.join("README.md"), "").unwrap();
    fs::write(
        dir.path().join("agents.json"),
        r#"{"Zed": {"operator": "z"}, "Abe": {}}"#,
    )
    .unwrap();
    fs::write(dir.path().join("agents.txt"), "Zed\r\n\nAbe\nZed\n").unwrap();
    for agents in ["agents.json", "agents.txt"] {
        let said = reigi(dir.path(), &["try", "census", "files", "--agents", agents]).with(0);
        assert_eq!(
            said.out,
            "file\tZed\tAbe\na.txt\trefused\tallowed\nb.txt\tallowed\tallowed\n"
        );
    }
    for bad in ["{\"a\": ", "{\"a\": 1} x", " \n", "\u{0}{"] {
        fs::write(dir.path().join("bad"), bad).unwrap();
        let said = reigi(dir.path(), &["try", "census", "files", "--agents", "bad"]);
        assert_eq!(
            said.code,
            if bad == "\u{0}{" { 0 } else { 2 },
            "{bad:?}: {}",
            said.err
        );
    }
}

#[test]
fn shared_robots_cases_come_out_as_expected() {
    let Some(folder) = shared("conformance/robots") else {
        return;
    };
    let path = folder.join("cases.jsonl");
    let arguments = ["try", "robots", "--cases", path.to_str().unwrap()];
    let answers = reigi(&folder, &arguments).with(0).json();
    let text = fs::read_to_string(&path).unwrap();
    let cases: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(&answers) {
        for field in ["id", "allowed", "crawl_delay", "sitemaps"] {
            let same = match (case[field].as_f64(), answer[field].as_f64()) {
                (Some(a), Some(b)) => (a - b).abs() < f64::EPSILON,
                _ => case.get(field) == answer.get(field),
            };
            assert!(same, "{field} of {case}: {answer}");
        }
    }
    // Where sources differ, every line is still answered.
    let path = folder.join("contested.jsonl");
    let arguments = ["try", "robots", "--cases", path.to_str().unwrap()];
    let answers = reigi(&folder, &arguments).with(0).json();
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(answers.len(), text.lines().count());
    for (line, answer) in text.lines().zip(&answers) {
        let case: Value = serde_json::from_str(line).unwrap();
        if case["url"].is_string() && !case["rfc9309"].is_null() {
            assert_eq!(answer["allowed"], case["rfc9309"], "{case}");
        }
    }
}

#[test]
fn the_census_of_the_shared_corpus_is_byte_for_byte_the_expected_one() {
    let Some(folder) = shared("corpus/robots") else {
        return;
    };
    let expected = fs::read_to_string(folder.join("census_expected.tsv")).unwrap();
    let header = expected.lines().next().unwrap();
    let agents: Vec<&str> = header.split('\t').skip(1).collect();
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("agents"), agents.join("\n")).unwrap();
    let arguments = [
        "try",
        "census",
        folder.to_str().unwrap(),
        "--agents",
        "agents",
    ];
    assert_eq!(reigi(dir.path(), &arguments).with(0).out, expected);
}

#[test]
fn real_changes_of_the_shared_corpus_are_reported_and_noise_is_quiet() {
    let Some(folder) = shared("corpus/changes") else {
        return;
    };
    let arguments = ["try", "change", "--pairs", folder.to_str().unwrap()];
    let answers = reigi(&folder, &arguments).with(0).json();
    let labels = fs::read_to_string(folder.join("labels.jsonl")).unwrap();
    let (mut missed, mut noise, mut loud) = (Vec::new(), 0, 0);
    for line in labels.lines() {
        let label: Value = serde_json::from_str(line).unwrap();
        if label["ambiguous"] == true {
            continue;
        }
        let answer = answers.iter().find(|a| a["id"] == label["id"]).unwrap();
        let changed = answer["verdict"] == "changed";
        match label["label"].as_str() {
            Some("real") if !changed => missed.push(label["id"].clone()),
            Some("noise") => (noise, loud) = (noise + 1, loud + usize::from(changed)),
            _ => {}
        }
    }
    assert!(missed.is_empty(), "missed: {missed:?}");
    assert!(loud * 20 <= noise, "{loud} of {noise} noise pairs reported");
}

#[test]
fn every_page_of_the_shared_corpus_is_read() {
    let Some(folder) = shared("corpus/pages") else {
        return;
    };
    let answers = reigi(&folder, &["try", "page", "."]).with(0).json();
    assert_eq!(answers.len(), fs::read_dir(&folder).unwrap().count());
}
