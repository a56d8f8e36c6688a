//! The one way into the journal: entries, rows and bodies in one durable transaction.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use reigi_core::digest::Digest;
use reigi_core::event::{Event, LaneId, SegmentOpened, Seq};
use reigi_core::journal::{Draft, Entry, Head, Header, Sealed, SegmentId};
use reigi_core::state::row::FOLD_VERSION;
use reigi_core::state::{Row, RowChange, Table};
use reigi_core::time::Timestamp;
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::sql::big;
use crate::{Error, Store, sql};

/// Version of all kinds that this program writes.
const KIND_VERSION: u16 = 1;
/// Rows of one INSERT: enough that the statement's overhead is gone.
const CHUNK: usize = 50;

/// What is to be appended together.
#[derive(Clone, Copy, Debug)]
pub struct Append<'a> {
    /// Segment of this writer.
    pub segment: SegmentId,
    /// Entries, in order.
    pub drafts: &'a [Draft],
    /// Bodies that the entries name.
    pub bodies: &'a [NewBody<'a>],
    /// The `rules_epoch` that must be in force, if the entries are decisions.
    pub guard: Option<u64>,
    /// The `rules_epoch` that the entries bring; it is never lowered.
    pub raise_epoch: Option<u64>,
}

/// A body to store.
#[derive(Clone, Copy, Debug)]
pub struct NewBody<'a> {
    /// SHA-256 of `bytes`.
    pub digest: Digest,
    /// The body.
    pub bytes: &'a [u8],
    /// Whose version it is: versions of one owner are stored as differences.
    pub owner: &'a str,
    /// Wall time.
    pub at: Timestamp,
}

impl Store {
    /// Opens a segment: its first entry is what `opened` makes of the heads of all others.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn begin_segment(
        &self,
        opened: impl FnOnce(Vec<Head>) -> SegmentOpened,
        at: Timestamp,
    ) -> Result<SegmentId, Error> {
        let mut tx = self.begin().await?;
        let heads = self.read_heads(&mut tx).await?;
        let segment = heads.last().map_or(0, |head| head.segment) + 1;
        let draft = Draft {
            event: Event::SegmentOpened(opened(heads)),
            at,
            bot: 0,
            lane: LaneId::HOUSE,
            lane_seq: 0,
        };
        let entries = self
            .chain(&mut tx, segment, std::slice::from_ref(&draft))
            .await?;
        self.insert_entries(&mut tx, &entries).await?;
        self.sweep(&mut tx).await?;
        tx.commit().await.map_err(|e| self.sql(e))?;
        Ok(segment)
    }

    /// Appends entries with their bodies, and the row changes that `fold` makes of their headers:
    /// all durable when this returns, or nothing.
    ///
    /// `fold` runs inside the transaction, after everything that can be refused was written. If
    /// anything fails from there on, its caller's memory is ahead of the disk: the handle is
    /// poisoned.
    ///
    /// # Errors
    /// [`Error::Stale`] before anything is written if `guard` is not the epoch in force;
    /// [`Error::Poisoned`] after an earlier failure; otherwise what the database says.
    pub async fn append_with<F>(&self, append: Append<'_>, fold: F) -> Result<Vec<Header>, Error>
    where
        F: FnOnce(&[Header]) -> Vec<RowChange>,
    {
        let mut tx = self.begin().await?;
        let now = self.read_epoch(&mut tx).await?;
        if append.guard.is_some_and(|guard| guard != now) {
            return Err(Error::Stale { now });
        }
        // Until it is known to be durable it may not be: also where this future is dropped.
        self.set_poisoned(true);
        let written = self.write(&mut tx, append).await;
        let headers = match written {
            Ok(headers) => headers,
            Err(error) => {
                // A broken rule was found before anything took effect, in memory or on disk.
                self.set_poisoned(!error.is_constraint());
                return Err(error);
            }
        };
        let changes = fold(&headers);
        let applied = headers.last().map_or(Seq(0), |header| header.seq);
        self.apply(&mut tx, &changes, applied).await?;
        tx.commit().await.map_err(|e| self.sql(e))?;
        self.set_poisoned(false);
        Ok(headers)
    }

    /// Appends one entry that is decided on the rows of the house and of `lane` as they are inside
    /// the transaction: whatever another process appends meanwhile, it is decided on the truth.
    ///
    /// `decide` gives the entry and the fold that makes row changes of its header. What it refuses
    /// leaves nothing behind.
    ///
    /// # Errors
    /// What `decide` says, or the database.
    pub async fn append_decided<D, F, E>(
        &self,
        segment: SegmentId,
        lane: LaneId,
        decide: D,
    ) -> Result<Header, E>
    where
        D: FnOnce(Vec<Row>) -> Result<(Draft, F), E>,
        F: FnOnce(&Header) -> Vec<RowChange>,
        E: From<Error>,
    {
        let mut tx = self.begin().await?;
        let (draft, fold) = decide(self.rows_within(&mut tx, lane).await?)?;
        let append = Append {
            segment,
            drafts: std::slice::from_ref(&draft),
            bodies: &[],
            guard: None,
            raise_epoch: draft.event.epoch_raised(),
        };
        let mut headers = self.write(&mut tx, append).await?;
        let header = headers.pop().ok_or(Error::Poisoned)?;
        self.apply(&mut tx, &fold(&header), header.seq).await?;
        tx.commit().await.map_err(|e| self.sql(e))?;
        Ok(header)
    }

    /// Deletes the payload of an entry, with its salt; the header stays in the chain.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn erase_payload(&self, seq: Seq) -> Result<(), Error> {
        sqlx::query("UPDATE entry SET salt = NULL, payload = NULL WHERE seq = $1")
            .bind(big(seq.0))
            .execute(&self.inner.writer)
            .await
            .map_err(|e| self.sql(e))?;
        self.checkpoint().await
    }

    async fn write(
        &self,
        conn: &mut SqliteConnection,
        append: Append<'_>,
    ) -> Result<Vec<Header>, Error> {
        for body in append.bodies {
            self.put_body(conn, body).await?;
        }
        let entries = self.chain(conn, append.segment, append.drafts).await?;
        self.insert_entries(conn, &entries).await?;
        if let Some(epoch) = append.raise_epoch {
            sqlx::query("UPDATE epoch SET value = $1 WHERE value < $1")
                .bind(big(epoch))
                .execute(&mut *conn)
                .await
                .map_err(|e| self.sql(e))?;
        }
        Ok(entries.into_iter().map(|entry| entry.header).collect())
    }

    /// Numbers, salts, hashes and links drafts behind what is there.
    async fn chain(
        &self,
        conn: &mut SqliteConnection,
        segment: SegmentId,
        drafts: &[Draft],
    ) -> Result<Vec<Entry>, Error> {
        let last: Option<i64> = sqlx::query_scalar("SELECT MAX(seq) FROM entry")
            .fetch_one(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        let mut seq = last.map_or(0, i64::unsigned_abs);
        let tail = sqlx::query("SELECT * FROM entry WHERE segment = $1 ORDER BY seq DESC LIMIT 1")
            .bind(big(segment))
            .fetch_optional(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        let mut prev = match tail {
            Some(row) => sql::entry(&row)?.header.hash(),
            None => Digest::default(),
        };
        let mut entries = Vec::with_capacity(drafts.len());
        for draft in drafts {
            seq += 1;
            let sealed = Sealed {
                salt: salt()?,
                payload: draft.event.encode(),
            };
            let header = Header {
                seq: Seq(seq),
                segment,
                at: draft.at,
                kind: draft.event.kind().to_owned(),
                kind_version: KIND_VERSION,
                bot: draft.bot,
                lane: draft.lane,
                lane_seq: draft.lane_seq,
                payload_digest: sealed.digest(),
                prev,
            };
            prev = header.hash();
            entries.push(Entry {
                header,
                sealed: Some(sealed),
            });
        }
        Ok(entries)
    }

    async fn insert_entries(
        &self,
        conn: &mut SqliteConnection,
        entries: &[Entry],
    ) -> Result<(), Error> {
        for chunk in entries.chunks(CHUNK) {
            let text = format!(
                "INSERT INTO entry (seq, segment, at, kind, kind_version, bot, lane, lane_seq, \
                 payload_digest, prev, salt, payload) VALUES {}",
                placeholders(chunk.len(), 12)
            );
            // Only placeholders were added to the text.
            let mut query = sqlx::query(AssertSqlSafe(text));
            for Entry { header, sealed } in chunk {
                query = query
                    .bind(big(header.seq.0))
                    .bind(big(header.segment))
                    .bind(header.at.micros())
                    .bind(&header.kind)
                    .bind(i64::from(header.kind_version))
                    .bind(i64::from(header.bot))
                    .bind(big(header.lane.0))
                    .bind(big(header.lane_seq))
                    .bind(header.payload_digest.as_bytes().as_slice())
                    .bind(header.prev.as_bytes().as_slice())
                    .bind(sealed.as_ref().map(|s| s.salt.as_slice()))
                    .bind(sealed.as_ref().map(|s| s.payload.as_slice()));
            }
            query.execute(&mut *conn).await.map_err(|e| self.sql(e))?;
        }
        Ok(())
    }

    async fn apply(
        &self,
        conn: &mut SqliteConnection,
        changes: &[RowChange],
        applied: Seq,
    ) -> Result<(), Error> {
        // Of several changes of one row the last one counts: no statement meets a row twice.
        let last: BTreeMap<_, _> = changes
            .iter()
            .map(|change| (place(change), change))
            .collect();
        let mut puts = Vec::new();
        for change in last.into_values() {
            match change {
                RowChange::Put(row) => puts.push(row),
                RowChange::Drop { table, lane, key } => {
                    sqlx::query(
                        "DELETE FROM projection WHERE name = $1 AND lane = $2 AND key = $3",
                    )
                    .bind(table.name())
                    .bind(big(lane.0))
                    .bind(key)
                    .execute(&mut *conn)
                    .await
                    .map_err(|e| self.sql(e))?;
                }
            }
        }
        for chunk in puts.chunks(CHUNK) {
            self.put_rows(conn, chunk, applied).await?;
        }
        Ok(())
    }

    async fn put_rows(
        &self,
        conn: &mut SqliteConnection,
        rows: &[&Row],
        applied: Seq,
    ) -> Result<(), Error> {
        let text = format!(
            "INSERT INTO projection (name, lane, key, due, value, applied_seq, fold_version) \
             VALUES {} ON CONFLICT (name, lane, key) DO UPDATE SET due = excluded.due, \
             value = excluded.value, applied_seq = excluded.applied_seq, \
             fold_version = excluded.fold_version",
            placeholders(rows.len(), 7)
        );
        // Only placeholders were added to the text.
        let mut query = sqlx::query(AssertSqlSafe(text));
        for row in rows {
            query = query
                .bind(row.table.name())
                .bind(big(row.lane.0))
                .bind(&row.key)
                .bind(row.due.map(Timestamp::micros))
                .bind(&row.value)
                .bind(big(applied.0))
                .bind(i64::from(FOLD_VERSION));
        }
        let done = query.execute(&mut *conn).await;
        done.map(drop).map_err(|e| self.sql(e))
    }
}

/// The row that a change is about.
fn place(change: &RowChange) -> (Table, LaneId, &str) {
    match change {
        RowChange::Put(row) => (row.table, row.lane, &row.key),
        RowChange::Drop { table, lane, key } => (*table, *lane, key),
    }
}

/// `($1,$2),($3,$4)` for 2 rows of 2 columns.
fn placeholders(rows: usize, columns: usize) -> String {
    let mut text = String::new();
    for row in 0..rows {
        text.push_str(if row == 0 { "(" } else { ",(" });
        for column in 0..columns {
            let comma = if column == 0 { "" } else { "," };
            // Writing to a String cannot fail.
            let _ = write!(text, "{comma}${}", row * columns + column + 1);
        }
        text.push(')');
    }
    text
}

fn salt() -> Result<[u8; 16], Error> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|e| Error::Io {
        path: "the system's random numbers".into(),
        source: std::io::Error::other(e.to_string()),
    })?;
    Ok(salt)
}
