-- How far the pages of a crawl have been looked at under a scope, whose digest is scope:
-- those up to after_page have. The other engine's migration of the same name has the same.
CREATE TABLE scope_looks (
    crawl_id   INTEGER PRIMARY KEY REFERENCES crawls (id) ON DELETE CASCADE,
    scope      TEXT    NOT NULL,
    after_page INTEGER NOT NULL,
    done       INTEGER NOT NULL
);
