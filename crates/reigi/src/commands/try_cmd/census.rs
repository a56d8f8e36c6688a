//! `reigi try census`: which agents each robots.txt lets in at `/`.

use std::collections::HashSet;
use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use reigi_core::charter::problem::decode;
use reigi_robots::{Content, Rules};
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::{Complaints, file_name, listed};
use crate::commands::stdout;
use crate::exit::Failure;

/// Writes the table.
pub(super) fn run(dir: &Path, agents: &Path, complaints: &mut Complaints) -> Result<(), Failure> {
    let agents = names(agents)?;
    let files = robots_files(dir)?;
    let mut out = stdout();
    writeln!(out, "file\t{}", agents.join("\t"))?;
    for file in files {
        let name = cell(&file_name(&file));
        let verdicts: Vec<&str> = match complaints.read(&file) {
            None => agents.iter().map(|_| "unconfirmed").collect(),
            Some(body) => {
                let rules = Rules::parse(&body);
                if rules.content() == Content::Markup {
                    complaints.note(
                        &file.display().to_string(),
                        "robots.txt ではなく HTML のページです（規則なしとして扱います）",
                        "a page of HTML, no robots file (read as having no rules)",
                    );
                }
                let may = |agent: &String| rules.verdict(agent, "/").allowed;
                agents
                    .iter()
                    .map(|a| if may(a) { "allowed" } else { "refused" })
                    .collect()
            }
        };
        writeln!(out, "{name}\t{}", verdicts.join("\t"))?;
    }
    Ok(out.flush()?)
}

/// The `*.txt` files of a folder, so that notes and tables may lie beside them; else all files.
fn robots_files(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let files: Vec<PathBuf> = listed(dir)?
        .into_iter()
        .filter(|path| !path.is_dir())
        .collect();
    let is_txt = |path: &PathBuf| {
        path.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("txt"))
    };
    let has_txt = files.iter().any(is_txt);
    Ok(files
        .into_iter()
        .filter(|path| !has_txt || is_txt(path))
        .collect())
}

/// The agents in the order of the file, each once.
fn names(path: &Path) -> Result<Vec<String>, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::unreadable(path, &e))?;
    let shown = path.display();
    let text = decode(&shown.to_string(), &bytes).map_err(|problems| {
        let what = problems.to_string();
        Failure::bad_input(
            format!("{shown} は UTF-8 ではありません（{what}）。"),
            format!("{what}."),
        )
    })?;
    let names: Vec<String> = if text.trim_start().starts_with('{') {
        let mut json = serde_json::Deserializer::from_str(text);
        let keys = json.deserialize_map(Keys);
        keys.and_then(|keys| json.end().map(|()| keys))
            .map_err(|e| {
                Failure::bad_input(
                    format!("{shown}:{} を JSON として読めません（{e}）。", e.line()),
                    format!("{shown}:{} is not valid JSON: {e}.", e.line()),
                )
            })?
    } else {
        text.lines()
            .map(|line| line.trim().to_owned())
            .filter(|line| !line.is_empty())
            .collect()
    };
    let mut seen = HashSet::new();
    let names: Vec<String> = names
        .iter()
        .map(|name| cell(name))
        .filter(|name| seen.insert(name.clone()))
        .collect();
    if names.is_empty() {
        return Err(Failure::bad_input(
            format!("{shown} にエージェント名がありません。"),
            format!("{shown} names no agent."),
        )
        .hint(
            "名前を1行に1つ、またはエージェント名をキーにした JSON オブジェクトで書いてください。",
            "Write a name a line, or a JSON object keyed by agent.",
        ));
    }
    Ok(names)
}

/// What may stand between two tabs.
fn cell(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect()
}

/// The keys of an object in the order of the file.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Vec<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object keyed by agent")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut keys = Vec::new();
        while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
            keys.push(key);
        }
        Ok(keys)
    }
}
