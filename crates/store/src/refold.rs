//! Rows that another version of the fold wrote are folded anew from the journal (DECISIONS 6).

use reigi_core::event::Seq;
use reigi_core::state::Row;
use reigi_core::state::row::FOLD_VERSION;

use crate::columns::big;
use crate::{Error, Store, sql};

impl Store {
    /// Whether every row was written by this program's fold; if not, none may be relied on before
    /// [`Store::replace_rows`].
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn fold_is_current(&self) -> Result<bool, Error> {
        let others: i64 = sqlx::query_scalar(sql::COUNT_OTHER_FOLDS)
            .bind(i64::from(FOLD_VERSION))
            .fetch_one(&self.inner.reader)
            .await
            .map_err(|e| self.sql(e))?;
        Ok(others == 0)
    }

    /// Replaces all rows by those folded from the whole journal up to and with `through`.
    /// `false`: nothing was replaced, since the journal has gone on; fold the rest and call again.
    ///
    /// # Errors
    /// Nothing is replaced: the database cannot be written.
    pub async fn replace_rows(&self, rows: &[Row], through: Seq) -> Result<bool, Error> {
        let mut tx = self.begin().await?;
        let last: Option<i64> = sqlx::query_scalar(sql::LAST_SEQ)
            .fetch_one(&mut *tx)
            .await
            .map_err(|e| self.sql(e))?;
        if last.unwrap_or(0) != big(through.0) {
            return Ok(false);
        }
        sqlx::query(sql::DROP_ROWS)
            .execute(&mut *tx)
            .await
            .map_err(|e| self.sql(e))?;
        let rows: Vec<&Row> = rows.iter().collect();
        self.put_rows(&mut tx, &rows, through).await?;
        tx.commit().await.map_err(|e| self.sql(e))?;
        Ok(true)
    }
}
