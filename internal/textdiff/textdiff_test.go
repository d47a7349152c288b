package textdiff_test

import (
	"slices"
	"strings"
	"testing"

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
	unified, err := textdiff.Unified("a", "b", before, after)
	if err != nil {
		t.Fatal(err)
	}
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
	unified, err := textdiff.Unified("a", "b", before, before)
	if len(removed)+len(added) != 0 || unified != "" || err != nil {
		t.Errorf("removed %q, added %q, unified %q, %v", removed, added, unified, err)
	}
}
