-- Hosts beyond its sites to which redirects of robots.txt led a crawl, by the site that
-- redirects: no more than sources.foreign_hosts of its spec for each. site is a hash of the
-- site's name. The other engine's migration of the same name has the same.
CREATE TABLE robots_hosts (
    crawl_id BIGINT NOT NULL,
    site     BYTEA NOT NULL,
    host_id  BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, site, host_id)
);
CREATE INDEX robots_hosts_host ON robots_hosts (host_id);
