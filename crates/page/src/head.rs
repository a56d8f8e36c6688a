//! What a document says of itself outside its text: title, language, base, canonical address,
//! signals; and the marks by which [`crate::needs`] tells a page that shows nothing.

use html5ever::local_name;
use scraper::node::Element;

use crate::dom::{Dom, NodeRef, attr};
use crate::line::{cut, fold};
use crate::signals::{self, Signal};

/// The longest title or reference kept, in bytes.
const LONGEST: usize = 2048;
/// The start of an inline script that is looked at for marks, in bytes.
const SCRIPT: usize = 4096;

/// One pass over all elements.
#[derive(Default)]
pub(crate) struct Head<'a> {
    pub(crate) title: Option<String>,
    pub(crate) lang: Option<String>,
    pub(crate) base: Option<String>,
    pub(crate) canonical: Option<String>,
    pub(crate) signals: Vec<Signal>,
    /// The `application/ld+json` scripts.
    pub(crate) json_ld: Vec<String>,
    pub(crate) marks: Marks<'a>,
}

/// What tells a wall from a page.
#[derive(Default)]
pub(crate) struct Marks<'a> {
    /// `src` of scripts and iframes, and `action` of forms.
    pub(crate) sources: Vec<&'a str>,
    /// The start of each inline script that is code.
    pub(crate) scripts: Vec<&'a str>,
    /// Ids, and the first class words, of elements.
    pub(crate) names: Vec<&'a str>,
    pub(crate) noscript: String,
    pub(crate) password_fields: usize,
    /// Fields to write into, passwords and search boxes left out.
    pub(crate) other_fields: usize,
    /// The `<meta http-equiv=refresh>` contents.
    pub(crate) refresh: Option<&'a str>,
}

pub(crate) fn head(dom: &Dom) -> Head<'_> {
    let mut head = Head::default();
    for node in dom.html.tree.nodes() {
        if let Some(element) = node.value().as_element()
            && node.parent().is_some()
        {
            head.element(node, element);
        }
    }
    head
}

impl<'a> Head<'a> {
    fn element(&mut self, node: NodeRef<'a>, element: &'a Element) {
        match element.name.local {
            local_name!("html") if self.lang.is_none() => {
                self.lang = attr(element, &local_name!("lang")).map(|l| cut(l, 64).to_owned());
            }
            local_name!("title") if self.title.is_none() && !in_svg(node) => {
                let title = fold(&text_of(node));
                self.title = Some(cut(&title, LONGEST).to_owned()).filter(|t| !t.is_empty());
            }
            local_name!("base") if self.base.is_none() => {
                self.base = attr(element, &local_name!("href")).map(reference);
            }
            local_name!("meta") => self.meta(element),
            local_name!("link") => self.link(element),
            local_name!("script") => self.script(node, element),
            local_name!("iframe") => {
                self.marks
                    .sources
                    .extend(attr(element, &local_name!("src")));
            }
            local_name!("form") => {
                self.marks
                    .sources
                    .extend(attr(element, &local_name!("action")));
            }
            local_name!("noscript") if self.marks.noscript.len() < SCRIPT => {
                self.marks.noscript.push_str(cut(&text_of(node), SCRIPT));
            }
            local_name!("input") => self.field(element),
            _ => {}
        }
        if let Some(id) = attr(element, &local_name!("id")) {
            self.marks.names.push(id);
        }
        if let Some(class) = attr(element, &local_name!("class")) {
            self.marks
                .names
                .extend(class.split_ascii_whitespace().take(2));
        }
    }

    fn meta(&mut self, element: &'a Element) {
        let content = attr(element, &local_name!("content")).unwrap_or_default();
        if let Some(name) = attr(element, &local_name!("name")) {
            signals::from_meta(name, content, &mut self.signals);
        } else if attr(element, &local_name!("http-equiv"))
            .is_some_and(|name| name.trim().eq_ignore_ascii_case("refresh"))
        {
            self.marks.refresh = self.marks.refresh.or(Some(content));
        }
    }

    fn link(&mut self, element: &Element) {
        let rel = attr(element, &local_name!("rel")).unwrap_or_default();
        let is = |name| {
            rel.split_ascii_whitespace()
                .any(|r| r.eq_ignore_ascii_case(name))
        };
        let Some(href) = attr(element, &local_name!("href")) else {
            return;
        };
        if self.canonical.is_none() && is("canonical") {
            self.canonical = Some(reference(href));
        }
        if is("license") {
            self.signals.push(signals::from_link(
                href,
                attr(element, &local_name!("type")),
            ));
        }
    }

    fn script(&mut self, node: NodeRef<'a>, element: &'a Element) {
        let kind = attr(element, &local_name!("type")).unwrap_or_default();
        let kind = kind
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase();
        if kind == "application/ld+json" {
            self.json_ld.push(text_of(node));
        } else if kind.is_empty() || kind == "module" || kind.ends_with("javascript") {
            self.marks
                .sources
                .extend(attr(element, &local_name!("src")));
            let code = node.first_child().and_then(|child| child.value().as_text());
            self.marks
                .scripts
                .extend(code.map(|code| cut(code, SCRIPT)));
        }
    }

    fn field(&mut self, element: &Element) {
        let kind = attr(element, &local_name!("type")).unwrap_or("text").trim();
        let is = |kinds: &[&str]| kinds.iter().any(|k| kind.eq_ignore_ascii_case(k));
        if is(&["password"]) {
            self.marks.password_fields += 1;
        } else if is(&["text", "email", "tel", "number", "date"]) {
            self.marks.other_fields += 1;
        }
    }
}

fn in_svg(title: NodeRef<'_>) -> bool {
    title
        .value()
        .as_element()
        .is_some_and(|e| e.name.ns != html5ever::ns!(html))
}

fn reference(value: &str) -> String {
    cut(value.trim(), LONGEST).to_owned()
}

/// The text directly in an element: enough for elements whose content is not markup.
fn text_of(node: NodeRef<'_>) -> String {
    node.children()
        .filter_map(|child| child.value().as_text())
        .map(|text| &**text)
        .collect()
}
