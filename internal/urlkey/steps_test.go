package urlkey

import (
	"slices"
	"testing"
)

func TestSteps(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"https://example.com/":          nil,
		"https://example.com":           {"added the path /"},
		"HTTP://Example.COM:80/a#top":   {"removed the fragment #top", "wrote the scheme in lower case", "wrote the host in lower case", "removed the port, which is the scheme's own"},
		"https://example.com/a/../b%7e": {"wrote the path as /b~"},
		" https://example.com/?q=%7e":   {"removed the space around it", "wrote the query as ?q=~"},
		"https://bücher.example/":       {"wrote the host as xn--bcher-kva.example"},
		"https://[::1]:8080/":           nil,
	} {
		u, err := Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := Steps(raw, u); !slices.Equal(got, want) {
			t.Errorf("%q became %s by %q, want %q", raw, u, got, want)
		}
	}
}

func FuzzSteps(f *testing.F) {
	f.Add("HTTP://Example.COM:80/a#top")
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Canonical(raw)
		if err != nil {
			return
		}
		if steps := Steps(raw, u); (len(steps) == 0) != (raw == u.String()) {
			t.Errorf("%q became %s by %q", raw, u, steps)
		}
	})
}
