-- Seeds that redirected within their site, each with the one seed that was added
-- because of it. Both are hashes of URLs, as in pages.url_hash, so that a takedown
-- finds nothing to remove here. Booleans, times and the other engine's migration of
-- the same name: see 0001_collection.
CREATE TABLE redirected_seeds (
    crawl_id    INTEGER NOT NULL,
    seed_hash   BLOB NOT NULL,
    target_hash BLOB NOT NULL,
    PRIMARY KEY (crawl_id, seed_hash)
) WITHOUT ROWID;
CREATE INDEX redirected_seeds_target ON redirected_seeds (crawl_id, target_hash);
