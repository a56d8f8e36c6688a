//! `reigi try robots`: verdicts, delays and sitemaps of robots.txt bodies in JSON lines.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::Path;

use data_encoding::BASE64_NOPAD;
use reigi_robots::Rules;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Complaints;
use crate::commands::{json_line, stdout};
use crate::exit::Failure;

/// The largest body that a case may build by repetition, in bytes.
const BODY_MAX: usize = 256 << 20;

/// One line of the file. Fields that it does not know (expected answers, sources) are left alone.
#[derive(Deserialize)]
struct Case {
    #[serde(default)]
    id: Value,
    robots: Option<String>,
    robots_b64: Option<String>,
    robots_repeat: Option<Repeat>,
    agent: Option<String>,
    url: Option<String>,
}

/// A large body: `head`, then `unit` `count` times, then `tail`.
#[derive(Deserialize)]
struct Repeat {
    #[serde(default)]
    head: String,
    unit: String,
    count: usize,
    #[serde(default)]
    tail: String,
}

/// Answers each line of `path` (`-`: standard input).
pub(super) fn run(path: &Path, complaints: &mut Complaints) -> Result<(), Failure> {
    let mut input: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|e| Failure::unreadable(path, &e))?;
        Box::new(BufReader::new(file))
    };
    let mut out = stdout();
    let (mut line, mut number) = (Vec::new(), 0_u64);
    loop {
        line.clear();
        let read = input
            .read_until(b'\n', &mut line)
            .map_err(|e| Failure::unreadable(path, &e))?;
        if read == 0 {
            break;
        }
        number += 1;
        let text = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&line);
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice(text)
            .map_err(|e| in_line(&e))
            .and_then(answer)
        {
            Ok(answer) => json_line(&mut out, &answer)?,
            Err(why) => {
                let place = format!("{}:{number}", path.display());
                complaints.add(
                    &place,
                    &format!("ケースとして読めません（{why}）"),
                    &format!("no case: {why}"),
                );
            }
        }
    }
    Ok(out.flush()?)
}

/// The reader's words without its own line number, which is always 1.
fn in_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what}, column {}", error.column()),
        None => text,
    }
}

/// What a line is answered with; only what was asked is there, besides `line`.
#[derive(Default, Serialize)]
struct Answer {
    id: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowed: Option<bool>,
    /// Seconds; null: none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    crawl_delay: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sitemaps: Option<Vec<String>>,
    /// The line that decided, from 1.
    line: Option<u32>,
}

fn answer(case: Case) -> Result<Answer, String> {
    let rules = Rules::parse(&body(&case)?);
    let agent = case.agent.as_deref();
    let mut answer = Answer {
        id: case.id,
        ..Answer::default()
    };
    match (agent, &case.url) {
        (_, Some(url)) => {
            let verdict = rules.verdict(agent.unwrap_or_default(), url);
            answer.allowed = Some(verdict.allowed);
            answer.line = verdict.rule.map(|rule| rule.line);
        }
        (Some(agent), None) => {
            let delay = rules.crawl_delay(agent);
            answer.crawl_delay = Some(delay.map_or(Value::Null, |d| seconds(d.seconds)));
            answer.line = delay.map(|d| d.line);
        }
        (None, None) => answer.sitemaps = Some(rules.sitemaps().map(str::to_owned).collect()),
    }
    Ok(answer)
}

fn body(case: &Case) -> Result<Vec<u8>, String> {
    match (&case.robots, &case.robots_b64, &case.robots_repeat) {
        (Some(text), None, None) => Ok(text.clone().into_bytes()),
        (None, Some(text), None) => BASE64_NOPAD
            .decode(text.trim_end_matches('=').as_bytes())
            .map_err(|e| format!("robots_b64: {e}")),
        (None, None, Some(repeat)) => repeat.build(),
        _ => Err("one of robots, robots_b64, robots_repeat is needed".to_owned()),
    }
}

impl Repeat {
    fn build(&self) -> Result<Vec<u8>, String> {
        let ends = self.head.len() + self.tail.len();
        let size = self
            .unit
            .len()
            .checked_mul(self.count)
            .and_then(|n| n.checked_add(ends));
        if size.is_none_or(|size| size > BODY_MAX) {
            return Err(format!("robots_repeat: a body over {BODY_MAX} bytes"));
        }
        Ok([
            &self.head,
            self.unit.repeat(self.count).as_str(),
            &self.tail,
        ]
        .concat()
        .into_bytes())
    }
}

/// Whole seconds without a decimal point.
fn seconds(seconds: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole numbers below 2^53 are the same in both types"
    )]
    if seconds.fract() == 0.0 && seconds.abs() < 9e15 {
        return (seconds as i64).into();
    }
    seconds.into()
}
