//! The public policy page: a charter said in words, with its promises' own sentences.
//!
//! [`page`] builds one [`Page`] from a charter and what is known beside it (ledger counts, audit
//! figures, earlier versions); [`Page::html`] and [`Page::markdown`] print the same page in two
//! forms. Nothing is written here that the charter or a promise does not say: a change of a number
//! in the charter is a change of the page, and the page names the digest of the charter it shows.

mod content;
mod document;
pub mod example;
mod html;
mod markdown;
mod prose;
pub mod stored;
pub(crate) mod words;

use std::collections::BTreeMap;

use crate::charter::{Charter, Lang};
use crate::digest::Digest;
use crate::event::Seq;

use document::Section;
pub use example::BadExample;

/// What the page shows beside the charter. All of it is optional: a charter alone makes a page.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PageFacts {
    /// The ledger in force, counted.
    pub ledger: Option<LedgerCounts>,
    /// The latest audit.
    pub audit: Option<AuditFigures>,
    /// Where the page stands in the other language, relative or absolute.
    pub other_lang_href: Option<String>,
    /// Every version of the charter so far, newest first.
    pub versions: Vec<CharterVersion>,
}

/// Size of a ledger (DECISIONS 40: rendered from the ledger, proved as "at most").
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LedgerCounts {
    /// Rows.
    pub targets: u64,
    /// Listed URLs.
    pub pages: u64,
    /// Hosts that they lie on.
    pub hosts: u64,
}

/// Figures of one audit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditFigures {
    /// Day of the audit, `YYYY-MM-DD` in the house's zone.
    pub date: String,
    /// By promise id. A promise that is not here was not audited.
    pub promises: BTreeMap<String, Standing>,
    /// The journal's published head.
    pub head: Option<PublishedHead>,
}

/// How one promise stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Checked against the journal; counts of checks.
    Checked {
        /// Came out well.
        kept: u64,
        /// Did not.
        broken: u64,
        /// Could not be made.
        undecidable: u64,
    },
    /// No program can prove it.
    Declared,
}

/// The end of the journal as published: nothing before it can change unseen (DECISIONS 4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PublishedHead {
    /// Hash of the entry's header.
    pub hash: Digest,
    /// The entry.
    pub seq: Seq,
    /// Day, `YYYY-MM-DD` in the house's zone.
    pub date: String,
}

/// One version of a charter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CharterVersion {
    /// 1, 2, …
    pub version: u32,
    /// Day it came into force, `YYYY-MM-DD` in the house's zone.
    pub date: String,
    /// Digest of its text.
    pub digest: Digest,
}

/// A policy page, ready to be printed.
#[derive(Clone, PartialEq, Debug)]
pub struct Page {
    lang: Lang,
    title: String,
    lead: String,
    glance: Vec<document::Row>,
    sections: Vec<Section>,
    other_lang_href: Option<String>,
    charter: Digest,
    updated: String,
}

/// Builds the page of a charter.
///
/// # Errors
/// An example robots.txt block would not do what the page says about it.
pub fn page(charter: &Charter, facts: &PageFacts, lang: Lang) -> Result<Page, BadExample> {
    Ok(Page {
        lang,
        title: prose::title(charter, lang),
        lead: prose::lead(charter, lang),
        glance: prose::glance(charter, facts, lang),
        sections: content::sections(charter, facts, lang)?,
        other_lang_href: facts.other_lang_href.clone(),
        charter: charter.digest,
        updated: charter.updated.clone(),
    })
}

impl Page {
    /// A complete HTML document: one file, no script, nothing fetched from elsewhere.
    #[must_use]
    pub fn html(&self) -> String {
        html::render(self).into_string()
    }

    /// The same page as Markdown (CommonMark with tables).
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::render(self)
    }
}
