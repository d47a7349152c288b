package change

import (
	"slices"
	"strings"
	"testing"
)

func TestRetitled(t *testing.T) {
	t.Parallel()
	const text = "Class ListResult\nTerms of Service\nIt is on time."
	for _, c := range []struct {
		prev, next string
		want       bool
	}{
		{"Flight 12 gate 24", "Flight 12 gate 31", true},
		{"Acme | Gate 24", "Acme | Gate 31", true},
		{"Flat 3 - for sale", "Flat 3 - sold", true},
		{"登机口 24", "登机口 31", true},
		{"", "Gate 31", false},
		{"Gate 24", "", false},
		{"Boats, 12 users online", "Boats, 14 users online", false},
		{"ListResult (kafka 3.7.0 API)", "ListResult (kafka 3.7.1 API)", false},
		{"Terms of Service | Acme", "Terms of Service – Acme Inc", false},
		{"Terms of Service", "Acme AI", false},
		{"Acme AI", "Terms of Service", false},
	} {
		if got := Retitled(Rendering{Text: c.prev}, Rendering{Text: c.next}, text); got != c.want {
			t.Errorf("%q after %q: %t", c.next, c.prev, got)
		}
	}
}

// A part that stands in a title many times is looked for in the text once.
func TestSharedParts(t *testing.T) {
	t.Parallel()
	if got := sharedParts("a - a - b | c - a", "a - c - a - d"); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("got %q", got)
	}
	if !hasHeading("x\nClass List\n", []string{"Map", "List"}) || hasHeading("", nil) || hasHeading("List "+strings.Repeat("x", 20), []string{"List"}) {
		t.Error("a short line with a part is a heading, and nothing else is")
	}
}
