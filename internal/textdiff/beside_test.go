package textdiff_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/textdiff"
)

// shown writes rows down: «…» marks what differs.
func shown(rows []textdiff.Row) string {
	var b strings.Builder
	side := func(n int, parts []textdiff.Part) string {
		text := ""
		for _, p := range parts {
			if p.Differs {
				text += "«" + p.Text + "»"
			} else {
				text += p.Text
			}
		}
		return fmt.Sprintf("%d %s", n, text)
	}
	for _, r := range rows {
		if r.Skipped > 0 {
			fmt.Fprintf(&b, "(%d)\n", r.Skipped)
			continue
		}
		fmt.Fprintf(&b, "%s | %s | %v\n", side(r.From, r.Old), side(r.To, r.New), r.Same())
	}
	return b.String()
}

func TestBeside(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ from, to, want string }{
		"equal": {"a\nb\n", "a\nb\n", ""},
		"a word in the middle": {
			"1\n2\n3\n4\nWe open at 8 h.\n5\n6\n7\n8\n", "1\n2\n3\n4\nWe open at 9 h.\n5\n6\n7\n8\n",
			"(2)\n3 3 | 3 3 | true\n4 4 | 4 4 | true\n5 We open at «8» h. | 5 We open at «9» h. | false\n6 5 | 6 5 | true\n7 6 | 7 6 | true\n(2)\n",
		},
		"a line came": {"a\nc\n", "a\nb\nc\n", "1 a | 1 a | true\n0  | 2 «b» | false\n2 c | 3 c | true\n"},
		"a line went": {"a\nb\nc", "a\nc", "1 a | 1 a | true\n2 «b» | 0  | false\n3 c | 2 c | true\n"},
		"two for one": {"x y\n", "x z\nnew\n", "1 x «y» | 1 x «z» | false\n0  | 2 «new» | false\n"},
		"a line came before an edit": {
			"Prices\nA ticket costs 10 euros.\nEnd\n", "Prices\nNew: by tram\nA ticket costs 12 euros.\nEnd\n",
			"1 Prices | 1 Prices | true\n0  | 2 «New: by tram» | false\n2 A ticket costs «10» euros. | 3 A ticket costs «12» euros. | false\n3 End | 4 End | true\n",
		},
		"a line went before edits": {
			"x\nUpdated today\nOpen from 8 h.\nBus 3 stops here.\ny\n", "x\nOpen from 9 h.\nBus 4 stops here.\ny\n",
			"1 x | 1 x | true\n2 «Updated today» | 0  | false\n3 Open from «8» h. | 2 Open from «9» h. | false\n4 Bus «3» stops here. | 3 Bus «4» stops here. | false\n5 y | 4 y | true\n",
		},
		"only the end of the lines": {"a", "a\n", "1 a | 1 a | true\n"},
		"from nothing":              {"", "a\n", "0  | 1 «a» | false\n"},
		"between two differences": {
			"a\n1\n2\n3\n4\n5\nb\n", "A\n1\n2\n3\n4\n5\nB\n",
			"1 «a» | 1 «A» | false\n2 1 | 2 1 | true\n3 2 | 3 2 | true\n(1)\n5 4 | 5 4 | true\n6 5 | 6 5 | true\n7 «b» | 7 «B» | false\n",
		},
	} {
		rows, all := textdiff.Beside(c.from, c.to, 2, 100)
		if got := shown(rows); got != c.want || !all {
			t.Errorf("%s: all %v, got\n%swant\n%s", name, all, got, c.want)
		}
	}
}

// What differs in a line is marked, however long it is.
func TestBesideLongLine(t *testing.T) {
	t.Parallel()
	head := strings.Repeat("木材 and salt, ", 2000)
	rows, _ := textdiff.Beside(head+"open at 8 h."+head, head+"open at 9 h."+head, 2, 10)
	if len(rows) != 1 || len(rows[0].Old) != 3 || rows[0].Old[1] != (textdiff.Part{Text: "8", Differs: true}) || rows[0].New[1] != (textdiff.Part{Text: "9", Differs: true}) {
		t.Errorf("%d rows: %.300s", len(rows), shown(rows))
	}
	if got := rows[0].Old[0].Text + rows[0].Old[1].Text + rows[0].Old[2].Text; got != head+"open at 8 h."+head {
		t.Error("the parts are not the line")
	}
}

func TestBesideStops(t *testing.T) {
	t.Parallel()
	rows, all := textdiff.Beside(strings.Repeat("a\n", 50), strings.Repeat("b\n", 50), 2, 10)
	if len(rows) != 10 || all {
		t.Errorf("%d rows, all %v", len(rows), all)
	}
}

// What is shown on each side, with what is skipped, is the text of that side.
func FuzzBeside(f *testing.F) {
	f.Add("a b\nc\n", "a x\n\nd")
	f.Add("we open at 8.30 h, daily\n", "we open at 9.30 h,  daily\n")
	f.Fuzz(func(t *testing.T, from, to string) {
		if strings.ContainsRune(from+to, '\uFFFD') || !slices.Equal([]byte(from), []byte(strings.ToValidUTF8(from, ""))) || !slices.Equal([]byte(to), []byte(strings.ToValidUTF8(to, ""))) {
			return // invalid bytes are shown as U+FFFD
		}
		rows, all := textdiff.Beside(from, to, 1<<30, 1<<30)
		if !all {
			t.Fatal("not all")
		}
		var sides [2][]string
		for _, r := range rows {
			for i, parts := range [][]textdiff.Part{r.Old, r.New} {
				if n := []int{r.From, r.To}[i]; n == 0 {
					continue
				}
				line := ""
				for _, p := range parts {
					line += p.Text
				}
				sides[i] = append(sides[i], line)
			}
		}
		for i, text := range []string{from, to} {
			if from != to && strings.Join(sides[i], "\n") != strings.TrimSuffix(text, "\n") {
				t.Errorf("side %d: %q of %q", i, sides[i], text)
			}
		}
	})
}
