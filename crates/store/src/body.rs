//! Bodies: what a site answered, once per (owner, digest), mostly as differences (DECISIONS 27).
//!
//! An owner is whatever has versions, such as a page. Its frames are full ones and deltas against
//! one of its full ones; a delta never needs another delta.

use std::collections::BTreeSet;

use reigi_core::digest::Digest;
use reigi_core::time::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::columns::{Columns, big_len};
use crate::{Error, NewBody, Store, frame, sql};

/// Frames up to this size live in the table, larger ones in the folder.
const INLINE_MAX: usize = 64 * 1024;
/// Deltas of one full frame, at most.
const DELTAS_MAX: i64 = 32;

/// A stored body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredBody {
    /// SHA-256 of the body.
    pub digest: Digest,
    /// Whose version it is.
    pub owner: String,
    /// Bytes of the body.
    pub bytes: u64,
    /// Bytes of its frame.
    pub frame_bytes: u64,
    /// When it was stored.
    pub stored: Timestamp,
}

/// A row of the table `body`.
struct Frame {
    owner: String,
    digest: Digest,
    base: Option<Digest>,
    bytes: u64,
    data: Option<Vec<u8>>,
    file: Option<String>,
}

impl Frame {
    fn of(row: &SqliteRow) -> Result<Self, Error> {
        let c = Columns { table: "body", row };
        let base: Option<&[u8]> = c.get("base")?;
        Ok(Self {
            owner: c.get("owner")?,
            digest: c.digest("digest")?,
            base: base.and_then(Digest::from_bytes),
            bytes: c.number("bytes")?,
            data: c.get("frame")?,
            file: c.get("file")?,
        })
    }
}

/// What is to be written for one body.
struct Encoded {
    base: Option<Digest>,
    frame: Vec<u8>,
}

impl Store {
    /// The body of `digest`; `None` where it is not stored (any more).
    ///
    /// # Errors
    /// [`Error::Corrupt`] if what is stored is not that body.
    pub async fn get_body(&self, digest: Digest) -> Result<Option<Vec<u8>>, Error> {
        let mut conn = self.inner.reader.acquire().await.map_err(|e| self.sql(e))?;
        // Between row and file another process may rewrite the frame: look once more.
        for _ in 0..2 {
            let Some(frame) = self.frame(&mut conn, None, digest).await? else {
                return Ok(None);
            };
            if let Some(body) = self.decode(&mut conn, &frame).await? {
                return Ok(Some(body));
            }
        }
        Err(Error::Corrupt { digest })
    }

    /// Whether a body of `digest` is stored.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn has_body(&self, digest: Digest) -> Result<bool, Error> {
        let found: Option<i64> = sqlx::query_scalar(sql::BODY_IS_STORED)
            .bind(digest.as_bytes().as_slice())
            .fetch_optional(&self.inner.reader)
            .await
            .map_err(|e| self.sql(e))?;
        Ok(found.is_some())
    }

    /// All stored bodies, by owner, oldest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn bodies(&self) -> Result<Vec<StoredBody>, Error> {
        let rows = sqlx::query(sql::BODIES)
            .fetch_all(&self.inner.reader)
            .await
            .map_err(|e| self.sql(e))?;
        rows.iter()
            .map(|row| {
                let c = Columns { table: "body", row };
                Ok(StoredBody {
                    digest: c.digest("digest")?,
                    owner: c.get("owner")?,
                    bytes: c.number("bytes")?,
                    frame_bytes: c.number("frame_bytes")?,
                    stored: c.time("stored")?,
                })
            })
            .collect()
    }

    /// Deletes bodies, for all their owners. What was a difference to one of them is encoded anew
    /// in the same transaction; files go after it, and after a crash with the next segment.
    ///
    /// # Errors
    /// Nothing is deleted, unless only the removal of files failed.
    pub async fn drop_bodies(&self, digests: &[Digest]) -> Result<(), Error> {
        let files = self.drop_frames(digests).await?;
        self.unlink(&files).await?;
        self.checkpoint().await
    }

    /// Deletes the rows of bodies; the files that they and re-encoded ones named.
    async fn drop_frames(&self, digests: &[Digest]) -> Result<BTreeSet<String>, Error> {
        let mut tx = self.begin().await?;
        let mut doomed = Vec::new();
        for digest in digests {
            let rows = sqlx::query(sql::FRAMES)
                .bind(digest.as_bytes().as_slice())
                .fetch_all(&mut *tx)
                .await
                .map_err(|e| self.sql(e))?;
            for row in &rows {
                doomed.push(Frame::of(row)?);
            }
        }
        // Deltas first: they need not be encoded anew when their base goes too.
        doomed.sort_by_key(|frame| frame.base.is_none());
        let mut files = BTreeSet::new();
        for frame in doomed {
            self.delete(&mut tx, &frame).await?;
            files.extend(frame.file.clone());
            if frame.base.is_none() {
                self.rebase(&mut tx, &frame, &mut files).await?;
            }
        }
        tx.commit().await.map_err(|e| self.sql(e))?;
        Ok(files)
    }

    /// Removes those of `files` that no row names any more. Under the write lock: else another
    /// process could store the same frame between the look and the removal.
    async fn unlink(&self, files: &BTreeSet<String>) -> Result<(), Error> {
        let mut tx = self.begin().await?;
        for file in files {
            let named: Option<i64> = sqlx::query_scalar(sql::FILE_IS_NAMED)
                .bind(file)
                .fetch_optional(&mut *tx)
                .await
                .map_err(|e| self.sql(e))?;
            if named.is_none() {
                self.inner.folder.remove(file)?;
            }
        }
        tx.commit().await.map_err(|e| self.sql(e))
    }

    /// Stores a body within the transaction of the entry that names it.
    pub(crate) async fn put_body(
        &self,
        conn: &mut SqliteConnection,
        body: &NewBody<'_>,
    ) -> Result<(), Error> {
        let digest = body.digest;
        if Digest::of(body.bytes) != digest {
            return Err(Error::Misnamed { digest });
        }
        let found: Option<i64> = sqlx::query_scalar(sql::BODY_OF_OWNER)
            .bind(body.owner)
            .bind(body.digest.as_bytes().as_slice())
            .fetch_optional(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        if found.is_some() {
            return Ok(());
        }
        let encoded = self.encode(conn, body.owner, body.bytes).await?;
        let (frame, file) = self.place(&encoded.frame)?;
        sqlx::query(sql::PUT_BODY)
            .bind(body.owner)
            .bind(body.digest.as_bytes().as_slice())
            .bind(encoded.base.as_ref().map(|d| d.as_bytes().as_slice()))
            .bind(big_len(body.bytes.len()))
            .bind(big_len(encoded.frame.len()))
            .bind(body.at.micros())
            .bind(frame)
            .bind(file)
            .execute(&mut *conn)
            .await
            .map(drop)
            .map_err(|e| self.sql(e))
    }

    /// Removes files that no row names; under the write lock of `conn`.
    pub(crate) async fn sweep(&self, conn: &mut SqliteConnection) -> Result<(), Error> {
        let named: Vec<String> = sqlx::query_scalar(sql::FILES)
            .fetch_all(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        self.inner.folder.sweep(&named.into_iter().collect())
    }

    /// Encodes a version of `owner`: a delta against its newest full frame if that pays.
    async fn encode(
        &self,
        conn: &mut SqliteConnection,
        owner: &str,
        body: &[u8],
    ) -> Result<Encoded, Error> {
        let full = frame::encode(body, None).map_err(|e| self.zstd(e))?;
        let base = sqlx::query(sql::NEWEST_FULL)
            .bind(owner)
            .fetch_optional(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        if let Some(row) = base {
            let base = Frame::of(&row)?;
            let deltas: i64 = sqlx::query_scalar(sql::COUNT_DELTAS)
                .bind(owner)
                .bind(base.digest.as_bytes().as_slice())
                .fetch_one(&mut *conn)
                .await
                .map_err(|e| self.sql(e))?;
            // A damaged base must not stop the crawl: the new version stands alone.
            if deltas < DELTAS_MAX
                && let Ok(Some(prefix)) = self.decode(conn, &base).await
            {
                let delta = frame::encode(body, Some(&prefix)).map_err(|e| self.zstd(e))?;
                if delta.len() <= full.len() / 2 {
                    return Ok(Encoded {
                        base: Some(base.digest),
                        frame: delta,
                    });
                }
            }
        }
        Ok(Encoded {
            base: None,
            frame: full,
        })
    }

    /// Where a frame goes: into the row, or into a file that is durable when this returns.
    fn place<'f>(&self, frame: &'f [u8]) -> Result<(Option<&'f [u8]>, Option<String>), Error> {
        if frame.len() <= INLINE_MAX {
            Ok((Some(frame), None))
        } else {
            Ok((None, Some(self.inner.folder.write(frame)?)))
        }
    }

    /// Encodes anew what was a delta against `gone`, which is deleted already: its oldest
    /// dependant becomes a full frame, the others deltas against that one where it pays.
    async fn rebase(
        &self,
        conn: &mut SqliteConnection,
        gone: &Frame,
        files: &mut BTreeSet<String>,
    ) -> Result<(), Error> {
        let rows = sqlx::query(sql::DELTAS)
            .bind(&gone.owner)
            .bind(gone.digest.as_bytes().as_slice())
            .fetch_all(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        if rows.is_empty() {
            return Ok(());
        }
        let old = self.plain(gone)?.ok_or(Error::Corrupt {
            digest: gone.digest,
        })?;
        let mut new: Option<(Digest, Vec<u8>)> = None;
        for row in &rows {
            let dependant = Frame::of(row)?;
            let digest = dependant.digest;
            let body = self
                .unpack(&dependant, Some(&old))?
                .ok_or(Error::Corrupt { digest })?;
            let mut encoded = Encoded {
                base: None,
                frame: frame::encode(&body, None).map_err(|e| self.zstd(e))?,
            };
            if let Some((base, prefix)) = &new {
                let delta = frame::encode(&body, Some(prefix)).map_err(|e| self.zstd(e))?;
                if delta.len() <= encoded.frame.len() / 2 {
                    encoded = Encoded {
                        base: Some(*base),
                        frame: delta,
                    };
                }
            }
            self.replace(conn, &dependant, &encoded).await?;
            files.extend(dependant.file);
            new.get_or_insert((digest, body));
        }
        Ok(())
    }

    async fn replace(
        &self,
        conn: &mut SqliteConnection,
        old: &Frame,
        new: &Encoded,
    ) -> Result<(), Error> {
        let (frame, file) = self.place(&new.frame)?;
        sqlx::query(sql::REPLACE_FRAME)
            .bind(&old.owner)
            .bind(old.digest.as_bytes().as_slice())
            .bind(new.base.as_ref().map(|d| d.as_bytes().as_slice()))
            .bind(big_len(new.frame.len()))
            .bind(frame)
            .bind(file)
            .execute(&mut *conn)
            .await
            .map(drop)
            .map_err(|e| self.sql(e))
    }

    async fn delete(&self, conn: &mut SqliteConnection, frame: &Frame) -> Result<(), Error> {
        sqlx::query(sql::DROP_BODY)
            .bind(&frame.owner)
            .bind(frame.digest.as_bytes().as_slice())
            .execute(&mut *conn)
            .await
            .map(drop)
            .map_err(|e| self.sql(e))
    }

    /// A frame of `digest`, of `owner` or of anybody.
    async fn frame(
        &self,
        conn: &mut SqliteConnection,
        owner: Option<&str>,
        digest: Digest,
    ) -> Result<Option<Frame>, Error> {
        let query = match owner {
            Some(owner) => sqlx::query(sql::FRAME_OF_OWNER)
                .bind(digest.as_bytes().as_slice())
                .bind(owner),
            None => sqlx::query(sql::FRAMES).bind(digest.as_bytes().as_slice()),
        };
        let row = query
            .fetch_optional(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        row.as_ref().map(Frame::of).transpose()
    }

    /// The body of a frame; `None` where its file or its base is gone.
    async fn decode(
        &self,
        conn: &mut SqliteConnection,
        frame: &Frame,
    ) -> Result<Option<Vec<u8>>, Error> {
        let Some(base) = frame.base else {
            return self.plain(frame);
        };
        let Some(base) = self.frame(conn, Some(&frame.owner), base).await? else {
            return Ok(None);
        };
        match self.plain(&base)? {
            Some(prefix) => self.unpack(frame, Some(&prefix)),
            None => Ok(None),
        }
    }

    fn plain(&self, frame: &Frame) -> Result<Option<Vec<u8>>, Error> {
        self.unpack(frame, None)
    }

    /// Undoes one frame and verifies the digest.
    fn unpack(&self, frame: &Frame, base: Option<&[u8]>) -> Result<Option<Vec<u8>>, Error> {
        let read;
        let data = match (&frame.data, &frame.file) {
            (Some(data), _) => data,
            (None, Some(file)) => match self.inner.folder.read(file)? {
                Some(bytes) => {
                    read = bytes;
                    &read
                }
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let digest = frame.digest;
        let body = frame::decode(data, base, frame.bytes).map_err(|_| Error::Corrupt { digest })?;
        if Digest::of(&body) == digest {
            Ok(Some(body))
        } else {
            Err(Error::Corrupt { digest })
        }
    }

    fn zstd(&self, source: std::io::Error) -> Error {
        self.sql(sqlx::Error::Io(source))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{body, house, put};

    /// One process drops a body; before its file is removed another stores the same bytes, whose
    /// frame is the same file.
    #[tokio::test]
    async fn a_frame_stored_between_drop_and_removal_keeps_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let (gc, _) = house(dir.path()).await;
        let (driver, segment) = house(dir.path()).await;
        let bytes = body(100_000);
        let digest = put(&driver, segment, "a", &bytes).await;
        let files = gc.drop_frames(&[digest]).await.unwrap();
        assert_eq!(files.len(), 1);
        put(&driver, segment, "b", &bytes).await;
        gc.unlink(&files).await.unwrap();
        assert_eq!(driver.get_body(digest).await.unwrap(), Some(bytes));
    }

    /// Who removes files holds the write lock, under which alone files are written and named.
    #[tokio::test]
    async fn files_are_removed_under_the_write_lock_only() {
        let dir = tempfile::tempdir().unwrap();
        let (gc, _) = house(dir.path()).await;
        let (driver, segment) = house(dir.path()).await;
        let digest = put(&driver, segment, "a", &body(100_000)).await;
        let files = gc.drop_frames(&[digest]).await.unwrap();
        // A transaction that has written its file but not yet committed the row that names it.
        let tx = driver.begin().await.unwrap();
        let mut unlinking = Box::pin(gc.unlink(&files));
        let waited = std::time::Duration::from_millis(200);
        let early = tokio::time::timeout(waited, &mut unlinking).await;
        assert!(early.is_err(), "it did not wait for the lock");
        let name = files.first().unwrap();
        assert!(driver.inner.folder.read(name).unwrap().is_some());
        tx.rollback().await.unwrap();
        unlinking.await.unwrap();
        assert!(driver.inner.folder.read(name).unwrap().is_none());
    }
}
