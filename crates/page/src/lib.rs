//! Bytes of a web answer to what a person would read there, and what changed between two readings.
//!
//! Pure: no network, no clock, no disk. [`Page::read`] decides the charset by the web's own rules,
//! parses once, and keeps the visible text line by line, each line with a [`Locator`]; besides,
//! the links and images as references, structured data, machine-readable signals of the publisher,
//! and what the page would need before it showed its text ([`Needs`]).
//!
//! Markup is read, never executed; nothing that a page refers to is fetched. Bad input is data:
//! it ends in [`Read::Other`] or in [`Page::notes`], never in an error or a panic.

pub mod change;
mod charset;
mod dom;
mod head;
mod line;
mod mime;
mod needs;
mod page;
mod prescan;
mod select;
mod signals;
mod structured;
mod table;
mod visible;
mod walk;
mod xml;

pub use charset::{Charset, CharsetFrom};
pub use page::{
    Block, BlockKind, Cell, Image, Kind, Link, Locator, Needs, Other, Page, Read, Region,
    Structured, Why,
};
pub use select::{InvalidSelector, Select};
pub use signals::{Signal, signals_from_headers};
