package urlkey

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

func TestRules(t *testing.T) {
	t.Parallel()
	spec := crawl.URLSpec{
		StripParams: []string{"utm_*", "fbclid", "*_sid", "*track*", "ids[]", "na~me"}, StripPathParams: []string{"jsessionid"}, SortQuery: true,
	}
	unsorted := spec
	unsorted.SortQuery = false
	cases := []struct {
		name string
		spec crawl.URLSpec
		in   string // after http://h
		want string
		step string // the first
	}{
		{"no rules", crawl.URLSpec{}, "/a;jsessionid=1?utm_source=x&b&a", "/a;jsessionid=1?utm_source=x&b&a", ""},
		{"nothing to do", spec, "/a;v=1?a=1&b", "/a;v=1?a=1&b", ""},
		{"start of a name", unsorted, "/?a=1&utm_source=x&b=2", "/?a=1&b=2", "removed the parameter utm_source (strip_params utm_*)"},
		{"whole name", unsorted, "/?fbclid=x&b", "/?b", "removed the parameter fbclid (strip_params fbclid)"},
		{"no start without a star", unsorted, "/?fbclid2=x", "/?fbclid2=x", ""},
		{"end of a name", unsorted, "/?a_sid=x&sid=y", "/?sid=y", "removed the parameter a_sid (strip_params *_sid)"},
		{"middle of a name", unsorted, "/?a_tracker=x&b", "/?b", "removed the parameter a_tracker (strip_params *track*)"},
		{"case counts", unsorted, "/?UTM_source=x", "/?UTM_source=x", ""},
		{"value is no name", unsorted, "/?a=fbclid", "/?a=fbclid", ""},
		{"name without value", unsorted, "/?fbclid", "/", "removed the parameter fbclid (strip_params fbclid)"},
		{"encoded name", unsorted, "/?fbcl%69d=1&ids[]=2&ids%5b%5d=3&na%7Eme=4&a", "/?a", "removed the parameter fbclid (strip_params fbclid)"},
		{"the last one takes the question mark away", unsorted, "/a?utm_a&utm_b", "/a", "removed the parameter utm_a (strip_params utm_*)"},
		{"an empty query stays", spec, "/a?", "/a?", ""},
		{"empty parameters stay", unsorted, "/a?&&b&", "/a?&&b&", ""},
		{"the path has no query parameters", unsorted, "/fbclid;fbclid=1", "/fbclid;fbclid=1", ""},
		{"sorted by name", spec, "/?b=1&a=2&b=0&ab", "/?a=2&ab&b=1&b=0", "sorted the query (sort_query)"},
		{"a prefix goes first", spec, "/?a-=1&a=2", "/?a=2&a-=1", "sorted the query (sort_query)"},
		{"path parameter", spec, "/a;jsessionid=A.b-1!2?q", "/a?q", "removed the path parameter jsessionid (strip_path_params jsessionid)"},
		{"path parameters of segments", spec, "/a;jsessionid=1/b;v=1;jsessionid=2;w/", "/a/b;v=1;w/", "removed the path parameter jsessionid (strip_path_params jsessionid)"},
		{"encoded semicolon", spec, "/a%3Bjsessionid=1", "/a%3Bjsessionid=1", ""},
		{"what is left is no dot segment", spec, "/a/..;jsessionid=1/.;jsessionid=2/b", "/a/..;jsessionid=1/.;jsessionid=2/b", ""},
		{"but may begin like one", spec, "/a/..;jsessionid=1;v/b", "/a/..;v/b", "removed the path parameter jsessionid (strip_path_params jsessionid)"},
		{"an empty segment stays", spec, "/;jsessionid=1/b", "//b", "removed the path parameter jsessionid (strip_path_params jsessionid)"},
		{"the query has no path parameters", spec, "/?a;jsessionid=1", "/?a;jsessionid=1", ""},
		{"every parameter", crawl.URLSpec{StripParams: []string{"*"}}, "/a;b?c=1&d", "/a;b", "removed the parameter c (strip_params *)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, steps := NewRules(c.spec).Apply(must(t, "http://h"+c.in))
			if got.String() != "http://h"+c.want || len(steps) > 0 != (c.step != "") || c.step != "" && steps[0] != c.step {
				t.Errorf("%s became %s by %q, want %s by %q", c.in, got, steps, c.want, c.step)
			}
		})
	}
	if got, steps := NewRules(spec).Apply(URL{}); !got.IsZero() || steps != nil {
		t.Errorf("the zero URL became %q by %q", got, steps)
	}
}

// checkRules checks the promises of rules for every URL.
func checkRules(t interface {
	Helper()
	Errorf(string, ...any)
}, spec crawl.URLSpec, u URL,
) {
	t.Helper()
	rules := NewRules(spec)
	kept, steps := rules.Apply(u)
	checkInvariants(t, kept)
	if again, more := rules.Apply(kept); again != kept || len(more) > 0 {
		t.Errorf("%+v makes %s of %s, and then %s by %q", spec, kept, u, again, more)
	}
	if (kept == u) != (len(steps) == 0) {
		t.Errorf("%+v makes %s of %s by %q", spec, kept, u, steps)
	}
	if kept.Origin() != u.Origin() || len(kept.String()) > len(u.String()) || strings.Count(kept.Path(), "/") != strings.Count(u.Path(), "/") {
		t.Errorf("%+v makes %s of %s", spec, kept, u)
	}
	if len(spec.StripPathParams) == 0 && kept.Path() != u.Path() {
		t.Errorf("no rule is about the path, but %s became %s", u, kept)
	}
	checkKeptParams(t, spec, rules, u, kept)
}

// checkKeptParams: exactly the parameters that no pattern matches are left, in
// their order unless a rule sorts them.
func checkKeptParams(t interface {
	Helper()
	Errorf(string, ...any)
}, spec crawl.URLSpec, rules Rules, u, kept URL,
) {
	t.Helper()
	named := func(u URL) (params []string) {
		for _, p := range strings.Split(u.Query(), "&") {
			if p != "" && firstPattern(rules.params, paramName(p)) == nil {
				params = append(params, p)
			}
		}
		return params
	}
	before, after := named(u), named(kept)
	if spec.SortQuery {
		slices.Sort(before)
		slices.Sort(after)
	}
	if !slices.Equal(before, after) {
		t.Errorf("%+v makes %s of %s", spec, kept, u)
	}
	for _, p := range strings.Split(kept.Query(), "&") {
		if match := firstPattern(rules.params, paramName(p)); match != nil {
			t.Errorf("%s still has %s, which %s matches", kept, p, match.text)
		}
	}
}

func TestRulesProperties(t *testing.T) {
	t.Parallel()
	pattern := rapid.StringMatching(`\*?[ab]{0,2}\*?`).Filter(func(s string) bool { return s != "" })
	rapid.Check(t, func(t *rapid.T) {
		spec := crawl.URLSpec{
			StripParams:     rapid.SliceOfN(pattern, 0, 3).Draw(t, "params"),
			StripPathParams: rapid.SliceOfN(pattern, 0, 2).Draw(t, "path params"),
			SortQuery:       rapid.Bool().Draw(t, "sort"),
		}
		u, err := Canonical("http://h/" + rapid.StringMatching(`([ab.]{0,2}(;[ab]{0,2}(=[ab/]?)?){0,2}/){0,3}(\?([ab]{0,2}(=[ab]?)?&?){0,4})?`).Draw(t, "target"))
		if err != nil {
			t.Fatal(err)
		}
		checkRules(t, spec, u)
	})
}

func FuzzRules(f *testing.F) {
	f.Add("http://h/a;jsessionid=1/..;x?b=1&utm_a=2&a", "utm_*", "jsessionid", true)
	f.Add("http://h/?&&=&a", "*", "*", false)
	f.Add("http://h/.;%2e;a?a%26", "%2*", ".*", true)
	f.Fuzz(func(t *testing.T, raw, param, pathParam string, sorted bool) {
		u, err := Canonical(raw)
		if err != nil {
			return
		}
		checkRules(t, crawl.URLSpec{StripParams: []string{param}, StripPathParams: []string{pathParam}, SortQuery: sorted}, u)
	})
}

// BenchmarkRules: the cost of a crawl's rules for each link.
func BenchmarkRules(b *testing.B) {
	rules := NewRules(crawl.URLSpec{StripParams: []string{"utm_*", "fbclid", "gclid", "mc_*"}, StripPathParams: []string{"jsessionid"}, SortQuery: true})
	u, err := Canonical("https://www.example.com/news/2026/11/21/article.html?a=1&page=2&utm_source=x&z=3")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		rules.Apply(u)
	}
}
