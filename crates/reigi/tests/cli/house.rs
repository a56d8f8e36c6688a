//! Commands on a house that has not run yet: files, pauses, wishes, empty states.

use std::fs;

use serde_json::json;

use crate::bench::reigi;
use crate::past::{BOT, PAGE, new_house};

#[test]
fn init_asks_for_the_operators_own_identity_and_writes_a_house_that_check_likes() {
    let dir = tempfile::tempdir().unwrap();
    let said = reigi(dir.path(), &["init", "house", "--template", "changes"]).with(2);
    for flag in [
        "--operator",
        "--token",
        "--policy-url",
        "--contact-url",
        "--purpose-en",
    ] {
        assert!(said.err.contains(flag), "{flag}: {}", said.err);
    }
    assert!(!dir.path().join("house").exists());
    let house = new_house(dir.path());
    let said = reigi(&house, &["check"]).with(0);
    assert!(said.out.contains("1 target"), "{}", said.out);
    // Below the house, too; and never over something that is there.
    reigi(&house.join("charters"), &["check"]).with(0);
    reigi(dir.path(), &["init", "house", "--template", "changes"]).with(2);
    reigi(dir.path(), &["init", "x", "--template", "unknown"]).with(2);
}

#[test]
fn init_refuses_an_identity_that_no_charter_may_have_and_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = [
        "init",
        "house",
        "--template",
        "changes",
        "--operator",
        "E",
        "--token",
        "Bot 9",
        "--policy-url",
        "nowhere",
        "--contact-url",
        "mailto:a@example.jp",
        "--purpose-en",
        "p",
        "--bot",
        "bot",
    ];
    let said = reigi(dir.path(), &arguments).with(2);
    assert!(said.err.contains("charters/bot.toml:"), "{}", said.err);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn check_shows_every_problem_of_every_file_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let charter = house.join(format!("charters/{BOT}.toml"));
    let text = fs::read_to_string(&charter).unwrap();
    fs::write(
        &charter,
        text.replace("\"2s\"", "\"0.1s\"")
            .replace("pages_max", "pages_mx"),
    )
    .unwrap();
    let said = reigi(&house, &["check", "--json"]).with(2).json();
    let named: Vec<_> = said
        .iter()
        .map(|p| p["what"]["en"].as_str().unwrap())
        .collect();
    assert!(
        named.iter().any(|what| what.contains("pace.interval")),
        "{named:?}"
    );
    assert!(
        named.iter().any(|what| what.contains("pages_mx")),
        "{named:?}"
    );
    assert!(
        said.iter().all(|p| p["line"].as_u64().unwrap() > 1),
        "{said:?}"
    );
    let said = reigi(&house, &["check", "--lang", "ja"]).with(2);
    assert!(
        said.out.contains("誤り") && said.out.contains("対処"),
        "{}",
        said.out
    );
    fs::remove_file(&charter).unwrap();
    let said = reigi(&house, &["check"]).with(2);
    assert!(said.out.contains("schoolwatch.toml") && said.out.contains("cannot be read"));
    let said = reigi(dir.path(), &["check", "none"]).with(2);
    assert!(said.err.contains("reigi.toml"), "{}", said.err);
}

#[test]
fn a_ledger_is_edited_and_keeps_its_comments() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let ledger = house.join(format!("ledgers/{BOT}.toml"));
    let first = fs::read_to_string(&ledger).unwrap();
    let add = [
        "ledger",
        "add",
        "--id",
        "b",
        "--name",
        "B",
        "--url",
        "https://b.example.jp/",
    ];
    reigi(&house, &add).with(0);
    let said = reigi(&house, &add).with(2);
    assert!(said.err.contains('b'), "{}", said.err);
    reigi(
        &house,
        &["ledger", "add", "--id", "c", "--url", "ftp://b.example.jp/"],
    )
    .with(2);
    let edited = fs::read_to_string(&ledger).unwrap();
    assert!(edited.starts_with(first.trim_end()) && edited.contains("https://b.example.jp/"));

    fs::write(
        dir.path().join("more.csv"),
        "id,urls\nb,https://b.example.jp/\nd,https://d.example.jp/\n",
    )
    .unwrap();
    let said = reigi(&house, &["ledger", "import", "../more.csv"]).with(0);
    assert!(said.out.contains("1 target was added") && said.out.contains("(1 there already)"));
    fs::write(dir.path().join("bad.csv"), "id,urls\nE E,x\n").unwrap();
    let said = reigi(&house, &["ledger", "import", "../bad.csv"]).with(2);
    assert!(said.err.contains("bad.csv:2:"), "{}", said.err);

    reigi(&house, &["ledger", "remove", "d"]).with(0);
    reigi(&house, &["ledger", "remove", "b"]).with(0);
    reigi(&house, &["ledger", "remove", "b"]).with(2);
    assert_eq!(
        fs::read_to_string(&ledger).unwrap().trim_end(),
        first.trim_end()
    );
}

#[test]
fn before_the_first_run_every_list_says_what_comes_next() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    for command in ["status", "changes", "audit"] {
        let said = reigi(&house, &[command]).with(0);
        assert!(said.out.contains("reigi run"), "{command}: {}", said.out);
        assert_eq!(reigi(&house, &[command, "--json"]).with(0).out, "");
    }
    assert!(
        reigi(&house, &["optout", "list"])
            .with(0)
            .out
            .contains("reigi optout add")
    );
    let said = reigi(&house, &["gc", "--json"]).with(0).json();
    assert_eq!(
        said,
        [json!({"bodies": 0, "kept": 0, "deleted": 0, "freed_bytes": 0})]
    );
    assert!(!house.join("data").exists(), "looking writes nothing");
    reigi(&house, &["diff", "1-1"]).with(2);
    reigi(&house, &["diff", "x"]).with(2);
    reigi(&house, &["review", "confirm", "1-1"]).with(2);
}

#[test]
fn explain_speaks_of_the_files_on_disk_before_they_are_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let said = reigi(&house, &["explain", PAGE, "--json"]).with(0).json();
    assert_eq!(
        (&said[0]["bot"], &said[0]["outcome"]),
        (&json!(BOT), &json!("fetched"))
    );
    let said = reigi(&house, &["explain", "https://www.school.example.jp/other"]).with(1);
    assert!(said.out.contains("ledger"), "{}", said.out);
    reigi(&house, &["explain", "ftp://x"]).with(2);
    reigi(&house, &["explain", PAGE, "--bot", "nobody"]).with(2);
}

#[test]
fn what_is_paused_or_opted_out_is_not_fetched_until_it_is_taken_back() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let target = "www.school.example.jp";
    let halts: [(&[&str], &[&str]); 4] = [
        (&["pause", "--all"], &["resume", "--all"]),
        (
            &["pause", target, "--reason", "their wish"],
            &["resume", target],
        ),
        (
            &[
                "optout",
                "add",
                "school.example.jp",
                "--received",
                "2026-11-01",
            ],
            &["optout", "add", "*.school.example.jp", "--withdraw"],
        ),
        (
            &["optout", "add", "http://www.school.example.jp/pri"],
            &[
                "optout",
                "add",
                "http://www.school.example.jp/pri",
                "--withdraw",
            ],
        ),
    ];
    for (halt, back) in halts {
        reigi(&house, &["explain", PAGE]).with(0);
        reigi(&house, halt).with(0);
        reigi(&house, &["explain", PAGE]).with(1);
        reigi(&house, back).with(0);
    }
    reigi(&house, &["explain", PAGE]).with(0);
    // A second time there is nothing to take back; a name that nobody knows pauses nothing.
    assert!(
        reigi(&house, &["resume", target])
            .with(0)
            .out
            .contains("Not paused")
    );
    reigi(
        &house,
        &["optout", "add", "school.example.jp", "--withdraw"],
    )
    .with(2);
    reigi(&house, &["pause", "schol.example.jp"]).with(2);
    let said = reigi(&house, &["audit", "--rebuild", "--json"])
        .with(0)
        .json();
    assert_eq!(
        (&said[0]["clean"], &said[0]["rebuild"]["differ"]),
        (&json!(true), &json!([]))
    );
}

#[test]
fn a_pause_works_while_the_charter_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    fs::write(house.join(format!("charters/{BOT}.toml")), "nonsense").unwrap();
    reigi(&house, &["check"]).with(2);
    reigi(&house, &["run"]).with(2);
    reigi(dir.path(), &["pause", "--all", "house"]).with(0);
    reigi(dir.path(), &["optout", "add", "www.other.example", "house"]).with(0);
    let said = reigi(dir.path(), &["optout", "list", "house", "--json"])
        .with(0)
        .json();
    assert_eq!(
        (&said[0]["kind"], &said[0]["what"]),
        (&json!("domain"), &json!("www.other.example"))
    );
}

#[test]
fn the_policy_page_is_printed_in_both_languages_and_forms() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let html = reigi(&house, &["policy"]).with(0).out;
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("SchoolWatch"));
    let md = reigi(&house, &["policy", "--format", "md", "--lang", "ja"])
        .with(0)
        .out;
    assert!(md.starts_with("# SchoolWatch"), "{md}");
    let charter = house.join(format!("charters/{BOT}.toml"));
    let arguments = [
        "policy",
        "--charter",
        charter.to_str().unwrap(),
        "--format",
        "md",
    ];
    assert!(
        reigi(dir.path(), &arguments)
            .with(0)
            .out
            .starts_with("# SchoolWatch")
    );
    reigi(dir.path(), &["policy", "--charter", "none.toml"]).with(2);
}

#[test]
fn a_refused_row_is_shown_without_what_stood_there_before() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let add = |id: &str, url: &str| reigi(&house, &["ledger", "add", "--id", id, "--url", url]);
    add("b", "https://b.example.jp/").with(0);
    let said = add("c", "https://b.example.jp/").with(2);
    assert!(said.err.contains("keep one") && said.err.contains("as it was"));
    assert!(!said.err.contains("warning:"), "{}", said.err);
}

#[test]
fn usage_is_exit_2_and_help_is_exit_0() {
    let dir = tempfile::tempdir().unwrap();
    reigi(dir.path(), &[]).with(2);
    reigi(dir.path(), &["nothing"]).with(2);
    reigi(dir.path(), &["audit", "--head", "x"]).with(2);
    for arguments in [
        &["--help"][..],
        &["--version"],
        &["try", "robots", "--help"],
    ] {
        reigi(dir.path(), arguments).with(0);
    }
}

/// A locale that names neither language leaves the choice to the house, for failures as well.
#[test]
fn a_failure_speaks_the_houses_language_where_the_locale_names_none() {
    let dir = tempfile::tempdir().unwrap();
    let house = new_house(dir.path());
    let file = house.join("reigi.toml");
    for (lang, japanese) in [("ja", true), ("en", false)] {
        let text = fs::read_to_string(&file).unwrap();
        let text: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with("lang ="))
            .collect();
        let text = text
            .join("\n")
            .replace("[house]", &format!("[house]\nlang = \"{lang}\""));
        fs::write(&file, text).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_reigi"))
            .args(["diff", "9-9"])
            .current_dir(&house)
            .env_remove("LC_ALL")
            .env_remove("LC_MESSAGES")
            .env("LANG", "C.UTF-8")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("9-9"), "{said}");
        assert_eq!(
            said.chars().any(|c| ('ぁ'..='ん').contains(&c)),
            japanese,
            "{lang}: {said}"
        );
    }
}
