-- How many pages that were new to the crawl a list has brought. A site that gives its
-- lists other names at each reading is known by that. The other engine's migration of the same
-- name has the same.
ALTER TABLE sources ADD COLUMN brought INTEGER NOT NULL DEFAULT 0;
