package urlkey_test

import (
	"testing"

	"recrawl/internal/urlkey"
)

// A host that somebody types is the one under which its pages are stored.
func TestParseHost(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"example.com":                "example.com",
		"EXAMPLE.Com.":               "example.com",
		"Localhost:18901":            "localhost:18901",
		"example.com:80":             "example.com",
		"https://Example.org:8443/a": "example.org:8443",
		"b\u00fccher.example":        "xn--bcher-kva.example",
		"[::1]:8080":                 "[::1]:8080",
	} {
		got, err := urlkey.ParseHost(text)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
			continue
		}
		if again, err := urlkey.ParseHost(got); err != nil || again != got {
			t.Errorf("%q: %q, and that again %q, %v", text, got, again, err)
		}
	}
	for _, text := range []string{"", " ", "a b", "a..b", "///", "example.com:port", "\x00", "a\tb", "\xff"} {
		if got, err := urlkey.ParseHost(text); err == nil {
			t.Errorf("%q is host %q", text, got)
		}
	}
}
