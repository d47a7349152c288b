package sheet_test

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"recrawl/internal/web/sheet"
)

func TestOf(t *testing.T) {
	t.Parallel()
	elsewhere := ` rel="noopener noreferrer nofollow">`
	for _, c := range []struct{ name, markdown, want string }{
		{"marks", "a **b** *c* ``d`e`` ~~f~~\n", "<p>a <strong>b</strong> <em>c</em> <code>d`e</code> <del>f</del></p>"},
		{"marks in marks", "***a** b* **c *d***\n", "<p><em><strong>a</strong> b</em> <strong>c <em>d</em></strong></p>"},
		{"marks that are none", "2 * 3 * 4, a*, ****, ~x~, **a\n", "<p>2 * 3 * 4, a*, ****, ~x~, **a</p>"},
		{"escapes", `\# \*a\* \[f](g) &lt;b> \&lt; \~h\~ &#120; &nosuch; \q` + "\n", `<p># *a* [f](g) &lt;b&gt; &amp;lt; ~h~ x &amp;nosuch; \q</p>`},
		{"lines", "a\\\nb\nc\n\nd\n", "<p>a<br>\nb\nc</p>\n<p>d</p>"},
		{"links", `[a *b*](https://example.com/x#y) [d](https://example.com/\(&amp;)` + "\n", `<p><a href="https://example.com/x#y"` + elsewhere + `a <em>b</em></a> <a href="https://example.com/(&amp;"` + elsewhere + "d</a></p>"},
		{"links to no other server", "[a](javascript:alert(1)) [b](/login) [c](data:text/html,x) [d](mailto:a@b.example) [e](JaVaScRiPt:1) [f](//evil.test)\n", `<p>[a](javascript:alert(1)) b c <a href="mailto:a@b.example"` + elsewhere + "d</a> e f</p>"},
		{"a link in a link", "[a [b](https://b.test) c](https://c.test)\n", `<p>[a <a href="https://b.test"` + elsewhere + "b</a> c](https://c.test)</p>"},
		{"pictures", `![a \[b\]](https://example.com/x.png) ![](https://example.com/y.png)` + "\n", `<p><a href="https://example.com/x.png"` + elsewhere + `<span class="picture">Picture: a [b]</span></a> <a href="https://example.com/y.png"` + elsewhere + `<span class="picture">Picture</span></a></p>`},
		{"a picture in a link", "[![a](https://x.test/a.png)](https://x.test/)\n", `<p><a href="https://x.test/"` + elsewhere + `<span class="picture">Picture: a</span></a></p>`},
		{"HTML is text", "<script>alert(1)</script>\n\n<b onclick=x>a</b><br>\n", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n<p>&lt;b onclick=x&gt;a&lt;/b&gt;&lt;br&gt;</p>"},
		{"code", "```go\na\n\n  <b>\n```\n\n~~~\n```\n~~~\n", `<pre tabindex="0"><code>a` + "\n\n  &lt;b&gt;\n</code></pre>\n" + `<pre tabindex="0"><code>` + "```\n</code></pre>"},
		{"headings", "# A *b*\n\n## C\n\n###### D \\#\n\n#e\n", `<h3 id="sheet-1">A <em>b</em></h3>` + "\n" + `<h4 id="sheet-2">C</h4>` + "\n" + `<h6 id="sheet-3">D #</h6>` + "\n<p>#e</p>"},
		{"lists", "- a\n\n  3. b\n  4. c\n\n- d\n\n* e\n", "<ul>\n<li><p>a</p>\n<ol start=\"3\">\n<li>b\n</li>\n<li>c\n</li>\n</ol>\n</li>\n<li><p>d</p>\n</li>\n</ul>\n<ul>\n<li>e\n</li>\n</ul>"},
		{"a list in a list", "- a\n  - b\n- c\n", "<ul>\n<li>a\n<ul>\n<li>b\n</li>\n</ul>\n</li>\n<li>c\n</li>\n</ul>"},
		{"code in a list", "1. a\n\n   ```\n   b\n   ```\n", "<ol start=\"1\">\n<li><p>a</p>\n<pre tabindex=\"0\"><code>b\n</code></pre>\n</li>\n</ol>"},
		{"definitions", "a\nb\n: c\n\n: d\n\n  e\n", "<dl>\n<dt>a</dt>\n<dt>b</dt>\n<dd>c\n</dd>\n<dd><p>d</p>\n<p>e</p>\n</dd>\n</dl>"},
		{"a quote", "> **Note**\n>\n> a\n> > b\n", "<blockquote>\n<p><strong>Note</strong></p>\n<p>a</p>\n<blockquote>\n<p>b</p>\n</blockquote>\n</blockquote>"},
		{"a table", "| a | b |\n| --- | --- |\n| c\\|`d\\|d` | e<br>f | more |\n| g | |\n", `<div class="scroll" role="region" tabindex="0" aria-label="Table"><table>` + "\n<tr><th>a</th><th>b</th></tr>\n<tr><td>c|<code>d|d</code></td><td>e<br>f</td></tr>\n<tr><td>g</td><td></td></tr>\n</table></div>"},
		{"a table without a head", "| | |\n| --- | --- |\n| c | d |\n", `<div class="scroll" role="region" tabindex="0" aria-label="Table"><table>` + "\n<tr><td>c</td><td>d</td></tr>\n</table></div>"},
		{"a footnote", "a[^1] b[^x]\n\n[^1]: c\n\n    d\n", `<p>a<sup><a href="#sheet-note-1">1</a></sup> b<sup><a href="#sheet-note-2">x</a></sup></p>` + "\n" + `<div class="footnote" id="sheet-note-1"><p class="label">1</p>` + "\n<p>c</p>\n<p>d</p>\n</div>"},
		{"a rule", "a\n\n---\n\nb\n", "<p>a</p>\n<hr>\n<p>b</p>"},
		{"direction", "a\u202Eb\x1b[2J\n", "<p>a\uFFFDb\uFFFD[2J</p>"},
		{"nothing", "", ""},
	} {
		if got := strings.TrimSpace(string(sheet.Of(c.markdown).HTML)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

func TestOutline(t *testing.T) {
	t.Parallel()
	got := sheet.Of("# A *b* [c](https://d.test)\n\n```\n# no\n```\n\n> ## Q &amp; `A`\n").Outline
	want := []sheet.Heading{{1, "A b c", "sheet-1"}, {2, "Q & A", "sheet-2"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestLongDocumentIsCut(t *testing.T) {
	t.Parallel()
	got := sheet.Of(strings.Repeat("A line of text.\n", 100_000))
	if n := len(got.HTML); !got.Cut || n > 600_000 || !strings.HasSuffix(string(got.HTML), "A line of text.</p>\n") {
		t.Errorf("%d bytes, cut: %v", n, got.Cut)
	}
}

// hostile are texts that keep other Markdown parsers busy for minutes.
var hostile = []string{
	">", "> ", "- ", "1. ", "* a\n  ", "[", "![", "]", "[a](", "![a](", "[a](b ", "*a_ ", "**a", "_a*", "*a **b ~~c ", "a**", "`", "`a``", "<a ", "&", "&#", "| a ", "|\n",
	"[^1]: ", "\n: ", "a\n: b\n", "\\", "[a]: b\n", "#", "~", "[^a]", "[[a]]", "[[a](http://b)](http://c)", "![![a](http://b)](http://c)", "|a|\n|-|\n", "> - > - ", "```\n", "- a\n\n", "* * *\n",
	"*a [b ", "[*a](http://b) ", "***a** ",
}

// Output and memory grow with the text and no faster.
func TestHostileTexts(t *testing.T) {
	for _, unit := range hostile {
		const n = 20_000
		once, more := allocated(strings.Repeat(unit, n/len(unit))), allocated(strings.Repeat(unit, 4*n/len(unit)))
		if more > 8*once+4<<20 {
			t.Errorf("%q: four times the text takes %d bytes instead of %d", unit, more, once)
		}
		if got := len(sheet.Of(strings.Repeat(unit, n/len(unit))).HTML); got > 60*n {
			t.Errorf("%q: %d bytes become %d", unit, n, got)
		}
	}
	columns := 2000
	wide := strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("|\n", 10_000)
	if got := len(sheet.Of(wide).HTML); got > 60*len(wide) {
		t.Errorf("a wide table of %d bytes becomes %d", len(wide), got)
	}
}

func allocated(markdown string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	sheet.Of(markdown)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// allowed are the elements of a sheet with their attributes.
var allowed = map[string][]string{
	"p": {"class"}, "br": nil, "hr": nil, "pre": {"tabindex"}, "code": nil, "em": nil, "strong": nil, "del": nil, "sup": nil, "blockquote": nil, "ul": nil, "ol": {"start"}, "li": nil,
	"dl": nil, "dt": nil, "dd": nil, "table": nil, "tr": nil, "th": nil, "td": nil, "div": {"class", "id", "role", "tabindex", "aria-label"}, "span": {"class"}, "a": {"href", "rel"},
	"h3": {"id"}, "h4": {"id"}, "h5": {"id"}, "h6": {"id"},
}

// Whatever the text is, the output has only listed elements, each is closed, and links lead
// to other servers or to notes.
func FuzzOf(f *testing.F) {
	for _, unit := range hostile {
		f.Add(strings.Repeat(unit, 5))
	}
	f.Add("# a\n\n[x](javascript:1) <script>alert(1)</script> ![y](data:,x) [z](https://a.test/\"onclick=x)\n\n| a |\n| - |\n| <br><b> |\n\n[^\"><b>]: c\n\n[^\"><b>]\n")
	f.Fuzz(func(t *testing.T, markdown string) {
		got := sheet.Of(markdown)
		if err := check(string(got.HTML)); err != nil {
			t.Fatalf("%q becomes\n%s\n%v", markdown, got.HTML, err)
		}
		if len(got.HTML) > 80*len(markdown)+1000 {
			t.Fatalf("%d bytes become %d", len(markdown), len(got.HTML))
		}
	})
}

func check(shown string) error {
	var open []string
	tokens := html.NewTokenizer(strings.NewReader(shown))
	for {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			if err := tokens.Err(); err != io.EOF || len(open) > 0 {
				return fmt.Errorf("%w, open are %v", err, open)
			}
			return nil
		case html.StartTagToken:
			token := tokens.Token()
			attributes, known := allowed[token.Data]
			if !known {
				return fmt.Errorf("<%s> is not allowed", token.Data)
			}
			for _, a := range token.Attr {
				if !slices.Contains(attributes, a.Key) {
					return fmt.Errorf("<%s %s> is not allowed", token.Data, a.Key)
				}
				if lower := strings.ToLower(a.Val); a.Key == "href" && !strings.HasPrefix(lower, "http://") && !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "mailto:") && !strings.HasPrefix(lower, "#sheet-note-") {
					return fmt.Errorf("a link leads to %s", a.Val)
				}
			}
			if token.Data == "a" && slices.Contains(open, "a") {
				return fmt.Errorf("a link is in a link")
			}
			if token.Data != "br" && token.Data != "hr" {
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			name := tokens.Token().Data
			if len(open) == 0 || open[len(open)-1] != name {
				return fmt.Errorf("</%s> ends none of %v", name, open)
			}
			open = open[:len(open)-1]
		case html.CommentToken, html.DoctypeToken, html.SelfClosingTagToken:
			return fmt.Errorf("%s is not allowed", kind)
		}
	}
}
