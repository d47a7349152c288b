// Package mathtest helps to test mathematics: numbers as papers print them, draws of
// any size, and beliefs about a rate on a fine grid to compare approximations with.
package mathtest

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// isPrinted reports whether a number, rounded to the digits of a printed one, equals
// it.
func isPrinted(got float64, printed string) bool {
	want, err := strconv.ParseFloat(printed, 64)
	if err != nil {
		panic(printed + " is no number")
	}
	if math.IsInf(want, 0) || math.IsNaN(want) {
		return got == want || math.IsNaN(got) && math.IsNaN(want)
	}
	mantissa, _, scientific := strings.Cut(printed, "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	format := byte('f')
	if scientific {
		format = 'e'
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(got, format, len(decimals), 64), 64)
	return rounded == want
}

// Printed fails the test unless the numbers, rounded, are those in want, which are
// separated by spaces.
func Printed(t *testing.T, what, want string, got ...float64) {
	t.Helper()
	fields := strings.Fields(want)
	if len(fields) != len(got) {
		t.Errorf("%s: %d numbers, want %d: %s", what, len(got), len(fields), want)
		return
	}
	for i, g := range got {
		if !isPrinted(g, fields[i]) {
			t.Errorf("%s: number %d is %.12g, want %s", what, i+1, g, fields[i])
		}
	}
}

// Alike reports whether two numbers differ by at most tolerance times the larger.
func Alike(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}
