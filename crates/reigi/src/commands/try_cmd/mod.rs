//! `reigi try`: one part of the program on files, without house or network.
//!
//! Each file or line is dealt with by itself: one that cannot be read is named on standard error
//! with its place, the rest is still answered, and the exit code is 2.

use std::fs;
use std::path::{Path, PathBuf};

use reigi_core::charter::Lang;

use crate::cli::Try;
use crate::exit::{Exit, Failure, Outcome};
use crate::lang::pick;

mod census;
mod change;
mod page;
mod robots;

/// Does it.
pub(crate) fn run(what: &Try, lang: Lang) -> Outcome {
    let mut complaints = Complaints { lang, count: 0 };
    match what {
        Try::Robots { cases } => robots::run(cases, &mut complaints)?,
        Try::Page { path, content_type } => {
            page::run(path, content_type.as_deref(), &mut complaints)?;
        }
        Try::Change(change) => change::run(change, &mut complaints)?,
        Try::Census { dir, agents } => census::run(dir, agents, &mut complaints)?,
    }
    Ok(if complaints.count == 0 {
        Exit::Fine
    } else {
        Exit::BadInput
    })
}

/// What could not be read, told as it is met.
struct Complaints {
    lang: Lang,
    count: u64,
}

impl Complaints {
    /// Names a place and says what is wrong with it.
    fn add(&mut self, place: &str, ja: &str, en: &str) {
        self.count += 1;
        self.note(place, ja, en);
    }

    /// Says what is worth a word although it is no mistake of the caller's.
    fn note(&self, place: &str, ja: &str, en: &str) {
        eprintln!("{place}: {}", pick(self.lang, ja, en));
    }

    /// The bytes of a file, if it can be read.
    fn read(&mut self, path: &Path) -> Option<Vec<u8>> {
        match fs::read(path) {
            Ok(bytes) => Some(bytes),
            Err(e) => {
                let place = path.display().to_string();
                self.add(
                    &place,
                    &format!("読めません（{e}）"),
                    &format!("cannot be read: {e}"),
                );
                None
            }
        }
    }
}

/// The entries of a folder by name.
fn listed(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |e: std::io::Error| Failure::unreadable(dir, &e);
    let entries = fs::read_dir(dir).map_err(unreadable)?;
    let paths = entries.map(|entry| Ok(entry.map_err(unreadable)?.path()));
    let mut paths = paths.collect::<Result<Vec<_>, Failure>>()?;
    paths.sort();
    Ok(paths)
}

/// A file's name for output.
fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}
