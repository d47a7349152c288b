-- Pages that return to a text that they had before. Times and the other engine's migration
-- of the same name: see 0001_collection.

-- timeless: a digest of the version's text without its clocks, '' if it has none.
-- back_visit: the visit by which the page last returned to the version, 0 if none did.
-- left_at: when a return left the version, 0 if none has since the version came.
ALTER TABLE versions ADD COLUMN timeless TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN back_visit BIGINT NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN left_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX versions_back ON versions (page_id, back_visit) WHERE back_visit > 0;

-- The time of the last visit by which the page returned to a text. It is none of
-- last_change: how often a page has new texts does not follow from it.
ALTER TABLE frontier ADD COLUMN last_return BIGINT NOT NULL DEFAULT 0;
CREATE INDEX frontier_returned ON frontier (crawl_id, last_return) WHERE last_return > 0;
