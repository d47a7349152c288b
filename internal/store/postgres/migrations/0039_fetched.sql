-- The digest of the bytes that a page's request has brought, until its visit is recorded: a
-- page that is forgotten in between takes them with it. The other engine's migration of the
-- same name has the same.
ALTER TABLE frontier ADD COLUMN fetched TEXT NOT NULL DEFAULT '';
