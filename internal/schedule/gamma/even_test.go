package gamma

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/schedule/mathtest"
)

func TestEvenFunctions(t *testing.T) {
	t.Parallel()
	// x, G, H, K and the freshness F = (1−e^−x)/x = 1 − K(x)/x.
	for line := range strings.Lines(`
		1e-06   4.99999666667e-13 3.33333208333e-19 4.99999833333e-13 0.9999995
		0.001   4.99666791633e-07 3.3320836666e-10  4.99833374992e-07 0.999500166625
		0.01    4.96679133403e-05 3.32086659734e-07 4.98337491681e-05 0.995016625083
		0.1     0.00467884016044  0.000321159839556 0.00483741803596  0.95162581964
		0.5     0.090204010431    0.034795989569    0.106530659713    0.786938680575
		1       0.264241117657    0.235758882343    0.367879441171    0.632120558829
		2       0.59399415029     1.40600584971     1.13533528324     0.432332358382
		5       0.959572318005    11.540427682      4.006737947       0.1986524106
		10      0.999500600773    49.0004993992     9.00004539993     0.099995460007
		30      0.999999999997    449               29                0.0333333333333
	`) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		x, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			t.Fatal(err)
		}
		mathtest.Printed(t, "x = "+fields[0], strings.Join(fields[1:], " "), EvenG(x), EvenH(x), EvenK(x), 1-EvenK(x)/x)
	}
	// Where half of the time is fresh, x = 2(1−e^−x): most is learned there.
	mathtest.Printed(t, "F at most information", "0.5", 1-EvenK(MostInformative)/MostInformative)
}

func TestEvenInverses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		y    float64
		want string // inverses of G, H, K
	}{
		{1e-9, "4.47220262303e-05 0.00144250962141 4.47216928858e-05"},
		{1e-4, "0.0142092376218 0.0675075441787 0.0141755476728"},
		{0.1, "0.53181160839 0.729596454041 0.483183168208"},
		{0.5, "1.67834699002 1.32930254374 1.19829043732"},
		{0.9, "3.88972016987 1.67215967043 1.72113740748"},
		{0.999, "9.23341347645 1.74297582295 1.84021703987"},
		{1 - 1e-12, "31.0998960291 1.74367106409 1.84140566044"},
	} {
		mathtest.Printed(t, strconv.FormatFloat(c.y, 'g', -1, 64), c.want, EvenGInverse(c.y), EvenHInverse(c.y), EvenKInverse(c.y))
	}
	for _, y := range []float64{math.Inf(-1), -1, 0} {
		if got := []float64{EvenGInverse(y), EvenHInverse(y), EvenKInverse(y)}; got[0] != 0 || got[1] != 0 || got[2] != 0 {
			t.Errorf("inverses at %v are %v, want 0", y, got)
		}
	}
	for _, y := range []float64{1, 2, math.Inf(1)} {
		if got := EvenGInverse(y); !math.IsInf(got, 1) {
			t.Errorf("G never reaches %v; its inverse is %v", y, got)
		}
	}
	if h, k := EvenHInverse(math.Inf(1)), EvenKInverse(math.Inf(1)); !math.IsInf(h, 1) || !math.IsInf(k, 1) {
		t.Errorf("inverses at infinity: %v, %v", h, k)
	}
}

// The inverses invert, for all x that floats of y can distinguish.
func TestEvenInversesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := mathtest.Positive(1e-7, 1e6).Draw(t, "x")
		if back := EvenHInverse(EvenH(x)); !mathtest.Alike(back, x, 1e-13) {
			t.Fatalf("H: %v comes back as %v", x, back)
		}
		if back := EvenKInverse(EvenK(x)); !mathtest.Alike(back, x, 1e-13) {
			t.Fatalf("K: %v comes back as %v", x, back)
		}
		// An error of y is magnified by 1/(xe^−x).
		if back := EvenGInverse(EvenG(x)); x < 20 && !mathtest.Alike(back, x, 1e-14+1e-16*math.Exp(x)/x) {
			t.Fatalf("G: %v comes back as %v", x, back)
		}
	})
}

// The functions are exact to nearly all digits, the small x included.
func TestEvenFunctionsExactly(t *testing.T) {
	t.Parallel()
	for u := -18.0; u < 4; u += 0.05 {
		x := math.Exp(u)
		g, h, k := exactEven(x)
		if !mathtest.Alike(EvenG(x), g, 1e-14) || !mathtest.Alike(EvenH(x), h, 1e-13) || !mathtest.Alike(EvenK(x), k, 1e-14) {
			t.Errorf("at %v: %v %v %v, want %v %v %v", x, EvenG(x), EvenH(x), EvenK(x), g, h, k)
		}
	}
}

// exactEven is G, H and K by their definitions in 400 bits.
func exactEven(x float64) (g, h, k float64) {
	number := func(f float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(f) }
	exp, term := number(1), number(1)
	for i := 1.0; i < 400; i++ {
		term.Quo(term.Mul(term, number(x)), number(i))
		exp.Add(exp, term)
	}
	inverse := number(0).Quo(number(1), exp)
	bigG := number(0).Sub(number(1), number(0).Mul(number(0).Add(number(1), number(x)), inverse))
	bigH := number(0).Mul(number(x), number(x))
	bigH.Sub(bigH.Quo(bigH, number(2)), bigG)
	bigK := number(0).Add(number(0).Sub(number(x), number(1)), inverse)
	g, _ = bigG.Float64()
	h, _ = bigH.Float64()
	k, _ = bigK.Float64()
	return g, h, k
}

// Ein at 1 is that of Abramowitz and Stegun; the series and the fraction meet.
func TestEin(t *testing.T) {
	t.Parallel()
	mathtest.Printed(t, "Ein(1)", "0.796599599297", Ein(1))
	mathtest.Printed(t, "Ein(10)", "2.8798049149", Ein(10)) // ln 10 + γ + 4.156969e-6
	if below, above := Ein(3-1e-9), Ein(3); !mathtest.Alike(below, above, 1e-9) {
		t.Errorf("Ein jumps at 3 from %v to %v", below, above)
	}
}
