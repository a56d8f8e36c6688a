//! Cases in data files: an edit to a sound file, and every problem that must come of it.
//!
//! A case is a title (`=== …`), edits of the sound file (`- line` is replaced by the `+ line`s
//! below it, or the `+ line`s stand at its end where there is no `-`), and the problems in their
//! order: `! [what the caret marks, else the line] what -> remedy` (`?` instead of `!` for a
//! warning). A file that has no sound one is written whole, with `+`.
//!
//! `REIGI_BLESS=1` writes what is said today into the data files, to be read and committed.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::fmt::Write as _;
use std::path::Path;

use reigi_core::charter::Charter;
use reigi_core::charter::problem::{Problems, Severity};
use reigi_core::house_file::HouseFile;
use reigi_core::ledger::Ledger;

/// Runs the cases of `testdata/FILE`.
fn run(file: &str, sound: &str, read: impl Fn(&str) -> Problems) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata")
        .join(file);
    let wanted = std::fs::read_to_string(&path).unwrap();
    let mut got = String::new();
    for (n, case) in wanted.split("=== ").enumerate() {
        if n == 0 {
            got += case; // the head of the file
            continue;
        }
        let text = edited(sound, case);
        let problems = read(&text);
        assert!(!problems.is_empty(), "nothing wrong with: {case}");
        let kept = case
            .lines()
            .filter(|l| !l.starts_with(['!', '?']) && !l.is_empty());
        got += "=== ";
        for line in kept {
            got += line;
            got.push('\n');
        }
        for p in &problems.list {
            let mark = match p.severity {
                Severity::Error => '!',
                Severity::Warning => '?',
            };
            let marked = match &text[p.span.clone()] {
                "" => format!("line {}", p.line),
                marked => marked.to_owned(),
            };
            assert!(!p.what.ja.is_empty() && !p.remedy.ja.is_empty(), "{p:?}");
            writeln!(got, "{mark} [{marked}] {} -> {}", p.what.en, p.remedy.en).unwrap();
        }
        got.push('\n');
    }
    if std::env::var_os("REIGI_BLESS").is_some() {
        std::fs::write(&path, got).unwrap();
        return;
    }
    for (wanted, got) in wanted.split("=== ").zip(got.split("=== ")) {
        assert_eq!(got.trim(), wanted.trim(), "in {file}");
    }
}

fn edited(sound: &str, case: &str) -> String {
    let mut lines: Vec<&str> = sound.lines().collect();
    let mut at = lines.len();
    for line in case.lines().skip(1) {
        if let Some(old) = line.strip_prefix("- ") {
            at = lines
                .iter()
                .position(|l| *l == old)
                .unwrap_or_else(|| panic!("{old}"));
            lines.remove(at);
        } else if let Some(new) = line.strip_prefix("+ ").or_else(|| line.strip_prefix('+')) {
            lines.insert(at, new);
            at += 1;
        }
    }
    lines.join("\n") + "\n"
}

const SOUND: &str = include_str!("../testdata/charters/sound.toml");

fn of<T>(result: Result<T, Problems>, warnings: impl Fn(T) -> Problems) -> Problems {
    result.map_or_else(|problems| problems, warnings)
}

#[test]
fn charters() {
    Charter::parse("charters/school-watch.toml", SOUND).unwrap();
    run("charters/problems.txt", SOUND, |text| {
        of(Charter::parse("charters/school-watch.toml", text), |_| {
            Problems::default()
        })
    });
}

fn ledger(file: &str, text: &str) -> Problems {
    let charter = Charter::parse("charters/school-watch.toml", SOUND).unwrap();
    let today = "2026-11-30".parse().ok();
    of(Ledger::parse_as_of(file, text, &charter, today), |l| {
        l.warnings
    })
}

#[test]
fn ledgers_in_toml() {
    let sound = include_str!("../testdata/ledgers/sound.toml");
    assert_eq!(
        ledger("ledgers/school-watch.toml", sound),
        Problems::default()
    );
    run("ledgers/problems.txt", sound, |text| {
        ledger("ledgers/school-watch.toml", text)
    });
}

#[test]
fn ledgers_in_csv() {
    run("ledgers/csv-problems.txt", "", |text| {
        ledger("ledgers/school-watch.csv", text)
    });
}

#[test]
fn house_files() {
    run("charters/house-problems.txt", "", |text| {
        of(HouseFile::parse("reigi.toml", text), |_| {
            Problems::default()
        })
    });
}
