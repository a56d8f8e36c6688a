//! Which parts of a page a target is about, by CSS selectors.

use std::collections::HashSet;
use std::fmt;

use scraper::Selector;

use crate::dom::{Dom, NodeId};

/// The parts of a page that are read: all of it, or only what the include selectors match, and
/// nothing that the exclude selectors match. Title, signals and structured data are the page's
/// and stay.
#[derive(Debug, Clone, Default)]
pub struct Select {
    include: Vec<Selector>,
    exclude: Vec<Selector>,
}

/// A selector that is not valid CSS, or uses what is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidSelector {
    pub selector: String,
    pub reason: String,
}

impl fmt::Display for InvalidSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "selector `{}`: {}", self.selector, self.reason)
    }
}

impl std::error::Error for InvalidSelector {}

impl Select {
    /// Selectors as a charter writes them.
    ///
    /// # Errors
    /// The first selector that cannot be read.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S]) -> Result<Self, InvalidSelector> {
        let parse = |selectors: &[S]| -> Result<Vec<Selector>, InvalidSelector> {
            selectors
                .iter()
                .map(|selector| parse(selector.as_ref()))
                .collect()
        };
        Ok(Self {
            include: parse(include)?,
            exclude: parse(exclude)?,
        })
    }

    pub(crate) fn resolve(&self, dom: &Dom) -> Selected {
        let ids = |selectors: &[Selector]| -> HashSet<NodeId> {
            selectors
                .iter()
                .flat_map(|s| dom.html.select(s))
                .map(|e| e.id())
                .collect()
        };
        Selected {
            all: self.include.is_empty(),
            include: ids(&self.include),
            exclude: ids(&self.exclude),
        }
    }
}

fn parse(selector: &str) -> Result<Selector, InvalidSelector> {
    Selector::parse(selector).map_err(|error| {
        let reason = error.to_string();
        let reason = reason
            .lines()
            .next_back()
            .unwrap_or_default()
            .trim()
            .to_owned();
        InvalidSelector {
            selector: selector.to_owned(),
            reason,
        }
    })
}

/// A [`Select`] applied to one document.
pub(crate) struct Selected {
    /// Everything is included from the start.
    pub(crate) all: bool,
    include: HashSet<NodeId>,
    exclude: HashSet<NodeId>,
}

impl Selected {
    pub(crate) fn includes(&self, id: NodeId) -> bool {
        !self.include.is_empty() && self.include.contains(&id)
    }

    pub(crate) fn excludes(&self, id: NodeId) -> bool {
        !self.exclude.is_empty() && self.exclude.contains(&id)
    }
}
