package trap

import "strings"

// What copies have led to. A list of pictures without captions says the same on each of its
// pages, and so does a list whose entries are left out of the main text. Yet each of its pages
// was the first to lead to others, which are no copies.

// yields sorts out the copies among pages of a host by what they were the first to lead to, of
// another kind than their own: found holds those that led to a page that is no copy, open those
// that led to pages about which nothing is known yet.
func yields(pages []Page) (found, open map[int64]bool) {
	nodes := make([]string, len(pages))
	kinds := map[string]*count{}
	copied := map[int64]string{} // the kinds of copies, by id
	for i, p := range pages {
		nodes[i] = strings.Join(shapes(p.URL), "/")
		if kinds[nodes[i]] == nil {
			kinds[nodes[i]] = &count{}
		}
		kinds[nodes[i]].add(p)
		if p.Content && p.Copy && p.ID != 0 {
			copied[p.ID] = nodes[i]
		}
	}
	found, open = map[int64]bool{}, map[int64]bool{}
	for i, p := range pages {
		own, isCopy := copied[p.Finder]
		if !isCopy || own == nodes[i] {
			continue
		}
		switch kind := kinds[nodes[i]]; {
		case p.Content && !p.Copy, p.Waits && float64(kind.copies) < minShare*float64(kind.contents):
			found[p.Finder] = true
		case p.Waits && kind.contents == 0:
			open[p.Finder] = true
		}
	}
	return found, open
}
