//! What a reading of a page consists of: the types that every other part of Reigi sees.

use serde::Serialize;
use url::Url;

use crate::charset::{self, Charset, Markup};
use crate::dom::{self, Dom};
use crate::line::cut;
use crate::mime::{self, Sort};
use crate::select::Select;
use crate::signals::Signal;
use crate::{head, needs, structured, walk, xml};

/// What came out of the bytes of one answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub enum Read {
    /// Text: an HTML page, an XML feed or plain text ([`Page::kind`] says which).
    Html(Box<Page>),
    /// No text is claimed: only "the file changed" can be said, by digest.
    Other(Other),
}

/// An answer of which no text is claimed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Other {
    /// The declared media type, or a guess from the first bytes.
    pub mime: String,
    /// Why no text is claimed.
    pub why: Why,
}

/// Why no text is claimed of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// PDF, image, JSON, archive: not a text for readers.
    NotText,
    /// More bytes than [`Page::MAX_BYTES`].
    TooLarge,
    /// The markup would build a tree beyond our bounds (nodes, or attributes of one tag).
    TooComplex,
}

/// What sort of text the page was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Html,
    /// RSS, Atom and other XML.
    Xml,
    /// Plain text: one block a line.
    Text,
}

/// One reading of one page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Page {
    pub kind: Kind,
    pub charset: Charset,
    pub title: Option<String>,
    /// `<html lang>`, as written.
    pub lang: Option<String>,
    /// The visible text in document order.
    pub blocks: Vec<Block>,
    pub links: Vec<Link>,
    pub images: Vec<Image>,
    pub structured: Structured,
    /// Signals in the page itself; those of the answer's headers come from
    /// `signals_from_headers`.
    pub signals: Vec<Signal>,
    /// What the page needs before it shows its text, where it does.
    pub needs: Option<Needs>,
    /// `<link rel=canonical>`, resolved where the base is absolute.
    pub canonical: Option<String>,
    /// `<base href>`, as written.
    pub base: Option<String>,
    /// Malformed things seen, at most [`Page::MAX_NOTES`].
    pub notes: Vec<String>,
}

/// One visible line of text, white space folded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Block {
    pub text: String,
    pub at: Locator,
}

/// Where on the page a block stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Locator {
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    pub region: Region,
    pub kind: BlockKind,
    /// Set for text inside a table cell.
    pub cell: Option<Cell>,
    /// A short css-like path of the element, for people and for matching across versions.
    pub path: String,
    /// Ordinal of the block's element in the document.
    pub node: u32,
}

/// The part of the page that an element belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    Main,
    Nav,
    Header,
    Footer,
    Aside,
    Dialog,
    /// None of the named regions.
    Body,
}

/// What sort of element shows the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockKind {
    /// `h1` to `h6`.
    Heading(u8),
    Para,
    /// List item.
    Item,
    /// Table cell.
    Cell,
    Caption,
    Term,
    Definition,
    Button,
    /// `option` of a `select`.
    Choice,
    Summary,
    Label,
    Pre,
}

/// The place of a table cell, spans resolved; all ordinals count from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// Ordinal of the table in the document.
    pub table: u32,
    pub row: u32,
    pub column: u32,
    /// Text of the header cell that heads the row.
    pub row_label: Option<String>,
    /// Text of the header cell that heads the column.
    pub col_label: Option<String>,
}

/// A reference to another page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// As written, surrounding white space removed.
    pub href: String,
    /// Against the base, where an absolute one is known.
    pub url: Option<String>,
    pub text: String,
    pub rel: Vec<String>,
    pub region: Region,
}

/// A reference to an image. Never fetched; its alt text is not text of the page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Image {
    pub src: String,
    pub alt: Option<String>,
}

/// Structured data: items `{"syntax": "json-ld" | "microdata" | "rdfa", "value": …}`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Structured {
    pub items: Vec<serde_json::Value>,
}

/// What a page needs before it shows its text; such an answer confirms nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    Script,
    CookieWall,
    Login,
    /// A challenge of a bot protection: which one.
    Challenge(&'static str),
}

impl Page {
    /// The largest body, in bytes, that is parsed.
    pub const MAX_BYTES: usize = 64 << 20;
    /// The most notes that are kept.
    pub const MAX_NOTES: usize = 32;

    /// Reads the body of an answer. `content_type` is the header's value as it came.
    pub fn read(body: &[u8], content_type: Option<&str>) -> Read {
        Self::read_with(body, content_type, &Select::default())
    }

    /// Reads the parts of a page that `select` is about.
    pub fn read_with(body: &[u8], content_type: Option<&str>, select: &Select) -> Read {
        let declared = || content_type.unwrap_or("text/html").to_owned();
        if body.len() > Self::MAX_BYTES {
            return Read::Other(Other {
                mime: declared(),
                why: Why::TooLarge,
            });
        }
        let kind = match mime::sort(body, content_type) {
            Sort::Text(kind) => kind,
            Sort::Opaque(mime) => {
                return Read::Other(Other {
                    mime,
                    why: Why::NotText,
                });
            }
        };
        let markup = match kind {
            Kind::Html => Markup::Html,
            Kind::Xml => Markup::Xml,
            Kind::Text => Markup::None,
        };
        let (text, charset) = charset::decode(body, content_type, markup);
        let mut page = Self::empty(kind, charset);
        match kind {
            Kind::Html => match dom::parse(&text) {
                Some(dom) => page.fill(&dom, select),
                None => {
                    return Read::Other(Other {
                        mime: declared(),
                        why: Why::TooComplex,
                    });
                }
            },
            Kind::Xml => xml::read(&text, &mut page),
            Kind::Text => xml::read_plain(&text, &mut page),
        }
        Read::Html(Box::new(page))
    }

    fn empty(kind: Kind, charset: Charset) -> Self {
        let mut page = Self {
            kind,
            charset,
            title: None,
            lang: None,
            blocks: Vec::new(),
            links: Vec::new(),
            images: Vec::new(),
            structured: Structured::default(),
            signals: Vec::new(),
            needs: None,
            canonical: None,
            base: None,
            notes: Vec::new(),
        };
        if page.charset.malformed {
            page.note(format!("bytes that are not {}", page.charset.name));
        }
        page
    }

    fn fill(&mut self, dom: &Dom, select: &Select) {
        let head = head::head(dom);
        let base = head.base.as_deref().and_then(|base| Url::parse(base).ok());
        let found = walk::walk(dom, &select.resolve(dom), base.as_ref());
        if dom.flattened {
            self.note(format!(
                "nested deeper than {} elements: flattened",
                dom::DEEPEST
            ));
        }
        let mut notes = Vec::new();
        self.structured = structured::read(dom, &head.json_ld, &mut notes);
        notes.into_iter().for_each(|note| self.note(note));
        (self.blocks, self.links, self.images) = (found.blocks, found.links, found.images);
        (self.title, self.lang, self.signals) = (head.title, head.lang, head.signals);
        self.canonical = head.canonical.map(|href| match &base {
            Some(base) => base.join(&href).map_or(href, String::from),
            None => href,
        });
        self.base = head.base;
        self.needs = needs::needs(self, &head.marks);
    }

    /// Keeps a note, as long as there are few.
    pub(crate) fn note(&mut self, note: String) {
        if self.notes.len() < Self::MAX_NOTES {
            self.notes.push(cut(&note, 300).to_owned());
        }
    }

    /// A reference of this page as an absolute address, `page` being the page's own.
    pub fn resolve(&self, page: &Url, href: &str) -> Option<Url> {
        let base = self.base.as_deref().and_then(|base| page.join(base).ok());
        base.as_ref().unwrap_or(page).join(href.trim()).ok()
    }

    /// The visible text: the blocks joined by line feeds.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.blocks.iter().map(|b| b.text.len() + 1).sum());
        for block in &self.blocks {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&block.text);
        }
        text
    }
}
