-- Why the threshold of a crawl is where its last turn of maintenance put it: reasons as
-- JSON, empty for none. The other engine's migration of the same name has the same.
ALTER TABLE steering ADD COLUMN reasons TEXT NOT NULL DEFAULT '';
