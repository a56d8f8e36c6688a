-- The house: journal, projections, evidence. Only SQL that SQLite and PostgreSQL both run.
CREATE TABLE entries (
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
CREATE UNIQUE INDEX entries_lane ON entries (lane, lane_seq) WHERE lane > 0;

CREATE TABLE heads (
    segment BIGINT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash BYTEA NOT NULL
);

CREATE TABLE epoch (
    id BIGINT PRIMARY KEY,
    value BIGINT NOT NULL
);
INSERT INTO epoch (id, value) VALUES (1, 0);

CREATE TABLE projections (
    projection TEXT NOT NULL,
    lane BIGINT NOT NULL,
    key TEXT NOT NULL,
    due BIGINT,
    value TEXT NOT NULL,
    applied_seq BIGINT NOT NULL,
    fold_version BIGINT NOT NULL,
    PRIMARY KEY (lane, projection, key)
);
CREATE INDEX projections_due ON projections (projection, due) WHERE due IS NOT NULL;
CREATE INDEX projections_key ON projections (projection, key);

-- A frame belongs to (owner, digest). base NULL: a full frame; else a delta against that digest
-- of the same owner. frame NULL: the bytes are in the folder.
CREATE TABLE frames (
    owner TEXT NOT NULL,
    digest BYTEA NOT NULL,
    base BYTEA,
    bytes BIGINT NOT NULL,
    stored BIGINT NOT NULL,
    frame BYTEA,
    PRIMARY KEY (owner, digest)
);
CREATE INDEX frames_digest ON frames (digest);
