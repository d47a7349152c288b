package schedule

import "recrawl/internal/crawl"

// Constants of the selective rule of Bouras et al., §3.3.
const (
	// firstSelective is the share of changed internal pages that makes it crawl a
	// page: the paper's 40 %.
	firstSelective = 0.4
	// The share moves by at most half of selectiveStep at a turn, within
	// leastSelective and mostSelective. The paper says that it is recalculated and
	// gives no numbers.
	selectiveStep                 = 0.05
	leastSelective, mostSelective = 0.2, 0.6
)

// Internal is what is known of a page's internal pages (those of its site that it
// links to) since it was last visited: how many were compared, and how many of
// these had changed.
type Internal struct {
	Compared, Changed int
}

func (i Internal) share() float64 {
	if i.Compared <= 0 {
		return 0
	}
	return float64(i.Changed) / float64(i.Compared)
}

// Select is the selective rule of Bouras et al., §3.3, for a page whose turn it
// is: a page that has not changed is visited if 40 % of its internal pages have,
// and skipped otherwise. The share is adapted by each page for itself.
//
// The paper decides by whether the page has changed now, which cannot be known
// before it was visited; here the last comparison decides. It is silent on pages
// that would be skipped for ever; here the turn after a skipped one is a visit,
// as in the paper's example, where 28 % fewer downloads are those of the second
// page in one of two rounds: 718 of 2 × (586+718). A page that nothing is known of
// is visited.
func (FRMax) Select(page Page, internal Internal) (visit bool, why []crawl.Reason) {
	b := page.Belief
	share, at := internal.share(), b.selective()
	switch {
	case b.Pairs == 0 || b.History&1 == 1 || b.Skipped || internal.Compared <= 0:
		return true, nil
	default:
		return share >= at, []crawl.Reason{because(CodeSelective, share, at).reason()}
	}
}

// NextSelective adapts the share of changed internal pages that makes the rule
// visit a page, by whether a visit that it made was useful, that is, found a
// change: by 0.05 (½ − useful) within 0.2 and 0.6. The paper's "in proportion to
// the number of pages that have changed or not, we increase or decrease the
// percentage respectively" leaves the sign open; a rule that proves itself is
// made easier to trigger.
func NextSelective(share float64, useful bool) float64 {
	move := selectiveStep / 2
	if useful {
		move = -move
	}
	return min(max(share+move, leastSelective), mostSelective)
}

func (b Belief) selective() float64 {
	if b.Selective == 0 {
		return firstSelective
	}
	return float64(b.Selective)
}

// selected notes what the selective rule has to know next time: before is the
// belief that it decided by.
func (b Belief) selected(before Belief, seen Observation) Belief {
	b.Skipped = seen.Outcome == crawl.OutcomeSkipped
	triggered := before.Pairs > 0 && before.History&1 == 0 && !before.Skipped && seen.Internal.share() >= before.selective()
	if triggered && compares(seen.Outcome) {
		b.Selective = float32(NextSelective(before.selective(), seen.Outcome.Changed()))
	}
	return b
}
