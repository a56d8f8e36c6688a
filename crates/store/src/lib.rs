//! The store of one house: its journal, the projection rows of its state, and the bodies that it
//! saw, on SQLite (write-ahead log, every commit on disk before it returns).
//!
//! Core decides and folds; the store only makes it durable. [`Store::append_with`] is the one way
//! in: entries, rows and bodies of a decision commit together or not at all, under a guard on the
//! house's `rules_epoch`; a [`Committer`] lets many tasks share one commit. All SQL stands in `sql.rs`.

mod append;
mod body;
mod columns;
mod committer;
mod error;
mod folder;
mod frame;
mod lock;
mod read;
mod refold;
mod sql;
mod store;
#[cfg(test)]
mod testing;
mod write;

pub use append::{Append, NewBody};
pub use body::StoredBody;
pub use committer::{Committer, OwnedBody, Submission};
pub use error::Error;
pub use lock::DriverLock;
pub use store::Store;

/// A result of the store.
pub type Result<T> = std::result::Result<T, Error>;
