-- When a worker last looked after a crawl. Times and the other engine's migration of the
-- same name: see 0001_collection. A table of its own, since commands and admission lock
-- the crawls' rows.
CREATE TABLE crawl_care (
    crawl_id  BIGINT PRIMARY KEY REFERENCES crawls (id) ON DELETE CASCADE,
    looked_at BIGINT NOT NULL
);

-- What is wrong with a part of a crawl: its workflow, its pages' workflows, or a step of
-- its maintenance. mended_at is 0 as long as it lasts; pages is how many it concerns.
CREATE TABLE troubles (
    crawl_id  BIGINT NOT NULL REFERENCES crawls (id) ON DELETE CASCADE,
    part      TEXT NOT NULL,
    since_at  BIGINT NOT NULL,
    seen_at   BIGINT NOT NULL,
    mended_at BIGINT NOT NULL,
    pages     BIGINT NOT NULL,
    problem   TEXT NOT NULL,
    PRIMARY KEY (crawl_id, part)
);
