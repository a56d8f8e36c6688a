//! What holds for every file: checked on files and octets made up by proptest, against a plain
//! reference matcher, and against the `robotxt` crate where both read alike.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use reigi_robots::{Field, Rules};

const ME: &str = "ExampleBot";

/// A rule line: whether it allows, and its pattern.
type Rule = (bool, String);

fn pattern() -> impl Strategy<Value = String> {
    (
        "(/|\\*)[ab/*]{0,6}",
        prop_oneof![4 => Just(""), 1 => Just("$")],
    )
        .prop_map(|(body, end)| format!("{body}{end}"))
}

fn path() -> impl Strategy<Value = String> {
    "/[ab/]{0,8}"
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    vec((any::<bool>(), pattern()), 1..6)
}

/// Groups of (names, rules); names from a small set, so that some merge.
fn groups() -> impl Strategy<Value = Vec<(Vec<&'static str>, Vec<Rule>)>> {
    let name = prop::sample::select(vec![ME, "examplebot", "OtherBot", "*"]);
    vec((vec(name, 1..3), rules()), 1..4)
}

fn rule_line((allow, pattern): &Rule) -> String {
    format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" })
}

fn file(groups: &[(Vec<&str>, Vec<Rule>)]) -> String {
    let group = |(names, rules): &(Vec<&str>, Vec<Rule>)| {
        let names: String = names
            .iter()
            .map(|name| format!("User-agent: {name}\n"))
            .collect();
        format!(
            "{names}{}\n",
            rules.iter().map(rule_line).collect::<String>()
        )
    };
    groups.iter().map(group).collect()
}

/// Octets that are more often nearly a robots.txt than random ones are.
fn octets() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "User-agent: *",
            "user-agent",
            "Allow: /",
            "Disallow:",
            "Dissalow /x",
            "Crawl-delay: 5",
            "Crawl-delay: 1.2.3",
            "Sitemap: ",
            "Content-Usage: /a* train-ai=n",
            "License:x",
            "\r\n",
            "\n",
            "\r",
            "%e5",
            "%2A*$",
            "$",
            "\u{feff}",
            "#",
            "<html>",
            "Max-crawl-rate: 1/s",
            "index.htm",
        ])
        .prop_map(|s| s.as_bytes().to_vec()),
        vec(any::<u8>(), 0..12),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Google's matching in its plainest form: all positions that the pattern so far can end at.
fn reference_match(pattern: &str, path: &str) -> bool {
    let (pattern, anchored) = match pattern.strip_suffix('$') {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    let mut ends = vec![0];
    for octet in pattern.bytes() {
        ends = match octet {
            b'*' => ends
                .first()
                .map(|&first| (first..=path.len()).collect())
                .unwrap_or_default(),
            _ => ends
                .into_iter()
                .filter(|&at| path.as_bytes().get(at) == Some(&octet))
                .map(|at| at + 1)
                .collect(),
        };
    }
    if anchored {
        ends.last() == Some(&path.len())
    } else {
        !ends.is_empty()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing panics, and every line number lies within the file.
    #[test]
    fn any_octets_are_read(body in octets(), url in ".{0,20}", name in ".{0,8}", cut in 0usize..300) {
        let _ = Rules::parse_with(&body, cut);
        let rules = Rules::parse(&body);
        let within = |line: u32| (1..=rules.lines()).contains(&line);
        for name in [ME, &name] {
            let agent = rules.for_agent(name);
            let verdict = agent.verdict(&url);
            prop_assert!(verdict.rule.is_none_or(|r| within(r.line) && r.allow == verdict.allowed));
            prop_assert!(agent.unclear_delays().all(|d| within(d.line)));
            prop_assert!(agent.crawl_delay().is_none_or(|d| within(d.line)));
            let clear = |d: Option<reigi_robots::Delay>| d.map_or(Duration::ZERO, |d| d.duration);
            prop_assert!(clear(agent.group_delay()) >= clear(agent.crawl_delay()));
            agent.content_usage(&url).iter().for_each(|p| assert!(within(p.line)));
        }
        prop_assert!(rules.records().all(|r| within(r.line)));
        prop_assert!(rules.notes().iter().all(|n| within(n.line)));
        let sitemaps = rules.records().filter(|r| r.field == Field::Sitemap).count();
        prop_assert_eq!(rules.sitemaps().count(), sitemaps);
    }

    #[test]
    fn patterns_match_as_in_the_reference(pattern in pattern(), path in path()) {
        let body = format!("User-agent: *\nDisallow: {pattern}\n");
        let refused = !Rules::parse(body.as_bytes()).verdict(ME, &path).allowed;
        // A leading `//` is read as a host; ask for such paths by a whole URL.
        let whole = format!("https://museum.example{path}");
        let refused_whole = !Rules::parse(body.as_bytes()).verdict(ME, &whole).allowed;
        prop_assert_eq!(refused_whole, reference_match(&pattern, &path));
        prop_assert!(path.starts_with("//") || refused == refused_whole);
    }

    /// RFC 9309 section 2.2.2: where two rules are equivalent, allow.
    #[test]
    fn allow_wins_ties(pattern in pattern(), path in path(), allow_first in any::<bool>()) {
        let both = [(allow_first, pattern.clone()), (!allow_first, pattern)];
        let rules = Rules::parse(file(&[(vec![ME], both.to_vec())]).as_bytes()).clone();
        prop_assert!(rules.verdict(ME, &path).allowed);
    }

    #[test]
    fn the_line_is_that_of_the_rule(groups in groups(), path in path()) {
        let body = file(&groups);
        let rules = Rules::parse(body.as_bytes());
        if let Some(rule) = rules.verdict(ME, &path).rule {
            let line = body.lines().nth(rule.line as usize - 1).unwrap();
            prop_assert_eq!(format!("{line}\n"), rule_line(&(rule.allow, rule.pattern.to_owned())));
        }
    }

    #[test]
    fn line_breaks_are_all_alike(groups in groups(), path in path()) {
        let body = file(&groups);
        let lf = Rules::parse(body.as_bytes());
        for eol in ["\r", "\r\n"] {
            let other = Rules::parse(body.replace('\n', eol).as_bytes());
            prop_assert_eq!(other.verdict(ME, &path), lf.verdict(ME, &path));
        }
    }

    #[test]
    fn groups_of_others_change_nothing(groups in groups(), other in rules(), path in path()) {
        let body = file(&groups);
        let more = format!("{body}{}", file(&[(vec!["ThirdBot"], other)]));
        let verdict = |body: &str| {
            let rules = Rules::parse(body.as_bytes());
            let verdict = rules.verdict(ME, &path);
            (verdict.allowed, verdict.group, verdict.rule.map(|r| r.line))
        };
        prop_assert_eq!(verdict(&body), verdict(&more));
    }

    /// A Disallow more never opens what was shut; an Allow more never shuts what was open.
    #[test]
    fn more_rules_only_push_their_own_way(before in rules(), more in rules(), path in path()) {
        let allowed = |rules: Vec<Rule>| {
            Rules::parse(file(&[(vec![ME], rules)]).as_bytes()).verdict(ME, &path).allowed
        };
        let with = |allow| {
            let more = more.iter().map(|(_, pattern)| (allow, pattern.clone()));
            allowed(before.iter().cloned().chain(more).collect())
        };
        let now = allowed(before.clone());
        prop_assert!(now || !with(false));
        prop_assert!(!now || with(true));
    }

    /// RFC 3986 section 6.2.2: an encoded unreserved character is the character.
    #[test]
    fn encoding_letters_changes_nothing(groups in groups(), path in path()) {
        let rules = file(&groups);
        let rules = Rules::parse(rules.as_bytes());
        let encoded: String = path
            .chars()
            .map(|c| if c == '/' { c.to_string() } else { format!("%{:02x}", c as u32) })
            .collect();
        prop_assert_eq!(rules.verdict(ME, &encoded), rules.verdict(ME, &path));
    }

    #[test]
    fn more_delays_never_shorten(delays in vec("[0-9]{1,3}(\\.[0-9])?|x", 1..5)) {
        let body = |delays: &[String]| {
            let lines: String = delays.iter().map(|d| format!("Crawl-delay: {d}\n")).collect();
            Rules::parse(format!("User-agent: {ME}\n{lines}").as_bytes()).crawl_delay(ME)
        };
        let wait = |d: Option<reigi_robots::Delay>| d.map_or(Duration::ZERO, |d| d.duration);
        for n in 1..=delays.len() {
            prop_assert!(wait(body(&delays[..n])) >= wait(body(&delays[..n - 1])));
        }
    }

    /// `robotxt` adds a slash before patterns that begin with `*`, so those are left out.
    #[test]
    fn robotxt_answers_the_same(groups in groups(), path in path()) {
        let slashed = |(names, rules): &(Vec<&'static str>, Vec<Rule>)| {
            let slash = |(allow, p): &Rule| (*allow, format!("/{}", p.trim_start_matches(['/', '*'])));
            (names.clone(), rules.iter().map(slash).collect::<Vec<_>>())
        };
        let body = file(&groups.iter().map(slashed).collect::<Vec<_>>());
        let theirs = robotxt::Robots::parse(body.as_bytes(), ME).is_allowed(&path);
        let ours = Rules::parse(body.as_bytes());
        let ours = ours.verdict(ME, &format!("https://museum.example{path}"));
        prop_assert_eq!(ours.allowed, theirs, "{}{}", body, path);
    }
}

/// The bodies and URLs that make a backtracking or quadratic matcher run for minutes or hours;
/// here each takes milliseconds. The bound is far above any slow machine's linear time.
#[test]
fn the_worst_cases_stay_linear() {
    let long = format!("/{}", "a".repeat(1 << 20));
    let needle = format!("/*{}b", "a".repeat(16_000));
    let stars = format!("/{}b$", "*a".repeat(8_000));
    let short = format!("/{}", "*aaaaaaab".repeat(1_500));
    for pattern in [needle, stars, short] {
        let body = format!("User-agent: *\nDisallow: {pattern}\n");
        assert!(
            Rules::parse(body.as_bytes()).notes().is_empty(),
            "the line is read whole"
        );
        within_a_minute(|| assert!(Rules::parse(body.as_bytes()).verdict(ME, &long).allowed));
    }
    let units = [
        "User-agent: a\n",
        "\r",
        "<p>",
        "Crawl-delay: 1.1.1\n",
        "Disallow: /*a*\n",
        "%e5",
        "X: y\n",
    ];
    for unit in units {
        let body = unit.repeat((8 << 20) / unit.len());
        within_a_minute(|| assert!(Rules::parse(body.as_bytes()).verdict(ME, "/").allowed));
    }
    let delays = "User-agent: a\nCrawl-delay: 2\nMax-crawl-rate: 1/s\n".repeat(100_000);
    within_a_minute(|| {
        let rules = Rules::parse(delays.as_bytes());
        let agent = rules.for_agent("a");
        assert_eq!(agent.crawl_delay(), agent.group_delay());
        assert!(agent.max_crawl_rate().is_some());
    });
}

fn within_a_minute(run: impl FnOnce()) {
    let start = Instant::now();
    run();
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "took {:?}",
        start.elapsed()
    );
}

/// Half a rule would be another rule: a line that the limit cuts is left out.
#[test]
fn a_limit_cuts_between_lines() {
    let line = "# comment\n";
    let filler = line.repeat((reigi_robots::LIMIT_MIN - 20) / line.len());
    let body = format!("User-agent: *\n{filler}Disallow: /private-rooms\n");
    let cut = Rules::parse_with(body.as_bytes(), 0);
    assert!(cut.verdict(ME, "/private-rooms").allowed);
    assert!(
        cut.notes()
            .iter()
            .any(|n| n.oddity == reigi_robots::Oddity::BodyCut)
    );
    let whole = Rules::parse_with(body.as_bytes(), body.len());
    assert!(!whole.verdict(ME, "/private-rooms").allowed);
    assert_eq!(whole.notes(), []);
}

/// The same rules can be asked from many threads at once.
#[test]
fn rules_are_shared_between_threads() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    shared(&Rules::parse(b"User-agent: *\nDisallow: /\n"));
}
