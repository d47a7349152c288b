-- The collection: crawls, pages, visits, versions, links. Times are microseconds
-- since 1970 UTC, 0 for none; booleans are 0 and 1; durations are microseconds.
-- The SQLite migration of the same name has the same tables and columns. Texts
-- that results are ordered by have SQLite's order, that of their bytes.

-- delay to permit_life, agent, window_size and max_pages repeat the spec as
-- numbers, for transactions that must not read JSON.
CREATE TABLE crawls (
    id              BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name            TEXT COLLATE "C" NOT NULL UNIQUE,
    spec            TEXT             NOT NULL,
    state           SMALLINT         NOT NULL,
    generation      BIGINT           NOT NULL,
    created_at      BIGINT           NOT NULL,
    delay           BIGINT           NOT NULL,
    factor          DOUBLE PRECISION NOT NULL,
    max_crawl_delay BIGINT           NOT NULL,
    permit_life     BIGINT           NOT NULL,
    agent           TEXT             NOT NULL,
    window_size     INTEGER          NOT NULL,
    max_pages       INTEGER          NOT NULL
);

CREATE TABLE hosts (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host        TEXT COLLATE "C" NOT NULL UNIQUE,
    crawl_delay BIGINT           NOT NULL DEFAULT 0
);

-- What never changes of a page (but for its level, which only falls). url_hash
-- is the first half of the URL's SHA-256: an index on the URLs fails, since
-- entries end at 2704 bytes. No foreign keys to crawls and hosts: their checks
-- would lock rows that the hosts' lines need, in the order of the URLs.
CREATE TABLE pages (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    crawl_id   BIGINT  NOT NULL,
    url_hash   BYTEA   NOT NULL,
    url        TEXT    NOT NULL,
    host_id    BIGINT  NOT NULL,
    level      INTEGER NOT NULL,
    found_at   BIGINT  NOT NULL,
    found_from BIGINT  NOT NULL,
    UNIQUE (crawl_id, url_hash)
);

-- What changes of a page with every visit. attempted is 0 for an admitted page
-- that has not been visited yet: it takes a place in its host's window.
-- admission names the call that admitted it, in case its answer is lost.
CREATE TABLE frontier (
    page_id       BIGINT PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    crawl_id      BIGINT           NOT NULL,
    host_id       BIGINT           NOT NULL,
    state         SMALLINT         NOT NULL,
    visit         INTEGER          NOT NULL DEFAULT 0,
    attempted     SMALLINT         NOT NULL DEFAULT 0,
    admission     BIGINT           NOT NULL DEFAULT 0,
    next_at       BIGINT           NOT NULL DEFAULT 0,
    last_at       BIGINT           NOT NULL DEFAULT 0,
    last_change   BIGINT           NOT NULL DEFAULT 0,
    priority      DOUBLE PRECISION NOT NULL DEFAULT 0,
    backlinks     INTEGER          NOT NULL DEFAULT 0,
    changes       INTEGER          NOT NULL DEFAULT 0,
    failures      INTEGER          NOT NULL DEFAULT 0,
    etag          TEXT             NOT NULL DEFAULT '',
    last_modified TEXT             NOT NULL DEFAULT '',
    version_id    BIGINT           NOT NULL DEFAULT 0,
    belief        TEXT             NOT NULL DEFAULT ''
) WITH (fillfactor = 80);
CREATE INDEX frontier_candidates ON frontier (crawl_id, host_id, priority DESC, page_id) WHERE state = 1;
CREATE INDEX frontier_due ON frontier (crawl_id, next_at) WHERE state BETWEEN 2 AND 7;
CREATE INDEX frontier_admission ON frontier (crawl_id, admission) WHERE state BETWEEN 2 AND 7 AND attempted = 0;
CREATE INDEX frontier_state ON frontier (crawl_id, state, page_id);
CREATE INDEX frontier_host ON frontier (host_id, crawl_id, page_id);
CREATE INDEX frontier_changed ON frontier (crawl_id, last_change) WHERE last_change > 0;

-- What a crawl has at a host, by deltas: known pages, and admitted pages not
-- attempted yet. last_served is the gate's.
CREATE TABLE host_crawls (
    host_id     BIGINT NOT NULL,
    crawl_id    BIGINT NOT NULL,
    unattempted BIGINT NOT NULL DEFAULT 0,
    known       BIGINT NOT NULL DEFAULT 0,
    last_served BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (host_id, crawl_id)
);
CREATE INDEX host_crawls_crawl ON host_crawls (crawl_id, host_id);
CREATE INDEX host_crawls_room ON host_crawls (crawl_id, unattempted, host_id) WHERE known > 0;

-- A crawl in numbers, by deltas. A number is the sum of its slots, so that
-- concurrent writers of one crawl do not queue for one row.
CREATE TABLE crawl_counts (
    crawl_id BIGINT           NOT NULL,
    kind     TEXT COLLATE "C" NOT NULL,
    code     BIGINT           NOT NULL,
    slot     SMALLINT         NOT NULL,
    n        BIGINT           NOT NULL,
    PRIMARY KEY (crawl_id, kind, code, slot)
);

CREATE TABLE visits (
    page_id     BIGINT   NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    visit       INTEGER  NOT NULL,
    at          BIGINT   NOT NULL,
    outcome     SMALLINT NOT NULL,
    status      SMALLINT NOT NULL,
    version_id  BIGINT   NOT NULL,
    version_seq INTEGER  NOT NULL,
    digest      TEXT     NOT NULL,
    bytes       BIGINT   NOT NULL,
    duration    BIGINT   NOT NULL,
    next_at     BIGINT   NOT NULL,
    state       SMALLINT NOT NULL,
    problem     TEXT     NOT NULL,
    location    TEXT     NOT NULL,
    reasons     TEXT     NOT NULL,
    PRIMARY KEY (page_id, visit)
);

CREATE TABLE versions (
    id           BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    page_id      BIGINT  NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
    seq          INTEGER NOT NULL,
    visit        INTEGER NOT NULL,
    at           BIGINT  NOT NULL,
    digest       TEXT    NOT NULL,
    text_digest  TEXT    NOT NULL,
    link_digest  TEXT    NOT NULL,
    bytes        BIGINT  NOT NULL,
    text_bytes   BIGINT  NOT NULL,
    content_type TEXT    NOT NULL,
    title        TEXT    NOT NULL,
    canonical    TEXT    NOT NULL,
    UNIQUE (page_id, visit)
);

-- Links of versions that have not been registered yet, as JSON.
CREATE TABLE pending_links (
    version_id BIGINT PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    crawl_id   BIGINT  NOT NULL,
    page_id    BIGINT  NOT NULL,
    visit      INTEGER NOT NULL,
    at         BIGINT  NOT NULL,
    links      TEXT    NOT NULL
);
CREATE INDEX pending_links_crawl ON pending_links (crawl_id, at);

-- Without foreign keys: two more look-ups for each of 10^7 narrow rows, whose
-- pages the same transaction has just found.
CREATE TABLE links (
    src BIGINT NOT NULL,
    dst BIGINT NOT NULL,
    PRIMARY KEY (src, dst)
);
CREATE INDEX links_dst ON links (dst);

CREATE TABLE robots (
    origin      TEXT COLLATE "C" PRIMARY KEY,
    host        TEXT COLLATE "C" NOT NULL,
    state       SMALLINT         NOT NULL,
    status      SMALLINT         NOT NULL,
    text        TEXT             NOT NULL,
    text_digest TEXT             NOT NULL,
    fetched_at  BIGINT           NOT NULL,
    expires_at  BIGINT           NOT NULL,
    failures    INTEGER          NOT NULL,
    crawl_delay BIGINT           NOT NULL,
    sitemaps    TEXT             NOT NULL,
    problem     TEXT             NOT NULL,
    next        TEXT             NOT NULL,
    next_host   TEXT             NOT NULL,
    hops        SMALLINT         NOT NULL
);
CREATE INDEX robots_host ON robots (host);
