package optimum

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule"
	"recrawl/internal/schedule/mathtest"
)

// The worked examples of reference §6.1 in the numbers of its program: visits a day of each
// element (E2: of each class), their results when spaced evenly (F the freshness, age in
// days, delay a day and page, H the harmonic penalty) and Poisson-timed, and the share of
// visits that find no change.

// e1 is the example of Cho & Garcia-Molina 2003, table 2: λ = 1 … 5 a day, five
// visits a day.
const e1 = `
uniform              [1.0000 1.0000 1.0000 1.0000 1.0000]  F=0.365053 age=0.254324 delay/day=1.500000 H=0.957019 | Poisson-timed F=0.290000 H=1.315850 | wasted=0.1156
proportional         [0.3333 0.6667 1.0000 1.3333 1.6667]  F=0.316738 age=0.372977 delay/day=1.500000 H=1.005614 | Poisson-timed F=0.250000 H=1.386294 | wasted=0.0498
freshness-opt        [1.1499 1.3584 1.3538 1.1379 0.0000]  F=0.373889 age=+Inf delay/day=+Inf H=+Inf | Poisson-timed F=0.294352 H=+Inf | wasted=0.1950
age-opt              [0.8349 0.9679 1.0335 1.0706 1.0931]  F=0.361751 age=0.250335 delay/day=1.447721 H=0.946137 | Poisson-timed F=0.285580 H=1.308595 | wasted=0.0936
delay-opt            [0.5965 0.8436 1.0332 1.1930 1.3338]  F=0.348223 age=0.266847 delay/day=1.405270 H=0.947886 | Poisson-timed F=0.273353 H=1.318064 | wasted=0.0640
harmonic-opt         [0.7166 0.9206 1.0441 1.1286 1.1901]  F=0.356754 age=0.253491 delay/day=1.418672 H=0.943135 | Poisson-timed F=0.280630 H=1.308996 | wasted=0.0784
LambdaCrawl          [0.7829 0.9472 1.0372 1.0956 1.1371]  F=0.359773 age=0.250919 delay/day=1.432920 H=0.944097 | Poisson-timed F=0.283540 H=1.308013 | wasted=0.0866
Azar                 [1.3860 1.3743 1.1326 0.7719 0.3352]  F=0.369790 age=0.435241 delay/day=2.492408 H=1.118561 | Poisson-timed F=0.297365 H=1.464962 | wasted=0.2157
`

// e2 is the histogram of Cho & Garcia-Molina 2000 as classes of one rate each:
// 1000 pages, each visited once in 30 days on average.
const e2 = `
uniform              [0.033333 0.033333 0.033333 0.033333 0.033333]  F=0.572894 age=5.612369 delay/day=3.883757 H=0.982455 | Poisson-timed F=0.521013 H=1.209871 | wasted=0.4619
proportional         [0.128741 0.018392 0.004291 0.001073 0.000353]  F=0.128687 age=406.017223 delay/day=3.883757 H=1.755902 | Poisson-timed F=0.114057 H=2.171053 | wasted=0.0004
freshness-opt        [0.000000 0.087582 0.058145 0.032162 0.019156]  F=0.616226 age=+Inf delay/day=+Inf H=+Inf | Poisson-timed F=0.548245 H=+Inf | wasted=0.5030
age-opt              [0.051717 0.047096 0.035012 0.023594 0.016657]  F=0.573584 age=4.298705 delay/day=2.580222 H=0.864336 | Poisson-timed F=0.506329 H=1.103137 | wasted=0.2818
delay-opt            [0.096279 0.036390 0.017578 0.008789 0.005039]  F=0.466096 age=11.202178 delay/day=1.797974 H=0.898795 | Poisson-timed F=0.382368 H=1.205723 | wasted=0.0586
harmonic-opt         [0.068462 0.049463 0.029478 0.016112 0.009577]  F=0.546442 age=5.212001 delay/day=2.071134 H=0.837429 | Poisson-timed F=0.467133 H=1.098874 | wasted=0.1689
LambdaCrawl          [0.061236 0.048512 0.032770 0.019475 0.012044]  F=0.561252 age=4.570940 delay/day=2.248564 H=0.842619 | Poisson-timed F=0.487069 H=1.092679 | wasted=0.2156
Azar                 [0.000000 0.059599 0.064462 0.040564 0.025297]  F=0.610774 age=+Inf delay/day=+Inf H=+Inf | Poisson-timed F=0.553038 H=+Inf | wasted=0.5718
`

// e3 has weights; six visits a day.
const e3 = `
uniform              [1.0000 1.0000 1.0000 1.0000 1.0000 1.0000]  F=0.749947 age=0.095861 delay/day=0.525500 H=0.346584 | Poisson-timed F=0.684121 H=0.508363 | wasted=0.4992
proportional         [4.1308 1.0327 0.2582 0.5164 0.0516 0.0103]  F=0.441902 age=3.233165 delay/day=0.968333 H=0.733483 | Poisson-timed F=0.340522 H=1.077275 | wasted=0.1442
importance-prop      [0.3000 1.5000 0.6000 0.3000 3.0000 0.3000]  F=0.762392 age=0.174256 delay/day=0.968333 H=0.381854 | Poisson-timed F=0.705780 H=0.531388 | wasted=0.6415
freshness-opt        [0.0000 2.9531 0.9854 0.7748 1.1290 0.1577]  F=0.813578 age=+Inf delay/day=+Inf H=+Inf | Poisson-timed F=0.740909 H=+Inf | wasted=0.5798
age-opt              [1.1540 1.8558 0.9129 0.8529 0.9623 0.2621]  F=0.789698 age=0.063851 delay/day=0.392602 H=0.274182 | Poisson-timed F=0.713641 H=0.421945 | wasted=0.4225
delay-opt            [1.8583 2.0777 0.6570 0.6570 0.6570 0.0929]  F=0.776473 age=0.090821 delay/day=0.347482 H=0.273621 | Poisson-timed F=0.688513 H=0.435427 | wasted=0.3180
harmonic-opt         [1.2292 2.3623 0.7689 0.6871 0.8354 0.1172]  F=0.793382 age=0.075318 delay/day=0.371632 H=0.265098 | Poisson-timed F=0.712254 H=0.413565 | wasted=0.4027
LambdaCrawl          [0.9641 2.4356 0.8190 0.6534 0.9906 0.1373]  F=0.799101 age=0.073418 delay/day=0.407754 H=0.267594 | Poisson-timed F=0.722301 H=0.410317 | wasted=0.4453
Azar                 [0.0000 2.8259 1.0261 0.5261 1.4261 0.1958]  F=0.811109 age=+Inf delay/day=+Inf H=+Inf | Poisson-timed F=0.743469 H=+Inf | wasted=0.6013
`

func elementsE1() []Element {
	return []Element{{Lambda: 1, Weight: 1}, {Lambda: 2, Weight: 1}, {Lambda: 3, Weight: 1}, {Lambda: 4, Weight: 1}, {Lambda: 5, Weight: 1}}
}

// classesE2 are how many pages of each rate there are.
var classesE2 = []struct {
	pages int
	days  float64 // between two changes
}{{230, 1}, {150, 7}, {160, 30}, {160, 120}, {300, 365}}

func elementsE2() []Element {
	var all []Element
	for _, c := range classesE2 {
		all = append(all, slices.Repeat([]Element{{Lambda: 1 / c.days, Weight: 1}}, c.pages)...)
	}
	return all
}

// firstsE2 picks one number per class.
func firstsE2(visits []float64) []float64 {
	var firsts []float64
	i := 0
	for _, c := range classesE2 {
		firsts = append(firsts, visits[i])
		i += c.pages
	}
	return firsts
}

func elementsE3() []Element {
	return []Element{
		{Lambda: 8, Weight: 1},
		{Lambda: 2, Weight: 5},
		{Lambda: 0.5, Weight: 2},
		{Lambda: 1, Weight: 1, Host: 1},
		{Lambda: 0.1, Weight: 10, Host: 1},
		{Lambda: 0.02, Weight: 1, Host: 1},
	}
}

// inProportion divides a budget in proportion to a number of each element.
func inProportion(elements []Element, budget float64, to func(Element) float64) []float64 {
	sum, visits := 0.0, make([]float64, len(elements))
	for i, e := range elements {
		visits[i] = to(e)
		sum += visits[i]
	}
	for i := range visits {
		visits[i] *= budget / sum
	}
	return visits
}

func uniform(Element) float64        { return 1 }
func proportional(e Element) float64 { return e.Lambda }
func byImportance(e Element) float64 { return e.Weight }

// mean is the weighted mean of a penalty.
func mean(elements []Element, visits []float64, penalty func(lambda, visits float64) float64) float64 {
	sum, weights := 0.0, 0.0
	for i, e := range elements {
		sum += e.Weight * penalty(e.Lambda, visits[i])
		weights += e.Weight
	}
	return sum / weights
}

func TestWorkedExamples(t *testing.T) {
	t.Parallel()
	for _, example := range []struct {
		name, table string
		elements    []Element
		budget      float64
		shown       func(visits []float64) []float64
	}{
		{"E1", e1, elementsE1(), 5, slices.Clone[[]float64]},
		{"E2", e2, elementsE2(), 1000. / 30, firstsE2},
		{"E3", e3, elementsE3(), 6, slices.Clone[[]float64]},
	} {
		optimal := func(o schedule.Objective) []float64 { return Allocate(o, example.elements, example.budget, nil).Visits }
		even := func(to func(Element) float64) []float64 { return inProportion(example.elements, example.budget, to) }
		rows := map[string]func() []float64{
			"uniform":         func() []float64 { return even(uniform) },
			"proportional":    func() []float64 { return even(proportional) },
			"importance-prop": func() []float64 { return even(byImportance) },
			"freshness-opt":   func() []float64 { return optimal(schedule.Fresh{}) },
			"age-opt":         func() []float64 { return optimal(schedule.Age{}) },
			"delay-opt":       func() []float64 { return optimal(schedule.Delay{}) },
			"harmonic-opt":    func() []float64 { return optimal(schedule.Harmonic{}) },
			"LambdaCrawl":     func() []float64 { return optimal(lambdaCrawl{}) },
			"Azar":            func() []float64 { return optimal(azar{}) },
		}
		for line := range strings.Lines(strings.TrimSpace(example.table)) {
			name := strings.Fields(line)[0]
			visits := rows[name]()
			what := example.name + " " + name
			mathtest.Printed(t, what+" visits", between(line, "[", "]"), example.shown(visits)...)
			values := valuesRE.FindAllStringSubmatch(line, -1)
			timed := func(o schedule.Objective) func(lambda, visits float64) float64 {
				return func(lambda, visits float64) float64 { return randomly(o, lambda, visits) }
			}
			for i, got := range []float64{
				1 - mean(example.elements, visits, schedule.Fresh{}.Penalty), mean(example.elements, visits, schedule.Age{}.Penalty),
				mean(example.elements, visits, schedule.Delay{}.Penalty), mean(example.elements, visits, schedule.Harmonic{}.Penalty),
				1 - mean(example.elements, visits, timed(schedule.Fresh{})), mean(example.elements, visits, timed(schedule.Harmonic{})),
				wasted(example.elements, visits),
			} {
				mathtest.Printed(t, what+" "+values[i][1], values[i][2], got)
			}
		}
	}
}

var valuesRE = regexp.MustCompile(`([A-Za-z/]+)=(\S+)`)

func between(line, left, right string) string {
	_, rest, _ := strings.Cut(line, left)
	inside, _, _ := strings.Cut(rest, right)
	return inside
}

// wasted is the share of visits that find no change.
func wasted(elements []Element, visits []float64) float64 {
	none, all := 0.0, 0.0
	for i, e := range elements {
		if visits[i] > 0 {
			none += visits[i] * math.Exp(-e.Lambda/visits[i])
			all += visits[i]
		}
	}
	return none / all
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		objective schedule.Objective
		elements  []Element
		budget    float64
		price     string
	}{
		{"E1 fresh", schedule.Fresh{}, elementsE1(), 5, "0.2164318261"},
		{"E1 age", schedule.Age{}, elementsE1(), 5, "0.380777698"},
		{"E1 harmonic", schedule.Harmonic{}, elementsE1(), 5, "0.6432459611"},
		{"E1 LambdaCrawl", lambdaCrawl{}, elementsE1(), 5, "0.7164599417"},
		{"E2 fresh", schedule.Fresh{}, elementsE2(), 1000. / 30, "3.3954615"},
		{"E2 fresh, 100 visits", schedule.Fresh{}, elementsE2(), 100, "0.99748589"},
		{"E2 fresh, 500 visits", schedule.Fresh{}, elementsE2(), 500, "0.17001394"},
		{"E2 fresh, 1000 visits", schedule.Fresh{}, elementsE2(), 1000, "0.050455097"},
	} {
		mathtest.Printed(t, c.name, c.price, Allocate(c.objective, c.elements, c.budget, nil).Price)
	}
}

// E2 with larger budgets: intervals in days per class, freshness, age, delay,
// harmonic penalty; and the freshness of uniform visits.
func TestLargerBudgets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget                     float64
		intervals, values, uniform string
	}{
		{100, "8.2057 4.6297 8.4922 16.1796 27.6730", "0.715701 1.026091 1.038059 0.502987 0.659820 0.668748 0.4962", "0.688343"},
		{500, "0.7405 1.6691 3.3131 6.5039 11.2554", "0.898582 0.063015 0.120842 0.110592 0.840150 0.193860 0.6226", "0.842548"},
		{1000, "0.3572 0.8761 1.7745 3.5139 6.1029", "0.944946 0.017703 0.060045 0.057482 0.904363 0.106720 0.7791", "0.901453"},
	} {
		elements := elementsE2()
		visits := Allocate(schedule.Fresh{}, elements, c.budget, nil).Visits
		intervals := firstsE2(visits)
		for i := range intervals {
			intervals[i] = 1 / intervals[i]
		}
		what := fmt.Sprintf("%v visits", c.budget)
		mathtest.Printed(t, what, c.intervals, intervals...)
		mathtest.Printed(t, what, c.values, 1-mean(elements, visits, schedule.Fresh{}.Penalty), mean(elements, visits, schedule.Age{}.Penalty),
			mean(elements, visits, schedule.Delay{}.Penalty), mean(elements, visits, schedule.Harmonic{}.Penalty),
			1-mean(elements, visits, func(l, f float64) float64 { return randomly(schedule.Fresh{}, l, f) }),
			mean(elements, visits, func(l, f float64) float64 { return randomly(schedule.Harmonic{}, l, f) }), wasted(elements, visits))
		mathtest.Printed(t, what+", uniform", c.uniform, 1-mean(elements, inProportion(elements, c.budget, uniform), schedule.Fresh{}.Penalty))
	}
}

// E3 where the first host takes two visits a day at most.
func TestHostLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		objective      schedule.Objective
		visits, prices string
		values         string // F, age, delay, H
		poisson        string // F, H
		wasted         string
	}{
		{schedule.Fresh{}, "0.000000 1.473623 0.526377 1.695817 2.020433 0.283750", "0.98325672 0.11851701", "0.775230 +Inf +Inf +Inf", "0.711924 +Inf", "0.6184"},
		{schedule.Harmonic{}, "0.429256 1.177181 0.393562 1.788568 1.938293 0.273140", "2.2046114 0.1308262", "0.753374 0.140572 0.770522 0.373381", "0.693346 0.529977", "0.5738"},
		{lambdaCrawl{}, "0.370561 1.208451 0.420988 1.660336 2.052273 0.287390", "2.5791448 0.22639529", "0.756905 0.143409 0.834961 0.374236", "0.696806 0.528993", "0.5819"},
	} {
		elements := elementsE3()
		a := Allocate(c.objective, elements, 6, []float64{2, 0})
		what := fmt.Sprintf("%T", c.objective)
		mathtest.Printed(t, what+" visits", c.visits, a.Visits...)
		mathtest.Printed(t, what+" prices", c.prices, a.HostPrices...)
		if a.Price != a.HostPrices[1] {
			t.Errorf("%s: the price is %v, at the host below its limit %v", what, a.Price, a.HostPrices[1])
		}
		mathtest.Printed(t, what, c.values, 1-mean(elements, a.Visits, schedule.Fresh{}.Penalty), mean(elements, a.Visits, schedule.Age{}.Penalty),
			mean(elements, a.Visits, schedule.Delay{}.Penalty), mean(elements, a.Visits, schedule.Harmonic{}.Penalty))
		mathtest.Printed(t, what+" Poisson-timed", c.poisson, 1-mean(elements, a.Visits, func(l, f float64) float64 { return randomly(schedule.Fresh{}, l, f) }),
			mean(elements, a.Visits, func(l, f float64) float64 { return randomly(schedule.Harmonic{}, l, f) }))
		mathtest.Printed(t, what+" wasted", c.wasted, wasted(elements, a.Visits))
	}
}

func TestAllocateAtItsEdges(t *testing.T) {
	t.Parallel()
	for _, o := range schedule.Objectives() {
		for _, c := range []struct {
			name     string
			elements []Element
			budget   float64
			hosts    []float64
			want     []float64
			price    float64 // NaN is any
		}{
			{"no elements", nil, 5, nil, nil, 0},
			{"no budget", elementsE1(), 0, nil, make([]float64, 5), math.Inf(1)},
			{"a budget below nothing", elementsE1(), -1, nil, make([]float64, 5), math.Inf(1)},
			{"neither rate nor weight", []Element{{Weight: 1}, {Lambda: 1}, {Lambda: 3, Weight: 1}}, 2, nil, []float64{0, 0, 2}, math.NaN()},
			{"nothing to visit", []Element{{Weight: 1}, {Lambda: 1}}, 2, nil, []float64{0, 0}, 0},
			{"limits below the budget", []Element{{Lambda: 1, Weight: 1, Limit: 2}, {Lambda: 9, Weight: 1, Limit: 3}}, 6, nil, []float64{2, 3}, 0},
			{"a host's limit below the budget", []Element{{Lambda: 2, Weight: 1}, {Lambda: 2, Weight: 1}}, 6, []float64{4}, []float64{2, 2}, 0},
			{"equal pages, hardly ever visited", []Element{{Lambda: 1, Weight: 1}, {Lambda: 1, Weight: 1}}, 0.02, nil, []float64{0.01, 0.01}, math.NaN()},
		} {
			a := Allocate(o, c.elements, c.budget, c.hosts)
			for i, want := range c.want {
				if !mathtest.Alike(a.Visits[i], want, 1e-10) {
					t.Errorf("%s, %s: visits %v, want %v", o.Name(), c.name, a.Visits, c.want)
				}
			}
			if a.Price != c.price && !math.IsNaN(c.price) {
				t.Errorf("%s, %s: price %v, want %v", o.Name(), c.name, a.Price, c.price)
			}
		}
	}
}

// world draws elements of all kinds, a budget and limits of hosts.
type world struct {
	objective schedule.Objective
	elements  []Element
	budget    float64
	hosts     []float64
}

var (
	plainWorlds = mathtest.Shared(worlds(false))
	anyWorlds   = mathtest.Shared(worlds(true))
)

func worlds(limited bool) *rapid.Generator[world] {
	return rapid.Custom(func(t *rapid.T) world {
		w := world{objective: rapid.SampledFrom(schedule.Objectives()).Draw(t, "objective")}
		if limited {
			w.hosts = rapid.SliceOfN(rapid.OneOf(rapid.Just(0.), mathtest.Positive(0.01, 100)), 0, 4).Draw(t, "hosts")
		}
		w.elements = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Element {
			e := Element{Lambda: mathtest.Positive(1e-3, 100).Draw(t, "lambda"), Weight: mathtest.Positive(0.01, 100).Draw(t, "weight")}
			if limited {
				e.Limit = rapid.OneOf(rapid.Just(0.), mathtest.Positive(0.01, 100)).Draw(t, "limit")
				e.Host = rapid.IntRange(0, max(0, len(w.hosts)-1)).Draw(t, "host")
			}
			return e
		}), 1, 30).Draw(t, "elements")
		// The freshness of pages that are visited once in 30 changes is beyond what
		// floats tell apart; crawls are not like that.
		least := 0.0
		for _, e := range w.elements {
			least += e.Lambda / 20
		}
		w.budget = least * mathtest.Positive(1, 1e4).Draw(t, "budget")
		return w
	})
}

// marginal returns how much one more visit a day would save, by differences.
func marginal(o schedule.Objective, e Element, visits float64) float64 {
	h := visits * 1e-4
	return e.Weight * (o.Penalty(e.Lambda, visits-h) - o.Penalty(e.Lambda, visits+h)) / (2 * h)
}

// The conditions of Karush, Kuhn and Tucker hold at the solution, checked on penalties
// alone: visited elements save the price of their host at the margin, or more at their
// limit; the others would save no more than the price; and limits hold or cost nothing.
func TestKarushKuhnTucker(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := anyWorlds.Draw(t, "world")
		a := Allocate(w.objective, w.elements, w.budget, w.hosts)
		total, used := 0.0, make([]float64, len(w.hosts))
		for i, e := range w.elements {
			price := a.Price
			if len(w.hosts) > 0 {
				price = a.HostPrices[e.Host]
				used[e.Host] += a.Visits[i]
			}
			f := a.Visits[i]
			total += f
			atLimit := e.Limit > 0 && f > e.Limit*(1-1e-9)
			switch {
			case math.IsNaN(f) || f < 0 || e.Limit > 0 && f > e.Limit*(1+1e-9):
				t.Fatalf("element %d gets %v visits, its limit is %v", i, f, e.Limit)
			case f == 0:
				// One visit at all saves at most w/λ of fresh time.
				if _, fresh := w.objective.(schedule.Fresh); !fresh || e.Weight/e.Lambda > price*(1+1e-9) {
					t.Fatalf("element %d, worth %v, is given up at price %v", i, e.Weight/e.Lambda, price)
				}
			case atLimit && marginal(w.objective, e, f) < price*(1-1e-3):
				t.Fatalf("element %d at its limit saves %v, less than the price %v", i, marginal(w.objective, e, f), price)
			case !atLimit && !mathtest.Alike(marginal(w.objective, e, f), price, 1e-3) && e.Lambda/f < 15:
				t.Fatalf("element %d saves %v at the margin, the price is %v", i, marginal(w.objective, e, f), price)
			}
		}
		if total > w.budget*(1+1e-9) || a.Price > 0 && total < w.budget*(1-1e-9) {
			t.Fatalf("%v visits of %v at price %v", total, w.budget, a.Price)
		}
		for h, limit := range w.hosts {
			if limit > 0 && used[h] > limit*(1+1e-9) || a.HostPrices[h] > a.Price && used[h] < limit*(1-1e-9) {
				t.Fatalf("host %d uses %v of %v at price %v, others at %v", h, used[h], limit, a.HostPrices[h], a.Price)
			}
		}
	})
}

// Taking visits from one element for another never helps.
func TestNoExchangeHelps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := plainWorlds.Draw(t, "world")
		visits := Allocate(w.objective, w.elements, w.budget, nil).Visits
		best := mean(w.elements, visits, w.objective.Penalty)
		i, j := rapid.IntRange(0, len(visits)-1).Draw(t, "from"), rapid.IntRange(0, len(visits)-1).Draw(t, "to")
		moved := visits[i] * rapid.Float64Range(0, 1).Draw(t, "share")
		visits[i] -= moved
		visits[j] += moved
		if other := mean(w.elements, visits, w.objective.Penalty); other < best*(1-1e-10) {
			t.Fatalf("penalty %v, and %v with %v visits moved from %d to %d", best, other, moved, i, j)
		}
	})
}

// Visiting all pages alike beats visiting them in proportion to their changes, for
// freshness and age (Cho & Garcia-Molina 2003, theorem of §4.2), and no worse than
// the optimum.
func TestUniformBeatsProportional(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := plainWorlds.Draw(t, "world")
		for i := range w.elements {
			w.elements[i].Weight = 1
		}
		for _, o := range []schedule.Objective{schedule.Fresh{}, schedule.Age{}} {
			best := mean(w.elements, Allocate(o, w.elements, w.budget, nil).Visits, o.Penalty)
			same := mean(w.elements, inProportion(w.elements, w.budget, uniform), o.Penalty)
			often := mean(w.elements, inProportion(w.elements, w.budget, proportional), o.Penalty)
			if best > same*(1+1e-10) || same > often*(1+1e-10) {
				t.Fatalf("%s: optimal %v, uniform %v, proportional %v", o.Name(), best, same, often)
			}
		}
	})
}

// Evenly spaced visits beat as many at random times: for each page, and at the
// optimum of either.
func TestEvenBeatsRandomTimes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := plainWorlds.Draw(t, "world")
		timed := func(lambda, visits float64) float64 { return randomly(w.objective, lambda, visits) }
		visits := Allocate(w.objective, w.elements, w.budget, nil).Visits
		for i, e := range w.elements {
			if even, random := w.objective.Penalty(e.Lambda, visits[i]), timed(e.Lambda, visits[i]); even > random*(1+1e-12) {
				t.Fatalf("element %d: %v evenly, %v at random", i, even, random)
			}
		}
		var theirs schedule.Objective
		switch w.objective.(type) {
		case schedule.Fresh:
			theirs = azar{}
		case schedule.Harmonic:
			theirs = lambdaCrawl{}
		default:
			return
		}
		best := mean(w.elements, visits, w.objective.Penalty)
		random := mean(w.elements, Allocate(theirs, w.elements, w.budget, nil).Visits, timed)
		if best > random*(1+1e-10) {
			t.Fatalf("best even %v, best at random %v", best, random)
		}
	})
}

// Sizov's optimum in closed form: m_i = M √λ_i / Σ√λ_j.
func TestSquareRootLaw(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := plainWorlds.Draw(t, "world")
		want := inProportion(w.elements, w.budget, func(e Element) float64 { return math.Sqrt(e.Weight * e.Lambda) })
		for i, got := range Allocate(schedule.Delay{}, w.elements, w.budget, nil).Visits {
			if !mathtest.Alike(got, want[i], 1e-11) {
				t.Fatalf("element %d gets %v, want %v", i, got, want[i])
			}
		}
	})
}

// Azar et al. solve theirs by sorting: the solver agrees with it.
func TestAzarClosedForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := plainWorlds.Draw(t, "world")
		want := azarByPrefix(w.elements, w.budget)
		for i, got := range Allocate(azar{}, w.elements, w.budget, nil).Visits {
			if math.Abs(got-want[i]) > 1e-9*w.budget {
				t.Fatalf("element %d gets %v, want %v", i, got, want[i])
			}
		}
	})
}

func azarByPrefix(elements []Element, budget float64) []float64 {
	order := make([]int, len(elements))
	for i := range order {
		order[i] = i
	}
	merit := func(i int) float64 { return elements[i].Weight / elements[i].Lambda }
	slices.SortFunc(order, func(a, b int) int { return -int(math.Copysign(1, merit(a)-merit(b))) })
	r, s, kept := 0.0, 0.0, 0
	for _, i := range order {
		e := elements[i]
		root := math.Sqrt(e.Weight * e.Lambda)
		if root*(budget+s+e.Lambda)/(r+root) <= e.Lambda {
			break
		}
		r, s, kept = r+root, s+e.Lambda, kept+1
	}
	visits := make([]float64, len(elements))
	for _, i := range order[:kept] {
		e := elements[i]
		visits[i] = math.Sqrt(e.Weight*e.Lambda)*(budget+s)/r - e.Lambda
	}
	return visits
}

// million is a large world: rates over five orders of magnitude, weights of a
// heavy tail, a thousand hosts.
func million(n int) []Element {
	r := rand.New(rand.NewPCG(1, 2))
	elements := make([]Element, n)
	for i := range elements {
		elements[i] = Element{
			Lambda: math.Exp(math.Log(1./30) + 1.8*r.NormFloat64()), Host: i % 1000,
			Weight: min(100, math.Pow(1-r.Float64(), -1/1.5)),
		}
	}
	return elements
}

// The target for 1 000 000 pages is 5 s.
func BenchmarkAllocate(b *testing.B) {
	elements := million(1e6)
	limits := make([]float64, 1000)
	for i := range limits {
		limits[i] = 20 + float64(i%400)
	}
	for _, o := range schedule.Objectives() {
		for name, hosts := range map[string][]float64{"": nil, "/hosts": limits} {
			b.Run(o.Name()+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Allocate(o, elements, 2e5, hosts)
				}
			})
		}
	}
}
