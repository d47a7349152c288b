package gamma

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Roots of curves of all shapes are found, from both sides, on the side where the
// function is not negative, and in few steps.
func TestSolve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := rapid.Float64Range(-30, 30).Draw(t, "root")
		sign := rapid.SampledFrom([]float64{-1, 1}).Draw(t, "sign")
		shape := rapid.SampledFrom([]func(float64) float64{
			func(x float64) float64 { return x },
			func(x float64) float64 { return x * x * x },
			math.Expm1, math.Atan, math.Cbrt,
			func(x float64) float64 { return math.Copysign(1, x) },               // a jump
			func(x float64) float64 { return math.Log(max(0, x+1)) },             // −Inf on one side
			func(x float64) float64 { return math.Tan(min(max(x, -1.5), 1.57)) }, // steep, then flat
		}).Draw(t, "shape")
		steps := 0
		f := func(x float64) float64 { steps++; return sign * shape(x-at) }
		start := PointOn(f, rapid.Float64Range(-30, 30).Draw(t, "start"))
		got, ok := Solve(f, sign > 0, start, rapid.Float64Range(1e-3, 10).Draw(t, "step"), 100, 1e-9)
		if !ok || math.Abs(got-at) > 2e-9 || f(got) < 0 {
			t.Fatalf("root %v (%t), want %v; f there is %v", got, ok, at, f(got))
		}
		if steps > 100 {
			t.Fatalf("%d steps", steps)
		}
	})
}

func TestSolveWithoutRoot(t *testing.T) {
	t.Parallel()
	if _, ok := Solve(math.Exp, true, Point{0, 1}, 1, 100, 1e-9); ok {
		t.Error("found a root of e^x")
	}
	if x, ok := Solve(func(x float64) float64 { return x - 3 }, true, Point{3, 0}, 1, 100, 1e-9); !ok || x != 3 {
		t.Errorf("a start at the root leads to %v, %t", x, ok)
	}
}
