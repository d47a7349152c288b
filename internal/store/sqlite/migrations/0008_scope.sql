-- What is kept out of a crawl, and why. Booleans, times and the other engine's
-- migration of the same name: see 0001_collection.

-- Links since the seeds' hosts were left; like level it only falls.
ALTER TABLE pages ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;

-- Rejected links in numbers, by deltas. A number is the sum of its slots.
CREATE TABLE rejections (
    crawl_id INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    slot     INTEGER NOT NULL,
    n        INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, reason, slot)
) WITHOUT ROWID;

-- Some of them to look at, so many for each reason and crawl: place follows from
-- the URL, and a later URL replaces an earlier one of its place.
CREATE TABLE rejected (
    crawl_id   INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    place      INTEGER NOT NULL,
    url_hash   BLOB NOT NULL,
    url        TEXT NOT NULL,
    host       TEXT NOT NULL,
    detail     TEXT NOT NULL,
    found_from INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, reason, place)
) WITHOUT ROWID;
CREATE INDEX rejected_url ON rejected (url_hash);
CREATE INDEX rejected_host ON rejected (host);
CREATE INDEX rejected_from ON rejected (found_from);
