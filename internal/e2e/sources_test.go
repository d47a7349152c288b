package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/testsite"
)

type sourceLine struct {
	URL     string         `json:"url"`
	Kind    string         `json:"kind"`
	Entries int            `json:"entries"`
	Dropped map[string]int `json:"dropped"`
	Hinted  int            `json:"hinted"`
	Hits    int            `json:"hits"`
	Misses  int            `json:"misses"`
	Trusted bool           `json:"trusted"`
}

// mappedHost is a host of twenty pages, of which one changes now and then and the others
// never, with a sitemap that announces changes in its own way. No link leads to the last.
func mappedHost(name string, dates testsite.Dates) testsite.Host {
	h := testsite.Host{Name: name, Robots: testsite.Robots{Sitemap: true, Dates: dates}}
	home := testsite.Page{Path: "/", Title: "Home"}
	for n := range 19 {
		page := testsite.Page{Path: fmt.Sprintf("/%d", n), Title: fmt.Sprint("Page ", n)}
		if n == 5 {
			page.Text = testsite.Every(20 * time.Second)
		}
		if n < 18 {
			home.Links = append(home.Links, page.Path)
		}
		h.Pages = append(h.Pages, page)
	}
	h.Pages = append(h.Pages, home)
	return h
}

// TestSitemapsHint crawls three hosts whose pages the policy would visit again in an hour,
// longer than the test takes. One is honest about the one page that changes, which is then
// visited after each change; the others lie, and gain nothing.
func TestSitemapsHint(t *testing.T) {
	waitsBeside(t, 60)
	const honest, now, sly = "honest.localhost", "now.localhost", "sly.localhost"
	site := testsite.New(testsite.Options{Seed: 7, Hosts: []testsite.Host{
		mappedHost(honest, testsite.TrueDates), mappedHost(now, testsite.NowDates), mappedHost(sly, testsite.SlyDates),
	}})
	if err := site.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close() })
	var rules []map[string]any
	for _, seed := range site.Seeds() {
		rules = append(rules, map[string]any{"prefix": seed + "sitemap.xml", "default_interval": "3s"})
	}
	spec := map[string]any{
		"name": "maps", "seeds": site.Seeds(), "limits": map[string]any{"window": 100},
		"politeness": map[string]any{"delay": "20ms", "factor": 0},
		"revisit":    map[string]any{"policy": "fixed", "default_interval": "1h", "min_interval": "1s", "rules": rules},
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	d := startDev(t, filepath.Join(t.TempDir(), "data"))
	d.must("crawl", "--spec", write(t, filepath.Join(t.TempDir(), "spec.json"), string(text)))
	d.await("every page is visited, those that only sitemaps know too", d.crawled("maps", 3*21, 1))
	from := time.Now()
	changed := func() []time.Time { return after(site.Truth(honest, "/5"), from) }
	d.await("three changes are seen, and the sly one is found out", func() bool {
		changes, visits := changed(), visitsOf(site, honest, "/5", from)
		if len(changes) < 3 || len(after(visits, changes[2])) == 0 {
			return false
		}
		by := d.sources("maps")
		return by["honest"].Hits >= 2 && by["sly"].Misses >= 2
	})
	visits := visitsOf(site, honest, "/5", from)
	for _, c := range changed()[:3] {
		t.Logf("seen %s after the change", after(visits, c)[0].Sub(c).Round(time.Millisecond))
	}
	// The first may be for a change before.
	if most := len(changed()) + 1; len(visits) > most {
		t.Errorf("%d visits for %d changes", len(visits), most-1)
	}
	checkHints(t, d, site, from)
	history := d.must("history", site.URL(honest)+"5")
	if !strings.Contains(history, "visited early because the sitemap "+site.URL(honest)+"sitemap.xml said that it had changed") {
		t.Errorf("history does not say why:\n%s", history)
	}
	if breaches := testsite.CheckPolite(site.Log(), 20*time.Millisecond); len(breaches) > 0 {
		t.Errorf("impolite: %v", breaches)
	}
	d.stop()
}

// sources returns a crawl's sources by the first label of their hosts.
func (d *dev) sources(crawl string) map[string]sourceLine {
	d.t.Helper()
	by := map[string]sourceLine{}
	for _, s := range lines[sourceLine](d, "--output", "json", "sources", crawl) {
		host, _, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ".")
		by[host] = s
	}
	return by
}

// checkHints compares the reported effects of the sources with the site's log.
func checkHints(t *testing.T, d *dev, site *testsite.Site, from time.Time) {
	t.Helper()
	again := map[string]int{} // visits of pages that never change, by host
	for _, r := range site.Log() {
		if r.Begin.After(from) && r.Path != "/5" && !strings.HasSuffix(r.Path, ".xml") && !strings.HasSuffix(r.Path, ".txt") {
			again[strings.TrimSuffix(r.Host, ".localhost")]++
		}
	}
	t.Logf("pages that never change were visited again: %v\n%s", again, d.must("sources", "maps"))
	// The sly one is believed until the hints that it was granted at first are found
	// wrong; after that one in ten is followed.
	if again["honest"] > 0 || again["now"] > 0 || again["sly"] > 10 {
		t.Errorf("pages that never change were visited again: %v", again)
	}
	// A change that comes while the page is being fetched may be in the copy already, and then be
	// announced as newer than the visit: an honest source may have such a miss.
	for host, s := range d.sources("maps") {
		switch {
		case s.Kind != "sitemap" || s.Entries != 20:
			t.Errorf("source %+v", s)
		case host == "honest" && (s.Hits < 2 || s.Misses > 1 || !s.Trusted),
			host == "now" && (s.Hinted > 0 || s.Dropped["dates always now"] != 20),
			host == "sly" && (s.Hits > 2 || s.Misses < 2 || s.Trusted):
			t.Errorf("source of the host %s: %+v", host, s)
		}
	}
}

// visitsOf returns the requests for a page since a time.
func visitsOf(site *testsite.Site, host, path string, from time.Time) (at []time.Time) {
	for _, r := range site.Log() {
		if r.Host == host && r.Path == path && r.Begin.After(from) {
			at = append(at, r.Begin)
		}
	}
	return at
}

// after returns the times after a time.
func after(times []time.Time, from time.Time) (later []time.Time) {
	for _, t := range times {
		if t.After(from) {
			later = append(later, t)
		}
	}
	return later
}
