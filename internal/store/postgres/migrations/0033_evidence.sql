-- Automatic delays. auto_delay repeats the spec: delay, which older releases keep to, is the
-- longest then. refusals is the share of a host's last requests that it refused: one of
-- which nothing is known begins at the longest delay. The other engine's migration of the
-- same name has the same.
ALTER TABLE crawls ADD COLUMN auto_delay BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN refusals DOUBLE PRECISION NOT NULL DEFAULT 0.2;

-- What the robots.txt of an origin said before. A row of robots is as it says since the
-- time since, if since_of is its state and text_digest: releases that do not know the
-- columns replace it without them. Here are the rows that came before, each as it was in
-- force from since, 0 if that is not known, to until. They are written when a robots.txt
-- changes, and bounded for each origin, see boundRobots.
ALTER TABLE robots ADD COLUMN since BIGINT NOT NULL DEFAULT 0;
ALTER TABLE robots ADD COLUMN since_of TEXT NOT NULL DEFAULT '';
CREATE TABLE robots_history (
    origin      TEXT COLLATE "C" NOT NULL,
    until       BIGINT NOT NULL,
    since       BIGINT NOT NULL,
    host        TEXT COLLATE "C" NOT NULL,
    state       BIGINT NOT NULL,
    status      BIGINT NOT NULL,
    text        TEXT NOT NULL,
    text_digest TEXT NOT NULL,
    crawl_delay BIGINT NOT NULL,
    problem     TEXT NOT NULL,
    PRIMARY KEY (origin, until)
);
CREATE INDEX robots_history_host ON robots_history (host);
