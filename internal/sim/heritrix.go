package sim

// Constants of org.archive.crawler.postprocessor.WaitEvaluator of Heritrix 1.x
// (class of 2006-09-25, fork a252937166/Heritrix at 6622cfd), its defaults.
// Heritrix 3 has no adaptive revisiting.
const (
	heritrixInitial = 1.      // days: initial-wait-interval-seconds, 86400
	heritrixLeast   = 1. / 24 // days: min-wait-interval-seconds, 3600
	heritrixMost    = 28.     // days: max-wait-interval-seconds, 2419200
	heritrixFactor  = 1.5     // changed-factor and unchanged-factor
)

// heritrix is WaitEvaluator: the wait is divided by a factor after a change and
// multiplied by it without one. The first fetch counts as a change but has no
// wait yet and gets the initial one. use-overdue-time is off, as by default.
type heritrix struct{ wait []float64 }

func newHeritrix(s Setting, _ *World) Scheduler { return &heritrix{make([]float64, len(s.Pages))} }

func (h *heritrix) Enter(page int, at float64) float64 {
	h.wait[page] = heritrixInitial
	return at + heritrixInitial
}

func (h *heritrix) Visit(page int, look Look) float64 {
	wait := h.wait[page] * heritrixFactor
	if look.Changed {
		wait = h.wait[page] / heritrixFactor
	}
	h.wait[page] = min(max(wait, heritrixLeast), heritrixMost)
	return look.At + h.wait[page]
}

func (*heritrix) Leave(int) {}
