-- What pages say of their own, by which the guard tells empty pages: how many phrases
-- there are, and a sample of them as package change encodes it. Of the last version
-- that was saved.
CREATE TABLE wordings (
    page_id INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    phrases INTEGER NOT NULL,
    sample  BLOB NOT NULL
);
