package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

const (
	// steepDoubt is the amount of information at which the estimate of Steep counts for
	// half.
	steepDoubt = 20
	// mostSteep is the upper bound of Steep. In a collection where only new pages change,
	// rates would seem to fall without limit, and old pages would hardly be looked at. With
	// a higher bound, policies were worse than visiting all pages alike on recorded
	// collections; see docs/decisions.md.
	mostSteep = 0.5
	// tellingChance is the chance of a change up to which a look informs about Steep. A
	// look with a higher chance would only reveal that the rate was believed too low.
	tellingChance = 0.7
)

// Aging is the evidence of a page's looks on how its rate of change falls with its age
// (see [Clock]), independent of how large the rate is. It compares the ages at which
// looks found changes with the ages at which changes were expected. A rate that is
// believed too high or too low does not bias it, and for pages of constant rate the
// estimate of Steep tends to 0.
//
// It is the score function of a profile likelihood. Given the rate believed before a
// look, the look finds a change with the chance 1 − S(Lives). The score is the
// derivative of its log-likelihood with respect to Steep, after the mean tilt of the
// page's looks is subtracted, because the rate absorbs the mean. Steep is where the
// scores sum to 0. Each score was taken at the Steep of its time, so it is stored with
// the correction to 0 (Fisher's scoring). The JSON name in a belief is "slant".
type Aging struct {
	Known float32 `json:"k,omitempty"` // information in the looks on the logarithm of the rate
	Tilt  float32 `json:"t,omitempty"` // each look's share in it times its tilt
	Slope float32 `json:"s,omitempty"` // of the logarithm of the looks' probability, plus Info × Steep
	Info  float32 `json:"i,omitempty"` // information in the looks
}

// look adds a look, days (> 0) after the previous one, which was at the given age. g is
// the belief about the page before.
func (s Aging) look(g gamma.Distribution, c Clock, age, days float64, changed bool) Aging {
	lived, tilt := c.Lives(age, days), c.tilt(age, days)
	if !(lived > 0) || math.IsNaN(tilt) {
		return s
	}
	same := g.Survival(lived)
	if 1-same < 1e-6 || 1-same > tellingChance {
		return s
	}
	// The derivative over ln λ; over Steep it is the same, times the tilt.
	rate := g.A * lived / (g.B + lived) // −∂ ln S/∂ ln λ
	weight := rate * rate * same / (1 - same)
	s.Known += float32(weight)
	s.Tilt += float32(weight * tilt)
	falls := (tilt - float64(s.Tilt/s.Known)) * rate // −∂ ln S/∂ Steep
	info := falls * falls * same / (1 - same)
	slope := -falls
	if changed {
		slope = falls * same / (1 - same)
	}
	s.Slope += float32(slope + info*c.Steep)
	s.Info += float32(info)
	return s
}

// faded returns the aging weighted with a share (0 to 1).
func (s Aging) faded(keep float64) Aging {
	k := float32(keep)
	return Aging{s.Known * k, s.Tilt * k, s.Slope * k, s.Info * k}
}

func (s Aging) valid() bool {
	return within(s.Known, 1e9) && within(s.Info, 1e9) && within(max(s.Tilt, -s.Tilt), 1e9) && within(max(s.Slope, -s.Slope), 1e9)
}

// steepnessOf returns the Steep at which the scores of all pages' looks sum to 0. While
// little is known it is drawn towards 0, a constant rate.
func steepnessOf(slope, info float64) float64 {
	return min(max(slope/(steepDoubt+info), 0), mostSteep)
}
