package activities_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/scope"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// linking stores a version of a page with its links, as DetectChange does.
func (w *world) linking(page crawl.PageRef, visit int, links ...store.Link) {
	w.t.Helper()
	must[int64](w.t)(w.store.SaveVersion(w.t.Context(), store.SaveVersionParams{
		Version: store.VersionRecord{PageID: page.PageID, Visit: visit, Digest: digestOf(fmt.Sprint(links))}, Links: links,
	}))
}

func TestRegisterLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Scope.MaxDepth = 1 })[0]
	w.linking(page, 1,
		store.Link{URL: "http://localhost/a"}, store.Link{URL: "http://localhost/b#c"}, store.Link{URL: "http://localhost/b"},
		store.Link{URL: "http://localhost/"}, store.Link{URL: "http://other.localhost/"}, store.Link{URL: "https://example.com/"},
		store.Link{URL: "http://localhost/ad", NoFollow: true}, store.Link{URL: "http://"})
	in := contract.RegisterIn{Page: page, Visit: 1}
	got := run(w, contract.RegisterLinks, in)
	rejected := map[string]int{"host": 2, "nofollow": 1, "malformed": 1}
	if got.New != 2 || got.Seen != 1 || !maps.Equal(got.Rejected, rejected) || len(got.Hosts) != 1 || got.Hosts[0] != w.page(page.URL).HostID {
		t.Errorf("registered %+v, want 2 new, 1 seen, rejected %v", got, rejected)
	}
	a := w.page("http://localhost/a")
	if a.State != crawl.Known || a.Level != 1 || a.Backlinks != 1 {
		t.Errorf("page %+v", a)
	}
	if again := run(w, contract.RegisterLinks, in); again.New+again.Seen+len(again.Rejected) != 0 {
		t.Errorf("registered again: %+v", again)
	}
	counted := must[[]store.RejectionCount](t)(w.store.Rejections(t.Context(), page.CrawlID))
	if want := []store.RejectionCount{{Reason: "host", Links: 2}, {Reason: "malformed", Links: 1}, {Reason: "nofollow", Links: 1}}; !slices.Equal(counted, want) {
		t.Errorf("counted %+v, want %+v", counted, want)
	}
	for _, l := range must[[]store.RejectedLink](t)(w.store.ListRejected(t.Context(), store.RejectedFilter{CrawlID: page.CrawlID})) {
		if want := map[string]string{"malformed": "", "nofollow": "localhost"}[l.Reason]; l.From != page.URL || l.Reason != "host" && l.Host != want {
			t.Errorf("kept %+v", l)
		}
	}
	if n := w.status().Links; n != 2 {
		t.Errorf("%d links, want 2: one to the page itself is none", n)
	}
	w.linking(a.PageRef, 1, store.Link{URL: "http://localhost/deep"}, store.Link{URL: "http://localhost/b"}, store.Link{URL: "http://localhost/"})
	deep := run(w, contract.RegisterLinks, contract.RegisterIn{Page: a.PageRef, Visit: 1})
	// The seed belongs to the crawl at any depth, and b is only as deep as it was.
	if deep.New != 0 || deep.Seen != 1 || deep.Rejected["depth"] != 2 {
		t.Errorf("two links deep: %+v", deep)
	}
}

// A crawl's URL rules decide which addresses are one page: before the scope, and
// for seeds as for links.
func TestRegisterLinksByTheURLRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) {
		spec.Scope = crawl.ScopeSpec{Type: "page"}
		spec.Seeds = []string{"http://localhost/;jsessionid=0?utm_source=mail", "http://localhost/a?y=1&x=1"}
		spec.URLs = crawl.URLSpec{StripParams: []string{"utm_*"}, StripPathParams: []string{"jsessionid"}, SortQuery: true}
	})[0]
	w.linking(page, 1,
		store.Link{URL: "http://localhost/a;jsessionid=1?x=1&y=1"}, store.Link{URL: "http://localhost/a?y=1&utm_medium=x&x=1"},
		store.Link{URL: "http://localhost/?utm_campaign=x"}, store.Link{URL: "http://localhost/b?utm_campaign=x"})
	got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1})
	if got.New != 0 || got.Seen != 2 || !maps.Equal(got.Rejected, map[string]int{"not a seed": 1}) {
		t.Errorf("registered %+v, want both seeds seen and b rejected", got)
	}
	if a := w.page("http://localhost/a?x=1&y=1"); a.Backlinks != 1 {
		t.Errorf("page %+v", a)
	}
}

// Rules see how a link was found: hops since the seeds' host was left, and the
// language of the page on which it stands.
func TestRegisterLinksByRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	level := func(n int) *crawl.Range { return &crawl.Range{Max: &n} }
	page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) {
		spec.Scope.Rules = []crawl.ScopeRule{
			{Reject: &crawl.FilterSpec{Not: &crawl.FilterSpec{Language: crawl.Texts{"de"}}}},
			{Name: "near", Accept: &crawl.FilterSpec{HopsOffHost: level(1)}},
		}
	}, wholeMachine)[0]
	register := func(from crawl.PageRef, visit int, language string, links ...store.Link) contract.RegisterOut {
		must[int64](t)(w.store.SaveVersion(t.Context(), store.SaveVersionParams{
			Version: store.VersionRecord{PageID: from.PageID, Visit: visit, Digest: digestOf(fmt.Sprint(links, visit)), Language: language}, Links: links,
		}))
		return run(w, contract.RegisterLinks, contract.RegisterIn{Page: from, Visit: visit})
	}
	elsewhere := store.Link{URL: "http://a.localhost/"}
	if got := register(page, 1, "fr", elsewhere); got.New != 0 || got.Rejected["rule not (language de)"] != 1 {
		t.Errorf("of a French page: %+v", got)
	}
	if got := register(page, 2, "de", elsewhere); got.New != 1 {
		t.Errorf("of a German page: %+v", got)
	}
	away := w.page(elsewhere.URL)
	got := register(away.PageRef, 1, "", store.Link{URL: "http://b.localhost/"}, store.Link{URL: "http://localhost/x"})
	if got.New != 1 || got.Rejected["host"] != 1 || away.Hops != 1 || w.page("http://localhost/x").Hops != 0 {
		t.Errorf("of a page off the host (%d hops): %+v", away.Hops, got)
	}
}

// moody is a filter program that accepts all, when it answers.
type moody struct{ answers bool }

func (m *moody) Has(name string) bool { return name == "moody" }

func (m *moody) Ask(string, urlkey.URL) scope.Answer {
	return scope.Answer{Accept: m.answers, Unknown: !m.answers, Reason: "it sulks"}
}

// While a filter program does not answer its links wait, and the others do not.
func TestLinksWaitForFilterPrograms(t *testing.T) {
	t.Parallel()
	program := &moody{}
	w := newWorld(t, func(p *parts) { p.settings.Filters = program })
	page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) {
		spec.Scope.Rules = []crawl.ScopeRule{{Reject: &crawl.FilterSpec{Param: crawl.Texts{"x"}, Not: &crawl.FilterSpec{Program: "moody"}}}}
	})[0]
	w.linking(page, 1, store.Link{URL: "http://localhost/a"}, store.Link{URL: "http://localhost/b?x"})
	in := contract.RegisterIn{Page: page, Visit: 1}
	_, err := try(w, contract.RegisterLinks, in)
	wantError(t, err, contract.ErrTypeStoreUnavailable, true, "it sulks")
	if w.page("http://localhost/a").State != crawl.Known {
		t.Error("the other link waits too")
	}
	if left := must[[]store.PendingLinks](t)(w.store.UnfinishedLinks(t.Context(), page.CrawlID, 0, 10)); len(left) != 1 {
		t.Errorf("unfinished: %+v", left)
	}
	program.answers = true
	if got := run(w, contract.RegisterLinks, in); got.New != 1 || got.Seen != 1 {
		t.Errorf("registered %+v", got)
	}
	w.page("http://localhost/b?x")
}

// A spec can only name programs that the operator has.
func TestOpenCrawlKnowsItsFilterPrograms(t *testing.T) {
	t.Parallel()
	const spec = `{"name":"a","seeds":["http://localhost/"],"scope":{"rules":[{"accept":{"program":"moody"}}]}}`
	in := contract.OpenCrawlIn{Spec: []byte(spec), WorkflowID: "crawl/a"}
	_, err := try(newWorld(t), contract.OpenCrawl, in)
	wantError(t, err, contract.ErrTypeBadSpec, false, `there is no filter program "moody"`)
	if _, err := try(newWorld(t, func(p *parts) { p.settings.Filters = &moody{} }), contract.OpenCrawl, in); err != nil {
		t.Errorf("with it: %v", err)
	}
}

// Links that are all refused are done with, too.
func TestRegisterLinksOfNoUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Scope.Type = "any" })[0]
	// A crawl of this machine alone names nobody to contact, so it must not go beyond it.
	w.linking(page, 1, store.Link{URL: "https://example.com/"})
	got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1})
	if got.New != 0 || got.Rejected["no contact"] != 1 {
		t.Errorf("registered %+v", got)
	}
	if left := must[[]store.PendingLinks](t)(w.store.UnfinishedLinks(t.Context(), page.CrawlID, 0, 10)); len(left) != 0 {
		t.Errorf("unfinished: %+v", left)
	}
	if got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 2}); got.New+got.Seen+len(got.Rejected) != 0 {
		t.Errorf("links of a visit that stored none: %+v", got)
	}
}

func numbered(n int) []string {
	urls := make([]string, n)
	for i := range urls {
		urls[i] = fmt.Sprintf("http://localhost/%d", i)
	}
	return urls
}

func TestAdmitKeepsTheLimits(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name                       string
		window, maxPages, asks     int
		first, atOnce, afterVisits int
	}{
		{"the window", 3, 0, 100, 3, 0, 2},
		{"max_pages", 100, 4, 100, 4, 0, 0},
		{"the caller's limit", 100, 0, 2, 2, 2, 1},
		{"none", 100, 0, 100, 5, 0, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			opened := w.open(numbered(5), func(spec *crawl.Spec) {
				spec.Limits = crawl.LimitSpec{Window: c.window, MaxPages: c.maxPages}
			})
			in := contract.AdmitIn{CrawlID: opened.CrawlID, Limit: c.asks}
			got := run(w, contract.Admit, in)
			if len(got.Pages) != c.first || got.Excluded != 0 || !got.More {
				t.Fatalf("admitted %d pages, more: %t; want %d", len(got.Pages), got.More, c.first)
			}
			for _, p := range got.Pages {
				if p.State != crawl.Active || p.Visit != 0 || p.Why != "first visit" || p.Due.IsZero() || p.Page.PageID == 0 {
					t.Errorf("the page is to be started as %+v", p)
				}
			}
			if again := run(w, contract.Admit, in); len(again.Pages) != c.atOnce || again.More != (c.atOnce > 0) {
				t.Errorf("asked again at once: %+v, want %d pages", again, c.atOnce)
			}
			for _, p := range got.Pages {
				w.plan(p.Page, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
			}
			if after := run(w, contract.Admit, in); len(after.Pages) != c.afterVisits {
				t.Errorf("admitted %d pages after the first were visited, want %d", len(after.Pages), c.afterVisits)
			}
		})
	}
}

// A call whose answer was lost is answered again with the pages that it admitted,
// until they have been visited: somebody has to start them.
func TestAdmitAgainWithTheSameKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open(numbered(3))
	in := contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 2, Key: "once"}
	first := run(w, contract.Admit, in)
	if again := run(w, contract.Admit, in); len(first.Pages) != 2 || fmt.Sprint(again) != fmt.Sprint(first) {
		t.Errorf("admitted %+v, then %+v; want the same two pages", first, again)
	}
	in.Key = "twice"
	if other := run(w, contract.Admit, in); len(other.Pages) != 1 {
		t.Errorf("another call admitted %+v, want the third page", other)
	}
}

func TestAdmitOfSomeHosts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open([]string{"http://a.localhost/", "http://b.localhost/"})
	got := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Hosts: []int64{w.page("http://b.localhost/").HostID}, Limit: 10})
	if len(got.Pages) != 1 || got.Pages[0].Page.Host != "b.localhost" {
		t.Errorf("admitted %+v, want the page of b", got.Pages)
	}
}

// A page that a fresh robots.txt forbids needs no workflow to find that out;
// anything else is decided when the page asks for its permit.
func TestAdmitConsultsRobots(t *testing.T) {
	t.Parallel()
	const rules = "User-agent: *\nDisallow: /private\n"
	cases := []struct {
		name     string
		robots   store.SaveRobotsParams
		excluded int
	}{
		{"fresh", store.SaveRobotsParams{State: store.RobotsParsed, Text: rules, Expires: time.Hour}, 1},
		{"expired", store.SaveRobotsParams{State: store.RobotsParsed, Text: rules}, 0},
		{"unreachable", store.SaveRobotsParams{State: store.RobotsUnreachable, Expires: time.Hour}, 0},
		{"none", store.SaveRobotsParams{State: store.RobotsAllowAll, Expires: time.Hour}, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, pageOf("<p>hello"))
			opened := w.open([]string{s.url + "/private/a", s.url + "/b"})
			c.robots.Origin = s.url
			w.saveRobots(c.robots)
			got := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 10})
			if got.Excluded != c.excluded || len(got.Pages) != 2-c.excluded {
				t.Errorf("admitted %d and excluded %d pages, want %d excluded", len(got.Pages), got.Excluded, c.excluded)
			}
			page := w.page(s.url + "/private/a")
			now := must[time.Time](t)(w.store.Now(t.Context()))
			if excluded := page.State == crawl.Excluded && near(page.NextAt.Sub(now), 120*day, 0.01); excluded != (c.excluded == 1) {
				t.Errorf("the forbidden page is %s until %s", page.State, page.NextAt)
			}
			s.wantRequests(t)
		})
	}
}

func TestAdmitOfPagesThatAreAllForbidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open(numbered(3))
	w.saveRobots(store.SaveRobotsParams{Origin: "http://localhost", State: store.RobotsParsed, Text: "User-agent: *\nDisallow: /\n", Expires: time.Hour})
	in := contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 2}
	var excluded int
	for range 3 {
		got := run(w, contract.Admit, in)
		excluded += got.Excluded
		if len(got.Pages) != 0 || got.More != (got.Excluded > 0) {
			t.Errorf("admitted %+v", got)
		}
	}
	if excluded != 3 || w.status().Pages[crawl.Excluded] != 3 {
		t.Errorf("excluded %d pages, the store has %v", excluded, w.status().Pages)
	}
}

func TestAdmitOfAStoppedCrawl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open(numbered(2))
	w.setState(crawl.CrawlStopped)
	if got := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 10}); len(got.Pages) != 0 || got.More {
		t.Errorf("admitted %+v", got)
	}
	if got := w.page("http://localhost/0").State; got != crawl.Known {
		t.Errorf("the page is %s", got)
	}
}
