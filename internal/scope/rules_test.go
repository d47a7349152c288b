package scope

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
	"recrawl/internal/urlkey"
)

// rulesOf is the scope of a crawl of one host with rules.
func rulesOf(t testing.TB, programs Programs, rules string) Scope {
	t.Helper()
	spec := parse(t, rules)
	s, err := New(spec, programs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func parse(t testing.TB, rules string) crawl.Spec {
	t.Helper()
	spec, err := crawl.ParseSpec([]byte(`{"name":"a","seeds":["https://www.example.com/docs/"],"scope":{"rules":` + rules + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// Each condition by itself: rejected URLs have the rule's reason.
func TestFilters(t *testing.T) {
	t.Parallel()
	cases := []struct {
		filter  string
		matches []string
		not     []string
	}{
		{`{}`, []string{"https://www.example.com/x", "https://elsewhere.example/"}, nil},
		{`{"scheme":"http"}`, []string{"http://www.example.com/x"}, []string{"https://www.example.com/x"}},
		{
			`{"host":["*.example.com","example.org:8080"]}`,
			[]string{"https://www.example.com/x", "https://a.b.example.com:99/", "http://example.org:8080/"},
			[]string{"https://example.com/", "https://notexample.com/", "http://example.org/", "http://www.example.org:8080/"},
		},
		{
			`{"host":["example.com:443","*.example.org:80"]}`,
			[]string{"https://example.com/", "http://example.com:443/", "http://www.example.org/"},
			[]string{"http://example.com/", "https://example.com:8443/", "https://www.example.org/"},
		},
		{`{"host":"[::1]"}`, []string{"http://[::1]/", "http://[::1]:80/x", "http://[::1]:8080/"}, []string{"http://[::2]/"}},
		{
			`{"domain":"example.co.uk"}`,
			[]string{"https://example.co.uk/", "https://a.b.example.co.uk:99/"},
			[]string{"https://co.uk/", "https://notexample.co.uk/"},
		},
		{
			`{"prefix":"https://www.example.com/docs/%7Ea"}`,
			[]string{"https://www.example.com/docs/~a", "https://www.example.com/docs/~a/b"},
			[]string{"http://www.example.com/docs/~a", "https://www.example.com/docs/a"},
		},
		{
			`{"prefix":["example.org","www.example.com/docs/"]}`,
			[]string{"http://www.example.com/docs/x", "http://www.example.com/docs/", "https://example.org/x"},
			[]string{"https://www.example.com/docs", "https://example.org.evil.example/", "https://example.org:8443/"},
		},
		{
			`{"prefix":["http://(uk,co,example,","(com,example,www,)/docs/"]}`,
			[]string{"https://a.example.co.uk/", "http://example.co.uk:8080/x", "https://www.example.com/docs/x"},
			[]string{"https://examples.co.uk/", "https://www.example.com/x", "https://www.example.com:8080/docs/x"},
		},
		{
			`{"prefix":["(COM,example,www,)/Private/é%7e","(com,example,www,:8080)/A","(de,müller,"]}`,
			[]string{"https://www.example.com/Private/é~x", "http://www.example.com:8080/Ab", "https://www.müller.de/"},
			[]string{"https://www.example.com/private/é~x", "http://www.example.com:8080/ab", "https://www.muller.de/"},
		},
		{
			`{"path_depth":{"min":2,"max":3}}`,
			[]string{"https://www.example.com/a/b", "https://www.example.com/a//b/", "https://www.example.com/a/b/c.html"},
			[]string{"https://www.example.com/", "https://www.example.com/a/", "https://www.example.com/a/b/c/d"},
		},
		{
			`{"extension":["images",".TAR.gz",".exe"]}`,
			[]string{"https://www.example.com/a.PNG", "https://www.example.com/a.jpg?x=1", "https://www.example.com/b.tar.gz", "https://www.example.com/c.exe;v=1"},
			[]string{"https://www.example.com/a.gz", "https://www.example.com/a.png/b", "https://www.example.com/png", "https://www.example.com/a.exe/"},
		},
		{
			`{"param":["sort","utm_*"]}`,
			[]string{"https://www.example.com/?sort", "https://www.example.com/?a=1&utm_x=2"},
			[]string{"https://www.example.com/sort", "https://www.example.com/?resort=1", "https://www.example.com/?a=sort"},
		},
		{
			`{"params":{"max":0}}`,
			[]string{"https://www.example.com/", "https://www.example.com/?", "https://www.example.com/?&"},
			[]string{"https://www.example.com/?a"},
		},
		{`{"params":{"min":2}}`, []string{"https://www.example.com/?a&b=1"}, []string{"https://www.example.com/?a=1"}},
		{
			`{"regex":["/print/","\\?page=\\d{3,}$"]}`,
			[]string{"https://www.example.com/print/a", "https://www.example.com/?page=123"},
			[]string{"https://www.example.com/?page=12", "https://www.example.com/printed"},
		},
		{`{"length":{"min":40}}`, []string{"https://www.example.com/" + strings.Repeat("x", 16)}, []string{"https://www.example.com/" + strings.Repeat("x", 15)}},
		{
			`{"any":[{"host":"a.example"},{"all":[{"path_depth":{"min":1}},{"not":{"params":{"min":1}}}]}]}`,
			[]string{"http://a.example/?x", "http://b.example/x"},
			[]string{"http://b.example/", "http://b.example/x?y"},
		},
		{
			`{"host":"a.example","extension":".pdf"}`,
			[]string{"http://a.example/x.pdf"},
			[]string{"http://b.example/x.pdf", "http://a.example/x"},
		},
	}
	for _, c := range cases {
		s := rulesOf(t, nil, `[{"name":"it","reject":`+c.filter+`}]`)
		for _, url := range c.matches {
			if v := s.Check(Link{URL: canonical(t, url), Level: 1}); v.Accept || v.Reason != "rule it" {
				t.Errorf("%s of %s: %+v, want it to match", c.filter, url, v)
			}
		}
		for _, url := range c.not {
			if v := s.Check(Link{URL: canonical(t, url), Level: 1}); v.Reason == "rule it" {
				t.Errorf("%s of %s: %+v, want it not to match", c.filter, url, v)
			}
		}
	}
}

func TestFiltersOfTheWayThere(t *testing.T) {
	t.Parallel()
	cases := []struct {
		filter  string
		link    Link
		matches bool
	}{
		{`{"level":{"min":3}}`, Link{Level: 3}, true},
		{`{"level":{"min":3}}`, Link{Level: 2}, false},
		{`{"hops_off_host":{"max":1}}`, Link{Hops: 1}, true},
		{`{"hops_off_host":{"max":1}}`, Link{Hops: 2}, false},
		{`{"language":["de","pt-br"]}`, Link{Language: "de-AT"}, true},
		{`{"language":["de","pt-br"]}`, Link{Language: "PT-BR"}, true},
		{`{"language":["de","pt-br"]}`, Link{Language: "pt"}, false},
		{`{"language":"de"}`, Link{Language: "den"}, false},
		// An unknown fact neither matches nor does not: a page in no known language is
		// not taken for a page in another one.
		{`{"language":"de"}`, Link{}, false},
		{`{"not":{"language":"de"}}`, Link{}, false},
		{`{"any":[{"not":{"language":"de"}},{"level":{"min":0}}]}`, Link{}, true},
		{`{"not":{"language":"de"}}`, Link{Language: "en"}, true},
	}
	for _, c := range cases {
		c.link.URL = canonical(t, "https://elsewhere.example/x")
		if v := rulesOf(t, nil, `[{"name":"it","accept":`+c.filter+`}]`).Check(c.link); v.Accept != c.matches {
			t.Errorf("%s of %+v: %+v", c.filter, c.link, v)
		}
	}
}

// The first rule that matches decides, for and against; then the type.
func TestFirstMatchDecides(t *testing.T) {
	t.Parallel()
	s := rulesOf(t, nil, `[
		{"name":"partner docs","accept":{"host":"partner.example","prefix":"partner.example/docs/"}},
		{"reject":{"extension":["images",".exe"]}},
		{"accept":{"host":"partner.example","extension":".png"}},
		{"accept":{"host":"partner.example","level":{"max":2}}}]`)
	for url, want := range map[string]Verdict{
		"https://partner.example/docs/a.png":   {Accept: true, Reason: "rule partner docs"},
		"https://partner.example/a.png":        {Reason: "rule extension images, .exe"},
		"https://www.example.com/setup.exe":    {Reason: "rule extension images, .exe"},
		"https://partner.example/a":            {Accept: true, Reason: "rule level up to 2 and host partner.example"},
		"https://www.example.com/a":            {Accept: true, Reason: ReasonInside},
		"https://elsewhere.example/a":          {Reason: ReasonHost},
		"https://www.example.com/docs/":        {Accept: true, Reason: ReasonSeed},
		"https://elsewhere.example/a/b/c.jpeg": {Reason: "rule extension images, .exe"},
	} {
		if got := s.Check(Link{URL: canonical(t, url), Level: 2}); got != want {
			t.Errorf("%s: %+v, want %+v", url, got, want)
		}
	}
}

// No rule overrides a limit, and none keeps a seed out.
func TestLimitsComeBeforeRules(t *testing.T) {
	t.Parallel()
	spec := parse(t, `[{"accept":{"host":"other.example"}},{"reject":{}}]`)
	spec.Scope.MaxDepth, spec.Scope.MaxHopsOffHost = 3, 1
	s, err := New(spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, seed := canonical(t, "https://other.example/"), canonical(t, "https://www.example.com/docs/")
	for _, c := range []struct {
		link Link
		want string
	}{
		{Link{URL: other, Level: 3, Hops: 1}, "rule host other.example"},
		{Link{URL: other, Level: 4, Hops: 1}, ReasonDepth},
		{Link{URL: other, Level: 3, Hops: 2}, ReasonHops},
		{Link{URL: seed, Level: 9, Hops: 9}, ReasonSeed},
		{Link{URL: canonical(t, "https://www.example.com/x"), Level: 1}, "rule everything"},
	} {
		if v := s.Check(c.link); v.Reason != c.want {
			t.Errorf("%s at level %d, %d hops off: %+v, want %s", c.link.URL, c.link.Level, c.link.Hops, v, c.want)
		}
	}
}

func TestHops(t *testing.T) {
	t.Parallel()
	s := rulesOf(t, nil, `[]`)
	for url, want := range map[string]int{"http://www.example.com/": 0, "https://www.example.com/a": 0, "https://example.com/": 3, "https://www.example.com:81/": 3} {
		if got := s.Hops(canonical(t, url), 2); got != want {
			t.Errorf("%s: %d hops, want %d", url, got, want)
		}
	}
}

// A page is judged as the link was that led to it, whatever the number of its hops.
func TestRecheckAgreesWithCheck(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		spec := parse(t, `[{"accept":{"host":"other.example"}}]`)
		spec.Scope.MaxDepth, spec.Scope.MaxHopsOffHost = rapid.IntRange(0, 3).Draw(r, "depth"), rapid.IntRange(0, 3).Draw(r, "most")
		s, err := New(spec, nil)
		if err != nil {
			r.Fatal(err)
		}
		url := canonical(t, rapid.SampledFrom([]string{"https://www.example.com/docs/", "https://www.example.com/a", "https://other.example/", "https://elsewhere.example/"}).Draw(r, "url"))
		link := Link{URL: url, Level: rapid.IntRange(0, 4).Draw(r, "level"), Hops: s.Hops(url, rapid.IntRange(0, 4).Draw(r, "from"))}
		if got, want := s.Recheck(url, link.Level, link.Hops), s.Check(link); got != want {
			r.Fatalf("page %+v, link %+v", got, want)
		}
	})
}

// What belongs to a seed depends on the type of the scope.
func TestOfSeeds(t *testing.T) {
	t.Parallel()
	const seed = "https://www.example.com/docs/index.html"
	for kind, want := range map[string]string{
		"prefix": "http://www.example.com/docs/x",
		"host":   "http://www.example.com/docs/x https://www.example.com/blog/x",
		"page":   "http://www.example.com/docs/x https://www.example.com/blog/x",
		"any":    "http://www.example.com/docs/x https://www.example.com/blog/x",
		"domain": "http://www.example.com/docs/x https://www.example.com/blog/x https://example.com:81/docs/x",
	} {
		spec := parse(t, `[{"name":"of it","accept":{"seed":"`+seed+`"}},{"name":"rest","reject":{}}]`)
		spec.Scope.Type = kind
		s, err := New(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		var of []string
		for _, url := range []string{"http://www.example.com/docs/x", "https://www.example.com/blog/x", "https://example.com:81/docs/x", "https://elsewhere.example/docs/x"} {
			if s.Check(Link{URL: canonical(t, url), Level: 1}).Reason == "rule of it" {
				of = append(of, url)
			}
		}
		if got := strings.Join(of, " "); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

// fakePrograms answer by the URL's path; one of them does not answer.
type fakePrograms struct{ asked []string }

func (f *fakePrograms) Ask(program string, url urlkey.URL) Answer {
	f.asked = append(f.asked, program)
	switch program {
	case "dead":
		return Answer{Unknown: true, Reason: "it has ended"}
	case "short":
		return Answer{Accept: url.PathDepth() < 2, Reason: fmt.Sprintf("%d segments", url.PathDepth())}
	}
	return Answer{Accept: true}
}

// A page of the crawl is judged by the programs that answer; if one does not, or the
// language of the page that led there is asked for, the verdict is undecided.
func TestRecheckAsksPrograms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules string
		want  Verdict
	}{
		{`[{"name":"p","reject":{"not":{"program":"short"}}}]`, Verdict{Reason: "rule p", Detail: "2 segments"}},
		{`[{"name":"p","reject":{"not":{"program":"yes"}}}]`, Verdict{Accept: true, Reason: ReasonInside}},
		{`[{"name":"p","reject":{"not":{"program":"dead"}}}]`, Verdict{Undecided: true, Reason: "rule p", Detail: "it has ended"}},
		{`[{"name":"l","reject":{"not":{"language":"de"}}}]`, Verdict{Undecided: true, Reason: "rule l"}},
		{`[{"name":"p","reject":{"not":{"program":"short"}}},{"name":"l","reject":{"not":{"language":"de"}}}]`, Verdict{Reason: "rule p", Detail: "2 segments"}},
	} {
		if got := rulesOf(t, &fakePrograms{}, c.rules).Recheck(canonical(t, "https://www.example.com/a/b"), 1, 0); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.rules, got, c.want)
		}
	}
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	cases := []struct {
		rules string
		want  Verdict
		asked []string
	}{
		{`[{"name":"p","reject":{"not":{"program":"short"}}}]`, Verdict{Reason: "rule p", Detail: "2 segments"}, []string{"short"}},
		{`[{"name":"p","accept":{"program":"short"}}]`, Verdict{Accept: true, Reason: ReasonInside}, []string{"short"}},
		{`[{"name":"p","reject":{"program":"dead"}}]`, Verdict{Undecided: true, Reason: "rule p", Detail: "it has ended"}, []string{"dead"}},
		{`[{"name":"p","reject":{"not":{"program":"dead"}}}]`, Verdict{Undecided: true, Reason: "rule p", Detail: "it has ended"}, []string{"dead"}},
		// A program that does not matter is not asked.
		{`[{"name":"p","reject":{"program":"dead","host":"a.example"}}]`, Verdict{Accept: true, Reason: ReasonInside}, nil},
		{`[{"name":"p","reject":{"any":[{"host":"www.example.com"},{"program":"dead"}]}}]`, Verdict{Reason: "rule p"}, nil},
		{`[{"name":"p","reject":{"all":[{"program":"yes"},{"program":"dead"},{"program":"yes"}]}}]`, Verdict{Undecided: true, Reason: "rule p", Detail: "it has ended"}, []string{"yes", "dead"}},
		{`[{"name":"p","reject":{"program":"dead","language":"de"}}]`, Verdict{Undecided: true, Reason: "rule p", Detail: "it has ended"}, []string{"dead"}},
	}
	for _, c := range cases {
		programs := &fakePrograms{}
		s := rulesOf(t, programs, c.rules)
		if got := s.Check(Link{URL: canonical(t, "https://www.example.com/a/b")}); got != c.want || !slices.Equal(programs.asked, c.asked) {
			t.Errorf("%s: %+v after asking %v; want %+v after %v", c.rules, got, programs.asked, c.want, c.asked)
		}
	}
	if got := rulesOf(t, nil, `[{"reject":{"any":[{"program":"a"},{"not":{"program":"b"}}]}},{"accept":{"program":"a"}}]`).Programs(); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("programs %v", got)
	}
	if v := rulesOf(t, nil, `[{"reject":{"program":"a"}}]`).Check(Link{URL: canonical(t, "https://www.example.com/a")}); !v.Undecided {
		t.Errorf("without programs: %+v", v)
	}
}

func TestReasonsAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 300)
	v := rulesOf(t, nil, `[{"reject":{"not":{"regex":"`+long+`"}}}]`).Check(Link{URL: canonical(t, "https://www.example.com/a")})
	if len(v.Reason) > maxReason || !strings.HasSuffix(v.Reason, "ä…") {
		t.Errorf("reason %q", v.Reason)
	}
}

func TestRuleErrorsNameTheField(t *testing.T) {
	t.Parallel()
	for rules, field := range map[string]string{
		`[{"accept":{}},{"reject":{"any":[{},{"not":{"prefix":["a/","/b"]}}]}}]`: "scope.rules[1].reject.any[1].not.prefix[1]",
		`[{"accept":{"prefix":"/b"}}]`:                                           "scope.rules[0].accept.prefix",
	} {
		_, err := New(parse(t, rules), nil)
		var wrong *crawl.SpecError
		if !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v, want an error of %s", rules, err, field)
		}
	}
}

// drawFilter draws a filter spec of conditions that any link may meet.
func drawFilter(r *rapid.T, depth int) crawl.FilterSpec {
	var f crawl.FilterSpec
	number := func(label string) *crawl.Range {
		if !rapid.Bool().Draw(r, label) {
			return nil
		}
		n := rapid.IntRange(0, 3).Draw(r, label+" least")
		return &crawl.Range{Min: &n}
	}
	f.Level, f.PathDepth = number("level"), number("depth")
	if rapid.Bool().Draw(r, "language") {
		f.Language = crawl.Texts{"de"}
	}
	if rapid.IntRange(0, 3).Draw(r, "program") == 0 {
		f.Program = rapid.SampledFrom([]string{"dead", "short"}).Draw(r, "name")
	}
	if depth == 0 {
		return f
	}
	if rapid.Bool().Draw(r, "not") {
		inner := drawFilter(r, depth-1)
		f.Not = &inner
	}
	for range rapid.IntRange(0, 2).Draw(r, "any") {
		f.Any = append(f.Any, drawFilter(r, depth-1))
	}
	for range rapid.IntRange(0, 2).Draw(r, "all") {
		f.All = append(f.All, drawFilter(r, depth-1))
	}
	return f
}

// TestLogic: double negation, and De Morgan's laws, hold for unknown answers too;
// and Explain reaches Check's verdict by exactly one deciding step.
func TestLogic(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		a, b := drawFilter(r, 2), drawFilter(r, 1)
		link := Link{
			URL:   canonical(t, "https://www.example.com"+rapid.SampledFrom([]string{"/", "/a", "/a/b"}).Draw(r, "path")),
			Level: rapid.IntRange(0, 3).Draw(r, "level"), Language: rapid.SampledFrom([]string{"", "de", "en"}).Draw(r, "language"),
		}
		check := func(f crawl.FilterSpec) Verdict {
			spec := crawl.DefaultSpec()
			spec.Scope.Rules = []crawl.ScopeRule{{Name: "r", Reject: &f}}
			s, err := New(spec, &fakePrograms{})
			if err != nil {
				r.Fatal(err)
			}
			v := s.Check(link)
			explained, steps := s.Explain(link)
			deciding := 0
			for _, step := range steps {
				if step.Decides {
					deciding++
				}
			}
			if explained != v || deciding != 1 {
				r.Fatalf("Explain says %+v in %+v, Check %+v", explained, steps, v)
			}
			v.Detail = ""
			return v
		}
		negated := func(f crawl.FilterSpec) crawl.FilterSpec { return crawl.FilterSpec{Not: &f} }
		if x, y := check(a), check(negated(negated(a))); x != y {
			r.Fatalf("not not: %+v and %+v", x, y)
		}
		some := negated(crawl.FilterSpec{Any: []crawl.FilterSpec{a, b}})
		none := crawl.FilterSpec{All: []crawl.FilterSpec{negated(a), negated(b)}}
		if x, y := check(some), check(none); x != y {
			r.Fatalf("De Morgan: %+v and %+v", x, y)
		}
	})
}

// A spec with rules is stored and read back unchanged.
func TestRulesSurviveStorage(t *testing.T) {
	t.Parallel()
	spec := parse(t, `[{"name":"n","accept":{"host":"a.example","any":[{"params":{"min":1}},{"not":{"extension":["images"]}}]}}]`)
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	again, err := crawl.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	if second, _ := json.Marshal(again); string(second) != string(text) {
		t.Errorf("stored as %s, then as %s", text, second)
	}
}
