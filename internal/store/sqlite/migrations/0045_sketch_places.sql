-- The values of a sketch beyond the first 16, five bytes each. Until now all were in sketch,
-- eight bytes each; sketches from before stay as they are. The other engine's migration of
-- the same name has the same.
ALTER TABLE sketches ADD COLUMN more BLOB NOT NULL DEFAULT x'';
