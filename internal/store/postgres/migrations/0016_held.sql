-- For how long a page's last visit had its host held, 0 for not at all. Durations and
-- the SQLite migration of the same name: see 0001_collection.
ALTER TABLE frontier ADD COLUMN held_host BIGINT NOT NULL DEFAULT 0;
