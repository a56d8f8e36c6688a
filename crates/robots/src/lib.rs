//! robots.txt (RFC 9309): parse once, ask many times, get the verdict with its rule and line.
//!
//! Pure functions over octets: no network, no clock, no dependency. Fetching the file, what its
//! status code means, caching and obeying are the caller's part.
//!
//! ```
//! use reigi_robots::{Group, Rules};
//!
//! let rules = Rules::parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/open\n");
//! let verdict = rules.verdict("ExampleBot", "https://example.com/private/diary");
//! assert!(!verdict.allowed);
//! assert_eq!(verdict.rule.map(|rule| rule.line), Some(2));
//! assert_eq!(verdict.group, Group::Star);
//! ```
//!
//! # How it is laid out
//!
//! `line` cuts a body into records, `parse` sorts them into [`Rules`], `pattern` compares paths,
//! and [`Agent`] is what the rules say to one crawler. [`Delay`], [`Record`] and [`Preferences`]
//! hold what RFC 9309 leaves to others, and [`Note`] what was odd.

#![warn(missing_docs)]

mod agent;
mod delay;
mod line;
mod note;
mod parse;
mod pattern;
mod record;
mod rules;
mod verdict;

pub use agent::{Agent, UnclearDelay};
pub use delay::{CrawlRate, Delay};
pub use line::{Field, LINE_LIMIT};
pub use note::{Note, Oddity};
pub use parse::RECORDS_KEPT;
pub use record::{Preferences, Record};
pub use rules::{Content, LIMIT_MIN, Rules};
pub use verdict::{Group, Reading, RuleRef, Verdict};

/// Runs the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
