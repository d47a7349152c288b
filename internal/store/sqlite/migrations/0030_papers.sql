-- When a crawl was stopped, 0 while it runs, and how long it was stopped before, in all.
-- What is counted per time counts until the stop. site_time and site_round repeat the
-- spec: for how much of each round new pages of a host may come in, 0 for all of it.
-- round_at is when a host's round began. The other engine's migration of the same name
-- has the same.
ALTER TABLE crawls ADD COLUMN stopped_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE crawls ADD COLUMN rested INTEGER NOT NULL DEFAULT 0;
ALTER TABLE crawls ADD COLUMN site_time INTEGER NOT NULL DEFAULT 0;
ALTER TABLE crawls ADD COLUMN site_round INTEGER NOT NULL DEFAULT 0;
ALTER TABLE host_crawls ADD COLUMN round_at INTEGER NOT NULL DEFAULT 0;
