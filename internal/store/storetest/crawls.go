package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func crawlCases() []collectionCase {
	return []collectionCase{
		{"OpenCreates", crawlOpenCreates},
		{"OpenAgainChangesNothing", crawlOpenAgain},
		{"ChangedSpecRaisesGeneration", crawlChangedSpec},
		{"PausedStaysPaused", crawlPausedStays},
		{"StoppedRunsAgain", crawlStoppedRuns},
		{"StoppedPagesReturnToKnown", crawlStoppedPagesReturn},
		{"ManyStoppedPagesReturn", crawlManyStoppedPagesReturn},
		{"PagesStopWithTheirCrawl", crawlPagesStopWithIt},
		{"PagesStopWhileItStarts", crawlStopsWhileItStarts},
		{"StoppedPagesThatAreNamedReturn", crawlNamedPagesReturn},
		{"StateChangesRaiseGeneration", crawlStates},
		{"StopIsKept", crawlStopIsKept},
		{"UnknownIsNotFound", crawlUnknown},
		{"HostileNamesAreNotFound", crawlHostileNames},
		{"ListIsByName", crawlList},
		{"OpenedAtOnceIsOne", crawlOpenedAtOnce},
		{"SpecSurvives", crawlSpecSurvives},
		{"SeedBringsOneSeed", crawlSeedBringsOne},
		{"SeedBringsOneSeedAtOnce", crawlSeedBringsOneAtOnce},
		{"SeedBringsNothingForgotten", crawlSeedBringsNothingForgotten},
	}
}

func crawlOpenCreates(c *collection) {
	before, err := c.s.Now(c.ctx)
	c.check(err)
	rec, err := c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	want(c, "state", rec.State, crawl.CrawlRunning)
	want(c, "generation", rec.Generation, 1)
	want(c, "name", rec.Spec.Name, c.name)
	if rec.ID == 0 || rec.CreatedAt.Before(before) || rec.CreatedAt.Location() != time.UTC {
		c.Fatalf("id %d, created at %v, not before %v UTC", rec.ID, rec.CreatedAt, before)
	}
}

func crawlOpenAgain(c *collection) {
	first, err := c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	c.spec.Scope.Rules, c.spec.Fetch.AllowNetworks = nil, nil // means the same
	again, err := c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	want(c, "id", again.ID, first.ID)
	want(c, "generation", again.Generation, first.Generation)
}

func crawlChangedSpec(c *collection) {
	c.open()
	c.spec.Politeness.Delay = crawl.Duration(time.Minute)
	rec, err := c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	want(c, "generation", rec.Generation, 2)
	stored, err := c.s.Crawl(c.ctx, c.name)
	c.check(err)
	want(c, "stored delay", stored.Spec.Politeness.Delay, crawl.Duration(time.Minute))
	want(c, "stored generation", stored.Generation, 2)
}

func crawlPausedStays(c *collection) {
	c.open()
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlPaused)
	c.check(err)
	rec, err := c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	want(c, "state", rec.State, crawl.CrawlPaused)
	want(c, "generation", rec.Generation, 2)
	c.spec.Limits.Window = 3
	rec, err = c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	want(c, "state", rec.State, crawl.CrawlPaused)
	want(c, "generation", rec.Generation, 3)
}

func crawlStoppedRuns(c *collection) {
	c.open()
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
	c.check(err)
	rec, err := c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	want(c, "state", rec.State, crawl.CrawlRunning)
	want(c, "generation", rec.Generation, 3)
}

// The time of a stop is kept while it lasts, and the total length of stops after that.
// A pause is no stop.
func crawlStopIsKept(c *collection) {
	c.open()
	set := func(state crawl.CrawlState) store.CrawlRecord {
		c.Helper()
		rec, err := c.s.SetCrawlState(c.ctx, c.name, state)
		c.check(err)
		stored, err := c.s.Crawl(c.ctx, c.name)
		c.check(err)
		want(c, "stopped at", stored.StoppedAt, rec.StoppedAt)
		want(c, "rested", stored.Rested, rec.Rested)
		return stored
	}
	if rec := set(crawl.CrawlPaused); !rec.StoppedAt.IsZero() || rec.Rested != 0 {
		c.Fatalf("paused: stopped at %v, rested %v", rec.StoppedAt, rec.Rested)
	}
	before, err := c.s.Now(c.ctx)
	c.check(err)
	stopped := set(crawl.CrawlStopped)
	if stopped.StoppedAt.Before(before) || stopped.Rested != 0 {
		c.Fatalf("stopped at %v, not before %v; rested %v", stopped.StoppedAt, before, stopped.Rested)
	}
	want(c, "stopped twice", set(crawl.CrawlStopped).StoppedAt, stopped.StoppedAt)
	runs := set(crawl.CrawlRunning)
	now, err := c.s.Now(c.ctx)
	c.check(err)
	if !runs.StoppedAt.IsZero() || runs.Rested <= 0 || runs.Rested > now.Sub(stopped.StoppedAt) {
		c.Fatalf("runs: stopped at %v, rested %v of at most %v", runs.StoppedAt, runs.Rested, now.Sub(stopped.StoppedAt))
	}
	set(crawl.CrawlStopped)
	again, err := c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	if !again.StoppedAt.IsZero() || again.Rested <= runs.Rested {
		c.Fatalf("opened again: stopped at %v, rested %v, before %v", again.StoppedAt, again.Rested, runs.Rested)
	}
	stored, err := c.s.Crawl(c.ctx, c.name)
	c.check(err)
	want(c, "rested, stored", stored.Rested, again.Rested)
}

func crawlStoppedPagesReturn(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 4)
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
	c.check(err)
	for _, p := range pages[:3] {
		c.setState(p.PageID, crawl.Stopped)
	}
	want(c, "admitted while stopped", len(c.admit(ids(pages)...)), 0)
	want(c, "candidates while stopped", len(c.candidates(10)), 0)
	c.open()
	for _, p := range pages[:3] {
		want(c, "state", c.page(p.PageID).State, crawl.Known)
	}
	want(c, "state of the page that was never stopped", c.page(pages[3].PageID).State, crawl.Active)
	c.checkCounts()
	c.admit(ids(pages)...)
	back := c.page(pages[0].PageID)
	want(c, "state", back.State, crawl.Active)
	want(c, "visits", back.Visits, 1)
	want(c, "next visit", c.visit(back.PageID, crawl.OutcomeUnchanged, crawl.Active).Visit.Visit, 2)
	c.checkCounts()
}

// A page stops with its crawl only while that is stopped, and never if it does not live.
func crawlPagesStopWithIt(c *collection) {
	c.with(10, 0)
	pages := append(c.admitted(1, 3), c.known(2, 1)[0])
	c.setState(pages[2].PageID, crawl.Evicted)
	c.stand(pages[0])
	stop := func(i int, lives bool, state crawl.PageState) {
		c.Helper()
		got, err := c.s.StopWithCrawl(c.ctx, pages[i].PageID)
		c.check(err)
		want(c, "lives", got, lives)
		want(c, "state", c.page(pages[i].PageID).State, state)
	}
	set := func(state crawl.CrawlState) {
		c.Helper()
		_, err := c.s.SetCrawlState(c.ctx, c.name, state)
		c.check(err)
	}
	stop(0, true, crawl.Active)
	set(crawl.CrawlPaused)
	stop(0, true, crawl.Active)
	stop(3, false, crawl.Known)
	set(crawl.CrawlStopped)
	for range 2 {
		stop(0, false, crawl.Stopped)
	}
	stop(2, false, crawl.Evicted)
	stop(3, false, crawl.Known)
	c.checkCounts()
	c.open()
	stop(0, false, crawl.Known) // it has come back, and its workflow has still to end
	stop(1, true, crawl.Active)
	want(c, "pages in line", c.status().Waiting, 0)
	c.checkCounts()
	_, err := c.s.StopWithCrawl(c.ctx, 1<<40)
	c.wantError(err, store.ErrNotFound)
}

// Pages may still be stopping when their crawl is started again. Each lives on or comes back.
func crawlStopsWhileItStarts(c *collection) {
	c.with(20, 0)
	for round := range 5 {
		pages := c.admitted(round+1, 10)
		_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
		c.check(err)
		c.together(len(pages)+1, func(i int) (err error) {
			switch {
			case i < len(pages):
				_, err = c.s.StopWithCrawl(c.ctx, pages[i].PageID)
			case round%2 == 0:
				_, err = c.s.OpenCrawl(c.ctx, c.spec)
			default:
				_, err = c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlRunning)
			}
			return err
		})
		want(c, "pages that are stopped for ever", c.status().Pages[crawl.Stopped], 0)
		c.checkCounts()
		c.admit(ids(pages)...)
	}
}

// crawlNamedPagesReturn: pages that somebody stopped come back only when they are named,
// with their history.
func crawlNamedPagesReturn(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 3)
	c.visit(pages[0].PageID, crawl.OutcomeNew, crawl.Active)
	for _, p := range pages[:2] {
		c.setState(p.PageID, crawl.Stopped)
	}
	named := []store.NewURL{{URL: pages[0].URL, Host: pages[0].Host}, {URL: pages[2].URL, Host: pages[2].Host}}
	c.register(0, named...)
	want(c, "state without being asked for", c.page(pages[0].PageID).State, crawl.Stopped)
	for _, revived := range []int{1, 0} {
		res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, URLs: named, Revive: true})
		c.check(err)
		want(c, "revived", res.Revived, revived)
	}
	want(c, "state of a page that is named", c.page(pages[0].PageID).State, crawl.Known)
	want(c, "state of another", c.page(pages[1].PageID).State, crawl.Stopped)
	want(c, "state of one that lives", c.page(pages[2].PageID).State, crawl.Active)
	c.checkCounts()
	c.admit(pages[0].PageID)
	want(c, "next visit", c.visit(pages[0].PageID, crawl.OutcomeUnchanged, crawl.Active).Visit.Visit, 2)
	c.checkCounts()
}

func crawlManyStoppedPagesReturn(c *collection) {
	const n = 1100 // more than one transaction's worth
	c.with(10000, 0)
	c.register(0, c.urls(1, n, 0)...)
	pages := c.candidates(n)
	c.admit(ids(pages)...)
	for _, p := range pages {
		c.check(c.s.SetPageState(c.ctx, p.PageID, crawl.Stopped))
	}
	want(c, "stopped pages", c.status().Pages[crawl.Stopped], n)
	_, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
	c.check(err)
	rec, err := c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlRunning)
	c.check(err)
	want(c, "state", rec.State, crawl.CrawlRunning)
	want(c, "known pages", c.status().Pages[crawl.Known], n)
	want(c, "admitted again", len(c.admit(ids(pages)...)), n)
	c.checkCounts()
}

func crawlStates(c *collection) {
	c.open()
	for i, state := range []crawl.CrawlState{crawl.CrawlPaused, crawl.CrawlPaused, crawl.CrawlRunning, crawl.CrawlStopped} {
		rec, err := c.s.SetCrawlState(c.ctx, c.name, state)
		c.check(err)
		want(c, "state", rec.State, state)
		want(c, "generation", rec.Generation, []int64{2, 2, 3, 4}[i])
	}
	rec, err := c.s.Crawl(c.ctx, c.name)
	c.check(err)
	want(c, "stored state", rec.State, crawl.CrawlStopped)
}

func crawlUnknown(c *collection) {
	_, err := c.s.Crawl(c.ctx, "no-such-crawl")
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.SetCrawlState(c.ctx, "no-such-crawl", crawl.CrawlPaused)
	c.wantError(err, store.ErrNotFound)
}

func crawlList(c *collection) {
	base := c.name
	for _, suffix := range []string{"-b", ".c", "_d", "-a", "0"} {
		c.spec.Name = base + suffix
		_, err := c.s.OpenCrawl(c.ctx, c.spec)
		c.check(err)
	}
	all, err := c.s.ListCrawls(c.ctx)
	c.check(err)
	var names []string
	for _, rec := range all {
		names = append(names, rec.Spec.Name)
	}
	if len(names) < 5 || !slices.IsSorted(names) {
		c.Fatalf("names %v: not all, or not in order", names)
	}
}

func crawlOpenedAtOnce(c *collection) {
	found := make([]store.CrawlRecord, 8)
	c.together(len(found), func(i int) error {
		var err error
		found[i], err = c.s.OpenCrawl(c.ctx, c.spec)
		return err
	})
	for _, rec := range found {
		want(c, "id", rec.ID, found[0].ID)
		want(c, "generation", rec.Generation, 1)
	}
}

// crawlHostileNames: what people, programs and addresses name may be any bytes.
func crawlHostileNames(c *collection) {
	c.open()
	for _, text := range hostile() {
		_, err := c.s.Crawl(c.ctx, text)
		c.wantError(err, store.ErrNotFound)
		_, err = c.s.SetCrawlState(c.ctx, text, crawl.CrawlPaused)
		c.wantError(err, store.ErrNotFound)
		pages, err := c.s.FindPages(c.ctx, "https://x.test/", text)
		c.check(err)
		want(c, "pages of a URL", len(pages), 0)
		pages, err = c.s.ListPages(c.ctx, store.PageFilter{CrawlID: c.id, Host: text})
		c.check(err)
		want(c, "pages of a host", len(pages), 0)
		failed, err := c.s.Undelivered(c.ctx, c.id, text, 0, 10)
		c.check(err)
		want(c, "undelivered", len(failed), 0)
	}
}

func crawlSpecSurvives(c *collection) {
	c.spec.Seeds = nil
	for i, text := range hostile()[3:] {
		c.spec.Seeds = append(c.spec.Seeds, fmt.Sprintf("https://x.test/%d?%q", i, text))
	}
	c.spec.Politeness.Factor = 2.5
	c.spec.Limits.MaxPages = 1 << 40
	c.spec.Fetch.AllowNetworks = []string{"127.0.0.0/8", "::1/128"}
	c.open()
	rec, err := c.s.Crawl(c.ctx, c.name)
	c.check(err)
	want(c, "spec", fmt.Sprintf("%+v", rec.Spec), fmt.Sprintf("%+v", c.spec))
}

// redirect makes a seed redirect to a path of the crawl's site.
func (c *collection) redirect(from, to string) store.SeedVerdict {
	c.Helper()
	host := c.name + ".test"
	verdict, err := c.s.AddRedirectedSeed(c.ctx, store.RedirectedSeed{
		Crawl: c.name, From: "https://" + host + from, To: "https://" + host + to, Host: host,
	})
	c.check(err)
	return verdict
}

func (c *collection) seeds() (list string, generation int64) {
	c.Helper()
	rec, err := c.s.Crawl(c.ctx, c.name)
	c.check(err)
	return strings.ReplaceAll(strings.Join(rec.Spec.Seeds, " "), "https://"+c.name+".test", ""), rec.Generation
}

func crawlSeedBringsOne(c *collection) {
	c.open()
	want(c, "a redirect", c.redirect("/", "/1"), store.SeedAdded)
	want(c, "the same again", c.redirect("/", "/1"), store.SeedAdded)
	want(c, "another of the same seed", c.redirect("/", "/2"), store.SeedSpent)
	want(c, "one of the seed that was added", c.redirect("/1", "/2"), store.SeedOfRedirect)
	list, generation := c.seeds()
	want(c, "seeds", list, "/ /1")
	want(c, "generation", generation, 2)
	// A person's spec without the seed takes it away; the redirect brings it back,
	// and what else the person changed stays.
	c.spec.Limits.Window = 7
	c.open()
	want(c, "the same once more", c.redirect("/", "/1"), store.SeedAdded)
	list, _ = c.seeds()
	want(c, "seeds", list, "/ /1")
	rec, err := c.s.Crawl(c.ctx, c.name)
	c.check(err)
	want(c, "window", rec.Spec.Limits.Window, 7)
	_, err = c.s.SetCrawlState(c.ctx, c.name, crawl.CrawlStopped)
	c.check(err)
	want(c, "while the crawl is stopped", c.redirect("/other", "/3"), store.SeedClosed)
	rec, err = c.s.Crawl(c.ctx, c.name)
	c.check(err)
	want(c, "state", rec.State, crawl.CrawlStopped)
	_, err = c.s.AddRedirectedSeed(c.ctx, store.RedirectedSeed{Crawl: "no-such-crawl", From: "https://a.test/", To: "https://b.test/", Host: "b.test"})
	c.wantError(err, store.ErrNotFound)
}

// Redirects of several seeds at once are all kept, and of one seed one is.
func crawlSeedBringsOneAtOnce(c *collection) {
	c.open()
	c.together(8, func(i int) error {
		verdict := c.redirect(fmt.Sprintf("/s%d", i/2), fmt.Sprintf("/t%d", i))
		if verdict != store.SeedAdded && verdict != store.SeedSpent {
			return fmt.Errorf("redirect %d: %s", i, verdict)
		}
		return nil
	})
	list, generation := c.seeds()
	want(c, "seeds", len(strings.Fields(list)), 1+4)
	want(c, "generation", generation, 5)
}

func crawlSeedBringsNothingForgotten(c *collection) {
	c.open()
	_, err := c.s.Forget(c.ctx, store.ForgetParams{Target: store.Target{URL: "https://" + c.name + ".test/1"}, Limit: 10})
	c.check(err)
	want(c, "a redirect to a forgotten page", c.redirect("/", "/1"), store.SeedClosed)
	list, _ := c.seeds()
	want(c, "seeds", list, "/")
}
