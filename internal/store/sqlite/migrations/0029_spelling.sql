-- How a page's server spells path and query of its URL, empty for as the URL does; and how
-- many visits in a row have ended with a redirect to another spelling. The other engine's
-- migration of the same name has the same.
ALTER TABLE frontier ADD COLUMN spelling  TEXT    NOT NULL DEFAULT '';
ALTER TABLE frontier ADD COLUMN respelled INTEGER NOT NULL DEFAULT 0;
