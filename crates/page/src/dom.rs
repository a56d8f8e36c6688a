//! From text to a tree, within bounds of time and memory.
//!
//! The parser is html5ever, the tree scraper's. Both work without recursion, but some of their
//! steps walk all open elements or all attributes of a tag, so hostile markup could make them
//! quadratic. [`parse`] therefore counts what goes in: elements nested deeper than [`DEEPEST`]
//! are dropped (their text stays, in the element above; browsers do the same), and a tree of more
//! than [`NODES`] nodes, or a tag of more than [`ATTRIBUTES`] attributes, is refused.

use std::cell::{Cell, RefCell};

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, EndTag, StartTag, Tag, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer,
};
use html5ever::tree_builder::{TreeBuilder, TreeSink};
use html5ever::{LocalName, TokenizerResult, local_name};
use scraper::node::Element;
use scraper::{Html, HtmlTreeSink};

pub(crate) type NodeRef<'a> = ego_tree::NodeRef<'a, scraper::Node>;
pub(crate) type NodeId = ego_tree::NodeId;

/// The deepest nesting of elements that is kept, as in browsers.
pub(crate) const DEEPEST: usize = 512;
/// The most nodes of a tree.
pub(crate) const NODES: usize = 2_000_000;
/// The most attributes of one tag.
pub(crate) const ATTRIBUTES: usize = 512;
/// Start tags of `html` and `body` that may add attributes to the one element.
const ROOTS: usize = 16;
/// Bytes handed to the parser at once.
const PIECE: usize = 64 << 10;

/// A parsed document, and whether some of its nesting was flattened.
pub(crate) struct Dom {
    pub(crate) html: Html,
    pub(crate) flattened: bool,
}

/// Parses a document; nothing where it is beyond the bounds.
pub(crate) fn parse(text: &str) -> Option<Dom> {
    if has_crowded_tag(text.as_bytes()) {
        return None;
    }
    let builder = TreeBuilder::new(HtmlTreeSink::new(Html::new_document()), Default::default());
    let bounded = Bounded {
        builder,
        open: RefCell::default(),
        roots: Cell::new(0),
        flattened: Cell::new(false),
        overfull: Cell::new(false),
    };
    let tokenizer = Tokenizer::new(bounded, Default::default());
    let input = BufferQueue::default();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(rest.floor_char_boundary(PIECE));
        rest = tail;
        input.push_back(StrTendril::from_slice(piece));
        // Scripts are not run and the charset is settled: only the end of the piece stops.
        while !matches!(tokenizer.feed(&input), TokenizerResult::Done) {}
        if tokenizer.sink.overfull.get() {
            return None;
        }
    }
    tokenizer.end();
    let Bounded {
        builder,
        flattened,
        overfull,
        ..
    } = tokenizer.sink;
    let html = builder.sink.finish();
    (!overfull.get()).then_some(Dom {
        html,
        flattened: flattened.get(),
    })
}

/// Hands tokens on to the tree builder as long as they keep the tree within bounds.
struct Bounded {
    builder: TreeBuilder<NodeId, HtmlTreeSink>,
    open: RefCell<OpenElements>,
    roots: Cell<usize>,
    flattened: Cell<bool>,
    overfull: Cell<bool>,
}

impl TokenSink for Bounded {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<NodeId> {
        if self.overfull.get() {
            return TokenSinkResult::Continue;
        }
        if let TagToken(tag) = &token
            && !self.admits(tag)
        {
            return TokenSinkResult::Continue;
        }
        let result = self.builder.process_token(token, line);
        self.check();
        result
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder
            .adjusted_current_node_present_but_not_in_html_namespace()
    }
}

impl Bounded {
    /// Gives up on a tree that outgrows its bounds. The depth that was let in is an estimate;
    /// here the tree itself is asked, now and then.
    fn check(&self) {
        let tree = &self.builder.sink.0.borrow().tree;
        let nodes = tree.values().len();
        let depth = || {
            tree.nodes()
                .next_back()
                .map_or(0, |node| node.ancestors().count())
        };
        if nodes > NODES || (nodes.is_multiple_of(256) && depth() > 4 * DEEPEST) {
            self.overfull.set(true);
        }
    }

    fn admits(&self, tag: &Tag) -> bool {
        let mut open = self.open.borrow_mut();
        match tag.kind {
            StartTag => {
                if matches!(tag.name, local_name!("html") | local_name!("body")) {
                    self.roots.set(self.roots.get() + 1);
                    return self.roots.get() <= ROOTS;
                }
                open.close_implied(&tag.name);
                if tag.self_closing || is_void(&tag.name) {
                    return true;
                }
                let fits = open.push(tag.name.clone());
                self.flattened.set(self.flattened.get() || !fits);
                fits
            }
            EndTag => open.close(&tag.name),
        }
    }
}

/// The open elements, about as the tree builder sees them.
#[derive(Default)]
struct OpenElements {
    /// Names, and whether the tree builder has been told of them.
    elements: Vec<(LocalName, bool)>,
    /// How many it has been told of.
    told: usize,
}

impl OpenElements {
    /// Opens an element; `false` where it would be too deep. The tokenizer must hear of elements
    /// whose content is not markup at any depth; these do not nest, so there is room for a few.
    fn push(&mut self, name: LocalName) -> bool {
        let deepest = if is_raw(&name) { DEEPEST + 8 } else { DEEPEST };
        let fits = self.told < deepest;
        self.told += usize::from(fits);
        self.elements.push((name, fits));
        fits
    }

    /// Closes the nearest element of that name; `false` where the tree builder does not know it.
    fn close(&mut self, name: &LocalName) -> bool {
        let Some(at) = self.reach(std::slice::from_ref(name), |_| true) else {
            return true;
        };
        let told = self.elements.get(at).is_some_and(|(_, told)| *told);
        self.truncate(at);
        told
    }

    /// The nearest of these elements, no further down than `passes` allows.
    fn reach(&self, names: &[LocalName], passes: fn(&LocalName) -> bool) -> Option<usize> {
        for (at, (name, _)) in self.elements.iter().enumerate().rev().take(DEEPEST) {
            if names.contains(name) {
                return Some(at);
            }
            if !passes(name) {
                return None;
            }
        }
        None
    }

    fn truncate(&mut self, length: usize) {
        let closed = self.elements.drain(length..);
        self.told -= closed.filter(|(_, told)| *told).count();
    }

    /// Closes what the start tag `name` ends without an end tag.
    fn close_implied(&mut self, name: &LocalName) {
        let in_table = |name: &LocalName| {
            !matches!(
                *name,
                local_name!("table") | local_name!("svg") | local_name!("math")
            )
        };
        let in_item = |name: &LocalName| {
            is_phrase(name)
                || matches!(
                    *name,
                    local_name!("div") | local_name!("p") | local_name!("address")
                )
        };
        let ended = match *name {
            local_name!("li") => self.reach(&[local_name!("li")], in_item),
            local_name!("dt") | local_name!("dd") => {
                self.reach(&[local_name!("dt"), local_name!("dd")], in_item)
            }
            local_name!("td") | local_name!("th") => {
                self.reach(&[local_name!("td"), local_name!("th")], in_table)
            }
            local_name!("tr") => self.reach(&[local_name!("tr")], in_table),
            local_name!("tbody") | local_name!("thead") | local_name!("tfoot") => self.reach(
                &[
                    local_name!("tbody"),
                    local_name!("thead"),
                    local_name!("tfoot"),
                ],
                in_table,
            ),
            local_name!("option") => self.reach(&[local_name!("option")], |_| false),
            local_name!("a") => self.reach(&[local_name!("a")], is_phrase),
            _ => None,
        };
        if let Some(at) = ended {
            self.truncate(at);
        } else if !is_phrase(name)
            && let Some(at) = self.reach(&[local_name!("p")], is_phrase)
        {
            self.truncate(at);
        }
    }
}

/// Elements within a line, which do not end a paragraph.
fn is_phrase(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("a")
            | local_name!("abbr")
            | local_name!("b")
            | local_name!("big")
            | local_name!("button")
            | local_name!("cite")
            | local_name!("code")
            | local_name!("em")
            | local_name!("font")
            | local_name!("i")
            | local_name!("label")
            | local_name!("mark")
            | local_name!("nobr")
            | local_name!("q")
            | local_name!("ruby")
            | local_name!("s")
            | local_name!("small")
            | local_name!("span")
            | local_name!("strike")
            | local_name!("strong")
            | local_name!("sub")
            | local_name!("sup")
            | local_name!("time")
            | local_name!("tt")
            | local_name!("u")
    )
}

/// Elements that never have content.
fn is_void(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("area")
            | local_name!("base")
            | local_name!("br")
            | local_name!("col")
            | local_name!("embed")
            | local_name!("hr")
            | local_name!("img")
            | local_name!("input")
            | local_name!("link")
            | local_name!("meta")
            | local_name!("param")
            | local_name!("source")
            | local_name!("track")
            | local_name!("wbr")
    )
}

/// Elements whose content is not markup: the tokenizer must hear of them at any depth.
fn is_raw(name: &LocalName) -> bool {
    matches!(
        *name,
        local_name!("script")
            | local_name!("style")
            | local_name!("textarea")
            | local_name!("title")
            | local_name!("noscript")
            | local_name!("iframe")
            | local_name!("xmp")
            | local_name!("noembed")
            | local_name!("noframes")
            | local_name!("plaintext")
    )
}

/// Whether some tag has more than [`ATTRIBUTES`] attributes. One pass; knows comments and the
/// elements whose content is not markup (inside `svg` and `math` it is).
fn has_crowded_tag(bytes: &[u8]) -> bool {
    let (mut rest, mut foreign) = (bytes, false);
    while let Some(at) = rest.iter().position(|b| *b == b'<') {
        rest = rest.get(at + 1..).unwrap_or_default();
        if let Some(comment) = rest.strip_prefix(b"!--") {
            rest = after_comment(comment);
            continue;
        }
        let end = rest.first() == Some(&b'/');
        let named = if end {
            rest.get(1..).unwrap_or_default()
        } else {
            rest
        };
        if !named.first().is_some_and(u8::is_ascii_alphabetic) {
            continue;
        }
        let name = named
            .split(|b| !b.is_ascii_alphanumeric())
            .next()
            .unwrap_or_default();
        let Some(tail) = tag_end(named) else {
            return true;
        };
        rest = tail;
        let is = |names: &[&[u8]]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        if is(&[b"svg", b"math"]) {
            foreign = !end;
        } else if !end && !foreign && is(RAW) {
            rest = after_end_tag(tail, name);
        }
    }
    false
}

/// Elements whose content the scan steps over.
const RAW: &[&[u8]] = &[
    b"script",
    b"style",
    b"textarea",
    b"title",
    b"noscript",
    b"iframe",
    b"xmp",
    b"noframes",
];

/// What follows a comment, of which `bytes` is what came after `<!--`.
fn after_comment(bytes: &[u8]) -> &[u8] {
    if let Some(rest) = bytes
        .strip_prefix(b">")
        .or_else(|| bytes.strip_prefix(b"->"))
    {
        return rest;
    }
    let at = bytes.windows(3).position(|w| w == b"-->" || w == b"--!");
    at.and_then(|at| bytes.get(at + 3..)).unwrap_or_default()
}

/// What follows the next end tag of that name; empty where there is none.
fn after_end_tag<'a>(bytes: &'a [u8], name: &[u8]) -> &'a [u8] {
    let mut rest = bytes;
    while let Some(at) = rest.windows(2).position(|w| w == b"</") {
        rest = rest.get(at + 2..).unwrap_or_default();
        if rest
            .get(..name.len())
            .is_some_and(|n| n.eq_ignore_ascii_case(name))
        {
            return rest;
        }
    }
    &[]
}

/// What follows the tag, or nothing where it has too many attributes.
fn tag_end(tag: &[u8]) -> Option<&[u8]> {
    let (mut names, mut quote, mut between, mut value) = (0, None, false, false);
    for (at, byte) in tag.iter().enumerate() {
        match (quote, byte) {
            (Some(q), b) => {
                if b == q {
                    quote = None;
                    (between, value) = (true, false);
                }
            }
            (None, b'>') => return Some(tag.get(at + 1..).unwrap_or_default()),
            (None, q @ (b'"' | b'\'')) if value => quote = Some(q),
            (None, b'=') => value = true,
            (None, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' | b'/') => between = true,
            (None, _) => {
                if between && !value {
                    names += 1;
                }
                (between, value) = (false, false);
            }
        }
        if names > ATTRIBUTES {
            return None;
        }
    }
    Some(&[])
}

/// The value of an attribute.
pub(crate) fn attr<'a>(element: &'a Element, name: &LocalName) -> Option<&'a str> {
    let (_, value) = element.attrs.iter().find(|(n, _)| n.local == *name)?;
    Some(value)
}

/// The next node in document order that is not below `node`, and not outside `top`.
pub(crate) fn next_after<'a>(node: NodeRef<'a>, top: NodeId) -> Option<NodeRef<'a>> {
    let mut node = node;
    while node.id() != top {
        if let Some(next) = node.next_sibling() {
            return Some(next);
        }
        node = node.parent()?;
    }
    None
}
