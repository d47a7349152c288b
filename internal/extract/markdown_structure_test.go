package extract

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// structural are the elements whose nesting Markdown keeps.
var structural = set("h1 h2 h3 h4 h5 h6 ul ol li blockquote pre table tr td th dl dt dd em strong del code hr")

// structure writes the structure of a document: these elements with the words in them.
func structure(root *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
			return
		}
		name := n.Data
		switch {
		case n.Type != html.ElementNode:
		case name == "a":
			href, _ := attribute(n.Attr, "href")
			fmt.Fprintf(&b, "<a %s>", href)
			defer b.WriteString("</a>")
		case name == "img":
			src, _ := attribute(n.Attr, "src")
			alt, _ := attribute(n.Attr, "alt")
			fmt.Fprintf(&b, "<img %s %s>", src, alt)
		case name == "code" && n.Parent.Data == "pre":
			class, _ := attribute(n.Attr, "class")
			fmt.Fprintf(&b, "<%s>", class)
		case structural[name]:
			fmt.Fprintf(&b, " <%s> ", name)
			defer fmt.Fprintf(&b, " </%s> ", name)
		case !inline[name]:
			b.WriteByte(' ')
			defer b.WriteByte(' ')
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			walk(child)
		}
	}
	walk(root)
	// Markdown has no way to tell two lists of definitions from one.
	return strings.ReplaceAll(collapse(b.String()), "</dl> <dl> ", "")
}

// structureOf returns the structure of a page after a round trip through Markdown.
func structureOf(t testing.TB, body string) string {
	t.Helper()
	return structure(rendered(t, markdown(t, body, ReadAll).Body))
}

// TestMarkdownStructure: another reader of Markdown finds the same structure in a page of
// documentation.
func TestMarkdownStructure(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{
			"a table", `<table><thead><tr><th>Name<th>Use</thead><tr><td><code>a|b</code><td><p>one<p>two<ul><li>three</ul><tr><td rowspan=2>c<td>d<tr><td>e</table>`,
			"<table> <tr> <th> Name </th> <th> Use </th> </tr> <tr> <td> <code> a|b </code> </td> <td> one two - three </td> </tr> <tr> <td> c </td> <td> d </td> </tr> <tr> <td> </td> <td> e </td> </tr> </table>",
		},
		{
			"a table without a head", `<table><tr><td>a<td>b<tr><td>c<td>d</table>`,
			"<table> <tr> <th> </th> <th> </th> </tr> <tr> <td> a </td> <td> b </td> </tr> <tr> <td> c </td> <td> d </td> </tr> </table>",
		},
		{
			"lists in lists", `<ul><li>a<ol><li>b<li>c<p>d<ul><li>e</ul></ol><li>f</ul><ol><li>g</ol>`,
			"<ul> <li> a <ol> <li> b </li> <li> c d <ul> <li> e </li> </ul> </li> </ol> </li> <li> f </li> </ul> <ol> <li> g </li> </ol>",
		},
		{"a list right in a list", `<ul><li>a</li><ul><li>b</li></ul><li>c</li></ul>`, "<ul> <li> a <ul> <li> b </li> </ul> </li> <li> c </li> </ul>"},
		{"a list of articles", `<ul><li><h2>a</h2><p>b<ul><li>c</ul></li><li><h2>d</h2></li></ul>`, "<h2> a </h2> b <ul> <li> c </li> </ul> <h2> d </h2>"},
		{"lists side by side", `<ul><li>a</ul><ul><li>b</ul>`, "<ul> <li> a </li> </ul> <ul> <li> b </li> </ul>"},
		{"code in a list", "<ol><li>a<pre><code class=language-go>b\n\n    c</code></pre>d<li>e</ol>", "<ol> <li> a <pre> <language-go>b c </pre> d </li> <li> e </li> </ol>"},
		{"code with numbers of lines", `<div class="highlight-python"><table class=highlighttable><tr><td class=linenos><pre>1</pre></td><td class=code><pre>a</pre></table></div>`, "<pre> <language-python>a </pre>"},
		{
			"definitions", `<dl><dt>a<dt><code>b</code><dd>c<p>d<ul><li>e</ul><dd>f<dt>g<dd><pre>h</pre></dl>`,
			"<dl> <dt> a </dt> <dt> <code> b </code> </dt> <dd> c d <ul> <li> e </li> </ul> </dd> <dd> f </dd> <dt> g </dt> <dd> <pre> <>h </pre> </dd> </dl>",
		},
		{"an admonition", `<div class="admonition warning"><p class="admonition-title">Warning</p><p>a<pre>b</pre></div>`, "<blockquote> <strong> Warning </strong> a <pre> <>b </pre> </blockquote>"},
		{"one of AsciiDoc", `<div class="admonitionblock note"><table><tr><td class=icon>Note<td class=content>a<p>b</table></div>`, "<blockquote> Note a b </blockquote>"},
		{
			"footnotes", `<p>a<sup><a href="#n1" id=r1>1</a></sup> b<sup><a href="#n2" id=r2>2</a></sup><hr><section class=footnotes><ol><li id=n1><p>c <a href="#r1">↩</a><p>d</li><li id=n2>e <a href="#r2">↩</a></ol></section>`,
			"a<a #fn:1>1</a> b<a #fn:2>2</a> <hr> </hr> <hr> </hr> <ol> <li> c d <a #fnref:1>↩︎</a> </li> <li> e <a #fnref:2>↩︎</a> </li> </ol>",
		},
		{"links", `<a href="/a_(b)?c=d&amp;copy;e#f g"><b>x</b> y</a> <a href="javascript:alert(1)">z</a>`, "<a https://example.com/a_(b)?c=d&copy;e#f%20g> <strong> x </strong> y</a> z"},
		{"links of blocks", `<a href=x><h2>a</h2><p>b</a>`, "<h2> <a https://example.com/dir/x>a</a> </h2> <a https://example.com/dir/x>b</a>"},
		{"links in code", `<code>f(<a href=x>T</a>)</code>`, "<code> f( </code> <a https://example.com/dir/x> <code> T </code> </a> <code> ) </code>"},
		{"a box", `<ul><li><input type=checkbox checked> a<li><a href=x>X</a></ul>`, "<ul> <li> a </li> <li> <a https://example.com/dir/x>X</a> </li> </ul>"},
		{"marks within words", `a<b>b</b>c <i>d</i>, <b>e:</b>f <b><i>g</i></b> <b> h </b>i`, "a <strong> b </strong> c <em> d </em> , e:f <em> <strong> g </strong> </em> <strong> h </strong> i"},
		{
			"text that looks like Markdown", `<p>*a* __b__ ~~c~~ ` + "`d`" + ` [e](f) ![g](h) &lt;b>i&lt;/b> &amp;amp; [^1] | \* <p># j<p>+ k<p>10) l<p>> m<p>: n<p>---<p>~~~<p>a<br>===<br>- b`,
			"*a* __b__ ~~c~~ `d` [e](f) ![g](h) <b>i</b> &amp; [^1] | \\* # j + k 10) l > m : n --- ~~~ a === - b",
		},
		{"pictures", `<a href=x><img src=y alt="a ] | *b*"></a><img src="data:image/png;base64,AAAA" alt=c>`, "<a https://example.com/dir/x><img https://example.com/dir/y a ] | *b*></a>"},
		{"what nobody sees", `<p>a<script>b</script><style>c</style><template>d</template><p hidden>e<p style="color: red; display : none !important">f<p onclick="g()">h`, "a h"},
		{"headings with links to themselves", `<h2 id=x>a<a class=headerlink href="#x" title="Permalink">¶</a></h2><h3><a class=anchor href="#y">#</a>b #</h3>`, "<h2> a </h2> <h3> b # </h3>"},
		{"a layout", `<table><tr><td><h1>a</h1><table><tr><th>b<th>c<tr><td>d<td>e</table><td>f</table>`, "<h1> a </h1> <table> <tr> <th> b </th> <th> c </th> </tr> <tr> <td> d </td> <td> e </td> </tr> </table> f"},
	} {
		if got := structureOf(t, c.body); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s\nin\n%s", c.name, got, c.want, markdown(t, c.body, ReadAll).Body)
		}
	}
}

// TestMarkdownOfDocumentation: a page of documentation keeps its structure in each reading:
// what the main text and the article leave out is only what is around it.
func TestMarkdownOfDocumentation(t *testing.T) {
	t.Parallel()
	page := "<nav><a href=/>Home</a></nav><main><article><h2>Retries</h2>" + story + `<p>Mind the limits<a class="footnote-reference" href="#n" id=r role="doc-noteref">1</a>, and the clock.</p>
		<table><tr><th>Option<th>Use<tr><td><a href=/o/wait>--wait</a><td>how long<tr><td><a href=/o/more>--more</a><td>how often</table>
		<ul><li>one<ol><li>two<li>three</ol><li>four</ul>
		<pre><code class=language-go>a()

b()</code></pre>
		<dl><dt>term<dd>what it is</dl>
		<div class="admonition note"><p class="admonition-title">Note</p><p>five</p></div>
		<aside class="admonition tip"><p class="admonition-title">Tip</p><p>six</p></aside>
		<aside class="footnote brackets" id=n role="doc-footnote"><span class=label><a role="doc-backlink" href="#r">1</a></span><p>seven</p></aside>
		</article></main><footer>Imprint</footer>`
	const want = "Mind the limits<a #fn:1>1</a>, and the clock. <table> <tr> <th> Option </th> <th> Use </th> </tr>" +
		" <tr> <td> <a https://example.com/o/wait>--wait</a> </td> <td> how long </td> </tr> <tr> <td> <a https://example.com/o/more>--more</a> </td> <td> how often </td> </tr> </table>" +
		" <ul> <li> one <ol> <li> two </li> <li> three </li> </ol> </li> <li> four </li> </ul> <pre> <language-go>a() b() </pre>" +
		" <dl> <dt> term </dt> <dd> what it is </dd> </dl> <blockquote> <strong> Note </strong> five </blockquote> <blockquote> <strong> Tip </strong> six </blockquote>" +
		" <hr> </hr> <ol> <li> seven <a #fnref:1>↩︎</a> </li> </ol>"
	for name, reading := range map[string]Reading{"main": ReadMain, "article": ReadArticle} {
		body := markdown(t, page, reading).Body
		got := structure(rendered(t, body))
		if _, end, ok := strings.Cut(got, "Mind"); !ok || "Mind"+end != want || strings.Contains(got, "Home") || strings.Contains(got, "Imprint") {
			t.Errorf("%s:\n%s\nwant at its end\n%s\nof\n%s", name, got, want, body)
		}
	}
}

// book writes documents of nested structures.
type book struct {
	*rapid.T
	strings.Builder
	words int
}

func (b *book) one(of ...string) string { return rapid.SampledFrom(of).Draw(b.T, "one") }

func (b *book) several(least, most int, part func()) {
	for range rapid.IntRange(least, most).Draw(b.T, "several") {
		part()
	}
}

func (b *book) element(name string, content func()) {
	b.WriteString("<" + name + ">")
	content()
	b.WriteString("</" + name + ">")
}

func (b *book) word() {
	b.words++
	fmt.Fprintf(b, "%sw%d", b.one("", "", "1. ", "# ", "- ", "*", "_", "&amp;lt;", "&lt;p>", "[", "](x)", "|", "~~", "\\", "`", ": ", "!", "==", "7) ", "+ "), b.words)
}

func (b *book) phrase() {
	b.several(1, 4, func() {
		switch mark := b.one("", "", "strong", "em", "del", "code"); mark {
		case "":
			b.word()
		default:
			b.words++
			b.WriteString(" ")
			b.element(mark, func() { fmt.Fprintf(b, "w%d", b.words) })
		}
		b.WriteString(" ")
	})
}

func (b *book) blocks(depth int) {
	b.several(1, 3, func() {
		kind := b.one("p", "p", "ul", "ol", "blockquote", "pre", "table", "dl")
		if depth == 0 && kind != "pre" && kind != "table" {
			kind = "p"
		}
		inner := func() { b.blocks(depth - 1) }
		switch kind {
		case "p":
			b.element("p", b.phrase)
		case "blockquote":
			b.element(kind, inner)
		case "ul", "ol":
			b.element(kind, func() { b.several(1, 3, func() { b.element("li", func() { b.phrase(); b.several(0, 1, inner) }) }) })
		case "pre":
			b.element(kind, func() {
				b.element("code", func() { b.several(1, 3, func() { b.word(); b.WriteString("\n    ") }); b.WriteString("x") })
			})
		case "table":
			b.element(kind, func() {
				for _, cell := range []string{"th", "td", "td"} {
					b.element("tr", func() { b.element(cell, b.phrase); b.element(cell, b.phrase) })
				}
			})
		case "dl":
			b.element(kind, func() { b.several(1, 2, func() { b.element("dt", b.phrase); b.element("dd", inner) }) })
		}
	})
}

// TestMarkdownKeepsStructure: any structure, with any text, survives a round trip through
// Markdown.
func TestMarkdownKeepsStructure(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := book{T: rt}
		b.several(1, 4, func() {
			b.element(b.one("h1", "h2", "h6"), b.phrase)
			b.blocks(3)
		})
		root, err := html.Parse(strings.NewReader(b.String()))
		if err != nil {
			rt.Fatal(err)
		}
		if got, want := structureOf(t, b.String()), structure(root); got != want {
			rt.Errorf("%s\n%s\nwant\n%s\nin\n%s", b.String(), got, want, markdown(t, b.String(), ReadAll).Body)
		}
	})
}

// TestNotesThatAreLeftOut: a reference leads to a note that is there. If a reading leaves
// the note out, or nobody sees it, the reference stays a plain link.
func TestNotesThatAreLeftOut(t *testing.T) {
	t.Parallel()
	const back = `<a role="doc-backlink" href="#r">1</a>`
	for name, note := range map[string]string{
		"docutils":      `<aside class="footnote-list brackets"><aside class="footnote brackets" id=n role="doc-footnote"><span class=label><span class=fn-bracket>[</span>` + back + `<span class=fn-bracket>]</span></span><p>Of note.</p></aside></aside>`,
		"pandoc":        `<aside role="doc-endnotes"><hr><ol><li id=n><p>Of note. ` + back + `</p></li></ol></aside>`,
		"a footer":      `<footer class=footnotes><ol><li id=n>Of note. ` + back + `</li></ol></footer>`,
		"hidden":        `<div id=n style="display:none">Of note. ` + back + `</div>`,
		"without words": `<div id=n>` + back + `</div>`,
	} {
		for _, text := range []string{"Small", story} {
			body := `<body><div><p>` + text + `<p>A word<a id=r href="#n" role="doc-noteref">1</a>.` + note + `</div>`
			for _, reading := range []Reading{ReadMain, ReadArticle, ReadAll} {
				got := markdown(t, body, reading).Body
				if strings.Contains(got, "[^1]") != strings.Contains(got, "[^1]: Of note.") {
					t.Errorf("%s, reading %d: a reference without a note in\n%s", name, reading, got)
				}
			}
		}
	}
}
