-- How many visits a day a crawl asks for, and by how much longer its intervals are where the
-- engine does not bear them: see schedule.Allowance. The other engine's migration of the same
-- name has the same.
ALTER TABLE steering ADD COLUMN asked REAL NOT NULL DEFAULT 0;
ALTER TABLE steering ADD COLUMN stretch REAL NOT NULL DEFAULT 0;
