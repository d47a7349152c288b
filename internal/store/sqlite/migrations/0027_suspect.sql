-- What a page's visit found that does not count before a second look: the number of that
-- visit, 0 for none, and the digest of its body, empty for none. The other engine's
-- migration of the same name has the same.
ALTER TABLE frontier ADD COLUMN suspect_visit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE frontier ADD COLUMN suspect_digest TEXT NOT NULL DEFAULT '';
