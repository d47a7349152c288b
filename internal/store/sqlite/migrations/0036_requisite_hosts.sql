-- Hosts beyond a crawl's sites on which requisites of its pages lie: no more than
-- documents.requisite_hosts of its spec. The other engine's migration of the same name has the
-- same.
CREATE TABLE requisite_hosts (
    crawl_id INTEGER NOT NULL,
    host_id  INTEGER NOT NULL,
    PRIMARY KEY (crawl_id, host_id)
) WITHOUT ROWID;
CREATE INDEX requisite_hosts_host ON requisite_hosts (host_id);
