-- Requisites: images, styles and fonts of pages. They are pages of kind 3, and rest in state
-- 11 when they were visited. requisites repeats the spec. The other engine's migration of
-- the same name has the same.
ALTER TABLE crawls ADD COLUMN requisites BIGINT NOT NULL DEFAULT 0;

-- Nothing else has a priority so low. Those of one state come in the order in which they
-- were found.
CREATE INDEX frontier_requisites ON frontier (crawl_id, state, page_id) WHERE priority <= -1000000;
