package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

func takedownCases() []collectionCase {
	return []collectionCase{
		{"URLGoesWithAllOfIt", forgetURL},
		{"InAllCrawls", forgetAllCrawls},
		{"DoesNotComeBack", forgetStays},
		{"BeforeItWasKnown", forgetUnknown},
		{"WindowIsFreed", forgetFreesWindow},
		{"HostGoesWithAllOfIt", forgetHost},
		{"SomeAtATime", forgetLimit},
		{"DryRunChangesNothing", forgetDry},
		{"MoreLinksThanATransaction", forgetManyLinks},
		{"DigestsOfNoVersionAreNamed", forgetDigests},
		{"OthersDoNotNameIt", forgetMentions},
		{"TrapsDoNotNameIt", forgetTrapExamples},
		{"ReceiversDoNotNameIt", forgetAnswers},
		{"OthersDoNotNameItAgain", forgetMentionsLater},
		{"WhoNamedItIsToldAgain", forgetMentionsFails},
		{"ForgottenURLs", forgottenURLs},
		{"OneOfURLAndHost", forgetBadTarget},
		{"HostileTargets", forgetHostile},
		{"AtOnceFromManySides", forgetAtOnce},
		{"ErasingKeepsTheRest", eraseKeeps},
	}
}

func (c *collection) forget(p store.ForgetParams) store.ForgetResult {
	c.Helper()
	res, err := c.s.Forget(c.ctx, p)
	c.check(err)
	return res
}

func (c *collection) forgetURL(url string) store.ForgetResult {
	c.Helper()
	return c.forget(store.ForgetParams{Target: store.Target{URL: url}})
}

// gone ends the test unless the page is.
func (c *collection) gone(p store.PageRecord) {
	c.Helper()
	_, err := c.s.Page(c.ctx, p.PageID)
	c.wantError(err, store.ErrNotFound)
	pages, err := c.s.FindPages(c.ctx, p.URL, c.name)
	c.check(err)
	want(c, "pages of "+p.URL, len(pages), 0)
	_, err = c.s.Visit(c.ctx, p.PageID, 1)
	c.wantError(err, store.ErrNotFound)
	visits, err := c.s.ListVisits(c.ctx, p.PageID, 0, 10)
	c.check(err)
	want(c, "visits", len(visits), 0)
}

func forgetURL(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 3)
	p, other := pages[0], pages[1]
	c.save(version(p.PageID, 1), store.Link{URL: other.URL})
	c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	c.visit(p.PageID, crawl.OutcomeFailed, crawl.Failing)
	c.visit(other.PageID, crawl.OutcomeNew, crawl.Active)
	c.register(p.PageID, c.urls(1, 3, 1)...)
	c.register(other.PageID, c.urls(1, 3, 1)...)
	c.stand(p)
	want(c, "backlinks before", c.page(other.PageID).Backlinks, 1)

	res := c.forgetURL(p.URL)
	want(c, "forgotten pages", fmt.Sprint(res.Pages), fmt.Sprint([]crawl.PageRef{p.PageRef}))
	want(c, "more", res.More, false)
	c.gone(p)
	want(c, "backlinks", c.page(other.PageID).Backlinks, 0)
	want(c, "backlinks of what both linked to", c.page(pages[2].PageID).Backlinks, 1)
	st := c.status()
	want(c, "visits", st.Visits, 1)
	want(c, "failed visits", st.Outcomes[crawl.OutcomeFailed], 0)
	want(c, "versions", st.Versions, 0)
	want(c, "links", st.Links, 1)
	want(c, "waiting", st.Waiting, 0)
	pending, err := c.s.UnfinishedLinks(c.ctx, c.id, 0, 10)
	c.check(err)
	want(c, "pending links", len(pending), 0)
	c.checkCounts()

	// Anything that was under way finds out.
	_, err = c.s.SaveVersion(c.ctx, store.SaveVersionParams{Version: version(p.PageID, 3)})
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.RecordVisit(c.ctx, store.RecordParams{Visit: store.VisitRecord{PageID: p.PageID, Visit: 3, Outcome: crawl.OutcomeNew}})
	c.wantError(err, store.ErrNotFound)
	_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: p.PageID, URLs: c.urls(1, 3, 1)})
	c.wantError(err, store.ErrNotFound)
	c.wantError(c.s.SetPageState(c.ctx, p.PageID, crawl.Active), store.ErrNotFound)
	want(c, "forgotten again", len(c.forgetURL(p.URL).Pages), 0)
}

func forgetAllCrawls(c *collection) {
	c.open()
	c.known(1, 2)
	other := newCollection(c.T, c.s)
	other.name, other.spec.Name = c.name+"-2", c.name+"-2"
	other.open()
	other.register(0, c.urls(1, 2, 0)...)
	res := c.forgetURL(c.url(1, 0, 0).URL)
	want(c, "forgotten pages", len(res.Pages), 2)
	want(c, "crawls", res.Pages[0].Crawl+" "+res.Pages[1].Crawl, c.name+" "+other.name)
	want(c, "pages", c.status().Pages[crawl.Known], 1)
	want(c, "pages of the other crawl", other.status().Pages[crawl.Known], 1)
}

// registers ends the test unless registering URLs of the case counts these.
func (c *collection) registers(what string, from int64, added, seen, forgotten int, urls ...store.NewURL) {
	c.Helper()
	res := c.register(from, urls...)
	want(c, what, fmt.Sprint(res.New, res.Seen, res.Forgotten), fmt.Sprint(added, seen, forgotten))
}

func forgetStays(c *collection) {
	c.open()
	pages := c.known(1, 3)
	from := c.known(2, 1)[0].PageID
	c.forgetURL(pages[1].URL)
	c.registers("as seeds", 0, 0, 2, 1, c.urls(1, 3, 0)...)
	c.registers("as links", from, 1, 2, 1, c.urls(1, 4, 1)...)
	want(c, "links", c.status().Links, 3)
	target := store.Target{URL: pages[1].URL}
	c.check(c.s.Remember(c.ctx, target))
	c.wantError(c.s.Remember(c.ctx, target), store.ErrNotFound)
	c.registers("after it is remembered", from, 1, 3, 0, c.urls(1, 4, 1)...)
	p := c.find(pages[1].URL)
	want(c, "state", p.State, crawl.Known)
	want(c, "backlinks", p.Backlinks, 1)
	if p.PageID == pages[1].PageID {
		c.Fatal("another page has the id of the forgotten one")
	}

	host := store.Target{Host: c.host(1)}
	c.forget(store.ForgetParams{Target: host})
	c.forgetURL(pages[0].URL)
	c.registers("of a forgotten host", from, 0, 0, 9, c.urls(1, 9, 1)...)
	c.registers("of another host too", from, 1, 0, 9, append(c.urls(1, 9, 1), c.url(3, 1, 1))...)
	c.check(c.s.Remember(c.ctx, host))
	c.registers("of a remembered host", from, 8, 0, 1, c.urls(1, 9, 1)...)
	c.checkCounts()
}

func forgetUnknown(c *collection) {
	c.open()
	want(c, "pages", len(c.forgetURL(c.url(1, 1, 0).URL).Pages), 0)
	want(c, "pages", len(c.forget(store.ForgetParams{Target: store.Target{Host: c.host(2)}}).Pages), 0)
	c.registers("later", 0, 1, 0, 3, append(c.urls(1, 2, 0), c.urls(2, 2, 0)...)...)
	c.wantError(c.s.Remember(c.ctx, store.Target{URL: c.url(1, 0, 0).URL}), store.ErrNotFound)
	c.wantError(c.s.Remember(c.ctx, store.Target{Host: c.host(1)}), store.ErrNotFound)
}

func forgetFreesWindow(c *collection) {
	c.with(2, 3)
	pages := c.known(1, 5)
	want(c, "admitted", len(c.admit(ids(pages)...)), 2)
	c.forgetURL(pages[0].URL)
	want(c, "candidates", len(c.candidates(10)), 1)
	want(c, "admitted after one was forgotten", len(c.admit(ids(pages)...)), 1)
	c.visit(pages[1].PageID, crawl.OutcomeNew, crawl.Active)
	c.forgetURL(pages[1].URL)
	want(c, "admitted after a visited one was forgotten", len(c.admit(ids(pages)...)), 1)
	c.checkCounts()
}

func forgetHost(c *collection) {
	c.with(10, 0)
	pages, others := c.admitted(1, 6), c.admitted(2, 3)
	for _, p := range pages[:4] {
		c.save(version(p.PageID, 1), store.Link{URL: p.URL})
		c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
		c.register(p.PageID, append(c.urls(1, 6, 1), c.urls(2, 3, 1)...)...)
	}
	c.register(others[0].PageID, append(c.urls(1, 6, 1), c.urls(2, 3, 1)...)...)
	c.stand(pages[5])
	for _, scheme := range []string{"http", "https"} {
		c.saveRobots(scheme, store.RobotsParsed, time.Second)
	}
	c.check(c.s.SaveRobots(c.ctx, store.SaveRobotsParams{Origin: "https://" + c.host(2), State: store.RobotsAllowAll, Expires: time.Hour}))

	res := c.forget(store.ForgetParams{Target: store.Target{Host: c.host(1)}})
	want(c, "forgotten pages", len(res.Pages), 6)
	for _, p := range pages {
		c.gone(p)
	}
	want(c, "backlinks", c.page(others[1].PageID).Backlinks, 1)
	st := c.status()
	want(c, "links", st.Links, 2)
	want(c, "visits", st.Visits, 0)
	want(c, "versions", st.Versions, 0)
	want(c, "active", st.Pages[crawl.Active], 3)
	want(c, "hosts", st.Hosts, 1)
	c.saveRobots("https", store.RobotsParsed, time.Second) // its request was in flight
	for _, scheme := range []string{"http", "https"} {
		_, err := c.s.Robots(c.ctx, scheme+"://"+c.host(1))
		c.wantError(err, store.ErrNotFound)
	}
	_, err := c.s.Robots(c.ctx, "https://"+c.host(2))
	c.check(err)
	hosts, err := c.s.ListHosts(c.ctx, store.HostFilter{CrawlID: c.id, Limit: 10})
	c.check(err)
	want(c, "listed hosts", len(hosts), 1)
	c.checkCounts()
}

func forgetLimit(c *collection) {
	c.open()
	pages := c.known(1, 10)
	target := store.Target{Host: c.host(1)}
	var got []int64
	for _, expected := range []int{4, 4, 2, 0} {
		res := c.forget(store.ForgetParams{Target: target, Limit: 4})
		want(c, "forgotten pages", len(res.Pages), expected)
		want(c, "more", res.More, expected == 4)
		for _, p := range res.Pages {
			got = append(got, p.PageID)
		}
		c.registers("meanwhile", 0, 0, 0, 10, c.urls(1, 10, 0)...)
		c.checkCounts()
	}
	slices.Sort(got)
	want(c, "all of them", fmt.Sprint(got), fmt.Sprint(sortedIDs(pages)))
}

// forgetTrapExamples: a trap of which a forgotten URL was an example, whole or cut, stays
// without it.
func forgetTrapExamples(c *collection) {
	c.open()
	page := c.known(1, 1)[0]
	_, rest, _ := strings.Cut(page.URL, "://")
	target := rest[strings.IndexByte(rest, '/'):]
	details := []string{"such as " + target, "such as " + target[:len(target)-1] + "…", "such as " + target + "/more", "all of them"}
	for i, detail := range details {
		trap := c.newTrap(fmt.Sprint(i))
		trap.Detail = detail
		c.setTraps(trap)
	}
	c.forgetURL(page.URL)
	left, err := c.s.Traps(c.ctx, store.TrapFilter{CrawlID: c.id, Limit: 10})
	c.check(err)
	got := map[string]string{}
	for _, trap := range left {
		got[trap.Name] = trap.Detail
	}
	want(c, "details", fmt.Sprint(got), fmt.Sprint(map[string]string{"0": "", "1": "", "2": details[2], "3": details[3]}))
}

// Receivers of changes may name a page in their answers: the sink's last one is kept, and so
// are those about other pages' changes.
func forgetAnswers(c *collection) {
	c.open()
	pages := c.admitted(1, 2)
	page, other := pages[0], pages[1]
	words := map[string]string{
		"a": "422 cannot index " + page.URL, "b": "422 cannot index " + other.URL, "c": "422: " + page.URL + " and " + other.URL, "d": "422",
	}
	c.visit(other.PageID, crawl.OutcomeGone, crawl.Gone)
	for name, problem := range words {
		sink := c.openSink(name)
		to := sink
		to.Problem = problem
		change := c.wantOnly(feed.PageGone)
		c.check(c.s.SetUndelivered(c.ctx, sink, to, store.UndeliveredRecord{CrawlID: c.id, Sink: name, ChangeID: change.ID, Problem: problem}))
	}
	const gone = "its words named a forgotten page, and were removed"
	check := func(what, a, b, both string) {
		c.Helper()
		for _, sink := range must(c.s.ListSinks(c.ctx, c.id))(c) {
			expected := map[string]string{"a": a, "b": b, "c": both, "d": words["d"]}[sink.Name]
			want(c, what+": the problem of sink "+sink.Name, sink.Problem, expected)
			for _, u := range c.undelivered(sink.Name) {
				want(c, what+": what was refused of sink "+sink.Name, u.Problem, expected)
			}
		}
	}
	check("before", words["a"], words["b"], words["c"])
	c.forgetURL(page.URL)
	check("after its URL was forgotten", gone, words["b"], gone)
	c.forget(store.ForgetParams{Target: store.Target{Host: c.host(1)}})
	check("after its host was forgotten", gone, gone, gone)
}

func forgetDry(c *collection) {
	c.open()
	pages := c.known(1, 5)
	want(c, "URL", len(c.forget(store.ForgetParams{Target: store.Target{URL: pages[2].URL}, Dry: true}).Pages), 1)
	var got []int64
	for p := (store.ForgetParams{Target: store.Target{Host: c.host(1)}, Dry: true, Limit: 2}); ; {
		res := c.forget(p)
		for _, page := range res.Pages {
			got = append(got, page.PageID)
		}
		if !res.More {
			break
		}
		p.After = got[len(got)-1]
	}
	want(c, "listed", fmt.Sprint(got), fmt.Sprint(sortedIDs(pages)))
	want(c, "of no host", len(c.forget(store.ForgetParams{Target: store.Target{Host: "no.such.host"}, Dry: true}).Pages), 0)
	c.registers("afterwards", 0, 0, 5, 0, c.urls(1, 5, 0)...)
}

func forgetManyLinks(c *collection) {
	const n = 2300
	c.open()
	p := c.known(1, 1)[0]
	c.register(p.PageID, c.urls(2, n, 1)...)
	from := c.find(c.url(2, 0, 0).URL)
	c.register(from.PageID, c.urls(2, 20, 1)...)
	for i := range 5 {
		c.register(c.find(c.url(2, i, 0).URL).PageID, c.url(1, 0, 1))
	}
	want(c, "forgotten pages", len(c.forgetURL(p.URL).Pages), 1)
	want(c, "links", c.status().Links, 19)
	want(c, "backlinks", c.find(c.url(2, 1, 0).URL).Backlinks, 1)
	want(c, "backlinks", c.find(c.url(2, n-1, 0).URL).Backlinks, 0)
	res := c.forget(store.ForgetParams{Target: store.Target{Host: c.host(2)}, Limit: 2 * n})
	want(c, "forgotten pages of the host", len(res.Pages), n)
	c.checkCounts()
}

// digest is one of the case's own.
func (c *collection) digest(n int) string {
	text := fmt.Sprintf("%x%04x", c.name, n)
	return (strings.Repeat("0", 64) + text)[len(text):]
}

func forgetDigests(c *collection) {
	c.with(10, 0)
	pages := c.admitted(1, 3)
	save := func(page, visit, digest int) {
		v := version(pages[page].PageID, visit)
		v.Digest = c.digest(digest)
		c.save(v)
		c.visit(v.PageID, crawl.OutcomeChanged, crawl.Active)
	}
	save(0, 1, 1)
	save(0, 2, 2)
	save(0, 3, 1)
	save(1, 1, 2)
	save(2, 1, 2)
	// Its bytes were kept, and it made no version.
	_, err := c.s.RecordVisit(c.ctx, store.RecordParams{
		Visit: store.VisitRecord{PageID: pages[0].PageID, Visit: 4, Outcome: crawl.OutcomeCosmetic, State: crawl.Active, Digest: c.digest(3)},
	})
	c.check(err)
	want(c, "digests", fmt.Sprint(c.forgetURL(pages[0].URL).Digests), fmt.Sprint([]string{c.digest(1), c.digest(3)}))
	want(c, "digests that others have", len(c.forgetURL(pages[1].URL).Digests), 0)
	want(c, "digests", fmt.Sprint(c.forgetURL(pages[2].URL).Digests), fmt.Sprint([]string{c.digest(2)}))
}

func forgetBadTarget(c *collection) {
	for _, target := range []store.Target{{}, {URL: "https://x.test/", Host: "x.test"}} {
		if _, err := c.s.Forget(c.ctx, store.ForgetParams{Target: target}); err == nil {
			c.Fatalf("forgot %+v", target)
		}
		if err := c.s.Remember(c.ctx, target); err == nil {
			c.Fatalf("remembered %+v", target)
		}
	}
}

func forgetHostile(c *collection) {
	c.open()
	for i, text := range hostile() {
		u := store.NewURL{URL: "https://" + c.host(i) + "/" + text, Host: c.host(i) + text}
		c.register(0, u)
		want(c, "forgotten pages", len(c.forgetURL(u.URL).Pages), 1)
		c.registers("again", 0, 0, 0, 1, u)
		c.check(c.s.Remember(c.ctx, store.Target{URL: u.URL}))
		c.registers("remembered", 0, 1, 0, 0, u)
		want(c, "forgotten pages", len(c.forget(store.ForgetParams{Target: store.Target{Host: u.Host}}).Pages), 1)
		c.registers("again", 0, 0, 0, 1, u)
	}
}

// eraseKeeps: erasing, repeatedly and beside others' writes, changes no answer.
func eraseKeeps(c *collection) {
	c.with(100, 0)
	pages := c.admitted(1, 5)
	for _, p := range pages {
		c.save(version(p.PageID, 1), store.Link{URL: pages[0].URL})
		c.visit(p.PageID, crawl.OutcomeNew, crawl.Active)
	}
	c.forgetURL(pages[1].URL)
	c.together(4, func(i int) error {
		if i < 2 {
			return c.s.Erase(c.ctx, store.EraseParams{Rewrite: i == 1})
		}
		for k := range 10 {
			_, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: pages[i].PageID, URLs: c.urls(i, k+1, 2)})
			if err != nil {
				return err
			}
		}
		return nil
	})
	c.gone(pages[1])
	for _, p := range []store.PageRecord{pages[0], pages[2], pages[3], pages[4]} {
		want(c, "visits of "+p.URL, c.page(p.PageID).Visits, 1)
	}
	c.checkCounts()
}

// Everybody works on the pages of two hosts while they are forgotten and
// remembered, again and again. The counts must be right afterwards, and nothing may
// be left of the pages that are finally forgotten.
func forgetAtOnce(c *collection) {
	const workers, rounds, each = 18, 25, 12
	c.with(100, 0)
	all := append(c.urls(1, each, 1), c.urls(2, each, 1)...)
	c.register(0, all...)
	c.together(workers, func(i int) error {
		for k := range rounds {
			err := c.meddle(i, all[(7*i+5*k)%len(all)], all)
			if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrConflict) {
				return err
			}
		}
		return nil
	})
	c.checkCounts()
	c.forget(store.ForgetParams{Target: store.Target{Host: c.host(1)}, Limit: 1000})
	for _, p := range c.list(store.PageFilter{CrawlID: c.id}) {
		want(c, "host of what is left", p.Host, c.host(2))
	}
	c.checkCounts()
}

// meddle does one of the things that happen to a page and those around it.
func (c *collection) meddle(what int, u store.NewURL, all []store.NewURL) error {
	pages, err := c.s.FindPages(c.ctx, u.URL, c.name)
	if err != nil {
		return err
	}
	var p store.PageRecord // zero for seeds
	if len(pages) > 0 {
		p = pages[0]
	}
	first, err := c.oldestPage()
	if err != nil {
		return err
	}
	switch what % 9 {
	case 0, 1:
		_, err = c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: p.PageID, URLs: all})
	case 2:
		_, err = c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Admit: []int64{p.PageID}})
	case 3:
		_, err = c.s.RecordVisit(c.ctx, store.RecordParams{
			Visit: store.VisitRecord{PageID: p.PageID, Visit: p.Visits + 1, Outcome: crawl.OutcomeNew, State: crawl.Active, Digest: c.digest(5)},
		})
	case 4:
		v := version(p.PageID, p.Visits+1)
		v.Digest = c.digest(int(p.PageID % 3))
		save := store.SaveVersionParams{Version: v, Links: []store.Link{{URL: p.URL}}, Content: content(p.Visits % 3)}
		if first < p.PageID {
			save.Duplicate = of(first, 1)
		}
		_, err = c.s.SaveVersion(c.ctx, save)
	case 5:
		_, err = c.s.Acquire(c.ctx, store.AcquireParams{Page: p.PageRef, Visit: p.Visits + 1, Class: crawl.ClassFirst})
	case 6:
		err = c.forgetAndRemember(store.Target{URL: u.URL})
	case 7:
		err = c.forgetAndRemember(store.Target{Host: u.Host})
	case 8:
		err = c.allDuplicates(first)
	}
	return err
}

// oldestPage is the id of the crawl's oldest page, 0 if there is none.
func (c *collection) oldestPage() (int64, error) {
	pages, err := c.s.ListPages(c.ctx, store.PageFilter{CrawlID: c.id, Limit: 1})
	if err != nil || len(pages) == 0 {
		return 0, err
	}
	return pages[0].PageID, nil
}

// allDuplicates makes all other pages duplicates of the oldest.
func (c *collection) allDuplicates(first int64) error {
	pages, err := c.s.ListPages(c.ctx, store.PageFilter{CrawlID: c.id, After: first, Limit: 100})
	if err != nil {
		return err
	}
	p := store.UpdateDuplicatesParams{CrawlID: c.id}
	for _, page := range pages {
		p.Set = append(p.Set, store.NewDuplicate{PageVersion: store.PageVersion{PageID: page.PageID}, Of: *of(first, 1)})
	}
	return c.s.UpdateDuplicates(c.ctx, p)
}

func (c *collection) forgetAndRemember(t store.Target) error {
	if _, err := c.s.Forget(c.ctx, store.ForgetParams{Target: t}); err != nil {
		return err
	}
	return c.s.Remember(c.ctx, t)
}
