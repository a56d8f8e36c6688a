//! Structured data that a page carries: JSON-LD, microdata, RDFa Lite.
//!
//! Read as the page states it: no vocabulary is fetched, no context expanded, nothing inferred.
//! What is malformed is noted with its place and never loses its neighbours.

mod embedded;
mod json_ld;

use serde_json::{Value, json};

use crate::dom::Dom;
use crate::page::Structured;

/// The most items kept of one page.
const ITEMS: usize = 2000;

/// Reads all of it. `json_ld` holds the texts of the `application/ld+json` scripts.
pub(crate) fn read(dom: &Dom, json_ld: &[String], notes: &mut Vec<String>) -> Structured {
    let mut items: Vec<Value> = Vec::new();
    let mut keep = |syntax: &str, value: Value| {
        if items.len() < ITEMS {
            items.push(json!({ "syntax": syntax, "value": value }));
        }
    };
    let filled = json_ld
        .iter()
        .enumerate()
        .filter(|(_, script)| !script.trim().is_empty());
    for (index, script) in filled {
        match json_ld::read(script) {
            Ok((value, repaired)) => {
                keep("json-ld", value);
                notes.extend(repaired.map(|what| format!("json-ld {}: {what}", index + 1)));
            }
            Err(error) => notes.push(format!("json-ld {}: {error}", index + 1)),
        }
    }
    for value in embedded::microdata(dom) {
        keep("microdata", value);
    }
    for value in embedded::rdfa(dom) {
        keep("rdfa", value);
    }
    Structured { items }
}
