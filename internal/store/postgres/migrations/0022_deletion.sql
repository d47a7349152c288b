-- Crawls that are being deleted. Booleans, times and the other engine's migration of the
-- same name: see 0001_collection.

-- The crawl is there only to be deleted.
ALTER TABLE crawls ADD COLUMN deleting BIGINT NOT NULL DEFAULT 0;

-- The lines of a crawl, to be deleted with it.
CREATE INDEX lines_crawl ON lines (crawl_id, host_id);
