-- What changed, in the order of the commits. Rows hold ids and numbers only: what they say
-- of pages is joined. crawl_id is 0 for a change of a host. data is JSON, or '' where
-- package feed can tell it from the kind. Ids are never used again, and nothing but the id
-- is indexed: readers go by id, and each look is at a bounded part.
CREATE TABLE changes (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    crawl_id INTEGER NOT NULL,
    page_id  INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    visit    INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    kind     INTEGER NOT NULL,
    data     TEXT    NOT NULL
);

-- One row. A restored store gets another epoch. All changes up to the id trimmed are
-- removed, of which the newest was of trimmed_at.
CREATE TABLE feed (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    epoch      TEXT    NOT NULL,
    trimmed    INTEGER NOT NULL,
    trimmed_at INTEGER NOT NULL
);
INSERT INTO feed (one, epoch, trimmed, trimmed_at) VALUES (1, lower(hex(randomblob(8))), 0, 0);

-- How far the sinks of crawls have got. gap is the id of the last feed.gap that the sink
-- was left.
CREATE TABLE sinks (
    crawl_id     INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    after_id     INTEGER NOT NULL,
    paused       INTEGER NOT NULL,
    code         TEXT    NOT NULL,
    problem      TEXT    NOT NULL,
    since        INTEGER NOT NULL,
    tries        INTEGER NOT NULL,
    next_at      INTEGER NOT NULL,
    sent         INTEGER NOT NULL,
    last_sent    INTEGER NOT NULL,
    digest_since INTEGER NOT NULL,
    gap          INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, name)
);

-- What receivers refused. page_id is the change's, so that a takedown finds it.
CREATE TABLE undelivered (
    crawl_id  INTEGER NOT NULL,
    sink      TEXT    NOT NULL,
    change_id INTEGER NOT NULL,
    page_id   INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    tries     INTEGER NOT NULL,
    problem   TEXT    NOT NULL,
    PRIMARY KEY (crawl_id, sink, change_id)
);
CREATE INDEX undelivered_page ON undelivered (page_id);

-- For people who would rather ask SQL: docs/changes.md describes it, and its columns stay.
-- What data '' stands for is that of feed.Usual; a test compares them.
CREATE VIEW recrawl_changes AS
SELECT c.id, 'c1.' || f.epoch || '.' || c.id AS cursor, w.name AS crawl,
    CASE c.kind
        WHEN 1 THEN 'page.new' WHEN 2 THEN 'page.changed' WHEN 3 THEN 'page.gone' WHEN 4 THEN 'page.back'
        WHEN 5 THEN 'page.moved' WHEN 6 THEN 'page.failing' WHEN 7 THEN 'page.recovered' WHEN 8 THEN 'page.excluded'
        WHEN 9 THEN 'page.duplicate' WHEN 10 THEN 'page.stopped' WHEN 11 THEN 'page.evicted' WHEN 12 THEN 'page.resumed'
        WHEN 13 THEN 'page.forgotten' WHEN 14 THEN 'crawl.state' WHEN 15 THEN 'crawl.spec' WHEN 16 THEN 'trap.held'
        WHEN 17 THEN 'host.blocked' WHEN 18 THEN 'sink.paused' WHEN 19 THEN 'feed.gap' END AS kind,
    strftime('%Y-%m-%dT%H:%M:%SZ', c.at / 1000000, 'unixepoch') AS at,
    NULLIF(c.page_id, 0) AS page_id, p.url, h.host, x.title, NULLIF(c.visit, 0) AS visit, NULLIF(v.status, 0) AS status, NULLIF(v.location, '') AS location,
    NULLIF(c.seq, 0) AS version,
    CASE WHEN c.data <> '' THEN CAST(c.data ->> '$.from' AS INTEGER) WHEN c.kind = 2 THEN NULLIF(c.seq - 1, 0) WHEN c.kind BETWEEN 3 AND 9 THEN NULLIF(c.seq, 0) END AS version_before,
    CASE WHEN c.data <> '' THEN CAST(c.data ->> '$.returned_to' AS INTEGER) END AS returned_to,
    CASE WHEN c.data <> '' THEN c.data ->> '$.was' WHEN c.kind = 4 THEN 'gone' WHEN c.kind = 7 THEN 'failing' WHEN c.kind = 12 THEN 'stopped' WHEN c.kind <= 11 THEN 'active' END AS was,
    CASE WHEN c.data <> '' THEN c.data ->> '$.state' WHEN c.kind = 3 THEN 'gone' WHEN c.kind = 5 THEN 'redirect' WHEN c.kind = 6 THEN 'failing' WHEN c.kind = 8 THEN 'excluded'
        WHEN c.kind = 9 THEN 'duplicate' WHEN c.kind = 10 THEN 'stopped' WHEN c.kind = 11 THEN 'evicted' WHEN c.kind <= 12 THEN 'active' END AS state,
    NULLIF(c.data, '') AS data
FROM feed f CROSS JOIN changes c
    LEFT JOIN crawls w ON w.id = c.crawl_id
    LEFT JOIN pages p ON p.id = c.page_id
    LEFT JOIN hosts h ON h.id = COALESCE(p.host_id, CASE WHEN c.data <> '' THEN CAST(c.data ->> '$.host_id' AS INTEGER) END)
    LEFT JOIN visits v ON v.page_id = c.page_id AND v.visit = c.visit
    LEFT JOIN versions x ON x.page_id = c.page_id AND x.seq = c.seq;
