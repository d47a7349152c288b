package schedule

// Constants of DeltaT, which the paper leaves open.
const (
	// deltaWindow is the number of last comparisons over which the degree of success is
	// taken.
	deltaWindow = 5
	// deltaUpper and deltaLower are p_g and p_l. While the degree of success is between
	// them, the refresh time stays.
	deltaUpper, deltaLower = 0.7, 0.3
)

// DeltaT moves a page's refresh time in proportion to how far its degree of success,
// the share of visits that found a change, is outside two bounds (Singhal, Dixit and
// Sharma, "Design of a priority based frequency regulated incremental crawler", eq. 1
// and 2). The refresh time starts at one round.
//
// Where the paper is silent or contradicts itself:
//
//   - p_c is the share of changes in the last 5 comparisons. If it were a number of
//     "hits", the refresh time would become negative at once.
//   - The paper gives no values for p_g and p_l; here they are 0.7 and 0.3. The new time
//     is 0 for p_c = 2p_g and negative beyond; p_g ≥ ½ rules that out.
//   - The time is clamped to the shortest and longest interval, since 0 could never
//     grow.
//   - The paper has one refresh time per site, but queues of URLs. Here each page has
//     its own.
//   - There are no queues; each page has a timer. In the paper the n-th queue holds
//     pages with times of (n−1)²·20 to n²·20 (eq. 3), and visits each at its upper end
//     (eq. 4, called a frequency). The table of eq. 3 prints 40 as the border of queues
//     2 and 3, which is 80.
type DeltaT struct{}

// Name implements Policy.
func (DeltaT) Name() string { return "deltat" }

// About implements Policy.
func (DeltaT) About() string { return "the rule of Singhal et al." }

// Next implements Policy.
func (DeltaT) Next(page Page, seen Observation, p Parameters) Decision {
	belief := page.Belief.observe(seen, p)
	from := float64(belief.Refresh)
	if from == 0 {
		from = days(p.Round)
	}
	x, counter := belief.last(deltaWindow)
	share, to := 0.0, from
	if x > 0 {
		share = float64(counter) / float64(x)
	}
	if compares(seen.Outcome) {
		to = NextRefresh(from, share, deltaUpper, deltaLower)
	}
	wanted := duration(to)
	belief.Refresh = float32(days(min(max(wanted, p.Floor()), p.Max)))
	return p.decide(page, belief, wanted, evidence(x, counter),
		because(CodeRefresh, wanted.Seconds(), share, duration(from).Seconds()))
}

// NextRefresh returns the refresh time that follows t, in t's unit, by eq. 1 and 2 of
// Singhal et al. as printed, for the degree of success pc and its bounds pg and pl:
//
//	t + Δt,  Δt = ((1 − pc/pg) u(pc−pg) + (1 − pc/pl) u(pl−pc)) t
//
// with u(x) = 1 for x > 0 and 0 otherwise. The result is between t and 2t for pc < pl,
// t between the bounds, less than t above pg, and 0 or negative for pc ≥ 2pg.
func NextRefresh(t, pc, pg, pl float64) float64 {
	switch {
	case pc > pg:
		return t + (1-pc/pg)*t
	case pc < pl:
		return t + (1-pc/pl)*t
	}
	return t
}
