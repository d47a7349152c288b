package change

import (
	"cmp"
	"slices"
)

const (
	// minMirrored is how many contents two hosts must share to be called mirrors.
	minMirrored = 10
	// maxHosts is the most hosts that may have a content for it to be evidence about
	// two of them. A parking page or a licence is on thousands.
	maxHosts = 16
)

// Mirrors counts which hosts have the same contents (Sizov, slides 5, "Mirrors").
// Contents are counted, not pages: a thousand pages that say "not found" on each
// of two hosts are one content that they share. The zero value has counted none.
type Mirrors struct {
	contents map[int64]int // by host
	shared   map[[2]int64]int
}

// Mirror is a pair of hosts of which one has most of the other's contents.
type Mirror struct {
	A, B   int64 // ids of hosts, A < B
	Shared int   // contents that both have
	OfA    int   // contents that A has
	OfB    int
}

// Add counts one content and its hosts, in any order and possibly repeated. A
// content of only one host counts too.
func (m *Mirrors) Add(hosts []int64) {
	if m.contents == nil {
		m.contents, m.shared = map[int64]int{}, map[[2]int64]int{}
	}
	hosts = slices.Compact(slices.Sorted(slices.Values(hosts)))
	for i, b := range hosts {
		m.contents[b]++
		for _, a := range hosts[:i] {
			if len(hosts) <= maxHosts {
				m.shared[[2]int64{a, b}]++
			}
		}
	}
}

// Pairs returns the hosts that share at least half of the contents of the one with
// fewer, and at least ten, those that share most first.
func (m *Mirrors) Pairs() []Mirror {
	var all []Mirror
	for pair, shared := range m.shared {
		p := Mirror{A: pair[0], B: pair[1], Shared: shared, OfA: m.contents[pair[0]], OfB: m.contents[pair[1]]}
		if shared >= minMirrored && 2*shared >= min(p.OfA, p.OfB) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(x, y Mirror) int {
		return cmp.Or(cmp.Compare(y.Shared, x.Shared), cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B))
	})
	return all
}
