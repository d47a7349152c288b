package textdiff_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/textdiff"
)

// However many lines differ, those that do not are not among them.
func TestManyLinesDiffer(t *testing.T) {
	t.Parallel()
	var from, to strings.Builder
	var old, came []string
	for i := range 3000 {
		name := fmt.Sprintf("Article %d\n", i)
		from.WriteString(name)
		to.WriteString(name)
		if i%3 != 1 {
			continue
		}
		old, came = append(old, fmt.Sprintf("%d €", i)), append(came, fmt.Sprintf("%d €", i+1))
		fmt.Fprintln(&from, old[len(old)-1])
		fmt.Fprintln(&to, came[len(came)-1])
	}
	removed, added := textdiff.Lines(from.String(), to.String())
	if !slices.Equal(removed, old) || !slices.Equal(added, came) {
		t.Errorf("%d lines went and %d came, want %d and %d", len(removed), len(added), len(old), len(came))
	}
	rows, all := textdiff.Beside(from.String(), to.String(), 0, 1<<20)
	differ := 0
	for _, r := range rows {
		if r.Skipped == 0 {
			differ++
		}
	}
	if differ != len(old) || !all {
		t.Errorf("%d rows differ, want %d", differ, len(old))
	}
}

// lines of which some are often the same, and some only once in a text.
var someLines = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
	if rapid.Bool().Draw(t, "often") {
		return rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(t, "line")
	}
	return strconv.Itoa(rapid.IntRange(0, 400).Draw(t, "number"))
}), 0, 300)

// edited changes some lines of a text.
func edited(t *rapid.T, lines []string) []string {
	share := rapid.IntRange(1, 40).Draw(t, "share")
	var all []string
	for _, line := range lines {
		switch rapid.IntRange(0, share).Draw(t, "edit") {
		case 0: // it goes
		case 1:
			all = append(all, line+"'")
		case 2:
			all = append(all, line, "new")
		default:
			all = append(all, line)
		}
	}
	return all
}

// TestUnifiedIsAPatch: a unified diff makes the second text of the first, its hunks are where
// they say, and it marks what Lines returns.
func TestUnifiedIsAPatch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := someLines.Draw(t, "lines")
		ends := rapid.SampledFrom([]string{"", "\n"})
		from := strings.Join(lines, "\n") + ends.Draw(t, "end")
		to := strings.Join(edited(t, lines), "\n") + ends.Draw(t, "other end")
		checkPatch(t, from, to)
	})
}

func FuzzUnified(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\n")
	f.Add("", "a")
	f.Add(strings.Repeat("a\nb\n", 200), strings.Repeat("b\na\n", 190)+"x")
	f.Fuzz(func(t *testing.T, from, to string) { checkPatch(t, from, to) })
}

type failer interface {
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

func checkPatch(t failer, from, to string) {
	unified := textdiff.Unified("a", "b", from, to)
	if (unified == "") != (from == to) {
		t.Fatalf("%q and %q: %q", from, to, unified)
	}
	if unified == "" {
		return
	}
	got, minus, plus := patched(t, from, unified)
	if got != to {
		t.Errorf("%q became %q, want %q, by\n%s", from, got, to, unified)
	}
	removed, added := textdiff.Lines(from, to)
	if !slices.Equal(removed, minus) || !slices.Equal(added, plus) {
		t.Errorf("removed %q, added %q; unified:\n%s", removed, added, unified)
	}
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n$`)

// patched does what patch does, and fails where it would have to guess.
func patched(t failer, from, unified string) (to string, minus, plus []string) {
	lines := slices.Collect(strings.Lines(from))
	diff := slices.Collect(strings.Lines(unified))
	if len(diff) < 3 || diff[0] != "--- a\n" || diff[1] != "+++ b\n" {
		t.Fatalf("%q", unified)
	}
	var all []string
	at := 0
	for i := 2; i < len(diff); {
		head := hunkHead.FindStringSubmatch(diff[i])
		if head == nil {
			t.Fatalf("%q is no head of a hunk in\n%s", diff[i], unified)
		}
		number := func(n int) int { return int(must(strconv.Atoi(head[n]))) }
		size := func(n int) int {
			if head[n] == "" {
				return 1
			}
			return number(n)
		}
		first := func(n int) int { // lines before it
			if size(n+1) == 0 {
				return number(n)
			}
			return number(n) - 1
		}
		old, came := size(2), size(4)
		all = append(all, lines[at:first(1)]...)
		at = first(1)
		if len(all) != first(3) {
			t.Fatalf("the hunk %q begins after %d lines:\n%s", diff[i], len(all), unified)
		}
		for i++; i < len(diff) && diff[i][0] != '@'; i++ {
			sign, line := diff[i][0], diff[i][1:]
			if i+1 < len(diff) && diff[i+1][0] == '\\' {
				line = strings.TrimSuffix(line, "\n")
			}
			shown := strings.TrimSuffix(line, "\n")
			if sign == ' ' || sign == '-' {
				if lines[at] != line {
					t.Fatalf("line %d is %q, not %q:\n%s", at+1, lines[at], line, unified)
				}
				at, old = at+1, old-1
			}
			switch sign {
			case ' ':
				all, came = append(all, line), came-1
			case '-':
				minus = append(minus, shown)
			case '+':
				all, came, plus = append(all, line), came-1, append(plus, shown)
			}
		}
		if old != 0 || came != 0 {
			t.Fatalf("%d and %d lines are missing in a hunk:\n%s", old, came, unified)
		}
	}
	return strings.Join(append(all, lines[at:]...), ""), minus, plus
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
