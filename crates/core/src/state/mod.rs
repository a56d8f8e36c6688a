//! Live state: what the gate looks at. A fold of the journal and nothing else (DECISIONS 6).
//!
//! [`House`] is what holds for all lanes; [`LaneState`] is one host with its targets. Each part
//! that is stored is a row ([`Row`]); `apply` returns the rows that an entry touched, so that the
//! store can write entry and rows in one transaction, and a rebuild can compare them.

mod fold;
pub mod house;
pub mod lane;
pub mod row;
pub mod target;

pub use house::House;
pub use lane::{
    Errand, InFlight, Lane, LaneState, Owed, PendingAnswer, RobotsRecord, RobotsVerdict, Visit,
    Waiting,
};
pub use row::{Row, RowChange, Table};
pub use target::{Change, ChangeState, Earlier, PageState, TargetKey, TargetState};
