package gamma

import "math"

// newton follows the tangents of a convex rising function to its root x > 0, from a
// start near it. From the second step on, each step descends towards the root and
// squares the error. After a step of 1e-8 of x the result is exact.
func newton(start float64, f func(x float64) (excess, slope float64)) float64 {
	x := start
	for range 50 {
		excess, slope := f(x)
		step := excess / slope
		x -= step
		if !(math.Abs(step) > 1e-8*x) {
			break
		}
	}
	return x
}

// Point is a point of a curve.
type Point struct{ X, Y float64 }

// PointOn returns the point of f at x.
func PointOn(f func(x float64) float64, x float64) Point { return Point{x, f(x)} }

// Solve finds where a monotone function changes its sign, to within tolerance in x.
// From a point on the curve it searches in growing steps, the first of size step, up to
// limit away, and reports false if there is no change of sign. The result is on the
// side where f is not negative.
func Solve(f func(x float64) float64, rising bool, start Point, step, limit, tolerance float64) (x float64, ok bool) {
	if start.Y == 0 {
		return start.X, true
	}
	near, up := start, rising == (start.Y < 0)
	for walked := 0.0; walked < limit; step *= 4 {
		walked = min(walked+step, limit)
		far := Point{X: start.X - walked}
		if up {
			far.X = start.X + walked
		}
		far.Y = f(far.X)
		if (far.Y >= 0) != (near.Y >= 0) {
			return Root(f, near, far, tolerance), true
		}
		near = far
	}
	return near.X, false
}

// Root finds where f changes its sign between two points, one negative and the other
// not, to within tolerance in x. The result is on the side where f is not negative. A Y
// may be infinite. It is Chandrupatla's method ("A new hybrid quadratic/bisection
// algorithm for finding the zero of a nonlinear function without using derivatives",
// 1997): inverse quadratic interpolation where that is safe, otherwise bisection. It is
// never much slower than bisection.
func Root(f func(x float64) float64, a, b Point, tolerance float64) float64 {
	// a is the newest point, b is across the root from it, c is the one before.
	t := 0.5
	if secant := a.Y / (a.Y - b.Y); secant > 0 && secant < 1 {
		t = secant
	}
	for range 200 {
		width := math.Abs(b.X - a.X)
		if width <= tolerance {
			break
		}
		least := tolerance / 2 / width
		next := Point{X: a.X + min(max(t, least), 1-least)*(b.X-a.X)}
		next.Y = f(next.X)
		if next.Y == 0 {
			return next.X
		}
		c := a
		if (next.Y > 0) != (a.Y >= 0) {
			c, b = b, a
		}
		a = next
		t = interpolate(a, b, c)
	}
	if a.Y >= 0 {
		return a.X
	}
	return b.X
}

// interpolate returns how far from a towards b the inverse parabola through three
// points is zero, or ½ where it cannot be trusted.
func interpolate(a, b, c Point) float64 {
	xi := (a.X - b.X) / (c.X - b.X)
	phi := (a.Y - b.Y) / (c.Y - b.Y)
	// NaN, of infinite points, fails the test.
	if !(phi*phi < xi && (1-phi)*(1-phi) < 1-xi) {
		return 0.5
	}
	return a.Y/(b.Y-a.Y)*c.Y/(b.Y-c.Y) + (c.X-a.X)/(b.X-a.X)*a.Y/(c.Y-a.Y)*b.Y/(c.Y-b.Y)
}
