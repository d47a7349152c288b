// Package changetest makes contents of pages that resemble those of a real
// collection in the properties that matter to the search for duplicates. Tests
// only.
package changetest

import (
	"math"
	"slices"

	"recrawl/internal/change"
)

// Corpus is a collection of pages, made page by page: the n-th is always the
// same. Pages come in families of Family that follow each other. In every second
// family all pages are variants of the first; in the others the pages are
// unrelated. Of every fourth family the second page is a copy of the first.
type Corpus struct {
	// Sites is the number of sites that the families are spread over.
	Sites int
	// Shingles is how many a page has, at least 256.
	Shingles int
	// Boilerplate is the part of them that is on all pages of the site.
	Boilerplate float64
	Family      int
	// Edit is the part of its own shingles by which each page of a family differs
	// from the first more than the page before it does.
	Edit float64
}

// Site is the site of a page, from 0 on.
func (c Corpus) Site(page int) int { return page / c.Family % c.Sites }

// Content is the content of a page, from 0 on.
func (c Corpus) Content(page int) change.Content {
	family, member := page/c.Family, page%c.Family
	if family%4 == 0 && member == 1 {
		page, member = page-1, 0
	}
	boilerplate := int(c.Boilerplate * float64(c.Shingles))
	own := c.Shingles - boilerplate
	edited := own
	if family%2 == 0 {
		edited = min(own, int(float64(member)*c.Edit*float64(own)))
	}
	// Of this many uniform values these are more than the smallest 128.
	limit := uint64(math.MaxUint64 / float64(c.Shingles) * 2 * change.SketchSize)
	if c.Shingles < 2*change.SketchSize {
		limit = math.MaxUint64
	}
	var least []uint64
	add := func(space, number, shingles int) {
		for i := range shingles {
			if v := hash(uint64(space)<<60 ^ uint64(number)<<24 ^ uint64(i)); v <= limit {
				least = append(least, v)
			}
		}
	}
	add(1, c.Site(page), boilerplate)
	add(2, family, own-edited)
	add(3, page, edited)
	slices.Sort(least)
	least = slices.Compact(least)
	return change.Content{Exact: hash(4<<60 ^ uint64(page)), Sketch: change.SketchOf(least[:min(len(least), change.SketchSize)])}
}

// hash is the finalizer of MurmurHash3, a different one from that of sketches.
func hash(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}
