package scope

import (
	"slices"
	"strings"
	"testing"
)

func TestHostBound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		most  int
		named string
		has   string // hosts that have a place
		taken int
		want  string
	}{
		{"room for all", 5, "a b c", "", 0, "a b c"},
		{"the first", 2, "c a b", "", 0, "c a"},
		{"each once", 3, "a a b a c d", "", 0, "a b c"},
		{"beside others", 5, "a b c", "", 3, "a b"},
		{"those that have a place take none", 5, "x a y b c", "x y", 3, "a b"},
		{"full", 3, "x a b", "x", 3, ""},
		{"fewer than there are", 1, "x y a", "x y", 2, ""},
		{"none", 0, "a", "", 0, ""},
	} {
		has := strings.Fields(c.has)
		got := HostBound{Most: c.most}.Take(strings.Fields(c.named), func(host string) bool { return slices.Contains(has, host) }, c.taken)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if v := (HostBound{Reason: "a reason", Detail: "in words"}).Refusal(); v.Accept || v.Reason != "a reason" || v.Detail != "in words" {
		t.Errorf("refusal %+v", v)
	}
}
