-- Duplicates of whichever page has the better claim to be the original, be it older or
-- younger: the check that of_page is the lower id goes. looked tells maintenance which
-- contents it has compared with all others. Older releases write rows with 0, which are
-- looked at. The other engine's migration of the same name has the same.
ALTER TABLE duplicates DROP CONSTRAINT duplicates_check;
ALTER TABLE duplicates ADD CONSTRAINT duplicates_check CHECK (of_page <> page_id);

ALTER TABLE sketches ADD COLUMN looked SMALLINT NOT NULL DEFAULT 0;
CREATE INDEX sketches_unlooked ON sketches (crawl_id, page_id) WHERE looked = 0;
