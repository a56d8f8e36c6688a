//! Between SQL's types and core's: 64-bit integers, digests, entries, rows.

use reigi_core::digest::Digest;
use reigi_core::event::{LaneId, Seq};
use reigi_core::journal::{Entry, Header, Sealed};
use reigi_core::state::{Row, Table};
use reigi_core::time::Timestamp;
use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;

use crate::Error;

/// An unsigned number as BIGINT. Numbers count from 1, so that saturating is out of reach.
pub(crate) fn big(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A length as BIGINT.
pub(crate) fn big_len(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Columns of one database row, read with errors that name it.
pub(crate) struct Columns<'a> {
    pub(crate) table: &'a str,
    pub(crate) row: &'a SqliteRow,
}

impl Columns<'_> {
    pub(crate) fn get<'r, T>(&'r self, column: &str) -> Result<T, Error>
    where
        T: sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
    {
        self.row
            .try_get(column)
            .map_err(|e| self.bad(column, &e.to_string()))
    }

    pub(crate) fn number<N: TryFrom<i64>>(&self, column: &str) -> Result<N, Error> {
        let value: i64 = self.get(column)?;
        N::try_from(value).map_err(|_| self.bad(column, &format!("{value} is out of range")))
    }

    pub(crate) fn time(&self, column: &str) -> Result<Timestamp, Error> {
        self.get(column).map(Timestamp::from_micros)
    }

    pub(crate) fn digest(&self, column: &str) -> Result<Digest, Error> {
        let bytes: &[u8] = self.get(column)?;
        Digest::from_bytes(bytes).ok_or_else(|| self.bad(column, "no digest of 32 bytes"))
    }

    pub(crate) fn bad(&self, column: &str, why: &str) -> Error {
        Error::row(self.table, column, why)
    }
}

/// An entry.
pub(crate) fn entry(row: &SqliteRow) -> Result<Entry, Error> {
    let c = Columns {
        table: "entry",
        row,
    };
    let header = Header {
        seq: Seq(c.number("seq")?),
        segment: c.number("segment")?,
        at: c.time("at")?,
        kind: c.get("kind")?,
        kind_version: c.number("kind_version")?,
        bot: c.number("bot")?,
        lane: LaneId(c.number("lane")?),
        lane_seq: c.number("lane_seq")?,
        payload_digest: c.digest("payload_digest")?,
        prev: c.digest("prev")?,
    };
    let salt: Option<&[u8]> = c.get("salt")?;
    let payload: Option<Vec<u8>> = c.get("payload")?;
    let sealed = match (salt, payload) {
        (Some(salt), Some(payload)) => Some(Sealed {
            salt: salt.try_into().map_err(|_| c.bad("salt", "no 16 bytes"))?,
            payload,
        }),
        _ => None,
    };
    Ok(Entry { header, sealed })
}

/// A projection row.
pub(crate) fn projection(row: &SqliteRow) -> Result<Row, Error> {
    let c = Columns {
        table: "projection",
        row,
    };
    let name: &str = c.get("name")?;
    let due: Option<i64> = c.get("due")?;
    Ok(Row {
        table: Table::by_name(name).ok_or_else(|| c.bad("name", &format!("unknown: {name}")))?,
        lane: LaneId(c.number("lane")?),
        key: c.get("key")?,
        due: due.map(Timestamp::from_micros),
        value: c.get("value")?,
    })
}
