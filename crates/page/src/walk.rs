//! One pass over the tree, without recursion: visible lines with their locators, links, images.

use std::collections::HashMap;

use html5ever::local_name;
use scraper::Node;
use scraper::node::Element;
use url::Url;

use crate::dom::{Dom, NodeId, NodeRef, attr};
use crate::line::{Line, cut};
use crate::page::{Block, BlockKind, Cell, Image, Link, Locator, Region};
use crate::select::Selected;
use crate::{table, visible};

/// The longest heading kept in a locator, in bytes.
const HEADING: usize = 200;
/// The longest link text kept, in bytes.
const LINK_TEXT: usize = 400;
/// The longest reference kept, in bytes; longer ones (data URLs) are cut.
const REFERENCE: usize = 2048;

/// What the pass found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) blocks: Vec<Block>,
    pub(crate) links: Vec<Link>,
    pub(crate) images: Vec<Image>,
}

/// Walks the document. `base` is the page's absolute base, where one is known.
pub(crate) fn walk(dom: &Dom, selected: &Selected, base: Option<&Url>) -> Found {
    let mut walk = Walk {
        selected,
        base,
        found: Found::default(),
        open: Vec::new(),
        line: Line::default(),
        link_text: Line::default(),
        headings: Vec::new(),
        cells: HashMap::new(),
        elements: 0,
        tables: 0,
    };
    walk.run(dom.html.tree.root());
    walk.found
}

/// An open element.
struct Open<'a> {
    node: NodeId,
    element: &'a Element,
    ordinal: u32,
    region: Region,
    kind: BlockKind,
    cell: Option<NodeId>,
    block: bool,
    pre: bool,
    in_section: bool,
    shown: bool,
    /// The link it is, by index.
    link: Option<usize>,
    /// The headings to return to at its end: those of a menu do not head what follows it, nor
    /// is a menu or a footer headed by what happens to stand before it.
    outer_headings: Option<Vec<Heading>>,
}

#[derive(Clone)]
struct Heading {
    level: u8,
    element: u32,
    text: String,
}

struct Walk<'a> {
    selected: &'a Selected,
    base: Option<&'a Url>,
    found: Found,
    open: Vec<Open<'a>>,
    line: Line,
    link_text: Line,
    headings: Vec<Heading>,
    cells: HashMap<NodeId, Cell>,
    elements: u32,
    tables: u32,
}

impl<'a> Walk<'a> {
    fn run(&mut self, root: NodeRef<'a>) {
        let mut node = root;
        loop {
            let entered = match node.value() {
                Node::Element(element) => self.enter(node, element),
                Node::Text(text) => {
                    self.text(text);
                    false
                }
                Node::Document | Node::Fragment => true,
                _ => false,
            };
            if entered && let Some(child) = node.first_child() {
                node = child;
                continue;
            }
            if entered {
                self.leave(node.id());
            }
            node = loop {
                if let Some(next) = node.next_sibling() {
                    break next;
                }
                let Some(parent) = node.parent() else {
                    self.flush();
                    return;
                };
                self.leave(parent.id());
                node = parent;
            };
        }
    }

    /// Opens an element; `false` where nothing below it is read.
    fn enter(&mut self, node: NodeRef<'a>, element: &'a Element) -> bool {
        self.elements = self.elements.saturating_add(1);
        if visible::is_hidden(element) || self.selected.excludes(node.id()) {
            return false;
        }
        let outer = self.open.last();
        let in_section = outer.is_some_and(|o| o.in_section);
        let region = visible::region(element, in_section);
        let mut open = Open {
            node: node.id(),
            element,
            ordinal: self.elements,
            region: region.or(outer.map(|o| o.region)).unwrap_or(Region::Body),
            kind: visible::kind(element)
                .or(outer.map(|o| o.kind))
                .unwrap_or(BlockKind::Para),
            cell: outer.and_then(|o| o.cell),
            block: visible::is_block(element),
            pre: outer.is_some_and(|o| o.pre),
            in_section: in_section || visible::is_section(element),
            shown: outer.map_or(self.selected.all, |o| o.shown)
                || self.selected.includes(node.id()),
            link: outer.and_then(|o| o.link),
            outer_headings: None,
        };
        if matches!(
            region,
            Some(Region::Nav | Region::Aside | Region::Footer | Region::Dialog)
        ) {
            open.outer_headings = Some(self.headings.clone());
            if matches!(region, Some(Region::Nav | Region::Footer)) {
                self.headings.clear();
            }
        }
        if open.block {
            self.flush();
        }
        self.begin(node, &mut open);
        self.open.push(open);
        true
    }

    /// What particular elements do when they open.
    fn begin(&mut self, node: NodeRef<'a>, open: &mut Open<'a>) {
        match open.element.name.local {
            local_name!("a") | local_name!("area") => self.link(open),
            local_name!("img") if open.shown => self.image(open.element),
            local_name!("pre") | local_name!("textarea") | local_name!("xmp") => open.pre = true,
            local_name!("td") | local_name!("th") => open.cell = Some(open.node),
            local_name!("table") => {
                open.cell = None;
                table::place(node, self.tables, &mut self.cells);
                self.tables = self.tables.saturating_add(1);
            }
            local_name!("br") => self.flush(),
            local_name!("input") if open.shown => self.button(open),
            _ => {}
        }
    }

    /// Closes the element, if it is the innermost open one.
    fn leave(&mut self, node: NodeId) {
        if self.open.last().is_none_or(|open| open.node != node) {
            return;
        }
        if self.open.last().is_some_and(|open| open.block) {
            self.flush();
        }
        let Some(open) = self.open.pop() else { return };
        let outer_link = self.open.last().and_then(|outer| outer.link);
        if let Some(link) = open.link.filter(|_| open.link != outer_link) {
            let text = self.link_text.take();
            if let Some(link) = self.found.links.get_mut(link) {
                link.text = text;
            }
        }
        if let Some(headings) = open.outer_headings {
            self.headings = headings;
        }
    }

    fn text(&mut self, text: &str) {
        let Some(open) = self.open.last() else { return };
        if !open.shown {
            return;
        }
        if open.link.is_some() && self.link_text.len() < LINK_TEXT {
            self.link_text.push(cut(text, LINK_TEXT));
        }
        if open.pre {
            let mut lines = text.split('\n');
            self.line.push(lines.next().unwrap_or_default());
            for line in lines {
                self.flush();
                self.line.push(line);
            }
        } else {
            self.line.push(text);
        }
    }

    /// Ends the line, and keeps it as a block of the innermost block element.
    fn flush(&mut self) {
        let text = self.line.take();
        let blocks = || self.open.iter().rev().filter(|open| open.block);
        let Some(open) = blocks().next().filter(|_| !text.is_empty()) else {
            return;
        };
        let level = match open.kind {
            BlockKind::Heading(level) => Some(level),
            _ => None,
        };
        let (ordinal, owner) = (open.ordinal, open.cell);
        let above = self
            .headings
            .iter()
            .filter(|h| level.is_none_or(|level| h.level < level));
        let at = Locator {
            headings: above.map(|heading| heading.text.clone()).collect(),
            region: open.region,
            kind: open.kind,
            cell: owner.and_then(|cell| self.cells.get(&cell).cloned()),
            path: visible::path(blocks().map(|open| open.element)),
            node: ordinal,
        };
        if let Some(level) = level {
            self.head(level, ordinal, &text);
        }
        self.found.blocks.push(Block { text, at });
    }

    /// A heading takes the place of those of its level and below; its own lines add up.
    fn head(&mut self, level: u8, element: u32, text: &str) {
        if let Some(last) = self.headings.last_mut()
            && last.element == element
        {
            if last.text.len() < HEADING {
                last.text.push(' ');
                last.text.push_str(cut(text, HEADING));
            }
            return;
        }
        while self.headings.last().is_some_and(|last| last.level >= level) {
            self.headings.pop();
        }
        self.headings.push(Heading {
            level,
            element,
            text: cut(text, HEADING).to_owned(),
        });
    }

    fn link(&mut self, open: &mut Open<'a>) {
        let Some(href) = attr(open.element, &local_name!("href")).filter(|_| open.shown) else {
            return;
        };
        let href = cut(href.trim(), REFERENCE).to_owned();
        let rel = attr(open.element, &local_name!("rel")).unwrap_or_default();
        self.link_text.take();
        open.link = Some(self.found.links.len());
        self.found.links.push(Link {
            url: self
                .base
                .and_then(|base| base.join(&href).ok())
                .map(String::from),
            href,
            text: String::new(),
            rel: rel
                .split_ascii_whitespace()
                .map(str::to_ascii_lowercase)
                .collect(),
            region: open.region,
        });
    }

    fn image(&mut self, image: &Element) {
        let src = attr(image, &local_name!("src"))
            .map(str::trim)
            .unwrap_or_default();
        let lazy = || {
            let lazy = ["data-src", "data-original", "data-lazy-src"];
            let named = |wanted| image.attrs.iter().find(|(name, _)| &*name.local == wanted);
            lazy.into_iter()
                .find_map(named)
                .map(|(_, value)| value.trim())
        };
        let placeholder = src.is_empty() || src.starts_with("data:");
        let src = if placeholder {
            lazy().unwrap_or(src)
        } else {
            src
        };
        if !src.is_empty() {
            let alt = attr(image, &local_name!("alt")).map(crate::line::fold);
            self.found.images.push(Image {
                src: cut(src, REFERENCE).to_owned(),
                alt,
            });
        }
    }

    /// The words on an `input` button are visible text.
    fn button(&mut self, open: &mut Open<'a>) {
        let kind = attr(open.element, &local_name!("type")).unwrap_or_default();
        let is = |name: &str| kind.eq_ignore_ascii_case(name);
        if is("submit") || is("button") || is("reset") {
            self.flush();
            open.block = true;
            open.kind = BlockKind::Button;
            self.line
                .push(attr(open.element, &local_name!("value")).unwrap_or_default());
        }
    }
}
