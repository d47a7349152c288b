package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func registerCases() []collectionCase {
	return []collectionCase{
		{"NewURLsAreKnown", registerNew},
		{"AgainChangesNothing", registerAgain},
		{"SameURLTwiceCountsOnce", registerTwice},
		{"MoreThanOneTransaction", registerMany},
		{"LongURLs", registerLong},
		{"HostileURLs", registerHostile},
		{"URLsOfTwoCrawlsAreTwoPages", registerTwoCrawls},
		{"BacklinksCountOnce", registerBacklinks},
		{"LinkToItselfIsNoBacklink", registerSelf},
		{"NearerLevelCounts", registerNearer},
		{"UnknownOriginsAreNotFound", registerUnknown},
		{"EmptyURLsAreRefused", registerEmpty},
		{"NothingToRegister", registerNothing},
		{"AtOnceFromManySides", registerAtOnce},
		{"ManyHosts", registerManyHosts},
	}
}

func registerNew(c *collection) {
	c.open()
	res := c.register(0, c.url(1, 1, 0), c.url(1, 2, 3), c.url(2, 1, 0))
	want(c, "new", res.New, 3)
	want(c, "seen", res.Seen, 0)
	want(c, "hosts", len(res.Hosts), 2)
	p := c.find(c.url(1, 2, 0).URL)
	want(c, "state", p.State, crawl.Known)
	want(c, "level", p.Level, 3)
	want(c, "crawl", p.Crawl, c.name)
	want(c, "crawl id", p.CrawlID, c.id)
	want(c, "host", p.Host, c.host(1))
	want(c, "visits", p.Visits, 0)
	want(c, "last version", p.Last, store.VersionRecord{})
	if !p.NextAt.IsZero() || !p.LastAt.IsZero() || p.Belief != nil {
		c.Fatalf("a known page has times %v, %v or a belief %s", p.NextAt, p.LastAt, p.Belief)
	}
	if !slices.Contains(res.Hosts, p.HostID) {
		c.Fatalf("host %d is not among %v", p.HostID, res.Hosts)
	}
	c.checkCounts()
}

func registerAgain(c *collection) {
	c.open()
	urls := c.urls(1, 20, 1)
	from := c.known(2, 1)[0].PageID
	want(c, "new", c.register(from, urls...).New, 20)
	before, pages := c.status(), c.list(store.PageFilter{CrawlID: c.id})
	res := c.register(from, urls...)
	want(c, "new the second time", res.New, 0)
	want(c, "seen the second time", res.Seen, 20)
	want(c, "status", fmt.Sprint(c.status()), fmt.Sprint(before))
	want(c, "pages", fmt.Sprint(c.list(store.PageFilter{CrawlID: c.id})), fmt.Sprint(pages))
}

func registerTwice(c *collection) {
	c.open()
	res := c.register(0, c.url(1, 1, 4), c.url(1, 1, 2), c.url(1, 1, 3))
	want(c, "new", res.New, 1)
	want(c, "seen", res.Seen, 0)
	want(c, "level", c.find(c.url(1, 1, 0).URL).Level, 2)
}

func registerMany(c *collection) {
	const n = 5500
	c.open()
	from := c.known(2, 1)[0].PageID
	want(c, "new", c.register(from, c.urls(1, n/2, 1)...).New, n/2)
	version, err := c.s.SaveVersion(c.ctx, store.VersionRecord{PageID: from, Visit: 1}, []store.Link{{URL: "https://x.test/"}})
	c.check(err)
	res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: from, Version: version, URLs: c.urls(1, n, 1)})
	c.check(err)
	want(c, "new", res.New, n-n/2)
	want(c, "seen", res.Seen, n/2)
	st := c.status()
	want(c, "known pages", st.Pages[crawl.Known], n+1)
	want(c, "links", st.Links, n)
	pending, err := c.s.PendingLinks(c.ctx, from, 1)
	c.check(err)
	if pending != nil {
		c.Fatal("the version's links are still pending")
	}
}

func registerLong(c *collection) {
	c.open()
	// Only their ends differ: PostgreSQL's indexes could not hold them.
	long := "https://" + c.host(1) + "/" + strings.Repeat("x", 3000)
	want(c, "new", c.register(0,
		store.NewURL{URL: long + "1", Host: c.host(1)}, store.NewURL{URL: long + "2", Host: c.host(1)}).New, 2)
	want(c, "found URL", c.find(long+"2").URL, long+"2")
	want(c, "new again", c.register(0, store.NewURL{URL: long + "2", Host: c.host(1)}).New, 0)
}

func registerHostile(c *collection) {
	c.open()
	urls := make([]store.NewURL, 0, len(hostile()))
	for _, text := range hostile() {
		urls = append(urls, store.NewURL{URL: "https://" + c.host(1) + "/" + text, Host: c.host(1)})
	}
	want(c, "new", c.register(0, urls...).New, len(urls))
	want(c, "new again", c.register(0, urls...).New, 0)
	for _, u := range urls {
		want(c, "level", c.find(u.URL).Level, 0)
	}
	want(c, "URL", c.find(urls[0].URL).URL, urls[0].URL)
}

func registerTwoCrawls(c *collection) {
	c.open()
	u := c.url(1, 1, 0)
	c.register(0, u)
	first := c.find(u.URL)
	name := c.name
	c.name += "-2"
	c.spec.Name = c.name
	c.open()
	want(c, "new in the second crawl", c.register(0, u).New, 1)
	second := c.find(u.URL)
	if first.PageID == second.PageID || first.HostID != second.HostID {
		c.Fatalf("pages %d and %d on hosts %d and %d: want two pages on one host",
			first.PageID, second.PageID, first.HostID, second.HostID)
	}
	all, err := c.s.FindPages(c.ctx, u.URL, "")
	c.check(err)
	want(c, "pages in all crawls", len(all), 2)
	want(c, "pages of the first crawl", c.mustFind(u.URL, name), 1)
	want(c, "pages of an unknown crawl", c.mustFind(u.URL, "no-such-crawl"), 0)
	want(c, "pages of an unknown URL", c.mustFind(u.URL+"x", ""), 0)
}

func (c *collection) mustFind(url, crawlName string) int {
	c.Helper()
	pages, err := c.s.FindPages(c.ctx, url, crawlName)
	c.check(err)
	return len(pages)
}

func registerBacklinks(c *collection) {
	c.open()
	from := c.known(2, 3)
	for range 2 {
		for _, f := range from {
			c.register(f.PageID, c.url(1, 1, 1))
		}
		c.register(from[0].PageID, c.url(1, 2, 1))
	}
	want(c, "backlinks", c.find(c.url(1, 1, 0).URL).Backlinks, 3)
	want(c, "backlinks", c.find(c.url(1, 2, 0).URL).Backlinks, 1)
	want(c, "links", c.status().Links, 4)
}

func registerSelf(c *collection) {
	c.open()
	p := c.known(1, 2)
	c.register(p[0].PageID, c.url(1, 0, 1), c.url(1, 1, 1))
	want(c, "backlinks of the page itself", c.page(p[0].PageID).Backlinks, 0)
	want(c, "backlinks of the other", c.page(p[1].PageID).Backlinks, 1)
}

func registerNearer(c *collection) {
	c.open()
	c.register(0, c.url(1, 1, 5), c.url(1, 2, 3))
	c.register(0, c.url(1, 1, 1), c.url(1, 2, 4))
	want(c, "level of the page found nearer", c.find(c.url(1, 1, 0).URL).Level, 1)
	want(c, "level of the page found farther", c.find(c.url(1, 2, 0).URL).Level, 3)
	want(c, "best candidate", c.candidates(1)[0].URL, c.url(1, 1, 0).URL)
}

func registerUnknown(c *collection) {
	c.open()
	_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id + 1000, URLs: c.urls(1, 1, 0)})
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: 1 << 40, URLs: c.urls(1, 1, 0)})
	c.wantError(err, store.ErrNotFound)
}

func registerEmpty(c *collection) {
	c.open()
	for _, u := range []store.NewURL{{URL: "", Host: "h"}, {URL: "https://h/", Host: ""}} {
		if _, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: []store.NewURL{u}}); err == nil {
			c.Fatalf("%+v was registered", u)
		}
	}
}

func registerNothing(c *collection) {
	c.open()
	res := c.register(0)
	want(c, "result", res.New+res.Seen+len(res.Hosts), 0)
}

func registerAtOnce(c *collection) {
	const workers, n = 6, 300
	c.open()
	from := c.known(9, workers)
	var mu sync.Mutex
	added := 0
	c.together(workers, func(i int) error {
		urls := append(c.urls(1, n, 1), c.urls(2+i%3, n/3, 1)...)
		if i%2 == 1 {
			slices.Reverse(urls)
		}
		res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: from[i].PageID, URLs: urls})
		mu.Lock()
		defer mu.Unlock()
		added += res.New
		return err
	})
	want(c, "new in all", added, n+3*(n/3))
	want(c, "backlinks", c.find(c.url(1, 7, 0).URL).Backlinks, workers)
	want(c, "links", c.status().Links, workers*(n+n/3))
	c.checkCounts()
}

func registerManyHosts(c *collection) {
	const n = 1200
	c.open()
	urls := make([]store.NewURL, n)
	for i := range urls {
		urls[i] = c.url(i, 0, 0)
	}
	res := c.register(0, urls...)
	want(c, "new", res.New, n)
	want(c, "hosts", len(res.Hosts), n)
	want(c, "counted hosts", c.status().Hosts, n)
	want(c, "candidates", len(c.candidates(n)), n)
}

func admissionCases() []collectionCase {
	return []collectionCase{
		{"CandidatesBestFirst", candidatesBest},
		{"CandidatesOfSomeHosts", candidatesHosts},
		{"CandidatesFitTheWindow", candidatesWindow},
		{"CandidatesOfManyHosts", candidatesManyHosts},
		{"NoCandidatesAtMaxPages", candidatesMaxPages},
		{"AdmitMakesActive", admitActive},
		{"AdmitKnownOnly", admitKnownOnly},
		{"AdmitFitsTheWindow", admitWindow},
		{"AdmitFitsMaxPages", admitMaxPages},
		{"AdmitExcludes", admitExcludes},
		{"AdmittedIsRemembered", admittedRemembered},
		{"AdmitAtOnceKeepsWindow", admitAtOnceWindow},
		{"AdmitAtOnceKeepsMaxPages", admitAtOnceMaxPages},
		{"AttemptFreesThePlace", admitAttempt},
		{"StopFreesThePlace", admitStop},
		{"UnknownCrawlIsNotFound", admitUnknown},
	}
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
		again, err := c.s.Admitted(c.ctx, c.id, key)
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
