package sitemap

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Reasons why a date moves no visit. They are stored; never change them.
const (
	SkipSoon      = "due soon anyway"
	SkipUntrusted = "source not trusted"
	SkipMany      = "too many at once"
	SkipMoved     = "moved already"
)

const (
	// leastTrust is the share of hints that found a change below which a source is
	// not trusted. A visit that a policy plans finds one about as often; a hint
	// should be better than none.
	leastTrust = 1.0 / 3
	// Of an untrusted source, one hint in oneOf is followed: it may be better now.
	oneOf = 10
	// pulledShare is the share of a list's pages that may be moved at a time;
	// pulledLeast and pulledMost are the least and the most of these. A list that lies
	// about all its pages must not spend the visits that the others need.
	pulledShare = 0.05
	pulledLeast = 4
	pulledMost  = 500
)

// Record is how often visits that a source hinted at found a change, and how often
// not.
type Record struct{ Hits, Misses int }

// Trusted reports whether the source's hints are followed: while the expected share
// of changes, (hits + 1)/(hits + misses + 2) by Laplace's rule, is at least a
// third. A new source is trusted; two misses at the start end it.
func (r Record) Trusted() bool {
	return float64(r.Hits+1)/float64(r.Hits+r.Misses+2) >= leastTrust
}

// Known is a page that was visited before the date that a list gives it.
type Known struct {
	PageID   int64
	Visit    int // number of its last visit
	Modified time.Time
	// LastAt is when that was, NextAt when the next is planned.
	LastAt, NextAt time.Time
	// Min is the least time between two visits.
	Min time.Duration
	// Moved: the list has moved the next visit already.
	Moved bool
}

// Hint is a page to be visited at another time.
type Hint struct {
	Known
	Due time.Time
}

// Choose decides which of the pages that a list reports as changed are visited sooner,
// and counts the others by reason. listed is the number of the list's entries. A page
// is never visited within Min of its last visit, nor before its date, which may be ahead of
// our clock: it would be outdated again after that visit. At most one in twenty of the
// list's pages (but four in any case, and five hundred at most) wait for a visit that
// the list has moved, those with the latest dates.
func Choose(known []Known, r Record, listed int, now time.Time) (hints []Hint, skipped map[string]int) {
	skipped = map[string]int{}
	for _, k := range known {
		h := Hint{k, later(later(now, k.LastAt.Add(k.Min)), k.Modified)}
		switch {
		case k.Moved:
			skipped[SkipMoved]++
		case !h.Due.Before(k.NextAt):
			skipped[SkipSoon]++
		case !r.Trusted() && !k.proves():
			skipped[SkipUntrusted]++
		default:
			hints = append(hints, h)
		}
	}
	slices.SortFunc(hints, func(a, b Hint) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(a.PageID, b.PageID))
	})
	most := min(max(int(math.Ceil(pulledShare*float64(listed))), pulledLeast), pulledMost)
	most = max(0, most-skipped[SkipMoved])
	if n := len(hints) - most; n > 0 {
		skipped[SkipMany] = n
		hints = hints[:most]
	}
	return hints, skipped
}

// proves chooses the hints by which an untrusted source can prove itself: one in
// ten, which the site cannot foresee.
func (k Known) proves() bool {
	// The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
	z := uint64(k.PageID)*0x9E3779B97F4A7C15 + uint64(k.Visit)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return (z^z>>31)%oneOf == 0
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
