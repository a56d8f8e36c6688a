//! The inside of an append's transaction: entries are numbered, salted, hashed and linked, rows
//! replaced, and the handle is poisoned for as long as nobody knows whether that is durable.

use std::collections::BTreeMap;

use reigi_core::digest::Digest;
use reigi_core::event::{LaneId, Seq};
use reigi_core::journal::{Draft, Entry, Header, Sealed, SegmentId};
use reigi_core::state::row::FOLD_VERSION;
use reigi_core::state::{Row, RowChange, Table};
use reigi_core::time::Timestamp;
use sqlx::{AssertSqlSafe, Sqlite, SqliteConnection, Transaction};

use crate::columns::{self, big};
use crate::{Append, Error, Store, sql};

/// Version of all kinds that this program writes.
const KIND_VERSION: u16 = 1;
/// Rows of one INSERT, at most, as a power of two: enough that the statement's overhead is gone.
const PIECE_LOG_MAX: u32 = 6;

impl Store {
    /// Writes bodies, entries and epoch of `appends`; their headers, in order.
    ///
    /// From here to the end of [`Store::finish`] the handle is poisoned, also where this future
    /// is dropped: until the entries are known to be durable they may not be.
    pub(crate) async fn write(
        &self,
        conn: &mut SqliteConnection,
        segment: SegmentId,
        appends: &[Append<'_>],
    ) -> Result<Vec<Header>, Error> {
        self.set_poisoned(true);
        let written = self.write_all(conn, segment, appends).await;
        if let Err(error) = &written {
            // A broken rule was found before anything took effect, in memory or on disk.
            self.set_poisoned(!error.is_refusal());
        }
        written
    }

    /// Replaces rows and makes the transaction durable.
    pub(crate) async fn finish(
        &self,
        mut tx: Transaction<'static, Sqlite>,
        changes: &[RowChange],
        applied: Seq,
    ) -> Result<(), Error> {
        self.apply(&mut tx, changes, applied).await?;
        tx.commit().await.map_err(|e| self.sql(e))?;
        self.set_poisoned(false);
        Ok(())
    }

    async fn write_all(
        &self,
        conn: &mut SqliteConnection,
        segment: SegmentId,
        appends: &[Append<'_>],
    ) -> Result<Vec<Header>, Error> {
        for body in appends.iter().flat_map(|append| append.bodies) {
            self.put_body(conn, body).await?;
        }
        let drafts = appends.iter().flat_map(|append| append.drafts);
        let headers = self.put_entries(conn, segment, drafts).await?;
        if let Some(epoch) = appends.iter().filter_map(|a| a.raise_epoch).max() {
            sqlx::query(sql::RAISE_EPOCH)
                .bind(big(epoch))
                .execute(&mut *conn)
                .await
                .map_err(|e| self.sql(e))?;
        }
        Ok(headers)
    }

    /// Numbers, salts, hashes and links drafts behind what is there, and inserts them.
    pub(crate) async fn put_entries(
        &self,
        conn: &mut SqliteConnection,
        segment: SegmentId,
        drafts: impl IntoIterator<Item = &Draft>,
    ) -> Result<Vec<Header>, Error> {
        let last: Option<i64> = sqlx::query_scalar(sql::LAST_SEQ)
            .fetch_one(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        let mut seq = last.map_or(0, i64::unsigned_abs);
        let tail = sqlx::query(sql::TAIL)
            .bind(big(segment))
            .fetch_optional(&mut *conn)
            .await
            .map_err(|e| self.sql(e))?;
        let mut prev = match tail {
            Some(row) => columns::entry(&row)?.header.hash(),
            None => Digest::default(),
        };
        let mut entries = Vec::new();
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
        self.insert_entries(conn, &entries).await?;
        Ok(entries.into_iter().map(|entry| entry.header).collect())
    }

    async fn insert_entries(
        &self,
        conn: &mut SqliteConnection,
        entries: &[Entry],
    ) -> Result<(), Error> {
        for piece in pieces(entries) {
            let text = sql::put_entries(piece.len());
            // Only placeholders were added to the text.
            let mut query = sqlx::query(AssertSqlSafe(text));
            for Entry { header, sealed } in piece {
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
            query.execute(&mut *conn).await.map_err(|e| match e {
                // The one unique thing about an entry that a caller chooses.
                sqlx::Error::Database(e) if e.is_unique_violation() => Error::LaneTaken,
                e => self.sql(e),
            })?;
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
                    sqlx::query(sql::DROP_ROW)
                        .bind(table.name())
                        .bind(big(lane.0))
                        .bind(key)
                        .execute(&mut *conn)
                        .await
                        .map_err(|e| self.sql(e))?;
                }
            }
        }
        self.put_rows(conn, &puts, applied).await
    }

    /// Inserts or replaces rows, no two of the same place.
    pub(crate) async fn put_rows(
        &self,
        conn: &mut SqliteConnection,
        rows: &[&Row],
        applied: Seq,
    ) -> Result<(), Error> {
        for piece in pieces(rows) {
            self.put_piece(conn, piece, applied).await?;
        }
        Ok(())
    }

    async fn put_piece(
        &self,
        conn: &mut SqliteConnection,
        rows: &[&Row],
        applied: Seq,
    ) -> Result<(), Error> {
        let text = sql::put_rows(rows.len());
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

/// Splits rows into pieces of 64, then of smaller powers of two: a handful of statements, each
/// prepared once, whatever the number of rows.
fn pieces<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let len = 1 << rows.len().checked_ilog2()?.min(PIECE_LOG_MAX);
        let (piece, rest) = rows.split_at_checked(len)?;
        rows = rest;
        Some(piece)
    })
}

fn salt() -> Result<[u8; 16], Error> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|e| Error::Io {
        path: "the system's random numbers".into(),
        source: std::sync::Arc::new(std::io::Error::other(e.to_string())),
    })?;
    Ok(salt)
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_are_few_sizes_and_leave_nothing_out() {
        for (len, sizes) in [
            (0, &[][..]),
            (1, &[1]),
            (63, &[32, 16, 8, 4, 2, 1]),
            (64, &[64]),
            (130, &[64, 64, 2]),
        ] {
            let rows: Vec<usize> = (0..len).collect();
            let split: Vec<&[usize]> = pieces(&rows).collect();
            let found: Vec<usize> = split.iter().map(|piece| piece.len()).collect();
            assert_eq!(found, sizes);
            assert_eq!(split.concat(), rows);
        }
    }
}
