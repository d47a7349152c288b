package survey

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

func drawPage(t *rapid.T) Page {
	states := crawl.PageStates()
	p := Page{
		Host:  rapid.SampledFrom([]string{"a.example.com", "b.example.com:8080", "example.org", "127.0.0.1:1"}).Draw(t, "host"),
		Level: rapid.IntRange(0, 5).Draw(t, "level"), State: rapid.SampledFrom(states).Draw(t, "state"),
		Visits: rapid.IntRange(0, 3).Draw(t, "visits"), Backlinks: rapid.IntRange(0, 9).Draw(t, "backlinks"),
		Weight:   rapid.SampledFrom([]float64{0, 0.5, 1, 2}).Draw(t, "weight"),
		Interval: time.Duration(rapid.Int64Range(0, int64(100*24*time.Hour)).Draw(t, "interval")),
		Compared: rapid.Bool().Draw(t, "compared"), Rate: rapid.Float64Range(0, 10).Draw(t, "rate"),
	}
	if p.Left = p.State; !p.State.Lives() && p.Visits > 0 {
		p.Left = rapid.SampledFrom(crawl.LivingStates()).Draw(t, "left")
	}
	p.URL = fmt.Sprintf("http://%s/%d", p.Host, rapid.IntRange(0, 1e6).Draw(t, "n"))
	if p.Downloaded = p.Visits > 0 && rapid.Bool().Draw(t, "downloaded"); p.Downloaded {
		p.Type, p.Bytes = rapid.SampledFrom([]string{"text/html", "text/plain"}).Draw(t, "type"), rapid.Int64Range(0, 1e6).Draw(t, "bytes")
	}
	return p
}

// Every figure equals the result of counting it alone.
func TestFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pages := rapid.SliceOfNDistinct(rapid.Custom(drawPage), 0, 60, func(p Page) string { return p.URL }).Draw(t, "pages")
		s := New(Options{Backlinks: 3, Top: 4})
		for _, p := range pages {
			s.Add(p)
		}
		got := s.Result()
		count := func(holds func(Page) bool) int {
			return len(slices.DeleteFunc(slices.Clone(pages), func(p Page) bool { return !holds(p) }))
		}
		sum := func(of func(Page) int) int {
			n := 0
			for _, p := range pages {
				n += of(p)
			}
			return n
		}
		down := func(p Page) bool { return p.Downloaded }
		for what, pair := range map[string][2]int{
			"known":      {got.Known, len(pages)},
			"active":     {got.Pages[crawl.Active], count(func(p Page) bool { return p.State == crawl.Active })},
			"downloaded": {got.Downloaded, count(down)},
			"important":  {got.Important, count(func(p Page) bool { return p.Downloaded && p.Backlinks > 3 })},
			"visited":    {got.Visited, count(func(p Page) bool { return p.Visits > 0 })},
			"duplicates": {got.Duplicates, count(func(p Page) bool { return p.Left == crawl.Duplicate })},
			"broken":     {got.Broken, count(func(p Page) bool { return p.Left == crawl.Gone })},
			"links":      {got.Links, sum(func(p Page) int { return p.Backlinks })},
			"bytes":      {int(got.Bytes), sum(func(p Page) int { return int(p.Bytes) })},
			"queue 3": {got.Queues[2], count(func(p Page) bool {
				return p.State.Lives() && p.Visits > 0 && p.Interval >= 80*time.Hour && p.Interval < 180*time.Hour
			})},
			"daily": {got.Activities[schedule.Daily], count(func(p Page) bool {
				return p.State.Lives() && p.Visits > 0 && p.Compared && p.Rate*math.Sqrt(0.5) < 1 && p.Rate*math.Sqrt(7) >= 1
			})},
			"unknown": {got.Unknown, count(func(p Page) bool { return p.State.Lives() && p.Visits > 0 && !p.Compared })},
		} {
			if pair[0] != pair[1] {
				t.Errorf("%s: %d, want %d", what, pair[0], pair[1])
			}
		}
		wantDiversity(t, got, pages)
		wantLevels(t, got, pages)
		best := slices.DeleteFunc(slices.Clone(pages), func(p Page) bool { return p.State == crawl.Held })
		slices.SortFunc(best, moreImportant)
		if !slices.Equal(got.TopPages, best[:min(4, len(best))]) {
			t.Errorf("the best pages are %v, want the first of %v", got.TopPages, best)
		}
		slices.SortFunc(best, moreBacklinks)
		if !slices.Equal(got.TopReferred, best[:min(4, len(best))]) {
			t.Errorf("the most referred pages are %v, want the first of %v", got.TopReferred, best)
		}
		if len(got.TopHosts) > 4 || !slices.IsSortedFunc(got.TopHosts, moreReferred) {
			t.Errorf("the best hosts are %v", got.TopHosts)
		}
	})
}

func wantDiversity(t *rapid.T, got Result, pages []Page) {
	downloads, known := map[string]float64{}, map[string]bool{}
	total := 0.0
	for _, p := range pages {
		known[p.Host] = true
		if p.Downloaded {
			downloads[p.Host]++
			total++
		}
	}
	domains, squares, largest := map[string]bool{}, 0.0, 0.0
	for host, n := range downloads {
		domains[map[string]string{
			"a.example.com": "example.com", "b.example.com:8080": "example.com", "example.org": "example.org", "127.0.0.1:1": "127.0.0.1",
		}[host]] = true
		squares += n / total * n / total
		largest = max(largest, n/total)
	}
	if got.Hosts != len(downloads) || got.KnownHosts != len(known) || got.Domains != len(domains) || math.Abs(got.Largest-largest) > 1e-12 ||
		len(downloads) > 0 && math.Abs(got.Effective*squares-1) > 1e-9 {
		t.Errorf("diversity %+v, want %v of %d domains", got, downloads, len(domains))
	}
}

func wantLevels(t *rapid.T, got Result, pages []Page) {
	for _, l := range got.Levels {
		n, links := 0, 0
		for _, p := range pages {
			if p.Level == l.Level {
				n++
				links += p.Backlinks
			}
		}
		if n != l.Pages || math.Abs(l.Mean()-float64(links)/float64(n)) > 1e-12 {
			t.Errorf("level %+v, want %d pages with %d back-links", l, n, links)
		}
	}
}

// Pages that a trap holds, and links to them, make no host important: neither by an earlier
// ranking nor, before there is one, by back-links.
func TestHeldPagesMakeNoHostImportant(t *testing.T) {
	t.Parallel()
	for _, weight := range []float64{0, 3} {
		s := New(Options{Top: 5})
		for i := range 231 {
			p := Page{URL: fmt.Sprintf("http://trap.example/%d", i), Host: "trap.example", State: crawl.Held, Backlinks: 9, Weight: weight}
			if i < 2 {
				p.State, p.Backlinks, p.Weight = crawl.Active, 1, weight/3
			}
			s.Add(p)
		}
		for i := range 4 {
			s.Add(Page{URL: fmt.Sprintf("http://honest.example/%d", i), Host: "honest.example", State: crawl.Active, Backlinks: 1, Weight: weight / 3})
		}
		got := s.Result()
		want := []Host{
			{Name: "honest.example", Pages: 4, Backlinks: 4, Weight: 4 * weight / 3},
			{Name: "trap.example", Pages: 2, Backlinks: 2, Held: 229, Weight: 2 * weight / 3},
		}
		if !slices.Equal(got.TopHosts, want) {
			t.Errorf("weight %v: hosts %+v, want %+v", weight, got.TopHosts, want)
		}
		if slices.ContainsFunc(got.TopPages, func(p Page) bool { return p.State == crawl.Held }) || len(got.TopPages) != 5 {
			t.Errorf("weight %v: pages %+v", weight, got.TopPages)
		}
	}
}

func TestNothing(t *testing.T) {
	t.Parallel()
	if r := New(Options{Top: 3}).Result(); r.Importance() != 0 || r.BrokenShare() != 0 || r.Hosts != 0 || r.Effective != 0 {
		t.Errorf("of no pages: %+v", r)
	}
}
