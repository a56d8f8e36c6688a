//! Every page of the shared corpus of real pages is read, with the charset that its index states.

use std::path::PathBuf;

use reigi_page::{Page, Read};

fn shared() -> Option<PathBuf> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("REIGI_SHARED").map_or(default, PathBuf::from);
    let found = shared.join("corpus/pages/index.tsv").is_file();
    if !found {
        eprintln!("skipped: no shared corpus at {}", shared.display());
    }
    found.then_some(shared)
}

#[test]
fn every_page_is_read_with_its_charset() {
    let Some(shared) = shared() else { return };
    let pages = shared.join("corpus/pages");
    let index = std::fs::read_to_string(pages.join("index.tsv")).unwrap();
    let (mut stated, mut wrong, mut empty) = (0, Vec::new(), Vec::new());
    for line in index.lines().skip(1) {
        let mut fields = line.split('\t');
        let (file, charset) = (fields.next().unwrap(), fields.nth(1).unwrap());
        let body = std::fs::read(pages.join(file)).unwrap();
        let page = match Page::read(&body, None) {
            Read::Html(page) => page,
            Read::Other(other) if other.mime == "application/json" => continue,
            Read::Other(other) => panic!("{file}: {other:?}"),
        };
        let told = page.needs.is_some() || !page.notes.is_empty();
        if page.blocks.is_empty() && !told && page.structured.items.is_empty() {
            empty.push(file.to_owned());
        }
        if charset == "ascii" {
            assert!(!page.charset.malformed, "{file}");
            continue;
        }
        stated += 1;
        if page.charset.name != charset {
            wrong.push(format!("{file}: {charset}, read as {:?}", page.charset));
        }
    }
    eprintln!("charset right on {} of {stated}", stated - wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(empty.is_empty(), "no text, and nothing told: {empty:#?}");
}
