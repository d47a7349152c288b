package extract

import (
	"runtime"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostilePages returns pages of about a size whose Markdown takes other programs minutes or
// gigabytes.
func hostilePages(size int) map[string]string {
	fill := func(piece string) string { return strings.Repeat(piece, max(1, size/len(piece))) }
	half := func(piece string) string { return strings.Repeat(piece, max(1, size/2/len(piece))) }
	return map[string]string{
		"a cell of many columns":   "<table><tr><td colspan=100000000>x</td></tr></table>",
		"cells of many columns":    "<table><tr><th>a<th>b" + fill("<tr><td colspan=100000000 rowspan=65534>x"),
		"spans over all":           "<table>" + fill("<tr>"+strings.Repeat("<td colspan=20 rowspan=20>", 50)+strings.Repeat("<tr>", 20)),
		"one wide cell":            "<table><tr><td>a<td>b" + strings.Repeat("<tr><td>c<td>d", 500) + "<tr><td>e<td>" + fill("wide "),
		"one wide cell among many": "<table>" + half("<tr><td>c<td>d") + "<tr><td>e<td>" + half("w"),
		"many columns":             "<table><tr>" + fill("<td>x"),
		"columns that are allowed": "<table>" + fill("<tr>"+strings.Repeat("<td>", 999)+"x"),
		"tables of many columns":   fill("<table><tr>" + strings.Repeat("<td>", 999) + "</table>"),
		"rows":                     "<table>" + fill("<tr><td><td>"),
		"tables in tables":         fill("<table><td>x<td>y"),
		"emphasis marks":           "<p>" + fill("*a_"),
		"marks of one kind":        "<p>" + fill("*"),
		"underscores":              "<p>" + fill("_"),
		"brackets":                 "<p>" + fill("[](!["),
		"backticks":                "<p>" + fill("`"),
		"backticks in code":        fill("<code>`</code>x"),
		"growing backticks":        fill("<code>" + strings.Repeat("`", 300) + "</code>x"),
		"backticks in a block":     "<pre>" + half("`") + half("~"),
		"blocks of backticks":      fill("<pre>```</pre>"),
		"emphasis":                 fill("<b>a<i>b"),
		"emphasis that ends":       fill("<b>a</b><i>b</i>c"),
		"emphasis in emphasis":     "<p>" + strings.Repeat("<i><b>", 200) + fill("a</i>b<i>"),
		"a long list":              "<ul>" + fill("<li>x"),
		"a long ordered list":      "<ol start=99999999>" + fill("<li>x"),
		"lists in lists":           strings.Repeat("<ul><li>", 200) + fill("<li>x"),
		"lists in lists, flat":     strings.Repeat("<ul><li>", 600) + fill("<li>x"),
		"lists that never end":     fill("<ul><li>x"),
		"lists of nothing":         fill("<ul><li></ul>"),
		"quotes":                   strings.Repeat("<blockquote>", 200) + fill("<p>x"),
		"quotes of code":           strings.Repeat("<blockquote>", 200) + "<pre>" + fill("\n"),
		"quotes of lines":          strings.Repeat("<blockquote>", 200) + "x<pre>" + fill("a\n"),
		"definitions":              fill("<dl><dt>x<dd>"),
		"terms":                    "<dl>" + fill("<dt>x"),
		"long addresses":           "<base href=http://h.example/" + strings.Repeat("x", 8000) + "/>" + numbered(size/14, "<a href=%d>x</a>"),
		"one long address":         "<base href=http://h.example/" + strings.Repeat("x", 8000) + "/>" + fill("<a href=y>x</a>"),
		"addresses":                numbered(size/14, "<a href=%d>x</a>"),
		"long fragments":           fill("<a href='#" + strings.Repeat("(", 1000) + "'>x</a>"),
		"notes":                    numbered(size/60, `<a id="r%[1]d" href="#n%[1]d">1</a>`) + numbered(size/60, `<li id="n%[1]d"><a href="#r%[1]d">1</a>`),
		"references to one note":   fill(`<a id=r href="#n">1</a>`) + `<p id=n>` + fill(`<a href="#r">1</a>`),
		"notes in notes":           `<a id=r href="#n">1</a>` + numbered(size/40, `<div id="n%d"><a href="#r">1</a>`),
		"pictures":                 fill("<img src=x>"),
		"described pictures":       fill("<img src=x alt='[]|*[]|*[]|*'>"),
		"rules":                    fill("x<hr>"),
		"line breaks":              "<p>" + fill("x<br>"),
		"headings":                 fill("<h6>x"),
		"text like tags":           "<textarea>" + fill("<a"),
		"ampersands":               "<p>" + fill("&amp;amp;"),
		"entities":                 "<p>" + fill("&nGt;"),
		"long entities":            "<p>" + fill("&amp;"+strings.Repeat("a", 30)),
		"paragraphs":               fill("<p>x"),
		"nesting":                  fill("<div>x"),
		"numbers of lines":         strings.Repeat("<div class=lineno>", 400) + fill("<span class=lineno>1</span>"),
		"admonitions":              fill("<div class=note>x"),
		"buttons":                  strings.Repeat("<i>", 400) + fill("<button>x</button>"),
		"words":                    "<p>" + fill("a "),
		"spaces":                   "<pre>" + fill(" "),
		"control characters":       "<p>" + fill("\x01a"),
	}
}

// TestHostileMarkdown: whatever a page is like, its Markdown takes memory in proportion to
// it, and has at most twice its bytes plus 64 KiB.
func TestHostileMarkdown(t *testing.T) {
	// Bytes for a byte of the page, for any page, and for one whose addresses are as long as
	// are resolved.
	const most, always, addresses = 700, 8 << 20, 256 << 20
	for size, reading := range map[int]Reading{20_000: ReadMain, 200_000: ReadAll} {
		if size > 20_000 && testing.Short() {
			continue // -short: large documents
		}
		for name, body := range hostilePages(size) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			m := markdown(t, body, reading)
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			bound := most*uint64(len(body)) + always
			if strings.Contains(name, "long address") {
				bound += addresses
			}
			if used > bound {
				t.Errorf("%s: %d bytes took %d KiB", name, len(body), used>>10)
			}
			checkMarkdown(t, m, len(body))
		}
	}
}

// TestPagesOfOthersEnds: pages that crashed other programs, or took them minutes, allocate
// less than 300 MB in all.
func TestPagesOfOthersEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large documents")
	}
	for name, c := range map[string]struct {
		body string
		flat bool
	}{
		"63 bytes with a wide span": {"<table><tr><td colspan=100000000>x</td></tr></table>", false},
		"50 kB with one wide cell":  {"<table>" + strings.Repeat("<tr><td>a<td>b", 2000) + "<tr><td>" + strings.Repeat("w", 20_000), false},
		"400 kB with one wide cell": {"<table>" + strings.Repeat("<tr><td>a<td>b", 15_000) + "<tr><td>" + strings.Repeat("w", 200_000), false},
		"200 kB of emphasis marks":  {"<p>" + strings.Repeat("*a_", 70_000), false},
		"a list of 5 MB":            {"<ul>" + strings.Repeat("<li>item of the list</li>", 200_000), true},
		"5 MB of nested divs":       {strings.Repeat("<div>x", 800_000), true},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m := markdown(t, c.body, ReadMain)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 300<<20 {
			t.Errorf("%s took %d MB", name, used>>20)
		}
		checkMarkdown(t, m, len(c.body))
		if m.Flat != c.flat || m.Body == "" {
			t.Errorf("%s: flat %t, %d bytes", name, m.Flat, len(m.Body))
		}
	}
}

// TestMarkdownIsLinear: of pages twice as large, Markdown takes at most two and a half times
// the memory.
func TestMarkdownIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: large documents")
	}
	const size = 200_000
	used := func(body string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		markdown(t, body, ReadMain)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	twice := hostilePages(2 * size)
	for name, body := range hostilePages(size) {
		const fixed = 4 << 20 // that any page may take, such as for the list of its links
		if once, double := used(body), used(twice[name]); 2*double > 5*once+fixed {
			t.Errorf("%s: %d KiB, of a page twice as large %d KiB", name, once>>10, double>>10)
		}
	}
}

// TestTablesAreBounded: a cell has at most twenty columns, and a table at most a thousand.
func TestTablesAreBounded(t *testing.T) {
	t.Parallel()
	row := func(columns int) string {
		return "<table><tr><th>a" + strings.Repeat("<th>b", columns-1) + "<tr><td>c<td>d</table>"
	}
	for name, c := range map[string]struct {
		body    string
		columns int // of the table, 0 if it is written as lines
	}{
		"a cell of 100 columns": {"<table><tr><th>a<th>b<tr><td colspan=100>c</table>", 20},
		"1000 columns":          {row(1000), 1000},
		"1001 columns":          {row(1001), 0},
	} {
		body := markdown(t, c.body, ReadAll).Body
		if got := strings.Count(body, " ---"); got != c.columns || !strings.Contains(body, "c") {
			t.Errorf("%s: %d columns, want %d, in\n%.200s", name, got, c.columns, body)
		}
	}
}

// checkMarkdown checks the promises about all Markdown.
func checkMarkdown(t *testing.T, m Markdown, size int) {
	t.Helper()
	if len(m.Body) > 2*size+allowance {
		t.Errorf("%d bytes of Markdown of %d", len(m.Body), size)
	}
	if !utf8.ValidString(m.Body) || m.Body != "" && !strings.HasSuffix(m.Body, "\n") {
		t.Errorf("no UTF-8, or no end of the last line: %.100q", m.Body)
	}
	if i := strings.IndexFunc(m.Body, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }); i >= 0 {
		t.Errorf("a control character: %.100q", m.Body[i:])
	}
	for _, h := range m.Headings {
		if h.Offset < 0 || h.Offset >= len(m.Body) || !strings.HasPrefix(m.Body[h.Offset:], strings.Repeat("#", h.Level)+" ") || h.Offset > 0 && m.Body[h.Offset-1] != '\n' {
			t.Fatalf("no heading %+v", h)
		}
	}
}
