//! What an observatory crawler decides, and how that is proved: charter, promises, gate, lanes,
//! journal, audit.
//!
//! This crate sits in the middle of the house: it knows `reigi-robots` and `reigi-page`, and is
//! known by store, fetch, simulation and the binary. It does no I/O, reads no clock and draws no
//! randomness: time comes in as [`time::Now`], bytes as [`fetched::Fetched`], the past as
//! [`state`]. The same functions run a live bot and a simulated decade.
#![warn(missing_docs)]

pub mod audit;
pub mod cadence;
pub mod charter;
pub mod crawl;
pub mod digest;
pub mod event;
pub mod explain;
pub mod fetched;
pub mod gate;
pub mod host;
pub mod house_file;
pub mod journal;
pub mod ledger;
pub mod policy;
pub mod promise;
pub mod state;
pub mod time;
