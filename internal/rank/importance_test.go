package rank

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

func TestImportance(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "pages")
		ranks := rapid.SliceOfN(rapid.Float64Range(0, 1e6), n, n).Draw(t, "ranks")
		links := make([]Backlinks, n)
		for i := range links {
			inner := rapid.Int32Range(0, 5).Draw(t, "inner")
			links[i] = Backlinks{Inner: inner, Hosts: rapid.Int32Range(0, 1e6).Draw(t, "hosts")}
		}
		ranks[0] = max(ranks[0], 0.15) // some page has one
		all := Importance(ranks, links)
		bounded := false
		for i, w := range all {
			if !(w >= LeastImportance && w <= MostImportance) {
				t.Fatalf("importance %v", w)
			}
			bounded = bounded || w == LeastImportance || w == MostImportance
			for j, other := range all {
				if ranks[i] >= ranks[j] && links[i].hosts() >= links[j].hosts() && w < other {
					t.Fatalf("page %d is ahead of %d in both measures, but %v is less than %v", i, j, w, other)
				}
			}
		}
		if mean := sum(all) / float64(n); !bounded && math.Abs(mean-1) > 1e-9 {
			t.Fatalf("the mean is %v", mean)
		}
	})
}

// The parts of the blend: a page with links from 14 hosts among such without.
func TestImportanceOfOnePage(t *testing.T) {
	t.Parallel()
	all := Importance([]float64{1, 1, 1, 1}, []Backlinks{{Pages: 14, Hosts: 14}, {}, {}, {}})
	// Hosts: 4 against 1, of mean 7/4. Ranks: all the mean.
	for i, want := range []float64{(4/1.75 + 1) / 2, (1/1.75 + 1) / 2} {
		if math.Abs(all[i]-want) > 1e-12 {
			t.Errorf("page %d has importance %v, want %v", i, all[i], want)
		}
	}
}

func TestPriority(t *testing.T) {
	t.Parallel()
	falling := []struct {
		level      int
		importance float64
	}{{0, 0.1}, {9, MostImportance}, {3, 2}, {1, 0}, {7, 0.9}, {2, 0}, {1, 0.6}, {3, 0}, {1, LeastImportance}}
	for i, p := range falling[1:] {
		before := falling[i]
		if a, b := Priority(before.level, before.importance), Priority(p.level, p.importance); a <= b {
			t.Errorf("level %d importance %v has priority %v, and level %d importance %v has %v", before.level, before.importance, a, p.level, p.importance, b)
		}
		if Priority(p.level, p.importance) >= 0 {
			t.Errorf("%+v comes before seeds", p)
		}
	}
	if Priority(0, 0) != 0 || Priority(0, 3) != 0 || Priority(4, 0.5) != Priority(4, 0) || Priority(1, 1) != Priority(1, 0) {
		t.Error("seeds have priority 0; importance 1/2 is level 4, and 1 level 1")
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	ago := func(d time.Duration, links int) Last { return Last{At: now.Add(-d), Links: links} }
	for name, c := range map[string]struct {
		last  Last
		links int
		every time.Duration
		due   bool
		words string
	}{
		"off":            {Last{}, 10, 0, false, "rank.every is 0"},
		"without links":  {Last{}, 0, time.Hour, false, "no links are known yet"},
		"first":          {Last{}, 1, time.Hour, true, "there are no ranks yet"},
		"old":            {ago(25*time.Hour, 10), 10, 24 * time.Hour, true, "the ranks are 1d1h old"},
		"grown":          {ago(time.Minute, 10), 20, 24 * time.Hour, true, "links have grown from 10 to 20"},
		"not much grown": {ago(time.Minute, 10), 19, 24 * time.Hour, false, "the ranks are only 1m old"},
		"of none":        {ago(time.Minute, 0), 1, 24 * time.Hour, false, "the ranks are only 1m old"},
	} {
		due, why := Due(c.last, c.links, now, c.every)
		if due != c.due || Words(why) != c.words {
			t.Errorf("%s: %t, %q", name, due, Words(why))
		}
	}
	if Words(crawl.Reason{Code: "other"}) != "" {
		t.Error("words for a code of another package")
	}
}
