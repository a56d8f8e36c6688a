//! XML such as feeds: its character data as text, without a DTD, entities or a vocabulary.
//!
//! A tolerant scan, not a parser: an element's text is one block, with the element's path; CDATA
//! is text; the five predefined and the numeric references are resolved and no others, nothing is
//! ever read from outside. Markup inside the text (feeds escape HTML) is read as HTML for its
//! words. Addresses are taken from `href` attributes, and from elements named `link` or `loc`.

use crate::line::{Line, cut, fold};
use crate::page::{Block, BlockKind, Link, Locator, Page, Region};
use crate::{dom, select, walk};

/// The most blocks of one document.
const BLOCKS: usize = 200_000;
/// The deepest path that is followed.
const DEEPEST: usize = 64;

pub(crate) fn read(xml: &str, page: &mut Page) {
    let mut scan = Scan {
        page,
        path: Vec::new(),
        text: String::new(),
        elements: 0,
    };
    let mut rest = xml;
    while let Some((text, tail)) = rest.split_once('<') {
        scan.text.push_str(&unescape(text));
        rest = if let Some(cdata) = tail.strip_prefix("![CDATA[") {
            let (data, tail) = cdata.split_once("]]>").unwrap_or((cdata, ""));
            scan.text.push_str(data);
            tail
        } else if let Some(comment) = tail.strip_prefix("!--") {
            comment.split_once("-->").map_or("", |(_, tail)| tail)
        } else if tail.starts_with(['!', '?']) {
            tail.split_once('>').map_or("", |(_, tail)| tail)
        } else {
            let (tag, tail) = tail.split_once('>').unwrap_or((tail, ""));
            scan.tag(tag);
            tail
        };
        if scan.page.blocks.len() >= BLOCKS {
            scan.page.note("more text than is kept".to_owned());
            return;
        }
    }
    scan.text.push_str(&unescape(rest));
    scan.flush();
}

struct Scan<'p, 'x> {
    page: &'p mut Page,
    path: Vec<&'x str>,
    text: String,
    elements: u32,
}

impl<'x> Scan<'_, 'x> {
    fn tag(&mut self, tag: &'x str) {
        self.flush();
        if let Some(name) = tag.strip_prefix('/') {
            let name = name.trim();
            if let Some(at) = self.path.iter().rposition(|open| *open == name) {
                self.path.truncate(at);
            }
            return;
        }
        self.elements = self.elements.saturating_add(1);
        let name = tag
            .split(|c: char| c.is_whitespace() || c == '/')
            .next()
            .unwrap_or_default();
        if let Some(href) = attribute(tag, "href") {
            self.link(&unescape(href));
        }
        if !tag.ends_with('/') && self.path.len() < DEEPEST {
            self.path.push(name);
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let line = fold(&text);
        if line.is_empty() {
            return;
        }
        let name = self.path.last().copied().unwrap_or_default();
        match name {
            "link" | "loc" => return self.link(line.trim()),
            "title" if self.page.title.is_none() => self.page.title = Some(line.clone()),
            _ => {}
        }
        if line.contains('<') && line.contains('>') {
            let Some(dom) = dom::parse(&text) else { return };
            let selected = select::Select::default().resolve(&dom);
            for block in walk::walk(&dom, &selected, None).blocks {
                self.block(block.text);
            }
        } else {
            self.block(line);
        }
    }

    fn block(&mut self, text: String) {
        let steps = self.path.len().saturating_sub(4);
        let at = Locator {
            headings: Vec::new(),
            region: Region::Body,
            kind: BlockKind::Para,
            cell: None,
            path: cut(&self.path.get(steps..).unwrap_or_default().join(">"), 256).to_owned(),
            node: self.elements,
        };
        self.page.blocks.push(Block { text, at });
    }

    fn link(&mut self, href: &str) {
        self.page.links.push(Link {
            href: cut(href.trim(), 2048).to_owned(),
            url: None,
            text: String::new(),
            rel: Vec::new(),
            region: Region::Body,
        });
    }
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, value) = tag.split_once(&format!(" {name}="))?;
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value.get(1..)?.split(quote).next()
}

/// Resolves the predefined and numeric references; any other stays as written.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('&') {
        out.push_str(before);
        let end = tail.bytes().take(12).position(|b| b == b';');
        let resolved =
            end.and_then(|end| Some((reference(tail.get(..end)?)?, tail.get(end + 1..)?)));
        match resolved {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push('&');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

fn reference(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

/// Plain text: one block a line.
pub(crate) fn read_plain(text: &str, page: &mut Page) {
    for (number, text) in text.split(['\n', '\r']).enumerate() {
        let mut line = Line::default();
        line.push(text);
        let text = line.take();
        if text.is_empty() {
            continue;
        }
        let at = Locator {
            headings: Vec::new(),
            region: Region::Body,
            kind: BlockKind::Pre,
            cell: None,
            path: String::new(),
            node: u32::try_from(number).unwrap_or(u32::MAX),
        };
        page.blocks.push(Block { text, at });
    }
}
