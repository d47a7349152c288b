package extract

import (
	"errors"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

func rulesOf(t *testing.T, selectors, patterns []string) Rules {
	t.Helper()
	rules, err := NewRules(crawl.ContentSpec{IgnoreSelectors: selectors, IgnorePatterns: patterns})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestRules(t *testing.T) {
	cases := []struct {
		name                string
		selectors, patterns []string
		body, want          string
	}{
		{"none", nil, nil, "<p class=x>a<p>b", "a\nb"},
		{"a class", []string{".x"}, nil, "<p class=x>a<p>b", "b"},
		{"several", []string{".x, #y", "p:nth-child(3)"}, nil, "<p class=x>a<p id=y>b<p>c<p>d", "d"},
		{"an element in a line", []string{"b"}, nil, "<p>a<b>b</b>c", "ac"},
		{"a pattern", nil, []string{`\d+ visitors?`}, "<p>now 12 visitors here<p>3 visitors", "now here"},
		{"line by line", nil, []string{`^a`, `(?i)B$`}, "<p>a a<p>b b", "a\nb"},
		{"one pattern after the other", nil, []string{"a ", "b c"}, "<p>b a c d", "d"},
		{"nothing left", []string{"body"}, []string{"."}, "<p>a", ""},
		{"what is not matched", []string{"nosuch"}, []string{"x*"}, "<p>a", "a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			page, err := Parse(Source{Body: []byte(c.body), ContentType: "text/html", URL: mustURL(t, self)}, rulesOf(t, c.selectors, c.patterns))
			if err != nil || page.Text != c.want {
				t.Errorf("got %q, %v, want %q", page.Text, err, c.want)
			}
		})
	}
}

// Links in ignored elements still count. Without a tree only patterns apply.
func TestRulesAndTheRest(t *testing.T) {
	rules := rulesOf(t, []string{"p"}, []string{"noise"})
	for name, c := range map[string]struct{ contentType, body, text string }{
		"tree": {"text/html", "<p>noise <a href=x>link</a></p>text noise", "text"},
		"flat": {"text/html", deep("<p>noise <a href=x>link</a></p>text noise"), "link\ntext"},
		"text": {"text/plain", "noise\ntext noise", "text"},
	} {
		page, err := Parse(Source{Body: []byte(c.body), ContentType: c.contentType, URL: mustURL(t, self)}, rules)
		if err != nil || page.Text != c.text || c.contentType == "text/html" && (len(page.Links) != 1 || page.Links[0].Text != "noise link" && page.Links[0].Text != "link") {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
	}
}

func TestRulesMistakes(t *testing.T) {
	for _, c := range []struct {
		field string
		spec  crawl.ContentSpec
	}{
		{"content.ignore_selectors[0]", crawl.ContentSpec{IgnoreSelectors: []string{"p["}}},
		{"content.ignore_selectors[1]", crawl.ContentSpec{IgnoreSelectors: []string{"p", "p:nosuch"}}},
		{"content.ignore_patterns[0]", crawl.ContentSpec{IgnorePatterns: []string{"("}}},
	} {
		_, err := NewRules(c.spec)
		var wrong *crawl.SpecError
		if !errors.As(err, &wrong) || wrong.Field != c.field || strings.Contains(wrong.Error(), "\n") {
			t.Errorf("%+v: %v", c.spec, err)
		}
	}
}

func FuzzRules(f *testing.F) {
	f.Add("p:not(.a) > b, c", `(a|b)*$`, "<p>a<b>b</b><c>")
	f.Fuzz(func(t *testing.T, selector, pattern, body string) {
		rules, err := NewRules(crawl.ContentSpec{IgnoreSelectors: []string{selector}, IgnorePatterns: []string{pattern}})
		if err != nil {
			return
		}
		page, err := Parse(Source{Body: []byte(body), ContentType: "text/html; charset=utf-8", URL: mustURL(t, self)}, rules)
		if err != nil {
			t.Fatal(err)
		}
		checkText(t, page.Text)
	})
}
