//! Ledgers: both forms say the same, ten thousand rows are no wait, edits keep what people wrote.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use reigi_core::cadence::Every;
use reigi_core::charter::Charter;
use reigi_core::charter::problem::decode;
use reigi_core::ledger::edit::{self, EditError};
use reigi_core::ledger::{Ledger, Target, TermsCheck, TermsVerdict};

const TOML: &str = include_str!("../testdata/ledgers/sound.toml");
const CSV: &str = include_str!("../testdata/ledgers/sound.csv");

fn charter() -> Charter {
    let text = include_str!("../testdata/charters/sound.toml");
    Charter::parse("charters/school-watch.toml", text).unwrap()
}

fn read(file: &str, text: &str) -> Vec<Target> {
    let ledger = Ledger::parse(file, text, &charter()).unwrap_or_else(|p| panic!("{p}"));
    assert!(ledger.warnings.is_empty(), "{}", ledger.warnings);
    ledger.targets
}

#[test]
fn rows_are_stored_as_they_are_asked_for() {
    let targets = read("a.toml", TOML);
    let [school, cooking] = targets.as_slice() else {
        panic!("{targets:?}");
    };
    assert_eq!(school.every, Some(Every::Week));
    assert_eq!(school.urls.len(), 2);
    assert_eq!(
        school.terms.as_ref().unwrap().verdict,
        TermsVerdict::Allowed
    );
    // A target without a name goes by its id; hosts are stored after IDNA, paths percent-encoded.
    assert_eq!(cooking.name, "cooking.east");
    assert_eq!(
        cooking.urls,
        ["https://xn--qev043a.example.org/%E3%82%B3%E3%83%BC%E3%82%B9"]
    );
    assert_eq!(cooking.terms.as_ref().unwrap().checked_on, "2026-11-30");
}

#[test]
fn csv_says_the_same_as_toml() {
    let toml = read("a.toml", TOML);
    assert_eq!(read("a.csv", CSV), toml);
    // As a spreadsheet saves it: byte order mark, CRLF.
    let spreadsheet = format!("\u{feff}{}", CSV.replace('\n', "\r\n"));
    assert_eq!(read("a.csv", &spreadsheet), toml);
    assert_eq!(
        read("a.csv", decode("a.csv", spreadsheet.as_bytes()).unwrap()),
        toml
    );
}

#[test]
fn what_is_not_utf8_is_named() {
    // 「料理」 in Shift_JIS, on the second line.
    let problems = decode("a.csv", b"id,name\na,\x97\xbf\x97\x9d\n").unwrap_err();
    let [problem] = problems.list.as_slice() else {
        panic!("{problems}");
    };
    assert_eq!((problem.line, problem.column), (2, 3));
    assert!(problem.what.ja.contains("Shift_JIS"), "{problem:?}");
    let problems = decode("a.csv", b"\xff\xfei\0d\0").unwrap_err();
    assert!(problems.list[0].what.en.contains("UTF-16"), "{problems}");
}

#[test]
fn a_ledger_without_rows_holds() {
    assert_eq!(read("a.toml", "# nothing yet\n"), []);
    assert_eq!(read("a.csv", "id,urls\n\n"), []);
}

#[test]
fn a_period_of_its_own_is_never_more_frequent() {
    let charter = |every: &str| {
        let text = include_str!("../testdata/charters/sound.toml");
        let text = text.replace("every = \"1d\"", &format!("every = \"{every}\""));
        Charter::parse("school-watch.toml", &text).unwrap()
    };
    for (promised, own, fine) in [
        ("1d", "1d", true),
        ("1d", "month", true),
        ("1d", "23h", false),
        ("week", "month", true),
        ("week", "7d", true),
        ("week", "6d", false),
        ("month", "month", true),
        // The second visit after 30 days may fall into the same month.
        ("month", "30d", false),
        ("month", "31d", true),
        ("30d", "month", false),
    ] {
        let row = format!("id,urls,every\na,https://a.example.org/,{own}\n");
        let read = Ledger::parse("a.csv", &row, &charter(promised));
        assert_eq!(read.is_ok(), fine, "{own} under {promised}");
    }
}

#[test]
fn ten_thousand_rows_are_no_wait() {
    let (mut toml, mut csv) = (
        String::new(),
        String::from(
            "id,name,urls,terms_url,terms_checked_by,terms_checked_on,terms_verdict,include\n",
        ),
    );
    for n in 0..10_000 {
        let site = format!("https://school{n}.example.org");
        write!(
            toml,
            "[[target]]\nid = \"school-{n}\"\nname = \"学校 {n}\"\nurls = [\"{site}/prices\", \"{site}/courses\"]\ninclude = [\"main .price\"]\nterms.url = \"{site}/terms\"\nterms.checked_by = \"yamada\"\nterms.checked_on = \"2026-08-23\"\nterms.verdict = \"allowed\"\n\n"
        )
        .unwrap();
        writeln!(
            csv,
            "school-{n},学校 {n},{site}/prices {site}/courses,{site}/terms,yamada,2026-08-23,allowed,main .price"
        )
        .unwrap();
    }
    let charter = charter();
    for (file, text) in [("a.toml", toml), ("a.csv", csv)] {
        let start = Instant::now();
        let ledger = Ledger::parse(file, &text, &charter).unwrap();
        let took = start.elapsed();
        println!("{file}: 10,000 rows, {} KiB, {took:?}", text.len() / 1024);
        assert_eq!(ledger.targets.len(), 10_000);
        // Unoptimised and on a busy machine; a release build takes a tenth of it.
        assert!(took < Duration::from_secs(10), "{took:?}");
    }
}

fn cooking() -> Target {
    Target {
        id: "c".into(),
        name: "C, \"quoted\"".into(),
        urls: vec!["https://c.example.org/".into()],
        category: Some("language".into()),
        provider: None,
        every: Some(Every::Month),
        terms: Some(TermsCheck {
            url: "https://c.example.org/terms".into(),
            checked_by: "yamada".into(),
            checked_on: "2026-08-23".into(),
            verdict: TermsVerdict::Allowed,
        }),
        include: vec!["main".into()],
        ignore: vec![],
        notes: None,
    }
}

#[test]
fn an_edit_of_toml_keeps_what_people_wrote() {
    let text = "# Our schools.\n\n# The big one.\n[[target]]\nid = \"a\" # stable\nurls = [\n  \"https://a.example.org/\", # prices\n]\n\n# The small one.\n[[target]]\nid = \"b\"\nurls = [\"https://b.example.org/\"]\n";
    let target = cooking();
    let added = edit::add("a.toml", text, &target).unwrap();
    assert!(added.starts_with(text), "{added}");
    let ledger = Ledger::parse("a.toml", &added, &charter()).unwrap();
    assert_eq!(ledger.targets.last(), Some(&target));
    insta::assert_snapshot!(added.strip_prefix(text).unwrap());

    let remove = |text: &str, id: &str| edit::remove("a.toml", text, id);
    assert_eq!(remove(&added, "c").unwrap(), text);
    let without_a = remove(text, "a").unwrap();
    assert_eq!(
        without_a,
        "# Our schools.\n\n# The small one.\n[[target]]\nid = \"b\"\nurls = [\"https://b.example.org/\"]\n"
    );
    assert_eq!(remove(&without_a, "b").unwrap(), "# Our schools.\n");

    let windows = |text: &str| text.replace('\n', "\r\n");
    assert_eq!(remove(&windows(text), "a").unwrap(), windows(&without_a));

    // The first target of a ledger that only has comments.
    let first = edit::add("a.toml", "# Nothing yet.\n", &target).unwrap();
    assert!(
        first.starts_with("# Nothing yet.\n\n[[target]]\n"),
        "{first}"
    );
    assert_eq!(remove(&first, "c").unwrap(), "# Nothing yet.\n");
    assert_eq!(read("a.toml", &first), [target]);
}

#[test]
fn an_edit_of_csv_keeps_columns_and_line_ends() {
    for text in [
        CSV.to_owned(),
        format!("\u{feff}{}", CSV.replace('\n', "\r\n")),
    ] {
        let target = cooking();
        let added = edit::add("a.csv", &text, &target).unwrap();
        assert!(added.starts_with(&text), "{added}");
        assert_eq!(read("a.csv", &added).last(), Some(&target));
        assert_eq!(edit::remove("a.csv", &added, "c").unwrap(), text);
        let without_first = edit::remove("a.csv", &text, "city-school").unwrap();
        assert_eq!(read("a.csv", &without_first).len(), 1);
    }
    // The last line of a file need not end.
    let added = edit::add(
        "a.csv",
        "id,urls\na,https://a.example.org/",
        &Target {
            name: "c".into(),
            category: None,
            every: None,
            terms: None,
            include: vec![],
            ..cooking()
        },
    );
    let want = "id,urls\na,https://a.example.org/\nc,https://c.example.org/\n";
    assert_eq!(added.as_deref(), Ok(want));
}

#[test]
fn an_edit_that_cannot_be_changes_nothing() {
    let target = cooking();
    for (file, text, error) in [
        (
            "a.toml",
            "[[target]]\nid = \"c\"\n",
            EditError::Exists("c".into()),
        ),
        ("a.toml", "target = []\n", EditError::OtherShape),
        ("a.csv", "id,urls\nc,\n", EditError::Exists("c".into())),
        ("a.csv", "id,urls\n", EditError::NoColumn("name".into())),
        ("a.csv", "", EditError::NoColumn("id".into())),
    ] {
        assert_eq!(edit::add(file, text, &target), Err(error), "{text}");
    }
    for (file, text) in [("a.toml", "a = "), ("a.csv", "id,urls\n\"c")] {
        let unreadable = edit::remove(file, text, "c");
        assert!(
            matches!(unreadable, Err(EditError::Unreadable(_))),
            "{unreadable:?}"
        );
    }
    for (file, text) in [("a.toml", TOML), ("a.csv", CSV)] {
        let unknown = EditError::Unknown("z".into());
        assert_eq!(edit::remove(file, text, "z"), Err(unknown));
    }
}
