-- Why nothing can be asked of a host, and how to find those hosts among many. Times
-- and the SQLite migration of the same name: see 0001_collection.

-- The reason of the back-off as JSON, '' for none.
ALTER TABLE hosts ADD COLUMN backoff_reason TEXT NOT NULL DEFAULT '';
CREATE INDEX hosts_blocked ON hosts (blocked, id) WHERE blocked = 1;
CREATE INDEX hosts_backoff ON hosts (backoff_until) WHERE backoff_until > 0;

-- forbids: it forbids everything to the crawl that asked for it.
ALTER TABLE robots ADD COLUMN forbids BIGINT NOT NULL DEFAULT 0;
CREATE INDEX robots_unreachable ON robots (state, host) WHERE state = 3;
CREATE INDEX robots_forbids ON robots (forbids, host) WHERE forbids = 1;
