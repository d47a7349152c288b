-- What is kept out of a crawl, and why. Booleans, times and the other engine's
-- migration of the same name: see 0001_collection.

-- Links since the seeds' hosts were left; like level it only falls.
ALTER TABLE pages ADD COLUMN hops BIGINT NOT NULL DEFAULT 0;

-- Rejected links in numbers, by deltas. A number is the sum of its slots.
CREATE TABLE rejections (
    crawl_id BIGINT NOT NULL,
    reason   TEXT NOT NULL,
    slot     BIGINT NOT NULL,
    n        BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, reason, slot)
);

-- Some of them to look at, so many for each reason and crawl: place follows from
-- the URL, and a later URL replaces an earlier one of its place.
CREATE TABLE rejected (
    crawl_id   BIGINT NOT NULL,
    reason     TEXT NOT NULL,
    place      BIGINT NOT NULL,
    url_hash   BYTEA NOT NULL,
    url        TEXT NOT NULL,
    host       TEXT NOT NULL,
    detail     TEXT NOT NULL,
    found_from BIGINT NOT NULL,
    at         BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, reason, place)
);
CREATE INDEX rejected_url ON rejected (url_hash);
CREATE INDEX rejected_host ON rejected (host);
CREATE INDEX rejected_from ON rejected (found_from);
