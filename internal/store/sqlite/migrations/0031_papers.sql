-- When a crawl was stopped, 0 while it runs, and how long it was stopped before, in all.
-- What is counted per time counts until the stop. The other engine's migration of the
-- same name has the same.
ALTER TABLE crawls ADD COLUMN stopped_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE crawls ADD COLUMN rested INTEGER NOT NULL DEFAULT 0;
