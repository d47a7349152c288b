-- Optional: makes Temporal's list of workflows on Postgres cheaper to write.
--
--   psql --dbname temporal_visibility --single-transaction --file thin-visibility.sql
--
-- Temporal has an index for every attribute that anybody could ever search for, and each row
-- is in all of them. Indexes of columns without a value for most workflows keep only the rows
-- that have one; no search finds NULL. Indexes of columns that neither recrawl nor the
-- Temporal UI search by are removed; a search by one gets the same answer, from all rows.
--
-- The table is locked until it is done, so run it before there are many workflows, or with the
-- Temporal server stopped. A second run changes nothing. An upgrade of Temporal's schema may
-- expect an index that is missing: before it, thin-visibility-undo.sql makes all of them again.
DO $$
DECLARE
  unsearched CONSTANT text[] := ARRAY[
    'execution_time', 'task_queue', 'root_workflow_id', 'root_run_id', 'parent_run_id',
    'history_length', 'history_size_bytes', 'execution_duration', 'state_transition_count'];
  i record;
BEGIN
  CREATE TABLE IF NOT EXISTS recrawl_former_indexes (name text PRIMARY KEY, definition text NOT NULL);
  FOR i IN
    SELECT c.relname AS name, pg_get_indexdef(x.indexrelid) AS definition, a.attname AS column_name,
      a.attnotnull AS required, x.indpred IS NOT NULL AS is_partial
    FROM pg_index x
      JOIN pg_class c ON c.oid = x.indexrelid
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[1]
    WHERE x.indrelid = 'executions_visibility'::regclass AND NOT x.indisprimary AND x.indkey[1] > 0
    ORDER BY c.relname
  LOOP
    CONTINUE WHEN i.is_partial OR (i.required AND NOT i.column_name = ANY (unsearched));
    INSERT INTO recrawl_former_indexes VALUES (i.name, i.definition) ON CONFLICT (name) DO NOTHING;
    EXECUTE format('DROP INDEX %I', i.name);
    IF NOT i.column_name = ANY (unsearched) THEN
      EXECUTE format('%s WHERE %I IS NOT NULL', i.definition, i.column_name);
    END IF;
  END LOOP;
END $$;
