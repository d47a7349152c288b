package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// markdown is the Markdown of an HTML document.
func markdown(t testing.TB, body string, reading Reading) Markdown {
	t.Helper()
	m, err := ParseMarkdown(Source{Body: []byte(body), ContentType: "text/html; charset=utf-8", URL: mustURL(t, self)}, Rules{}, reading)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"marks", "<p>a <b>b</b> <i>c</i> <code>d`e</code> <del>f</del>", "a **b** *c* ``d`e`` ~~f~~\n"},
		{
			"links", `<a href=x#y>a</a> <a href="mailto:a@b.example">b</a> <a href="javascript:1">c</a> <a href="/(">d</a> <a href="/f(g)">e</a>`,
			`[a](https://example.com/dir/x#y) [b](mailto:a@b.example) c [d](https://example.com/\() [e](https://example.com/f(g))` + "\n",
		},
		{"pictures", `<p><img src=x.png alt="a [b]"><img src="data:,x" alt=no>`, `![a \[b\]](https://example.com/dir/x.png)` + "\n"},
		{"text like Markdown", "<p># a<p>- a<p>1. a<p>*a* _b_ c_d `e` [f](g) &lt;b> &amp;lt; ~h~<p>===", "\\# a\n\n\\- a\n\n1\\. a\n\n\\*a\\* \\_b\\_ c_d \\`e\\` \\[f](g) &lt;b> \\&lt; \\~h\\~\n\n\\===\n"},
		{"lines", "<p>a<br>b<br><br>c", "a\\\nb\n\nc\n"},
		{"lists", "<ul><li>a<ol start=3><li>b<li>c</ol><li>d</ul><ul><li>e</ul>", "- a\n\n  3. b\n  4. c\n\n- d\n\n* e\n"},
		{"definitions", "<dl><dt>a<dt>b<dd>c<dd>d<p>e</dl>", "a\nb\n: c\n\n: d\n\n  e\n"},
		{"code", "<div class=highlight-go><pre>a\n\n  b</pre></div><pre>```</pre>", "```go\na\n\n  b\n```\n\n~~~\n```\n~~~\n"},
		{
			"code of Doxygen", "<div class=fragment><div class=line><a name=l1></a><span class=lineno>    1</span><span class=keyword>struct </span><a href=x>Watch</a><b>;</b></div>\n<div class=line><span class=lineno>    2</span>&#160; <span>a</span><span>b</span></div>\n<div class=ttc>The watch</div></div>",
			"```\nstruct Watch;\n  ab\n```\n",
		},
		{"a table", "<table><tr><th>a<th>b<tr><td>c|d<td><p>e<p>f<tr><td colspan=2>g</table>", "| a | b |\n| --- | --- |\n| c\\|d | e<br>f |\n| g | |\n"},
		{"an admonition", `<div class="admonition note"><p class="admonition-title">Note</p><p>a</div>`, "> **Note**\n>\n> a\n"},
		{"a footnote", `<p>a<sup><a href="#n" id=r>1</a></sup><ol><li id=n>b <a href="#r">↩</a></ol>`, "a[^1]\n\n[^1]: b\n"},
		{"a footnote before a comma", `<p>a<sup><a href="#n" id=r>1</a></sup>, c<ol><li id=n>b <a href="#r">↩</a></ol>`, "a[^1], c\n\n[^1]: b\n"},
		{
			"footnotes of older docutils", `<p>a<a class="footnote-reference brackets" href="#n" id=r>1</a>, b <a class=footnote-reference href="#m" id=s>[2]</a>.<dl class="footnote brackets"><dt class=label id=n><span class=brackets><a class=fn-backref href="#r">1</a></span></dt><dd><p>c<p>d</dd></dl><table class="docutils footnote" id=m><tr><td class=label><a class=fn-backref href="#s">[2]</a></td><td>e</td></tr></table>`,
			"a[^1], b [^2].\n\n[^1]: c\n\n    d\n\n[^2]: e\n",
		},
		{"a warning that opens", `<details class=warning open><summary>Mind</summary><p>a</details><details><summary>More</summary><p>b</details>`, "> **Mind**\n>\n> a\n\n**More**\n\nb\n"},
		{"one of Starlight", `<aside class="starlight-aside starlight-aside--note"><p class=starlight-aside__title>Note</p><p>a</aside>`, "> **Note**\n>\n> a\n"},
		{"a closed dialog", `<p>a<dialog>b</dialog><dialog open>c</dialog>`, "a\n\nc\n"},
		{"hidden text in a word", `<p>exa<span style="display:none">z</span>mple<p>a <span style="display:none">b</span>c<p>d<div style="display:none">e</div>f`, "example\n\na c\n\nd\n\nf\n"},
	} {
		if got := markdown(t, c.body, ReadMain).Body; got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
}

// TestMarkdownHeadings: the headings say where sections begin, with the anchors that lead
// there.
func TestMarkdownHeadings(t *testing.T) {
	t.Parallel()
	m := markdown(t, `<h1>Title <b>one</b></h1><p>a</p><h2>Two<a class=headerlink href="#t">¶</a></h2><section id=u><h2>Three</h2></section>
		<h2><a name=v></a>Four</h2><a name=w></a><h3 id=x>Five</h3><blockquote><h2>Six</h2></blockquote><ul id=y><li><h2>Seven</h2></ul>`, ReadAll)
	var got []string
	for _, h := range m.Headings {
		line, _, _ := strings.Cut(m.Body[h.Offset:], "\n")
		got = append(got, fmt.Sprint(h.Level, " ", h.Text, " ", h.Anchor, " ", line))
	}
	want := []string{"1 Title one  # Title **one**", "2 Two t ## Two", "2 Three u ## Three", "2 Four v ## Four", "3 Five x ### Five", "2 Seven y ## Seven"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestMarkdownOfPlainText(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]string{"text/plain": "a \\*b\\*\\\nc\n\n\\# d\n", "application/pdf": ""} {
		m, err := ParseMarkdown(Source{Body: []byte("a *b*\n c\n\n# d"), ContentType: contentType, URL: mustURL(t, self)}, Rules{}, ReadMain)
		if err != nil || m.Body != want {
			t.Errorf("%s: %q, %v", contentType, m.Body, err)
		}
	}
}

// TestMarkdownInOtherEncodings: the Markdown is UTF-8.
func TestMarkdownInOtherEncodings(t *testing.T) {
	t.Parallel()
	m, err := ParseMarkdown(Source{Body: []byte("<p>Gr\xf6\xdfe <a href='?q=\xf6'>x</a>"), ContentType: "text/html; charset=windows-1252", URL: mustURL(t, self)}, Rules{}, ReadMain)
	if want := "Größe [x](https://example.com/dir/page.html?q=%F6)\n"; err != nil || m.Body != want || m.Charset != "windows-1252" {
		t.Errorf("%q, %s, %v", m.Body, m.Charset, err)
	}
}
