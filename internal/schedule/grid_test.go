package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
)

// grid is a belief on a grid of rates: exact but for the grid, and too large to be
// kept for each page. What a Gamma belief approximates is held against it.
type grid struct {
	rates, chances []float64
	prior          []float64
	// kappa is how often a day a page's rate is drawn anew: how it forgets.
	kappa       float64
	logEvidence float64
}

// see multiplies with the likelihood of a look.
func (g *grid) see(l Look) {
	anew, sum := -math.Expm1(-g.kappa*l.Days), 0.0
	for i, rate := range g.rates {
		likelihood := math.Exp(-rate * l.Days)
		if l.Changed {
			likelihood = -math.Expm1(-rate * l.Days)
		}
		g.chances[i] = ((1-anew)*g.chances[i] + anew*g.prior[i]) * likelihood
		sum += g.chances[i]
	}
	for i := range g.chances {
		g.chances[i] /= sum
	}
	g.logEvidence += math.Log(sum)
}

func (g *grid) mean() float64 {
	sum := 0.0
	for i, rate := range g.rates {
		sum += rate * g.chances[i]
	}
	return sum
}

// fineGrid is a grid of a Gamma prior, fine enough to be exact.
func fineGrid(prior Gamma) *grid {
	g, sum := &grid{}, 0.0
	for u := -14.0; u < 6; u += 0.01 {
		x := math.Exp(u) * prior.Mean()
		chance := math.Exp(prior.A*math.Log(x*prior.B) - prior.B*x)
		g.rates, g.chances = append(g.rates, x), append(g.chances, chance)
		sum += chance
	}
	for i := range g.chances {
		g.chances[i] /= sum
	}
	g.prior = append(g.prior, g.chances...)
	return g
}

// The worked grid of reference §3: 15 rates from 1/1024 to 16, all as likely, a
// page that changes its ways every 180 days, and the irregular sample.
func TestGrid(t *testing.T) {
	t.Parallel()
	g := &grid{kappa: 1. / 180}
	for k := -10; k <= 4; k++ {
		g.rates, g.chances, g.prior = append(g.rates, math.Exp2(float64(k))), append(g.chances, 1./15), append(g.prior, 1./15)
	}
	for _, l := range sample {
		g.see(l)
	}
	printed(t, "mean and log evidence", "0.44085541 -6.18177348", g.mean(), g.logEvidence)
	printed(t, "chances", "0.000087 0.000176 0.000360 0.000779 0.001999 0.007008 0.031432 0.133043 0.364098 0.383250 0.067759 0.002931 0.002397 0.002345 0.002337", g.chances...)
}

// The Gamma belief's mean against the exact one, over 400 random histories of 12
// looks: priors from very wide to narrow, pages from them, and gaps as the default
// policy makes them. (At times that have nothing to do with what was learned, some
// of them far longer than a page of the prior takes to change, the worst error is
// several times as large: one change found after such a gap is taken for no news,
// and is some if the page then turns out to change seldom.)
func TestGammaAgainstGrid(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 2))
	sum, worst, n := 0.0, 0.0, 400
	for range n {
		prior := Gamma{0.3 * math.Pow(10, r.Float64()), 1}
		prior.B = prior.A / (0.01 * math.Pow(100, r.Float64()))
		exact, belief := fineGrid(prior), prior
		rate := prior.Quantile(r.Float64())
		round := math.Exp(r.NormFloat64()-1.5) / prior.Mean()
		threshold := Delay{}.Worth(prior, round)
		for range 12 {
			l := Look{Days: min(max(Due(Delay{}, belief, threshold), round/24), 120*round)}
			l.Changed = r.Float64() > math.Exp(-rate*l.Days)
			exact.see(l)
			if l.Changed {
				belief = belief.Changed(l.Days)
			} else {
				belief = belief.Unchanged(l.Days)
			}
		}
		off := math.Abs(belief.Mean()/exact.mean() - 1)
		sum, worst = sum+off, max(worst, off)
	}
	t.Logf("mean error %.2f %%, worst %.2f %%", 100*sum/float64(n), 100*worst)
	if sum/float64(n) > 0.02 || worst > 0.10 {
		t.Errorf("mean error %.2f %%, worst %.2f %%; want at most 2 and 10", 100*sum/float64(n), 100*worst)
	}
}
