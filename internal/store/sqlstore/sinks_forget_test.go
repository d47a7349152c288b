package sqlstore

import (
	"strings"
	"testing"

	"recrawl/internal/store"
)

// Receivers write a URL in their own ways, and their words are cut.
func TestSaidNamesATarget(t *testing.T) {
	t.Parallel()
	page, root := store.Target{URL: "http://a.example/secret.html?q=a&b=%20"}, store.Target{URL: "http://a.example/"}
	long := strings.Repeat("x", cutAnswer)
	for _, c := range []struct {
		target store.Target
		text   string
		want   bool
	}{
		{page, "422 cannot index http://a.example/secret.html?q=a&b=%20", true},
		{page, "cannot index http://a.example/secret.html?q=a&b=%20.", true},
		{page, `{"error":"no http:\/\/a.example\/secret.html?q=a&b=%20"}`, true},
		{page, `{"error":"no http://a.example/secret.html?q=a\u0026b=%20"}`, true},
		{page, "a.example/secret.html?q=a&b=%20 is not wanted", true},
		{page, "http://a.example/secret.html?q=a&b=%20x, then http://a.example/secret.html?q=a&b=%20", true},
		{page, long + " http://a.example/secret.ht", true},
		{page, long + " http://a.example/secret.ht…", true},
		{page, "cannot index http://a.example/secret.html?q=a&b=%20more", false},
		{page, "cannot index http://a.example/secret.ht", false},
		{page, "cannot index http://a.example/", false},
		{page, long + " http://a.example/", false},
		{root, "cannot index http://a.example/: no", true},
		{root, "cannot index http://a.example/other", false},
		{store.Target{Host: "a.example"}, "cannot index http://a.example/other", true},
		{store.Target{Host: "a.example"}, "cannot index http://b.example/", false},
	} {
		if got := newSaid(c.target).in(c.text); got != c.want {
			t.Errorf("%+v in %q: %t", c.target, c.text, got)
		}
	}
}
