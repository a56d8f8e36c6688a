//! The store of one house: its journal, the projection rows of its state, and the bodies that it
//! saw, on SQLite (write-ahead log, every commit on disk before it returns).
//!
//! Core decides and folds; the store only makes it durable. [`Store::append_with`] is the one way
//! in: entries, rows and bodies of a decision commit together or not at all, under a guard on the
//! house's `rules_epoch`; a [`Committer`] lets many tasks share one commit. All SQL stands in `sql.rs`.
//!
//! ```
//! use reigi_core::event::{ClockStepped, LaneId, SegmentOpened, StepCause};
//! use reigi_core::journal::Draft;
//! use reigi_core::state::{Row, RowChange, Table};
//! use reigi_core::time::{Now, Timestamp};
//! use reigi_store::{Append, Store};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> reigi_store::Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let at = Timestamp::from_secs(1_700_000_000);
//! let store = Store::open(dir.path()).await?;
//! let _driving = store.lock_driver("run")?; // a second driver hears who this one is
//! let opened = |heads| SegmentOpened {
//!     program: "example".to_owned(),
//!     role: "run".to_owned(),
//!     heads,
//!     clock: Now::default(),
//! };
//! let segment = store.begin_segment(opened, at).await?;
//!
//! let (expected, found) = (at, at);
//! let stepped = ClockStepped { expected, found, cause: StepCause::System, hold: false };
//! let drafts = [Draft { event: stepped.into(), at, bot: 0, lane: LaneId::HOUSE, lane_seq: 0 }];
//! let append = Append {
//!     segment,
//!     drafts: &drafts,
//!     bodies: &[],
//!     guard: Some(store.epoch().await?), // refused as stale if the rules change meanwhile
//!     raise_epoch: None,
//! };
//! let headers = store
//!     .append_with(append, |headers| {
//!         let last = headers.last().map(|header| header.seq);
//!         vec![RowChange::Put(Row::new(Table::House, LaneId::HOUSE, "house", None, &last))]
//!     })
//!     .await?;
//! assert_eq!(store.entry(headers[0].seq).await?.unwrap().header, headers[0]);
//! # Ok(())
//! # }
//! ```

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
