package schedule

// Constants of FRMax.
const (
	// FirstMaxFR is max_fr of a page that was never compared (Bouras et al., table 1,
	// fr_max of both seeds).
	FirstMaxFR = 2
	// FRLimit is how many of the last comparisons are examined: the 20 records in the
	// example of Bouras et al., §3.2. max_fr never exceeds the larger of FRLimit and
	// its first value.
	FRLimit = 20
)

// FRMax adapts a page's interval to how often its content changed in the last visits
// (Bouras et al., §3.2). The interval is max_fr rounds.
//
// Where the paper is silent or contradicts itself, the reading is the one that
// reproduces its numbers:
//
//   - The paper calls fr_max a frequency. It is a period in rounds: a larger value means
//     fewer visits (as in "every two days and not three").
//   - A record is a comparison of two copies. A page's first copy is no record: "9 of the
//     last 10 crawls" takes ten comparisons.
//   - The rule is applied after every comparison, from the first one on. The paper's
//     table 2 applies it once, after ten. As a result a new page that does not change is
//     visited a little more often at first (2, 1, 1, 2, 3, … rounds), when there is most
//     to learn.
//   - The paper averages x/counter, in visits, with max_fr, in rounds. This is kept: the
//     fixed point is near 1/√λ, the square-root law that minimises the delay of changes.
//   - fr, which counts rounds down, is the page's timer: the next visit is max_fr rounds
//     away.
//   - "Changed" is the verdict of change detection. The paper compares sizes, which
//     misses edits of equal length.
//
// [FRMax.Select] and [SecondMaxFR] take into account the pages that a page links to.
type FRMax struct{}

// Name implements Policy.
func (FRMax) Name() string { return "frmax" }

// About implements Policy.
func (FRMax) About() string { return "the rule of Bouras et al." }

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

// NextMaxFR returns the period of a page in rounds, ≥ 1, by the rule of Bouras et al.,
// §3.2. Its arguments are the period so far (maxfr ≥ 1), the number of records (≥ 0),
// how many of the last ones are examined (limit ≥ 1), and how many of those are changes
// (counter, 0 to min(records, limit)):
//
//	x = min(records, limit)
//	b = x             if counter = 0
//	b = x / counter   otherwise
//	⌊(maxfr + b) / 2⌋
//
// The paper's "lower bound" is taken as the floor. The least result is 1; the paper
// leaves it open. Without a minimum, a page with neither records nor a period would be
// visited in every round for ever.
func NextMaxFR(maxfr, records, limit, counter int) int {
	x := min(records, limit)
	// ⌊(maxfr + x/c) / 2⌋ in whole numbers, and one change counts as none does.
	c := max(counter, 1)
	return max(1, (maxfr*c+x)/(2*c))
}

// SecondMaxFR returns the period of a page whose internal pages change more than
// itself: it is visited more often (the second formula of Bouras et al., §5). share is
// the share of the internal pages that changed, 0 to 1. The result is ⌊maxfr (1 +
// (1−share)) / 2⌋, and at least 1.
//
// The paper prints [fr_max + (share × fr_max)]/2. For its example (6, 89 %) that gives
// 5 and not the 3 it states, and it rises with the share, against its purpose. With
// 1−share it gives 3.33 and falls. The max_fr of the first rule is kept, and the
// formula is applied to it at each visit.
func SecondMaxFR(maxfr int, share float64) int {
	return max(1, int(float64(maxfr)*(2-share)/2))
}

func evidence(x, counter int) ground {
	if x == 0 {
		return because(CodeFirst)
	}
	return because(CodeChanges, float64(counter), float64(x))
}
