//! What can go wrong with the store, and what a person can do about it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reigi_core::digest::Digest;

/// An error of the store. Clones, so that each append of a failed group hears the reason.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another driver runs this house.
    #[error("another driver runs this house: {by}; stop it first")]
    Locked {
        /// What the lock file says: pid, role and start of the driver.
        by: String,
    },
    /// The rules changed since the decision; nothing was written.
    #[error("the rules changed meanwhile: epoch {now} is in force")]
    Stale {
        /// The epoch in force.
        now: u64,
    },
    /// A number within a lane was given twice: another writer was there first. Nothing was written.
    #[error("another writer took this number within the lane; read the lane anew and decide again")]
    LaneTaken,
    /// An append of this handle failed half-way: memory may be ahead of the disk.
    #[error("an earlier append failed; restart to go on from what is on disk")]
    Poisoned,
    /// A body does not have the digest that names it, or its frame cannot be read.
    #[error("the stored body {digest} is damaged; restore it from a backup")]
    Corrupt {
        /// The body.
        digest: Digest,
    },
    /// A body given to be stored does not have the digest given with it; nothing was written.
    #[error("the body given as {digest} is another one; nothing was written")]
    Misnamed {
        /// The digest given.
        digest: Digest,
    },
    /// The database was written by a later program.
    #[error("the database has schema {found}, this program knows {known}; use the newer program")]
    NewerSchema {
        /// Version found.
        found: u64,
        /// Newest version known.
        known: u64,
    },
    /// The database cannot be written.
    #[error(
        "{} cannot be written; give this user write access to it and its folder", .path.display()
    )]
    ReadOnly {
        /// The database or folder.
        path: PathBuf,
    },
    /// No room is left.
    #[error("no room left for {}; free disk space, then restart", .path.display())]
    DiskFull {
        /// The database or file.
        path: PathBuf,
    },
    /// Another process holds the write lock for too long.
    #[error("another process keeps {} locked; try again", .path.display())]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// The file is no database, or a broken one.
    #[error("{} is damaged; restore it from a backup", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
    },
    /// A stored row cannot be read.
    #[error(
        "row {key:?} of {table} cannot be read ({why}); use the program that wrote it, or restore \
         a backup"
    )]
    Row {
        /// Table.
        table: String,
        /// Key within the table.
        key: String,
        /// What is wrong.
        why: String,
    },
    /// The database refused.
    #[error("database: {0}")]
    Sql(#[source] Arc<sqlx::Error>),
    /// A file outside the database.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: Arc<std::io::Error>,
    },
}

impl Error {
    /// A row of `table` that cannot be read, and why.
    #[must_use]
    pub fn row(table: &str, key: &str, why: &str) -> Self {
        Self::Row {
            table: table.to_owned(),
            key: key.to_owned(),
            why: why.to_owned(),
        }
    }

    /// Whether the handle takes no more appends: the process must start anew.
    #[must_use]
    pub fn is_poison(&self) -> bool {
        matches!(self, Self::Poisoned)
    }

    /// Whether the store refused what it was given, and so wrote nothing.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::LaneTaken | Self::Misnamed { .. })
    }

    /// Names an error of the database at `path`, by SQLite's primary result code.
    pub(crate) fn sql(path: &Path, error: sqlx::Error) -> Self {
        let path = path.to_owned();
        match sqlite_code(&error) {
            Some(8) => Self::ReadOnly { path },
            // CANTOPEN: the folder is not readable, or not writable for the write-ahead log.
            Some(14) => Self::ReadOnly { path },
            Some(13) => Self::DiskFull { path },
            Some(5 | 6) => Self::Busy { path },
            Some(11 | 26) => Self::Damaged { path },
            _ => Self::Sql(Arc::new(error)),
        }
    }

    /// Names an error of the file system at `path`.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io {
                path,
                source: Arc::new(source),
            },
        }
    }
}

/// SQLite's primary result code: the low byte of the extended one.
fn sqlite_code(error: &sqlx::Error) -> Option<u32> {
    let sqlx::Error::Database(error) = error else {
        return None;
    };
    error.code()?.parse::<u32>().ok().map(|code| code & 0xff)
}
