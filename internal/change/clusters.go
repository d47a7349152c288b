package change

import (
	"iter"
	"maps"
	"slices"
)

// Clusters are sets of pages that are joined by pairs, directly or by way of
// others (union-find). The oldest page of a set, that of the lowest id, stands for
// it. The zero value has every page in a set of its own. Its memory is bounded by
// the number of pages that were joined.
type Clusters struct {
	parent  map[int64]int64   // towards the oldest; itself for that one
	nearest map[int64]float64 // the highest resemblance to another page
}

// Join puts two pages that resemble each other into one set.
func (c *Clusters) Join(a, b int64, resemblance float64) {
	if c.parent == nil {
		c.parent, c.nearest = map[int64]int64{}, map[int64]float64{}
	}
	for _, page := range []int64{a, b} {
		if _, ok := c.parent[page]; !ok {
			c.parent[page] = page
		}
		c.nearest[page] = max(c.nearest[page], resemblance)
	}
	a, b = c.Oldest(a), c.Oldest(b)
	c.parent[max(a, b)] = min(a, b)
}

// Oldest returns the page that stands for the page's set.
func (c *Clusters) Oldest(page int64) int64 {
	for {
		parent, ok := c.parent[page]
		if !ok || parent == page {
			return page
		}
		if next := c.parent[parent]; next != parent {
			c.parent[page] = next // the way is shorter next time
		}
		page = parent
	}
}

// Member is a page of a set, other than the one that stands for it.
type Member struct {
	Page, Of int64
	// Resemblance is the highest to any page of the set, which need not be Of: two
	// pages of a set may resemble each other by little.
	Resemblance float64
}

// Members yields every page for which another one stands, in the order of ids.
func (c *Clusters) Members() iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for _, page := range slices.Sorted(maps.Keys(c.parent)) {
			if of := c.Oldest(page); of != page && !yield(Member{page, of, c.nearest[page]}) {
				return
			}
		}
	}
}
