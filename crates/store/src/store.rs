//! Opening: connections, schema, driver lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions as _, Sqlite, Transaction};

use crate::columns::{big, big_len};
use crate::folder::Folder;
use crate::{DriverLock, Error, sql};

/// How long a writer waits for another process's transaction.
const BUSY: Duration = Duration::from_secs(10);
/// Connections that only read.
const READERS: u32 = 4;
/// The store of one house. Clones share connections and the poison of a failed append.
#[derive(Clone, Debug)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    dir: PathBuf,
    file: PathBuf,
    /// One connection: writers queue here before they queue at the database.
    pub(crate) writer: SqlitePool,
    pub(crate) reader: SqlitePool,
    pub(crate) folder: Folder,
    poisoned: AtomicBool,
}

impl Store {
    /// Opens the data folder of a house; creates and migrates what is missing.
    ///
    /// # Errors
    /// The folder cannot be written, or a later program wrote the database.
    pub async fn open(dir: &Path) -> Result<Self, Error> {
        let folder = Folder::create(&dir.join("bodies"))?;
        let file = dir.join("reigi.db");
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(BUSY)
            // What is erased leaves the file, not only the tables.
            .pragma("secure_delete", "ON")
            .pragma("wal_autocheckpoint", "4000")
            .disable_statement_logging();
        let pool = || {
            SqlitePoolOptions::new()
                .idle_timeout(None)
                .max_lifetime(None)
        };
        let writer = pool().max_connections(1);
        let writer = writer
            .connect_with(options.clone())
            .await
            .map_err(|e| Error::sql(&file, e))?;
        let reader = pool()
            .max_connections(READERS)
            .connect_lazy_with(options.pragma("query_only", "ON"));
        let inner = Arc::new(Inner {
            dir: dir.to_owned(),
            file,
            writer,
            reader,
            folder,
            poisoned: AtomicBool::new(false),
        });
        let store = Self { inner };
        store.migrate().await?;
        Ok(store)
    }

    /// Takes the right to drive this house for this process; a second driver is told of the first.
    ///
    /// # Errors
    /// [`Error::Locked`], or the lock file cannot be written.
    pub fn lock_driver(&self, role: &str) -> Result<DriverLock, Error> {
        DriverLock::take(&self.inner.dir, role)
    }

    /// The data folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.inner.dir
    }

    async fn migrate(&self) -> Result<(), Error> {
        let named = |e| self.sql(e);
        let mut tx = self.begin().await?;
        sqlx::query(sql::CREATE_VERSIONS)
            .execute(&mut *tx)
            .await
            .map_err(named)?;
        let found: i64 = sqlx::query_scalar(sql::COUNT_VERSIONS)
            .fetch_one(&mut *tx)
            .await
            .map_err(named)?;
        let (found, known) = (
            found.unsigned_abs(),
            big_len(sql::MIGRATIONS.len()).unsigned_abs(),
        );
        if found > known {
            return Err(Error::NewerSchema { found, known });
        }
        for (version, step) in (1_u64..).zip(sql::MIGRATIONS) {
            if version <= found {
                continue;
            }
            sqlx::raw_sql(*step)
                .execute(&mut *tx)
                .await
                .map_err(named)?;
            sqlx::query(sql::PUT_VERSION)
                .bind(big(version))
                .execute(&mut *tx)
                .await
                .map_err(named)?;
        }
        tx.commit().await.map_err(named)
    }

    /// Begins a transaction that holds the write lock from its start (SQLite's dialect), unless
    /// the handle is poisoned.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Sqlite>, Error> {
        let writer = &self.inner.writer;
        let mut begun = writer.begin_with(sql::BEGIN).await;
        if matches!(begun, Err(sqlx::Error::InvalidSavePointStatement)) {
            // A full disk makes SQLite roll back by itself, which sqlx does not see: it still
            // counts a transaction. Only a new connection counts from nothing.
            let stuck = writer.acquire().await.map_err(|e| self.sql(e))?;
            stuck.close().await.map_err(|e| self.sql(e))?;
            begun = writer.begin_with(sql::BEGIN).await;
        }
        let tx = begun.map_err(|e| self.sql(e))?;
        // Asked only now: the handle's appends queue for the connection.
        if self.inner.poisoned.load(Ordering::SeqCst) {
            return Err(Error::Poisoned);
        }
        Ok(tx)
    }

    /// Names an error of this database.
    pub(crate) fn sql(&self, error: sqlx::Error) -> Error {
        Error::sql(&self.inner.file, error)
    }

    /// Moves the write-ahead log into the database, so that erased bytes do not live on in it.
    /// Where readers prevent that, the next one does it.
    pub(crate) async fn checkpoint(&self) -> Result<(), Error> {
        sqlx::query(sql::CHECKPOINT)
            .execute(&self.inner.writer)
            .await
            .map(drop)
            .map_err(|e| self.sql(e))
    }

    pub(crate) fn set_poisoned(&self, poisoned: bool) {
        self.inner.poisoned.store(poisoned, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Append;
    use crate::testing::{append, house};

    async fn pragma(store: &Store, text: &'static str) {
        let writer = &store.inner.writer;
        sqlx::query(text).execute(writer).await.unwrap();
    }

    #[tokio::test]
    async fn a_full_disk_poisons_the_handle_and_spares_the_journal() {
        let dir = tempfile::tempdir().unwrap();
        let (store, segment) = house(dir.path()).await;
        append(&store, segment, 10).await.unwrap();
        pragma(&store, "PRAGMA max_page_count = 1").await;
        let error = append(&store, segment, 100_000).await.unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error:?}");
        assert!(error.to_string().contains("free disk space"), "{error}");
        pragma(&store, "PRAGMA max_page_count = 1000000").await;
        let error = append(&store.clone(), segment, 10).await.unwrap_err();
        assert!(matches!(error, Error::Poisoned), "{error:?}");
        // Reading goes on, and a restart continues from what is on disk.
        assert_eq!(store.count().await.unwrap(), 2);
        drop(store);
        let (store, segment) = house(dir.path()).await;
        append(&store, segment, 10).await.unwrap();
        assert_eq!(store.count().await.unwrap(), 4);
    }

    #[tokio::test]
    async fn a_read_only_database_has_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let (store, segment) = house(dir.path()).await;
        pragma(&store, "PRAGMA query_only = ON").await;
        let error = append(&store, segment, 10).await.unwrap_err();
        assert!(matches!(error, Error::ReadOnly { .. }), "{error:?}");
        assert!(error.to_string().contains("write access"), "{error}");
    }

    #[tokio::test]
    async fn a_fold_that_does_not_return_poisons_the_handle() {
        let dir = tempfile::tempdir().unwrap();
        let (store, segment) = house(dir.path()).await;
        let other = store.clone();
        let panicked = tokio::spawn(async move {
            let append = Append {
                segment,
                drafts: &[],
                bodies: &[],
                guard: None,
                raise_epoch: None,
            };
            other
                .append_with(append, |_| panic!("a fold's mistake"))
                .await
        });
        assert!(panicked.await.is_err());
        let error = append(&store, segment, 10).await.unwrap_err();
        assert!(matches!(error, Error::Poisoned), "{error:?}");
    }
}
