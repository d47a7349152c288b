package extract

import (
	"slices"
	"strings"
	"testing"

	"recrawl/internal/crawl"
)

// checkArticle checks that the Markdown of an article has the words of its text.
func checkArticle(t *testing.T, name string, body []byte, rules Rules) {
	t.Helper()
	src := Source{Body: body, ContentType: "text/html", URL: mustURL(t, self)}
	text, err := Article(src, rules)
	if err != nil {
		t.Fatal(err)
	}
	var left strings.Builder
	m, err := parseMarkdown(src, rules, ReadArticle, func(s string) { left.WriteString(" " + s) })
	if err != nil {
		t.Fatal(err)
	}
	want, got := wordsOf(text), wordsOf(shown(t, m.Body))
	for _, word := range wordsOf(left.String()) {
		if i := slices.Index(want, word); i >= 0 {
			want = slices.Delete(want, i, i+1)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%s: the words\n%.300q, want\n%.300q", name, got, want)
	}
}

// TestMarkdownOfArticles: the text of an article and its Markdown keep the same elements,
// and a page without an article has its main text.
func TestMarkdownOfArticles(t *testing.T) {
	t.Parallel()
	rules, err := NewRules(crawl.ContentSpec{IgnorePatterns: []string{"harbour|bridge"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"an article":     article(`<nav><a href=a>Home</a></nav>`, `<div class="related"><a href=a>Of the harbour</a></div><pre>a\n  b</pre><ul><li>c<li>d</ul>`),
		"no article":     "<ul><li><a href=a>Of the harbour</a><li><a href=b>A new bridge</a></ul>",
		"nothing at all": "",
	} {
		checkArticle(t, name, []byte(body), Rules{})
		checkArticle(t, name+" without some words", []byte(body), rules)
	}
}
