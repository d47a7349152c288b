// Package storetest states the promises of package store as tests that every
// driver runs.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// Run tests the collection: crawls, frontier, visits, reports and the cache of
// robots.txt. open returns an empty store that is closed after the test.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	groups := []collectionGroup{
		{"Crawls", crawlCases()},
		{"Register", registerCases()},
		{"Admission", admissionCases()},
		{"Due", dueCases()},
		{"Versions", versionCases()},
		{"Visits", visitCases()},
		{"Returns", returnCases()},
		{"Unrecorded", unrecordedCases()},
		{"Duplicates", duplicateCases()},
		{"Ranks", rankCases()},
		{"Swaps", swapCases()},
		{"Reports", reportCases()},
		{"Search", searchCases()},
		{"Backlinks", backlinkCases()},
		{"Rejections", rejectionCases()},
		{"Guard", guardCases()},
		{"Onward", onwardCases()},
		{"Sources", sourceCases()},
		{"Requisites", requisiteCases()},
		{"ForeignHosts", foreignHostCases()},
		{"Robots", robotsCases()},
		{"Evidence", evidenceCases()},
		{"Takedown", takedownCases()},
		{"Contents", contentCases()},
		{"Retention", retentionCases()},
		{"RetainedBytes", retentionBytesCases()},
		{"Exchanges", exchangeCases()},
		{"Terms", termsCases()},
		{"Schedules", scheduleCases()},
		{"Claims", claimCases()},
		{"SuspectBytes", suspectCases()},
		{"Workers", workerCases()},
		{"ScopeLooks", scopeLookCases()},
		{"Care", careCases()},
		{"Seeds", seedCases()},
		{"Deletion", deletionCases()},
		{"FeedRead", feedReadCases()},
		{"Feed", feedCases()},
	}
	for _, c := range boundCases() {
		groups = append(groups, collectionGroup{"Bound", []collectionCase{c}})
	}
	for _, c := range feedAlone() {
		groups = append(groups, collectionGroup{"FeedAlone", []collectionCase{c}})
	}
	for _, group := range groups {
		t.Run(group.name, func(t *testing.T) {
			s := open(t)
			// The cases of a group share a store, as crawls do.
			for _, c := range group.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.run(newCollection(t, s))
				})
			}
		})
	}
}

// collectionGroup holds promises that are tested on one store.
type collectionGroup struct {
	name  string
	cases []collectionCase
}

// collectionCase is one promise.
type collectionCase struct {
	name string
	run  func(*collection)
}

// collection is a crawl of one test case with shorthands that fail the test on
// errors. It shares no hosts with other cases.
type collection struct {
	*testing.T
	ctx  context.Context
	s    store.Store
	spec crawl.Spec
	name string
	id   int64
}

func newCollection(t *testing.T, s store.Store) *collection {
	t.Helper()
	name := strings.ToLower(t.Name()[strings.LastIndexByte(t.Name(), '/')+1:])
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name)
	c := &collection{T: t, ctx: t.Context(), s: s, name: name[:min(len(name), 40)]}
	c.spec = crawl.DefaultSpec()
	c.spec.Name = c.name
	c.spec.Seeds = []string{"https://" + c.name + ".test/"}
	return c
}

// with opens the crawl with changed limits.
func (c *collection) with(window, maxPages int) *collection {
	c.Helper()
	c.spec.Limits.Window, c.spec.Limits.MaxPages = window, maxPages
	return c.open()
}

// open opens the crawl with its spec.
func (c *collection) open() *collection {
	c.Helper()
	rec, err := c.s.OpenCrawl(c.ctx, c.spec)
	c.check(err)
	c.id = rec.ID
	return c
}

// check ends the test on an error.
func (c *collection) check(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// want ends the test unless the two are equal.
func want[T any](c *collection, what string, got, want T) {
	c.Helper()
	if !reflect.DeepEqual(got, want) {
		c.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// host is the key of one of the case's hosts.
func (c *collection) host(n int) string { return fmt.Sprintf("h%d.%s.test", n, c.name) }

// url is a URL of a host.
func (c *collection) url(host, n int, level int) store.NewURL {
	return store.NewURL{URL: fmt.Sprintf("https://%s/p/%d", c.host(host), n), Host: c.host(host), Level: level}
}

// urls are n URLs of a host, all of one level.
func (c *collection) urls(host, n, level int) []store.NewURL {
	all := make([]store.NewURL, n)
	for i := range all {
		all[i] = c.url(host, i, level)
	}
	return all
}

func (c *collection) register(from int64, urls ...store.NewURL) store.RegisterResult {
	c.Helper()
	res, err := c.s.RegisterLinks(c.ctx, store.RegisterParams{CrawlID: c.id, From: from, URLs: urls})
	c.check(err)
	return res
}

// known registers n URLs of a host and returns their pages, in the order of the
// URLs.
func (c *collection) known(host, n int) []store.PageRecord {
	c.Helper()
	urls := c.urls(host, n, 1)
	c.register(0, urls...)
	pages := make([]store.PageRecord, n)
	for i, u := range urls {
		pages[i] = c.find(u.URL)
	}
	return pages
}

// admitted is known with the pages Active.
func (c *collection) admitted(host, n int) []store.PageRecord {
	c.Helper()
	admitted := c.admit(ids(c.known(host, n))...)
	want(c, "admitted pages", len(admitted), n)
	return admitted
}

func (c *collection) admit(pages ...int64) []store.PageRecord {
	c.Helper()
	admitted, err := c.s.Admit(c.ctx, store.AdmitParams{CrawlID: c.id, Admit: pages})
	c.check(err)
	return admitted
}

func (c *collection) find(url string) store.PageRecord {
	c.Helper()
	pages, err := c.s.FindPages(c.ctx, url, c.name)
	c.check(err)
	want(c, "pages of "+url, len(pages), 1)
	return pages[0]
}

func (c *collection) page(id int64) store.PageRecord {
	c.Helper()
	p, err := c.s.Page(c.ctx, id)
	c.check(err)
	return p
}

// visit records the page's next visit.
func (c *collection) visit(page int64, outcome crawl.Outcome, state crawl.PageState) store.RecordResult {
	c.Helper()
	res, err := c.s.RecordVisit(c.ctx, store.RecordParams{
		Visit:    store.VisitRecord{PageID: page, Visit: c.page(page).Visits + 1, Outcome: outcome, State: state, Status: 200},
		Interval: time.Hour,
	})
	c.check(err)
	return res
}

func (c *collection) setState(page int64, state crawl.PageState) {
	c.Helper()
	c.check(c.s.SetPageState(c.ctx, page, state))
}

func (c *collection) status() store.StatusRecord {
	c.Helper()
	st, err := c.s.Status(c.ctx, c.id)
	c.check(err)
	return st
}

func (c *collection) candidates(limit int, hosts ...int64) []store.PageRecord {
	c.Helper()
	pages, err := c.s.Candidates(c.ctx, store.CandidateParams{CrawlID: c.id, Hosts: hosts, Limit: limit})
	c.check(err)
	return pages
}

// list walks through all pages that pass the filter, a few at a time.
func (c *collection) list(f store.PageFilter) []store.PageRecord {
	c.Helper()
	var all []store.PageRecord
	for f.Limit = 7; ; {
		pages, err := c.s.ListPages(c.ctx, f)
		c.check(err)
		if len(pages) == 0 {
			return all
		}
		for _, p := range pages {
			if p.PageID <= f.After {
				c.Fatalf("page %d listed after %d", p.PageID, f.After)
			}
			f.After = p.PageID
		}
		all = append(all, pages...)
	}
}

// checkCounts compares the store's delta counts with the actual rows.
func (c *collection) checkCounts() {
	c.Helper()
	there := map[crawl.PageState]int{}
	for _, p := range c.list(store.PageFilter{CrawlID: c.id}) {
		there[p.State]++
	}
	if counted := c.status().Pages; !maps.Equal(counted, there) {
		c.Fatalf("pages by state: counted %v, there are %v", counted, there)
	}
}

// wantError ends the test unless the error is of the kind.
func (c *collection) wantError(err, kind error) {
	c.Helper()
	if !errors.Is(err, kind) {
		c.Fatalf("got error %v, want %v", err, kind)
	}
}

// together runs fn n times at once and fails on any error.
func (c *collection) together(n int, fn func(i int) error) {
	c.Helper()
	var wg sync.WaitGroup
	errs := make([]error, n)
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = fn(i)
		})
	}
	close(start)
	wg.Wait()
	c.check(errors.Join(errs...))
}

func ids(pages []store.PageRecord) []int64 {
	all := make([]int64, len(pages))
	for i, p := range pages {
		all[i] = p.PageID
	}
	return all
}

func sortedIDs(pages []store.PageRecord) []int64 {
	all := ids(pages)
	slices.Sort(all)
	return all
}

// hostile are texts that break careless SQL, JSON and encodings.
func hostile() []string {
	return []string{
		`it's "quoted" \ and \\'`, "'; DROP TABLE pages; --", "nul \x00 inside", "bad \xff\xfe utf-8",
		"\u202Eright to left", "😀 emoji", "line\nbreak\ttab", `{"json":[1,2]}`, "$1 %s ?1 :name", strings.Repeat("long ", 2000),
	}
}
