package polite

import (
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	manual, revisit, first, probe := crawl.ClassManual, crawl.ClassRevisit, crawl.ClassFirst, crawl.ClassProbe
	tests := map[string]struct {
		candidates []Candidate
		ledger     Ledger
		eldest     int64
		want       int
		aged       bool
	}{
		"nobody": {want: -1},
		"alone":  {candidates: []Candidate{{Class: probe}}, want: 0},
		"the class comes first": {
			candidates: []Candidate{{Class: revisit, Rank: 9, Arrived: 1}, {Class: manual, Served: 9, Arrived: 2}},
			want:       1,
		},
		"then the crawl served longest ago": {
			candidates: []Candidate{{Crawl: 1, Served: 5, Rank: 9, Arrived: 1}, {Crawl: 2, Served: 4, Arrived: 2}},
			want:       1,
		},
		"then the rank": {
			candidates: []Candidate{{Crawl: 1, Rank: 1, Arrived: 1}, {Crawl: 1, Rank: 2, Arrived: 2}},
			want:       1,
		},
		"then the age": {
			candidates: []Candidate{{Crawl: 1, Arrived: 2, Tie: 1}, {Crawl: 1, Arrived: 1, Tie: 2}},
			want:       1,
		},
		"rank does not count across crawls": {
			candidates: []Candidate{{Crawl: 2, Rank: 9}, {Crawl: 1, Rank: 1}, {Crawl: 1, Rank: 2}},
			want:       2,
		},
		"the eighth goes to the oldest": {
			candidates: []Candidate{{Class: manual, Arrived: 2}, {Class: probe, Arrived: 1}},
			ledger:     Ledger{Aged: AgeEvery - 1}, want: 1, aged: true,
		},
		"the seventh does not": {
			candidates: []Candidate{{Class: manual, Arrived: 2}, {Class: probe, Arrived: 1}},
			ledger:     Ledger{Aged: AgeEvery - 2}, want: 0,
		},
		"an eighth that nobody needs is kept": {
			candidates: []Candidate{{Class: manual, Arrived: 1}, {Class: probe, Arrived: 2}},
			ledger:     Ledger{Aged: 20}, want: 0,
		},
		"and one whose owner is on its way": {
			candidates: []Candidate{{Class: manual, Arrived: 3}, {Class: probe, Arrived: 2}},
			ledger:     Ledger{Aged: 20}, eldest: 1, want: 0,
		},
		"a revisit comes before a first visit": {
			candidates: []Candidate{{Class: first, Arrived: 1}, {Class: revisit, Arrived: 2}},
			ledger:     Ledger{First: 2, FirstEvery: 4}, want: 1,
		},
		"lets it pass when it is due": {
			candidates: []Candidate{{Class: first, Arrived: 2}, {Class: revisit, Arrived: 1}, {Class: probe, Arrived: 1}},
			ledger:     Ledger{First: 3, FirstEvery: 4}, want: 0,
		},
		"but a person does not": {
			candidates: []Candidate{{Class: first, Arrived: 1}, {Class: manual, Arrived: 2}},
			ledger:     Ledger{First: 30, FirstEvery: 2}, want: 1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Choose(tc.candidates, tc.ledger, tc.eldest)
			if got.Index != tc.want || got.Aged != tc.aged {
				t.Errorf("Choose = %+v, want %d, aged %v", got, tc.want, tc.aged)
			}
		})
	}
}

// A waiter that keeps standing there is served, however many of better class and
// rank keep coming: at the latest after as many as its age promises.
func TestChooseStarvesNobody(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before := rapid.IntRange(0, 10).Draw(t, "before")
		line := make([]Candidate, before, before+2)
		for i := range line {
			line[i] = Candidate{Class: crawl.ClassProbe, Arrived: int64(i)}
		}
		line = append(line, Candidate{Crawl: 2, Class: crawl.ClassProbe, Arrived: int64(before), Rank: -1})
		ledger := Ledger{
			Aged: rapid.IntRange(0, 2*AgeEvery).Draw(t, "aged"), First: rapid.IntRange(0, 9).Draw(t, "first"),
			FirstEvery: rapid.IntRange(2, 8).Draw(t, "every"),
		}
		promised := ByAge(before, 0, ledger)
		for grant := range promised + 1 {
			// A stranger with every advantage comes for each grant.
			line = append(line, Candidate{
				Class: crawl.Class(rapid.IntRange(0, 3).Draw(t, "class")), Rank: 100,
				Arrived: int64(1000 + grant),
			})
			c := Choose(line, ledger, 0)
			ledger = ledger.After(line[c.Index].Class, c.Aged)
			if line[c.Index].Crawl == 2 {
				return
			}
			line = append(line[:c.Index], line[c.Index+1:]...)
		}
		t.Fatalf("not served after %d grants with %d before it", promised, before)
	})
}
