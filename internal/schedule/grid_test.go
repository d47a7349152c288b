package schedule

import (
	"math"
	"math/rand/v2"
	"testing"

	"recrawl/internal/schedule/gamma"
	"recrawl/internal/schedule/mathtest"
)

// The worked grid of reference §3: 15 rates from 1/1024 to 16, all as likely, a
// page that changes its ways every 180 days, and the irregular sample.
func TestGrid(t *testing.T) {
	t.Parallel()
	g := &mathtest.Grid{Kappa: 1. / 180}
	for k := -10; k <= 4; k++ {
		g.Rates, g.Chances, g.Prior = append(g.Rates, math.Exp2(float64(k))), append(g.Chances, 1./15), append(g.Prior, 1./15)
	}
	for _, l := range sample {
		g.See(l.Days, l.Changed)
	}
	mathtest.Printed(t, "mean and log evidence", "0.44085541 -6.18177348", g.Mean(), g.LogEvidence)
	mathtest.Printed(t, "chances", "0.000087 0.000176 0.000360 0.000779 0.001999 0.007008 0.031432 0.133043 0.364098 0.383250 0.067759 0.002931 0.002397 0.002345 0.002337", g.Chances...)
}

// The Gamma belief's mean against the exact one, over 400 random histories of 12
// looks: priors from very wide to narrow, pages from them, and gaps as the default
// policy makes them. (At times unrelated to the evidence, some of them far longer
// than a page of the prior takes to change, the worst error is several times as
// large: one change found after such a gap is taken for no news, and is some if the
// page then turns out to change seldom.)
func TestGammaAgainstGrid(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 2))
	sum, worst, n := 0.0, 0.0, 400
	for range n {
		prior := gamma.Distribution{A: 0.3 * math.Pow(10, r.Float64()), B: 1}
		prior.B = prior.A / (0.01 * math.Pow(100, r.Float64()))
		exact, belief := mathtest.FineGrid(prior.A, prior.B), prior
		rate := prior.Quantile(r.Float64())
		round := math.Exp(r.NormFloat64()-1.5) / prior.Mean()
		threshold := Delay{}.Worth(prior, round)
		for range 12 {
			l := Look{Days: min(max(Due(Delay{}, belief, threshold), round/24), 120*round)}
			l.Changed = r.Float64() > math.Exp(-rate*l.Days)
			exact.See(l.Days, l.Changed)
			if l.Changed {
				belief = belief.Changed(l.Days)
			} else {
				belief = belief.Unchanged(l.Days)
			}
		}
		off := math.Abs(belief.Mean()/exact.Mean() - 1)
		sum, worst = sum+off, max(worst, off)
	}
	t.Logf("mean error %.2f %%, worst %.2f %%", 100*sum/float64(n), 100*worst)
	if sum/float64(n) > 0.02 || worst > 0.10 {
		t.Errorf("mean error %.2f %%, worst %.2f %%; want at most 2 and 10", 100*sum/float64(n), 100*worst)
	}
}
