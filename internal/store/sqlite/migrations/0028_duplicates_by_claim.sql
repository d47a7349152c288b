-- Duplicates of whichever page has the better claim to be the original, be it older or
-- younger: the check that of_page is the lower id goes. looked tells maintenance which
-- contents it has compared with all others. Older releases write rows with 0, which are
-- looked at. The other engine's migration of the same name has the same.
ALTER TABLE duplicates RENAME TO duplicates_before;
DROP INDEX duplicates_of;
CREATE TABLE duplicates (
    page_id     INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    crawl_id    INTEGER NOT NULL,
    version_id  INTEGER NOT NULL,
    of_page     INTEGER NOT NULL CHECK (of_page <> page_id),
    of_version  INTEGER NOT NULL,
    exact       INTEGER NOT NULL,
    resemblance REAL    NOT NULL,
    at          INTEGER NOT NULL
);
INSERT INTO duplicates SELECT page_id, crawl_id, version_id, of_page, of_version, exact, resemblance, at FROM duplicates_before;
DROP TABLE duplicates_before;
CREATE INDEX duplicates_of ON duplicates (crawl_id, of_page, page_id);

ALTER TABLE sketches ADD COLUMN looked INTEGER NOT NULL DEFAULT 0;
CREATE INDEX sketches_unlooked ON sketches (crawl_id, page_id) WHERE looked = 0;
