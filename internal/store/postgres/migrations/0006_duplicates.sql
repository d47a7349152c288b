-- Duplicates: what contents are compared by, and which are the same or nearly.
-- Booleans, times and the SQLite migration of the same name: see
-- 0001_collection.

-- What the last version of each page is compared by and, until its visit is
-- recorded, that of the next one. exact is 64 bits of a digest, 0 if it is not
-- known; sketch is as package change encodes it.
CREATE TABLE sketches (
    version_id BIGINT PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    crawl_id   BIGINT NOT NULL,
    page_id    BIGINT NOT NULL,
    exact      BIGINT NOT NULL,
    sketch     BYTEA  NOT NULL
);
CREATE INDEX sketches_page ON sketches (crawl_id, page_id);

-- The pages by the keys of their sketches: nine rows a page, so as narrow as can
-- be, without foreign keys. Which they are follows from sketches.
CREATE TABLE sketch_keys (
    crawl_id BIGINT NOT NULL,
    key      BIGINT NOT NULL,
    page_id  BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, key, page_id)
);

-- Pages whose content is that of an older page, or nearly, with the versions that
-- were compared.
CREATE TABLE duplicates (
    page_id     BIGINT PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    crawl_id    BIGINT           NOT NULL,
    version_id  BIGINT           NOT NULL,
    of_page     BIGINT           NOT NULL CHECK (of_page < page_id),
    of_version  BIGINT           NOT NULL,
    exact       SMALLINT         NOT NULL,
    resemblance DOUBLE PRECISION NOT NULL,
    at          BIGINT           NOT NULL
);
CREATE INDEX duplicates_of ON duplicates (crawl_id, of_page, page_id);

-- Pairs of hosts that have the same contents, as they were last found.
CREATE TABLE mirrors (
    crawl_id BIGINT  NOT NULL,
    host_a   BIGINT  NOT NULL,
    host_b   BIGINT  NOT NULL CHECK (host_a < host_b),
    shared   INTEGER NOT NULL,
    of_a     INTEGER NOT NULL,
    of_b     INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, host_a, host_b)
);
CREATE INDEX mirrors_shared ON mirrors (crawl_id, shared DESC, host_a, host_b);
CREATE INDEX mirrors_a ON mirrors (host_a);
CREATE INDEX mirrors_b ON mirrors (host_b);
