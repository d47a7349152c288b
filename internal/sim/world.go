package sim

import (
	"fmt"
	"math"
	"slices"
)

// World is a number of pages and all their events.
type World struct {
	Name string
	// Days is how long the world lasts.
	Days  float64
	Pages []Page
	// Hosts is the number of hosts that pages are on.
	Hosts int
	// HostLimits has the most visits a day that each host takes, 0 for no limit;
	// nil is no limits at all.
	HostLimits []float64
	// Stationary says that all pages live from start to end and change at constant
	// rates, so that the best allocation for their rates is the best there is.
	Stationary bool
}

// Page is one page's life.
type Page struct {
	Name string
	Host int // 0 to Hosts−1
	// Weight is the page's importance, > 0; metrics are weighted by it.
	Weight float64
	// Rate is the page's number of changes a day: the true rate if changes were drawn, the
	// mean over its life if they were recorded.
	Rate float64
	// Birth and Death are when the page appears and disappears; Death is +Inf if it
	// outlives the world.
	Birth, Death float64
	// Changes are the times at which its content changes, rising, after Birth and
	// before Death.
	Changes []float64
}

// end returns when the page disappears or the world ends.
func (w *World) end(p *Page) float64 { return min(p.Death, w.Days) }

// Changes returns the number of changes of all pages.
func (w *World) Changes() int {
	n := 0
	for i := range w.Pages {
		n += len(w.Pages[i].Changes)
	}
	return n
}

// Validate says what is wrong with a world, if anything.
func (w *World) Validate() error {
	if !(w.Days > 0) || math.IsInf(w.Days, 1) {
		return fmt.Errorf("world %s: lasts %v days; it must be more than 0", w.Name, w.Days)
	}
	if len(w.Pages) == 0 {
		return fmt.Errorf("world %s: has no pages", w.Name)
	}
	if w.HostLimits != nil && len(w.HostLimits) != w.Hosts {
		return fmt.Errorf("world %s: %d host limits for %d hosts", w.Name, len(w.HostLimits), w.Hosts)
	}
	for i := range w.Pages {
		if problem := w.problemOf(&w.Pages[i]); problem != "" {
			return fmt.Errorf("world %s, page %d (%s): %s", w.Name, i, w.Pages[i].Name, problem)
		}
	}
	return nil
}

func (w *World) problemOf(p *Page) string {
	switch {
	case p.Host < 0 || p.Host >= w.Hosts:
		return "its host does not exist"
	case !(p.Weight > 0) || math.IsInf(p.Weight, 1):
		return "its weight is not positive"
	case !(p.Rate >= 0) || math.IsInf(p.Rate, 1):
		return "its rate is negative or infinite"
	case !(p.Birth >= 0) || !(p.Birth < p.Death) || p.Birth >= w.Days:
		return "it is born after its death or after the end"
	case !slices.IsSorted(p.Changes):
		return "its changes are not in order"
	case len(p.Changes) > 0 && (p.Changes[0] <= p.Birth || p.Changes[len(p.Changes)-1] >= w.end(p)):
		return "it changes outside of its life"
	}
	return ""
}

// normalise scales the weights to a mean of 1, so that prices mean the same in
// all worlds.
func (w *World) normalise() {
	sum := 0.0
	for i := range w.Pages {
		sum += w.Pages[i].Weight
	}
	for i := range w.Pages {
		w.Pages[i].Weight *= float64(len(w.Pages)) / sum
	}
}
