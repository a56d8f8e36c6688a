//! `reigi try page`: what a reader would see in a page, as JSON lines.

use std::io::Write as _;
use std::path::Path;

use reigi_page::{CharsetFrom, Image, Kind, Link, Needs, Other, Page, Read, Signal, Structured};
use serde::Serialize;

use super::{Complaints, file_name, listed};
use crate::commands::{json_line, stdout};
use crate::exit::Failure;

/// Reads a file, or every file of a folder.
pub(super) fn run(
    path: &Path,
    content_type: Option<&str>,
    complaints: &mut Complaints,
) -> Result<(), Failure> {
    let files = if path.is_dir() {
        listed(path)?
            .into_iter()
            .filter(|path| path.is_file())
            .collect()
    } else {
        vec![path.to_owned()]
    };
    let mut out = stdout();
    for file in files {
        if let Some(body) = complaints.read(&file) {
            json_line(&mut out, &reading(file_name(&file), &body, content_type))?;
        }
    }
    Ok(out.flush()?)
}

/// One file. What is no text for readers has its fields empty, and says in `other` what it is.
#[derive(Default, Serialize)]
struct Reading {
    file: String,
    charset: Option<String>,
    charset_from: Option<CharsetFrom>,
    title: Option<String>,
    text: Option<String>,
    links: Vec<Link>,
    images: Vec<Image>,
    structured: Structured,
    kind: Option<Kind>,
    lang: Option<String>,
    signals: Vec<Signal>,
    needs: Option<Needs>,
    notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<Other>,
}

fn reading(file: String, body: &[u8], content_type: Option<&str>) -> Reading {
    match Page::read(body, content_type) {
        Read::Html(page) => {
            let text = Some(page.text());
            let page = *page;
            Reading {
                file,
                charset: Some(page.charset.name),
                charset_from: Some(page.charset.from),
                title: page.title,
                text,
                links: page.links,
                images: page.images,
                structured: page.structured,
                kind: Some(page.kind),
                lang: page.lang,
                signals: page.signals,
                needs: page.needs,
                notes: page.notes,
                other: None,
            }
        }
        Read::Other(other) => Reading {
            file,
            other: Some(other),
            ..Reading::default()
        },
    }
}
