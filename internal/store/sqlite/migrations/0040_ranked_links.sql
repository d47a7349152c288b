-- How many links the crawl had when it was ranked, with those of pages that the ranking leaves
-- out; 0 of earlier rankings. The other engine's migration of the same name has the same.
ALTER TABLE rankings ADD COLUMN known_links INTEGER NOT NULL DEFAULT 0;
