//! The store of one house: its journal, the projection rows of its state, and the bodies that it
//! saw, on SQLite (write-ahead log, every commit on disk before it returns).
//!
//! Core decides and folds; the store only makes it durable. [`Store::append_with`] is the one way
//! in: entries, rows and bodies of a decision commit together or not at all, under a guard on the
//! house's `rules_epoch`. The SQL is the common part of SQLite's and PostgreSQL's; what differs
//! is `BEGIN IMMEDIATE` and the pragmas, both in `store.rs`.

mod append;
mod body;
mod error;
mod folder;
mod frame;
mod lock;
mod read;
mod sql;
mod store;

pub use append::{Append, NewBody};
pub use body::StoredBody;
pub use error::Error;
pub use lock::DriverLock;
pub use store::Store;

/// A result of the store.
pub type Result<T> = std::result::Result<T, Error>;
