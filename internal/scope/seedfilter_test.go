package scope

import (
	"errors"
	"fmt"
	"testing"

	"recrawl/internal/crawl"
)

// Each seed has its own level, as in table 1 of Bouras et al.: deeper pages in its part
// of the web stay out, and only those.
func TestLevelOfEachSeed(t *testing.T) {
	t.Parallel()
	const one, two = "http://www.mysite.com/docs/", "http://www.mysite2.com/"
	check := func(kind, url string, level int) bool {
		t.Helper()
		spec := crawl.DefaultSpec()
		spec.Seeds, spec.Scope.Type = []string{one, two}, kind
		for seed, deepest := range map[string]int{one: 2, two: 1} {
			least := deepest + 1
			spec.Scope.Rules = append(spec.Scope.Rules, crawl.ScopeRule{
				Reject: &crawl.FilterSpec{Seed: crawl.Texts{seed}, Level: &crawl.Range{Min: &least}},
			})
		}
		s, err := New(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.Check(Link{URL: canonical(t, url), Level: level}).Accept
	}
	for _, c := range []struct {
		kind, url string
		deepest   int // 0 is without limit
	}{
		{"host", "http://www.mysite.com/a", 2},
		{"host", "https://www.mysite2.com/a", 1},
		{"prefix", "http://www.mysite.com/docs/a/b", 2},
		{"domain", "http://shop.mysite.com:8080/", 2},
		{"domain", "http://mysite2.com/", 1},
		{"any", "http://www.mysite.com/a", 2},
		{"any", "http://shop.mysite.com/", 0},
		{"any", "http://elsewhere.example/", 0},
	} {
		for level := 1; level <= 4; level++ {
			if got, want := check(c.kind, c.url, level), c.deepest == 0 || level <= c.deepest; got != want {
				t.Errorf("%s, %s at level %d: accepted %t, want %t", c.kind, c.url, level, got, want)
			}
		}
	}
	for _, seed := range []string{one, two} {
		if !check("host", seed, 9) {
			t.Errorf("the seed %s is out", seed)
		}
	}
}

func TestSeedFilterMistakes(t *testing.T) {
	t.Parallel()
	for field, texts := range map[string]crawl.Texts{
		"scope.rules[0].accept.seed":    {"www.mysite.com"},
		"scope.rules[0].accept.seed[1]": {"http://a.example/", "http://["},
	} {
		spec := crawl.DefaultSpec()
		spec.Seeds, spec.Scope.Rules = []string{"http://a.example/"}, []crawl.ScopeRule{{Accept: &crawl.FilterSpec{Seed: texts}}}
		var wrong *crawl.SpecError
		if _, err := New(spec, nil); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%v: %v, want a mistake in %s", texts, fmt.Sprint(err), field)
		}
	}
}
