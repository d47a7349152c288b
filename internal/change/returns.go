package change

import (
	"recrawl/internal/crawl"
)

// Remembered is how many texts of a page are remembered, including the present one: a
// page that shows one of them again has not changed but returned. Real pages that flap
// do so between two or three texts (a help line with two wordings, dates in two time
// zones). A page that has had a dozen others since has not.
const Remembered = 12

// CodeReturned: the content is that of an earlier version. Numbers: version, and from,
// the version that it follows. It is stored; never change it.
const CodeReturned = "returned"

// Earlier is a content to which a return can be recognised.
type Earlier struct {
	Digests
	// Timeless is the second of CoreDigests, "" if it is not known or the text has no
	// clocks.
	Timeless string
	// Withheld: its body may not be kept.
	Withheld bool
}

// Return finds the content to which a page has returned, and its index; false if it is
// a new one. earlier are the contents before the last one, the latest first. same
// compares the text of one of them, and reports whether it differs from the next one
// only by noise; it is asked only about texts that differ by clocks.
//
// A content whose body may be kept is never taken for one whose body is not, nor the
// reverse. Of several that fit, one with the same links is taken before a later one.
func Return(next Earlier, earlier []Earlier, same func(i int) (bool, error)) (int, bool, error) {
	found := -1
	for i, e := range earlier[:min(len(earlier), Remembered-1)] {
		if !next.maybe(e) || found >= 0 && e.Links != next.Links {
			continue
		}
		if !next.equal(e) {
			if ok, err := same(i); err != nil || !ok {
				if err != nil {
					return 0, false, err
				}
				continue
			}
		}
		if found = i; e.Links == next.Links {
			break
		}
	}
	return max(found, 0), found >= 0, nil
}

// ReturnReason is the reason for a return to a version from another.
func ReturnReason(version, from int) crawl.Reason {
	return crawl.Reason{Code: CodeReturned, Num: map[string]float64{"version": float64(version), "from": float64(from)}}
}

// maybe reports whether a content may be the same as another.
func (c Earlier) maybe(other Earlier) bool {
	return c.Withheld == other.Withheld && (c.equal(other) || c.Timeless != "" && c.Timeless == other.Timeless)
}

// equal reports whether two contents are the same: by their texts or, if they have none,
// by their bytes.
func (c Earlier) equal(other Earlier) bool {
	if c.TextBytes == 0 || other.TextBytes == 0 {
		return c.TextBytes == other.TextBytes && c.Raw != "" && c.Raw == other.Raw
	}
	return c.Text != "" && c.Text == other.Text
}
