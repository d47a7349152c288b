-- What was said around a version's body, and the language of its text. The heads
-- are at most 16 KiB each, of text.
ALTER TABLE versions ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN request TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN response TEXT NOT NULL DEFAULT '';
ALTER TABLE versions ADD COLUMN remote TEXT NOT NULL DEFAULT '';

-- Which pages have a content: for whoever finds it missing or damaged.
CREATE INDEX versions_digest ON versions (digest, page_id);
