-- The workers, and why they make no request: held_since is 0 for those that do. Times
-- and the other engine's migration of the same name: see 0001_collection. A worker has
-- its row from its start on: on a full disk a row may be written over when no other
-- can be added.
CREATE TABLE workers (
    name       TEXT PRIMARY KEY,
    seen_at    INTEGER NOT NULL,
    held_since INTEGER NOT NULL,
    reason     TEXT    NOT NULL
) WITHOUT ROWID;
