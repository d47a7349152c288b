package extract

import (
	"bytes"
	"testing"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// checkHarmless checks that a reader of Markdown finds no HTML in it except line breaks in
// cells of tables, and only addresses of the web and of mail.
func checkHarmless(t *testing.T, body string) {
	t.Helper()
	source := []byte(body)
	address := func(url []byte) {
		scheme, _, _ := bytes.Cut(url, []byte(":"))
		switch string(bytes.ToLower(scheme)) {
		case "http", "https", "mailto":
		default:
			t.Errorf("the address %q in\n%s", url, body)
		}
	}
	err := ast.Walk(commonMark.Parser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			address(n.Destination)
		case *ast.Image:
			address(n.Destination)
		case *ast.AutoLink:
			if url := n.URL(source); n.AutoLinkType == ast.AutoLinkURL {
				address(url)
			}
		case *ast.HTMLBlock:
			t.Errorf("a block of HTML in\n%s", body)
		case *ast.RawHTML:
			if n.Parent().Kind() != east.KindTableCell || string(n.Segments.Value(source)) != "<br>" {
				t.Errorf("%q in a %s in\n%s", n.Segments.Value(source), n.Parent().Kind(), body)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// FuzzMarkdown: whatever a page is like, its Markdown keeps its promises.
func FuzzMarkdown(f *testing.F) {
	for _, body := range hostilePages(300) {
		f.Add([]byte(body), byte(0))
	}
	for _, body := range []string{
		`<a href="javascript:alert(1)" onclick=x>a</a><img src=javascript:x onerror=y alt="](javascript:z)"><script>b</script>`,
		`<a href="http://h/ javascript:x)&#10;[b](javascript:y">](javascript:z)</a>`, `<a href="&#9;java&#10;script:x">a</a><a href="mailto:&#10;&#10;<script>">b</a>`,
		"&lt;script>x&lt;/script><p>&lt;<b>img src=x onerror=y></b><p>&lt;<i></i>b><textarea><script></textarea><title><b>",
		"<table><tr><th>&lt;br onclick=x><td>a<br>|<code>|</code><p>\\|<tr><td><pre>a\n|</pre></table>", "<pre><code class='language-a`\n<script>'>```\n~~~</code></pre>",
		"<p id=n>a<a href='#r'>1</a></p><a id=r href='#n'>^</a>", "<svg><a xlink:href=x><title>&lt;b></title></a></svg><math><mi>a</mi></math><noscript><b>a</noscript>",
	} {
		f.Add([]byte(body), byte(1))
		f.Add([]byte(deep(body)), byte(2))
	}
	f.Fuzz(func(t *testing.T, body []byte, reading byte) {
		m, err := ParseMarkdown(Source{Body: body, ContentType: "text/html; charset=utf-8", URL: mustURL(t, self)}, Rules{}, Reading(reading%3))
		if err != nil {
			t.Fatal(err)
		}
		checkMarkdown(t, m, len(bytes.ToValidUTF8(body, []byte("\uFFFD"))))
		checkHarmless(t, m.Body)
	})
}
