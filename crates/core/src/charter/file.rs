//! From a charter's text to a [`Charter`]: every key known, every value above its floor.
//!
//! The floors are DECISIONS 19: they are constants here and no key reaches under them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::problem::{Problems, Sheet, say};
use super::reader::{self, Table, Value};
use super::unit::{CENTURY, show_duration};
use super::{
    Charter, Declared, EvidencePolicy, FailurePolicy, Freshness, Keep, Limits, OverSize, Pace,
    ReleaseKind, Resume, RetryAfter, Review, RobotsMeaning, RobotsPolicy, RobotsStatus, Scope,
    ScopeKind, SignalsPolicy, Slow, TermsPolicy, VisitPolicy, identity,
};
use crate::digest::Digest;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Least wait on one host.
const INTERVAL_MIN: Duration = SECOND;
/// Least spacing over all hosts.
const GLOBAL_INTERVAL_MIN: Duration = Duration::from_millis(100);
/// Oldest robots evidence (RFC 9309 section 2.4).
const FRESH_MAX: Duration = Duration::from_secs(24 * 3600);
/// What a crawler must read of a robots.txt at least (RFC 9309 section 2.5).
const ROBOTS_BYTES_MIN: u64 = 500 << 10;
/// Longest host interval, backoff step and slowness that make sense.
const WAIT_MAX: Duration = Duration::from_secs(7 * 24 * 3600);
/// Most bytes of one answer: it is held in memory.
const BYTES_MAX: u64 = 256 << 20;

impl Charter {
    /// Reads a charter. The bot's name is the stem of `file_name`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file_name: &str, text: &str) -> Result<Self, Problems> {
        let sheet = Sheet::new(file_name, text);
        let document = reader::parse(&sheet);
        let root = Table::root(&sheet, &document);
        let charter = charter(&root, file_name, text);
        root.finish();
        sheet.finish(charter).map(|(charter, _)| charter)
    }
}

fn charter(root: &Table<'_, '_>, file_name: &str, text: &str) -> Option<Charter> {
    let bot = bot_of(root.sheet, file_name);
    let updated = root
        .need("updated", "\"2026-08-23\"")
        .and_then(|v| v.date());
    let acceptance = root.maybe("acceptance", Value::boolean);
    let is_acceptance = acceptance.flatten().unwrap_or_default();
    let identity = root
        .section("identity")
        .and_then(|t| identity::read(&t, is_acceptance));
    let scope = root.section("scope").and_then(|t| scope(&t));
    let pace = root.section("pace").and_then(|t| pace(&t));
    let robots = root.section("robots").and_then(|t| robots(&t));
    let visit = root.section("visit").and_then(|t| visit(&t));
    let longest_interval = pace.as_ref().map_or(INTERVAL_MIN, |p| p.interval_max);
    let failure = root
        .section("failure")
        .and_then(|t| failure(&t, longest_interval));
    let limits = root.section("limits").and_then(|t| limits(&t));
    let evidence = root.section("evidence").and_then(|t| evidence(&t));
    let terms = root.maybe("terms", |v| v.table().and_then(|t| terms(&t)));
    let review = root.section("review").and_then(|t| review(&t));
    let release = root.section("release").and_then(|t| release(&t));
    let declared = root.maybe("declared", declared);
    root.later(&["facts"]);
    if let (Some(pace), Some(limits)) = (&pace, &limits) {
        slow_is_reached(root, pace, limits);
    }
    Some(Charter {
        bot: bot?,
        digest: Digest::of(text.as_bytes()),
        text: text.to_owned(),
        updated: updated?.to_string(),
        acceptance: acceptance?.unwrap_or_default(),
        identity: identity?,
        scope: scope?,
        pace: pace?,
        robots: robots?,
        visit: visit?,
        failure: failure?,
        limits: limits?,
        evidence: evidence?,
        terms: terms?,
        review: review?,
        release: release?,
        declared: declared?.unwrap_or_default(),
    })
}

/// The bot's name: the stem of its charter file.
pub(crate) fn bot_name(file_name: &str) -> Option<&str> {
    let stem = Path::new(file_name).file_stem()?.to_str()?;
    reader::is_slug(stem).then_some(stem)
}

fn bot_of(sheet: &Sheet<'_>, file_name: &str) -> Option<String> {
    let bot = bot_name(file_name);
    if bot.is_none() {
        sheet.error(
            0..0,
            say(
                "ファイル名がボットの名前になりません。",
                "the file's name is no name for a bot",
            ),
            say(
                "`school-watch.toml` のように、小文字の英数字と - だけで名づけてください。",
                "name it like `school-watch.toml`: lower-case letters, digits and -",
            ),
        );
    }
    bot.map(str::to_owned)
}

fn scope(t: &Table<'_, '_>) -> Option<Scope> {
    let kind = t.need("kind", "\"listed\"").and_then(|v| {
        v.one_of(
            &[("listed", ScopeKind::Listed)],
            &["site", "robots-only", "declaration"],
        )
    });
    t.later(&["follow", "images"]);
    t.finish();
    Some(Scope { kind: kind? })
}

fn pace(t: &Table<'_, '_>) -> Option<Pace> {
    let interval = t.need("interval", "\"2s\"").and_then(|v| draw(&v));
    let connections = t
        .need("connections_per_host", "1")
        .and_then(|v| v.integer(1..=2));
    let global = t.maybe("global_interval", |v| {
        v.duration(GLOBAL_INTERVAL_MIN..=HOUR)
    });
    let group = t.maybe("group", |v| v.slug("monthly-day"));
    let slow = t.maybe("slow", |v| v.table().and_then(|t| slow(&t)));
    if let (Some(None), Some(value)) = (&global, t.get("group")) {
        value.wrong::<()>(
            say(
                "`pace.group` は、`pace.global_interval` がなければ意味がありません。",
                "`pace.group` means nothing without `pace.global_interval`",
            ),
            say(
                "`global_interval = \"300ms\"` のように書き加えるか、group を外してください。",
                "add it, like `global_interval = \"300ms\"`, or take the group out",
            ),
        );
    }
    t.later(&["address_interval", "quiet_hours"]);
    t.finish();
    let (interval_min, interval_max) = interval?;
    Some(Pace {
        interval_min,
        interval_max,
        connections_per_host: u8::try_from(connections?).ok()?,
        global_interval: global?,
        group: group?,
        slow: slow?,
    })
}

/// `"2s"`, or `["1s", "2s"]` for an interval that is drawn each time.
fn draw(value: &Value<'_, '_>) -> Option<(Duration, Duration)> {
    if !value.is_list() {
        let interval = value.duration(INTERVAL_MIN..=WAIT_MAX)?;
        return Some((interval, interval));
    }
    let ends = value.list_of(|v| v.duration(INTERVAL_MIN..=WAIT_MAX))?;
    match ends.as_slice() {
        [min, max] if min <= max => Some((*min, *max)),
        _ => value.wrong(
            say(
                "`pace.interval` の抽選範囲は、短い方、長い方の二つです。",
                "the draw of `pace.interval` has two ends, the shorter one first",
            ),
            say(
                "`[\"1s\", \"2s\"]` のように書いてください。",
                "write it like `[\"1s\", \"2s\"]`",
            ),
        ),
    }
}

fn slow(t: &Table<'_, '_>) -> Option<Slow> {
    let after = t
        .need("after", "\"3s\"")
        .and_then(|v| v.duration(Duration::from_millis(100)..=5 * MINUTE));
    let factor = t.need("factor", "2").and_then(|v| v.integer(1..=1000));
    let stop = t.need("stop_after", "\"15s\"");
    let stop_after = stop
        .as_ref()
        .and_then(|v| v.duration(Duration::from_millis(100)..=5 * MINUTE));
    if let (Some(after), Some(stop_after), Some(stop)) = (after, stop_after, &stop)
        && stop_after <= after
    {
        stop.wrong::<()>(
            say(
                "`pace.slow.stop_after` は `after` より長くなければなりません。",
                "`pace.slow.stop_after` must be longer than `after`",
            ),
            say(
                format!("{} より長くしてください。", show_duration(after)),
                format!("write more than {}", show_duration(after)),
            ),
        );
    }
    t.finish();
    Some(Slow {
        after: after?,
        factor: factor?,
        stop_after: stop_after?,
    })
}

/// A limit that the timeout hides would be a sentence on the page that never comes true.
fn slow_is_reached(root: &Table<'_, '_>, pace: &Pace, limits: &Limits) {
    let Some(slow) = pace.slow.filter(|s| s.stop_after > limits.timeout) else {
        return;
    };
    let place = root
        .get("pace")
        .and_then(|v| v.table())
        .and_then(|t| t.get("slow"))
        .and_then(|v| v.table())
        .and_then(|t| t.get("stop_after"));
    if let Some(value) = place {
        let timeout = show_duration(limits.timeout);
        let stop = show_duration(slow.stop_after);
        value.wrong::<()>(
            say(
                format!("`pace.slow.stop_after`（{stop}）より先に `limits.timeout`（{timeout}）で打ち切られます。"),
                format!("`limits.timeout` ({timeout}) ends an answer before `pace.slow.stop_after` ({stop})"),
            ),
            say(
                format!("{timeout} 以下にするか、timeout を延ばしてください。"),
                format!("write {timeout} or less, or lengthen the timeout"),
            ),
        );
    }
}

fn robots(t: &Table<'_, '_>) -> Option<RobotsPolicy> {
    t.maybe("evidence", |v| v.one_of(&[("fetch", ())], &["ledger"]));
    t.maybe("crawl_delay", |v| v.one_of(&[("lengthen", ())], &[]));
    let fresh_for = t
        .need("fresh_for", "\"visit\"")
        .and_then(|v| match v.text()? {
            "visit" => Some(Freshness::Visit),
            _ => v.duration(MINUTE..=FRESH_MAX).map(Freshness::For),
        });
    let status = t.section("status").and_then(|t| robots_status(&t));
    let max_bytes = t
        .need("max_bytes", "\"500KiB\"")
        .and_then(|v| v.size(ROBOTS_BYTES_MIN..=BYTES_MAX));
    let over = t
        .need("over", "\"hold\"")
        .and_then(|v| v.one_of(&[("hold", OverSize::Hold), ("cut", OverSize::Cut)], &[]));
    t.later(&["refusal", "unclear_delay"]);
    t.finish();
    Some(RobotsPolicy {
        fresh_for: fresh_for?,
        status: status?,
        max_bytes: max_bytes?,
        over: over?,
    })
}

/// Unsure means don't fetch: only a clear "there is no such file" may count as "no rules".
fn robots_status(t: &Table<'_, '_>) -> Option<RobotsStatus> {
    const HOLD: (&str, RobotsMeaning) = ("hold", RobotsMeaning::Hold);
    const NO_RULES: (&str, RobotsMeaning) = ("no-rules", RobotsMeaning::NoRules);
    let client_error = t
        .need("4xx", "\"no-rules\"")
        .and_then(|v| v.one_of(&[NO_RULES, HOLD], &[]));
    let only_hold = |key| {
        let value = t.need(key, "\"hold\"")?;
        if value.text()? != "no-rules" {
            return value.one_of(&[HOLD], &[]);
        }
        value.wrong(
            say(
                format!("`robots.status.{key}` を no-rules にはできません。robots.txt が読めたかどうか、わからないからです。"),
                format!("`robots.status.{key}` cannot be no-rules: nobody knows then what robots.txt says"),
            ),
            say("`\"hold\"` と書いてください。", "write `\"hold\"`"),
        )
    };
    let [too_many, server_error, network] = ["429", "5xx", "network"].map(only_hold);
    t.finish();
    Some(RobotsStatus {
        client_error: client_error?,
        too_many: too_many?,
        server_error: server_error?,
        network: network?,
    })
}

fn visit(t: &Table<'_, '_>) -> Option<VisitPolicy> {
    let pages_max = t
        .need("pages_max", "20")
        .and_then(|v| v.integer(1..=10_000));
    let every = t.need("every", "\"1d\"").and_then(|v| v.every());
    let conditional = t.need("conditional", "true").and_then(|v| v.boolean());
    t.later(&["duration_max", "first"]);
    t.finish();
    Some(VisitPolicy {
        pages_max: pages_max?,
        every: every?,
        conditional: conditional?,
    })
}

fn failure(t: &Table<'_, '_>, interval: Duration) -> Option<FailurePolicy> {
    let steps = t
        .need("steps", r#"["1m", "10m", "1h"]"#)
        .and_then(|v| steps(&v, interval));
    let retry_after = retry_after(t);
    let pause_after = t.need("pause_after", "5").and_then(|v| v.integer(1..=1000));
    let resume = t
        .need("resume", "\"person\"")
        .and_then(|v| match v.text()? {
            "person" => Some(Resume::Person),
            _ => v.duration(HOUR..=CENTURY).map(Resume::After),
        });
    t.later(&["on_refusal"]);
    t.finish();
    Some(FailurePolicy {
        steps: steps?,
        retry_after: retry_after?,
        pause_after: pause_after?,
        resume: resume?,
    })
}

fn steps(value: &Value<'_, '_>, interval: Duration) -> Option<Vec<Duration>> {
    let steps = value.list_of(|v| v.duration(interval..=WAIT_MAX))?;
    if !steps.is_empty() && steps.len() <= 32 && steps.is_sorted_by(|a, b| a < b) {
        return Some(steps);
    }
    value.wrong(
        say(
            "`failure.steps` は、だんだん長くなる待ち時間を1〜32個並べたものです。",
            "`failure.steps` is 1 to 32 waits, each longer than the one before",
        ),
        say(
            "`[\"1m\", \"10m\", \"1h\"]` のように書いてください。",
            "write it like `[\"1m\", \"10m\", \"1h\"]`",
        ),
    )
}

fn retry_after(t: &Table<'_, '_>) -> Option<RetryAfter> {
    let honours = t
        .need("retry_after", "\"honour\"")
        .and_then(|v| v.one_of(&[("honour", true), ("ignore", false)], &[]))?;
    if honours {
        let cap = t.need("retry_after_cap", "\"24h\"")?;
        return cap
            .duration(MINUTE..=30 * DAY)
            .map(|cap| RetryAfter::Honour { cap });
    }
    match t.get("retry_after_cap") {
        None => Some(RetryAfter::Ignore),
        Some(cap) => cap.wrong(
            say(
                "Retry-After を読まないなら、`failure.retry_after_cap` に意味はありません。",
                "`failure.retry_after_cap` means nothing where Retry-After is ignored",
            ),
            say(
                "この行を外すか、`retry_after = \"honour\"` にしてください。",
                "take the line out, or write `retry_after = \"honour\"`",
            ),
        ),
    }
}

fn limits(t: &Table<'_, '_>) -> Option<Limits> {
    let timeout = t
        .need("timeout", "\"20s\"")
        .and_then(|v| v.duration(SECOND..=5 * MINUTE));
    let max_bytes = t
        .need("max_bytes", "\"10MB\"")
        .and_then(|v| v.size(1024..=BYTES_MAX));
    let redirects_max = t.need("redirects_max", "5").and_then(|v| v.integer(0..=5));
    t.finish();
    Some(Limits {
        timeout: timeout?,
        max_bytes: max_bytes?,
        redirects_max: u8::try_from(redirects_max?).ok()?,
    })
}

fn evidence(t: &Table<'_, '_>) -> Option<EvidencePolicy> {
    let keep = t
        .need("keep", "\"full\"")
        .and_then(|v| v.one_of(&[("full", Keep::Full)], &["facts-only"]));
    let retention = t
        .need("retention_unreferenced", "\"3650d\"")
        .and_then(|v| v.duration(SECOND..=CENTURY));
    let readers = t
        .need("readers", "[\"reviewer\"]")
        .and_then(|v| v.list_of(Value::words));
    let signals = t
        .need("signals", "\"record\"")
        .and_then(|v| v.one_of(&[("record", SignalsPolicy::Record)], &["enforce"]));
    t.later(&["journal_kept"]);
    t.finish();
    Some(EvidencePolicy {
        keep: keep?,
        retention_unreferenced: retention?,
        readers: readers?,
        signals: signals?,
    })
}

fn terms(t: &Table<'_, '_>) -> Option<TermsPolicy> {
    let max_age = t
        .need("max_age", "\"365d\"")
        .and_then(|v| v.duration(DAY..=CENTURY));
    t.finish();
    Some(TermsPolicy { max_age: max_age? })
}

fn review(t: &Table<'_, '_>) -> Option<Review> {
    let by = t
        .need("by", "\"person\"")
        .and_then(|v| v.one_of(&[("person", Review::Person)], &["auto-when-typed"]));
    t.finish();
    by
}

fn release(t: &Table<'_, '_>) -> Option<Vec<ReleaseKind>> {
    const KINDS: &[(&str, ReleaseKind)] = &[
        ("facts", ReleaseKind::Facts),
        ("summaries", ReleaseKind::Summaries),
    ];
    let what = t
        .need("what", r#"["facts", "summaries"]"#)
        .and_then(|v| v.list_of(|v| v.one_of(KINDS, &["counts", "numbers"])));
    t.later(&["formats"]);
    t.finish();
    let mut what = what?;
    what.sort_unstable();
    what.dedup();
    Some(what)
}

/// `[[declared]]`.
fn declared(value: &Value<'_, '_>) -> Option<Vec<Declared>> {
    let mut lines: BTreeMap<String, usize> = BTreeMap::new();
    let read: Vec<_> = value
        .list()?
        .iter()
        .map(|value| {
            let t = value.table()?;
            let id_value = t.need("id", "\"no-advertising\"");
            let id = id_value.as_ref().and_then(|v| v.slug("no-advertising"));
            let text = t.both_languages();
            t.finish();
            let (id_value, id) = (id_value?, id?);
            let line = t.sheet.line(id_value.span.start);
            if let Some(first) = lines.insert(id.clone(), line) {
                id_value.wrong::<()>(
                    say(
                        format!("`declared` の id `{id}` は {first} 行目にもあります。"),
                        format!("the id `{id}` of `declared` is on line {first} too"),
                    ),
                    say("どちらかの id を変えてください。", "change one of them"),
                );
            }
            Some(Declared { id, text: text? })
        })
        .collect();
    read.into_iter().collect()
}
