#!/bin/sh
# Makes Temporal's two databases, or brings their schemas up to the version of
# this tool. Runs before every start of the server and changes nothing when there
# is nothing to do. SQL_* say where Postgres is; the schemas are inside the tool.
set -eu

upgrade() { # DATABASE SCHEMA
  temporal-sql-tool --db "$1" create
  temporal-sql-tool --db "$1" setup-schema --version 0.0
  temporal-sql-tool --db "$1" update-schema --schema-name "postgresql/v12/$2"
}

upgrade temporal temporal
upgrade temporal_visibility visibility
echo "Temporal's databases are ready"
