-- The bound on admission. Times and the other engine's migration of the same name: see
-- 0001_collection.

-- How many pages of all crawls may be on their way to their first visit at a time: one
-- row, once the bound has moved. reason is a reason as JSON.
CREATE TABLE admission_bound (
    id       INTEGER PRIMARY KEY,
    pages    INTEGER NOT NULL,
    moved_at INTEGER NOT NULL,
    reason   TEXT    NOT NULL
);

-- Who refills a crawl: until then nobody else does, and page_id (0 is no page) was told
-- to. Before look_at nobody needs to look whether the bound may grow.
CREATE TABLE refills (
    crawl_id INTEGER PRIMARY KEY REFERENCES crawls (id) ON DELETE CASCADE,
    page_id  INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    look_at  INTEGER NOT NULL
);

-- When pages of the host were last admitted: hosts take turns.
ALTER TABLE host_crawls ADD COLUMN admitted_at INTEGER NOT NULL DEFAULT 0;

-- host_crawls_room is for programs of the release before.
CREATE INDEX host_crawls_turn ON host_crawls (crawl_id, unattempted, admitted_at, host_id) WHERE known > 0;

-- Seeds that wait for their admission, and for their first visit.
CREATE INDEX frontier_seeds ON frontier (crawl_id, page_id) WHERE state = 1 AND priority = 0;
CREATE INDEX frontier_new_seeds ON frontier (crawl_id, page_id) WHERE state BETWEEN 2 AND 7 AND attempted = 0 AND priority = 0;
