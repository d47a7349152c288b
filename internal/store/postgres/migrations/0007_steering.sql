-- What the pages of a crawl share for planning their visits. Times and the
-- SQLite migration of the same name: see 0001_collection.

-- Of a crawl: threshold is in the unit of policy; prior_a and prior_b are a Gamma
-- distribution of changes a day, 0 for none; spacing is days for each visit of a page; planned and
-- budget are visits a day.
CREATE TABLE steering (
    crawl_id  BIGINT PRIMARY KEY,
    policy    TEXT NOT NULL,
    threshold DOUBLE PRECISION NOT NULL,
    prior_a   DOUBLE PRECISION NOT NULL,
    prior_b   DOUBLE PRECISION NOT NULL,
    spacing   DOUBLE PRECISION NOT NULL,
    planned   DOUBLE PRECISION NOT NULL,
    budget    DOUBLE PRECISION NOT NULL,
    at        BIGINT NOT NULL,
    turns     BIGINT NOT NULL
);

-- Of a crawl's pages at a host, where it differs: price is a threshold, planned and
-- limited are visits a day.
CREATE TABLE host_steering (
    crawl_id BIGINT NOT NULL,
    host_id  BIGINT NOT NULL,
    price    DOUBLE PRECISION NOT NULL,
    prior_a  DOUBLE PRECISION NOT NULL,
    prior_b  DOUBLE PRECISION NOT NULL,
    planned  DOUBLE PRECISION NOT NULL,
    limited  DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (crawl_id, host_id)
);
CREATE INDEX host_steering_host ON host_steering (host_id);
