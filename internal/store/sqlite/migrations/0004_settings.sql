-- What is fixed when a store is made. grouping: which hosts are one unit of
-- politeness, see urlkey.Grouping; hosts.host is the unit's name.
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
