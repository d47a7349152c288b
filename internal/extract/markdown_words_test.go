package extract

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	gmhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"
	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

// commonMark reads Markdown independently of us.
var commonMark = goldmark.New(
	goldmark.WithExtensions(extension.GFM, extension.DefinitionList, extension.Footnote), goldmark.WithRendererOptions(gmhtml.WithUnsafe()))

// rendered returns the HTML that another program makes from Markdown.
func rendered(t testing.TB, body string) *html.Node {
	t.Helper()
	var b bytes.Buffer
	if err := commonMark.Convert([]byte(body), &b); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(&b)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// shown returns the text of Markdown as a reader sees it, without pictures and the marks of
// notes.
func shown(t testing.TB, body string) string {
	t.Helper()
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		class, _ := attribute(n.Attr, "class")
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Data == "img", strings.HasPrefix(class, "footnote-"):
			return
		}
		if n.Type == html.ElementNode && !inline[n.Data] {
			b.WriteByte(' ')
			defer b.WriteByte(' ')
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			walk(child)
		}
	}
	walk(rendered(t, body))
	return b.String()
}

// wordsOf returns the letters and digits of a text, as words.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// checkWords checks that Markdown has the words of a page's text, in their order, except
// those that have no place in it.
func checkWords(t testing.TB, body string, rules Rules) {
	t.Helper()
	var left strings.Builder
	m, err := parseMarkdown(Source{Body: []byte(body), ContentType: "text/html; charset=utf-8", URL: mustURL(t, self)}, rules, ReadMain, func(text string) { left.WriteString(" " + text) })
	if err != nil {
		t.Fatal(err)
	}
	if w := displayedOf(t, body, rules.at(mustURL(t, self))); !slices.Equal(wordsOf(w[0]), wordsOf(w[1])) {
		t.Errorf("%s\nhas the text\n%q\nand displays\n%q", body, w[0], w[1])
	}
	want, got := wordsOf(m.Text), wordsOf(shown(t, m.Body))
	for _, word := range wordsOf(left.String()) {
		if i := slices.Index(want, word); i >= 0 {
			want = slices.Delete(want, i, i+1)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nhas the text\n%q\nand the words\n%q, want\n%q\nin\n%s", body, m.Text, got, want, m.Body)
	}
}

// TestMarkdownHasTheWordsOfTheText: the text in which changes are found and the Markdown
// for people never disagree about what is left out, on any page, whatever the crawl ignores
// or selects.
func TestMarkdownHasTheWordsOfTheText(t *testing.T) {
	var all []Rules
	for _, spec := range []crawl.ContentSpec{
		{},
		{IgnoreSelectors: []string{".x"}, IgnorePatterns: []string{`w\d*3`, `w4\s+w5`}},
		{Rules: []crawl.ContentRule{{Host: "example.com", Select: []string{"div, table"}, IgnoreSelectors: []string{"b"}, IgnorePatterns: []string{`w[1-7]\b`}}}},
	} {
		rules, err := NewRules(spec)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rules)
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := writing{T: rt}
		rules := rapid.SampledFrom(all).Draw(rt, "rules")
		w.WriteString(rapid.SampledFrom([]string{"", deep("")}).Draw(rt, "before"))
		w.several(6, func() { w.flow(3) })
		checkWords(t, w.String(), rules)
	})
}

// TestDisplayed: what is searched has the lines of the main text, without what styles hide.
func TestDisplayed(t *testing.T) {
	t.Parallel()
	rules, err := NewRules(crawl.ContentSpec{IgnorePatterns: []string{`w\d`}})
	if err != nil {
		t.Fatal(err)
	}
	body := article(`<nav><a href=a>Home</a></nav>`, `<p>a<br>b <i>w1</i> c<p style="display: none">hidden <b>words</b></p><p>ex<span style="visibility:hidden">x</span>act<dialog>d</dialog>`)
	m, err := ParseMarkdown(Source{Body: []byte(body), ContentType: "text/html", URL: mustURL(t, self)}, rules, ReadAll)
	if want := paragraphs + "\na\nb c\nexact"; err != nil || m.Displayed != want || !strings.Contains(m.Text, "hidden words") {
		t.Errorf("displayed are\n%q, want\n%q of\n%q, %v", m.Displayed, want, m.Text, err)
	}
	rest := strings.Replace(body, "display: none", "color: red", 1)
	rest = strings.Replace(strings.Replace(rest, "visibility:hidden", "", 1), "<dialog>d</dialog>", "", 1)
	w := displayedOf(t, rest, rules.at(mustURL(t, self)))
	if w[0] != w[1] {
		t.Errorf("%q displays\n%q", w[0], w[1])
	}
}

// TestPageThatWaits: what hides a page as a whole until a script shows it hides nothing from readers.
func TestPageThatWaits(t *testing.T) {
	t.Parallel()
	for name, style := range map[string][2]string{
		"the page":     {" style='visibility: hidden'", ""},
		"all of it":    {"", " style='display:none'"},
		"one in other": {" style='display:none'", " style='display:none'"},
	} {
		page := func(body, div string) string {
			return "<body" + body + "><p>Loading</p><div" + div + "><h1>Title</h1>" + story + "<p>a <b style='display:none'>b</b> c</div>"
		}
		for _, reading := range []Reading{ReadMain, ReadArticle, ReadAll} {
			got, want := markdown(t, page(style[0], style[1]), reading), markdown(t, page("", ""), reading)
			if got.Body != want.Body || got.Displayed != want.Displayed || !strings.HasSuffix(got.Body, "\n\na c\n") {
				t.Errorf("%s, reading %d:\n%s\n%s\nwant\n%s", name, reading, got.Body, got.Displayed, want.Body)
			}
		}
	}
}

// displayedOf returns the main text of a page, and what a walk for what is displayed writes
// of it; both are empty for a page without a tree.
func displayedOf(t testing.TB, body string, rules Rules) [2]string {
	t.Helper()
	root, err := readTree([]byte(body), false)
	if err != nil {
		return [2]string{}
	}
	s := surveyOf(root, rules.ignored(root))
	var r recorder
	page := parseSurveyed(Source{URL: mustURL(t, self)}, root, s, rules, &r)
	w := displayedWalk{survey: s, choice: r.choice}
	w.visit(root, &w)
	w.endLine()
	return [2]string{page.Text, w.written.String()}
}

// Text that only the main text leaves out is not in the Markdown, unless everything is
// read.
func TestMarkdownOfReadings(t *testing.T) {
	t.Parallel()
	body := article(`<nav><a href=a>Home</a></nav><aside><img src=logo.png><p>Short</p></aside><hr>`, `<div class="related"><a href=a>Of the harbour</a> <a href=b>A new bridge</a></div>`)
	checkWords(t, body, Rules{})
	main := markdown(t, body, ReadMain)
	for _, gone := range []string{"Home", "logo.png", "Short", "bridge", "---"} {
		if strings.Contains(main.Body, gone) {
			t.Errorf("%s stays in\n%s", gone, main.Body)
		}
	}
	everything := markdown(t, body, ReadAll)
	for _, seen := range []string{"Home", "logo.png", "Short", "bridge"} {
		if !strings.Contains(everything.Body, seen) {
			t.Errorf("%s is gone from\n%s", seen, everything.Body)
		}
	}
	if everything.Text != main.Text {
		t.Error("another reading has another main text")
	}
}
