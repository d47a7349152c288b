package storetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func versionCases() []collectionCase {
	return []collectionCase{
		{"SavedVersionIsLastAfterItsVisit", versionLast},
		{"SavedAgainIsTheSame", versionAgain},
		{"LinksWait", versionLinks},
		{"UnfinishedByAge", versionUnfinished},
		{"WithoutLinksNothingWaits", versionNoLinks},
		{"WithoutABody", versionWithoutBody},
		{"HostileTexts", versionHostile},
		{"OfUnknownPage", versionUnknown},
	}
}

// version is a version of a page as its nth.
func version(page int64, visit int) store.VersionRecord {
	return store.VersionRecord{
		PageID: page, Visit: visit, Digest: strings.Repeat("a", 64), TextDigest: strings.Repeat("b", 64),
		LinkDigest: strings.Repeat("c", 64), Bytes: 1234, TextBytes: 567,
		ContentType: "text/html; charset=utf-8", Title: "A title", Canonical: "https://x.test/canonical",
	}
}

func (c *collection) save(v store.VersionRecord, links ...store.Link) int64 {
	c.Helper()
	id, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: v, Links: links})
	c.check(err)
	return id
}

func versionLast(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	v := version(p, 1)
	v.At = c.soon().Add(-time.Hour)
	v.ID = c.save(v)
	v.Seq = 1
	want(c, "last version before the visit", c.page(p).Last, store.VersionRecord{})
	want(c, "version of the visit", c.visit(p, crawl.OutcomeNew, crawl.Active).Visit.Version, 1)
	want(c, "last version", c.page(p).Last, v)
	want(c, "version of an unchanged visit", c.visit(p, crawl.OutcomeUnchanged, crawl.Active).Visit.Version, 1)
	c.save(version(p, 3))
	want(c, "version of a changed visit", c.visit(p, crawl.OutcomeChanged, crawl.Active).Visit.Version, 2)
	want(c, "last version's number", c.page(p).Last.Seq, 2)
	if c.page(p).Last.At.IsZero() {
		c.Fatal("a version saved without a time has none")
	}
	want(c, "versions", c.status().Versions, 2)
}

func versionAgain(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	first := c.save(version(p, 1), store.Link{URL: "https://x.test/1"})
	other := version(p, 1)
	other.Title = "Another"
	want(c, "id the second time", c.save(other, store.Link{URL: "https://x.test/2"}), first)
	pending, err := c.s.PendingLinks(c.ctx, p, 1)
	c.check(err)
	want(c, "link", pending.Links[0].URL, "https://x.test/1")
	want(c, "versions", c.status().Versions, 1)
}

func versionLinks(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0]
	links := []store.Link{{URL: "https://x.test/1"}, {URL: "https://x.test/2", NoFollow: true}}
	id := c.save(version(p.PageID, 1), links...)
	pending, err := c.s.PendingLinks(c.ctx, p.PageID, 1)
	c.check(err)
	expected := store.PendingLinks{Version: id, Page: p.PageRef, Level: 1, Visit: 1, Links: links}
	want(c, "pending links", fmt.Sprintf("%+v", *pending), fmt.Sprintf("%+v", expected))
	for range 2 { // the second time changes nothing
		_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: p.PageID, Version: id, URLs: c.urls(1, 2, 2)})
		c.check(err)
		pending, err = c.s.PendingLinks(c.ctx, p.PageID, 1)
		c.check(err)
		if pending != nil {
			c.Fatalf("registered links are pending: %+v", pending)
		}
	}
	want(c, "id after registration", c.save(version(p.PageID, 1), links...), id)
	pending, err = c.s.PendingLinks(c.ctx, p.PageID, 1)
	c.check(err)
	if pending != nil {
		c.Fatal("saving the version again brought its links back")
	}
}

func versionUnfinished(c *collection) {
	c.open()
	pages := c.admitted(1, 5)
	for _, p := range pages {
		c.save(version(p.PageID, 1), store.Link{URL: p.URL})
	}
	for _, q := range []struct {
		age         time.Duration
		limit, want int
	}{{0, 100, 5}, {0, 2, 2}, {time.Hour, 100, 0}} {
		found, err := c.s.UnfinishedLinks(c.ctx, c.id, q.age, q.limit)
		c.check(err)
		want(c, fmt.Sprintf("older than %v, at most %d", q.age, q.limit), len(found), q.want)
		for _, l := range found {
			want(c, "links", len(l.Links), 0)
		}
	}
	// No URL of it was in scope: registering none of them still finishes it.
	found, err := c.s.UnfinishedLinks(c.ctx, c.id, 0, 1)
	c.check(err)
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: found[0].Page.PageID, Version: found[0].Version})
	c.check(err)
	found, err = c.s.UnfinishedLinks(c.ctx, c.id, 0, 100)
	c.check(err)
	want(c, "unfinished", len(found), 4)
}

// A version whose body may not be kept has no digest. Its links wait as any
// other's; no bytes are counted for it, nor given to be deleted with it.
func versionWithoutBody(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0]
	v := version(p.PageID, 1)
	v.Digest = ""
	c.save(v, store.Link{URL: "https://x.test/1"})
	c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	last := c.page(p.PageID).Last
	want(c, "digest", last.Digest, "")
	want(c, "text's digest", last.TextDigest, v.TextDigest)
	pending, err := c.s.PendingLinks(c.ctx, p.PageID, 1)
	c.check(err)
	want(c, "links", len(pending.Links), 1)
	_, err = c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{URL: p.URL}, Limit: 10})
	c.check(err)
	digests, err := c.s.Unreferenced(c.ctx, 10)
	c.check(err)
	want(c, "digests to be deleted", len(digests), 0)
}

func versionNoLinks(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	c.save(version(p, 1))
	pending, err := c.s.PendingLinks(c.ctx, p, 1)
	c.check(err)
	if pending != nil {
		c.Fatalf("pending links %+v of a version without links", pending)
	}
}

func versionHostile(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	for i, text := range hostile() {
		v := version(p, i+1)
		v.Title, v.Canonical, v.ContentType = text, text, text
		c.save(v, store.Link{URL: text})
		pending, err := c.s.PendingLinks(c.ctx, p, i+1)
		c.check(err)
		want(c, "links", len(pending.Links), 1)
		res, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{
			PageID: p, Visit: i + 1, Outcome: crawl.OutcomeChanged, State: crawl.Active, Problem: text, Location: text,
			Reasons: []crawl.Reason{{Code: "x", Text: text, Num: map[string]float64{"n": 0.1}}},
		}, Validators: true, ETag: text, LastModified: text})
		c.check(err)
		stored, err := c.s.Visit(c.ctx, p, i+1)
		c.check(err)
		want(c, "problem", stored.Problem, res.Visit.Problem)
		want(c, "title", c.page(p).Last.Title, res.Visit.Problem) // both are cleaned alike
	}
}

func versionUnknown(c *collection) {
	_, err := c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: version(1<<40, 1)})
	c.wantError(err, store.ErrNotFound)
}

func visitCases() []collectionCase {
	return []collectionCase{
		{"RecordMovesThePage", visitMoves},
		{"RecordedAgainIsAlready", visitAlready},
		{"RecordedAtOnceIsOne", visitAtOnce},
		{"OutOfTurnIsAConflict", visitConflict},
		{"TimesAreTheStores", visitTimes},
		{"ValidatorsAndBelief", visitValidators},
		{"Spelling", visitSpelling},
		{"Suspect", visitSuspect},
		{"StoppedStaysStopped", visitStopped},
		{"OfUnknownPage", visitUnknown},
		{"RoomInTheWindow", visitRoom},
		{"List", visitList},
		{"ManyAtOnceCountRight", visitManyAtOnce},
	}
}

func visitMoves(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	v := store.VisitRecord{
		PageID: p, Visit: 1, At: c.soon().Add(-time.Hour), Outcome: crawl.OutcomeNew, Status: 200, Digest: strings.Repeat("d", 64),
		Bytes: 99, Duration: 1500 * time.Millisecond, State: crawl.Active, Problem: "none", Location: "https://x.test/to",
		Reasons: []crawl.Reason{{Code: "policy", Num: map[string]float64{"days": 1.5}, Text: "why"}},
	}
	res, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: v, Interval: 24 * time.Hour, Failures: 3})
	c.check(err)
	v.NextAt = v.At.Add(24 * time.Hour)
	want(c, "result", fmt.Sprintf("%+v", res.Visit), fmt.Sprintf("%+v", v))
	want(c, "already", res.Already, false)
	stored, err := c.s.Visit(c.ctx, p, 1)
	c.check(err)
	want(c, "stored", fmt.Sprintf("%+v", stored), fmt.Sprintf("%+v", v))
	page := c.page(p)
	want(c, "visits", page.Visits, 1)
	want(c, "failures", page.Failures, 3)
	want(c, "changes", page.Changes, 0)
	want(c, "last", page.LastAt, v.At)
	want(c, "next", page.NextAt, v.NextAt)
	c.visit(p, crawl.OutcomeChanged, crawl.Active)
	c.visit(p, crawl.OutcomeGone, crawl.Gone)
	page = c.page(p)
	want(c, "changes", page.Changes, 1)
	want(c, "state", page.State, crawl.Gone)
	c.checkCounts()
}

// A page's suspect content stays until a visit says otherwise, and is no version: its bytes
// may be deleted, and go with the page.
func visitSuspect(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0]
	c.save(version(p.PageID, 1))
	c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	want(c, "suspect", c.page(p.PageID).Suspect, store.Suspect{})
	record := func(visit int, outcome crawl.Outcome, suspect *store.Suspect) {
		v := store.VisitRecord{PageID: p.PageID, Visit: visit, Outcome: outcome, State: crawl.Active}
		if suspect != nil {
			v.Digest = suspect.Digest
		}
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: v, Suspect: suspect})
		c.check(err)
	}
	found := store.Suspect{Visit: 2, Digest: c.digest(7)}
	record(2, crawl.OutcomeSuspect, &found)
	page := c.page(p.PageID)
	want(c, "suspect", page.Suspect, found)
	want(c, "last version", page.Last.Seq, 1)
	want(c, "changes", page.Changes, 0)
	record(3, crawl.OutcomeFailed, nil)
	want(c, "suspect after a failure", c.page(p.PageID).Suspect, found)
	record(4, crawl.OutcomeUnchanged, &store.Suspect{})
	want(c, "suspect in the end", c.page(p.PageID).Suspect, store.Suspect{})
	want(c, "counted", c.status().Outcomes[crawl.OutcomeSuspect], 1)
	c.checkCounts()
	stored, err := c.s.Visit(c.ctx, p.PageID, 2)
	c.check(err)
	want(c, "outcome", stored.Outcome, crawl.OutcomeSuspect)
	want(c, "version of the visit", stored.Version, 1)
	gone, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{URL: p.URL}, Limit: 10})
	c.check(err)
	want(c, "bytes that go with the page", slices.Contains(gone.Digests, found.Digest), true)
}

func visitAlready(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	first := c.visit(p, crawl.OutcomeNew, crawl.Active)
	c.visit(p, crawl.OutcomeChanged, crawl.Active)
	before := c.status()
	again, err := c.s.RecordVisit(c.ctx, store.RecordParams{
		Visit: store.VisitRecord{PageID: p, Visit: 1, Outcome: crawl.OutcomeFailed, State: crawl.Failing}, Interval: time.Minute,
	})
	c.check(err)
	want(c, "already", again.Already, true)
	want(c, "visit", fmt.Sprintf("%+v", again.Visit), fmt.Sprintf("%+v", first.Visit))
	want(c, "page's visits", c.page(p).Visits, 2)
	want(c, "status", fmt.Sprint(c.status().Outcomes), fmt.Sprint(before.Outcomes))
}

func visitAtOnce(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	var fresh atomic.Int64
	c.together(8, func(int) error {
		res, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
		if err == nil && !res.Already {
			fresh.Add(1)
		}
		return err
	})
	want(c, "recorded", fresh.Load(), 1)
	want(c, "counted visits", c.status().Visits, 1)
}

func visitConflict(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	for _, visit := range []int{0, 2, 100} {
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p, Visit: visit, Outcome: crawl.OutcomeNew}})
		c.wantError(err, store.ErrConflict)
	}
	want(c, "visits", c.page(p).Visits, 0)
}

func visitTimes(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	before, err := c.s.Now(c.ctx)
	c.check(err)
	v := c.visit(p, crawl.OutcomeNew, crawl.Active).Visit
	if v.At.Before(before) || v.At.After(before.Add(time.Minute)) {
		c.Fatalf("visited at %v, want the store's now, %v", v.At, before)
	}
	want(c, "next", v.NextAt, v.At.Add(time.Hour))
	want(c, "whole microseconds", v.At, v.At.Truncate(time.Microsecond))
	// A visit long ago: its next is due, but not in the past.
	res, err := c.s.RecordVisit(c.ctx, store.RecordParams{
		Visit:    store.VisitRecord{PageID: p, Visit: 2, At: before.Add(-48 * time.Hour), Outcome: crawl.OutcomeUnchanged, State: crawl.Active},
		Interval: time.Hour,
	})
	c.check(err)
	if res.Visit.NextAt.Before(before) {
		c.Fatalf("next visit at %v, in the past", res.Visit.NextAt)
	}
	want(c, "due", res.Due, res.Visit.At.Add(time.Hour))
}

func visitValidators(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	record := func(visit int, edit func(*store.RecordParams)) store.PageRecord {
		params := store.RecordParams{Visit: store.VisitRecord{PageID: p, Visit: visit, Outcome: crawl.OutcomeUnchanged, State: crawl.Active}}
		edit(&params)
		_, err := c.s.RecordVisit(c.ctx, params)
		c.check(err)
		return c.page(p)
	}
	page := record(1, func(r *store.RecordParams) {
		r.Validators, r.ETag, r.LastModified = true, `W/"x'y"`, "Mon, 02 Jan 2006 15:04:05 GMT"
		r.Belief = json.RawMessage(`{"a":1.25,"b":[1,2]}`)
	})
	want(c, "etag", page.ETag, `W/"x'y"`)
	want(c, "last modified", page.LastModified, "Mon, 02 Jan 2006 15:04:05 GMT")
	want(c, "belief", string(page.Belief), `{"a":1.25,"b":[1,2]}`)
	page = record(2, func(r *store.RecordParams) { r.ETag = "ignored" })
	want(c, "etag kept", page.ETag, `W/"x'y"`)
	want(c, "belief kept", string(page.Belief), `{"a":1.25,"b":[1,2]}`)
	page = record(3, func(r *store.RecordParams) { r.Validators = true })
	want(c, "etag removed", page.ETag+page.LastModified, "")
}

// visitSpelling: a page keeps the spelling under which it was found first, until a visit
// brings another.
func visitSpelling(c *collection) {
	c.open()
	found, plain := c.url(1, 1, 1), c.url(1, 2, 1)
	found.Spelling = "/p/%31"
	again := found
	again.Spelling = "/%70/1"
	c.register(0, found, again, plain)
	want(c, "first of a list", c.find(found.URL).Respelling, store.Respelling{Spelling: "/p/%31"})
	want(c, "the URL's own", c.find(plain.URL).Respelling, store.Respelling{})
	plain.Spelling = "/p/%32"
	c.register(0, again, plain)
	want(c, "of a known page", c.find(found.URL).Respelling, store.Respelling{Spelling: "/p/%31"})
	want(c, "of a known page", c.find(plain.URL).Respelling, store.Respelling{})

	p := c.admitted(2, 1)[0].PageID
	record := func(visit int, to *store.Respelling) store.Respelling {
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{
			Visit: store.VisitRecord{PageID: p, Visit: visit, Outcome: crawl.OutcomeRedirected, State: crawl.Active}, Respelling: to,
		})
		c.check(err)
		return c.page(p).Respelling
	}
	want(c, "respelled", record(1, &store.Respelling{Spelling: "/it's?a=%c3", Times: 1}), store.Respelling{Spelling: "/it's?a=%c3", Times: 1})
	want(c, "kept", record(2, nil), store.Respelling{Spelling: "/it's?a=%c3", Times: 1})
	want(c, "answered", record(3, &store.Respelling{}), store.Respelling{})
}

func visitStopped(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 2)
	for i, state := range []crawl.PageState{crawl.Stopped, crawl.Evicted} {
		p := pages[i].PageID
		c.setState(p, state)
		v := c.visit(p, crawl.OutcomeNew, crawl.Active).Visit
		want(c, "state in the visit", v.State, state)
		want(c, "state of the page", c.page(p).State, state)
		want(c, "visits", c.page(p).Visits, 1)
	}
	c.checkCounts()
}

func visitUnknown(c *collection) {
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: 1 << 40, Visit: 1}})
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.Visit(c.ctx, 1<<40, 1)
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.Page(c.ctx, 1<<40)
	c.wantError(err, store.ErrNotFound)
}

func visitRoom(c *collection) {
	c.with(2, 0)
	pages := c.known(1, 3)
	c.admit(ids(pages)...)
	want(c, "room with a known page", c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active).Room, true)
	c.admit(pages[2].PageID)
	want(c, "room with nothing known", c.visit(pages[1].PageID, crawl.OutcomeNew, crawl.Active).Room, false)
}

func visitList(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0].PageID
	for range 5 {
		c.visit(p, crawl.OutcomeUnchanged, crawl.Active)
	}
	for _, q := range []struct {
		before, limit int
		want          []int
	}{{0, 3, []int{5, 4, 3}}, {1 << 40, 3, []int{5, 4, 3}}, {3, 10, []int{2, 1}}, {1, 10, nil}, {0, 0, []int{5, 4, 3, 2, 1}}} {
		visits, err := c.s.ListVisits(c.ctx, p, q.before, q.limit)
		c.check(err)
		var got []int
		for _, v := range visits {
			got = append(got, v.Visit)
		}
		if !slices.Equal(got, q.want) {
			c.Fatalf("visits before %d, at most %d: got %v, want %v", q.before, q.limit, got, q.want)
		}
	}
	for _, visit := range []int{6, 1 << 40, -1 << 40} {
		_, err := c.s.Visit(c.ctx, p, visit)
		c.wantError(err, store.ErrNotFound)
	}
}

func visitManyAtOnce(c *collection) {
	const workers, each = 8, 12
	c.with(10000, 0)
	c.register(0, append(c.urls(1, 60, 1), c.urls(2, 60, 1)...)...)
	pages := c.admit(ids(c.candidates(workers * each))...)
	from := pages[0].PageID
	// Visits, registrations, admissions and stops of the same pages and hosts.
	c.together(workers, func(i int) error {
		for k, p := range pages[i*each : (i+1)*each] {
			_, err := c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active}})
			if err != nil {
				return err
			}
			switch k % 3 {
			case 0:
				_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: p.PageID, URLs: append(c.urls(1, 60, 1), c.urls(2, 60, 1)...)})
			case 1:
				_, err = c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Admit: ids(pages)})
			case 2:
				err = c.s.SetPageState(c.ctx, pages[(i*each+k+7)%len(pages)].PageID, crawl.Gone)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	st := c.status()
	want(c, "visits", st.Visits, workers*each)
	want(c, "outcomes", st.Outcomes[crawl.OutcomeNew], workers*each)
	want(c, "visits in the last hour", st.LastHour, workers*each)
	want(c, "visits of the first", c.page(from).Visits, 1)
	c.checkCounts()
}
