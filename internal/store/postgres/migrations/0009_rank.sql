-- Ranks: how important pages and hosts are, and evictions from full collections.
-- Booleans, times and the SQLite migration of the same name: see
-- 0001_collection.

-- As of the last ranking, 0 before the first: rank is PageRank of mean 1, weight the
-- page's importance; linking_hosts are hosts besides its own with a link to it, and
-- inner_links the pages of its own host. priority is rank.Priority of weight: 0 of
-- seeds alone. placed_at is when the page was last admitted or evicted, evicted_as the
-- state that it had then.
ALTER TABLE frontier ADD COLUMN rank DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE frontier ADD COLUMN weight DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE frontier ADD COLUMN linking_hosts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE frontier ADD COLUMN inner_links BIGINT NOT NULL DEFAULT 0;
ALTER TABLE frontier ADD COLUMN placed_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE frontier ADD COLUMN evicted_as BIGINT NOT NULL DEFAULT 0;

-- The last ranking of each crawl. reason and top are JSON.
CREATE TABLE rankings (
    crawl_id     BIGINT PRIMARY KEY,
    at           BIGINT NOT NULL,
    pages        BIGINT NOT NULL,
    links        BIGINT NOT NULL,
    hosts        BIGINT NOT NULL,
    rounds       BIGINT NOT NULL,
    residual     DOUBLE PRECISION NOT NULL,
    damping      DOUBLE PRECISION NOT NULL,
    personalised BIGINT NOT NULL,
    took         BIGINT NOT NULL,
    reason       TEXT    NOT NULL,
    top          TEXT    NOT NULL
);

-- What links to a crawl's hosts, as of the ranking that ended at ranked_at; rank is
-- the sum of their pages'.
CREATE TABLE host_ranks (
    crawl_id      BIGINT NOT NULL,
    host_id       BIGINT NOT NULL,
    ranked_at     BIGINT NOT NULL,
    rank          DOUBLE PRECISION NOT NULL,
    pages         BIGINT NOT NULL,
    inner_links   BIGINT NOT NULL,
    links         BIGINT NOT NULL,
    linking_pages BIGINT NOT NULL,
    linking_hosts BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, host_id)
);
CREATE INDEX host_ranks_best ON host_ranks (crawl_id, rank DESC, host_id);

-- Pages that gave their places to others: by_page is 0 for none. told: their
-- workflows know. reason is JSON.
CREATE TABLE evictions (
    page_id  BIGINT NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    at       BIGINT NOT NULL,
    crawl_id BIGINT NOT NULL,
    by_page  BIGINT NOT NULL,
    told     BIGINT NOT NULL,
    reason   TEXT    NOT NULL,
    PRIMARY KEY (page_id, at)
);
CREATE INDEX evictions_at ON evictions (crawl_id, at);
CREATE INDEX evictions_untold ON evictions (crawl_id, at) WHERE told = 0;
