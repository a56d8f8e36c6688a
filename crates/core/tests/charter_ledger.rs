//! Ledgers: both forms say the same, ten thousand rows are no wait, edits keep what people wrote.

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

#[test]
fn an_edit_keeps_what_people_wrote() {
    let text = "# Our schools.\n\n# The big one.\n[[target]]\nid = \"a\" # stable\nurls = [\n  \"https://a.example.org/\", # prices\n]\n\n# The small one.\n[[target]]\nid = \"b\"\nurls = [\"https://b.example.org/\"]\n";
    let target = Target {
        id: "c".into(),
        name: "C \"quoted\"".into(),
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
    };
    let added = edit::add(text, &target).unwrap();
    assert!(added.starts_with(text), "{added}");
    let ledger = Ledger::parse("a.toml", &added, &charter()).unwrap();
    assert_eq!(ledger.targets.last(), Some(&target));
    insta::assert_snapshot!(added.strip_prefix(text).unwrap());

    assert_eq!(edit::remove(&added, "c").unwrap(), text);
    let without_a = edit::remove(text, "a").unwrap();
    assert_eq!(
        without_a,
        "# Our schools.\n\n# The small one.\n[[target]]\nid = \"b\"\nurls = [\"https://b.example.org/\"]\n"
    );
    let without_both = edit::remove(&without_a, "b").unwrap();
    assert_eq!(without_both, "# Our schools.\n");

    assert_eq!(
        edit::add(
            text,
            &Target {
                id: "a".into(),
                ..target.clone()
            }
        ),
        Err(EditError::Exists("a".into()))
    );
    assert_eq!(edit::remove(text, "z"), Err(EditError::Unknown("z".into())));
    assert_eq!(edit::remove("target = []", "z"), Err(EditError::OtherShape));
    assert!(matches!(
        edit::add("a = ", &target),
        Err(EditError::NotToml(_))
    ));
    // The first target of a ledger that only has comments.
    let first = edit::add("# Nothing yet.\n", &target).unwrap();
    assert!(
        first.starts_with("# Nothing yet.\n\n[[target]]\n"),
        "{first}"
    );
    assert_eq!(edit::remove(&first, "c").unwrap(), "# Nothing yet.\n");
    assert_eq!(read("a.toml", &first), [target]);
}
