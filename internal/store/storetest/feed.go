package storetest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

func feedCases() []collectionCase {
	return []collectionCase{
		{"VisitsThatChange", feedVisits},
		{"VersionsWithoutAChange", feedVersionOnly},
		{"VisitsAreWrittenOnce", feedOnce},
		{"WhatWasBeforeFailures", feedPast},
		{"StopsAndReturns", feedStops},
		{"StoppedCrawlsAreOneChange", feedStoppedCrawl},
		{"Evictions", feedEvictions},
		{"SettledDuplicates", feedSettled},
		{"ForgottenPages", feedForgotten},
		{"CrawlsAndSpecs", feedCrawls},
		{"Traps", feedTraps},
		{"BlockedHosts", feedBlocked},
		{"Sinks", feedSinks},
		{"SinksMoveOnce", feedSinksConflict},
		{"PausedSinks", feedSinkPaused},
		{"Undelivered", feedUndelivered},
		{"PagesOfTheFeed", feedPaged},
		{"DeletedWithTheCrawl", feedDeleted},
	}
}

// feedAlone are promises about the whole feed: each needs a separate store.
func feedAlone() []collectionCase {
	return []collectionCase{
		{"CursorsThatLeadNowhere", feedCursors},
		{"TrimmedFromTheOldEnd", feedTrimmed},
		{"SinksThatAreLeftBehind", feedLeftBehind},
		{"SinksThatMissNoChange", feedMissesNothing},
		{"ChangesSince", feedSince},
	}
}

// follow returns the crawl's changes of some kinds from the feed's oldest on, or of all.
func (c *collection) follow(kinds ...feed.Kind) []feed.Change {
	c.Helper()
	ends, err := c.s.FeedEnds(c.ctx)
	c.check(err)
	return c.followFrom(ends.Oldest, store.ChangesParams{CrawlID: c.id, Kinds: kinds})
}

// followFrom reads to the feed's end.
func (c *collection) followFrom(after feed.Cursor, p store.ChangesParams) []feed.Change {
	c.Helper()
	var all []feed.Change
	for p.After = after; ; {
		page, err := c.s.Changes(c.ctx, p)
		c.check(err)
		for _, found := range page.Changes {
			if n := len(all); found.ID <= p.After.ID || found.ID > page.Through.ID || n > 0 && found.ID <= all[n-1].ID {
				c.Fatalf("change %d between %s and %s", found.ID, p.After, page.Through)
			}
			all = append(all, found)
		}
		if page.Through.ID >= page.Newest.ID {
			return all
		}
		if page.Through == p.After {
			c.Fatalf("nothing was read from %s, and %s is newer", p.After, page.Newest)
		}
		p.After = page.Through
	}
}

// tell describes changes of pages: "page.changed 3 2→3".
func tell(changes []feed.Change) string {
	all := []string{}
	for _, c := range changes {
		text := c.Kind.String()
		if c.Visit > 0 {
			text += fmt.Sprintf(" %d", c.Visit)
		}
		if c.Seq > 0 {
			text += fmt.Sprintf(" %d→%d", c.Data.From, c.Seq)
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func (c *collection) wantFeed(what, want string, kinds ...feed.Kind) {
	c.Helper()
	if got := tell(c.follow(kinds...)); got != want {
		c.Fatalf("%s: the feed has\n%s, want\n%s", what, got, want)
	}
}

// wantOnly wants one change of a kind, and returns it.
func (c *collection) wantOnly(kind feed.Kind) feed.Change {
	c.Helper()
	found := c.follow(kind)
	want(c, "changes: "+kind.String(), len(found), 1)
	return found[0]
}

func feedVisits(c *collection) {
	c.open()
	page := c.admitted(1, 1)[0].PageID
	before := must(c.s.Now(c.ctx))(c)
	c.saveContent(page, content(1), nil)
	c.visit(page, crawl.OutcomeNew, crawl.Active)
	c.visit(page, crawl.OutcomeUnchanged, crawl.Active)
	second := c.visitContent(page, content(2), nil)
	c.saveContent(page, content(2), nil) // other links: a version, but no other text
	c.made(page, crawl.OutcomeCosmetic, 200, version(page, 4).Digest)
	c.visitContent(page, content(3), nil)
	c.back(page, second, time.Time{}, store.Retention{})
	c.visitContent(page, content(4), nil)
	c.visit(page, crawl.OutcomeSkipped, crawl.Active)
	c.visit(page, crawl.OutcomeSuspect, crawl.Active)
	c.visit(page, crawl.OutcomeGone, crawl.Gone)
	c.visit(page, crawl.OutcomeGone, crawl.Gone)
	c.visit(page, crawl.OutcomeUnchanged, crawl.Active)
	c.wantFeed("visits", "page.new 1 0→1, page.changed 3 1→2, page.changed 5 3→4, page.changed 6 4→2, page.changed 7 2→5, page.gone 10 5→5, page.back 12 5→5")
	all := c.follow()
	want(c, "returned to", all[3].Data.ReturnedTo, 2)
	after := must(c.s.Now(c.ctx))(c)
	for i, one := range all {
		want(c, "crawl", one.CrawlID, c.id)
		want(c, "page", one.PageID, page)
		if one.At.Before(before) || one.At.After(after) || i > 0 && one.At.Before(all[i-1].At) {
			c.Fatalf("change %d is of %v", one.ID, one.At)
		}
	}
	want(c, "was", all[5].Data.Was, crawl.Active)
	want(c, "is", all[5].Data.State, crawl.Gone)
}

// otherLinks records a visit that finds another version of the same text.
func (c *collection) otherLinks(page int64, n int) {
	c.Helper()
	c.saveContent(page, content(n), nil)
	visit := c.page(page).Visits + 1
	c.made(page, crawl.OutcomeCosmetic, 200, version(page, visit).Digest)
}

// A version with the same text is no change, but whoever asks for it finds its visit, in its
// place among the changes.
func feedVersionOnly(c *collection) {
	c.open()
	page := c.admitted(1, 1)[0].PageID
	c.visitContent(page, content(1), nil)
	c.otherLinks(page, 1)
	c.visit(page, crawl.OutcomeCosmetic, crawl.Active) // noise: no version
	c.visitContent(page, content(2), nil)
	c.wantFeed("changes", "page.new 1 0→1, page.changed 4 2→3")
	all := c.follow(append(feed.Kinds(), feed.VersionOnly)...)
	want(c, "rows", len(all), 3)
	want(c, "kind", all[1].Kind, feed.VersionOnly)
	want(c, "page", all[1].PageID, page)
	want(c, "visit", all[1].Visit, 2)
	want(c, "version", all[1].Seq, 2)
	want(c, "alone", len(c.follow(feed.VersionOnly)), 1)
	// Cursors pass it.
	ends := must(c.s.FeedEnds(c.ctx))(c)
	c.otherLinks(page, 2)
	none := must(c.s.Changes(c.ctx, store.ChangesParams{After: ends.Newest, CrawlID: c.id}))(c)
	want(c, "changes", len(none.Changes), 0)
	if none.Through != none.Newest || none.Through.ID <= ends.Newest.ID {
		c.Fatalf("from %s through %s, and %s is the newest", ends.Newest, none.Through, none.Newest)
	}
}

func feedMissesNothing(c *collection) {
	c.open()
	page := c.admitted(1, 1)[0].PageID
	c.visitContent(page, content(1), nil)
	behind := c.openSink("behind")
	c.otherLinks(page, 1)
	now := must(c.s.Now(c.ctx))(c).Add(time.Second)
	must(c.s.TrimChanges(c.ctx, now, 100))(c)
	want(c, "gaps", len(c.follow(feed.FeedGap)), 0)
	if moved := c.openSink("behind"); moved.After.ID <= behind.After.ID {
		c.Fatalf("the sink is still at %s", moved.After)
	}
}

func feedOnce(c *collection) {
	c.open()
	page := c.admitted(1, 1)[0].PageID
	c.saveContent(page, content(1), nil)
	c.visit(page, crawl.OutcomeNew, crawl.Active)
	again := store.RecordParams{Visit: store.VisitRecord{PageID: page, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}}
	res := must(c.s.RecordVisit(c.ctx, again))(c)
	want(c, "already", res.Already, true)
	c.together(4, func(int) error {
		again := again
		again.Visit.Visit, again.Visit.Outcome, again.Visit.State = 2, crawl.OutcomeGone, crawl.Gone
		_, err := c.s.RecordVisit(c.ctx, again)
		return err
	})
	c.wantFeed("recorded again", "page.new 1 0→1, page.gone 2 1→1")
}

func feedPast(c *collection) {
	c.open()
	page := c.admitted(1, 1)[0].PageID
	to := func(where string) {
		c.Helper()
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{
			PageID: page, Visit: c.page(page).Visits + 1, Outcome: crawl.OutcomeRedirected, State: crawl.Redirect, Location: where,
		}})
		c.check(err)
	}
	fail := func() { c.visit(page, crawl.OutcomeFailed, crawl.Failing) }
	c.saveContent(page, content(1), nil)
	c.visit(page, crawl.OutcomeNew, crawl.Active) // 1
	fail()
	fail()
	c.visit(page, crawl.OutcomeThrottled, crawl.Failing)
	c.visit(page, crawl.OutcomeUnchanged, crawl.Active) // 5
	to("https://a.test/")
	to("https://a.test/")
	c.visit(page, crawl.OutcomeThrottled, crawl.Redirect)
	to("https://b.test/") // 9
	fail()
	to("https://b.test/") // 11
	fail()
	to("https://a.test/") // 13
	fail()
	c.visit(page, crawl.OutcomeUnchanged, crawl.Active) // 15
	fail()
	c.visitContent(page, content(2), nil) // 17
	c.wantFeed("failures", "page.new 1 0→1, page.failing 2 1→1, page.recovered 5 1→1, page.moved 6 1→1, page.moved 9 1→1, "+
		"page.failing 10 1→1, page.recovered 11 1→1, page.failing 12 1→1, page.moved 13 1→1, page.failing 14 1→1, page.back 15 1→1, "+
		"page.failing 16 1→1, page.changed 17 1→2")
}

func feedStops(c *collection) {
	c.open()
	page := c.admitted(1, 1)[0].PageID
	c.saveContent(page, content(1), nil)
	c.visit(page, crawl.OutcomeNew, crawl.Active)
	c.setState(page, crawl.Stopped)
	c.setState(page, crawl.Stopped)
	c.visitContent(page, content(2), nil) // it was under way
	c.setState(page, crawl.Active)
	c.setState(page, crawl.Stopped)
	must(c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: c.urls(1, 1, 0), Revive: true}))(c)
	c.wantFeed("stops", "page.new 1 0→1, page.stopped 1 0→1, page.changed 2 1→2, page.resumed 2 0→2, page.stopped 2 0→2, page.resumed")
	all := c.follow()
	want(c, "was", all[2].Data.Was, crawl.Stopped)
	want(c, "is", all[5].Data.State, crawl.Known)
}

func feedStoppedCrawl(c *collection) {
	c.open()
	pages := c.admitted(1, 3)
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
	c.check(err)
	for _, p := range pages {
		c.setState(p.PageID, crawl.Stopped)
	}
	c.open()
	c.wantFeed("a stopped crawl", "crawl.state, crawl.state")
	all := c.follow()
	want(c, "first", all[0].Data.Crawl, crawl.CrawlStopped)
	want(c, "then", all[1].Data.Crawl, crawl.CrawlRunning)
	want(c, "generation", all[1].Data.Generation, 3)
}

func feedEvictions(c *collection) {
	in, out := c.full(3)
	_, done := c.swap(out[1].PageID, in[0].PageID)
	want(c, "done", done, true)
	_, done = c.swap(in[0].PageID, in[1].PageID)
	want(c, "back", done, true)
	evicted, resumed := c.follow(feed.PageEvicted), c.wantOnly(feed.PageResumed)
	want(c, "evicted", fmt.Sprint(evicted[0].PageID, evicted[1].PageID), fmt.Sprint(in[0].PageID, in[1].PageID))
	want(c, "was", evicted[0].Data.Was, crawl.Active)
	want(c, "resumed", resumed.PageID, in[0].PageID)
	want(c, "was", resumed.Data.Was, crawl.Evicted)
	want(c, "is", resumed.Data.State, crawl.Active)
}

func feedSettled(c *collection) {
	c.with(10, 0)
	pages := c.oldest(1, 2)
	c.visitContent(pages[0].PageID, content(1), nil)
	last := c.visitContent(pages[1].PageID, content(1), nil)
	one := store.Settlement{PageVersion: store.PageVersion{PageID: pages[1].PageID, Version: last}, Duplicate: true}
	for range 2 {
		must(c.s.SettleDuplicates(c.ctx, c.id, []store.Settlement{one}))(c)
	}
	one.Duplicate = false
	must(c.s.SettleDuplicates(c.ctx, c.id, []store.Settlement{one}))(c)
	c.wantFeed("settled", "page.new 1 0→1, page.new 1 0→1, page.duplicate 1 1→1, page.back 1 1→1")
	want(c, "was", c.wantOnly(feed.PageBack).Data.Was, crawl.Duplicate)
}

func feedForgotten(c *collection) {
	c.open()
	page := c.admitted(1, 1)[0]
	c.saveContent(page.PageID, content(1), nil)
	c.visit(page.PageID, crawl.OutcomeNew, crawl.Active)
	sink := c.openSink("hook")
	first := c.follow()[0]
	refused := store.UndeliveredRecord{CrawlID: c.id, Sink: "hook", ChangeID: first.ID, Tries: 5, Problem: "400 for " + page.URL}
	moved := sink
	moved.After.ID = first.ID
	c.check(c.s.SetUndelivered(c.ctx, sink, moved, refused))
	want(c, "refused", len(c.undelivered("hook")), 1)
	c.forgetURL(page.URL)
	want(c, "refused", len(c.undelivered("hook")), 0)
	// One that was under way meanwhile.
	c.check(c.s.SetUndelivered(c.ctx, moved, moved, refused))
	want(c, "refused", len(c.undelivered("hook")), 0)
	c.wantFeed("forgotten", "page.new 1 0→1, page.forgotten")
	last := c.wantOnly(feed.PageForgotten)
	sum := sha256.Sum256([]byte(page.URL))
	want(c, "page", last.PageID, page.PageID)
	want(c, "hash", last.Data.URLHash, hex.EncodeToString(sum[:]))
}

func feedCrawls(c *collection) {
	c.open()
	c.open()
	c.wantFeed("the same spec", "")
	c.spec.Limits.Window = 3
	c.open()
	for _, state := range []crawl.CrawlState{crawl.CrawlPaused, crawl.CrawlPaused, crawl.CrawlRunning} {
		must(c.s.SetCrawlState(c.ctx, c.name, state))(c)
	}
	c.wantFeed("a crawl", "crawl.spec, crawl.state, crawl.state")
	all := c.follow()
	want(c, "generation", all[0].Data.Generation, 2)
	want(c, "state", all[1].Data.Crawl, crawl.CrawlPaused)
	want(c, "state", all[2].Data.Crawl, crawl.CrawlRunning)
}

func feedTraps(c *collection) {
	c.open()
	host := c.known(1, 1)[0].HostID
	trap := c.setTraps(c.newTrap("a"))[0]
	c.setTraps(c.newTrap("a"))
	held := c.wantOnly(feed.TrapHeld)
	want(c, "trap", held.Data.TrapID, trap.ID)
	want(c, "host", held.Data.HostID, host)
}

func feedBlocked(c *collection) {
	c.open()
	host := c.known(1, 1)[0].HostID
	for _, blocked := range []bool{true, true, false, false} {
		must(c.s.SetBlocked(c.ctx, c.host(1), blocked))(c)
	}
	must(c.s.SetBlocked(c.ctx, c.host(2), true))(c) // the crawl has no page of it
	all := c.follow(feed.HostBlocked)
	want(c, "changes", len(all), 2)
	want(c, "host", all[0].Data.HostID, host)
	want(c, "blocked", all[0].Data.Blocked, true)
	want(c, "blocked", all[1].Data.Blocked, false)
	want(c, "crawl", all[0].CrawlID, 0)
}

// placeOf is the cursor after a change, in the epoch of another.
func placeOf(one feed.Change, other feed.Cursor) feed.Cursor {
	return feed.Cursor{Epoch: other.Epoch, ID: one.ID}
}

func feedPaged(c *collection) {
	c.open()
	start := must(c.s.FeedEnds(c.ctx))(c).Newest
	for range 9 {
		c.spec.Limits.Window++
		c.open()
		must(c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlPaused))(c)
		must(c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlRunning))(c)
	}
	all := c.followFrom(start, store.ChangesParams{CrawlID: c.id})
	want(c, "changes", len(all), 27)
	for limit := range 5 {
		some := c.followFrom(start, store.ChangesParams{CrawlID: c.id, Limit: limit})
		want(c, fmt.Sprintf("changes, %d at a time", limit), fmt.Sprint(some), fmt.Sprint(all))
		specs := c.followFrom(start, store.ChangesParams{CrawlID: c.id, Limit: limit, Kinds: []feed.Kind{feed.CrawlSpec, feed.PageGone}})
		want(c, "those of a kind", len(specs), 9)
	}
	of := func(one feed.Change) bool { return one.CrawlID == c.id }
	everywhere := slices.DeleteFunc(c.followFrom(start, store.ChangesParams{}), func(one feed.Change) bool { return !of(one) })
	want(c, "of all crawls", fmt.Sprint(everywhere), fmt.Sprint(all))
	// A page ends where the search ended, even if it found nothing.
	none := must(c.s.Changes(c.ctx, store.ChangesParams{After: start, CrawlID: 1 << 40, Kinds: []feed.Kind{feed.CrawlSpec}}))(c)
	want(c, "changes of no crawl", len(none.Changes), 0)
	if none.Through.ID < all[26].ID {
		c.Fatalf("looked through %s only", none.Through)
	}
}

func feedDeleted(c *collection) {
	c.fill()
	c.openSink("hook")
	if len(c.follow()) == 0 {
		c.Fatal("nothing to delete")
	}
	c.delete(store.DeleteParams{Limit: 100})
	want(c, "changes", len(c.follow()), 0)
	want(c, "sinks", len(must(c.s.ListSinks(c.ctx, c.id))(c)), 0)
	// A cursor at the formerly newest change is still valid.
	ends := must(c.s.FeedEnds(c.ctx))(c)
	must(c.s.Changes(c.ctx, store.ChangesParams{After: ends.Newest}))(c)
}

func feedCursors(c *collection) {
	c.open()
	c.spec.Limits.Window = 3
	c.open()
	ends := must(c.s.FeedEnds(c.ctx))(c)
	want(c, "oldest", ends.Oldest.ID, 0)
	want(c, "newest", ends.Newest.ID, 1)
	ask := func(after feed.Cursor, expected error) {
		c.Helper()
		_, err := c.s.Changes(c.ctx, store.ChangesParams{After: after})
		c.wantError(err, expected)
	}
	ask(feed.Cursor{}, feed.ErrEpoch)
	ahead := ends.Newest
	ahead.ID++
	ask(ahead, feed.ErrAhead)
	_, err := c.s.OpenSink(c.ctx, c.id, "hook", ahead)
	c.wantError(err, feed.ErrAhead)
	sink := c.openSink("hook")
	c.check(c.s.NewEpoch(c.ctx))
	ask(ends.Oldest, feed.ErrEpoch)
	after := must(c.s.FeedEnds(c.ctx))(c)
	if after.Newest.Epoch == ends.Newest.Epoch {
		c.Fatal("the epoch is the same")
	}
	want(c, "newest", after.Newest.ID, 1)
	// A sink was restored with the feed that it reads.
	want(c, "the sink's cursor", c.openSink("hook").After, feed.Cursor{Epoch: after.Newest.Epoch, ID: sink.After.ID})
}

// specs makes changes of the crawl's spec.
func (c *collection) specs(n int) []feed.Change {
	c.Helper()
	for range n {
		c.spec.Limits.Window++
		c.open()
	}
	found := c.follow(feed.CrawlSpec)
	return found[len(found)-n:]
}

func feedTrimmed(c *collection) {
	c.open()
	before := must(c.s.FeedEnds(c.ctx))(c)
	all := c.specs(5)
	trim := func(limit int, left bool) store.FeedEnds {
		c.Helper()
		more := must(c.s.TrimChanges(c.ctx, all[3].At, limit))(c)
		want(c, "more", more, left)
		return must(c.s.FeedEnds(c.ctx))(c)
	}
	want(c, "oldest", trim(2, true).Oldest.ID, all[1].ID)
	want(c, "oldest", trim(2, false).Oldest.ID, all[2].ID)
	want(c, "oldest", trim(2, false).Oldest.ID, all[2].ID)
	want(c, "changes", fmt.Sprint(c.follow()), fmt.Sprint(all[3:]))
	_, err := c.s.Changes(c.ctx, store.ChangesParams{After: before.Oldest})
	c.wantError(err, feed.ErrTrimmed)
	_, err = c.s.ChangeBefore(c.ctx, all[2].At)
	c.wantError(err, feed.ErrTrimmed)
	want(c, "since", must(c.s.ChangeBefore(c.ctx, all[3].At))(c).ID, all[2].ID)
	// Ids are never used again, even if nothing is left.
	now := must(c.s.Now(c.ctx))(c).Add(time.Second)
	must(c.s.TrimChanges(c.ctx, now, 100))(c)
	ends := must(c.s.FeedEnds(c.ctx))(c)
	want(c, "all", ends.Oldest, ends.Newest)
	if next := c.specs(1)[0]; next.ID <= all[4].ID {
		c.Fatalf("change %d came after %d", next.ID, all[4].ID)
	}
}

func feedLeftBehind(c *collection) {
	c.open()
	behind, with := c.openSink("behind"), c.openSink("with")
	all := c.specs(4)
	refuse := with
	refuse.After = placeOf(all[3], with.After)
	c.check(c.s.SetUndelivered(c.ctx, with, refuse, store.UndeliveredRecord{CrawlID: c.id, Sink: "with", ChangeID: all[0].ID}))
	for _, until := range all[2:] { // in two steps: one gap
		must(c.s.TrimChanges(c.ctx, until.At, 100))(c)
	}
	want(c, "refused and trimmed", len(c.undelivered("with")), 0)
	gap := c.wantOnly(feed.FeedGap)
	want(c, "sink", gap.Data.Sink, "behind")
	want(c, "missed", gap.Data.Missed, 2)
	want(c, "moved", c.openSink("behind").After, placeOf(all[2], behind.After))
	want(c, "not moved", c.openSink("with").After, refuse.After)
	found := c.followFrom(c.openSink("behind").After, store.ChangesParams{CrawlID: c.id})
	want(c, "it goes on with", tell(found), "crawl.spec, feed.gap")
	c.check(c.s.CloseSink(c.ctx, c.id, "with"))
	// The gap itself is trimmed before the sink has read it: it gets another.
	must(c.s.TrimChanges(c.ctx, gap.At.Add(time.Microsecond), 100))(c)
	next := c.wantOnly(feed.FeedGap)
	want(c, "missed", next.Data.Missed, 2)
}

func feedSince(c *collection) {
	c.open()
	start := must(c.s.Now(c.ctx))(c)
	want(c, "before all", must(c.s.ChangeBefore(c.ctx, start))(c).ID, 0)
	all := c.specs(40)
	for i, one := range all {
		after := must(c.s.ChangeBefore(c.ctx, one.At))(c)
		first := slices.IndexFunc(all, func(o feed.Change) bool { return !o.At.Before(one.At) })
		want(c, fmt.Sprintf("before change %d", i), after.ID, all[first].ID-1)
	}
	want(c, "after all", must(c.s.ChangeBefore(c.ctx, all[39].At.Add(time.Hour)))(c).ID, all[39].ID)
}
