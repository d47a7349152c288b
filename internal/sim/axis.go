package sim

import (
	"fmt"
	"math"
	"strconv"
)

// axis maps numbers to places in a drawing.
type axis struct {
	from, to   float64 // numbers at the ends
	start, end float64 // their places
	log        bool
}

// at returns the place of a number, or of the end for a number beyond it.
func (a axis) at(x float64) float64 {
	from, to := a.from, a.to
	if a.log {
		x, from, to = math.Log(x), math.Log(from), math.Log(to)
	}
	share := min(max((x-from)/(to-from), 0), 1)
	return a.start + share*(a.end-a.start)
}

// ticks returns about n round numbers within the axis, or the powers of ten on a
// logarithmic one.
func (a axis) ticks(n int) []float64 {
	var ticks []float64
	if a.log {
		for p := math.Ceil(math.Log10(a.from) - 1e-9); p <= math.Log10(a.to)+1e-9; p++ {
			ticks = append(ticks, math.Pow(10, p))
		}
		return ticks
	}
	step := roundStep((a.to - a.from) / float64(n))
	for i := math.Ceil(a.from/step - 1e-9); i*step <= a.to+1e-9*step; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// roundStep returns the least of 1, 2 and 5 times a power of ten that is not below x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// tickText writes a tick in as few digits as it needs.
func tickText(x float64) string {
	if x != 0 && (math.Abs(x) < 1e-3 || math.Abs(x) >= 1e5) {
		return fmt.Sprintf("%.0e", x)
	}
	return strconv.FormatFloat(math.Round(x*1e6)/1e6+0, 'g', -1, 64) // +0: no −0
}

// horizontal draws the axis below a frame from top to bottom, with lines through
// it.
func (s *svg) horizontal(a axis, top, bottom float64, ticks int, title string, text func(float64) string) {
	for _, t := range a.ticks(ticks) {
		x := a.at(t)
		s.line(x, top, x, bottom, grid, 1)
		s.text(x, bottom+16, centre, ink, "", text(t))
	}
	s.line(a.start, bottom, a.end, bottom, ink, 1)
	s.text((a.start+a.end)/2, bottom+34, centre, ink, "", title)
}

// vertical draws the axis at the left of a frame.
func (s *svg) vertical(a axis, leftEdge, rightEdge float64, ticks int, title string, text func(float64) string) {
	for _, t := range a.ticks(ticks) {
		y := a.at(t)
		s.line(leftEdge, y, rightEdge, y, grid, 1)
		s.text(leftEdge-6, y+4, right, ink, "", text(t))
	}
	s.line(leftEdge, a.start, leftEdge, a.end, ink, 1)
	s.upright(leftEdge-44, (a.start+a.end)/2, title)
}
