//! The page between content and print: sections of blocks, so that HTML and Markdown say the same.

use super::Standing;

/// A part of a line.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Inline {
    /// Plain words.
    Text(String),
    /// To be copied byte for byte.
    Code(String),
    /// A link.
    Link {
        /// Target.
        href: String,
        /// Words.
        text: String,
    },
}

/// A run of words.
pub(super) type Line = Vec<Inline>;

/// A term and what is said about it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Row {
    pub(super) term: String,
    pub(super) line: Line,
}

/// One promise on the page; its anchor is the promise's id.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sentence {
    pub(super) anchor: String,
    pub(super) title: String,
    pub(super) text: String,
    /// Standing, and the same in words; `None` where nothing was audited.
    pub(super) standing: Option<(Standing, String)>,
}

/// A block of a section.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Block {
    /// Words.
    Paragraph(Line),
    /// A sub-heading.
    Heading(String),
    /// Lines to be copied as they are, under a sentence that says what they do.
    Code { says: String, text: String },
    /// Items.
    List(Vec<Line>),
    /// Terms and their meaning.
    Rows(Vec<Row>),
    /// A table with column headings; the first column heads its row.
    Table {
        caption: String,
        head: Vec<String>,
        rows: Vec<Vec<Line>>,
    },
    /// Promises.
    Promises(Vec<Sentence>),
}

/// A section of the page.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Section {
    pub(super) anchor: &'static str,
    pub(super) title: String,
    pub(super) blocks: Vec<Block>,
}

/// Plain words.
pub(super) fn text(words: impl Into<String>) -> Line {
    vec![Inline::Text(words.into())]
}

/// Something to copy.
pub(super) fn code(words: impl Into<String>) -> Line {
    vec![Inline::Code(words.into())]
}

/// A link.
pub(super) fn link(href: impl Into<String>, words: impl Into<String>) -> Line {
    vec![Inline::Link {
        href: href.into(),
        text: words.into(),
    }]
}
