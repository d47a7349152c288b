package schedule

import "math"

// newton follows the tangents of a convex rising function to its root x > 0, from
// a start near it. From the second step on each one goes down towards the root
// and squares the error, so that after a step of 1e-8 of x nothing is left to do.
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

// point is a place on a curve.
type point struct{ x, y float64 }

// pointOn is the point of f at x.
func pointOn(f func(x float64) float64, x float64) point { return point{x, f(x)} }

// solve finds where a monotone function changes its sign, to within tolerance in
// x, looking from a point on it in growing steps, the first of them step, up to
// limit away; false if it does not change its sign there. The result is on the side
// where f is not negative.
func solve(f func(x float64) float64, rising bool, start point, step, limit, tolerance float64) (x float64, ok bool) {
	if start.y == 0 {
		return start.x, true
	}
	near, up := start, rising == (start.y < 0)
	for walked := 0.0; walked < limit; step *= 4 {
		walked = min(walked+step, limit)
		far := point{x: start.x - walked}
		if up {
			far.x = start.x + walked
		}
		far.y = f(far.x)
		if (far.y >= 0) != (near.y >= 0) {
			return root(f, near, far, tolerance), true
		}
		near = far
	}
	return near.x, false
}

// root finds where f changes its sign between two points, one of them negative
// and the other not, to within tolerance in x, on the side where it is not. It is
// Chandrupatla's method ("A new hybrid quadratic/bisection algorithm for finding
// the zero of a nonlinear function without using derivatives", 1997): inverse
// quadratic interpolation where it is safe and bisection elsewhere, so that it
// is never much slower than bisection. A y may be infinite.
func root(f func(x float64) float64, a, b point, tolerance float64) float64 {
	// a is the newest point, b is across the root from it, c is the one before.
	t := 0.5
	if secant := a.y / (a.y - b.y); secant > 0 && secant < 1 {
		t = secant
	}
	for range 200 {
		width := math.Abs(b.x - a.x)
		if width <= tolerance {
			break
		}
		least := tolerance / 2 / width
		next := point{x: a.x + min(max(t, least), 1-least)*(b.x-a.x)}
		next.y = f(next.x)
		if next.y == 0 {
			return next.x
		}
		c := a
		if (next.y > 0) != (a.y >= 0) {
			c, b = b, a
		}
		a = next
		t = interpolate(a, b, c)
	}
	if a.y >= 0 {
		return a.x
	}
	return b.x
}

// interpolate is how far from a towards b the inverse parabola through three
// points is zero; half way where that cannot be trusted.
func interpolate(a, b, c point) float64 {
	xi := (a.x - b.x) / (c.x - b.x)
	phi := (a.y - b.y) / (c.y - b.y)
	// NaN, of infinite points, fails the test.
	if !(phi*phi < xi && (1-phi)*(1-phi) < 1-xi) {
		return 0.5
	}
	return a.y/(b.y-a.y)*c.y/(b.y-c.y) + (c.x-a.x)/(b.x-a.x)*a.y/(c.y-a.y)*b.y/(c.y-b.y)
}
