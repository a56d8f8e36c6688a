//! Projection rows: how state is stored. A table, a lane, a key, when it is due, and JSON.

use serde::{Serialize, de::DeserializeOwned};

use crate::event::LaneId;
use crate::time::Timestamp;

/// Raised whenever the meaning of a fold changes; rows of another version are refolded.
pub const FOLD_VERSION: u32 = 2;

/// The projections.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Table {
    /// The house: epoch, charters, pauses, opt-outs, pacers.
    House,
    /// A lane.
    Lane,
    /// A target with its pages.
    Target,
    /// A change with its review.
    Change,
}

impl Table {
    /// Stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::House => "house",
            Self::Lane => "lane",
            Self::Target => "target",
            Self::Change => "change",
        }
    }

    /// By stable name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::House, Self::Lane, Self::Target, Self::Change]
            .into_iter()
            .find(|t| t.name() == name)
    }
}

/// One stored row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Row {
    /// Projection.
    pub table: Table,
    /// Lane that owns it, 0 = the house.
    pub lane: LaneId,
    /// Key within (table, lane).
    pub key: String,
    /// When somebody must look at it, for the index of due lanes.
    pub due: Option<Timestamp>,
    /// JSON.
    pub value: String,
}

impl Row {
    /// A row of `value`.
    pub fn new<T: Serialize>(
        table: Table,
        lane: LaneId,
        key: &str,
        due: Option<Timestamp>,
        value: &T,
    ) -> Self {
        let value = serde_json::to_string(value).unwrap_or_default();
        Self {
            table,
            lane,
            key: key.to_owned(),
            due,
            value,
        }
    }

    /// Reads the value back.
    ///
    /// # Errors
    /// The row was written by a fold of another shape.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::from_str(&self.value)
    }
}

/// What an entry does to the rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RowChange {
    /// Insert or replace.
    Put(Row),
    /// Remove.
    Drop {
        /// Projection.
        table: Table,
        /// Lane.
        lane: LaneId,
        /// Key.
        key: String,
    },
}
