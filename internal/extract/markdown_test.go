package extract

import "testing"

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
		{"links", `<a href=x#y>a</a> <a href="mailto:a@b.example">b</a> <a href="javascript:1">c</a> <a href="/(">d</a>`,
			`[a](https://example.com/dir/x#y) [b](mailto:a@b.example) c [d](https://example.com/\()` + "\n"},
		{"pictures", `<p><img src=x.png alt="a [b]"><img src="data:,x" alt=no>`, `![a \[b\]](https://example.com/dir/x.png)` + "\n"},
		{"text like Markdown", "<p># a<p>- a<p>1. a<p>*a* _b_ c_d `e` [f](g) &lt;b> &amp;lt; ~h~<p>===", "\\# a\n\n\\- a\n\n1\\. a\n\n\\*a\\* \\_b\\_ c_d \\`e\\` \\[f](g) &lt;b> \\&lt; \\~h\\~\n\n\\===\n"},
		{"lines", "<p>a<br>b<br><br>c", "a\\\nb\n\nc\n"},
		{"lists", "<ul><li>a<ol start=3><li>b<li>c</ol><li>d</ul><ul><li>e</ul>", "- a\n\n  3. b\n  4. c\n\n- d\n\n* e\n"},
		{"definitions", "<dl><dt>a<dt>b<dd>c<dd>d<p>e</dl>", "a\nb\n: c\n\n: d\n\n  e\n"},
		{"code", "<div class=highlight-go><pre>a\n\n  b</pre></div><pre>```</pre>", "```go\na\n\n  b\n```\n\n~~~\n```\n~~~\n"},
		{"a table", "<table><tr><th>a<th>b<tr><td>c|d<td><p>e<p>f<tr><td colspan=2>g</table>", "| a | b |\n| --- | --- |\n| c\\|d | e<br>f |\n| g | |\n"},
		{"an admonition", `<div class="admonition note"><p class="admonition-title">Note</p><p>a</div>`, "> **Note**\n>\n> a\n"},
		{"a footnote", `<p>a<sup><a href="#n" id=r>1</a></sup><ol><li id=n>b <a href="#r">↩</a></ol>`, "a[^1]\n\n[^1]: b\n"},
	} {
		if got := markdown(t, c.body, ReadMain).Body; got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
	}
}
