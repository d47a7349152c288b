-- What pages say of their own, by which the guard tells empty pages: how many phrases
-- there are, and a sample of them as package change encodes it. Of the last version
-- that was saved.
CREATE TABLE wordings (
    page_id BIGINT PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
    phrases BIGINT NOT NULL,
    sample  BYTEA NOT NULL
);
