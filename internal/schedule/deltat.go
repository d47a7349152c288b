package schedule

// Constants of DeltaT, which the paper leaves open.
const (
	// deltaWindow is how many of the last comparisons the degree of success is the
	// share of changes of.
	deltaWindow = 5
	// deltaUpper and deltaLower are p_g and p_l, the bounds of the degree of success
	// between which the refresh time stays.
	deltaUpper, deltaLower = 0.7, 0.3
)

// DeltaT moves a page's refresh time by how far its degree of success, the share
// of visits that found a change, is from two bounds: Singhal, Dixit and Sharma,
// "Design of a priority based frequency regulated incremental crawler", eq. 1
// and 2. It starts at one round.
//
// Where the paper is silent or contradicts itself:
//
//   - p_c is a share, of the last 5 comparisons: as a number of "hits" it would
//     make the refresh time negative at once.
//   - p_g = 0.7 and p_l = 0.3 are not the paper's, which has none. The new time is
//     0 for p_c = 2p_g and negative beyond; p_g ≥ ½ keeps it from that.
//   - The time is clamped to the least and the most interval: 0 could never grow.
//   - "Any site" has one refresh time, but queues hold URLs: here each page has one.
//   - There are no queues: a page has its own timer, where the n-th queue holds
//     pages with times of (n−1)²·20 to n²·20 (eq. 3) and visits each at its upper
//     end (eq. 4, called a frequency). In the table of eq. 3 the bound between
//     queues 2 and 3 is printed 40 and is 80.
type DeltaT struct{}

// Name implements Policy.
func (DeltaT) Name() string { return "deltat" }

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

// NextRefresh is eq. 1 and 2 of Singhal et al. as printed: the refresh time after
// t (any unit) for the degree of success pc and its bounds pg and pl,
//
//	t + Δt,  Δt = ((1 − pc/pg) u(pc−pg) + (1 − pc/pl) u(pl−pc)) t,
//
// with u(x) 1 for x > 0 and 0 otherwise. It is between t and 2t for pc < pl, t
// between the bounds, and may be 0 or negative for pc ≥ 2pg.
func NextRefresh(t, pc, pg, pl float64) float64 {
	switch {
	case pc > pg:
		return t + (1-pc/pg)*t
	case pc < pl:
		return t + (1-pc/pl)*t
	}
	return t
}
