package rank

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

const day = 24 * time.Hour

func drawCandidates(t *rapid.T, first int64, states []crawl.PageState, label string) []Candidate {
	id := first
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Candidate {
		id++
		return Candidate{
			ID:         id,
			Importance: rapid.OneOf(rapid.Just(0.), rapid.Float64Range(LeastImportance, MostImportance)).Draw(t, "importance"),
			Seed:       rapid.IntRange(0, 9).Draw(t, "seed") == 0,
			State:      rapid.SampledFrom(states).Draw(t, "state"),
			Since:      time.Duration(rapid.IntRange(0, 4).Draw(t, "days")) * day,
		}
	}), 0, 30).Draw(t, label)
}

func living() []crawl.PageState {
	return slices.DeleteFunc(crawl.PageStates(), func(s crawl.PageState) bool { return !s.Lives() })
}

// The promises of Replace, for any input.
func TestReplaceProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		outside := drawCandidates(t, 0, append(living(), crawl.Known), "outside")
		inside := drawCandidates(t, 1000, living(), "inside")
		p := ReplaceParams{
			Places: rapid.SampledFrom([]int{0, 0, 0, 3, 100, -2, -100}).Draw(t, "places"),
			Margin: rapid.Float64Range(-0.1, 2).Draw(t, "margin"),
			Tenure: time.Duration(rapid.IntRange(0, 3).Draw(t, "tenure")) * day,
			Most:   rapid.IntRange(-1, 40).Draw(t, "most"),
		}
		byID := map[int64]Candidate{}
		for _, c := range slices.Concat(outside, inside) {
			byID[c.ID] = c
		}
		swaps := Replace(outside, inside, p)
		moved, evictions := map[int64]bool{}, 0
		for _, s := range swaps {
			in, out := byID[s.In], byID[s.Out]
			switch {
			case s.In == 0 && s.Out == 0 || moved[s.In] || moved[s.Out] || s.In > 1000 || s.Out != 0 && s.Out <= 1000:
				t.Fatalf("swap %+v", s)
			case s.Out != 0 && out.Seed:
				t.Fatal("a seed was evicted")
			case s.In != 0 && s.Out != 0 && (p.Places != 0 || in.Worth() <= out.Worth()*(1+max(p.Margin, 0)) ||
				in.Importance == 0 && !in.Seed || out.Importance == 0 || out.Since < p.Tenure || in.State.Lives() && in.Since < p.Tenure):
				t.Fatalf("%+v took the place of %+v with %+v", in, out, p)
			case s.In == 0 && p.Places >= 0, s.Out == 0 && (p.Places <= 0 || !in.State.Lives()):
				t.Fatalf("swap %+v with %+v", s, p)
			case Words(s.Reason) == "":
				t.Fatalf("no words for %+v", s.Reason)
			}
			if s.In != 0 {
				moved[s.In] = true
			}
			if s.Out != 0 {
				moved[s.Out] = true
				evictions++
			}
		}
		if evictions > max(p.Most, 0) || len(swaps)-evictions > max(p.Places, 0) {
			t.Fatalf("%d evictions and %d returns with %+v", evictions, len(swaps)-evictions, p)
		}
	})
}

// Asked again after all its swaps have been made, it moves nobody, even without a
// tenure: no thrash. And the collection is then the best possible, except for the
// margin.
func TestReplaceSettles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		outside := drawCandidates(t, 0, append(living(), crawl.Known), "outside")
		inside := drawCandidates(t, 1000, living(), "inside")
		p := ReplaceParams{Margin: rapid.Float64Range(0, 2).Draw(t, "margin"), Most: 1000}
		out, in := map[int64]Candidate{}, map[int64]Candidate{}
		for _, c := range outside {
			out[c.ID] = c
		}
		for _, c := range inside {
			in[c.ID] = c
		}
		for _, s := range Replace(outside, inside, p) {
			in[s.In], out[s.Out] = out[s.In], in[s.Out]
			delete(out, s.In)
			delete(in, s.Out)
		}
		list := func(m map[int64]Candidate) []Candidate { return slices.Collect(maps.Values(m)) }
		if swaps := Replace(list(out), list(in), p); len(swaps) > 0 {
			t.Fatalf("and then %+v", swaps)
		}
	})
}

// A long life in which importances move at random: with tenure, margin and bound the
// collection follows them, and nobody moves in and out.
func TestReplaceDoesNotThrash(t *testing.T) {
	t.Parallel()
	rng := uint64(1)
	random := func() float64 {
		rng = rng*6364136223846793005 + 1442695040888963407
		return float64(rng>>11) / (1 << 53)
	}
	const pages, places, most, days = 1000, 100, 5, 100
	all := make([]Candidate, pages)
	inside := map[int64]bool{}
	for i := range all {
		all[i] = Candidate{ID: int64(i), Importance: 0.5 + random(), State: crawl.Known}
		if i < places {
			all[i].State, inside[int64(i)] = crawl.Active, true
		}
	}
	first := slices.Clone(all)
	moves, evictions := map[int64]int{}, 0
	for range days {
		var in, out []Candidate
		for i := range all {
			all[i].Since += day
			all[i].Importance = first[i].Importance * (1 + 0.1*(random()-0.5)) // noise of 5 % either way
			if inside[all[i].ID] {
				in = append(in, all[i])
			} else {
				out = append(out, all[i])
			}
		}
		swaps := Replace(out, in, ReplaceParams{Margin: 0.25, Tenure: 2 * day, Most: most})
		if len(swaps) > most {
			t.Fatalf("%d evictions on one day", len(swaps))
		}
		for _, s := range swaps {
			evictions++
			moves[s.In]++
			moves[s.Out]++
			all[s.In].State, all[s.In].Since, all[s.Out].Since = crawl.Active, 0, 0
			inside[s.In] = true
			delete(inside, s.Out)
		}
	}
	slices.SortFunc(first, func(a, b Candidate) int { return cmp.Compare(b.Importance, a.Importance) })
	best := 0
	for _, c := range first[:places] {
		if inside[c.ID] {
			best++
		}
	}
	for id, n := range moves {
		if n > 1 {
			t.Errorf("page %d moved %d times", id, n)
		}
	}
	if evictions > places || best < places*6/10 {
		t.Errorf("%d evictions; %d of the %d best pages are in", evictions, best, places)
	}
	t.Logf("%d evictions in %d days; %d of the %d best pages are in", evictions, days, best, places)
}

func TestEmptyPagesGoFirst(t *testing.T) {
	t.Parallel()
	inside := []Candidate{
		{ID: 11, Importance: 1, State: crawl.Active}, {ID: 12, Importance: 2, State: crawl.Gone}, {ID: 13, Importance: 0.9, State: crawl.Failing},
	}
	outside := []Candidate{{ID: 1, Importance: 1, State: crawl.Known}, {ID: 2, Importance: 2, State: crawl.Gone}}
	swaps := Replace(outside, inside, ReplaceParams{Margin: 0.25, Most: 10})
	if len(swaps) != 1 || swaps[0].In != 1 || swaps[0].Out != 12 {
		t.Fatalf("swaps %+v, want page 1 for page 12", swaps)
	}
	if words := Words(swaps[0].Reason); !strings.Contains(words, "worth 1.00 took the place of one worth 0.50") {
		t.Error(words)
	}
}

// A page that a person names takes the place of the least page of a full collection,
// ranked or not.
func TestSeedsComeIn(t *testing.T) {
	t.Parallel()
	inside := []Candidate{{ID: 11, Importance: 3, State: crawl.Active}, {ID: 12, Importance: 2, State: crawl.Active}, {ID: 13, Seed: true, State: crawl.Active}}
	outside := []Candidate{{ID: 1, Importance: 2.1, State: crawl.Known}, {ID: 2, Seed: true, State: crawl.Known}}
	swaps := Replace(outside, inside, ReplaceParams{Margin: 0.25, Most: 10})
	if len(swaps) != 1 || swaps[0].In != 2 || swaps[0].Out != 12 {
		t.Errorf("swaps %+v, want page 2 for page 12", swaps)
	}
}

func TestShortlist(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := drawCandidates(t, 0, living(), "candidates")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		least := rapid.Bool().Draw(t, "least")
		list := NewShortlist(n, least)
		for _, c := range all {
			list.Add(c)
		}
		slices.SortFunc(all, better)
		if least {
			slices.Reverse(all)
		}
		if got, want := fmt.Sprint(list.Candidates()), fmt.Sprint(all[:min(n, len(all))]); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
	})
}
