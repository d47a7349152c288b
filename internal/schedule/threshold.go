package schedule

import (
	"math"
	"sort"
	"time"

	"recrawl/internal/schedule/gamma"
)

// maxMove is the largest change of a threshold or price, in its natural logarithm, in
// one round of maintenance: a factor of 1.65. Sleeping pages were planned with the old
// value, and small moves keep their plans nearly right.
const maxMove = 0.5

// farMoves bounds how many such moves a threshold may make at once while nothing changes.
const farMoves = 40

// Move says where a threshold moves, and from where.
type Move struct {
	To      float64
	Planned float64 // visits a day at the threshold before
}

// FirstThreshold returns a threshold to start with, before anything is measured. With
// it, unknown pages are visited as often as the budget (visits a day) allows for that
// many pages. pages and budget are > 0.
func FirstThreshold(o Objective, prior gamma.Distribution, pages, budget float64) float64 {
	return o.Worth(prior, pages/budget)
}

// MoveThreshold moves a crawl's threshold (> 0) towards the value at which the planned
// visits a day meet the budget. planned returns the visits planned at a threshold, and
// falls as the threshold rises (see [Demand.Planned]). The threshold stays where it is
// if moving it changes nothing, however far: when all intervals are at their bounds.
func MoveThreshold(threshold, budget float64, planned func(threshold float64) float64) Move {
	move := Move{To: threshold, Planned: planned(threshold)}
	if move.Planned > 0 && budget > 0 {
		move.To = towards(threshold, budget, move.Planned, planned)
	}
	return move
}

// MoveHostPrice moves a host's price, the threshold that its pages are held to when it
// is above the crawl's. The price rises while more visits a day are planned for the
// host than its limit (see [HostLimit]), and falls when fewer are. A result of 0 means
// that the host needs no price of its own, as for hosts below their limits.
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

// towards returns the threshold at which the target is planned, or the end of one
// maximal move in its direction. The move begins where the planned visits begin to change:
// as long as they do not, because intervals are at their bounds or follow a timetable, no
// plan is disturbed however far the threshold moves.
func towards(from, target, now float64, planned func(threshold float64) float64) float64 {
	if now == target {
		return from
	}
	move := maxMove
	if now < target {
		move = -maxMove
	}
	excess := func(u float64) float64 { return math.Log(planned(from*math.Exp(u)) / target) }
	here := gamma.Point{X: 0, Y: math.Log(now / target)}
	there := gamma.Point{X: move, Y: excess(move)}
	if same(here, there) {
		flat := 1 + sort.Search(farMoves-1, func(i int) bool {
			return !same(here, gamma.Point{Y: excess(float64(i+2) * move)})
		})
		if flat == farMoves {
			return from // nothing moves it
		}
		here.X, there.X = float64(flat)*move, float64(flat+1)*move
		there.Y = excess(there.X)
	}
	if (there.Y >= 0) == (here.Y >= 0) {
		return from * math.Exp(there.X)
	}
	return from * math.Exp(gamma.Root(excess, here, there, 1e-9))
}

// same reports whether as many visits are planned at two points.
func same(here, there gamma.Point) bool { return math.Abs(there.Y-here.Y) < 1e-9 }

// HostLimit returns how many visits a day a host can take when each lasts duration on
// average and the next begins a gap after it (together > 0). kept is the share of
// requests (0 to 1) that is reserved for new pages and robots.txt.
func HostLimit(gap, duration time.Duration, kept float64) float64 {
	return (1 - kept) / days(gap+duration)
}

// SharedLimit returns how much of a host's limit one crawl may plan, when it plans own
// visits and the other crawls plan others. All are visits a day. If there is enough for
// all, it is the part that the others leave; otherwise the limit is divided in
// proportion to the plans.
func SharedLimit(limit, own, others float64) float64 {
	if own+others <= limit || own <= 0 {
		return max(limit-others, 0)
	}
	return limit * own / (own + others)
}
