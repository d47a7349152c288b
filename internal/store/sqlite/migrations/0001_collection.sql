-- The collection: crawls, pages, visits, versions, links. Times are microseconds
-- since 1970 UTC, 0 for none; booleans are 0 and 1; durations are microseconds.
-- The PostgreSQL migration of the same name has the same tables and columns.

-- One row: whether the last owner of this file closed it.
CREATE TABLE owner (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    clean INTEGER NOT NULL
);
INSERT INTO owner (id, clean) VALUES (1, 1);

-- delay to permit_life, agent, window_size and max_pages repeat the spec as
-- numbers, for transactions that must not read JSON.
CREATE TABLE crawls (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    name            TEXT    NOT NULL UNIQUE,
    spec            TEXT    NOT NULL,
    state           INTEGER NOT NULL,
    generation      INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    delay           INTEGER NOT NULL,
    factor          REAL    NOT NULL,
    max_crawl_delay INTEGER NOT NULL,
    permit_life     INTEGER NOT NULL,
    agent           TEXT    NOT NULL,
    window_size     INTEGER NOT NULL,
    max_pages       INTEGER NOT NULL
);

CREATE TABLE hosts (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    host        TEXT    NOT NULL UNIQUE,
    crawl_delay INTEGER NOT NULL DEFAULT 0
);

-- What never changes of a page (but for its level, which only falls). url_hash
-- is the first half of the URL's SHA-256: an index on the URLs would be large
-- here and impossible in PostgreSQL, whose index entries end at 2704 bytes.
-- No foreign keys to crawls and hosts: in PostgreSQL their checks would lock
-- rows that the hosts' lines need, in the order of the URLs.
CREATE TABLE pages (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    crawl_id   INTEGER NOT NULL,
    url_hash   BLOB    NOT NULL,
    url        TEXT    NOT NULL,
    host_id    INTEGER NOT NULL,
    level      INTEGER NOT NULL,
    found_at   INTEGER NOT NULL,
    found_from INTEGER NOT NULL,
    UNIQUE (crawl_id, url_hash)
);

-- What changes of a page with every visit. attempted is 0 for an admitted page
-- that has not been visited yet: it takes a place in its host's window.
-- admission names the call that admitted it, in case its answer is lost.
CREATE TABLE frontier (
    page_id       INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    crawl_id      INTEGER NOT NULL,
    host_id       INTEGER NOT NULL,
    state         INTEGER NOT NULL,
    visit         INTEGER NOT NULL DEFAULT 0,
    attempted     INTEGER NOT NULL DEFAULT 0,
    admission     INTEGER NOT NULL DEFAULT 0,
    next_at       INTEGER NOT NULL DEFAULT 0,
    last_at       INTEGER NOT NULL DEFAULT 0,
    last_change   INTEGER NOT NULL DEFAULT 0,
    priority      REAL    NOT NULL DEFAULT 0,
    backlinks     INTEGER NOT NULL DEFAULT 0,
    changes       INTEGER NOT NULL DEFAULT 0,
    failures      INTEGER NOT NULL DEFAULT 0,
    etag          TEXT    NOT NULL DEFAULT '',
    last_modified TEXT    NOT NULL DEFAULT '',
    version_id    INTEGER NOT NULL DEFAULT 0,
    belief        TEXT    NOT NULL DEFAULT ''
);
CREATE INDEX frontier_candidates ON frontier (crawl_id, host_id, priority DESC, page_id) WHERE state = 1;
CREATE INDEX frontier_due ON frontier (crawl_id, next_at) WHERE state BETWEEN 2 AND 7;
CREATE INDEX frontier_admission ON frontier (crawl_id, admission) WHERE state BETWEEN 2 AND 7 AND attempted = 0;
CREATE INDEX frontier_state ON frontier (crawl_id, state, page_id);
CREATE INDEX frontier_host ON frontier (host_id, crawl_id, page_id);
CREATE INDEX frontier_changed ON frontier (crawl_id, last_change) WHERE last_change > 0;

-- What a crawl has at a host, by deltas: known pages, and admitted pages not
-- attempted yet. last_served is the gate's.
CREATE TABLE host_crawls (
    host_id     INTEGER NOT NULL,
    crawl_id    INTEGER NOT NULL,
    unattempted INTEGER NOT NULL DEFAULT 0,
    known       INTEGER NOT NULL DEFAULT 0,
    last_served INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (host_id, crawl_id)
) WITHOUT ROWID;
CREATE INDEX host_crawls_crawl ON host_crawls (crawl_id, host_id);
CREATE INDEX host_crawls_room ON host_crawls (crawl_id, unattempted, host_id) WHERE known > 0;

-- A crawl in numbers, by deltas. A number is the sum of its slots, so that
-- concurrent writers of one crawl do not queue for one row.
CREATE TABLE crawl_counts (
    crawl_id INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    code     INTEGER NOT NULL,
    slot     INTEGER NOT NULL,
    n        INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, kind, code, slot)
) WITHOUT ROWID;

CREATE TABLE visits (
    page_id     INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    visit       INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    outcome     INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    version_id  INTEGER NOT NULL,
    version_seq INTEGER NOT NULL,
    digest      TEXT    NOT NULL,
    bytes       INTEGER NOT NULL,
    duration    INTEGER NOT NULL,
    next_at     INTEGER NOT NULL,
    state       INTEGER NOT NULL,
    problem     TEXT    NOT NULL,
    location    TEXT    NOT NULL,
    reasons     TEXT    NOT NULL,
    PRIMARY KEY (page_id, visit)
) WITHOUT ROWID;

CREATE TABLE versions (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    page_id      INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    seq          INTEGER NOT NULL,
    visit        INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    digest       TEXT    NOT NULL,
    text_digest  TEXT    NOT NULL,
    link_digest  TEXT    NOT NULL,
    bytes        INTEGER NOT NULL,
    text_bytes   INTEGER NOT NULL,
    content_type TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    canonical    TEXT    NOT NULL,
    UNIQUE (page_id, visit)
);

-- Links of versions that have not been registered yet, as JSON.
CREATE TABLE pending_links (
    version_id INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    crawl_id   INTEGER NOT NULL,
    page_id    INTEGER NOT NULL,
    visit      INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    links      TEXT    NOT NULL
);
CREATE INDEX pending_links_crawl ON pending_links (crawl_id, at);

-- Without foreign keys: two more look-ups for each of 10^7 narrow rows, whose
-- pages the same transaction has just found.
CREATE TABLE links (
    src INTEGER NOT NULL,
    dst INTEGER NOT NULL,
    PRIMARY KEY (src, dst)
) WITHOUT ROWID;
CREATE INDEX links_dst ON links (dst);

CREATE TABLE robots (
    origin      TEXT PRIMARY KEY,
    host        TEXT    NOT NULL,
    state       INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    text        TEXT    NOT NULL,
    text_digest TEXT    NOT NULL,
    fetched_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    failures    INTEGER NOT NULL,
    crawl_delay INTEGER NOT NULL,
    sitemaps    TEXT    NOT NULL,
    problem     TEXT    NOT NULL,
    next        TEXT    NOT NULL,
    next_host   TEXT    NOT NULL,
    hops        INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX robots_host ON robots (host);
