package textdiff_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"recrawl/internal/textdiff"
)

const before = "Prices\nA ticket costs 10 euros.\nChildren are free.\nWelcome\n"

func TestLines(t *testing.T) {
	t.Parallel()
	after := "Prices\nA ticket costs 12 euros.\nWelcome\nDogs pay too."
	removed, added := textdiff.Lines(before, after)
	if want := []string{"A ticket costs 10 euros.", "Children are free."}; !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q", removed, want)
	}
	if want := []string{"A ticket costs 12 euros.", "Dogs pay too."}; !slices.Equal(added, want) {
		t.Errorf("added %q, want %q", added, want)
	}
	gone, came := textdiff.Words(removed, added)
	if gone != 4 || came != 4 { // 10, Children are free. - 12, Dogs pay too.
		t.Errorf("%d words are gone and %d came, want 4 and 4", gone, came)
	}
}

// What Lines returns is what a unified diff marks.
func TestLinesAreThoseOfTheUnifiedDiff(t *testing.T) {
	t.Parallel()
	after := strings.ReplaceAll(before, "free", "half price") + "More\n\n"
	unified := textdiff.Unified("a", "b", before, after)
	var minus, plus []string
	for line := range strings.Lines(unified) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
		case strings.HasPrefix(line, "-"):
			minus = append(minus, line[1:])
		case strings.HasPrefix(line, "+"):
			plus = append(plus, line[1:])
		}
	}
	removed, added := textdiff.Lines(before, after)
	if !slices.Equal(removed, minus) || !slices.Equal(added, plus) {
		t.Errorf("removed %q, added %q; unified:\n%s", removed, added, unified)
	}
}

func TestEqualTexts(t *testing.T) {
	t.Parallel()
	removed, added := textdiff.Lines(before, before)
	if unified := textdiff.Unified("a", "b", before, before); len(removed)+len(added) != 0 || unified != "" {
		t.Errorf("removed %q, added %q, unified %q", removed, added, unified)
	}
}

// A long line is shown where it differs, whatever script it is in.
func TestNear(t *testing.T) {
	t.Parallel()
	const most = 400
	for name, word := range map[string]string{
		"words": "timber and salt ", "code": "x := f(y); ", "Chinese": "木材和盐", "Arabic": "الخشب والملح ", "one word": "abcdef",
	} {
		head := strings.Repeat(word, 200)
		from, to := textdiff.Near(head+"10 € "+head, head+"12 € "+head, most)
		for _, side := range []struct{ got, want string }{{from, "10 €"}, {to, "12 €"}} {
			if at := strings.Index(side.got, side.want); at < 0 || at > most/2 || !strings.HasPrefix(side.got, "…") || !utf8.ValidString(side.got) {
				t.Errorf("%s: %q is not near the beginning of %.80q", name, side.want, side.got)
			}
		}
	}
	for _, c := range [][2]string{{"a b", "a c"}, {strings.Repeat("x", 500), "y"}, {"10 " + strings.Repeat("x", 500), "12 " + strings.Repeat("x", 500)}} {
		if from, to := textdiff.Near(c[0], c[1], most); from != c[0] || to != c[1] {
			t.Errorf("%.20q and %.20q became %.20q and %.20q", c[0], c[1], from, to)
		}
	}
}
