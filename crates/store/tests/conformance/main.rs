//! What every backend of the store must do, written against the public API alone: another one
//! passes by opening itself in `common::House`.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod bodies;
mod committer;
mod common;
mod journal;
mod rows;
