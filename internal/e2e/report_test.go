package e2e

import (
	"math"
	"os"
	"path/filepath"
	"strings"
)

// reportFigures are the figures of `starter report` that other commands give too,
// page by page.
type reportFigures struct {
	Known      int            `json:"known"`
	Pages      map[string]int `json:"pages"`
	Visits     int            `json:"visits"`
	Outcomes   map[string]int `json:"outcomes"`
	Visited    int            `json:"visited"`
	Downloaded int            `json:"downloaded"`
	Importance struct {
		Important int     `json:"important"`
		Share     float64 `json:"share"`
	} `json:"importance"`
	Diversity struct {
		Hosts      int `json:"hosts"`
		KnownHosts int `json:"known_hosts"`
	} `json:"diversity"`
	Duplicates struct {
		Pages int `json:"pages"`
	} `json:"duplicates"`
	Broken struct {
		Pages    int `json:"pages"`
		Links    int `json:"links"`
		AllLinks int `json:"all_links"`
	} `json:"broken"`
	Levels []struct {
		Level         int     `json:"level"`
		Pages         int     `json:"pages"`
		MeanBacklinks float64 `json:"mean_backlinks"`
	} `json:"levels"`
	TopPages []struct {
		Backlinks int     `json:"backlinks"`
		Weight    float64 `json:"weight"`
	} `json:"top_pages"`
}

// checkReport counts a resting crawl page by page, visit by visit, and compares
// what `starter report` says.
func (d *dev) checkReport(crawl string) {
	d.t.Helper()
	html := filepath.Join(d.t.TempDir(), "report.html")
	got := lines[reportFigures](d, "--output", "json", "report", crawl, "--backlinks", "1", "--html", html)[0]
	page, err := os.ReadFile(html)
	if err != nil || !strings.Contains(string(page), "Back-links by level") || strings.Contains(string(page), "src=") {
		d.t.Errorf("the report's page: %v\n%.300s", err, page)
	}
	type counted struct {
		URL, Host, State         string
		Level, Visits, Backlinks int
	}
	pages, visitsOf := lines[counted](d, "--output", "json", "pages", crawl, "--limit", "0"), d.stored(crawl)
	states, outcomes, hosts, known := map[string]int{}, map[string]int{}, map[string]bool{}, map[string]bool{}
	levels, backlinks := map[int]int{}, map[int]int{}
	var visited, downloaded, important, visits, links, broken int
	for _, p := range pages {
		states[p.State]++
		known[p.Host] = true
		levels[p.Level]++
		backlinks[p.Level] += p.Backlinks
		links += p.Backlinks
		if p.State == "gone" {
			broken += p.Backlinks
		}
		if p.Visits == 0 {
			continue
		}
		visited++
		found := false
		for _, v := range visitsOf[p.URL] {
			visits++
			outcomes[v.Outcome]++
			found = found || v.Outcome == "new"
		}
		if found {
			downloaded++
			hosts[p.Host] = true
			if p.Backlinks > 1 {
				important++
			}
		}
	}
	for what, pair := range map[string][2]int{
		"known": {got.Known, len(pages)}, "visits": {got.Visits, visits}, "visited": {got.Visited, visited},
		"downloaded": {got.Downloaded, downloaded}, "important": {got.Importance.Important, important},
		"hosts": {got.Diversity.Hosts, len(hosts)}, "known hosts": {got.Diversity.KnownHosts, len(known)},
		"links": {got.Broken.AllLinks, links}, "broken links": {got.Broken.Links, broken}, "broken pages": {got.Broken.Pages, states["gone"]},
		"duplicates": {got.Duplicates.Pages, states["duplicate"]}, "levels": {len(got.Levels), len(levels)},
	} {
		if pair[0] != pair[1] {
			d.t.Errorf("the report says %s %d, counted are %d", what, pair[0], pair[1])
		}
	}
	for state, n := range got.Pages {
		if n != states[state] {
			d.t.Errorf("the report says %d %s pages, counted are %d", n, state, states[state])
		}
	}
	for outcome, n := range got.Outcomes {
		if n != outcomes[outcome] {
			d.t.Errorf("the report says %d visits %s, counted are %d", n, outcome, outcomes[outcome])
		}
	}
	for _, l := range got.Levels {
		if mean := float64(backlinks[l.Level]) / float64(levels[l.Level]); l.Pages != levels[l.Level] || math.Abs(l.MeanBacklinks-mean) > 1e-9 {
			d.t.Errorf("the report says %+v of level %d, counted are %d pages with %v back-links", l, l.Level, levels[l.Level], mean)
		}
	}
	if downloaded > 0 && math.Abs(got.Importance.Share-float64(important)/float64(downloaded)) > 1e-9 {
		d.t.Errorf("H/T is %v", got.Importance.Share)
	}
}
