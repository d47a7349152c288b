package polite

import (
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		undiscovered, visited int64
		every                 int
		kept                  float64
	}{
		"nothing is known":          {0, 0, 8, 0.1},
		"all has been visited":      {0, 1000, 8, 0.1},
		"nothing has been visited":  {1, 0, 2, 0.5},
		"most is unseen":            {4842, 670, 2, 0.5},
		"half is":                   {500, 500, 2, 0.5},
		"a third is":                {100, 200, 3, 1.0 / 3},
		"a fifth is":                {100, 400, 5, 0.2},
		"a little is":               {100, 20000, 8, 0.125},
		"counts that cannot be":     {-1, -1, 8, 0.1},
		"counts as large as can be": {1 << 62, 1 << 62, 2, 0.5},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Discover(tc.undiscovered, tc.visited)
			if got.Every != tc.every || got.Kept != tc.kept || got.Reason.Code != FoundShare || got.Reason.Num["kept"] != tc.kept {
				t.Errorf("Discover = %+v, want one of %d and %v", got, tc.every, tc.kept)
			}
		})
	}
}

// The kept share falls, and never rises, as a host is discovered.
func TestDiscoveryDecays(t *testing.T) {
	t.Parallel()
	const pages = 5000
	last := Discover(pages, 0)
	for seen := int64(1); seen <= pages; seen++ {
		d := Discover(pages-seen, seen)
		if d.Kept > last.Kept || d.Every < last.Every {
			t.Fatalf("%d of %d are seen: %+v after %+v", seen, pages, d, last)
		}
		last = d
	}
	if last.Kept != keptAlways {
		t.Errorf("%v is kept when all is seen", last.Kept)
	}
}

// Both shares are met in the long run, even by waiters that come late for each: a
// late share counts for the next one.
func TestSharesAreHad(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := Ledger{FirstEvery: rapid.IntRange(2, 8).Draw(t, "every")}
		late := rapid.IntRange(0, 3).Draw(t, "late")
		var firsts, aged, waitFirst, waitAged int
		const grants = 840
		for range grants {
			switch {
			case l.AgedIn() == 0 && waitAged == 0:
				l, aged, waitAged = l.After(crawl.ClassProbe, true), aged+1, min(late, 2)
				continue
			case l.FirstIn() == 0 && waitFirst == 0:
				l, firsts, waitFirst = l.After(crawl.ClassFirst, false), firsts+1, min(late, l.every()-2)
				continue
			}
			waitFirst, waitAged = max(waitFirst-1, 0), max(waitAged-1, 0)
			l = l.After(crawl.ClassRevisit, false)
		}
		if least := grants/l.every() - 2; firsts < least || firsts > least+4 {
			t.Errorf("%d first visits in %d grants, one in %d is due", firsts, grants, l.every())
		}
		if least := grants/AgeEvery - 2; aged < least || aged > least+4 {
			t.Errorf("%d aged grants in %d", aged, grants)
		}
	})
}

// A waiter that did not want its share for long has not saved it up.
func TestSharesAreNotSavedUp(t *testing.T) {
	t.Parallel()
	l := Ledger{Aged: 1000, First: 1000, FirstEvery: 4}
	for range 2 {
		l = l.After(crawl.ClassFirst, true)
	}
	if l.AgedIn() != AgeEvery-1 || l.FirstIn() != 3 {
		t.Errorf("after two grants in a row the next shares come in %d and %d", l.AgedIn(), l.FirstIn())
	}
}

// The cost of discovery for revisits, on a host whose visited pages would take all its
// capacity: half of the unseen pages are seen within as many requests as there are
// unseen pages, all within four times as many, and at least half of the requests are
// always revisits.
func TestWhatDiscoveryCosts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		pages, visited int64
	}{{5512, 670}, {1000, 16}, {60, 16}} {
		l, requests, half, revisits := Ledger{}, 0, 0, 0
		line := []Candidate{{Class: crawl.ClassRevisit, Arrived: 1}, {Class: crawl.ClassFirst, Arrived: 1}}
		for visited := tc.visited; visited < tc.pages; requests++ {
			l.FirstEvery = Discover(tc.pages-visited, visited).Every
			class := line[Choose(line, l, 0).Index].Class
			l.Aged = 0 // nobody has waited longer than the others
			if l = l.After(class, false); class == crawl.ClassFirst {
				visited++
			} else {
				revisits++
			}
			if visited == (tc.pages+tc.visited)/2 && half == 0 {
				half = requests
			}
		}
		t.Logf("%d pages, %d of them visited: half of the others were after %d requests, all after %d, %d of these revisits", tc.pages, tc.visited, half, requests, revisits)
		if missing := int(tc.pages - tc.visited); half > missing+1 || requests > 4*missing {
			t.Errorf("%d unseen pages of %d: half were seen after %d requests, all after %d", missing, tc.pages, half, requests)
		}
		if revisits < requests/2 {
			t.Errorf("%d revisits among %d requests", revisits, requests)
		}
	}
}
