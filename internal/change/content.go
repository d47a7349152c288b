package change

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
)

const (
	// MinShingles is how many shingles a main text must have to be distinguished from
	// others by its words. Shorter ones ("Loading…", "Page not found") are on many
	// pages that otherwise have nothing in common.
	MinShingles = 16
	// SketchKeys is how many of a sketch's values are keys; see Content.Keys.
	SketchKeys = 8
)

// Content holds the values by which pages of different URLs are compared.
type Content struct {
	// Exact is the same number for the same content: for the same main text or, if
	// that has fewer than MinShingles shingles, for the same bytes. Among a million
	// contents two others share it with a probability of 3·10⁻⁸. 0: not known.
	Exact uint64
	// Sketch is of the main text.
	Sketch Sketch
}

// ContentOf returns the content that was fetched.
func ContentOf(d Digests) Content {
	c := Content{Sketch: d.Sketch}
	switch {
	case c.tellable() && d.Text != "":
		c.Exact = exactKey("text " + d.Text)
	case d.Raw != "":
		c.Exact = exactKey("body " + d.Raw)
	}
	return c
}

// exactKey is stored; never change it.
func exactKey(text string) uint64 {
	sum := sha256.Sum256([]byte(text))
	return binary.BigEndian.Uint64(sum[:])
}

// tellable reports whether the text can be distinguished from others by its words.
func (c Content) tellable() bool { return len(c.Sketch) >= MinShingles }

// Keys returns the numbers under which an index has the content: two contents are
// compared only if they share one. The first is Exact, the others the smallest
// SketchKeys values of the sketch, which are in the sketch of a near-duplicate
// too unless they are the few that differ. (Comparing the n-th smallest value of
// one sketch with the n-th of another would not work: one more value moves all that
// follow.)
//
// Of the pairs with resemblance r at most 2·((1−r)/(1+r))⁸ have no common key:
// 0.03 % at r = 0.5. Where half of each page's shingles are on all pages of its
// site, so that only the others distinguish pages, it is 0.5 % at 0.98 and 2.4 % at
// 0.8.
func (c Content) Keys() []uint64 {
	var keys []uint64
	if c.Exact != 0 {
		keys = append(keys, c.Exact)
	}
	if c.tellable() {
		keys = append(keys, c.Sketch[:SketchKeys]...)
	}
	return keys
}

// Likely orders pages by how likely they have the wanted content, and returns at
// most limit of them. found has, for each of the content's keys, the pages that
// share it. Each of these gets the key's weight, which is less the more pages there
// are: a key of a whole site says little. Among equals the oldest page, that of the
// lowest id, comes first.
func Likely(found [][]int64, limit int) []int64 {
	weights := map[int64]float64{}
	for _, pages := range found {
		for _, page := range pages {
			weights[page] += 1 / float64(len(pages))
		}
	}
	all := slices.SortedFunc(maps.Keys(weights), func(a, b int64) int {
		return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	return all[:min(limit, len(all))]
}

// Candidate is a page that may have the wanted content.
type Candidate struct {
	Page int64
	Content
	// Member: the page is known to be the near-duplicate of another.
	Member bool
	Claim  Claim
}

// Match says whose duplicate a page is.
type Match struct {
	Page        int64
	Exact       bool
	Resemblance float64 // of the two contents, in (0, 1]; 1 if they are the same
	Claim       Claim
}

// before orders matches: the same content first, then by claim.
func (m Match) before(other Match) bool {
	if m.Exact != other.Exact {
		return m.Exact
	}
	return cmp.Or(m.Claim.Compare(other.Claim), cmp.Compare(m.Page, other.Page)) < 0
}

// Match finds, of the candidates that have the same content, the one with the best claim
// or, if there are none, of those whose text resembles the content's by at least the
// threshold (0 stands for DefaultThreshold). A near-duplicate of another page is a match
// only if the content is the same, so that each page of a cluster resembles the one that
// stands for it, and not only some other page of the cluster.
func (c Content) Match(candidates []Candidate, threshold float64) (Match, bool) {
	var best Match
	for _, other := range candidates {
		m := c.Compare(other)
		if !m.Exact && (other.Member || m.Resemblance < Rule{Threshold: threshold}.threshold()) {
			continue
		}
		if best.Page == 0 || m.before(best) {
			best = m
		}
	}
	return best, best.Page != 0
}

// Compare compares the content with a candidate; a resemblance of 0 is none.
func (c Content) Compare(other Candidate) Match {
	m := Match{Page: other.Page, Claim: other.Claim}
	switch {
	case c.Exact != 0 && c.Exact == other.Exact:
		m.Exact, m.Resemblance = true, 1
	case c.tellable() && other.tellable():
		m.Resemblance = c.Sketch.Resemblance(other.Sketch)
	}
	return m
}
