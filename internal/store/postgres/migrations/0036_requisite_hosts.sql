-- Hosts beyond a crawl's sites on which requisites of its pages lie: no more than
-- documents.requisite_hosts of its spec. The other engine's migration of the same name has the
-- same.
CREATE TABLE requisite_hosts (
    crawl_id BIGINT NOT NULL,
    host_id  BIGINT NOT NULL,
    PRIMARY KEY (crawl_id, host_id)
);
CREATE INDEX requisite_hosts_host ON requisite_hosts (host_id);
