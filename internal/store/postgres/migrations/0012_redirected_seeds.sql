-- Seeds that redirected within their site, each with the one seed that was added
-- because of it. Both are hashes of URLs, as in pages.url_hash, so that a takedown
-- finds nothing to remove here. Booleans, times and the other engine's migration of
-- the same name: see 0001_collection.
CREATE TABLE redirected_seeds (
    crawl_id    BIGINT NOT NULL,
    seed_hash   BYTEA NOT NULL,
    target_hash BYTEA NOT NULL,
    PRIMARY KEY (crawl_id, seed_hash)
);
CREATE INDEX redirected_seeds_target ON redirected_seeds (crawl_id, target_hash);
