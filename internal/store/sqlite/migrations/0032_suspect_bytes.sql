-- Which bytes are kept for a second look, so that none of them are deleted before: few
-- pages have any. The other engine's migration of the same name has the same.
CREATE INDEX frontier_suspect ON frontier (suspect_digest) WHERE suspect_digest <> '';
