package feed

import (
	"math"
	"testing"
)

// A cursor is read as it was printed, and in no other form: two texts of one place would be
// two places to whoever keeps them.
func TestParseCursor(t *testing.T) {
	t.Parallel()
	for _, c := range []Cursor{{"5f2a9c01", 0}, {"5f2a9c01", 4711}, {"x", math.MaxInt64}} {
		if got, err := ParseCursor(c.String()); err != nil || got != c {
			t.Errorf("%s is read as %+v, %v", c, got, err)
		}
	}
	for _, text := range []string{
		"", "c1", "c1.", "c1.5f2a9c01", "c1..7", "c2.5f2a9c01.7", "5f2a9c01.7", "c1.5f2a9c01.", "c1.5f2a9c01.-7", "c1.5f2a9c01.07",
		"c1.5f2a9c01.+7", "c1.5f2a9c01.7 ", " c1.5f2a9c01.7", "c1.5f2a9c01.7.7", "c1.5f2a9c01.9223372036854775808", "now",
	} {
		var c Cursor
		if err := c.UnmarshalText([]byte(text)); err == nil || c != (Cursor{}) {
			t.Errorf("%q is read as %+v, %v", text, c, err)
		}
	}
}
