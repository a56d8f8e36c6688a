//! `reigi try change`: whether a page changed between two versions, and where.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use reigi_page::change::{Hunk, Learned, Summary, Verdict, compare};
use reigi_page::{Page, Read};
use serde::Serialize;

use super::{Complaints, file_name, listed};
use crate::cli::Change;
use crate::commands::{json_line, stdout};
use crate::exit::Failure;
use crate::lang::pick;

/// One comparison.
#[derive(Serialize)]
struct Compared {
    id: String,
    verdict: Verdict,
    /// In the language asked for.
    summary: String,
    summary_ja: String,
    summary_en: String,
    hunks: Vec<Hunk>,
}

/// Compares two files, or each pair of a folder.
pub(super) fn run(asked: &Change, complaints: &mut Complaints) -> Result<(), Failure> {
    let mut out = stdout();
    for (id, before, after) in pairs(asked)? {
        let bodies = complaints.read(&before).zip(complaints.read(&after));
        let Some((old, new)) = bodies else { continue };
        let (verdict, summary, hunks) = difference((&before, &old), (&after, &new));
        let Summary { ja, en } = summary;
        let summary = pick(complaints.lang, &ja, &en).to_owned();
        let compared = Compared {
            id,
            verdict,
            summary,
            summary_ja: ja,
            summary_en: en,
            hunks,
        };
        json_line(&mut out, &compared)?;
    }
    Ok(out.flush()?)
}

/// Id and files of what is to be compared.
fn pairs(asked: &Change) -> Result<Vec<(String, PathBuf, PathBuf)>, Failure> {
    if let Some(dir) = &asked.pairs {
        let folders = listed(dir)?.into_iter().filter(|path| path.is_dir());
        let pair = |dir: PathBuf| {
            (
                file_name(&dir),
                dir.join("before.html"),
                dir.join("after.html"),
            )
        };
        return Ok(folders.map(pair).collect());
    }
    let both = asked.before.clone().zip(asked.after.clone());
    Ok(both
        .map(|(before, after)| (file_name(&after), before, after))
        .into_iter()
        .collect())
}

fn difference(before: (&Path, &[u8]), after: (&Path, &[u8])) -> (Verdict, Summary, Vec<Hunk>) {
    match (read(before), read(after)) {
        (Read::Html(old), Read::Html(new)) => {
            let difference = compare(&old, &new, &Learned::default());
            (difference.verdict, difference.summary, difference.hunks)
        }
        // No text is claimed of other files: only whether the bytes are the same.
        _ if before.1 == after.1 => {
            let summary = Summary {
                ja: "変更なし".to_owned(),
                en: "No change".to_owned(),
            };
            (Verdict::Unchanged, summary, Vec::new())
        }
        _ => {
            let summary = Summary {
                ja: "ファイルが変わりました".to_owned(),
                en: "The file changed".to_owned(),
            };
            (Verdict::Changed, summary, Vec::new())
        }
    }
}

/// A file that is named as a page is read as one.
fn read((path, body): (&Path, &[u8])) -> Read {
    let is_html = path.extension().is_some_and(|e| e == "html" || e == "htm");
    Page::read(body, is_html.then_some("text/html"))
}
