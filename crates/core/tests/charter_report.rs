//! The report that a person sees, and what no text may ever do to it.
#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use proptest::prelude::*;
use reigi_core::charter::problem::{Problems, SHOWN_MAX, decode};
use reigi_core::charter::{Charter, Lang};
use reigi_core::house_file::HouseFile;
use reigi_core::ledger::Ledger;

const SOUND: &str = include_str!("../testdata/charters/sound.toml");

/// A charter with a mistake of every sort, some of them behind full-width characters.
const MANY: &str = include_str!("../testdata/charters/many-mistakes.toml");

fn charter() -> Charter {
    Charter::parse("charters/school-watch.toml", SOUND).unwrap()
}

#[test]
fn a_report_in_english() {
    let problems = Charter::parse("charters/school-watch.toml", MANY).unwrap_err();
    insta::assert_snapshot!(problems.render(MANY, Lang::En));
}

#[test]
fn a_report_in_japanese() {
    let problems = Charter::parse("charters/school-watch.toml", MANY).unwrap_err();
    insta::assert_snapshot!(problems.render(MANY, Lang::Ja));
}

#[test]
fn a_report_of_a_wide_table_shows_the_field() {
    let text = format!(
        "id,name,notes,urls\ncity-school,市立の料理学校,{},https://city.example.org/ prices,\n",
        "春に料金が変わります。".repeat(8)
    );
    let charter = charter();
    let problems = Ledger::parse("ledgers/school-watch.csv", &text, &charter).unwrap_err();
    insta::assert_snapshot!(problems.render(&text, Lang::En));
}

#[test]
fn a_long_report_is_cut_but_counted() {
    let rows = "[[target]]\n".repeat(400);
    let problems = Ledger::parse("a.toml", &rows, &charter()).unwrap_err();
    assert_eq!(problems.errors().count(), 800);
    let report = problems.render(&rows, Lang::En);
    assert_eq!(report.matches("error: ").count(), SHOWN_MAX);
    assert!(report.contains("… and 700 more."), "{report}");
    assert!(report.ends_with("800 errors, 0 warnings\n"), "{report}");
}

#[test]
fn a_report_cannot_drive_the_terminal() {
    let text = "\"\\u001b[2J\" = 1\nupdated = \"\\u202egnp\"\nacceptance = \u{9b}\n";
    let problems = Charter::parse("a.toml", text).unwrap_err();
    let report = problems.render(text, Lang::Ja) + &problems.to_string();
    let harmless = |c: char| c == '\n' || !(c.is_control() || c == '\u{202e}');
    assert!(report.chars().all(harmless), "{report:?}");
}

/// Reads `text` as everything that it could be, and shows what is wrong.
fn look(text: &str) {
    let charter = charter();
    let nothing = |_| Problems::default();
    for problems in [
        Charter::parse("a.toml", text).map_or_else(|p| p, nothing),
        HouseFile::parse("reigi.toml", text).map_or_else(|p| p, |_| Problems::default()),
        Ledger::parse("a.toml", text, &charter).map_or_else(|p| p, |l| l.warnings),
        Ledger::parse("a.csv", text, &charter).map_or_else(|p| p, |l| l.warnings),
    ] {
        for p in &problems.list {
            assert!(text.get(p.span.clone()).is_some(), "{p:?} in {text:?}");
            let line = text.split('\n').nth(p.line - 1).unwrap();
            assert!(p.column <= line.chars().count() + 1, "{p:?} in {text:?}");
        }
        for lang in [Lang::Ja, Lang::En] {
            assert!(problems.render(text, lang).ends_with('\n'));
        }
    }
}

/// A sound charter with a piece of it replaced.
fn damaged() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z0-9\"'\\[\\]{}=.,#\n 秒界-]{0,12}",
        Just("\"\"\"".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("\r".to_owned()),
        Just("\0".to_owned()),
    ];
    (0..SOUND.chars().count(), 0_usize..40, piece).prop_map(|(at, len, piece)| {
        let before = SOUND.chars().take(at);
        let after = SOUND.chars().skip(at + len);
        before.chain(piece.chars()).chain(after).collect()
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_told(text in any::<String>()) {
        look(&text);
    }

    #[test]
    fn any_damage_is_told_in_its_place(text in damaged()) {
        look(&text);
    }

    #[test]
    fn any_bytes_are_decoded_or_told(bytes in any::<Vec<u8>>()) {
        match decode("a.csv", &bytes) {
            Ok(text) => prop_assert!(bytes.ends_with(text.as_bytes())),
            Err(problems) => prop_assert_eq!(problems.list.len(), 1),
        }
    }
}

#[test]
fn hostile_shapes_are_told() {
    look(&"[".repeat(100_000));
    look(&format!("a = {}", "[".repeat(100_000)));
    look(&format!("a = {}", "{a=".repeat(50_000)));
    look(&format!("{}a = 1", "a.".repeat(20_000)));
    look(&"a = = 1\n".repeat(20_000));
    look(&"\"".repeat(100_000));
    look(&",".repeat(100_000));
}
