//! Appending and reading entries.

use std::sync::atomic::Ordering;

use reigi_core::digest::Digest;
use reigi_core::event::{LaneId, SegmentOpened, Seq};
use reigi_core::journal::{Draft, Entry, Head, Header, Sealed, SegmentId};
use reigi_core::state::RowChange;
use reigi_core::time::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::{Error, Result, Store};

/// What one transaction appends.
#[derive(Clone, Copy)]
pub struct Append<'a> {
    /// The writer's segment.
    pub segment: SegmentId,
    /// Entries, in order.
    pub drafts: &'a [Draft],
    /// Bodies that they name.
    pub bodies: &'a [NewBody<'a>],
    /// `rules_epoch` that must still be in force.
    pub guard: Option<u64>,
    /// `rules_epoch` from here on.
    pub raise_epoch: Option<u64>,
}

/// A body to store.
#[derive(Clone, Copy)]
pub struct NewBody<'a> {
    /// SHA-256 of `bytes`.
    pub digest: Digest,
    /// The body.
    pub bytes: &'a [u8],
    /// What it is a version of: versions of one owner are stored against each other.
    pub owner: &'a str,
    /// When it came.
    pub at: Timestamp,
}

impl Store {
    /// Opens a segment: its first entry names the heads of all segments before.
    ///
    /// # Errors
    /// The append failed.
    pub async fn begin_segment(
        &self,
        opened: impl FnOnce(Vec<Head>) -> SegmentOpened,
        at: Timestamp,
    ) -> Result<SegmentId> {
        let mut tx = self.begin().await?;
        let heads = heads(&mut tx).await.map_err(|e| self.sql(e))?;
        let segment = heads.iter().map(|h| h.segment).max().unwrap_or(0) + 1;
        let draft = Draft {
            event: opened(heads).into(),
            at,
            bot: 0,
            lane: LaneId::HOUSE,
            lane_seq: 0,
        };
        insert(&mut tx, segment, std::slice::from_ref(&draft))
            .await
            .map_err(|e| self.sql(e))?;
        self.commit(tx).await?;
        Ok(segment)
    }

    /// Appends in one durable transaction. `fold` sees the numbered headers and says which rows
    /// change; it runs inside the transaction.
    ///
    /// # Errors
    /// [`Error::Stale`] before anything was done; any other error poisons the handle.
    pub async fn append_with<F>(&self, append: Append<'_>, fold: F) -> Result<Vec<Header>>
    where
        F: FnOnce(&[Header]) -> Vec<RowChange>,
    {
        let mut tx = self.begin().await?;
        let in_force = epoch(&mut tx).await.map_err(|e| self.sql(e))?;
        if append.guard.is_some_and(|guard| guard != in_force) {
            return Err(Error::Stale { now: in_force });
        }
        let done = self.fill(&mut tx, append, fold).await;
        // From here on the caller's state may be ahead of the store: no way back.
        let headers = done.inspect_err(|_| self.poison())?;
        self.commit(tx).await?;
        Ok(headers)
    }

    async fn fill<F>(
        &self,
        tx: &mut SqliteConnection,
        append: Append<'_>,
        fold: F,
    ) -> Result<Vec<Header>>
    where
        F: FnOnce(&[Header]) -> Vec<RowChange>,
    {
        for body in append.bodies {
            self.put_body(tx, body).await?;
        }
        let headers = insert(tx, append.segment, append.drafts)
            .await
            .map_err(|e| self.sql(e))?;
        let last = headers.last().map_or(Seq(0), |h| h.seq);
        for change in fold(&headers) {
            crate::rows::apply(tx, &change, last)
                .await
                .map_err(|e| self.sql(e))?;
        }
        if let Some(epoch) = append.raise_epoch {
            let raise = sqlx::query("UPDATE epoch SET value = $1 WHERE id = 1 AND value < $1");
            raise
                .bind(signed(epoch))
                .execute(tx)
                .await
                .map_err(|e| self.sql(e))?;
        }
        Ok(headers)
    }

    /// The `rules_epoch` in force.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn epoch(&self) -> Result<u64> {
        let mut reader = self.reader().await?;
        epoch(&mut reader).await.map_err(|e| self.sql(e))
    }

    /// Up to `limit` entries from `from` on, in order.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn entries(&self, from: Seq, limit: usize) -> Result<Vec<Entry>> {
        let mut reader = self.reader().await?;
        let rows = sqlx::query("SELECT * FROM entries WHERE seq >= $1 ORDER BY seq LIMIT $2")
            .bind(signed(from.0))
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *reader)
            .await
            .map_err(|e| self.sql(e))?;
        rows.iter()
            .map(|row| entry(row).map_err(|e| self.sql(e)))
            .collect()
    }

    /// One entry.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn entry(&self, seq: Seq) -> Result<Option<Entry>> {
        Ok(self
            .entries(seq, 1)
            .await?
            .into_iter()
            .find(|e| e.header.seq == seq))
    }

    /// The last `limit` entries of a lane before `before`, newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn lane_entries(
        &self,
        lane: LaneId,
        before: Option<Seq>,
        limit: usize,
    ) -> Result<Vec<Entry>> {
        let mut reader = self.reader().await?;
        let sql =
            "SELECT * FROM entries WHERE lane = $1 AND seq < $2 ORDER BY lane_seq DESC LIMIT $3";
        let rows = sqlx::query(sql)
            .bind(signed(lane.0))
            .bind(before.map_or(i64::MAX, |seq| signed(seq.0)))
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .fetch_all(&mut *reader)
            .await
            .map_err(|e| self.sql(e))?;
        rows.iter()
            .map(|row| entry(row).map_err(|e| self.sql(e)))
            .collect()
    }

    /// The head of each segment.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn heads(&self) -> Result<Vec<Head>> {
        let mut reader = self.reader().await?;
        heads(&mut reader).await.map_err(|e| self.sql(e))
    }

    /// Number of the last entry.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn count(&self) -> Result<u64> {
        Ok(self
            .heads()
            .await?
            .iter()
            .map(|h| h.seq.0)
            .max()
            .unwrap_or(0))
    }

    /// Erases a payload; the chain still verifies.
    ///
    /// # Errors
    /// The write failed.
    pub async fn erase_payload(&self, seq: Seq) -> Result<()> {
        let mut tx = self.begin().await?;
        sqlx::query("UPDATE entries SET salt = NULL, payload = NULL WHERE seq = $1")
            .bind(signed(seq.0))
            .execute(&mut *tx)
            .await
            .map_err(|e| self.sql(e))?;
        self.commit(tx).await
    }

    pub(crate) async fn begin(&self) -> Result<sqlx::Transaction<'static, sqlx::Sqlite>> {
        if self.poisoned.load(Ordering::SeqCst) {
            return Err(Error::Poisoned);
        }
        self.writer
            .begin_with("BEGIN IMMEDIATE")
            .await
            .map_err(|e| self.sql(e))
    }

    pub(crate) async fn commit(&self, tx: sqlx::Transaction<'static, sqlx::Sqlite>) -> Result<()> {
        tx.commit().await.map_err(|e| {
            self.poison();
            self.sql(e)
        })
    }

    pub(crate) async fn reader(&self) -> Result<sqlx::pool::PoolConnection<sqlx::Sqlite>> {
        self.readers.acquire().await.map_err(|e| self.sql(e))
    }

    pub(crate) fn sql(&self, error: sqlx::Error) -> Error {
        Error::sql(&self.dir, error)
    }

    fn poison(&self) {
        self.poisoned.store(true, Ordering::SeqCst);
    }
}

/// Numbers, chains, seals and inserts drafts.
async fn insert(
    tx: &mut SqliteConnection,
    segment: SegmentId,
    drafts: &[Draft],
) -> sqlx::Result<Vec<Header>> {
    let mut seq = unsigned(
        sqlx::query_scalar("SELECT COALESCE(MAX(seq), 0) FROM entries")
            .fetch_one(&mut *tx)
            .await?,
    );
    let head = sqlx::query("SELECT hash FROM heads WHERE segment = $1").bind(signed(segment));
    let head: Option<Vec<u8>> = head
        .fetch_optional(&mut *tx)
        .await?
        .map(|row| row.try_get(0))
        .transpose()?;
    let mut prev = head
        .and_then(|hash| Digest::from_bytes(&hash))
        .unwrap_or_default();
    let mut headers = Vec::with_capacity(drafts.len());
    for draft in drafts {
        seq += 1;
        let mut salt = [0; 16];
        getrandom::fill(&mut salt).map_err(|e| sqlx::Error::Protocol(e.to_string()))?;
        let sealed = Sealed {
            salt,
            payload: draft.event.encode(),
        };
        let header = Header {
            seq: Seq(seq),
            segment,
            at: draft.at,
            kind: draft.event.kind().to_owned(),
            kind_version: 1,
            bot: draft.bot,
            lane: draft.lane,
            lane_seq: draft.lane_seq,
            payload_digest: sealed.digest(),
            prev,
        };
        prev = header.hash();
        sqlx::query(
            "INSERT INTO entries (seq, segment, at, kind, kind_version, bot, lane, lane_seq, \
             payload_digest, prev, salt, payload) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        )
        .bind(signed(seq))
        .bind(signed(segment))
        .bind(header.at.micros())
        .bind(draft.event.kind())
        .bind(i64::from(header.kind_version))
        .bind(i64::from(header.bot))
        .bind(signed(header.lane.0))
        .bind(signed(header.lane_seq))
        .bind(header.payload_digest.as_bytes().to_vec())
        .bind(header.prev.as_bytes().to_vec())
        .bind(sealed.salt.to_vec())
        .bind(sealed.payload)
        .execute(&mut *tx)
        .await?;
        headers.push(header);
    }
    if !headers.is_empty() {
        sqlx::query(
            "INSERT INTO heads (segment, seq, hash) VALUES ($1, $2, $3) \
             ON CONFLICT (segment) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
        )
        .bind(signed(segment))
        .bind(signed(seq))
        .bind(prev.as_bytes().to_vec())
        .execute(&mut *tx)
        .await?;
    }
    Ok(headers)
}

async fn heads(conn: &mut SqliteConnection) -> sqlx::Result<Vec<Head>> {
    let rows = sqlx::query("SELECT segment, seq, hash FROM heads ORDER BY segment")
        .fetch_all(conn)
        .await?;
    rows.iter()
        .map(|row| {
            Ok(Head {
                segment: unsigned(row.try_get("segment")?),
                seq: Seq(unsigned(row.try_get("seq")?)),
                hash: digest(row, "hash")?,
            })
        })
        .collect()
}

async fn epoch(conn: &mut SqliteConnection) -> sqlx::Result<u64> {
    sqlx::query_scalar("SELECT value FROM epoch WHERE id = 1")
        .fetch_one(conn)
        .await
        .map(unsigned)
}

fn entry(row: &SqliteRow) -> sqlx::Result<Entry> {
    let (salt, payload): (Option<Vec<u8>>, Option<Vec<u8>>) =
        (row.try_get("salt")?, row.try_get("payload")?);
    let salt = salt.and_then(|salt| <[u8; 16]>::try_from(salt).ok());
    Ok(Entry {
        header: Header {
            seq: Seq(unsigned(row.try_get("seq")?)),
            segment: unsigned(row.try_get("segment")?),
            at: Timestamp::from_micros(row.try_get("at")?),
            kind: row.try_get("kind")?,
            kind_version: u16::try_from(row.try_get::<i64, _>("kind_version")?).unwrap_or(u16::MAX),
            bot: u32::try_from(row.try_get::<i64, _>("bot")?).unwrap_or(u32::MAX),
            lane: LaneId(unsigned(row.try_get("lane")?)),
            lane_seq: unsigned(row.try_get("lane_seq")?),
            payload_digest: digest(row, "payload_digest")?,
            prev: digest(row, "prev")?,
        },
        sealed: salt
            .zip(payload)
            .map(|(salt, payload)| Sealed { salt, payload }),
    })
}

pub(crate) fn digest(row: &SqliteRow, column: &str) -> sqlx::Result<Digest> {
    let bytes: Vec<u8> = row.try_get(column)?;
    // A column of another length is a tampered one; the chain check names it.
    Ok(Digest::from_bytes(&bytes).unwrap_or_default())
}

/// SQL has no unsigned integers; our numbers stay far below the sign.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
