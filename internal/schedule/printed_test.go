package schedule

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// isPrinted reports whether a number, rounded to the digits of a printed one, is
// that.
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

// printed fails unless the numbers are the printed ones, which spaces part.
func printed(t *testing.T, what, want string, got ...float64) {
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

// alike reports whether two numbers agree to a share of the larger.
func alike(a, b, tolerance float64) bool {
	return a == b || math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}
