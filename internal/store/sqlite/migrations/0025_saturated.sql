-- Long lines. called: 0 the waiter comes by itself at promised_at; 1 its promise is only
-- in case it is never called, and a turn brings it; 2 a turn has been signalled to it.
-- state 5 is booked: the place of a visit that is not due before arrived. It is in no
-- count of a line until then. The other engine's migration of the same name has the same.
ALTER TABLE places ADD COLUMN called INTEGER NOT NULL DEFAULT 0;
CREATE INDEX places_booked ON places (host_id, crawl_id, class, arrived) WHERE state = 5;
CREATE INDEX places_called ON places (promised_at) WHERE state = 1 AND called = 2 AND lapsed_at = 0;
