package sim

import "math"

// slots are the moments at which a visit may be made: as many as the integral of
// the rate, in visits a day, over time, each when the integral reaches the next
// whole number.
type slots struct {
	rate  float64
	start float64 // since when the rate holds
	done  float64 // the integral until then, less the slots taken: 0 to 1
	taken float64 // slots taken since
}

// next returns the time of the next slot.
func (s *slots) next() float64 {
	if s.rate <= 0 {
		return math.Inf(1)
	}
	return s.start + (s.taken+1-s.done)/s.rate
}

// take uses the slot at t.
func (s *slots) take(t float64) {
	s.taken++
	// Start anew now and then: large sums lose digits.
	if s.taken == 1<<20 {
		s.start, s.done, s.taken = t, 0, 0
	}
}

// setRate changes the rate at t.
func (s *slots) setRate(rate, t float64) {
	s.done = min(max(s.done+(t-s.start)*s.rate-s.taken, 0), 1)
	s.start, s.taken, s.rate = t, 0, rate
}
