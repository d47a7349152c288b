package change

// Clusters are sets of pages that are joined by pairs, directly or by way of
// others (union-find). The oldest page of a set, that of the lowest id, stands for
// it. The zero value has every page in a set of its own. Its memory is bounded by
// the number of pages that were joined.
type Clusters struct {
	parent map[int64]int64 // towards the oldest; itself for that one
}

// Join puts two pages that resemble each other into one set.
func (c *Clusters) Join(a, b int64) {
	if c.parent == nil {
		c.parent = map[int64]int64{}
	}
	for _, page := range []int64{a, b} {
		if _, ok := c.parent[page]; !ok {
			c.parent[page] = page
		}
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
