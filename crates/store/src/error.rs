//! What the store cannot do, in sentences with a remedy.

use std::path::Path;

use reigi_core::digest::Digest;

/// Why the store said no.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process drives this house.
    #[error("another process runs this house: {by}; wait for it to end or stop it")]
    Locked {
        /// Process id, role and start of the first.
        by: String,
    },
    /// The rules changed since the caller read them; judge anew.
    #[error("the rules changed meanwhile (epoch {now})")]
    Stale {
        /// The epoch in force.
        now: u64,
    },
    /// An earlier append failed: this process may not go on.
    #[error("an earlier write to the journal failed; nothing more may happen until a restart")]
    Poisoned,
    /// A stored body is not what it was.
    #[error("the stored body {digest} is damaged: {why}; restore it from a backup or forget it")]
    Corrupt {
        /// The body.
        digest: Digest,
        /// What is wrong.
        why: String,
    },
    /// The database was written by a newer program.
    #[error("the store has schema {version}, newer than this program; run the newer reigi")]
    NewerSchema {
        /// Its version.
        version: i64,
    },
    /// The disk is full.
    #[error("the disk that holds {dir} is full; free some space, nothing was lost")]
    DiskFull {
        /// The data folder.
        dir: String,
    },
    /// The folder cannot be written.
    #[error("{dir} cannot be written ({why}); check its owner and permissions")]
    ReadOnly {
        /// The data folder.
        dir: String,
        /// What the system says.
        why: String,
    },
    /// A row does not read: the projections are of another shape.
    #[error("the row {table}/{key} does not read ({why}); rebuild with `reigi audit --rebuild`")]
    Row {
        /// Projection.
        table: String,
        /// Key.
        key: String,
        /// What is wrong.
        why: String,
    },
    /// Anything else that SQLite says.
    #[error("the store failed: {0}")]
    Sql(String),
    /// Anything else that the file system says.
    #[error("{path}: {why}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        why: String,
    },
}

impl Error {
    /// A row that does not read.
    #[must_use]
    pub fn row(table: &str, key: &str, why: &str) -> Self {
        Self::Row {
            table: table.to_owned(),
            key: key.to_owned(),
            why: why.to_owned(),
        }
    }

    pub(crate) fn sql(dir: &Path, error: sqlx::Error) -> Self {
        let dir = dir.display().to_string();
        let code = error
            .as_database_error()
            .and_then(|e| e.code())
            .map(|c| c.into_owned());
        // SQLite's primary result codes: 13 full, 8 read-only, 14 cannot open.
        match code
            .as_deref()
            .and_then(|c| c.parse::<i32>().ok())
            .map(|c| c & 0xff)
        {
            Some(13) => Self::DiskFull { dir },
            Some(8 | 14) => Self::ReadOnly {
                dir,
                why: error.to_string(),
            },
            _ => Self::Sql(error.to_string()),
        }
    }

    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        let (name, why) = (path.display().to_string(), error.to_string());
        match error.kind() {
            std::io::ErrorKind::StorageFull => Self::DiskFull { dir: name },
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly { dir: name, why }
            }
            _ => Self::Io { path: name, why },
        }
    }
}
