package schedule

import (
	"math"
	"time"
)

// maxMove is by how much, in the logarithm, a threshold or price moves at most in
// one turn of maintenance: a factor of 1.65. Pages that sleep were planned with
// the old one; small moves keep their plans nearly right.
const maxMove = 0.5

// Move is where a threshold moves, and from what.
type Move struct {
	To      float64
	Planned float64 // visits a day at the threshold before
}

// FirstThreshold is a threshold to start with, before there is anything to
// measure: with it pages of which nothing is known are visited as often as the
// budget, in visits a day, allows so many pages. All three are > 0.
func FirstThreshold(o Objective, prior Gamma, pages, budget float64) float64 {
	return o.Worth(prior, pages/budget)
}

// MoveThreshold moves a crawl's threshold (> 0) towards the one at which as many
// visits a day are planned as the budget has; planned tells how many that is at a
// threshold, and falls as it rises (see [Census.Planned]). The threshold stays
// where moving it changes nothing, as when all intervals are at their bounds.
func MoveThreshold(threshold, budget float64, planned func(threshold float64) float64) Move {
	move := Move{To: threshold, Planned: planned(threshold)}
	if move.Planned > 0 && budget > 0 {
		move.To = towards(threshold, budget, move.Planned, planned)
	}
	return move
}

// MoveHostPrice moves a host's price: the threshold of its pages when that is
// above the crawl's. It rises while more visits a day are planned for the host
// than it can take (see [HostLimit]) and falls when fewer are; 0 is no price of its
// own, which is what a host below its limit has in the end.
func MoveHostPrice(price, threshold, limit float64, planned func(threshold float64) float64) float64 {
	from := max(price, threshold)
	to := from
	if now := planned(from); now > 0 && limit > 0 {
		to = towards(from, limit, now, planned)
	}
	if to <= threshold {
		return 0
	}
	return to
}

// towards is the threshold at which the target is planned, or as far in its
// direction as one move goes.
func towards(from, target, now float64, planned func(threshold float64) float64) float64 {
	if now == target {
		return from
	}
	move := maxMove
	if now < target {
		move = -maxMove
	}
	excess := func(u float64) float64 { return math.Log(planned(from*math.Exp(u)) / target) }
	here, there := point{0, math.Log(now / target)}, point{move, excess(move)}
	switch {
	case math.Abs(there.y-here.y) < 1e-9:
		return from // nothing moves it
	case (there.y >= 0) == (here.y >= 0):
		return from * math.Exp(move)
	}
	return from * math.Exp(root(excess, here, there, 1e-9))
}

// HostLimit is how many visits a day a host can take when each lasts duration on
// average and the next begins a gap after it (together > 0), and a share of the
// requests (0 to 1) is kept for what is not a revisit: new pages and robots.txt.
func HostLimit(gap, duration time.Duration, kept float64) float64 {
	return (1 - kept) / days(gap+duration)
}

// SharedLimit is what one crawl may plan of a host's limit, all in visits a day, when
// it plans own and the other crawls others: all of it while there is enough for
// all, else its share by what is planned.
func SharedLimit(limit, own, others float64) float64 {
	if own+others <= limit || own <= 0 {
		return max(limit-others, 0)
	}
	return limit * own / (own + others)
}
