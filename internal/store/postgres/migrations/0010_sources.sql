-- Lists of URLs that sites publish: sitemaps and feeds. Booleans, times and the
-- other engine's migration of the same name: see 0001_collection.

-- 0 for a page, 1 for a sitemap, 2 for a feed.
ALTER TABLE pages ADD COLUMN kind BIGINT NOT NULL DEFAULT 0;

-- The source whose word moved the page's next visit, 0 for none.
ALTER TABLE frontier ADD COLUMN hinted_by BIGINT NOT NULL DEFAULT 0;

-- A row for each page that is no page but a list of others. nesting is how many
-- indexes lie above it. The numbers from entries on are of the last time that it
-- was read, at read_at; hinted, hits and misses are of its whole life: visits that
-- it moved, those that found a change, and those that found none.
CREATE TABLE sources (
    page_id  BIGINT PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    crawl_id BIGINT NOT NULL,
    host_id  BIGINT NOT NULL,
    kind     BIGINT NOT NULL,
    nesting  BIGINT NOT NULL,
    format   TEXT NOT NULL DEFAULT '',
    entries  BIGINT NOT NULL DEFAULT 0,
    dated    BIGINT NOT NULL DEFAULT 0,
    dropped  TEXT NOT NULL DEFAULT '',
    problem  TEXT NOT NULL DEFAULT '',
    read_at  BIGINT NOT NULL DEFAULT 0,
    hinted   BIGINT NOT NULL DEFAULT 0,
    hits     BIGINT NOT NULL DEFAULT 0,
    misses   BIGINT NOT NULL DEFAULT 0,
    skipped  TEXT NOT NULL DEFAULT ''
);
CREATE INDEX sources_crawl ON sources (crawl_id, page_id);
CREATE INDEX sources_host ON sources (host_id, crawl_id, kind);
