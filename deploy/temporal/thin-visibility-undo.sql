-- Undoes thin-visibility.sql: makes the indexes of Temporal's list of workflows as they were.
DO $$
DECLARE
  i record;
BEGIN
  FOR i IN SELECT name, definition FROM recrawl_former_indexes ORDER BY name LOOP
    EXECUTE format('DROP INDEX IF EXISTS %I', i.name);
    EXECUTE i.definition;
  END LOOP;
  DROP TABLE recrawl_former_indexes;
END $$;
