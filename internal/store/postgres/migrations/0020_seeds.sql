-- Seeds that were imported. Booleans, times and the other engine's migration of the
-- same name: see 0001_collection.

-- By what the scope of a crawl knows its imported seeds: see crawl.SeedKey for the
-- kinds; hash is that of its text, as in pages.url_hash.
CREATE TABLE seed_keys (
    crawl_id BIGINT  NOT NULL,
    kind     BIGINT  NOT NULL,
    hash     BYTEA   NOT NULL,
    PRIMARY KEY (crawl_id, kind, hash)
);

-- Imports that have not ended, and how far they have come, as JSON. source names what
-- is imported.
CREATE TABLE imports (
    crawl_id BIGINT  NOT NULL,
    source   TEXT    NOT NULL,
    progress TEXT    NOT NULL,
    at       BIGINT  NOT NULL,
    PRIMARY KEY (crawl_id, source)
);

-- Whether the crawl has seeds besides those of its spec.
ALTER TABLE crawls ADD COLUMN imported BIGINT NOT NULL DEFAULT 0;
