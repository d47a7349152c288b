-- The host gate: columns of the hosts, and their lines. Times are microseconds
-- since 1970 UTC, 0 for none; booleans are 0 and 1; durations are microseconds.
-- The SQLite migration of the same name has the same tables and columns.

-- last_*: the last request; last_delay to last_cap are the demand of its crawl.
-- While a request is in flight they are of the one before, but for the demand.
ALTER TABLE hosts ADD COLUMN last_end BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN last_duration BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN mean_duration BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN last_delay BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN last_factor DOUBLE PRECISION NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN last_cap BIGINT NOT NULL DEFAULT 0;

-- The request in flight: flight_permit is 0 when there is none. lost_permit is
-- the last one that expired; its late answer still counts for the back-off.
ALTER TABLE hosts ADD COLUMN flight_permit BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN flight_page BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN flight_robots BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN begun_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN expires_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN lost_permit BIGINT NOT NULL DEFAULT 0;

-- The back-off; quiet_since is when its last hold ended or was eased.
ALTER TABLE hosts ADD COLUMN backoff_until BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN backoff_level BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN quiet_since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN failures_in_row BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN blocked BIGINT NOT NULL DEFAULT 0;

-- permits and grants only grow: a permit's id is permits at its grant, grants
-- orders the crawls by when they were last served. since_aged counts the grants
-- since the last to the longest waiting.
ALTER TABLE hosts ADD COLUMN permits BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN grants BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN since_aged BIGINT NOT NULL DEFAULT 0;

-- Every grant and every answer updates the host's row: room for its next version
-- on the same page keeps its indexes untouched.
ALTER TABLE hosts SET (fillfactor = 50);

-- One row: no request of any host is known to have ended after rested_at, but
-- may have. Every host rests from then on; a row for all hosts, so that opening
-- a store after a crash costs the same for one host and for a million.
CREATE TABLE rest (
    id        BIGINT PRIMARY KEY CHECK (id = 1),
    rested_at BIGINT NOT NULL
);
INSERT INTO rest (id, rested_at) VALUES (1, 0);

-- A crawl's waiters of one class on a host, in numbers: waiting counts the
-- places in state 1 that have not lapsed, departed those that have ever left.
-- served is the host's grants at the last grant to this line.
CREATE TABLE lines (
    host_id  BIGINT NOT NULL,
    crawl_id BIGINT NOT NULL,
    class    BIGINT NOT NULL,
    waiting  BIGINT NOT NULL,
    departed BIGINT NOT NULL,
    served   BIGINT NOT NULL,
    PRIMARY KEY (host_id, crawl_id, class)
);

-- The places of visits in the lines. host_id is the line it stands in, home_id
-- its page's host; they differ while it follows a redirect of robots.txt.
-- state: 1 waiting, 2 granted, 3 begun, 4 parked. kind: 0 for the page's own
-- request, 1 while it sees to its origin's robots.txt, whose URL is url. lapsed_at
-- is set when a waiter has not come for two minutes after promised_at. Until
-- present_until its Acquire call is waiting in some process. ahead were waiting
-- in its line when departed had left it. No foreign keys: their checks would
-- lock rows in an order of their own.
CREATE TABLE places (
    page_id       BIGINT PRIMARY KEY,
    host_id       BIGINT NOT NULL,
    home_id       BIGINT NOT NULL,
    crawl_id      BIGINT NOT NULL,
    visit         BIGINT NOT NULL,
    class         BIGINT NOT NULL,
    rank          DOUBLE PRECISION NOT NULL,
    state         BIGINT NOT NULL,
    kind          BIGINT NOT NULL,
    origin        TEXT NOT NULL,
    url           TEXT NOT NULL,
    arrived       BIGINT NOT NULL,
    promised_at   BIGINT NOT NULL,
    present_until BIGINT NOT NULL,
    lapsed_at     BIGINT NOT NULL,
    ahead         BIGINT NOT NULL,
    departed      BIGINT NOT NULL,
    permit_id     BIGINT NOT NULL,
    granted_at    BIGINT NOT NULL
) WITH (fillfactor = 80);
CREATE INDEX places_line ON places (host_id, crawl_id, class, rank DESC, arrived) WHERE state = 1 AND lapsed_at = 0;
CREATE INDEX places_late ON places (host_id, promised_at) WHERE state = 1 AND lapsed_at = 0;
CREATE INDEX places_present ON places (host_id, present_until) WHERE state = 1 AND present_until > 0;
CREATE INDEX places_granted ON places (host_id) WHERE state = 2;
CREATE INDEX places_parked ON places (crawl_id, arrived, page_id) WHERE state = 4;
CREATE INDEX places_robots ON places (origin) WHERE kind = 1;
CREATE INDEX places_lapsed ON places (lapsed_at) WHERE lapsed_at > 0;
