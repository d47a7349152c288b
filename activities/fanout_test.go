package activities_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// web is a web without a server: the links of each page, or "=> URL" where one redirects.
type web map[string]string

// crawler makes the visits of crawls and runs their Discovers as workflows would, one at a
// time, in its own order. There is no maintenance.
type crawler struct {
	*world
	web       web
	rng       *rand.Rand // nil does everything in order, at once and once
	revisits  bool       // pages are visited again now and then
	line      []crawl.PageRef
	discovers []contract.DiscoverIn
	visits    map[string]int // of pages, by crawl and URL
	fannedOut int            // Discovers that were started
}

func newCrawler(t *testing.T, pages web, rng *rand.Rand) *crawler {
	t.Helper()
	return &crawler{world: newWorld(t), web: pages, rng: rng, visits: map[string]int{}}
}

// begin opens a crawl and starts the Discover that Crawl does.
func (c *crawler) begin(seeds []string, change ...func(*crawl.Spec)) contract.OpenCrawlOut {
	c.t.Helper()
	whole := func(spec *crawl.Spec) {
		spec.Scope.Type, spec.Identity.Contact = "any", "ops@example.org"
		spec.Traps.Guard = false
	}
	opened := c.open(seeds, append([]func(*crawl.Spec){wholeMachine, whole}, change...)...)
	c.discovers = append(c.discovers, contract.DiscoverIn{CrawlID: opened.CrawlID, Crawl: opened.Name})
	return opened
}

// goOn continues until nothing is on the way.
func (c *crawler) goOn() {
	c.t.Helper()
	for len(c.line)+len(c.discovers) > 0 {
		if len(c.discovers) > 0 && (c.rng == nil || len(c.line) == 0 || c.rng.IntN(4) == 0) {
			c.discover(take(c, &c.discovers))
			continue
		}
		page := take(c, &c.line)
		c.make(page)
		if c.revisits && c.rng.IntN(5) == 0 {
			c.line = append(c.line, page)
		}
	}
}

func take[T any](c *crawler, from *[]T) T {
	i := 0
	if c.rng != nil {
		i = c.rng.IntN(len(*from))
	}
	one := (*from)[i]
	*from = slices.Delete(*from, i, i+1)
	return one
}

// again reports whether an activity whose answer was lost runs once more.
func (c *crawler) again() bool { return c.rng != nil && c.rng.IntN(6) == 0 }

// make makes a visit, and starts its Discover, if it should have one.
func (c *crawler) make(page crawl.PageRef) {
	c.t.Helper()
	key := page.Crawl + " " + page.URL
	c.visits[key]++
	visit := c.visits[key]
	links := c.web[page.URL]
	plan := contract.PlanIn{Page: page, Visit: visit, Fetch: contract.FetchOut{Outcome: crawl.OutcomeGone, Status: 404}}
	var found contract.DetectOut
	if to, redirects := strings.CutPrefix(links, "=> "); redirects {
		plan.Fetch = contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 301, Location: to}
	} else if links != "" {
		body := fmt.Sprintf("<title>%s</title><p>%s", page.URL, strings.Repeat(page.URL+" ", visit))
		for link := range strings.FieldsSeq(links) {
			body += fmt.Sprintf(`<a href=%q>on</a> `, link)
		}
		in := c.detection(page, visit, body)
		in.Register = true
		for found = run(c.world, contract.DetectChange, in); c.again(); {
			found = run(c.world, contract.DetectChange, in)
		}
		plan.Fetch, plan.Reasons = in.Fetch, found.Reasons
		plan.Fetch.Outcome = found.Outcome
		if found.Registered != nil {
			plan.Touched = found.Registered.Hosts
		}
	}
	planned := run(c.world, contract.PlanRevisit, plan)
	for c.again() {
		planned = run(c.world, contract.PlanRevisit, plan)
	}
	left := found.Links > 0 && found.Registered == nil
	if !left && !planned.Refill && planned.RedirectHost == 0 {
		return
	}
	c.fannedOut++
	in := contract.DiscoverIn{CrawlID: page.CrawlID, Crawl: page.Crawl, Page: page, Visit: visit, Register: left, Refill: planned.Refill}
	for _, host := range []int64{c.record(page).HostID, planned.RedirectHost} {
		if host != 0 {
			in.Hosts = append(in.Hosts, host)
		}
	}
	c.discovers = append(c.discovers, in)
}

func (c *crawler) record(page crawl.PageRef) store.PageRecord {
	c.t.Helper()
	return must[store.PageRecord](c.t)(c.store.Page(c.t.Context(), page.PageID))
}

func (c *crawler) discover(in contract.DiscoverIn) {
	c.t.Helper()
	if in.Register {
		out := run(c.world, contract.RegisterLinks, contract.RegisterIn{Page: in.Page, Visit: in.Visit})
		in.Hosts = append(in.Hosts, out.Hosts...)
	}
	if in.Refill {
		in.Hosts = nil
	}
	for {
		out := run(c.world, contract.Admit, contract.AdmitIn{CrawlID: in.CrawlID, Hosts: in.Hosts, Limit: 100, Refill: in.Refill})
		for _, p := range out.Pages {
			c.line = append(c.line, p.Page)
		}
		if !out.More {
			return
		}
	}
}

// wantAll checks that nothing is left that could be admitted, and that every page of a crawl
// was visited.
func (c *crawler) wantAll(opened contract.OpenCrawlOut, pages int) {
	c.t.Helper()
	left := must[[]store.PageRecord](c.t)(c.store.Candidates(c.t.Context(), store.CandidateParams{CrawlID: opened.CrawlID, Limit: 100}))
	if len(left) > 0 {
		c.t.Errorf("crawl %s stands still, though %d pages could be admitted, the first %s", opened.Name, len(left), left[0].URL)
	}
	visited := 0
	for key := range c.visits {
		if strings.HasPrefix(key, opened.Name+" ") {
			visited++
		}
	}
	if visited != pages {
		c.t.Errorf("crawl %s visited %d pages, want %d", opened.Name, visited, pages)
	}
}

func siteURL(host string, n int) string { return fmt.Sprintf("http://%s.localhost/%d", host, n) }

// dense is a site whose pages link to the next twenty.
func dense(host string, pages int) web {
	w := web{}
	for n := range pages {
		for i := range 20 {
			w[siteURL(host, n)] += siteURL(host, (n+1+i)%pages) + " "
		}
	}
	return w
}

// tree is a site whose pages link to their three children.
func tree(host string, pages int) web {
	w := web{}
	for n := range pages {
		w[siteURL(host, n)] = siteURL(host, 0)
		for child := 3*n + 1; child <= 3*n+3 && child < pages; child++ {
			w[siteURL(host, n)] += " " + siteURL(host, child)
		}
	}
	return w
}

// chain is a site whose pages link to the next.
func chain(host string, pages int) web {
	w := web{siteURL(host, pages-1): siteURL(host, 0)}
	for n := range pages - 1 {
		w[siteURL(host, n)] = siteURL(host, n+1)
	}
	return w
}

// scattered is a page that links to others, each on a separate host, which link back.
func scattered(hosts int) web {
	w := web{siteURL("hub", 0): ""}
	for n := range hosts {
		w[siteURL("hub", 0)] += siteURL(fmt.Sprintf("h%d", n), 0) + " "
		w[siteURL(fmt.Sprintf("h%d", n), 0)] = siteURL("hub", 0)
	}
	return w
}

// roundabout is sites of one page each that redirect to the next, the last to a tree.
func roundabout(hosts, pages int) web {
	w := tree("end", pages)
	for n := range hosts {
		w[siteURL(fmt.Sprintf("r%d", n), 0)] = "=> " + siteURL(fmt.Sprintf("r%d", n+1), 0)
	}
	w[siteURL(fmt.Sprintf("r%d", hosts-1), 0)] = "=> " + siteURL("end", 0)
	return w
}

// Whatever the web looks like, a crawl goes on by itself until every page is visited; and a
// Discover is started only where there is something to admit.
func TestDiscoversAreFewAndNothingStandsStill(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		web    web
		seed   string
		window int
		most   int // Discovers
	}{
		{"a page alone", web{siteURL("a", 0): siteURL("a", 0)}, siteURL("a", 0), 16, 0},
		{"a small site", dense("a", 16), siteURL("a", 0), 16, 2},
		{"a dense site", dense("a", 100), siteURL("a", 0), 16, 14},
		{"a dense site, a narrow window", dense("a", 20), siteURL("a", 0), 1, 20},
		{"a tree", tree("a", 100), siteURL("a", 0), 16, 20},
		{"a chain", chain("a", 12), siteURL("a", 0), 16, 11}, // each page is the only one that is known
		{"hosts of a page each", scattered(60), siteURL("hub", 0), 16, 1},
		{"hosts of a page each, and too many", scattered(120), siteURL("hub", 0), 16, 6}, // the bound on admission has room for half of them
		{"redirects from host to host", roundabout(5, 30), siteURL("r0", 0), 16, 14},
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newCrawler(t, tt.web, nil)
			opened := c.begin([]string{tt.seed}, func(spec *crawl.Spec) { spec.Limits.Window = tt.window })
			c.goOn()
			c.wantAll(opened, len(tt.web))
			t.Logf("%d Discovers for %d pages", c.fannedOut, len(tt.web))
			if c.fannedOut > tt.most {
				t.Errorf("%d Discovers for %d pages, want at most %d", c.fannedOut, len(tt.web), tt.most)
			}
		})
	}
}

// No order of visits and Discovers makes a crawl stand still, however late a Discover runs and
// whichever answers are lost.
func TestNothingStandsStillInAnyOrder(t *testing.T) {
	t.Parallel()
	pages := web{}
	for _, site := range []web{dense("a", 30), tree("b", 25), chain("c", 6), scattered(5), roundabout(3, 10)} {
		for url, links := range site {
			pages[url] = links
		}
	}
	pages[siteURL("hub", 0)] += siteURL("r0", 0) + " " + siteURL("b", 0)
	pages[siteURL("b", 7)] += " " + siteURL("a", 0)
	pages[siteURL("b", 13)] += " " + siteURL("c", 0)
	seeds := uint64(6)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 16))
			c := newCrawler(t, pages, rng)
			c.revisits = seed%2 == 1 // which find what stands still
			window := func(spec *crawl.Spec) { spec.Limits.Window = 1 + rng.IntN(8) }
			news := c.begin([]string{siteURL("hub", 0)}, window)
			olds := c.begin([]string{siteURL("b", 0)}, window, func(spec *crawl.Spec) { spec.Name = "olds" })
			c.goOn()
			c.wantAll(news, len(pages))
			c.wantAll(olds, 25+30+6)
		})
	}
}

// A crawl that has as many pages as it may goes on as soon as it may have more.
func TestCrawlGoesOnWhenMaxPagesIsRaised(t *testing.T) {
	t.Parallel()
	c := newCrawler(t, dense("a", 60), nil)
	most := func(n int) func(*crawl.Spec) { return func(spec *crawl.Spec) { spec.Limits.MaxPages = n } }
	opened := c.begin([]string{siteURL("a", 0)}, most(25))
	c.goOn()
	c.wantAll(opened, 25)
	for range 3 { // revisits start nothing while there is no room
		before := c.fannedOut
		c.make(c.page(siteURL("a", 0)).PageRef)
		if c.fannedOut != before {
			t.Error("a Discover was started at max_pages")
		}
	}
	c.begin([]string{siteURL("a", 0)}, most(50))
	c.goOn()
	c.wantAll(opened, 50)
}
