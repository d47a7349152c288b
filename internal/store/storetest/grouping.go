package storetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// Opener opens one database, which is new at the first call, with a grouping
// or, for "", with its existing one.
type Opener func(urlkey.Grouping) (store.Store, error)

// RunGrouping tests the grouping of hosts; fresh returns an opener for a new
// database.
func RunGrouping(t *testing.T, fresh func(*testing.T) Opener) {
	each(t, fresh, map[string]func(*testing.T, Opener){
		"it is fixed when the store is made":         groupingFixed,
		"a domain's hosts share one line":            groupingOneLine,
		"a domain's hosts are listed as one":         groupingListed,
		"a person must name the domain":              groupingNamed,
		"robots.txt redirects within a domain":       groupingRedirect,
		"a forgotten domain's hosts stay forgotten":  groupingForgotten,
		"a trap's example is forgotten with its URL": groupingTrapExample,
	})
}

// each runs tests side by side, each on what fresh makes for it.
func each[T any](t *testing.T, fresh func(*testing.T) T, tests map[string]func(*testing.T, T)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

// reopen opens and, at the test's end, closes.
func (open Opener) reopen(t *testing.T, g urlkey.Grouping) store.Store {
	t.Helper()
	s := must(open(g))(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func groupingFixed(t *testing.T, open Opener) {
	for _, g := range []urlkey.Grouping{urlkey.ByDomain, "", urlkey.ByDomain} {
		s := must(open(g))(t)
		w := newGateWorld(t, s)
		pages := w.register(w.crawl("news", time.Hour), []store.NewURL{{URL: "http://www.one.test/", Host: "www.one.test"}})
		if pages[0].Host != "one.test" {
			t.Errorf("opened by %q the unit is %s", g, pages[0].Host)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if s, err := open(urlkey.ByHost); !errors.Is(err, store.ErrFixed) {
		t.Errorf("opened by host: %v, %v", s, err)
	}
}

func groupingOneLine(t *testing.T, open Opener) {
	w := newGateWorld(t, open.reopen(t, urlkey.ByDomain))
	c := w.crawl("news", time.Hour)
	pages := w.register(c, []store.NewURL{
		{URL: "http://www.one.test/", Host: "www.one.test"},
		{URL: "http://one.test:8080/", Host: "one.test:8080"},
		{URL: "http://other.test/", Host: "other.test"},
	})
	for _, origin := range []string{"http://www.one.test", "http://one.test:8080", "http://other.test"} {
		w.allow(origin)
	}
	w.begin(pages[0], w.grant(pages[0]))
	w.waits(pages[1])
	w.grant(pages[2])
}

func groupingListed(t *testing.T, open Opener) {
	w := newGateWorld(t, open.reopen(t, urlkey.ByDomain))
	c := w.crawl("news", time.Second)
	w.register(c, []store.NewURL{
		{URL: "http://a.one.test/", Host: "a.one.test"}, {URL: "https://b.one.test/", Host: "b.one.test"},
	})
	w.robots(store.SaveRobotsParams{Origin: "http://a.one.test", State: store.RobotsParsed, Status: 200, CrawlDelay: 3 * time.Second, Expires: time.Hour})
	w.robots(store.SaveRobotsParams{Origin: "https://b.one.test", State: store.RobotsParsed, Status: 200, CrawlDelay: 7 * time.Hour, Expires: time.Hour})
	hosts := must(w.s.ListHosts(t.Context(), store.HostFilter{CrawlID: c.ID, Limit: 10}))(t)
	if len(hosts) != 1 {
		t.Fatalf("%d hosts", len(hosts))
	}
	h := hosts[0]
	if h.Host != "one.test" || len(h.Robots) != 2 || h.CrawlDelay != 7*time.Hour || h.Delay != time.Hour || !h.Capped {
		t.Errorf("the domain is %+v, want both robots.txt, the longer Crawl-delay, and that cut to max_crawl_delay", h)
	}
}

func groupingNamed(t *testing.T, open Opener) {
	s := open.reopen(t, urlkey.ByDomain)
	check := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, store.ErrGrouped) || !strings.Contains(err.Error(), "name one.test") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := s.SetBlocked(t.Context(), "www.one.test", true)
	check("block", err)
	_, err = s.Forget(t.Context(), store.ForgetParams{Target: store.Target{Host: "www.one.test"}, Limit: 1})
	check("forget", err)
	check("remember", s.Remember(t.Context(), store.Target{Host: "www.one.test"}))
	c := newGateWorld(t, s).crawl("news", time.Second)
	_, err = s.ListPages(t.Context(), store.PageFilter{CrawlID: c.ID, Host: "www.one.test"})
	check("list pages", err)
	if _, err := s.SetBlocked(t.Context(), "one.test", true); err != nil {
		t.Error(err)
	}
}

func groupingRedirect(t *testing.T, open Opener) {
	w := newGateWorld(t, open.reopen(t, urlkey.ByDomain))
	page := w.register(w.crawl("news", time.Millisecond), []store.NewURL{{URL: "http://one.test/", Host: "one.test"}})[0]
	w.robots(store.SaveRobotsParams{
		Origin: "http://one.test", State: store.RobotsRedirected, Status: 301, Expires: time.Hour, Hops: 1,
		Next: "http://www.one.test/robots.txt", NextHost: "www.one.test",
	})
	permit := w.grant(page, patient)
	if permit.Kind != crawl.PermitRobots || permit.URL != "http://www.one.test/robots.txt" {
		t.Fatalf("permit %+v", permit)
	}
	if hosts := must(w.s.ListHosts(t.Context(), store.HostFilter{CrawlID: page.CrawlID, Limit: 10}))(t); len(hosts) != 1 || hosts[0].ID != permit.HostID {
		t.Errorf("the permit is for host %d, the hosts are %+v", permit.HostID, hosts)
	}
}

func groupingForgotten(t *testing.T, open Opener) {
	w := newGateWorld(t, open.reopen(t, urlkey.ByDomain))
	c := w.crawl("news", time.Second)
	url := store.NewURL{URL: "http://www.one.test/", Host: "www.one.test"}
	w.register(c, []store.NewURL{url})
	gone := must(w.s.Forget(t.Context(), store.ForgetParams{Target: store.Target{Host: "one.test"}, Limit: 10}))(t)
	again := must(w.s.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: c.ID, URLs: []store.NewURL{url}}))(t)
	if len(gone.Pages) != 1 || again.Forgotten != 1 || again.New != 0 {
		t.Errorf("forgot %+v, and then registered %+v", gone, again)
	}
}

// groupingTrapExample: a trap's host is the domain, and the URL that it gives as an example is of one
// of its hosts. So is the entry that an import has refused.
func groupingTrapExample(t *testing.T, open Opener) {
	w := newGateWorld(t, open.reopen(t, urlkey.ByDomain))
	c := w.crawl("news", time.Second)
	page := w.register(c, []store.NewURL{{URL: "http://www.one.test/calendar/1", Host: "www.one.test"}})[0]
	trap := store.NewTrap{Site: "one.test", Host: "www.one.test", Name: "days", Pattern: []byte(`{}`), Detail: "such as /calendar/1"}
	must(w.s.SetTraps(t.Context(), c.ID, []store.NewTrap{trap}))(t)
	must(w.s.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: page.URL}, Limit: 10}))(t)
	if traps := must(w.s.Traps(t.Context(), store.TrapFilter{CrawlID: c.ID}))(t); len(traps) != 1 || traps[0].Detail != "" {
		t.Errorf("%+v; want the trap without its example", traps)
	}

	must(w.s.Forget(t.Context(), store.ForgetParams{Target: store.Target{Host: "one.test"}, Limit: 10}))(t)
	refused := map[string]store.RefusedSeeds{"user name or password": {Entries: 1, Examples: []string{"http://www.one.test/2"}}}
	going := store.ImportParams{CrawlID: c.ID, Source: "list", Import: store.Import{Entries: 1, Refused: refused}}
	res := must(w.s.ImportSeeds(t.Context(), going))(t)
	if left := res.Import.Refused["user name or password"].Examples; len(left) != 0 {
		t.Errorf("an import that goes on remembers %v", left)
	}
}
