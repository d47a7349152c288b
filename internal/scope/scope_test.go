package scope

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

func newScope(t testing.TB, kind string, maxDepth int, seeds ...string) Scope {
	t.Helper()
	s, err := New(crawl.Spec{Seeds: seeds, Scope: crawl.ScopeSpec{Type: kind, MaxDepth: maxDepth}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func canonical(t testing.TB, raw string) urlkey.URL {
	t.Helper()
	u, err := urlkey.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// Seeds are compared in the form under which the crawl keeps them.
func TestSeedsByTheURLRules(t *testing.T) {
	s, err := New(crawl.Spec{
		Seeds: []string{"http://h/docs;sid=1/a?utm_source=x"}, Scope: crawl.ScopeSpec{Type: "prefix"},
		URLs: crawl.URLSpec{StripParams: []string{"utm_*"}, StripPathParams: []string{"sid"}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{"http://h/docs/a": ReasonSeed, "http://h/docs/b": ReasonInside, "http://h/docs;sid=1/b": ReasonPrefix} {
		if got := s.Check(Link{URL: canonical(t, url), Level: 1}); got.Reason != want {
			t.Errorf("%s: %+v, want %s", url, got, want)
		}
	}
}

func accepted(reason string) Verdict { return Verdict{Accept: true, Reason: reason} }

func rejected(reason string) Verdict { return Verdict{Reason: reason} }

func TestCheck(t *testing.T) {
	seeds := []string{"https://www.example.com/docs/index.html", "http://other.example:8080/"}
	cases := []struct {
		kind  string
		depth int
		url   string
		level int
		want  Verdict
	}{
		{"page", 0, "https://www.example.com/docs/index.html", 0, accepted(ReasonSeed)},
		{"page", 0, "https://www.example.com/docs/index.html#top", 3, accepted(ReasonSeed)},
		{"page", 0, "https://www.example.com/docs/", 1, rejected(ReasonNotSeed)},

		{"any", 0, "https://www.example.com:22/", 1, rejected(ReasonPort)},
		{"domain", 0, "https://www.example.com:6000/", 0, rejected(ReasonPort)},

		{"prefix", 0, "https://www.example.com/docs/", 1, accepted(ReasonInside)},
		{"prefix", 0, "http://www.example.com/docs/a/b", 1, accepted(ReasonInside)},
		{"prefix", 0, "https://www.example.com/docs", 1, rejected(ReasonPrefix)},
		{"prefix", 0, "https://www.example.com/docsets/", 1, rejected(ReasonPrefix)},
		{"prefix", 0, "https://www.example.com/docs/../secret", 1, rejected(ReasonPrefix)},
		{"prefix", 0, "https://example.com/docs/", 1, rejected(ReasonPrefix)},
		{"prefix", 0, "http://other.example:8080/x", 1, accepted(ReasonInside)},

		{"host", 0, "http://www.example.com/x", 1, accepted(ReasonInside)},
		{"host", 0, "https://example.com/x", 1, rejected(ReasonHost)},
		{"host", 0, "https://www.example.com:8443/x", 1, rejected(ReasonHost)},
		{"host", 0, "http://other.example:8080/x", 1, accepted(ReasonInside)},
		{"host", 0, "http://other.example/x", 1, rejected(ReasonHost)},

		{"domain", 0, "https://a.b.example.com:99/x", 1, accepted(ReasonInside)},
		{"domain", 0, "https://example.org/x", 1, rejected(ReasonDomain)},
		{"domain", 0, "https://notexample.com/x", 1, rejected(ReasonDomain)},

		{"any", 0, "https://anywhere.example/x", 99, accepted(ReasonInside)},

		{"host", 2, "https://www.example.com/x", 2, accepted(ReasonInside)},
		{"host", 2, "https://www.example.com/x", 3, rejected(ReasonDepth)},
		{"host", 2, "https://www.example.com/docs/index.html", 3, accepted(ReasonSeed)},
		{"host", 2, "https://elsewhere.example/", 3, rejected(ReasonDepth)},
		{"host", 2, "https://elsewhere.example/", 2, rejected(ReasonHost)},
	}
	for _, c := range cases {
		t.Run(c.kind+" "+c.url, func(t *testing.T) {
			got := newScope(t, c.kind, c.depth, seeds...).Check(Link{URL: canonical(t, c.url), Level: c.level})
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestCheckZeroURL(t *testing.T) {
	if got := newScope(t, "any", 0).Check(Link{}); got != (Verdict{Reason: ReasonScheme}) {
		t.Errorf("got %+v", got)
	}
}

func TestNewNamesTheField(t *testing.T) {
	cases := []struct {
		field string
		spec  crawl.Spec
	}{
		{"scope.type", crawl.Spec{Scope: crawl.ScopeSpec{Type: "galaxy"}}},
		{"scope.rules[0]", crawl.Spec{Scope: crawl.ScopeSpec{Type: "host", Rules: []crawl.ScopeRule{{}}}}},
		{"seeds[1]", crawl.Spec{Seeds: []string{"http://a/", "ftp://b/"}, Scope: crawl.ScopeSpec{Type: "host"}}},
	}
	for _, c := range cases {
		_, err := New(c.spec, nil)
		var spec *crawl.SpecError
		if !errors.As(err, &spec) || spec.Field != c.field {
			t.Errorf("got %v, want an error of %s", err, c.field)
		}
	}
}

func TestEveryTypeOfTheSpecIsKnown(t *testing.T) {
	for _, kind := range crawl.ScopeTypes() {
		newScope(t, kind, 0, "http://example.com/")
	}
	if len(rejections) != len(crawl.ScopeTypes()) {
		t.Errorf("%d types, the spec has %d", len(rejections), len(crawl.ScopeTypes()))
	}
}

// TestTypesNest: every wider type accepts the URLs that a narrow type accepts.
func TestTypesNest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		address := rapid.StringMatching(`http(s)?://(a\.|b\.)?example\.(com|org)(:81)?(/[xy]){0,3}/?`)
		seed, link := address.Draw(r, "seed"), canonical(t, address.Draw(r, "link"))
		level, depth := rapid.IntRange(0, 3).Draw(r, "level"), rapid.IntRange(0, 3).Draw(r, "depth")
		accepted := false
		for _, kind := range crawl.ScopeTypes() { // narrow to wide
			v := newScope(t, kind, depth, seed).Check(Link{URL: link, Level: level})
			if accepted && !v.Accept {
				r.Fatalf("%s rejects (%s) what a narrower type accepts", kind, v.Reason)
			}
			if v.Reason == "" {
				r.Fatalf("%s gives no reason", kind)
			}
			accepted = v.Accept
		}
	})
}
