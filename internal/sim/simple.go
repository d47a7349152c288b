package sim

// simple are rules to compare with.
var simple = []Policy{
	{Name: "uniform", Family: Simple, Help: "all pages equally often", make: newUniform},
}

// uniform visits all pages equally often.
type uniform struct{ pace *Pace }

func newUniform(s Setting, _ *World) Scheduler { return uniform{s.Pace} }

// Enter spreads the pages of the start over the first interval.
func (u uniform) Enter(page int, at float64) float64 {
	if at > 0 {
		return at + u.pace.Interval()
	}
	return u.pace.Interval() * phase(page)
}
func (u uniform) Visit(_ int, look Look) float64 { return look.At + u.pace.Interval() }
func (uniform) Leave(int)                        {}

// phase spreads the pages that enter together over their first interval: 0 to 1,
// by multiples of the golden section, which never come close to each other.
func phase(page int) float64 {
	const golden = 0.6180339887498949
	x := float64(page+1) * golden
	return x - float64(int(x))
}
