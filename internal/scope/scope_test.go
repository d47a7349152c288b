package scope

import (
	"encoding/json"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

func newScope(t testing.TB, kind string, maxDepth int, seeds ...string) Scope {
	t.Helper()
	s, err := New(crawl.Spec{Seeds: seeds, Scope: crawl.ScopeSpec{Type: kind, MaxDepth: maxDepth}})
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
	})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{"http://h/docs/a": ReasonSeed, "http://h/docs/b": ReasonInside, "http://h/docs;sid=1/b": ReasonPrefix} {
		if got := s.Check(canonical(t, url), 1); got.Reason != want {
			t.Errorf("%s: %+v, want %s", url, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	seeds := []string{"https://www.example.com/docs/index.html", "http://other.example:8080/"}
	cases := []struct {
		kind  string
		depth int
		url   string
		level int
		want  Verdict
	}{
		{"page", 0, "https://www.example.com/docs/index.html", 0, Verdict{true, ReasonSeed}},
		{"page", 0, "https://www.example.com/docs/index.html#top", 3, Verdict{true, ReasonSeed}},
		{"page", 0, "https://www.example.com/docs/", 1, Verdict{false, ReasonNotSeed}},

		{"prefix", 0, "https://www.example.com/docs/", 1, Verdict{true, ReasonInside}},
		{"prefix", 0, "http://www.example.com/docs/a/b", 1, Verdict{true, ReasonInside}},
		{"prefix", 0, "https://www.example.com/docs", 1, Verdict{false, ReasonPrefix}},
		{"prefix", 0, "https://www.example.com/docsets/", 1, Verdict{false, ReasonPrefix}},
		{"prefix", 0, "https://www.example.com/docs/../secret", 1, Verdict{false, ReasonPrefix}},
		{"prefix", 0, "https://example.com/docs/", 1, Verdict{false, ReasonPrefix}},
		{"prefix", 0, "http://other.example:8080/x", 1, Verdict{true, ReasonInside}},

		{"host", 0, "http://www.example.com/x", 1, Verdict{true, ReasonInside}},
		{"host", 0, "https://example.com/x", 1, Verdict{false, ReasonHost}},
		{"host", 0, "https://www.example.com:8443/x", 1, Verdict{false, ReasonHost}},
		{"host", 0, "http://other.example:8080/x", 1, Verdict{true, ReasonInside}},
		{"host", 0, "http://other.example/x", 1, Verdict{false, ReasonHost}},

		{"domain", 0, "https://a.b.example.com:99/x", 1, Verdict{true, ReasonInside}},
		{"domain", 0, "https://example.org/x", 1, Verdict{false, ReasonDomain}},
		{"domain", 0, "https://notexample.com/x", 1, Verdict{false, ReasonDomain}},

		{"any", 0, "https://anywhere.example/x", 99, Verdict{true, ReasonInside}},

		{"host", 2, "https://www.example.com/x", 2, Verdict{true, ReasonInside}},
		{"host", 2, "https://www.example.com/x", 3, Verdict{false, ReasonDepth}},
		{"host", 2, "https://www.example.com/docs/index.html", 3, Verdict{true, ReasonSeed}},
		{"host", 2, "https://elsewhere.example/", 3, Verdict{false, ReasonHost}},
	}
	for _, c := range cases {
		t.Run(c.kind+" "+c.url, func(t *testing.T) {
			got := newScope(t, c.kind, c.depth, seeds...).Check(canonical(t, c.url), c.level)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestCheckZeroURL(t *testing.T) {
	if got := newScope(t, "any", 0).Check(urlkey.URL{}, 0); got != (Verdict{Reason: ReasonScheme}) {
		t.Errorf("got %+v", got)
	}
}

func TestNewNamesTheField(t *testing.T) {
	cases := []struct {
		field string
		spec  crawl.Spec
	}{
		{"scope.type", crawl.Spec{Scope: crawl.ScopeSpec{Type: "galaxy"}}},
		{"scope.rules", crawl.Spec{Scope: crawl.ScopeSpec{Type: "host", Rules: []json.RawMessage{[]byte(`{}`)}}}},
		{"seeds[1]", crawl.Spec{Seeds: []string{"http://a/", "ftp://b/"}, Scope: crawl.ScopeSpec{Type: "host"}}},
	}
	for _, c := range cases {
		_, err := New(c.spec)
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

// TestTypesNest: what a narrow type accepts, every wider type accepts.
func TestTypesNest(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		address := rapid.StringMatching(`http(s)?://(a\.|b\.)?example\.(com|org)(:81)?(/[xy]){0,3}/?`)
		seed, link := address.Draw(r, "seed"), canonical(t, address.Draw(r, "link"))
		level, depth := rapid.IntRange(0, 3).Draw(r, "level"), rapid.IntRange(0, 3).Draw(r, "depth")
		accepted := false
		for _, kind := range crawl.ScopeTypes() { // narrow to wide
			v := newScope(t, kind, depth, seed).Check(link, level)
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
