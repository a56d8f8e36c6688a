//! Evidence: bodies by SHA-256, compressed, deletable one by one.
//!
//! A frame belongs to (owner, digest). Frames up to 64 KiB live in the database, in the same
//! commit as the entry that names them; larger ones in a folder, written and synced before that
//! commit. Deleting a base first re-encodes the versions that lean on it (DECISIONS 27).

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use reigi_core::digest::Digest;
use reigi_core::time::Timestamp;
use sqlx::{Row as _, SqliteConnection};

use crate::journal::{NewBody, digest, unsigned};
use crate::{Error, Result, Store, frame};

/// Larger frames go to the folder.
const INLINE_MAX: usize = 64 * 1024;
/// Versions that lean on one full body, at most: then a new full one.
const LEAN_MAX: i64 = 32;

/// A stored body, without its bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredBody {
    /// What it is a version of.
    pub owner: String,
    /// SHA-256.
    pub digest: Digest,
    /// Length of the body.
    pub bytes: u64,
    /// When it came.
    pub stored: Timestamp,
}

struct Frame {
    owner: String,
    base: Option<Digest>,
    bytes: usize,
    inline: Option<Vec<u8>>,
}

impl Store {
    /// The body with this digest, checked; `None`: not stored.
    ///
    /// # Errors
    /// [`Error::Corrupt`] where what is stored is not what was.
    pub async fn get_body(&self, digest: Digest) -> Result<Option<Vec<u8>>> {
        let mut reader = self.reader().await?;
        self.read_body(&mut reader, digest, None).await
    }

    /// Whether a body is stored.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn has_body(&self, digest: Digest) -> Result<bool> {
        let mut reader = self.reader().await?;
        Ok(self.frame(&mut reader, digest, None).await?.is_some())
    }

    /// All stored bodies.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn bodies(&self) -> Result<Vec<StoredBody>> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query(
            "SELECT owner, digest, bytes, stored FROM frames ORDER BY stored, owner, digest",
        )
        .fetch_all(&mut *reader)
        .await
        .map_err(|e| self.sql(e))?;
        rows.iter()
            .map(|row| {
                Ok(StoredBody {
                    owner: row.try_get("owner")?,
                    digest: digest(row, "digest")?,
                    bytes: unsigned(row.try_get("bytes")?),
                    stored: Timestamp::from_micros(row.try_get("stored")?),
                })
            })
            .collect::<sqlx::Result<_>>()
            .map_err(|e| self.sql(e))
    }

    /// Deletes bodies of all owners; versions that lean on them are re-encoded first.
    ///
    /// # Errors
    /// The write failed; then nothing was deleted.
    pub async fn drop_bodies(&self, digests: &[Digest]) -> Result<()> {
        let mut tx = self.begin().await?;
        let mut files = Vec::new();
        for dropped in digests {
            self.rescue_leaners(&mut tx, *dropped, digests).await?;
            let owners =
                sqlx::query("SELECT owner FROM frames WHERE digest = $1 AND frame IS NULL")
                    .bind(dropped.as_bytes().to_vec())
                    .fetch_all(&mut *tx)
                    .await
                    .map_err(|e| self.sql(e))?;
            for row in owners {
                let owner: String = row.try_get("owner").map_err(|e| self.sql(e))?;
                files.push(self.file(&owner, *dropped));
            }
            sqlx::query("DELETE FROM frames WHERE digest = $1")
                .bind(dropped.as_bytes().to_vec())
                .execute(&mut *tx)
                .await
                .map_err(|e| self.sql(e))?;
        }
        self.commit(tx).await?;
        // A crash before this leaves files that no row names: harmless, and found by a sweep.
        for file in files {
            let _ = fs::remove_file(file);
        }
        Ok(())
    }

    /// Stores a body within a transaction; nothing where its owner has it already.
    pub(crate) async fn put_body(
        &self,
        tx: &mut SqliteConnection,
        body: &NewBody<'_>,
    ) -> Result<()> {
        if self
            .frame(tx, body.digest, Some(body.owner))
            .await?
            .is_some()
        {
            return Ok(());
        }
        let full = frame::pack(body.bytes).map_err(|e| damaged(body.digest, &e))?;
        let (mut packed, mut base) = (full, None);
        if let Some(on) = self.base_of(tx, body.owner).await?
            && let Some(bytes) = self.read_body(tx, on, Some(body.owner)).await?
        {
            let delta =
                frame::pack_against(body.bytes, &bytes).map_err(|e| damaged(body.digest, &e))?;
            if delta.len() * 2 < packed.len() {
                (packed, base) = (delta, Some(on));
            }
        }
        self.insert_frame(tx, body, base, packed).await
    }

    async fn insert_frame(
        &self,
        tx: &mut SqliteConnection,
        body: &NewBody<'_>,
        base: Option<Digest>,
        packed: Vec<u8>,
    ) -> Result<()> {
        let inline = if packed.len() <= INLINE_MAX {
            Some(packed)
        } else {
            write_durably(&self.file(body.owner, body.digest), &packed)?;
            None
        };
        sqlx::query(
            "INSERT INTO frames (owner, digest, base, bytes, stored, frame) VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (owner, digest) DO UPDATE SET base = excluded.base, frame = excluded.frame",
        )
        .bind(body.owner)
        .bind(body.digest.as_bytes().to_vec())
        .bind(base.map(|b| b.as_bytes().to_vec()))
        .bind(i64::try_from(body.bytes.len()).unwrap_or(i64::MAX))
        .bind(body.at.micros())
        .bind(inline)
        .execute(tx)
        .await
        .map_err(|e| self.sql(e))?;
        Ok(())
    }

    /// The full body that a new version of `owner` may lean on.
    async fn base_of(&self, tx: &mut SqliteConnection, owner: &str) -> Result<Option<Digest>> {
        let row = sqlx::query(
            "SELECT f.digest AS digest, (SELECT COUNT(*) FROM frames l WHERE l.owner = f.owner AND l.base = f.digest) AS leaners \
             FROM frames f WHERE f.owner = $1 AND f.base IS NULL ORDER BY f.stored DESC LIMIT 1",
        )
        .bind(owner)
        .fetch_optional(tx)
        .await
        .map_err(|e| self.sql(e))?;
        let Some(row) = row else { return Ok(None) };
        let leaners: i64 = row.try_get("leaners").map_err(|e| self.sql(e))?;
        let base = digest(&row, "digest").map_err(|e| self.sql(e))?;
        Ok((leaners < LEAN_MAX).then_some(base))
    }

    /// Gives every version that leans on `dropped` and stays a full frame of its own.
    async fn rescue_leaners(
        &self,
        tx: &mut SqliteConnection,
        dropped: Digest,
        all: &[Digest],
    ) -> Result<()> {
        let rows = sqlx::query("SELECT owner, digest, stored FROM frames WHERE base = $1")
            .bind(dropped.as_bytes().to_vec())
            .fetch_all(&mut *tx)
            .await
            .map_err(|e| self.sql(e))?;
        for row in rows {
            let leaner = digest(&row, "digest").map_err(|e| self.sql(e))?;
            if all.contains(&leaner) {
                continue;
            }
            let owner: String = row.try_get("owner").map_err(|e| self.sql(e))?;
            let stored: i64 = row.try_get("stored").map_err(|e| self.sql(e))?;
            let Some(bytes) = self.read_body(tx, leaner, Some(&owner)).await? else {
                continue;
            };
            let body = NewBody {
                digest: leaner,
                bytes: &bytes,
                owner: &owner,
                at: Timestamp::from_micros(stored),
            };
            let packed = frame::pack(&bytes).map_err(|e| damaged(leaner, &e))?;
            self.insert_frame(tx, &body, None, packed).await?;
        }
        Ok(())
    }

    async fn read_body(
        &self,
        conn: &mut SqliteConnection,
        wanted: Digest,
        owner: Option<&str>,
    ) -> Result<Option<Vec<u8>>> {
        let Some(found) = self.frame(conn, wanted, owner).await? else {
            return Ok(None);
        };
        let base = match found.base {
            None => None,
            Some(on) => {
                let Some(base) = self.frame(conn, on, Some(&found.owner)).await? else {
                    return Err(Error::Corrupt {
                        digest: wanted,
                        why: "its base is gone".to_owned(),
                    });
                };
                let packed = self.packed(&base, on)?;
                Some(frame::unpack(&packed, None, base.bytes).map_err(|e| damaged(on, &e))?)
            }
        };
        let packed = self.packed(&found, wanted)?;
        let bytes = frame::unpack(&packed, base.as_deref(), found.bytes)
            .map_err(|e| damaged(wanted, &e))?;
        if Digest::of(&bytes) != wanted {
            return Err(Error::Corrupt {
                digest: wanted,
                why: "its digest is another".to_owned(),
            });
        }
        Ok(Some(bytes))
    }

    fn packed(&self, found: &Frame, digest: Digest) -> Result<Vec<u8>> {
        match &found.inline {
            Some(inline) => Ok(inline.clone()),
            None => fs::read(self.file(&found.owner, digest)).map_err(|e| Error::Corrupt {
                digest,
                why: e.to_string(),
            }),
        }
    }

    async fn frame(
        &self,
        conn: &mut SqliteConnection,
        wanted: Digest,
        owner: Option<&str>,
    ) -> Result<Option<Frame>> {
        let row = match owner {
            Some(owner) => {
                sqlx::query("SELECT owner, base, bytes, frame FROM frames WHERE digest = $1 AND owner = $2")
                    .bind(wanted.as_bytes().to_vec())
                    .bind(owner.to_owned())
                    .fetch_optional(conn)
                    .await
            }
            None => {
                sqlx::query("SELECT owner, base, bytes, frame FROM frames WHERE digest = $1 ORDER BY owner LIMIT 1")
                    .bind(wanted.as_bytes().to_vec())
                    .fetch_optional(conn)
                    .await
            }
        };
        let Some(row) = row.map_err(|e| self.sql(e))? else {
            return Ok(None);
        };
        let read = || -> sqlx::Result<Frame> {
            let base: Option<Vec<u8>> = row.try_get("base")?;
            Ok(Frame {
                owner: row.try_get("owner")?,
                base: base.and_then(|b| Digest::from_bytes(&b)),
                bytes: usize::try_from(row.try_get::<i64, _>("bytes")?).unwrap_or(0),
                inline: row.try_get("frame")?,
            })
        };
        read().map(Some).map_err(|e| self.sql(e))
    }

    /// Where a large frame lies: by the digest of owner and body, two levels deep.
    fn file(&self, owner: &str, digest: Digest) -> PathBuf {
        let name = Digest::of_parts(&[owner.as_bytes(), b"\0", digest.as_bytes()]).to_string();
        let (shelf, rest) = name.split_at_checked(2).unwrap_or(("00", &name));
        self.dir.join("bodies").join(shelf).join(rest)
    }
}

fn damaged(digest: Digest, error: &std::io::Error) -> Error {
    Error::Corrupt {
        digest,
        why: error.to_string(),
    }
}

/// Writes a file so that it is whole or not there, and stays after a power cut.
fn write_durably(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = |e: std::io::Error| Error::io(path, &e);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let draft = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut file = File::create(&draft).map_err(failed)?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(failed)?;
    fs::rename(&draft, path).map_err(failed)?;
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(failed)
}
