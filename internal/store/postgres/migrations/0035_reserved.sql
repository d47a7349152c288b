-- What the site said of uses of a version, as JSON, empty if nothing.
ALTER TABLE versions ADD COLUMN reserved TEXT NOT NULL DEFAULT '';

-- The tdmrep.json of an origin, as robots keeps its robots.txt. text is what the last answer
-- said that told, failures how many since did not, for the reason problem. Only crawls that
-- name their purpose ask. The other engine's migration of the same name has the same.
CREATE TABLE terms (
    origin     TEXT COLLATE "C" PRIMARY KEY,
    host       TEXT COLLATE "C" NOT NULL,
    text       TEXT NOT NULL,
    fetched_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    failures   BIGINT NOT NULL,
    problem    TEXT NOT NULL
);
CREATE INDEX terms_host ON terms (host);
