package rank

import "math"

// Bounds of an importance, so that no page takes all visits or none: they matter
// only for graphs designed to reach them.
const (
	LeastImportance = 1. / 16
	MostImportance  = 16
)

// Importance blends the figures of pages into one number each, in the order of the
// arguments: half of it is log2(2 + h) for the h hosts that link to the page, its own
// included, and half log2(1 + r) for its PageRank r of mean 1, each divided by its
// mean over all pages. Both grow by about a constant when their measure doubles:
// visits are divided by the root of a weight, and a page with a thousand times the
// PageRank of another is not worth thirty times its visits. The mean is 1 except for
// the effect of the bounds LeastImportance and MostImportance.
//
// Hosts are hard to forge, but distinguish pages of one site badly; PageRank does
// that, and is easily raised by creating many pages.
func Importance(ranks []float64, links []Backlinks) []float64 {
	out := make([]float64, len(ranks))
	var byHosts, byRank float64
	for i, r := range ranks {
		byHosts += hostsWorth(links[i])
		byRank += rankWorth(r)
	}
	n := float64(len(ranks))
	for i, r := range ranks {
		w := n / 2 * (hostsWorth(links[i])/byHosts + rankWorth(r)/byRank)
		out[i] = min(max(w, LeastImportance), MostImportance)
	}
	return out
}

func hostsWorth(b Backlinks) float64 { return math.Log2(2 + float64(b.hosts())) }

func rankWorth(r float64) float64 { return math.Log1p(max(r, 0)) / math.Ln2 }

// Priority orders the known pages of a host for admission, and the waiters in its
// line; higher comes first. A page of unknown importance, 0, stands at the level where
// it was found, in links from a seed: breadth first. One of importance w stands among
// those as if its level were 1/w²: an average page among those that seeds link to, one
// of half that importance at level 4. Seeds, at level 0, come before all others: a
// person named them. Only they have priority 0; all others are below it.
func Priority(level int, importance float64) float64 {
	switch {
	case level <= 0:
		return 0
	case importance <= 0:
		return -float64(level)
	}
	return -1 / (importance * importance)
}
