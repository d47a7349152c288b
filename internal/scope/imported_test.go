package scope

import (
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

// known are a store's keys of imported seeds, those that matter for a link.
func known(t testing.TB, seeds []string, link string) map[crawl.SeedKey]bool {
	t.Helper()
	all := map[crawl.SeedKey]bool{}
	for _, seed := range seeds {
		for _, k := range SeedKeys(canonical(t, seed)) {
			all[k] = true
		}
	}
	found := map[crawl.SeedKey]bool{}
	for _, k := range AskedKeys(canonical(t, link)) {
		if all[k] {
			found[k] = true
		}
	}
	return found
}

// A scope decides alike on seeds of the spec and on imported ones, whatever its type.
func TestImportedSeedsAreSeeds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		urls := rapid.SampledFrom([]string{
			"http://a.example.com/", "http://a.example.com/docs/", "http://a.example.com/docs/x", "http://a.example.com/docs/x/y?q", "https://a.example.com/docs/z",
			"http://b.example.com/", "http://example.com:8080/docs/x", "http://example.org/docs/x/y", "http://localhost:81/x", "http://localhost:82/x", "http://co.uk/", "http://x.co.uk/",
		})
		kind := rapid.SampledFrom(crawl.ScopeTypes()).Draw(r, "type")
		seeds, link := rapid.SliceOfN(urls, 1, 4).Draw(r, "seeds"), urls.Draw(r, "link")
		spec := crawl.Spec{Scope: crawl.ScopeSpec{Type: kind, MaxDepth: 1, MaxHopsOffHost: 1}}
		spec.Seeds = []string{"http://first.test/folder/"}
		imported, err := New(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		spec.Seeds = append(spec.Seeds, seeds...)
		listed, err := New(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		imported = imported.Knowing(known(t, seeds, link))
		u := canonical(t, link)
		if got, want := imported.Hops(u, 3), listed.Hops(u, 3); got != want {
			r.Errorf("hops %d, want %d", got, want)
		}
		l := Link{URL: u, Level: rapid.IntRange(0, 2).Draw(r, "level"), Hops: listed.Hops(u, rapid.IntRange(0, 1).Draw(r, "hops"))}
		if got, want := imported.Check(l), listed.Check(l); got != want {
			r.Errorf("%s of imported %q: %+v, want %+v", link, seeds, got, want)
		}
		if imported.IsSeed(u) != listed.IsSeed(u) || imported.IsSeedHost(u.HostKey()) != listed.IsSeedHost(u.HostKey()) {
			r.Errorf("%s: seed %t on a seed's host %t", link, imported.IsSeed(u), imported.IsSeedHost(u.HostKey()))
		}
	})
}
