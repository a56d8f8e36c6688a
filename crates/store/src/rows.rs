//! Projection rows.

use reigi_core::event::{LaneId, Seq};
use reigi_core::state::row::FOLD_VERSION;
use reigi_core::state::{Row, RowChange, Table};
use reigi_core::time::Timestamp;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::journal::{signed, unsigned};
use crate::{Result, Store};

/// Applies one change within a transaction.
pub(crate) async fn apply(
    tx: &mut SqliteConnection,
    change: &RowChange,
    seq: Seq,
) -> sqlx::Result<()> {
    match change {
        RowChange::Put(row) => {
            sqlx::query(
                "INSERT INTO projections (projection, lane, key, due, value, applied_seq, fold_version) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7) \
                 ON CONFLICT (lane, projection, key) DO UPDATE SET due = excluded.due, \
                 value = excluded.value, applied_seq = excluded.applied_seq, \
                 fold_version = excluded.fold_version",
            )
            .bind(row.table.name())
            .bind(signed(row.lane.0))
            .bind(&row.key)
            .bind(row.due.map(Timestamp::micros))
            .bind(&row.value)
            .bind(signed(seq.0))
            .bind(i64::from(FOLD_VERSION))
            .execute(tx)
            .await?;
        }
        RowChange::Drop { table, lane, key } => {
            sqlx::query("DELETE FROM projections WHERE lane = $1 AND projection = $2 AND key = $3")
                .bind(signed(lane.0))
                .bind(table.name())
                .bind(key)
                .execute(tx)
                .await?;
        }
    }
    Ok(())
}

const COLUMNS: &str = "SELECT projection, lane, key, due, value FROM projections";

impl Store {
    /// All rows of a lane.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn rows_of_lane(&self, lane: LaneId) -> Result<Vec<Row>> {
        let sql = const_format(COLUMNS, " WHERE lane = $1 ORDER BY projection, key");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(signed(lane.0));
        self.fetch(query).await
    }

    /// Rows of a projection with this key, in whatever lane.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn rows_by_key(&self, table: Table, key: &str) -> Result<Vec<Row>> {
        let sql = const_format(COLUMNS, " WHERE projection = $1 AND key = $2 ORDER BY lane");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(table.name())
            .bind(key.to_owned());
        self.fetch(query).await
    }

    /// All rows of a projection.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn rows_of(&self, table: Table) -> Result<Vec<Row>> {
        let sql = const_format(COLUMNS, " WHERE projection = $1 ORDER BY lane, key");
        self.fetch(sqlx::query(sqlx::AssertSqlSafe(sql)).bind(table.name()))
            .await
    }

    /// All rows, in the order of their keys: what a rebuild is compared with.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn all_rows(&self) -> Result<Vec<Row>> {
        let sql = const_format(COLUMNS, " ORDER BY lane, projection, key");
        self.fetch(sqlx::query(sqlx::AssertSqlSafe(sql))).await
    }

    /// Lanes that somebody must look at by `now`, longest due first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn due_lanes(&self, now: Timestamp, limit: usize) -> Result<Vec<LaneId>> {
        let mut reader = self.reader().await?;
        let lanes: Vec<i64> = sqlx::query_scalar(
            "SELECT lane FROM projections WHERE projection = 'lane' AND due <= $1 ORDER BY due, lane LIMIT $2",
        )
        .bind(now.micros())
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(&mut *reader)
        .await
        .map_err(|e| self.sql(e))?;
        Ok(lanes
            .into_iter()
            .map(|lane| LaneId(unsigned(lane)))
            .collect())
    }

    /// When the next lane is due.
    ///
    /// # Errors
    /// The store cannot be read.
    pub async fn next_due(&self) -> Result<Option<Timestamp>> {
        let mut reader = self.reader().await?;
        let due: Option<i64> = sqlx::query_scalar(
            "SELECT MIN(due) FROM projections WHERE projection = 'lane' AND due IS NOT NULL",
        )
        .fetch_one(&mut *reader)
        .await
        .map_err(|e| self.sql(e))?;
        Ok(due.map(Timestamp::from_micros))
    }

    async fn fetch(
        &self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<Vec<Row>> {
        let mut reader = self.reader().await?;
        let rows = query
            .fetch_all(&mut *reader)
            .await
            .map_err(|e| self.sql(e))?;
        rows.iter()
            .map(|row| read(row).map_err(|e| self.sql(e)))
            .collect()
    }
}

fn const_format(head: &str, tail: &str) -> String {
    format!("{head}{tail}")
}

fn read(row: &SqliteRow) -> sqlx::Result<Row> {
    let name: String = row.try_get("projection")?;
    let table = Table::by_name(&name)
        .ok_or_else(|| sqlx::Error::Decode(format!("projection {name:?} is not known").into()))?;
    Ok(Row {
        table,
        lane: LaneId(unsigned(row.try_get("lane")?)),
        key: row.try_get("key")?,
        due: row
            .try_get::<Option<i64>, _>("due")?
            .map(Timestamp::from_micros),
        value: row.try_get("value")?,
    })
}
