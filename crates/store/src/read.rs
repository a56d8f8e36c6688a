//! Reading: entries, heads, rows. Readers see whole commits and never wait for writers.

use reigi_core::event::{LaneId, Seq};
use reigi_core::journal::{Entry, Head};
use reigi_core::state::{Row, Table};
use reigi_core::time::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;

use crate::columns::{self, big, big_len};
use crate::{Error, Store, sql};

impl Store {
    /// The `rules_epoch` in force.
    ///
    /// # Errors
    /// The database cannot be read, as everywhere here.
    pub async fn epoch(&self) -> Result<u64, Error> {
        let mut conn = self.inner.reader.acquire().await.map_err(|e| self.sql(e))?;
        self.read_epoch(&mut conn).await
    }

    pub(crate) async fn read_epoch(&self, conn: &mut SqliteConnection) -> Result<u64, Error> {
        let value: i64 = sqlx::query_scalar(sql::EPOCH)
            .fetch_one(conn)
            .await
            .map_err(|e| self.sql(e))?;
        u64::try_from(value).map_err(|_| Error::row("epoch", "value", "is negative"))
    }

    /// Up to `limit` entries from number `from` on.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn entries(&self, from: Seq, limit: usize) -> Result<Vec<Entry>, Error> {
        let rows = sqlx::query(sql::ENTRIES)
            .bind(big(from.0))
            .bind(big_len(limit))
            .fetch_all(&self.inner.reader)
            .await;
        self.all(rows, columns::entry)
    }

    /// The entry of number `seq`.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn entry(&self, seq: Seq) -> Result<Option<Entry>, Error> {
        let rows = sqlx::query(sql::ENTRY)
            .bind(big(seq.0))
            .fetch_all(&self.inner.reader)
            .await;
        Ok(self.all(rows, columns::entry)?.pop())
    }

    /// Up to `limit` entries of a lane, newest first, before number `before` if given.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn lane_entries(
        &self,
        lane: LaneId,
        before: Option<Seq>,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let text = if lane == LaneId::HOUSE {
            sql::ENTRIES_OF_HOUSE
        } else {
            sql::ENTRIES_OF_LANE
        };
        let rows = sqlx::query(text)
            .bind(big(lane.0))
            .bind(before.map_or(i64::MAX, |seq| big(seq.0)))
            .bind(big_len(limit))
            .fetch_all(&self.inner.reader)
            .await;
        self.all(rows, columns::entry)
    }

    /// Up to `limit` entries of a kind, from number `from` on.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn kind_entries(
        &self,
        kind: &str,
        from: Seq,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let rows = sqlx::query(sql::ENTRIES_OF_KIND)
            .bind(kind)
            .bind(big(from.0))
            .bind(big_len(limit))
            .fetch_all(&self.inner.reader)
            .await;
        self.all(rows, columns::entry)
    }

    /// The heads of all segments, by segment.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn heads(&self) -> Result<Vec<Head>, Error> {
        let mut conn = self.inner.reader.acquire().await.map_err(|e| self.sql(e))?;
        self.read_heads(&mut conn).await
    }

    pub(crate) async fn read_heads(&self, conn: &mut SqliteConnection) -> Result<Vec<Head>, Error> {
        let rows = sqlx::query(sql::HEADS).fetch_all(conn).await;
        let entries = self.all(rows, columns::entry)?;
        Ok(entries
            .into_iter()
            .map(|entry| Head {
                segment: entry.header.segment,
                seq: entry.header.seq,
                hash: entry.header.hash(),
            })
            .collect())
    }

    /// How many entries there are.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn count(&self) -> Result<u64, Error> {
        let count: i64 = sqlx::query_scalar(sql::COUNT_ENTRIES)
            .fetch_one(&self.inner.reader)
            .await
            .map_err(|e| self.sql(e))?;
        Ok(count.unsigned_abs())
    }

    /// All rows that a lane owns.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn rows_of_lane(&self, lane: LaneId) -> Result<Vec<Row>, Error> {
        let rows = sqlx::query(sql::ROWS_OF_LANE)
            .bind(big(lane.0))
            .fetch_all(&self.inner.reader)
            .await;
        self.ordered(rows)
    }

    /// The rows of the house and of a lane, as a transaction sees them.
    pub(crate) async fn rows_within(
        &self,
        conn: &mut SqliteConnection,
        lane: LaneId,
    ) -> Result<Vec<Row>, Error> {
        let rows = sqlx::query(sql::ROWS_OF_HOUSE_AND_LANE)
            .bind(big(lane.0))
            .fetch_all(conn)
            .await;
        self.ordered(rows)
    }

    /// The rows of a projection with this key, in any lane.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn rows_by_key(&self, table: Table, key: &str) -> Result<Vec<Row>, Error> {
        let rows = sqlx::query(sql::ROWS_BY_KEY)
            .bind(table.name())
            .bind(key)
            .fetch_all(&self.inner.reader)
            .await;
        self.ordered(rows)
    }

    /// All rows of a projection.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn rows_of(&self, table: Table) -> Result<Vec<Row>, Error> {
        let rows = sqlx::query(sql::ROWS_OF)
            .bind(table.name())
            .fetch_all(&self.inner.reader)
            .await;
        self.ordered(rows)
    }

    /// One row.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn row(&self, table: Table, lane: LaneId, key: &str) -> Result<Option<Row>, Error> {
        let rows = sqlx::query(sql::ROW)
            .bind(table.name())
            .bind(big(lane.0))
            .bind(key)
            .fetch_all(&self.inner.reader)
            .await;
        Ok(self.all(rows, columns::projection)?.pop())
    }

    /// Every row, in the order of [`Row`]: what a rebuild is compared with.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn all_rows(&self) -> Result<Vec<Row>, Error> {
        let rows = sqlx::query(sql::ROWS).fetch_all(&self.inner.reader).await;
        self.ordered(rows)
    }

    /// Up to `limit` lanes that are due at `now`, the longest due first.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn due_lanes(&self, now: Timestamp, limit: usize) -> Result<Vec<LaneId>, Error> {
        let lanes: Vec<i64> = sqlx::query_scalar(sql::DUE)
            .bind(now.micros())
            .bind(big_len(limit))
            .fetch_all(&self.inner.reader)
            .await
            .map_err(|e| self.sql(e))?;
        Ok(lanes
            .into_iter()
            .map(|n| LaneId(n.unsigned_abs()))
            .collect())
    }

    /// When the next lane is due, whether past or future.
    ///
    /// # Errors
    /// See [`Store::epoch`].
    pub async fn next_due(&self) -> Result<Option<Timestamp>, Error> {
        let due: Option<i64> = sqlx::query_scalar(sql::NEXT_DUE)
            .fetch_one(&self.inner.reader)
            .await
            .map_err(|e| self.sql(e))?;
        Ok(due.map(Timestamp::from_micros))
    }

    fn ordered(&self, rows: Result<Vec<SqliteRow>, sqlx::Error>) -> Result<Vec<Row>, Error> {
        let mut rows = self.all(rows, columns::projection)?;
        rows.sort();
        Ok(rows)
    }

    fn all<T>(
        &self,
        rows: Result<Vec<SqliteRow>, sqlx::Error>,
        read: fn(&SqliteRow) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let rows = rows.map_err(|e| self.sql(e))?;
        rows.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use sqlx::{AssertSqlSafe, Row as _};

    use super::*;

    /// What a driver asks each turn must not read all lanes or entries, whatever their number.
    #[tokio::test]
    async fn hot_queries_search_an_index_and_sort_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).await.unwrap();
        for text in [sql::DUE, sql::NEXT_DUE] {
            let text = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {text}"));
            let plan = sqlx::query(text).bind(1).bind(1);
            let plan = plan.fetch_all(&store.inner.reader).await.unwrap();
            let steps: Vec<String> = plan.iter().map(|step| step.get("detail")).collect();
            let [step] = &steps[..] else {
                panic!("{steps:?}");
            };
            assert!(step.contains("INDEX projection_by_due"), "{step}");
        }
    }
}
