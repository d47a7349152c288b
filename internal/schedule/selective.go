package schedule

import "recrawl/internal/crawl"

// Constants of the selective rule of Bouras et al., §3.3.
const (
	// firstSelective is the share of changed internal pages at which a page is crawled:
	// the paper's 40 %.
	firstSelective = 0.4
	// The share moves by half of selectiveStep per decision, between leastSelective and
	// mostSelective. The paper says that it is recalculated, and gives no numbers.
	selectiveStep                 = 0.05
	leastSelective, mostSelective = 0.2, 0.6
)

// Internal describes a page's internal pages, the pages of its site that it links to,
// since its last visit: how many were compared, and how many of those had changed.
type Internal struct {
	Compared, Changed int
}

func (i Internal) share() float64 {
	if i.Compared <= 0 {
		return 0
	}
	return float64(i.Changed) / float64(i.Compared)
}

// Select decides, by the selective rule of Bouras et al., §3.3, whether a page that is
// due is visited. A page that has not changed is visited if 40 % of its internal pages
// have, and skipped otherwise. Each page adapts the share for itself. If the rule did
// not decide, why is nil.
//
// The paper asks whether the page has changed now, which only a visit could find out;
// here the last comparison decides. The paper does not say what ends a run of skips.
// Here a page is never skipped twice in a row, which matches the paper's example: its
// 28 % fewer downloads are those of the second page in one of two rounds, 718 of 2 ×
// (586+718). An unknown page is visited.
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

// NextSelective returns the next share of changed internal pages at which the rule
// visits a page: the share so far, moved by 0.05 (½ − useful) and kept within 0.2 and
// 0.6. useful says whether a visit that the rule made found a change. The paper's "in
// proportion to the number of pages that have changed or not, we increase or decrease
// the percentage respectively" leaves the sign open; here a rule that proves useful
// becomes easier to trigger.
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

// selected records what the selective rule must know next time. before is the belief
// on which it decided.
func (b Belief) selected(before Belief, seen Observation) Belief {
	b.Skipped = seen.Outcome == crawl.OutcomeSkipped
	triggered := before.Pairs > 0 && before.History&1 == 0 && !before.Skipped && seen.Internal.share() >= before.selective()
	if triggered && compares(seen.Outcome) {
		b.Selective = float32(NextSelective(before.selective(), seen.Outcome.Changed()))
	}
	return b
}
