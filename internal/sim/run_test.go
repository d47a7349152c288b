package sim

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// smallWorlds are worlds of a few pages and changes.
var smallWorlds = rapid.Custom(func(t *rapid.T) *World {
	w := &World{Name: "small", Days: 10, Hosts: rapid.IntRange(1, 3).Draw(t, "hosts")}
	// Hundredths of a day, so that events often fall together.
	moment := func(low, high int, name string) float64 {
		return float64(rapid.IntRange(low, high).Draw(t, name)) / 100
	}
	for i := range rapid.IntRange(1, 5).Draw(t, "pages") {
		p := Page{Name: fmt.Sprint(i), Host: rapid.IntRange(0, w.Hosts-1).Draw(t, "host"), Weight: moment(10, 300, "weight"), Death: math.Inf(1)}
		if rapid.Bool().Draw(t, "late") {
			p.Birth = moment(0, 900, "birth")
		}
		if rapid.Bool().Draw(t, "mortal") {
			p.Death = p.Birth + moment(1, 1100, "life")
		}
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			if c := moment(1, 999, "change"); c > p.Birth && c < min(p.Death, w.Days) {
				p.Changes = append(p.Changes, c)
			}
		}
		slices.Sort(p.Changes)
		p.Changes = slices.Compact(p.Changes)
		p.Rate = float64(len(p.Changes)) / (min(p.Death, w.Days) - p.Birth)
		w.Pages = append(w.Pages, p)
	}
	if rapid.Bool().Draw(t, "limited") {
		for range w.Hosts {
			w.HostLimits = append(w.HostLimits, moment(0, 400, "limit"))
		}
	}
	return w
})

// diary records all calls between a run and its scheduler.
type diary struct {
	scheduler Scheduler
	entered   map[int]float64
	left      map[int]bool
	visits    []entry
	due       map[int]float64
}

type entry struct {
	page int
	due  float64 // when the scheduler had wanted it
	Look
}

func (d *diary) Enter(page int, at float64) float64 {
	d.entered[page] = at
	d.due[page] = d.scheduler.Enter(page, at)
	return d.due[page]
}

func (d *diary) Visit(page int, look Look) float64 {
	d.visits = append(d.visits, entry{page, d.due[page], look})
	d.due[page] = d.scheduler.Visit(page, look)
	return d.due[page]
}

func (d *diary) Leave(page int) {
	d.left[page] = true
	d.scheduler.Leave(page)
}

// maintainedDiary is the diary of a scheduler that maintains.
type maintainedDiary struct{ *diary }

func (d maintainedDiary) Every() float64 { return d.scheduler.(Maintainer).Every() }

func (d maintainedDiary) Maintain(at float64, move func(page int, due float64)) {
	d.scheduler.(Maintainer).Maintain(at, func(page int, due float64) {
		d.due[page] = due
		move(page, due)
	})
}

// withDiary returns a policy that records its calls.
func withDiary(p Policy) (Policy, *diary) {
	d := &diary{entered: map[int]float64{}, left: map[int]bool{}, due: map[int]float64{}}
	inner := p.make
	p.make = func(s Setting, w *World) Scheduler {
		d.scheduler = inner(s, w)
		if _, ok := d.scheduler.(Maintainer); ok {
			return maintainedDiary{d}
		}
		return d
	}
	return p, d
}

var (
	anyPolicy = rapid.SampledFrom(Policies())
	anyMode   = rapid.SampledFrom([]Mode{WorkConserving, Capped, Timers})
	anyRun    = rapid.Custom(func(t *rapid.T) Options {
		o := Options{Mode: anyMode.Draw(t, "mode"), Seed: rapid.Uint64Range(1, 5).Draw(t, "seed"), Warmup: float64(rapid.IntRange(0, 9).Draw(t, "warmup"))}
		if rapid.Bool().Draw(t, "each") {
			o.Budget.Each = float64(rapid.IntRange(1, 30).Draw(t, "each")) / 10
		} else {
			o.Budget.PerDay = float64(rapid.IntRange(1, 100).Draw(t, "per day")) / 10
		}
		return o
	})
)

// Whatever a policy does, a run keeps to its rules.
func TestRules(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, o := smallWorlds.Draw(t, "world"), anyRun.Draw(t, "options")
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		p, d := withDiary(anyPolicy.Draw(t, "policy"))
		r := Run(w, p, o)
		checkVisits(t, w, o, d)
		checkSlots(t, w, o, r, d)
		checkHostLimits(t, w, d)
		for i := range w.Pages {
			page := &w.Pages[i]
			if at, ok := d.entered[i]; !ok || at != page.Birth {
				t.Errorf("page %d, born at %v, entered at %v, %v", i, page.Birth, at, ok)
			}
			if d.left[i] != (page.Death < w.Days) {
				t.Errorf("page %d, which dies at %v, left: %v", i, page.Death, d.left[i])
			}
		}
		bruteForce(t, w, o, r, d)
	})
}

// checkVisits checks that visits are in order, of pages that live, see the true state, and
// are not early unless the mode says so.
func checkVisits(t *rapid.T, w *World, o Options, d *diary) {
	last := map[int]float64{}
	for i, v := range d.visits {
		p := &w.Pages[v.page]
		copied, ok := last[v.page]
		if !ok {
			copied = p.Birth
		}
		changed := slices.ContainsFunc(p.Changes, func(c float64) bool { return c > copied && c <= v.At })
		switch {
		case i > 0 && v.At < d.visits[i-1].At:
			t.Errorf("visit %d at %v is before the one before it", i, v.At)
		case v.At < p.Birth || v.At > p.Death || v.At >= w.Days:
			t.Errorf("visit at %v of a page that lives from %v to %v", v.At, p.Birth, p.Death)
		case v.Gap != v.At-copied || v.Changed != changed:
			t.Errorf("visit at %v saw %+v; the copy was of %v and the changes are %v", v.At, v.Look, copied, p.Changes)
		case o.Mode != WorkConserving && v.due > v.At:
			t.Errorf("mode %s: visit at %v of a page due at %v", o.Mode, v.At, v.due)
		}
		last[v.page] = v.At
	}
}

// checkSlots checks the budget: the number of slots is the integral of the budget over
// time, and each is a visit or idle.
func checkSlots(t *rapid.T, w *World, o Options, r Result, d *diary) {
	if o.Mode == Timers {
		return
	}
	budget := 0.0
	slots := func(until float64) float64 {
		sum := 0.0
		for i := range w.Pages {
			sum += o.Budget.Each * max(0, min(until, w.Pages[i].Death)-w.Pages[i].Birth)
		}
		for _, s := range lifetimes(w, until) {
			sum += o.Budget.PerDay * (s[1] - s[0])
		}
		return sum
	}
	budget = slots(w.Days)
	measured := 0
	for _, v := range d.visits {
		if v.At >= o.Warmup {
			measured++
		}
	}
	if got := float64(len(d.visits)); got > budget+1e-6 {
		t.Errorf("%v visits with a budget of %v", got, budget)
	}
	if want := float64(measured) / (w.Days - o.Warmup); math.Abs(r.Visits-want) > 1e-9 {
		t.Errorf("%v visits a day, want %v", r.Visits, want)
	}
	// Whole slots of the measured time, to one at either end.
	all := budget - slots(o.Warmup)
	if made := float64(measured) / (1 - r.Idle + 1e-12); r.Idle < 1 && math.Abs(made-all) > 2.001 {
		t.Errorf("%v slots by visits and idle share, want about %v", made, all)
	}
}

// lifetimes returns the spans of time in which some page lives.
func lifetimes(w *World, until float64) [][2]float64 {
	var spans [][2]float64
	for i := range w.Pages {
		if p := &w.Pages[i]; p.Birth < until {
			spans = append(spans, [2]float64{p.Birth, min(p.Death, until)})
		}
	}
	slices.SortFunc(spans, func(a, b [2]float64) int { return int(math.Copysign(1, a[0]-b[0])) })
	var merged [][2]float64
	for _, s := range spans {
		if n := len(merged); n > 0 && s[0] <= merged[n-1][1] {
			merged[n-1][1] = max(merged[n-1][1], s[1])
		} else {
			merged = append(merged, s)
		}
	}
	return merged
}

// checkHostLimits checks that no host is visited sooner than it allows.
func checkHostLimits(t *rapid.T, w *World, d *diary) {
	last := map[int]float64{}
	for _, v := range d.visits {
		host := w.Pages[v.page].Host
		if at, ok := last[host]; ok && w.HostLimits != nil && w.HostLimits[host] > 0 && v.At < at+1/w.HostLimits[host]-1e-9 {
			t.Errorf("host %d, %v visits a day: visited at %v and %v", host, w.HostLimits[host], at, v.At)
		}
		last[host] = v.At
	}
}

// bruteForce measures a run in the simplest way, from one event to the next, and
// compares.
func bruteForce(t *rapid.T, w *World, o Options, r Result, d *diary) {
	visits := make([][]float64, len(w.Pages))
	for _, v := range d.visits {
		visits[v.page] = append(visits[v.page], v.At)
	}
	var time, stale, age, unseen, harmonic, changes float64
	line := make([][2]float64, parts) // fresh, alive
	for i := range w.Pages {
		p := &w.Pages[i]
		events := append([]float64{o.Warmup, w.Days, p.Birth, min(p.Death, w.Days)}, slices.Concat(p.Changes, visits[i])...)
		for part := range parts {
			events = append(events, w.Days*float64(part)/parts)
		}
		slices.Sort(events)
		for j := 1; j < len(events); j++ {
			from, to := events[j-1], events[j]
			middle := (from + to) / 2
			if middle < p.Birth || middle >= min(p.Death, w.Days) || to <= from {
				continue
			}
			copied := p.Birth
			for _, v := range visits[i] {
				if v <= middle {
					copied = v
				}
			}
			first, n := 0.0, 0
			for _, c := range p.Changes {
				if c > copied && c <= middle {
					if n == 0 {
						first = c
					}
					n++
				}
			}
			length := p.Weight * (to - from)
			part := &line[min(int(middle/w.Days*parts), parts-1)]
			part[1] += length
			if n == 0 {
				part[0] += length
			}
			if middle < o.Warmup {
				continue
			}
			time += length
			if n > 0 {
				stale += length
				age += length * (middle - first)
			}
			unseen += length * float64(n)
			for k := 1; k <= n; k++ {
				harmonic += length / float64(k)
			}
		}
		for _, c := range p.Changes {
			if c >= o.Warmup {
				changes += p.Weight
			}
		}
	}
	for name, pair := range map[string][2]float64{
		"staleness": {r.Staleness, share(stale, time)}, "age": {r.Age, share(age, time)}, "unseen": {r.Unseen, share(unseen, time)},
		"harmonic": {r.Harmonic, share(harmonic, time)}, "delay": {r.Delay, share(unseen, changes)},
	} {
		if math.Abs(pair[0]-pair[1]) > 1e-9*(1+pair[1]) {
			t.Errorf("%s %v, by brute force %v", name, pair[0], pair[1])
		}
	}
	for i, part := range line {
		if want := part[0] / part[1]; part[1] > 1e-9 && math.Abs(r.Freshness[i]-want) > 1e-6 {
			t.Errorf("freshness in part %d: %v, by brute force %v", i, r.Freshness[i], want)
		}
	}
}

// The same seed gives the same results, and another policy's run changes nothing.
func TestSameSeedSameResult(t *testing.T) {
	t.Parallel()
	for _, p := range Policies() {
		once, err := Draw("host", Spec{Pages: 60, Days: 40, Seed: 3, Weights: "pareto"})
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Draw("host", Spec{Pages: 60, Days: 40, Seed: 3, Weights: "pareto"})
		o := Options{Budget: Budget{Each: 0.2}, Mode: WorkConserving, Warmup: 10, Seed: 3}
		if a, b := fmt.Sprintf("%+v", Run(once, p, o)), fmt.Sprintf("%+v", Run(again, p, o)); a != b {
			t.Errorf("%s:\n%s\n%s", p.Name, a, b)
		}
	}
}
