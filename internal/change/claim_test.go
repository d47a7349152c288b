package change

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestClaims(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, better, worse, worseNames string }{
		{"names another as canonical", "http://zz.example/long/er/path?a=1", "https://a.example/", "https://b.example/"},
		{"https", "https://www.example.com/a/b", "http://a.example/", ""},
		{"no query", "https://www.example.com/a/b/c", "https://a.example/?s=1", ""},
		{"fewer segments", "https://a.example/longer-than-the-other", "https://a.example/a/b", ""},
		{"a folder is no segment more", "https://a.example/docs/", "https://a.example/docs/index.html", ""},
		{"shorter", "https://b.example/a", "https://a.example/aa", ""},
		{"the alphabet of hosts", "https://a.example/b", "https://b.example/a", ""},
		{"the same host for each page", "https://a.example/c/d", "https://b.example/c/d", ""},
	} {
		better, worse := NewClaim(c.better, c.better), NewClaim(c.worse, c.worseNames)
		if better.Compare(worse) >= 0 || worse.Compare(better) <= 0 {
			t.Errorf("%s: %s is no better original than %s", c.name, c.better, c.worse)
		}
	}
}

// Claims order pages: the same whatever they are compared with first.
func TestClaimsAreAnOrder(t *testing.T) {
	t.Parallel()
	url := rapid.StringMatching(`https?://[ab]/[ab]?(/[ab])?(\?[ab])?`)
	rapid.Check(t, func(t *rapid.T) {
		urls := rapid.SliceOfNDistinct(url, 2, 12, rapid.ID[string]).Draw(t, "urls")
		names := map[string]string{}
		for _, u := range urls {
			names[u] = rapid.SampledFrom([]string{"", u, urls[0]}).Draw(t, "canonical")
		}
		hosts := map[string]string{}
		by := func(a, b string) int {
			return NewClaim(a, names[a]).Sharing(hosts).Compare(NewClaim(b, names[b]))
		}
		first := slices.MinFunc(urls, by)
		if again := slices.MinFunc(rapid.Permutation(urls).Draw(t, "order"), by); again != first {
			t.Fatalf("%s in one order, %s in another", first, again)
		}
		for _, u := range urls {
			if (by(first, u) == 0) != (u == first) {
				t.Fatalf("%s and %s have equal claims", first, u)
			}
		}
	})
}
