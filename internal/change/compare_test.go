package change

import (
	"strings"
	"testing"
	"time"
)

// FuzzCompare: a comparison says the same both ways, of a text and itself that nothing differs, and
// noise where digests say so. A word more is never noise.
func FuzzCompare(f *testing.F) {
	f.Add("Ann · Updated 3 minutes ago | 1,234 views\n3分前", "Ann · Updated 5 minutes ago | 1,235 views\n4分前", uint16(3))
	f.Add("4 March 2026, 13:00", "4 March 2026, 16:10", uint16(3))
	f.Add("25 nov. 2021\n24 nov. 2021\nx", "26 nov. 2021\n25 nov. 2021\nx", uint16(24))
	f.Add("A . B ( c ) « d »", "A. B (c) «d»", uint16(9))
	f.Fuzz(func(t *testing.T, a, b string, hours uint16) {
		if strings.ContainsRune(a+b, 0) {
			return // clocks are marked with it
		}
		later := at.Add(time.Duration(hours) * time.Hour)
		p, n := Rendering{a, at}, Rendering{b, later}
		noise, _ := CompareRenderings(p, n)
		if back, _ := CompareRenderings(n, p); back != noise {
			t.Errorf("%q and %q: %v one way, %v the other", a, b, noise, back)
		}
		if same, reasons := CompareRenderings(p, Rendering{a, later}); !same || len(reasons[0].Num) > 0 {
			t.Errorf("%q differs from itself: %+v", a, reasons)
		}
		if same, _ := CompareRenderings(p, Rendering{strings.ReplaceAll(a, " ", "  "), at}); !same {
			t.Errorf("%q differs with more white space", a)
		}
		if CoreDigest(a) == CoreDigest(b) && !noise {
			t.Errorf("%q and %q have one digest", a, b)
		}
		if same, _ := CompareRenderings(p, Rendering{b + "\nSnowfall", later}); noise && same {
			t.Errorf("%q and %q: a word more is noise", a, b)
		}
	})
}
