package gamma

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/mathtest"
)

// The χ² distribution with k degrees of freedom is twice a Gamma(k/2, 1): the
// printed numbers are of its tables (Abramowitz and Stegun, table 26.8).
func TestQuantile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		freedom float64
		want    string // 5 % and 95 %
	}{
		{1, "0.00393 3.8415"}, {2, "0.10259 5.9915"}, {4, "0.71072 9.4877"}, {10, "3.9403 18.3070"}, {100, "77.9295 124.3421"},
	} {
		g := Distribution{c.freedom / 2, 0.5}
		mathtest.Printed(t, "χ²", c.want, g.Quantile(0.05), g.Quantile(0.95))
	}
	g := Distribution{0.7, 14}
	if g.Quantile(0) != 0 || !math.IsInf(g.Quantile(1), 1) {
		t.Errorf("the ends are %v and %v", g.Quantile(0), g.Quantile(1))
	}
}

// The distribution at a quantile is the requested probability; quantiles rise.
func TestQuantileInverts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := distributions.Draw(t, "belief")
		p := rapid.Float64Range(0.001, 0.998).Draw(t, "p")
		q := g.Quantile(p)
		if got := incompleteGamma(g.A, q*g.B); !mathtest.Alike(got, p, 1e-7) {
			t.Fatalf("P is %v at the %v quantile %v", got, p, q)
		}
		if more := g.Quantile(p + 0.001); !(more > q) {
			t.Fatalf("the %v quantile is %v, the one above %v", p, q, more)
		}
	})
}
