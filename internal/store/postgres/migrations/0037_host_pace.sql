-- How long a host with a line has lately taken from one request to the next, in microseconds:
-- see polite.Pace. The other engine's migration of the same name has the same.
ALTER TABLE hosts ADD COLUMN pace BIGINT NOT NULL DEFAULT 0;
