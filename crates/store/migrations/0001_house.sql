-- The common part of SQLite's and PostgreSQL's SQL: BIGINT, TEXT and BYTEA only.
-- Times are microseconds since the Unix epoch, digests 32 raw bytes.

CREATE TABLE epoch (value BIGINT NOT NULL);
INSERT INTO epoch (value) VALUES (0);

CREATE TABLE entry (
    seq BIGINT PRIMARY KEY,
    segment BIGINT NOT NULL,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    kind_version BIGINT NOT NULL,
    bot BIGINT NOT NULL,
    lane BIGINT NOT NULL,
    lane_seq BIGINT NOT NULL,
    payload_digest BYTEA NOT NULL,
    prev BYTEA NOT NULL,
    salt BYTEA,
    payload BYTEA
);
CREATE INDEX entry_by_segment ON entry (segment, seq);
CREATE INDEX entry_by_kind ON entry (kind, seq);
CREATE INDEX entry_of_house ON entry (seq) WHERE lane = 0;
CREATE UNIQUE INDEX entry_by_lane ON entry (lane, lane_seq) WHERE lane <> 0;

CREATE TABLE projection (
    name TEXT NOT NULL,
    lane BIGINT NOT NULL,
    key TEXT NOT NULL,
    due BIGINT,
    value TEXT NOT NULL,
    applied_seq BIGINT NOT NULL,
    fold_version BIGINT NOT NULL,
    PRIMARY KEY (name, lane, key)
);
CREATE INDEX projection_by_lane ON projection (lane);
CREATE INDEX projection_by_key ON projection (name, key);
CREATE INDEX projection_by_due ON projection (name, due, lane) WHERE due IS NOT NULL;

-- A frame belongs to (owner, digest). `base` names the owner's full frame that a delta needs;
-- exactly one of `frame` and `file` is set.
CREATE TABLE body (
    owner TEXT NOT NULL,
    digest BYTEA NOT NULL,
    number BIGINT NOT NULL,
    base BYTEA,
    bytes BIGINT NOT NULL,
    frame_bytes BIGINT NOT NULL,
    stored BIGINT NOT NULL,
    frame BYTEA,
    file TEXT,
    PRIMARY KEY (owner, digest)
);
CREATE INDEX body_by_digest ON body (digest);
CREATE INDEX body_by_owner ON body (owner, number);
CREATE INDEX body_by_base ON body (owner, base) WHERE base IS NOT NULL;
CREATE INDEX body_by_file ON body (file) WHERE file IS NOT NULL;
