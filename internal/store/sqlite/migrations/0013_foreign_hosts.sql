-- Hosts beyond a crawl's sites to which sitemaps and redirects of a robots.txt have
-- led it: no more than sources.foreign_hosts of its spec. Booleans, times and the
-- other engine's migration of the same name: see 0001_collection.
CREATE TABLE foreign_hosts (
    crawl_id INTEGER NOT NULL,
    host_id  INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, host_id)
) WITHOUT ROWID;
CREATE INDEX foreign_hosts_host ON foreign_hosts (host_id);
