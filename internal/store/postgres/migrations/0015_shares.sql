-- Shares of a host's line. Times and the SQLite migration of the same name: see
-- 0001_collection.

-- The grants of a host since the last one to a first visit.
ALTER TABLE hosts ADD COLUMN since_first BIGINT NOT NULL DEFAULT 0;

-- Pages that live, by deltas as the other numbers: with those known and those not
-- attempted they tell how much of a host has been discovered.
ALTER TABLE host_crawls ADD COLUMN living BIGINT NOT NULL DEFAULT 0;
UPDATE host_crawls SET living = (SELECT COUNT(*) FROM frontier f
    WHERE f.host_id = host_crawls.host_id AND f.crawl_id = host_crawls.crawl_id AND f.state BETWEEN 2 AND 7);

-- Who has waited longest. By crawl: a paused one's waiters may be older than all.
CREATE INDEX places_age ON places (host_id, crawl_id, arrived) WHERE state = 1 AND lapsed_at = 0;
