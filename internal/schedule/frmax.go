package schedule

// Constants of FRMax.
const (
	// FirstMaxFR is max_fr of a page that has not been compared yet: Bouras et al.,
	// table 1, fr_max of both seeds.
	FirstMaxFR = 2
	// FRLimit is how many of the last comparisons are examined: Bouras et al., §3.2,
	// the example's 20 records. It also bounds max_fr, which never exceeds the
	// larger of FRLimit and its first value.
	FRLimit = 20
)

// FRMax adapts a page's interval to how often its content changed in the last
// visits: Bouras et al., §3.2. The interval is max_fr rounds.
//
// Where the paper is silent or contradicts itself it is read so that its
// numbers come out:
//
//   - fr_max is called a frequency; it is a period in rounds, and a larger value
//     means fewer visits (as in "every two days and not three").
//   - A record is a comparison of two copies, so a page's first copy is no record:
//     "9 of the last 10 crawls" takes ten comparisons.
//   - The rule is applied after each comparison from the first on; the paper's
//     table 2 applies it once after ten. The price is that a new page that has not
//     changed is first visited a little more often (2, 1, 1, 2, 3, … rounds),
//     which is when there is most to learn.
//   - The paper averages x/counter, in visits, with max_fr, in rounds. That is kept:
//     its fixed point is near 1/√λ, the square-root law that minimises the delay
//     of changes.
//   - fr, the count-down of rounds, is the page's timer here: the next visit is
//     exactly max_fr rounds away.
//   - "Changed" is the verdict of change detection, not a difference of size, which
//     misses edits of equal length.
//
// What the pages that a page links to do is read by [FRMax.Select] and
// [SecondMaxFR].
type FRMax struct{}

// Name implements Policy.
func (FRMax) Name() string { return "frmax" }

// Next implements Policy.
func (FRMax) Next(page Page, seen Observation, p Parameters) Decision {
	belief := page.Belief.observe(seen, p).selected(page.Belief, seen)
	if belief.MaxFR == 0 {
		belief.MaxFR = FirstMaxFR
	}
	x, counter := belief.last(FRLimit)
	if compares(seen.Outcome) {
		belief.MaxFR = NextMaxFR(belief.MaxFR, belief.Pairs, FRLimit, counter)
	}
	rounds, internal := belief.MaxFR, ground{}
	share, at := seen.Internal.share(), page.Belief.selective()
	// Only a page that seldom changes itself is visited for the sake of others, as
	// the second page of the paper's table 2 is and the first is not.
	if share >= at && x > 0 && float64(counter) < at*float64(x) {
		if rounds = SecondMaxFR(belief.MaxFR, share); rounds < belief.MaxFR {
			internal = because(CodeInternal, share, float64(belief.MaxFR))
		}
	}
	return p.decide(page, belief, times(rounds, p.Round),
		evidence(x, counter), internal, because(CodeRounds, float64(rounds), p.Round.Seconds()))
}

// NextMaxFR is the rule of Bouras et al., §3.2: the period of a page in rounds,
// ≥ 1, from its period so far (maxfr ≥ 1), the number of records (≥ 0), how many
// of the last ones are examined (limit ≥ 1) and how many of those are changes
// (counter, 0 to min(records, limit)):
//
//	x = min(records, limit)
//	b = x             if counter = 0
//	b = x / counter   otherwise
//	⌊(maxfr + b) / 2⌋
//
// The paper's "lower bound" is the floor. The least result is 1, which the paper
// leaves open: without it a page with neither records nor period would be
// visited in every round and never leave it.
func NextMaxFR(maxfr, records, limit, counter int) int {
	x := min(records, limit)
	// ⌊(maxfr + x/c) / 2⌋ in whole numbers, and one change counts as none does.
	c := max(counter, 1)
	return max(1, (maxfr*c+x)/(2*c))
}

// SecondMaxFR is the second formula of Bouras et al., §5: a page whose internal
// pages change more than itself is visited more often. share is the share of
// them that changed, 0 to 1. It is ⌊maxfr (1 + (1−share)) / 2⌋ and at least 1.
//
// The paper prints [fr_max + (share × fr_max)]/2, which for its example (6, 89 %)
// gives 5 and not the 3 it states, and rises with the share, against its purpose.
// With 1−share it gives 3.33 and falls. The first rule's max_fr is not replaced:
// the formula applies to it anew at each visit.
func SecondMaxFR(maxfr int, share float64) int {
	return max(1, int(float64(maxfr)*(2-share)/2))
}

func evidence(x, counter int) ground {
	if x == 0 {
		return because(CodeFirst)
	}
	return because(CodeChanges, float64(counter), float64(x))
}
