package storetest

import "slices"

func backlinkCases() []collectionCase {
	return []collectionCase{{"PagesThatLink", pagesThatLink}}
}

// Back-links come in the order of their pages, part by part, those of other pages do not.
func pagesThatLink(c *collection) {
	c.open()
	pages := c.known(1, 6)
	target := c.url(2, 0, 2)
	for _, from := range []int{4, 0, 3, 1} {
		c.register(pages[from].PageID, target, c.url(1, from, 1))
	}
	c.register(pages[5].PageID, c.url(2, 1, 2))
	to := c.find(target.URL)
	if to.Backlinks != 4 {
		c.Fatalf("%d back-links are counted, want 4", to.Backlinks)
	}
	var all []int64
	for _, limit := range []int{3, 3, 3} {
		after := int64(0)
		if len(all) > 0 {
			after = all[len(all)-1]
		}
		part, err := c.s.Backlinks(c.ctx, to.PageID, after, limit)
		c.check(err)
		all = append(all, ids(part)...)
	}
	wanted := []int64{pages[0].PageID, pages[1].PageID, pages[3].PageID, pages[4].PageID}
	slices.Sort(wanted)
	if !slices.Equal(all, wanted) {
		c.Fatalf("linked from %v, want %v", all, wanted)
	}
	none, err := c.s.Backlinks(c.ctx, pages[0].PageID, 0, 10)
	c.check(err)
	want(c, "pages that link to one that none links to", len(none), 0)
}
