package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Spec says which world to draw.
type Spec struct {
	Pages int     // how many
	Days  float64 // how long it lasts
	Seed  uint64
	// Weights is the distribution of importance: equal, or pareto (exponent 1.5, 1 to 100:
	// few pages that matter much).
	Weights string
}

// Kind is a family of worlds.
type Kind struct {
	Name string
	Help string // what its pages are like, in one line
	draw func(d drawing, s Spec) World
}

// Kinds lists the worlds that can be drawn.
func Kinds() []Kind {
	return []Kind{
		{"cho", "rates as measured on 720 000 pages in 1999: 23 % change more than daily, 30 % less than every 4 months", drawCho},
		{"host", "rates of a host's pages are alike: log-normal around the host's own mean", drawHosts},
		{"burst", "as host, but 90 % of a page's changes come in spells of 5 days, 60 days apart", drawBursts},
		{"e1", "five pages that change 1 to 5 times a day (Cho & Garcia-Molina 2003)", drawE1},
		{"e2", "five classes of pages, from daily to once a year (Cho & Garcia-Molina 2000)", drawE2},
		{"e3", "six pages of different importance on two hosts", drawE3},
		{"timetables", "a third of the pages change hourly, daily, on weekdays or weekly, each at its own time, the others seldom", drawTimetables},
		{"editions", "sites that change daily or weekly at about the same time of day, except one time in ten", drawEditions},
		{"moving", "as timetables, daily and on weekdays, in local time; now and then the hour moves, or the timetable ends", drawMoving},
		{"periods", "each page changes at a fixed interval of its own, a week to a month", drawPeriods},
		{"batches", "three pages in ten change six times a day, in office hours or in one run, the others next to never", drawBatches},
		{"clockwork", "all pages change by a timetable: hourly, daily, on weekdays, weekly", drawClockwork},
		{"office", "as host, but pages change from nine to five on weekdays only", drawOffice},
		{"e3-limited", "the same, where the host of the first three takes two visits a day", drawE3Limited},
	}
}

// Draw makes a world by the name of its kind.
func Draw(kind string, s Spec) (*World, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == kind {
			w := k.draw(newDrawing(s.Seed), s)
			w.Name, w.Days = kind, s.Days
			w.weigh(s)
			return &w, w.Validate()
		}
		names = append(names, k.Name)
	}
	return nil, fmt.Errorf("no world %q: use one of %s", kind, strings.Join(names, ", "))
}

// weigh multiplies the pages' weights as the spec says, from a stream of numbers of its
// own, so that the changes of a world are the same with any weights.
func (w *World) weigh(s Spec) {
	d := newDrawing(s.Seed ^ 0x9e3779b97f4a7c15)
	for i := range w.Pages {
		if s.Weights == "pareto" {
			w.Pages[i].Weight *= d.pareto()
		}
	}
	w.normalise()
}

// choBins are shares of pages by the time between two of their changes, in days
// (Cho & Garcia-Molina, "The evolution of the web and implications for an
// incremental crawler", 2000, figure 2).
var choBins = []struct{ share, low, high float64 }{
	{0.23, 0.1, 1}, {0.15, 1, 7}, {0.16, 7, 30}, {0.16, 30, 120}, {0.30, 120, 1200},
}

// drawCho draws the time between changes from choBins, log-uniform within a bin. Hosts say
// nothing about their pages, so there is only one.
func drawCho(d drawing, s Spec) World {
	w := World{Hosts: 1, Stationary: true}
	for range s.Pages {
		u := d.Float64()
		bin := choBins[len(choBins)-1]
		for _, b := range choBins {
			if u -= b.share; u < 0 {
				bin = b
				break
			}
		}
		w.settle(1/d.between(bin.low, bin.high), d.poisson, s.Days)
	}
	return w
}

// drawHosts draws ln λ = ln(1/30) + 1.5 z + z′ with a normal z for each host and
// z′ for each page, between 1e-4 and 20 a day. Hosts have 3/u pages, u uniform:
// many small ones and a few large, at most 500.
func drawHosts(d drawing, s Spec) World { return drawSites(d, s, d.poisson, true) }

func drawBursts(d drawing, s Spec) World { return drawSites(d, s, d.bursts, false) }

func drawSites(d drawing, s Spec, changes process, stationary bool) World {
	w := World{Stationary: stationary}
	for len(w.Pages) < s.Pages {
		size := int(min(500, 3/(1-d.Float64())))
		mean := math.Log(1./30) + 1.5*d.NormFloat64()
		w.Hosts++
		for range min(size, s.Pages-len(w.Pages)) {
			w.settle(min(max(math.Exp(mean+d.NormFloat64()), 1e-4), 20), changes, s.Days)
		}
	}
	return w
}

// The examples e1 to e3 are small; their pages are repeated, so that chance
// matters less.

// drawE1 draws the five pages of example 1 of Cho & Garcia-Molina, "Effective page
// refresh policies for web crawlers", 2003.
func drawE1(d drawing, s Spec) World {
	return drawClasses(d, s, []int{1, 1, 1, 1, 1}, []float64{1, 2, 3, 4, 5})
}

func drawE2(d drawing, s Spec) World {
	return drawClasses(d, s, []int{230, 150, 160, 160, 300}, []float64{1, 1. / 7, 1. / 30, 1. / 120, 1. / 365})
}

// drawClasses draws pages of given rates in given proportions.
func drawClasses(d drawing, s Spec, shares []int, rates []float64) World {
	var deck []float64
	for i, n := range shares {
		for range n {
			deck = append(deck, rates[i])
		}
	}
	w := World{Hosts: 1, Stationary: true}
	for i := range s.Pages {
		w.settle(deck[i*len(deck)/s.Pages], d.poisson, s.Days)
	}
	return w
}

var e3Pages = []struct {
	rate, weight float64
	host         int
}{{8, 1, 0}, {2, 5, 0}, {0.5, 2, 0}, {1, 1, 1}, {0.1, 10, 1}, {0.02, 1, 1}}

// drawE3 repeats the six pages with their two hosts; a rest of less than six is
// left out.
func drawE3(d drawing, s Spec) World {
	w := World{Stationary: true}
	for range max(1, s.Pages/len(e3Pages)) {
		for _, p := range e3Pages {
			if p.host == w.Hosts%2 {
				w.Hosts++
			}
			w.settle(p.rate, d.poisson, s.Days)
			w.Pages[len(w.Pages)-1].Weight = p.weight
		}
	}
	return w
}

func drawE3Limited(d drawing, s Spec) World {
	w := drawE3(d, s)
	for i := range w.Hosts {
		w.HostLimits = append(w.HostLimits, 2*float64((i+1)%2))
	}
	return w
}

// process draws the changes of a page from start to end.
type process func(rate, start, end float64) []float64

// settle adds a page to the latest host that lives all the time.
func (w *World) settle(rate float64, changes process, days float64) {
	w.Pages = append(w.Pages, Page{
		Name: fmt.Sprintf("page-%d", len(w.Pages)), Host: w.Hosts - 1, Weight: 1, Rate: rate,
		Death: math.Inf(1), Changes: changes(rate, 0, days),
	})
}

// HasKind reports whether there is a kind of that name.
func HasKind(name string) bool {
	return slices.ContainsFunc(Kinds(), func(k Kind) bool { return k.Name == name })
}
