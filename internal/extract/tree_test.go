package extract

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// browserTree is the yardstick: the tree as browsers make it.
func browserTree(t testing.TB, body string) *html.Node {
	t.Helper()
	root, err := html.ParseWithOptions(strings.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func ourTree(t testing.TB, body string) *html.Node {
	t.Helper()
	root, err := parseTree([]byte(body), false)
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// outline writes a tree without comments and invisible white space.
func outline(n *html.Node) string {
	var b, text strings.Builder
	endText := func() {
		b.WriteString(strings.TrimSpace(text.String()))
		text.Reset()
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.TextNode:
			text.WriteString(n.Data)
		case html.ElementNode:
			endText()
			attributes := slices.SortedFunc(slices.Values(n.Attr), func(a, b html.Attribute) int { return strings.Compare(a.Key, b.Key) })
			fmt.Fprintf(&b, "<%s%s %v>", n.Namespace, n.Data, attributes)
			defer func() { endText(); b.WriteString("</>") }()
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			walk(child)
		}
	}
	walk(n)
	return b.String()
}

func TestTree(t *testing.T) {
	for _, body := range []string{
		"", "text", " <p>a", "<!-- c --><!doctype html><title>t</title>a", "<html lang=de><body class=x>a<html lang=en><body class=z>",
		"<head><meta name=x></head> <link rel=y><p>a<meta name=z>", "<noscript><link rel=x></noscript><p>a", "<noscript>a</noscript>b",
		"<frameset cols=*><frame src=a><frame src=b></frameset>", "a</p>b</br>c", "<h1>a</h2>b<h2>c<h3>d",
		"<ul><li>a<li>b<ul></li><li>c</ul></ul>", "<table><tr><td>a<td>b<tr><th>c<tbody><tr><td>d</table>e", "<table><td>a<table><td>b</table>c</table>",
		"<table><col><col><td>a</table>", "<table><caption>a<colgroup><tr><td>b", "<select><option>a<option>b<optgroup><option>c</select>d",
		"<dl><dt>a<dd>b<dt>c</dl>", "<ruby>a<rt>b<rp>c<rt>d</ruby>", "<button>a<p>b</button>c<button>d<button>e", "<a href=x>a<a href=y>b</a>c",
		"<div><form><div>a</form>b</div>c</div>d", "<form><p>a</form>b", "<form><ul><li>a</form>b</ul>c", "<form><table><tr><td>a</form>b</table>c", "<form>a<div>b</form></div>c</form>d",
		"<a href=x><h3>a</a></h3>b", "<a href=x><div>a<a href=y>b</a>c</div>d", "<div><a href=x>z<h3>a</a>b</h3>c</div>d", "<a href=x><table><td>a</a>b</table>c</a>d", "<svg><a><g></a>a</svg>b",
		"<span>a<div>b</span>c</div>d", "<p>a<table><tr><td>b<p>c</table>d", "<div>a<p>b</div>c", "<object><p>a</object>b",
		"<svg><title>a<b>c", "<svg><title/><path/><style>a{}</style><a xlink:href=x>b</a></svg>c", "<svg><desc><p>a</p></desc><g/></svg>b", "<svg><g>a<p>b", "<a href=x>a<svg><a href=y><title>b</title></a></svg>c</a>d", "<button>a<svg><button>b</svg>c</button>d",
		"<math><mi>a</mi><mo>b</math>c",
		"<svg><![CDATA[a<b>]]></svg><![CDATA[c]]>d", "<template>a<p>b</template>c", "<p>a<template><tr><td>b</template>c", "</template>a",
		"<script>a<b></script>b<textarea>c<d></textarea><title>e&amp;<f></title>g", "a<plaintext><b>", "<p>a\x00b", "<input/><br/><div/>a", "<p>a<hr>b",
	} {
		body = "<!doctype html>" + body
		if got, want := outline(ourTree(t, body)), outline(browserTree(t, body)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

// writing writes documents as people do: with or without optional end tags, with
// superfluous tags, hidden parts, boilerplate and pictures.
type writing struct {
	*rapid.T
	strings.Builder
	words int
}

func (w *writing) yes(what string) bool { return rapid.Bool().Draw(w.T, what) }

func (w *writing) several(most int, part func()) {
	for range rapid.IntRange(0, most).Draw(w.T, "several") {
		part()
	}
}

func (w *writing) one(of ...string) string { return rapid.SampledFrom(of).Draw(w.T, "one") }

func (w *writing) word() {
	w.words++
	fmt.Fprintf(w, "w%d", w.words)
}

func (w *writing) element(name string, needsEnd bool, content func()) {
	w.WriteString("<" + name + w.one("", " hidden", " class=x", " id=y hidden=until-found") + ">")
	content()
	if needsEnd || w.yes("end") {
		w.WriteString("</" + name + ">")
	}
}

func (w *writing) phrases() {
	w.several(4, func() {
		switch w.one("word", "inline", "void", "stray", "space", "picture", "raw") {
		case "inline":
			w.element(w.one("b", "a", "span", "my-word", "label"), true, w.word)
		case "void":
			w.WriteString(w.one("<br>", "<img alt=x>", "<input/>", "<wbr>"))
		case "stray":
			w.WriteString(w.one("</i>", "</div>", "</nosuch>", "</section>"))
		case "space":
			w.WriteString(" ")
		case "picture":
			w.WriteString("<svg><title>pic</title><path/><text>pic</text><style/></svg>")
		case "raw":
			w.WriteString("<script>if (a<b) c</script>")
		default:
			w.word()
		}
	})
}

func (w *writing) flow(depth int) {
	if depth == 0 {
		w.phrases()
		return
	}
	inner := func() { w.several(3, func() { w.flow(depth - 1) }) }
	switch w.one("text", "p", "block", "list", "terms", "table", "heading", "select", "template") {
	case "p":
		w.element("p", false, w.phrases)
	case "block":
		w.element(w.one("div", "section", "nav", "header", "aside", "article", "main"), true, inner)
	case "list":
		w.element("ul", true, func() { w.several(3, func() { w.element("li", false, inner) }) })
	case "terms":
		w.element("dl", true, func() {
			w.several(3, func() { w.element("dt", false, w.phrases); w.element("dd", false, inner) })
		})
	case "table":
		w.element("table", true, func() {
			w.several(2, func() {
				w.element("tr", false, func() { w.several(3, func() { w.element("td", false, inner) }) })
			})
		})
	case "heading":
		w.element("h2", true, w.phrases)
	case "select":
		w.element("select", true, func() { w.several(3, func() { w.element("option", false, w.word) }) })
	case "template":
		w.element("template", true, inner)
	default:
		w.phrases()
	}
}

// TestTreeIsTheBrowsers: a document nested by HTML's rules has the tree that browsers make.
func TestTreeIsTheBrowsers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := writing{T: rt}
		w.WriteString("<!doctype html>")
		w.several(5, func() { w.flow(3) })
		if got, want := outline(ourTree(t, w.String())), outline(browserTree(t, w.String())); got != want {
			rt.Errorf("%s\ngot  %s\nwant %s", w.String(), got, want)
		}
	})
}

// TestTreeOfTagSoup: whatever tags stand in whatever order, a tree has all text in its order.
func TestTreeOfTagSoup(t *testing.T) {
	names := []string{"a href=x", "form", "div", "h3", "p", "li", "ul", "b", "table", "tr", "td", "button", "select", "option", "object", "svg", "desc", "main"}
	rapid.Check(t, func(rt *rapid.T) {
		var body, want strings.Builder
		for i := range rapid.IntRange(1, 40).Draw(rt, "pieces") {
			name := rapid.SampledFrom(names).Draw(rt, "name")
			tag, _, _ := strings.Cut(name, " ")
			fmt.Fprintf(&body, rapid.SampledFrom([]string{"<%[1]s>", "</%[2]s>", "</%[2]s>"}).Draw(rt, "tag")+"w%[3]d ", name, tag, i)
			fmt.Fprintf(&want, "w%d ", i)
		}
		root, depth := ourTree(t, body.String()), 0
		var got strings.Builder
		var walk func(n *html.Node, deep int)
		walk = func(n *html.Node, deep int) {
			depth = max(depth, deep)
			if n.Type == html.TextNode {
				got.WriteString(n.Data)
			}
			for child := n.FirstChild; child != nil; child = child.NextSibling {
				if child.Parent != n || child.PrevSibling != nil && child.PrevSibling.NextSibling != child {
					rt.Fatalf("%s: a broken tree", body.String())
				}
				walk(child, deep+1)
			}
		}
		walk(root, 0)
		if got.String() != want.String() || depth > 60 {
			rt.Errorf("%s\ngot  %s\nwant %s, %d deep", body.String(), got.String(), want.String(), depth)
		}
	})
}

// numbered returns n pieces, each with its number.
func numbered(n int, piece string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, piece, i)
	}
	return b.String()
}

// TestHostileDocuments: every document takes memory in proportion to its size. As browsers'
// trees, the first two took gigabytes, and one of them half a minute.
func TestHostileDocuments(t *testing.T) {
	const size = 200_000
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	for name, body := range map[string]string{
		"formatting that returns": "<p>" + numbered(400, "<font size=%d>") + fill("<p>x"),
		"a body of bodies":        numbered(size/12, "<body a%d>"),
		"paragraphs":              fill("<p>x"),
		"formatting":              fill("<b><p>"),
		"attributes":              fill("<p a b c d e f g h i j k l m n o p>"),
		"attributes of one tag":   "<p " + numbered(size/7, "a%d ") + ">",
		"nesting":                 fill("<div>"),
		"end tags in vain":        "<span><div>" + strings.Repeat("<b>", 400) + fill("</span>"),
		"pictures":                fill("<svg><desc>"),
		"tables":                  fill("<table><td>"),
		"interrupted text":        fill("x</y>"),
		"words":                   fill("a "),
		"new names":               numbered(size/8, "<x%d>"),
		"links":                   numbered(size/13, "<a href=%d>"),
		"links around blocks":     strings.Repeat(strings.Repeat("<a href=x><div>", 200)+strings.Repeat("</a>", 200)+strings.Repeat("</div>", 200), size/5000),
		"directives":              numbered(size/28, "<meta name=a%d content=none>"),
		"an open quote":           fill("<a b='"),
		"an open comment":         fill("<!--"),
		"NULs":                    fill("\x00"),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			parse(t, body)
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			if t.Logf("%d bytes took %d KiB", len(body), used>>10); used > 250*size {
				t.Error("too much")
			}
		})
	}
}

// TestManyAttributes: an element keeps some of its attributes. For each of its neighbours they are looked through again.
func TestManyAttributes(t *testing.T) {
	p := within(ourTree(t, "<p id=x "+numbered(1000, "a%d ")+">"), func(n *html.Node) bool { return n.Data == "p" })
	if len(p.Attr) != maxOwn || valueOf(p, "id") != "x" {
		t.Errorf("%d attributes", len(p.Attr))
	}
}

// TestLongLinks: links are also bounded by their size.
func TestLongLinks(t *testing.T) {
	page := parse(t, "<base href=http://h.example/"+strings.Repeat("x", 8000)+"/>"+numbered(1000, "<a href=%d>"))
	if n := len(page.Links); n != maxLinkBytes/(8000+len("http://h.example//123")) || !page.LinksCut {
		t.Errorf("%d links, cut %v", n, page.LinksCut)
	}
}

// TestLinksOfALongBase: many links with a long base cost no more than in proportion to the
// page, even if they lead to one page.
func TestLinksOfALongBase(t *testing.T) {
	const size = 400_000
	body := "<base href=http://h.example/" + strings.Repeat("x", 8000) + "/>" + strings.Repeat("<a href=y>x</a>", size/15)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	page := parse(t, body)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1000*size || len(page.Links) != 1 || !page.LinksCut {
		t.Errorf("%d bytes took %d KiB for %d links, cut %t", len(body), used>>10, len(page.Links), page.LinksCut)
	}
}

// TestNoTree: a document too large or deep for a tree is still read.
func TestNoTree(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large documents")
	}
	for name, body := range map[string]string{
		"nodes": strings.Repeat("<p>", maxNodes), "attributes": strings.Repeat("<p a b c d>", maxAttributes/4), "depth": strings.Repeat("<div>", maxDepth),
		"steps": "<i><div>" + strings.Repeat("<b>", 500) + strings.Repeat("</i>", maxSteps/500),
	} {
		body += "<p><a href=x>the end"
		if _, err := parseTree([]byte(body), false); !errors.Is(err, errNoTree) {
			t.Errorf("%s: %v", name, err)
		}
		if page := parse(t, body); !page.Flat || len(page.Links) != 1 || !strings.HasSuffix(page.Text, "the end") {
			t.Errorf("%s: flat %v, %d links", name, page.Flat, len(page.Links))
		}
	}
}
