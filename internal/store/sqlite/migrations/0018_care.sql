-- When a worker last looked after a crawl. Times and the other engine's migration of the
-- same name: see 0001_collection. A table of its own, since commands and admission lock
-- the crawls' rows.
CREATE TABLE crawl_care (
    crawl_id  INTEGER PRIMARY KEY REFERENCES crawls (id) ON DELETE CASCADE,
    looked_at INTEGER NOT NULL
);

-- What is wrong with a part of a crawl: its workflow, its pages' workflows, or a step of
-- its maintenance. mended_at is 0 as long as it lasts; pages is how many it concerns.
CREATE TABLE troubles (
    crawl_id  INTEGER NOT NULL REFERENCES crawls (id) ON DELETE CASCADE,
    part      TEXT NOT NULL,
    since_at  INTEGER NOT NULL,
    seen_at   INTEGER NOT NULL,
    mended_at INTEGER NOT NULL,
    pages     INTEGER NOT NULL,
    problem   TEXT NOT NULL,
    PRIMARY KEY (crawl_id, part)
) WITHOUT ROWID;
