package storetest

import (
	"strings"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// openSink makes a sink at the feed's newest change.
func (c *collection) openSink(name string) store.SinkRecord {
	c.Helper()
	ends := must(c.s.FeedEnds(c.ctx))(c)
	return must(c.s.OpenSink(c.ctx, c.id, name, ends.Newest))(c)
}

func (c *collection) undelivered(sink string) []store.UndeliveredRecord {
	c.Helper()
	return must(c.s.Undelivered(c.ctx, c.id, sink, 0, 0))(c)
}

func feedSinks(c *collection) {
	c.open()
	sink := c.openSink("b")
	want(c, "sink", sink, store.SinkRecord{CrawlID: c.id, Name: "b", After: sink.After})
	c.spec.Limits.Window = 3
	c.open()
	c.openSink("a")
	again := c.openSink("b") // newer, but it was there
	want(c, "sink", again, sink)
	at := time.UnixMicro(1e15 + 7).UTC()
	to := store.SinkRecord{
		CrawlID: c.id, Name: "b", After: placeOf(c.wantOnly(feed.CrawlSpec), sink.After), Problem: strings.Join(hostile(), " "), Since: at, Tries: 4,
		NextAt: at.Add(time.Minute), Sent: 17, LastSent: at.Add(-time.Minute), DigestSince: at.Add(-time.Hour),
	}
	c.check(c.s.MoveSink(c.ctx, sink, to))
	sinks := must(c.s.ListSinks(c.ctx, c.id))(c)
	want(c, "sinks", len(sinks), 2)
	want(c, "first", sinks[0].Name, "a")
	to.Problem = sinks[1].Problem // cleaned
	want(c, "second", sinks[1], to)
	c.check(c.s.CloseSink(c.ctx, c.id, "b"))
	c.check(c.s.CloseSink(c.ctx, c.id, "b"))
	want(c, "sinks", len(must(c.s.ListSinks(c.ctx, c.id))(c)), 1)
	c.wantError(c.s.MoveSink(c.ctx, to, to), store.ErrNotFound)
	_, err := c.s.OpenSink(c.ctx, 1<<40, "b", sink.After)
	c.wantError(err, store.ErrNotFound)
}

func feedSinksConflict(c *collection) {
	c.open()
	c.spec.Limits.Window = 3
	sink := c.openSink("hook")
	c.open()
	to := sink
	to.After, to.Sent = placeOf(c.wantOnly(feed.CrawlSpec), sink.After), 1
	errs := make([]error, 4)
	c.together(len(errs), func(i int) error {
		errs[i] = c.s.MoveSink(c.ctx, sink, to)
		return nil
	})
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
			continue
		}
		c.wantError(err, store.ErrConflict)
	}
	want(c, "moves", won, 1)
	c.check(c.s.MoveSink(c.ctx, to, sink)) // back, to send it again
	far := sink
	far.After.ID += 1 << 40
	c.wantError(c.s.MoveSink(c.ctx, sink, far), feed.ErrAhead)
	paused := sink
	paused.Paused, paused.Code = true, store.SinkPausedByPerson
	c.check(c.s.MoveSink(c.ctx, sink, paused))
	c.wantError(c.s.MoveSink(c.ctx, sink, to), store.ErrConflict) // a delivery that began before does not resume it
	c.check(c.s.MoveSink(c.ctx, paused, sink))
	far.After = feed.Cursor{Epoch: "other", ID: sink.After.ID}
	c.wantError(c.s.MoveSink(c.ctx, sink, far), feed.ErrEpoch)
}

func feedSinkPaused(c *collection) {
	c.open()
	sink := c.openSink("hook")
	set := func(paused bool, code string) {
		c.Helper()
		from := sink
		sink.Paused, sink.Code = paused, code
		c.check(c.s.MoveSink(c.ctx, from, sink))
	}
	set(true, store.SinkPausedByPerson)
	set(false, "")
	c.wantFeed("by a person", "")
	set(true, "gone")
	set(true, "gone")
	paused := c.wantOnly(feed.SinkPaused)
	want(c, "sink", paused.Data.Sink, "hook")
	want(c, "code", paused.Data.Code, "gone")
}

func feedUndelivered(c *collection) {
	c.open()
	sink := c.openSink("hook")
	for range 3 {
		c.spec.Limits.Window++
		c.open()
	}
	specs := c.follow(feed.CrawlSpec)
	at := must(c.s.Now(c.ctx))(c)
	for i, one := range specs {
		to := sink
		to.After = placeOf(one, sink.After)
		u := store.UndeliveredRecord{CrawlID: c.id, Sink: "hook", ChangeID: one.ID, At: at, Tries: i, Problem: "no"}
		c.check(c.s.SetUndelivered(c.ctx, sink, to, u))
		c.wantError(c.s.SetUndelivered(c.ctx, sink, to, u), store.ErrConflict)
		sink = to
	}
	found := c.undelivered("hook")
	want(c, "refused", len(found), 3)
	want(c, "second", found[1], store.UndeliveredRecord{CrawlID: c.id, Sink: "hook", ChangeID: specs[1].ID, At: at, Tries: 1, Problem: "no"})
	some := must(c.s.Undelivered(c.ctx, c.id, "hook", specs[0].ID, 1))(c)
	want(c, "one after the first", len(some), 1)
	want(c, "its change", some[0].ChangeID, specs[1].ID)
	c.check(c.s.Delivered(c.ctx, c.id, "hook", specs[1].ID))
	c.check(c.s.Delivered(c.ctx, c.id, "hook", specs[1].ID))
	want(c, "refused", len(c.undelivered("hook")), 2)
	c.check(c.s.CloseSink(c.ctx, c.id, "hook"))
	want(c, "refused", len(c.undelivered("hook")), 0)
}
