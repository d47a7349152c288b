-- How rates of change fall with the age of pages (steep, of a crawl), and what the pages
-- of a host have in common besides (site, as schedule.Site in JSON; empty for nothing).
ALTER TABLE steering ADD COLUMN steep REAL NOT NULL DEFAULT 0;
ALTER TABLE host_steering ADD COLUMN site TEXT NOT NULL DEFAULT '';
