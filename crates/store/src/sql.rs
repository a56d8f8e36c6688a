//! Every SQL statement of the store.
//!
//! The common part of SQLite's and PostgreSQL's dialects: `$n` placeholders, `BIGINT`, `TEXT` and
//! `BYTEA` only, JSON never looked into, times as parameters. What one of them does its own way
//! stands at the end, under "SQLite only".

/// Steps of the schema; the version of a database is the number of steps taken. Released steps
/// never change.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("../migrations/0001_house.sql")];

pub(crate) const CREATE_VERSIONS: &str =
    "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)";
pub(crate) const COUNT_VERSIONS: &str = "SELECT COUNT(*) FROM schema_version";
pub(crate) const PUT_VERSION: &str = "INSERT INTO schema_version (version) VALUES ($1)";

// The house's rules.

pub(crate) const EPOCH: &str = "SELECT value FROM epoch";
pub(crate) const RAISE_EPOCH: &str = "UPDATE epoch SET value = $1 WHERE value < $1";

// Entries.

pub(crate) const LAST_SEQ: &str = "SELECT MAX(seq) FROM entry";
pub(crate) const COUNT_ENTRIES: &str = "SELECT COUNT(*) FROM entry";
pub(crate) const TAIL: &str = "SELECT * FROM entry WHERE segment = $1 ORDER BY seq DESC LIMIT 1";
pub(crate) const ENTRY: &str = "SELECT * FROM entry WHERE seq = $1";
pub(crate) const ENTRIES: &str = "SELECT * FROM entry WHERE seq >= $1 ORDER BY seq LIMIT $2";
pub(crate) const ENTRIES_OF_KIND: &str =
    "SELECT * FROM entry WHERE kind = $1 AND seq >= $2 ORDER BY seq LIMIT $3";
/// House entries have no number within a lane. Both texts name their partial index's term.
pub(crate) const ENTRIES_OF_HOUSE: &str = "SELECT * FROM entry WHERE lane = $1 AND lane = 0 \
    AND seq < $2 ORDER BY seq DESC LIMIT $3";
pub(crate) const ENTRIES_OF_LANE: &str = "SELECT * FROM entry WHERE lane = $1 AND lane <> 0 \
    AND seq < $2 ORDER BY lane_seq DESC LIMIT $3";
/// The last entry of each segment, by segment; steps from segment to segment by the index.
pub(crate) const HEADS: &str = "WITH RECURSIVE s (id) AS (SELECT MIN(segment) FROM entry \
    UNION ALL SELECT (SELECT MIN(segment) FROM entry WHERE segment > s.id) FROM s \
    WHERE s.id IS NOT NULL) SELECT * FROM entry WHERE seq IN (SELECT (SELECT MAX(seq) \
    FROM entry e WHERE e.segment = s.id) FROM s WHERE s.id IS NOT NULL) ORDER BY segment";
pub(crate) const ERASE: &str = "UPDATE entry SET salt = NULL, payload = NULL WHERE seq = $1";

/// Inserts `count` entries.
pub(crate) fn put_entries(count: usize) -> String {
    let values = placeholders(count, 12);
    format!(
        "INSERT INTO entry (seq, segment, at, kind, kind_version, bot, lane, lane_seq, \
         payload_digest, prev, salt, payload) VALUES {values}"
    )
}

// Projections.

pub(crate) const ROW: &str = "SELECT * FROM projection WHERE name = $1 AND lane = $2 AND key = $3";
pub(crate) const ROWS: &str = "SELECT * FROM projection";
pub(crate) const ROWS_OF: &str = "SELECT * FROM projection WHERE name = $1";
pub(crate) const ROWS_BY_KEY: &str = "SELECT * FROM projection WHERE name = $1 AND key = $2";
pub(crate) const ROWS_OF_LANE: &str = "SELECT * FROM projection WHERE lane = $1";
pub(crate) const ROWS_OF_HOUSE_AND_LANE: &str =
    "SELECT * FROM projection WHERE lane = 0 OR lane = $1";
pub(crate) const COUNT_OTHER_FOLDS: &str =
    "SELECT COUNT(*) FROM projection WHERE fold_version <> $1";
pub(crate) const DUE: &str = "SELECT lane FROM projection WHERE name = 'lane' \
    AND due IS NOT NULL AND due <= $1 ORDER BY due, lane LIMIT $2";
pub(crate) const NEXT_DUE: &str =
    "SELECT MIN(due) FROM projection WHERE name = 'lane' AND due IS NOT NULL";
pub(crate) const DROP_ROW: &str =
    "DELETE FROM projection WHERE name = $1 AND lane = $2 AND key = $3";
pub(crate) const DROP_ROWS: &str = "DELETE FROM projection";

/// Inserts or replaces `count` rows, no two of the same place.
pub(crate) fn put_rows(count: usize) -> String {
    let values = placeholders(count, 7);
    format!(
        "INSERT INTO projection (name, lane, key, due, value, applied_seq, fold_version) \
         VALUES {values} ON CONFLICT (name, lane, key) DO UPDATE SET due = excluded.due, \
         value = excluded.value, applied_seq = excluded.applied_seq, \
         fold_version = excluded.fold_version"
    )
}

// Bodies.

pub(crate) const BODY_IS_STORED: &str = "SELECT bytes FROM body WHERE digest = $1 LIMIT 1";
pub(crate) const BODY_OF_OWNER: &str = "SELECT number FROM body WHERE owner = $1 AND digest = $2";
pub(crate) const BODIES: &str =
    "SELECT owner, digest, bytes, frame_bytes, stored FROM body ORDER BY owner, number";
pub(crate) const FRAMES: &str = "SELECT * FROM body WHERE digest = $1 ORDER BY owner";
pub(crate) const FRAME_OF_OWNER: &str = "SELECT * FROM body WHERE digest = $1 AND owner = $2";
pub(crate) const NEWEST_FULL: &str =
    "SELECT * FROM body WHERE owner = $1 AND base IS NULL ORDER BY number DESC LIMIT 1";
pub(crate) const DELTAS: &str = "SELECT * FROM body WHERE owner = $1 AND base = $2 ORDER BY number";
pub(crate) const COUNT_DELTAS: &str = "SELECT COUNT(*) FROM body WHERE owner = $1 AND base = $2";
pub(crate) const PUT_BODY: &str = "INSERT INTO body (owner, digest, number, base, bytes, \
    frame_bytes, stored, frame, file) VALUES ($1, $2, (SELECT COALESCE(MAX(number), 0) + 1 \
    FROM body WHERE owner = $1), $3, $4, $5, $6, $7, $8)";
pub(crate) const REPLACE_FRAME: &str = "UPDATE body SET base = $3, frame_bytes = $4, \
    frame = $5, file = $6 WHERE owner = $1 AND digest = $2";
pub(crate) const DROP_BODY: &str = "DELETE FROM body WHERE owner = $1 AND digest = $2";
pub(crate) const FILES: &str = "SELECT file FROM body WHERE file IS NOT NULL";
pub(crate) const FILE_IS_NAMED: &str = "SELECT bytes FROM body WHERE file = $1 LIMIT 1";

// SQLite only.

/// Takes the write lock at once; PostgreSQL's rows lock by themselves.
pub(crate) const BEGIN: &str = "BEGIN IMMEDIATE";
/// Moves the write-ahead log into the database.
pub(crate) const CHECKPOINT: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// `(?,?),(?,?)` for 2 rows of 2 columns: the same as `($1,$2),($3,$4)`, which PostgreSQL asks
/// for. SQLite finds the name of a named parameter by a walk through all of them, which took more
/// than half the time of an append.
fn placeholders(rows: usize, columns: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(","));
    vec![row; rows].join(",")
}
