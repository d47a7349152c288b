-- The feed and the view of changes find a page's versions by their numbers. Without this
-- index each change of a page reads all of the page's versions.
CREATE INDEX versions_seq ON versions (page_id, seq);
