-- What is kept out of a crawl, and why. Booleans, times and the other engine's
-- migration of the same name: see 0001_collection.

-- Links since the seeds' hosts were left; like level it only falls.
ALTER TABLE pages ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;

-- Rejected links in numbers, by deltas. A number is the sum of its slots.
CREATE TABLE rejections (
    crawl_id INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    slot     INTEGER NOT NULL,
    n        INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, reason, slot)
) WITHOUT ROWID;

-- Some of them to look at, so many for each reason and crawl: place follows from
-- the URL, and a later URL replaces an earlier one of its place.
CREATE TABLE rejected (
    crawl_id   INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    place      INTEGER NOT NULL,
    url_hash   BLOB NOT NULL,
    url        TEXT NOT NULL,
    host       TEXT NOT NULL,
    detail     TEXT NOT NULL,
    found_from INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, reason, place)
) WITHOUT ROWID;
CREATE INDEX rejected_url ON rejected (url_hash);
CREATE INDEX rejected_host ON rejected (host);
CREATE INDEX rejected_from ON rejected (found_from);

-- Traps: sets of URLs whose known pages are held (state 10). pattern is as package
-- trap encodes it, name what it is called; site the registrable domain, host the
-- pattern's. state: 1 its known pages are being held, up to page id swept; 2 all
-- are; 3 its pages are being released; 4 all are.
CREATE TABLE traps (
    id       INTEGER PRIMARY KEY AUTOINCREMENT,
    crawl_id INTEGER NOT NULL,
    site     TEXT NOT NULL,
    host     TEXT NOT NULL,
    name     TEXT NOT NULL,
    hash     BLOB NOT NULL,
    pattern  TEXT NOT NULL,
    reason   TEXT NOT NULL,
    detail   TEXT NOT NULL,
    found_at INTEGER NOT NULL,
    state    INTEGER NOT NULL,
    swept    INTEGER NOT NULL,
    UNIQUE (crawl_id, hash)
);
CREATE INDEX traps_site ON traps (crawl_id, site, id);
CREATE INDEX traps_open ON traps (crawl_id, id) WHERE state IN (1, 3);
CREATE INDEX traps_host ON traps (host);

-- The trap that holds a page.
ALTER TABLE frontier ADD COLUMN trap_id INTEGER NOT NULL DEFAULT 0;
CREATE INDEX frontier_held ON frontier (trap_id, page_id) WHERE state = 10;

-- The pages of a host that have been admitted, for looks at the newest of them.
CREATE INDEX frontier_admitted ON frontier (host_id, crawl_id, page_id) WHERE state BETWEEN 2 AND 7;

-- Addresses without their session ids, by hash, and the first page of each.
CREATE TABLE variants (
    crawl_id INTEGER NOT NULL,
    base     BLOB NOT NULL,
    page_id  INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, base)
) WITHOUT ROWID;
CREATE INDEX variants_page ON variants (page_id);

-- How many pages have been found of each host (prefix "") and below each folder of
-- its root, by the pages that the guard has looked at; and how far that is.
CREATE TABLE prefixes (
    crawl_id INTEGER NOT NULL,
    host_id  INTEGER NOT NULL,
    prefix   TEXT NOT NULL,
    pages    INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, host_id, prefix)
) WITHOUT ROWID;
CREATE INDEX prefixes_most ON prefixes (crawl_id, pages DESC);
CREATE INDEX prefixes_host ON prefixes (host_id);
CREATE TABLE guarded (
    crawl_id INTEGER PRIMARY KEY,
    through  INTEGER NOT NULL
);
