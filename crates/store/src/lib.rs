//! Journal, projections and snapshots of one house on SQLite: the only crate with SQL.
//!
//! One append is one transaction: entries, the rows that they change and the bodies that they name
//! become durable together, or not at all (DECISIONS 6, 27). A failed commit poisons the handle:
//! what cannot be journalled does not happen. Several processes may open one house; they take
//! turns by SQLite's write lock, and the `rules_epoch` guard tells a writer that somebody else
//! changed the rules meanwhile (DECISIONS 14).

mod bodies;
mod error;
mod frame;
mod journal;
mod lock;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sqlx::SqlitePool;
use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

pub use bodies::StoredBody;
pub use error::Error;
pub use journal::{Append, NewBody};
pub use lock::DriverLock;

/// A result of the store.
pub type Result<T> = std::result::Result<T, Error>;

/// How long a writer waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);
/// Connections that read.
const READERS: u32 = 4;

/// An open house. Clones share the connections.
#[derive(Clone)]
pub struct Store {
    dir: PathBuf,
    writer: SqlitePool,
    readers: SqlitePool,
    poisoned: Arc<AtomicBool>,
}

impl Store {
    /// Opens the data folder `dir`, making and migrating what is missing.
    ///
    /// # Errors
    /// The folder cannot be written, the database is of a newer program, or SQLite fails.
    pub async fn open(dir: &Path) -> Result<Self> {
        std::fs::create_dir_all(dir.join("bodies")).map_err(|e| Error::io(dir, &e))?;
        let options = SqliteConnectOptions::new()
            .filename(dir.join("reigi.db"))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY)
            .pragma("wal_autocheckpoint", "4000");
        let writer = SqlitePoolOptions::new()
            .max_connections(1)
            .connect_with(options.clone())
            .await
            .map_err(|e| Error::sql(dir, e))?;
        sqlx::migrate!("./migrations")
            .run(&writer)
            .await
            .map_err(|e| match e {
                MigrateError::VersionMissing(version) => Error::NewerSchema { version },
                MigrateError::Execute(e) => Error::sql(dir, e),
                other => Error::Sql(other.to_string()),
            })?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .connect_with(options)
            .await
            .map_err(|e| Error::sql(dir, e))?;
        Ok(Self {
            dir: dir.to_owned(),
            writer,
            readers,
            poisoned: Arc::new(AtomicBool::new(false)),
        })
    }

    /// Takes the house's only driver place; dropped with the value or the process.
    ///
    /// # Errors
    /// [`Error::Locked`] names who holds it.
    pub fn lock_driver(&self, role: &str) -> Result<DriverLock> {
        DriverLock::take(&self.dir.join("driver.lock"), role)
    }

    /// The data folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}
