package sim

import (
	"math"
	"testing"

	"recrawl/internal/schedule"
)

// The worked examples, run: policies that know the rates reach the printed numbers, which
// come from formulas (package schedule tests these to the last digit), within the limits of
// chance.
func TestWorkedExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many simulations")
	}
	t.Parallel()
	uneven := func(m Metrics) float64 { return 1 - m.Staleness }
	age := func(m Metrics) float64 { return m.Age }
	delay := func(m Metrics) float64 { return m.Unseen }
	harmonic := func(m Metrics) float64 { return m.Harmonic }
	wasted := func(m Metrics) float64 { return m.Wasted }
	for _, c := range []struct {
		world, policy string
		each          float64 // visits a day and page
		metric        func(Metrics) float64
		want          float64
	}{
		{"e1", "uniform", 1, uneven, 0.365053},
		{"e1", "uniform", 1, age, 0.254324},
		{"e1", "uniform", 1, wasted, 0.1156},
		{"e1", "proportional", 1, uneven, 0.316738},
		{"e1", "proportional", 1, age, 0.372977},
		{"e1", "optimum-fresh", 1, uneven, 0.373889},
		{"e1", "optimum-age", 1, age, 0.250335},
		{"e1", "optimum-age", 1, uneven, 0.361751},
		{"e1", "optimum-sqrt", 1, delay, 1.405270},
		{"e1", "optimum-sqrt", 1, uneven, 0.348223},
		{"e1", "optimum-harmonic", 1, harmonic, 0.943135},
		{"e2", "uniform", 1. / 30, uneven, 0.572894},
		{"e2", "uniform", 1. / 30, age, 5.612369},
		{"e2", "uniform", 1. / 30, harmonic, 0.982455},
		{"e2", "uniform", 1. / 30, wasted, 0.4619},
		{"e2", "optimum-fresh", 1. / 30, uneven, 0.616226},
		{"e2", "optimum-fresh", 1. / 30, wasted, 0.5030},
		{"e2", "optimum-age", 1. / 30, age, 4.298705},
		{"e2", "optimum-sqrt", 1. / 30, delay, 1.797974},
		{"e2", "optimum-sqrt", 1. / 30, uneven, 0.466096},
		{"e2", "optimum-harmonic", 1. / 30, harmonic, 0.837429},
		{"e2", "optimum-fresh", 0.1, uneven, 0.715701},
		{"e2", "optimum-fresh", 0.5, uneven, 0.898582},
		{"e2", "optimum-fresh", 1, uneven, 0.944946},
		{"e2", "uniform", 1, uneven, 0.901453},
		{"e3", "uniform", 1, uneven, 0.749947},
		{"e3", "optimum-fresh", 1, uneven, 0.813578},
		{"e3", "proportional", 1, uneven, 0.441902},
		{"e3-limited", "optimum-fresh", 1, uneven, 0.775230},
		{"e3-limited", "optimum-harmonic", 1, uneven, 0.753374},
	} {
		w := draw(t, c.world, Spec{Pages: 600, Days: 600 / math.Sqrt(c.each), Seed: 1})
		p, err := Choose([]string{c.policy})
		if err != nil {
			t.Fatal(err)
		}
		r := Run(w, p[0], Options{Budget: Budget{Each: c.each}, Mode: WorkConserving, Warmup: w.Days / 3})
		if got := c.metric(r.Metrics); math.Abs(got/c.want-1) > 0.02 {
			t.Errorf("%s %s: %v, want %v", c.world, c.policy, got, c.want)
		}
	}
}

// The results of a policy that knows the rates agree with the formulas for the drawn pages.
func TestOptimaAgreeWithFormulas(t *testing.T) {
	t.Parallel()
	const each = 0.3
	for _, kind := range []string{"cho", "host"} {
		w := draw(t, kind, Spec{Pages: 1000, Days: 400, Seed: 2, Weights: "pareto"})
		for _, o := range schedule.Objectives() {
			all := make([]int, len(w.Pages))
			for i := range all {
				all[i] = i
			}
			visits := optimal(o, w, all, each*float64(len(w.Pages)))
			want := 0.0
			for i, p := range w.Pages {
				want += p.Weight * o.Penalty(p.Rate, visits[i]) / float64(len(w.Pages))
			}
			got := Run(w, bestFor(o), Options{Budget: Budget{Each: each}, Mode: WorkConserving, Warmup: 200}).Penalty(o.Name())
			if math.Abs(got/want-1) > 0.03 {
				t.Errorf("%s, %s: penalty %v, by formula %v", kind, o.Name(), got, want)
			}
		}
	}
}
