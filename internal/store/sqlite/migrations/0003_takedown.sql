-- Takedown: what must not come back, and bytes that must go. Booleans, times and
-- the PostgreSQL migration of the same name: see 0001_collection.

-- Tombstones: the first half of the SHA-256 of a forgotten URL (kind 1) or host
-- key (kind 2), and nothing that can be read.
CREATE TABLE forgotten (
    kind INTEGER NOT NULL,
    hash BLOB    NOT NULL,
    PRIMARY KEY (kind, hash)
) WITHOUT ROWID;

-- The archive's keys, each with how many versions have it, by deltas. Bytes with
-- refs 0 are to be deleted; until claimed_until somebody is at it, and no version
-- may take them.
CREATE TABLE contents (
    digest        TEXT PRIMARY KEY,
    refs          INTEGER NOT NULL,
    claimed_until INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX contents_unreferenced ON contents (claimed_until, digest) WHERE refs = 0;

INSERT INTO contents (digest, refs)
    SELECT digest, COUNT(*) FROM versions WHERE digest <> '' GROUP BY digest;
