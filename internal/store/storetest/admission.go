package storetest

import (
	"fmt"
	"slices"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func admissionCases() []collectionCase {
	return []collectionCase{
		{"CandidatesBestFirst", candidatesBest},
		{"CandidatesOfSomeHosts", candidatesHosts},
		{"CandidatesFitTheWindow", candidatesWindow},
		{"CandidatesOfManyHosts", candidatesManyHosts},
		{"NoCandidatesAtMaxPages", candidatesMaxPages},
		{"CandidatesInTheTimeOfTheirSite", candidatesSiteTime},
		{"AdmitMakesActive", admitActive},
		{"AdmitKnownOnly", admitKnownOnly},
		{"AdmitFitsTheWindow", admitWindow},
		{"AdmitFitsMaxPages", admitMaxPages},
		{"AdmitExcludes", admitExcludes},
		{"AdmitExcludesByTheSpecInForce", admitExcludesByTheSpecInForce},
		{"AdmittedIsRemembered", admittedRemembered},
		{"AdmitAtOnceKeepsWindow", admitAtOnceWindow},
		{"AdmitAtOnceKeepsMaxPages", admitAtOnceMaxPages},
		{"AttemptFreesThePlace", admitAttempt},
		{"StopFreesThePlace", admitStop},
		{"UnknownCrawlIsNotFound", admitUnknown},
		{"RoomOfFoundPages", refillTouched},
		{"RoomOfPagesThatReturn", refillReturned},
		{"NewHostsOfLinks", registerNewHosts},
	}
}

// New pages of a host come in for as long as a site has in each round.
func candidatesSiteTime(c *collection) {
	set := func(site, round time.Duration) {
		c.Helper()
		c.spec.Limits.SiteTime, c.spec.Revisit.DefaultInterval = crawl.Duration(site), crawl.Duration(round)
		_, err := c.s.OpenCrawl(c.ctx, c.spec)
		c.check(err)
	}
	hosts := func() (list []string) {
		c.Helper()
		for _, p := range c.candidates(10) {
			list = append(list, p.Host)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	c.with(9, 0)
	set(time.Hour, 24*time.Hour)
	c.known(1, 5)
	c.known(2, 5)
	first := c.candidates(10)
	c.admit(first[slices.IndexFunc(first, func(p store.PageRecord) bool { return p.Host == c.host(1) })].PageID)
	want(c, "hosts in their time", fmt.Sprint(hosts()), fmt.Sprint([]string{c.host(1), c.host(2)}))
	set(time.Microsecond, 24*time.Hour) // the first host's is over
	want(c, "hosts with time left", fmt.Sprint(hosts()), fmt.Sprint([]string{c.host(2)}))
	want(c, "candidates of the host by itself", len(c.candidates(10, first[0].HostID, first[len(first)-1].HostID)), 5)
	set(time.Microsecond, 2*time.Microsecond) // and so is its round
	want(c, "hosts in another round", fmt.Sprint(hosts()), fmt.Sprint([]string{c.host(1), c.host(2)}))
	set(time.Microsecond, 24*time.Hour)
	set(0, 24*time.Hour)
	want(c, "hosts without a limit", fmt.Sprint(hosts()), fmt.Sprint([]string{c.host(1), c.host(2)}))
}

func candidatesBest(c *collection) {
	c.with(3, 0)
	c.register(0, c.url(1, 1, 2), c.url(1, 2, 0), c.url(1, 3, 1), c.url(1, 4, 5), c.url(2, 1, 1))
	got := c.candidates(10)
	want(c, "candidates", len(got), 4)
	for i, level := range []int{0, 1, 1, 2} {
		want(c, fmt.Sprintf("level of candidate %d", i), got[i].Level, level)
	}
	want(c, "candidates within a limit", len(c.candidates(2)), 2)
	want(c, "best within a limit", c.candidates(2)[0].Level, 0)
}

func candidatesHosts(c *collection) {
	c.open()
	one, two := c.known(1, 3), c.known(2, 3)
	c.known(3, 3)
	got := sortedIDs(c.candidates(100, one[0].HostID, two[0].HostID, one[0].HostID, 1<<40))
	want(c, "candidates", fmt.Sprint(got), fmt.Sprint(sortedIDs(append(one, two...))))
	want(c, "candidates of no host we know", len(c.candidates(100, 1<<40)), 0)
}

func candidatesWindow(c *collection) {
	c.with(2, 0)
	pages := c.known(1, 5)
	want(c, "candidates", len(c.candidates(10)), 2)
	c.admit(pages[0].PageID)
	want(c, "candidates with a place taken", len(c.candidates(10)), 1)
	c.admit(pages[1].PageID)
	want(c, "candidates of a full window", len(c.candidates(10)), 0)
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	want(c, "candidates after a visit", len(c.candidates(10)), 1)
}

func candidatesManyHosts(c *collection) {
	c.with(2, 0)
	for h := range 6 {
		c.register(0, c.urls(h, 3, 1)...)
	}
	c.admit(ids(c.candidates(12))...)
	want(c, "candidates of full windows", len(c.candidates(12)), 0)
	c.register(0, c.url(7, 0, 1))
	want(c, "candidates", len(c.candidates(2)), 1)
}

func candidatesMaxPages(c *collection) {
	c.with(10, 3)
	pages := c.known(1, 6)
	want(c, "candidates", len(c.candidates(10)), 3)
	c.admit(ids(pages)...)
	want(c, "candidates at max_pages", len(c.candidates(10)), 0)
	want(c, "room at max_pages", c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active).Room, false)
}

func admitActive(c *collection) {
	c.open()
	pages := c.known(1, 3)
	before, err := c.s.Now(c.ctx)
	c.check(err)
	got := c.admit(pages[2].PageID, pages[0].PageID, pages[2].PageID)
	want(c, "admitted", fmt.Sprint(ids(got)), fmt.Sprint([]int64{pages[2].PageID, pages[0].PageID}))
	for _, p := range got {
		want(c, "state", p.State, crawl.Active)
		if p.NextAt.Before(before) || p.NextAt.After(before.Add(time.Minute)) {
			c.Fatalf("due at %v, want now, %v", p.NextAt, before)
		}
	}
	want(c, "state of the other", c.page(pages[1].PageID).State, crawl.Known)
	c.checkCounts()
}

// An answer of Admit that was lost can be had again, until its pages are
// attempted.
func admittedRemembered(c *collection) {
	c.open()
	pages := c.known(1, 4)
	for i, key := range []string{"a", "b"} {
		_, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Key: key, Admit: ids(pages[2*i : 2*i+2])})
		c.check(err)
	}
	admitted := func(key string) string {
		again, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Key: key})
		c.check(err)
		return fmt.Sprint(ids(again))
	}
	sorted := func(some []store.PageRecord) string { return fmt.Sprint(slices.Sorted(slices.Values(ids(some)))) }
	want(c, "admitted by a", admitted("a"), sorted(pages[:2]))
	want(c, "admitted by b", admitted("b"), sorted(pages[2:]))
	for _, key := range []string{"a", "b"} {
		more := c.known(2, 1)
		again, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Key: key, Admit: ids(more)})
		c.check(err)
		want(c, "pages admitted again by "+key, len(again), 2)
		want(c, "state of a page that the second attempt wanted", c.page(more[0].PageID).State, crawl.Known)
	}
	want(c, "admitted by nobody", admitted("c")+admitted(""), "[][]")
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	c.setState(pages[3].PageID, crawl.Stopped)
	want(c, "still to be attempted of a", admitted("a"), fmt.Sprint(ids(pages[1:2])))
	want(c, "still to be attempted of b", admitted("b"), fmt.Sprint(ids(pages[2:3])))
}

func admitKnownOnly(c *collection) {
	c.open()
	pages := c.known(1, 2)
	want(c, "admitted", len(c.admit(ids(pages)...)), 2)
	want(c, "admitted again", len(c.admit(ids(pages)...)), 0)
	c.setState(pages[0].PageID, crawl.Evicted)
	want(c, "admitted after eviction", len(c.admit(ids(pages)...)), 0)
	want(c, "admitted of no page", len(c.admit(1<<40)), 0)
	other := newCollection(c.T, c.s)
	other.spec.Name, other.name = c.name+"-2", c.name+"-2"
	other.open()
	foreign := other.known(1, 1)
	want(c, "admitted of another crawl", len(c.admit(foreign[0].PageID)), 0)
}

func admitWindow(c *collection) {
	c.with(2, 0)
	one, two := c.known(1, 4), c.known(2, 4)
	got := c.admit(ids(append(one, two...))...)
	want(c, "admitted", fmt.Sprint(ids(got)), fmt.Sprint([]int64{one[0].PageID, one[1].PageID, two[0].PageID, two[1].PageID}))
}

func admitMaxPages(c *collection) {
	c.with(10, 3)
	pages := c.known(1, 5)
	want(c, "admitted", len(c.admit(ids(pages)...)), 3)
	c.setState(pages[0].PageID, crawl.Stopped)
	want(c, "admitted after a stop", len(c.admit(ids(pages)...)), 1)
	want(c, "living", c.status().Pages[crawl.Active], 3)
}

func admitExcludes(c *collection) {
	c.with(1, 3)
	pages := c.known(1, 5)
	admitted, err := c.s.Admit(c.ctx, store.AdmitParams{
		CrawlID: c.id, Admit: ids(pages[:1]), Exclude: ids(pages), ExcludedFor: 24 * time.Hour,
	})
	c.check(err)
	want(c, "admitted", len(admitted), 1)
	st := c.status()
	want(c, "active", st.Pages[crawl.Active], 1)
	want(c, "excluded, up to max_pages", st.Pages[crawl.Excluded], 2)
	now, err := c.s.Now(c.ctx)
	c.check(err)
	if due := c.page(pages[1].PageID).NextAt; due.Before(now.Add(23*time.Hour)) || due.After(now.Add(25*time.Hour)) {
		c.Fatalf("an excluded page is due at %v, want in 24 h from %v", due, now)
	}
	// An excluded page takes no place in the window, so its visit frees none.
	c.visit(pages[1].PageID, crawl.OutcomeExcluded, crawl.Excluded)
	want(c, "candidates of a full window", len(c.candidates(10)), 0)
	c.checkCounts()
}

// Pages that a spec of before excludes are not excluded: the spec that is in force may take
// them.
func admitExcludesByTheSpecInForce(c *collection) {
	c.with(2, 0)
	pages := c.known(1, 3)
	judged, err := c.s.Crawl(c.ctx, c.name)
	c.check(err)
	spec := judged.Spec
	spec.Scope.MaxDepth = 7
	changed, err := c.s.OpenCrawl(c.ctx, spec)
	c.check(err)
	if changed.Generation == judged.Generation {
		c.Fatal("the generation is the same after a change of the spec")
	}
	by := func(generation int64) store.AdmitParams {
		return store.AdmitParams{CrawlID: c.id, Admit: ids(pages[:1]), Exclude: ids(pages[1:]), ExcludedFor: time.Hour, Generation: generation}
	}
	admitted, err := c.s.Admit(c.ctx, by(judged.Generation))
	c.check(err)
	want(c, "admitted by the old spec", len(admitted), 1)
	want(c, "excluded by the old spec", c.status().Pages[crawl.Excluded], 0)
	want(c, "candidates after that", len(c.candidates(10)), 1) // of two, the window has room for one
	_, err = c.s.Admit(c.ctx, by(changed.Generation))
	c.check(err)
	want(c, "excluded by the new spec", c.status().Pages[crawl.Excluded], 2)
	c.checkCounts()
}

func admitAtOnceWindow(c *collection) {
	c.with(5, 0)
	pages := append(c.known(1, 30), c.known(2, 30)...)
	c.together(8, func(i int) error {
		list := ids(pages)
		if i%2 == 1 {
			slices.Reverse(list)
		}
		_, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Admit: list[i:]})
		return err
	})
	want(c, "active", c.status().Pages[crawl.Active], 10)
	c.checkCounts()
}

func admitAtOnceMaxPages(c *collection) {
	c.with(100, 7)
	pages := append(c.known(1, 30), c.known(2, 30)...)
	c.together(8, func(i int) error {
		_, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Admit: ids(pages[5*i : 5*i+20])})
		return err
	})
	want(c, "active", c.status().Pages[crawl.Active], 7)
	c.checkCounts()
}

func admitAttempt(c *collection) {
	c.with(1, 0)
	pages := c.known(1, 3)
	c.admit(ids(pages)...)
	res := c.visit(pages[0].PageID, crawl.OutcomeFailed, crawl.Failing)
	want(c, "room after the first attempt", res.Room, true)
	want(c, "admitted", len(c.admit(ids(pages)...)), 1)
	// The second visit frees nothing more.
	res = c.visit(pages[0].PageID, crawl.OutcomeUnchanged, crawl.Active)
	want(c, "room after the second visit", res.Room, false)
	want(c, "admitted", len(c.admit(ids(pages)...)), 0)
}

func admitStop(c *collection) {
	c.with(1, 0)
	pages := c.known(1, 3)
	c.admit(ids(pages)...)
	c.setState(pages[0].PageID, crawl.Stopped)
	want(c, "admitted after a stop", len(c.admit(ids(pages)...)), 1)
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active) // it was under way
	want(c, "admitted after a late visit", len(c.admit(ids(pages)...)), 0)
}

func admitUnknown(c *collection) {
	_, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: 1 << 40})
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.Candidates(c.ctx, store.CandidateParams{CrawlID: 1 << 40})
	c.wantError(err, store.ErrNotFound)
}

func dueCases() []collectionCase {
	return []collectionCase{
		{"LivingAndDueOnly", dueLiving},
		{"Pages", duePaging},
		{"WithoutThoseInLine", dueInLine},
		{"UntriedOnly", dueUntried},
		{"DueLongest", dueLongest},
		{"SetStateRevives", dueRevive},
		{"SetStateLeavesTheLine", dueLeaves},
		{"SetStateOfUnknownPage", dueUnknown},
	}
}

// dueUntried: pages that were admitted and never attempted, and nobody else.
func dueUntried(c *collection) {
	c.open()
	pages := c.admitted(1, 3)
	c.visit(pages[1].PageID, crawl.OutcomeFailed, crawl.Failing)
	c.known(2, 2)
	far := c.page(pages[0].PageID).NextAt.Add(1000 * time.Hour)
	untried := func(before time.Time) string {
		due, err := c.s.DuePages(c.ctx, store.DueParams{CrawlID: c.id, Before: before, Limit: 10, Untried: true})
		c.check(err)
		return fmt.Sprint(ids(due))
	}
	two := slices.Sorted(slices.Values([]int64{pages[0].PageID, pages[2].PageID}))
	want(c, "untried", untried(far), fmt.Sprint(two))
	want(c, "untried before their time", untried(c.page(pages[0].PageID).NextAt.Add(-time.Hour)), "[]")
}

// dueLongest: the pages that have been due longest come first, without those in a line.
func dueLongest(c *collection) {
	c.open()
	pages := c.admitted(1, 4)
	for i, interval := range []time.Duration{3 * time.Hour, time.Hour, 2 * time.Hour} {
		_, err := c.s.RecordVisit(c.ctx, store.RecordParams{
			Visit:    store.VisitRecord{PageID: pages[i].PageID, Visit: 1, Outcome: crawl.OutcomeUnchanged, State: crawl.Active},
			Interval: interval,
		})
		c.check(err)
	}
	_, err := c.s.Acquire(c.ctx, store.AcquireParams{Page: pages[3].PageRef, Visit: 1, Class: crawl.ClassFirst})
	c.check(err)
	in := func(inLine bool, limit int) string {
		return fmt.Sprint(ids(c.due(store.DueParams{Before: c.soon().Add(24 * time.Hour), Limit: limit, Longest: true, InLine: inLine})))
	}
	want(c, "two of those in no line", in(false, 2), fmt.Sprint([]int64{pages[1].PageID, pages[2].PageID}))
	want(c, "all in no line", in(false, 9), fmt.Sprint([]int64{pages[1].PageID, pages[2].PageID, pages[0].PageID}))
	want(c, "all", in(true, 9), fmt.Sprint([]int64{pages[3].PageID, pages[1].PageID, pages[2].PageID, pages[0].PageID}))
}

func (c *collection) due(p store.DueParams) []store.PageRecord {
	c.Helper()
	p.CrawlID = c.id
	pages, err := c.s.DuePages(c.ctx, p)
	c.check(err)
	return pages
}

// soon is a time after everything that is due now.
func (c *collection) soon() time.Time {
	c.Helper()
	now, err := c.s.Now(c.ctx)
	c.check(err)
	return now.Add(time.Minute)
}

func dueLiving(c *collection) {
	c.with(20, 0)
	pages := c.admitted(1, 10)
	c.register(0, c.urls(2, 3, 0)...) // known: not living
	for i, state := range []crawl.PageState{crawl.Failing, crawl.Gone, crawl.Redirect, crawl.Duplicate, crawl.Excluded, crawl.Evicted, crawl.Stopped} {
		c.setState(pages[i].PageID, state)
	}
	c.visit(pages[9].PageID, crawl.OutcomeNew, crawl.Active) // due in an hour
	got := ids(c.due(store.DueParams{Before: c.soon(), Limit: 100}))
	expected := sortedIDs(append(slices.Clone(pages[:5]), pages[7], pages[8]))
	want(c, "due pages", fmt.Sprint(got), fmt.Sprint(expected))
	want(c, "due in a year", len(c.due(store.DueParams{Before: c.soon().AddDate(1, 0, 0), Limit: 100})), 8)
	want(c, "due long ago", len(c.due(store.DueParams{Before: c.soon().Add(-time.Hour), Limit: 100})), 0)
}

func duePaging(c *collection) {
	const n = 5200 // more than are sorted at once
	c.with(10000, 0)
	c.register(0, c.urls(1, n, 0)...)
	for {
		some := c.candidates(2000)
		if len(some) == 0 {
			break
		}
		c.admit(ids(some)...)
	}
	c.setState(c.find(c.url(1, 3, 0).URL).PageID, crawl.Gone)
	var got []int64
	for after := int64(0); ; {
		pages := c.due(store.DueParams{Before: c.soon(), After: after, Limit: 900})
		if len(pages) == 0 {
			break
		}
		for _, p := range pages {
			got = append(got, p.PageID)
		}
		after = got[len(got)-1]
	}
	want(c, "due pages", len(got), n)
	want(c, "in order", slices.IsSorted(got), true)
	want(c, "each once", len(slices.Compact(got)), n)
}

// stand makes a page wait in its host's line.
func (c *collection) stand(p store.PageRecord) {
	c.Helper()
	_, err := c.s.Acquire(c.ctx, store.AcquireParams{Page: p.PageRef, Visit: p.Visits + 1, Class: crawl.ClassFirst})
	c.check(err)
}

func dueInLine(c *collection) {
	c.with(20, 0)
	pages := c.admitted(1, 4)
	c.stand(pages[0])
	c.stand(pages[2])
	got := ids(c.due(store.DueParams{Before: c.soon(), Limit: 100}))
	want(c, "due pages", fmt.Sprint(got), fmt.Sprint(sortedIDs([]store.PageRecord{pages[1], pages[3]})))
	want(c, "due pages with the line", len(c.due(store.DueParams{Before: c.soon(), Limit: 100, InLine: true})), 4)
	want(c, "due pages after the first, with the line",
		len(c.due(store.DueParams{Before: c.soon(), After: sortedIDs(pages)[0], Limit: 2, InLine: true})), 2)
	st := c.status()
	want(c, "overdue", st.Overdue, 2)
}

func dueRevive(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0]
	c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	c.setState(p.PageID, crawl.Stopped)
	want(c, "due while stopped", len(c.due(store.DueParams{Before: c.soon().AddDate(1, 0, 0)})), 0)
	c.setState(p.PageID, crawl.Active)
	want(c, "due when active again", len(c.due(store.DueParams{Before: c.soon()})), 1)
	c.setState(p.PageID, crawl.Active) // changes nothing
	c.checkCounts()
}

func dueLeaves(c *collection) {
	c.open()
	p := c.admitted(1, 1)[0]
	c.stand(p)
	want(c, "due while in line", len(c.due(store.DueParams{Before: c.soon()})), 0)
	c.setState(p.PageID, crawl.Evicted)
	c.setState(p.PageID, crawl.Active)
	want(c, "due after leaving", len(c.due(store.DueParams{Before: c.soon()})), 1)
}

func dueUnknown(c *collection) {
	c.wantError(c.s.SetPageState(c.ctx, 1<<40, crawl.Stopped), store.ErrNotFound)
}
