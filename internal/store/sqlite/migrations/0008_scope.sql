-- What is kept out of a crawl, and why. Booleans, times and the other engine's
-- migration of the same name: see 0001_collection.

-- Links since the seeds' hosts were left; like level it only falls.
ALTER TABLE pages ADD COLUMN hops INTEGER NOT NULL DEFAULT 0;
