-- What the pages of a crawl share for planning their visits. Times and the
-- PostgreSQL migration of the same name: see 0001_collection.

-- Of a crawl: threshold is in the unit of policy; prior_a and prior_b are a Gamma
-- distribution of changes a day, 0 for none; spacing is days for each visit of a page; planned and
-- budget are visits a day.
CREATE TABLE steering (
    crawl_id  INTEGER PRIMARY KEY,
    policy    TEXT NOT NULL,
    threshold REAL NOT NULL,
    prior_a   REAL NOT NULL,
    prior_b   REAL NOT NULL,
    spacing   REAL NOT NULL,
    planned   REAL NOT NULL,
    budget    REAL NOT NULL,
    at        INTEGER NOT NULL,
    turns     INTEGER NOT NULL
);

-- Of a crawl's pages at a host, where it differs: price is a threshold, planned and
-- limited are visits a day.
CREATE TABLE host_steering (
    crawl_id INTEGER NOT NULL,
    host_id  INTEGER NOT NULL,
    price    REAL NOT NULL,
    prior_a  REAL NOT NULL,
    prior_b  REAL NOT NULL,
    planned  REAL NOT NULL,
    limited  REAL NOT NULL,
    PRIMARY KEY (crawl_id, host_id)
) WITHOUT ROWID;
CREATE INDEX host_steering_host ON host_steering (host_id);
