package schedule

import (
	"math"

	"recrawl/internal/schedule/gamma"
)

const (
	// steepDoubt is how much must be known of Steep for it to be half of what it seems.
	steepDoubt = 20
	// mostSteep bounds it: where nothing but new pages changes, rates would seem to fall
	// without limit, and no page would be looked at again.
	mostSteep = 0.75
	// tellingChance is the chance of a change up to which a look tells something of
	// Steep: beyond it only rates that were believed too low show.
	tellingChance = 0.7
)

// Slant is what a page's looks say of how its rate of change falls with its age (see
// [Clock]), apart from how large it is: whether changes were found at ages at which
// more of them were expected than at the page's other looks. Rates that are believed
// too high or too low so say nothing, and on pages whose rates are constant Steep is
// found to be 0.
//
// With the rate as it was believed before a look, on the page's clock, the slope of
// the logarithm of the look's probability over Steep, and the information in it, are
// those of a change or none with the chance 1 − S(Lives), where of the tilt of
// Lives the mean of the page's looks is taken off: the rate makes up for that
// (a profile likelihood). Steep is where the slopes add up to 0; since each was taken
// where Steep was at the time, each is kept with the step to that place (Fisher's
// scoring).
type Aging struct {
	Known float32 `json:"k,omitempty"` // information in the looks on the logarithm of the rate
	Tilt  float32 `json:"t,omitempty"` // each look's share in it times its tilt
	Slope float32 `json:"s,omitempty"` // of the logarithm of the looks' probability, plus Info × Steep
	Info  float32 `json:"i,omitempty"` // information in the looks
}

// look adds a look so many days (> 0) after the one at an age, of a page that was
// believed to be g.
func (s Aging) look(g gamma.Distribution, c Clock, age, days float64, changed bool) Aging {
	lived, tilt := c.Lives(age, days), c.tilt(age, days)
	if !(lived > 0) || math.IsNaN(tilt) {
		return s
	}
	same := g.Survival(lived)
	if 1-same < 1e-6 || 1-same > tellingChance {
		return s
	}
	// With the logarithm of the rate the same as with Steep, but for the tilt.
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

// faded is the slant of which only a share (0 to 1) still counts.
func (s Aging) faded(keep float64) Aging {
	k := float32(keep)
	return Aging{s.Known * k, s.Tilt * k, s.Slope * k, s.Info * k}
}

func (s Aging) valid() bool {
	return within(s.Known, 1e9) && within(s.Info, 1e9) && within(max(s.Tilt, -s.Tilt), 1e9) && within(max(s.Slope, -s.Slope), 1e9)
}

// steepOf is the Steep at which the slopes of all pages' looks add up to 0, drawn
// towards a constant rate while little is known.
func steepnessOf(slope, info float64) float64 {
	return min(max(slope/(steepDoubt+info), 0), mostSteep)
}
