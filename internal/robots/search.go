package robots

import (
	"math/bits"
	"sort"
	"strings"
)

// search looks for the first of many rules that match one spelling of a URL.
//
// Each pattern takes the leftmost place of its next piece; if that leads to no
// match, no other choice does. All patterns move over the URL together, from left
// to right: a pattern waits at its next piece until that is found, and is then due
// where the piece ends. So the cost does not multiply rules with bytes of the URL:
//
//   - a look at each rule's head and tail,
//   - at each byte of the URL one search among the distinct pieces and a walk over
//     at most log2(pieces) + 1 paths (see pieces),
//   - three steps for each piece that is found.
//
// Comparing strings is one step for each 64 bytes.
type search struct {
	file *File
	url  string
	// best is the first of the rules that are known to match, nil if none is.
	best *rule
	// runs are the patterns under way.
	runs []run
	// waiting has, by slot, the first of the runs that wait for that piece, and due,
	// by place, the first of those that go on from there; -1 is none. marked are the
	// slots that have waiting runs.
	waiting, due []int32
	marked       bitset
	// open counts the runs that wait or are due; standing counts those that wait.
	open, standing int
	// steps counts the work, for tests of its bound.
	steps int
}

// run is a pattern whose frame fits and whose pieces are being found.
type run struct {
	rule    *rule
	pattern *pattern
	next    int32 // the piece it needs, as an index of File.sequence
	link    int32 // the run behind it in its list
}

// consider takes up rules, in order of precedence, by one of their patterns,
// which may be nil. It leaves out rules that cannot precede the best one known.
func (s *search) consider(rules []*rule, of func(*rule) *pattern) {
	for _, r := range rules {
		if s.best != nil && !r.before(s.best) {
			return
		}
		s.steps++
		p := of(r)
		if p == nil {
			continue
		}
		s.steps += stride(len(p.head)+len(p.tail), len(s.url))
		switch {
		case !p.frames(s.url):
		case p.from == p.to:
			s.best = r
			return
		default:
			s.runs = append(s.runs, run{rule: r, pattern: p, next: p.from})
		}
	}
}

// finish brings all runs to their ends.
func (s *search) finish() {
	if len(s.runs) == 0 {
		return
	}
	s.waiting, s.due = none(len(s.file.pieces.text)), none(len(s.url))
	s.marked = make(bitset, len(s.waiting)/64+1)
	s.open = len(s.runs)
	for i := range s.runs {
		s.resume(int32(i), len(s.runs[i].pattern.head))
	}
	for at := 0; s.open > 0 && at < len(s.url); at++ {
		s.steps++
		for i := s.due[at]; i >= 0; {
			link := s.runs[i].link
			s.wait(i)
			i = link
		}
		if s.standing > 0 {
			s.find(at)
		}
	}
}

// none returns n empty lists.
func none(n int) []int32 {
	lists := make([]int32, n)
	for i := range lists {
		lists[i] = -1
	}
	return lists
}

// resume lets a run go on after the piece that it has found, which ends at a place:
// it has matched, is due there, or is over.
func (s *search) resume(i int32, at int) {
	s.steps++
	r := &s.runs[i]
	left := len(s.url) - len(r.pattern.tail) - at
	switch {
	case left < 0, s.best != nil && !r.rule.before(s.best):
		s.open--
	case r.next == r.pattern.to:
		s.best = r.rule
		s.open--
	case left < int(s.file.pieces.size[s.file.sequence[r.next]]):
		s.open--
	default:
		r.link, s.due[at] = s.due[at], i
	}
}

// wait lets a run wait for its next piece.
func (s *search) wait(i int32) {
	s.steps++
	r := &s.runs[i]
	slot := s.file.sequence[r.next]
	r.link, s.waiting[slot] = s.waiting[slot], i
	s.marked.set(slot)
	s.standing++
}

// find moves all runs that wait for a piece which begins at a place.
func (s *search) find(at int) {
	p, rest := &s.file.pieces, s.url[at:]
	below := p.below(rest, &s.steps)
	if below < 0 {
		return
	}
	matched := false // if a piece is there, the pieces above it are there too
	for slot := p.slot[below]; slot >= 0; {
		top := p.top[slot]
		if !matched {
			there := sort.Search(int(slot-top)+1, func(i int) bool {
				piece := p.text[below][:p.size[top+int32(i)]]
				s.steps += stride(len(piece), len(rest))
				return !strings.HasPrefix(rest, piece)
			})
			matched = there > 0
			slot = top + int32(there) - 1
		}
		for slot = s.last(top, slot); slot >= top; slot = s.last(top, slot-1) {
			s.found(slot, at)
		}
		slot = p.above[top]
	}
}

// found lets the runs go on that wait for a piece, which begins at a place.
func (s *search) found(slot int32, at int) {
	end := at + int(s.file.pieces.size[slot])
	i := s.waiting[slot]
	s.waiting[slot] = -1
	s.marked.clear(slot)
	for i >= 0 {
		r := &s.runs[i]
		link := r.link
		r.next++
		s.standing--
		s.resume(i, end)
		i = link
	}
}

// last returns the last marked slot from low to high, one before low if there is
// none.
func (s *search) last(low, high int32) int32 {
	for high >= low {
		s.steps++
		if word := s.marked[high>>6] << (63 - high&63); word != 0 {
			return high - int32(bits.LeadingZeros64(word))
		}
		high = high&^63 - 1
	}
	return low - 1
}

// bitset is a set of slots.
type bitset []uint64

func (b bitset) set(slot int32)   { b[slot>>6] |= 1 << (slot & 63) }
func (b bitset) clear(slot int32) { b[slot>>6] &^= 1 << (slot & 63) }
