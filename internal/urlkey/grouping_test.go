package urlkey

import (
	"testing"

	"pgregory.net/rapid"
)

func TestUnit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ host, domain string }{
		{"example.com", "example.com"},
		{"www.example.com", "example.com"},
		{"a.b.example.co.uk:8080", "example.co.uk"},
		{"alice.github.io", "alice.github.io"}, // the list's private section: two owners
		{"docs.localhost:8000", "docs.localhost"},
		{"localhost:8000", "localhost"},
		{"127.0.0.1:8000", "127.0.0.1"},
		{"[::1]:8000", "[::1]"},
		{"[2001:db8::1]", "[2001:db8::1]"},
		{"com", "com"},
	} {
		if got := ByDomain.Unit(c.host); got != c.domain {
			t.Errorf("by domain %s is of %s, want %s", c.host, got, c.domain)
		}
		if got := ByHost.Unit(c.host); got != c.host {
			t.Errorf("by host %s is of %s", c.host, got)
		}
	}
}

func TestUnitOfUnit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.StringMatching(`([a-z0-9-]{1,5}\.){0,4}(com|co\.uk|io|localhost|[0-9]{1,3})(:[0-9]{2,5})?`).Draw(t, "host")
		unit := ByDomain.Unit(host)
		if again := ByDomain.Unit(unit); again != unit {
			t.Fatalf("%s is of %s, which is of %s", host, unit, again)
		}
	})
}

func TestParseGrouping(t *testing.T) {
	t.Parallel()
	for _, g := range []Grouping{ByHost, ByDomain} {
		if got, err := ParseGrouping(string(g)); got != g || err != nil {
			t.Errorf("%s: %s, %v", g, got, err)
		}
	}
	for _, bad := range []string{"", "Host", "subdomain"} {
		if g, err := ParseGrouping(bad); err == nil {
			t.Errorf("%q is taken for %q", bad, g)
		}
	}
}
