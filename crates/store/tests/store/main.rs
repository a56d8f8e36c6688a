//! The store from outside: everything that its callers rely on.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on says so by panicking"
)]

mod bodies;
mod common;
mod failure;
mod journal;
