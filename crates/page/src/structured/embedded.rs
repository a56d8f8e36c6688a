//! Structured data in attributes: microdata and RDFa Lite, in the shape of JSON-LD.
//!
//! An item becomes `{"@type": …, "@id": …, name: value | [values]}`; a nested item is the value of
//! its property. References between items by `itemref` are followed once per item.

use std::collections::HashMap;

use html5ever::local_name;
use scraper::node::Element;
use serde_json::{Map, Value};

use crate::dom::{Dom, NodeId, NodeRef, next_after};
use crate::line::{Line, cut, fold};

/// The longest value kept, in bytes.
const LONGEST: usize = 8192;
/// The most nodes looked at for the text of one value.
const VALUE_NODES: usize = 2000;
/// The most elements visited for one page's items, `itemref`s included.
const VISITS: usize = 4_000_000;
/// The most items read, `itemref`s included: references could multiply them without end.
const ITEMS: usize = 20_000;
/// The deepest nesting of items.
const DEEPEST: usize = 32;

/// The names of a syntax's attributes.
struct Syntax {
    /// Opens an item.
    scope: &'static str,
    types: &'static str,
    property: &'static str,
    id: &'static str,
    references: Option<&'static str>,
}

const MICRODATA: Syntax = Syntax {
    scope: "itemscope",
    types: "itemtype",
    property: "itemprop",
    id: "itemid",
    references: Some("itemref"),
};

const RDFA: Syntax = Syntax {
    scope: "typeof",
    types: "typeof",
    property: "property",
    id: "resource",
    references: None,
};

/// The top-level microdata items.
pub(super) fn microdata(dom: &Dom) -> Vec<Value> {
    read(dom, &MICRODATA)
}

/// The top-level RDFa Lite items.
pub(super) fn rdfa(dom: &Dom) -> Vec<Value> {
    read(dom, &RDFA)
}

/// An item that is being put together.
struct Item {
    /// The element whose end closes it.
    node: NodeId,
    properties: Map<String, Value>,
    /// The names by which it is a value of the item around it.
    named: Vec<String>,
}

struct Reader<'a> {
    syntax: &'a Syntax,
    ids: HashMap<&'a str, NodeRef<'a>>,
    visits: usize,
    items: usize,
    top: Vec<Value>,
    open: Vec<Item>,
}

fn read(dom: &Dom, syntax: &Syntax) -> Vec<Value> {
    let scoped = |e: &Element| named(e, syntax.scope).is_some();
    if !dom
        .html
        .tree
        .values()
        .any(|node| node.as_element().is_some_and(scoped))
    {
        return Vec::new();
    }
    let root = dom.html.tree.root();
    let mut reader = Reader {
        syntax,
        ids: HashMap::new(),
        visits: 0,
        items: 0,
        top: Vec::new(),
        open: Vec::new(),
    };
    if let Some(references) = syntax.references {
        let refers = |e: &Element| named(e, references).is_some();
        if dom
            .html
            .tree
            .values()
            .any(|node| node.as_element().is_some_and(refers))
        {
            for node in root.descendants() {
                if let Some(id) = node.value().as_element().and_then(|e| named(e, "id")) {
                    reader.ids.entry(id).or_insert(node);
                }
            }
        }
    }
    reader.subtree(root);
    reader.top
}

impl<'a> Reader<'a> {
    /// Reads everything below `top`, and `top` itself.
    fn subtree(&mut self, top: NodeRef<'a>) {
        let depth = self.open.len();
        let mut next = Some(top);
        while let Some(node) = next {
            self.visits += 1;
            if self.visits > VISITS {
                break;
            }
            if let Some(element) = node.value().as_element() {
                self.element(node, element);
            }
            next = node.first_child().or_else(|| {
                let next = next_after(node, top.id());
                self.close_left(node, next, depth);
                next
            });
        }
        while self.open.len() > depth {
            self.close();
        }
    }

    /// Closes the items that the step from `node` to `next` leaves.
    fn close_left(&mut self, node: NodeRef<'a>, next: Option<NodeRef<'a>>, depth: usize) {
        let stays = next
            .and_then(|next| next.parent())
            .map(|parent| parent.id());
        let mut node = Some(node);
        while let Some(left) = node.filter(|n| Some(n.id()) != stays) {
            if self.open.len() > depth && self.open.last().is_some_and(|i| i.node == left.id()) {
                self.close();
            }
            node = left.parent();
        }
    }

    fn element(&mut self, node: NodeRef<'a>, element: &'a Element) {
        let names: Vec<String> = named(element, self.syntax.property)
            .map(|names| {
                names
                    .split_ascii_whitespace()
                    .map(|n| cut(n, 256).to_owned())
                    .collect()
            })
            .unwrap_or_default();
        if named(element, self.syntax.scope).is_some()
            && self.open.len() < DEEPEST
            && self.items < ITEMS
        {
            self.items += 1;
            self.open_item(node, element, names);
        } else if let (Some(item), false) = (self.open.last_mut(), names.is_empty()) {
            let value = value(node, element);
            for name in names {
                add(&mut item.properties, name, value.clone());
            }
        }
    }

    fn open_item(&mut self, node: NodeRef<'a>, element: &'a Element, named_as: Vec<String>) {
        let mut properties = Map::new();
        let types = named(element, self.syntax.types).unwrap_or_default();
        let vocabulary = named(element, "vocab");
        for kind in types.split_ascii_whitespace() {
            let kind = match vocabulary {
                Some(vocabulary) if !kind.contains(':') => format!("{vocabulary}{kind}"),
                _ => kind.to_owned(),
            };
            add(
                &mut properties,
                "@type".to_owned(),
                Value::String(cut(&kind, 512).to_owned()),
            );
        }
        if let Some(id) = named(element, self.syntax.id) {
            properties.insert(
                "@id".to_owned(),
                Value::String(cut(id.trim(), 512).to_owned()),
            );
        }
        self.open.push(Item {
            node: node.id(),
            properties,
            named: named_as,
        });
        let references = self
            .syntax
            .references
            .and_then(|r| named(element, r))
            .unwrap_or_default();
        for id in references.split_ascii_whitespace().take(32) {
            // Removed while it is read, so that no reference goes in a circle.
            if let Some(target) = self.ids.remove(id) {
                if !node.ancestors().any(|a| a.id() == target.id()) && node.id() != target.id() {
                    self.subtree(target);
                }
                self.ids.insert(id, target);
            }
        }
    }

    fn close(&mut self) {
        let Some(item) = self.open.pop() else { return };
        let value = Value::Object(item.properties);
        match self.open.last_mut().filter(|_| !item.named.is_empty()) {
            Some(outer) => {
                for name in item.named {
                    add(&mut outer.properties, name, value.clone());
                }
            }
            None => self.top.push(value),
        }
    }
}

/// A property said twice is an array.
fn add(properties: &mut Map<String, Value>, name: String, value: Value) {
    match properties.get_mut(&name) {
        None => {
            properties.insert(name, value);
        }
        Some(Value::Array(values)) => values.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}

/// The value of a property element: the attribute that carries it for this kind of element, or
/// its text.
fn value(node: NodeRef<'_>, element: &Element) -> Value {
    let carried = match element.name.local {
        local_name!("a") | local_name!("area") | local_name!("link") => named(element, "href"),
        local_name!("img")
        | local_name!("audio")
        | local_name!("embed")
        | local_name!("iframe")
        | local_name!("source")
        | local_name!("track")
        | local_name!("video") => named(element, "src"),
        local_name!("object") => named(element, "data"),
        local_name!("data") | local_name!("meter") => named(element, "value"),
        local_name!("time") => named(element, "datetime"),
        _ => None,
    };
    let text = named(element, "content")
        .or(carried)
        .map(|value| fold(cut(value, LONGEST)))
        .unwrap_or_else(|| text(node));
    Value::String(text)
}

fn text(top: NodeRef<'_>) -> String {
    let mut line = Line::default();
    let mut next = top.first_child();
    for _ in 0..VALUE_NODES {
        let Some(node) = next.filter(|_| line.len() < LONGEST) else {
            break;
        };
        let mut enter = true;
        if let Some(text) = node.value().as_text() {
            line.push(cut(text, LONGEST));
        } else if let Some(element) = node.value().as_element() {
            enter = !matches!(
                element.name.local,
                local_name!("script") | local_name!("style")
            );
            if crate::visible::is_block(element) {
                line.push(" ");
            }
        }
        next = node
            .first_child()
            .filter(|_| enter)
            .or_else(|| next_after(node, top.id()));
    }
    line.take()
}

fn named<'a>(element: &'a Element, name: &str) -> Option<&'a str> {
    let (_, value) = element.attrs.iter().find(|(n, _)| &*n.local == name)?;
    Some(value)
}
