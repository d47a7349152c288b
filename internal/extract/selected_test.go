package extract

import (
	"errors"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

// read reads the page at an address by a crawl's rules.
func read(t *testing.T, address, body string, spec crawl.ContentSpec) Page {
	t.Helper()
	rules, err := NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	page, err := Parse(Source{Body: []byte(body), ContentType: "text/html; charset=utf-8", URL: mustURL(t, address)}, rules)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func TestSelect(t *testing.T) {
	const page = `<nav>menu <b class=price>3</b></nav><h1>A <a href=/x>ticket</a></h1><div class=ad>Buy</div>` +
		`<p>It costs <span class=price>12 <i>euro</i></span>, children <span class="x price">6</span> euro.` +
		`<table id=fees><tr><td>Dogs<td>2</table><p class=empty></p><p class=price hidden>99</p><template><p class=price>98</template>`
	for name, c := range map[string]struct {
		rule crawl.ContentRule
		want string
	}{
		"a price":                  {crawl.ContentRule{Select: []string{".price"}}, "3\n12 euro\n6"},
		"a price outside of menus": {crawl.ContentRule{Select: []string{"p .price"}}, "12 euro\n6"},
		"a table":                  {crawl.ContentRule{Select: []string{"table#fees"}}, "Dogs\n2"},
		"both, in their order":     {crawl.ContentRule{Select: []string{"#fees", "span.x"}}, "6\nDogs\n2"},
		"one in the other":         {crawl.ContentRule{Select: []string{"tr", "td", "table"}}, "Dogs\n2"},
		"what is no main text":     {crawl.ContentRule{Select: []string{".ad"}}, "Buy"},
		"but what is ignored":      {crawl.ContentRule{Select: []string{".price"}, IgnoreSelectors: []string{"i, .x", "nav"}}, "12"},
		"but a pattern":            {crawl.ContentRule{Select: []string{".price"}, IgnorePatterns: []string{`^\d$`, `e..o`}}, "12"},
	} {
		t.Run(name, func(t *testing.T) {
			c.rule.Host = "example.com"
			got := read(t, self, page, crawl.ContentSpec{Rules: []crawl.ContentRule{c.rule}})
			if got.Text != c.want || got.Whole || !strings.Contains(got.Main, "It costs") && c.rule.IgnoreSelectors == nil {
				t.Errorf("got %q, whole: %v, main text %q; want %q", got.Text, got.Whole, got.Main, c.want)
			}
			if len(got.Links) != 1 {
				t.Errorf("links %+v", got.Links)
			}
		})
	}
}

// A typing mistake in a selector does not hide a page for ever.
func TestSelectOfNothing(t *testing.T) {
	const page = `<p>It costs <span class=price>12</span><p class=empty> <p hidden class=hidden>6</p>`
	plain := read(t, self, page, crawl.ContentSpec{})
	for _, selector := range []string{".prcie", ".empty", ".hidden", "template"} {
		got := read(t, self, page, crawl.ContentSpec{Rules: []crawl.ContentRule{{Host: "example.com", Select: []string{selector}}}})
		if got.Text != plain.Text || got.Text != "It costs 12" {
			t.Errorf("%s: %q", selector, got.Text)
		}
	}
}

func TestRulesOfSomePages(t *testing.T) {
	const page = "<p class=a>a<p class=b>b<p class=c>c 12"
	spec := crawl.ContentSpec{
		IgnorePatterns: []string{" 12"},
		Rules: []crawl.ContentRule{
			{Prefix: "https://shop.example.com/new/", Select: []string{".a"}},
			{Prefix: "https://shop.example.com/", Select: []string{".b, .c"}},
			{Host: "*.example.com", IgnoreSelectors: []string{".a"}, IgnorePatterns: []string{"c"}},
		},
	}
	for address, want := range map[string]string{
		"https://shop.example.com/new/1": "a",
		"https://shop.example.com/old":   "b\nc",
		"https://news.example.com/":      "b",
		"https://example.org/":           "a\nb\nc",
	} {
		if got := read(t, address, page, spec).Text; got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestContentRulesMistakes(t *testing.T) {
	for field, rule := range map[string]crawl.ContentRule{
		"content.rules[0].select[0]":           {Host: "a", Select: []string{"p["}},
		"content.rules[0].ignore_selectors[1]": {Host: "a", IgnoreSelectors: []string{"p", "p:nosuch"}},
		"content.rules[0].ignore_patterns[0]":  {Host: "a", IgnorePatterns: []string{"("}},
	} {
		_, err := NewRules(crawl.ContentSpec{Rules: []crawl.ContentRule{rule}})
		var wrong *crawl.SpecError
		if !errors.As(err, &wrong) || wrong.Field != field || strings.Contains(wrong.Error(), "\n") {
			t.Errorf("%+v: %v", rule, err)
		}
	}
}

// Rules of other pages cost a page only the look at their addresses.
func TestRulesOfOtherPagesCostNothing(t *testing.T) {
	body := []byte(article("", "<p class=price>12"))
	allocs := func(spec crawl.ContentSpec) float64 {
		rules, err := NewRules(spec)
		if err != nil {
			t.Fatal(err)
		}
		src := Source{Body: body, ContentType: "text/html; charset=utf-8", URL: mustURL(t, self)}
		return testing.AllocsPerRun(20, func() {
			if _, err := Parse(src, rules); err != nil {
				t.Fatal(err)
			}
		})
	}
	none := allocs(crawl.ContentSpec{})
	others := allocs(crawl.ContentSpec{Rules: []crawl.ContentRule{{Host: "other.example.org", Select: []string{".price"}}, {Prefix: "https://example.com/elsewhere/", Select: []string{"p"}}}})
	if others > none {
		t.Errorf("%v allocations with rules of other pages, %v without", others, none)
	}
}

func TestCompared(t *testing.T) {
	src := Source{Body: []byte("<nav>menu</nav><h1>Ti\x1btle</h1><p>It costs <b class=price>12</b><li>- "), ContentType: "text/html", URL: mustURL(t, self)}
	for _, c := range []struct {
		spec crawl.ContentSpec
		want string
	}{
		{crawl.ContentSpec{}, "Ti tle\nIt costs 12\n-\n"},
		{crawl.ContentSpec{Rules: []crawl.ContentRule{{Host: "example.com", Select: []string{".price"}}}}, "12\n"},
	} {
		rules, err := NewRules(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Compared(src, rules); got.Text != c.want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, c.want)
		}
	}
}
