package schedule

import (
	"encoding/json"
	"math/bits"

	"recrawl/internal/crawl"
)

// window is how many comparisons a belief remembers. It is the width of
// Belief.History and not less than any policy's limit.
const window = 32

// Belief is what the policies remember of a page: a few numbers that are stored
// with the page. The zero Belief is that of a page that was never compared. All
// policies keep their memory in this one struct and leave each other's alone.
type Belief struct {
	// MaxFR is max_fr of Bouras et al., in rounds; 0 before the first decision of
	// FRMax.
	MaxFR int `json:"max_fr,omitempty"`
	// Pairs is the number of comparisons in History, 0 to 32.
	Pairs int `json:"pairs,omitempty"`
	// History has a bit for each of the last comparisons, the latest lowest: 1 is a
	// change.
	History uint32 `json:"history,omitempty"`
}

// DecodeBelief reads a stored belief. It cannot fail: what is empty, damaged or
// out of range is the belief of a fresh page, since what it says can be learned
// again, and fields of later versions are ignored.
func DecodeBelief(stored json.RawMessage) Belief {
	var b Belief
	if len(stored) == 0 || json.Unmarshal(stored, &b) != nil {
		return Belief{}
	}
	if b.Pairs < 0 || b.Pairs > window || b.MaxFR < 0 || b.MaxFR > FRLimit || b.History>>b.Pairs != 0 {
		return Belief{}
	}
	return b
}

// Encode returns the belief as it is stored.
func (b Belief) Encode() json.RawMessage {
	data, err := json.Marshal(b)
	if err != nil {
		panic("schedule: a belief of integers does not encode: " + err.Error())
	}
	return data
}

// observe adds a comparison, if the outcome was one.
func (b Belief) observe(o crawl.Outcome) Belief {
	if !compares(o) {
		return b
	}
	b.History <<= 1
	if o.Changed() {
		b.History |= 1
	}
	b.Pairs = min(b.Pairs+1, window)
	return b
}

// last returns how many of the last limit comparisons there are, and how many
// of them were changes.
func (b Belief) last(limit int) (pairs, changes int) {
	pairs = min(b.Pairs, limit)
	return pairs, bits.OnesCount32(b.History & (1<<pairs - 1))
}

// compares reports whether the visit compared two copies of the page. A page's
// first copy is evidence that it can be had, and of nothing else.
func compares(o crawl.Outcome) bool { return o.Observes() && o != crawl.OutcomeNew }
