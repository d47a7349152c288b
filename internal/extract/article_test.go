package extract

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"recrawl/internal/crawl"
)

// articleOf reads the article of a page.
func articleOf(t testing.TB, body string) string {
	t.Helper()
	text, err := Article(Source{Body: []byte(body), ContentType: "text/html; charset=utf-8", URL: mustURL(t, self)}, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// story are some paragraphs, and told is their text.
var story, told = func() (string, string) {
	var html, text []string
	for n := range 6 {
		html, text = append(html, "<p>"+prose(n)+"</p>"), append(text, prose(n))
	}
	return strings.Join(html, ""), strings.Join(text, "\n")
}()

func TestArticle(t *testing.T) {
	const links = "<ul><li><a href=a>Of the harbour</a><li><a href=b>A new bridge</a></ul>"
	first, rest, _ := strings.Cut(story, "</p>")
	for _, c := range []struct{ name, body, want string }{
		// Around the article.
		{"a page around it", "<header>Site</header><div><div>" + story + "</div><div>more</div></div><div>imprint</div>", told},
		{"another text beside it", "<div><div>" + story + "</div><div><p>" + prose(9) + "</div></div>", told},
		{"as much text beside it", "<div><div>" + story + "</div><div>" + story + "</div></div>", told + "\n" + told},
		{"paragraphs beside its longest section", "<div>" + first + "</p><div><h2>Part</h2>" + story + "</div></div>", prose(0) + "\nPart\n" + told},
		{"a section beside its longest one", "<div><section>" + story + "</section><section class=b><p>" + prose(9) + "</section></div>", told + "\n" + prose(9)},
		{"a paragraph beside what is named as its text", "<div><div class=entry-content>" + story + "</div><p>" + prose(9) + "</div>", told},
		{"a foot longer than all else", "<main><h1>Title</h1>Nothing in this version uses it</main><footer>" + story + "</footer>", "Title\nNothing in this version uses it"},
		{"in pieces of one class", "<div><div class=piece>" + story + "</div><div class=piece><p>" + prose(9) + "</div></div>", told + "\n" + prose(9)},
		// By name.
		{"comments, though they are longer", "<div>" + story + "</div><div class=comments>" + strings.Repeat(story, 3) + "</div>", told},
		{"comments only", "<div class=comments>" + story + "</div>", told},
		{"a page that is a form", "<form>" + story + "<button>Send</button></form>", told},
		{"a text called an advert's", "<div class='ad article-body'>" + story + "</div><p>" + prose(9), told},
		{"a subject is no name", "<div class=category-comments>" + story + "</div><div class=sidebar><p>" + prose(9) + "</div>", told},
		{"hidden by a style", "<div>" + story + "<p style='color: red; Display : None !important'>" + prose(9) + "</div>", told},
		{"a formula that a picture shows", "<div>" + story + "<p>If <span><span style='display: none;'><math><semantics><mi>x</mi><annotation encoding=application/x-tex>{\\displaystyle x}</annotation></semantics></math></span><img src=x alt=x></span> holds, " + prose(9) + "</div>", told + "\nIf x holds, " + prose(9)},
		{"a byline", "<div><p class=byline>By Ann</p>" + story + "</div>", told},
		{"a byline as long as a text", "<div>" + story + "<p class=source>" + strings.Repeat(prose(9)+" ", 4) + "</div>", told + "\n" + strings.TrimSpace(strings.Repeat(prose(9)+" ", 4))},
		{"a word of a sentence", "<div>" + story + "<p>" + prose(9) + " On <span class=date>Monday</span>.</div>", told + "\n" + prose(9) + " On Monday."},
		{"a custom element in a sentence", "<div>" + story + "<p>According to <x-ref><a href=x>the rules of the harbour</a></x-ref>, " + prose(9) + "</div>", told + "\nAccording to the rules of the harbour , " + prose(9)},
		{"a control in a sentence", "<div>" + story + "<p>The <button class=glossary>quorum</button> of " + prose(9) + " <button>Share</button></p></div>", told + "\nThe quorum of " + prose(9)},
		// Headlines.
		{"the headline and what is before it", "<div><p>Science</p><h1>Title</h1><p>Monday</p>" + story + "</div>", "Monday\n" + told},
		{"a headline in the text", "<div>" + first + "</p><h1>Part two</h1>" + rest + "</div>", strings.Replace(told, "\n", "\nPart two\n", 1)},
		{"headings", "<div><h2>One</h2>" + first + "</p><h2>Two</h2>" + rest + "</div>", "One\n" + strings.Replace(told, "\n", "\nTwo\n", 1)},
		// What is in it.
		{"links", "<div>" + story + links + "</div>", told},
		{"lines of code that are links", "<div>" + story + "<div class=fragment><div class=line><a href=x>struct Watch</a></div><div class=line>};</div></div></div>", told + "\nstruct Watch\n};"},
		{"a sentence of links", "<div>" + story + "<p>See <a href=x>the rules of the harbour</a> and <a href=y>the fees</a>.<p>Read more: <a href=z>A new bridge for the harbour.</a></div>", told + "\nSee the rules of the harbour and the fees."},
		{"a list of sentences", "<div>" + story + "<ul><li>See <a href=x>the rules of the harbour</a>.<li><p>See <a href=y>the fees of the harbour</a>.</ul></div>", told + "\nSee the rules of the harbour.\nSee the fees of the harbour."},
		{"a note of links", "<div>" + story + "<div class=admonition><p>Note<p>See <a href=x>the rules of the harbour</a> and <a href=y>the fees</a>.</div></div>", told + "\nNote\nSee the rules of the harbour and the fees."},
		{"a box", "<div><h2>Title</h2>" + story + "<div class=sidebar><p>Terms<p>" + prose(9) + "</div></div>", "Title\n" + told + "\nTerms\n" + prose(9)},
		{"footnotes beside the text", "<div class=chapter><div class=section>" + story + "</div><div class=footnotes><p>" + prose(9) + "</div></div>", told + "\n" + prose(9)},
		{"a section on sharing", "<div>" + story + "<div class=section id=sharing-files><h2>Sharing files<a class=headerlink href=#sharing-files>¶</a></h2><p>" + prose(9) + "</div></div>", told + "\nSharing files¶\n" + prose(9)},
		{"a section with a number", "<div>" + story + "<div id=Standard-Tags><table><tr><td>[<a href=x>Up</a>]</table><h2>2.3 Standard Tags</h2><p>" + prose(9) + "</div></div>", told + "\n2.3 Standard Tags\n" + prose(9)},
		{"a section of comments", "<div>" + story + "<div class=section id=comments><h2>Comments</h2><p>" + prose(9) + "</div></div>", told},
		{"a list with a link", "<div>" + story + "<ol><li><a href=a>Of the harbour</a><li>and more of it<li class=tag>end</ol></div>", told + "\nOf the harbour\nand more of it\nend"},
		{"a table", "<div>" + story + "<table><tr class=share><td class=date>Monday<td class=ad><a href=x>12</a></table></div>", told + "\nMonday\n12"},
		{"code", "<div>" + story + "<pre><span class=comment>// nav</span>\n<a href=x>print</a>()</pre></div>", told + "\n// nav print()"},
		{"a table whose cells are links", "<div>" + story + "<div class=wrapper><table><tr><th>Command<th>What it does<tr><td><p><a href=x>recrawl show a page of the crawl</a></p><td>shows a page<tr><td><p><a href=y>recrawl stop a page of the crawl</a></p><td><a href=z>stop</a></table></div></div>", told + "\nCommand\nWhat it does\nrecrawl show a page of the crawl\nshows a page\nrecrawl stop a page of the crawl\nstop"},
		{"a table of links", "<div>" + story + "<table><tr><th>Rivers<td><a href=x>Of the harbour</a> <a href=y>A new bridge</a><tr><th>Hills<td><a href=z>Winter in the valley</a></table></div>", told},
		{"a table of authors", "<div>" + story + "<table class=authors><tr><td>Ann<td>Bob</table></div>", told + "\nAnn\nBob"},
		{"declarations", "<div>" + story + "<p><a id=x>take</a> :: <a href=a>Integral</a> -&gt; <a href=b>Sequence</a><p class=src>type <a href=a>Integral</a><p><code><a href=a>Class</a> <a href=b>make</a>(<a href=c>Sequence</a> s)</code></div>", told + "\ntake :: Integral -> Sequence\ntype Integral\nClass make(Sequence s)"},
		{"signs that are none", "<div>" + story + "<p>-&gt; <a href=a>Integral numbers</a><p><a href=b>Of the harbour</a> (more)</div>", told},
		{"links with descriptions", "<div>" + story + "<div class=summary><div class='col-first head'>Class</div><div class='col-last head'>Description</div>" + strings.Repeat("<div class='col-first odd'><a href=x>Watch</a></div><div class=col-second><a href=y>Public</a></div><div class='col-last odd'><p>Sees a page</div>", 2) + "</div></div>", told + "\nClass\nDescription" + strings.Repeat("\nWatch\nPublic\nSees a page", 2)},
		{"pairs of links and descriptions", "<div>" + story + "<div>" + strings.Repeat("<div class=top><p class=x><a href=x>Integral</a></p><div class=doc><p>A number of things</div></div>", 3) + "</div></div>", told + strings.Repeat("\nIntegral\nA number of things", 3)},
		{"read also", "<div>" + strings.Repeat("<p>"+prose(1)+"</p><p class=also><a href=x>Of the harbour</a></p>", 6) + "<div class=also><a href=x>A new bridge</a></div><p>" + prose(2) + "</div>", strings.Repeat(prose(1)+"\n", 6) + prose(2)},
		{"a heading that is a link", "<div>" + story + "<h2><a href=x>Part two</a></h2><p>" + prose(9) + "</div>", told + "\nPart two\n" + prose(9)},
		{"a text that is a list", "<p>Rules</p><ol><li>" + prose(1) + "<li>" + strings.Repeat(prose(2)+" ", 9) + "</ol>", "Rules\n" + prose(1) + "\n" + strings.TrimSpace(strings.Repeat(prose(2)+" ", 9))},
		{"a text made of links", "<div>" + story + "<p>" + strings.Repeat("<a href=x>The river and the bridge</a> ", 13) + "</p></div>", told + "\n" + strings.TrimSpace(strings.Repeat("The river and the bridge ", 13))},
		{"a section on comments", "<div>" + story + "<section id=comments><h2 id=related-date>Comments</h2><p>" + prose(9) + "</section></div>", told + "\nComments\n" + prose(9)},
		{"a caption", "<div>" + story + "<figure><figcaption>The bridge in winter</figcaption></figure></div>", told},
		{"warnings", "<div>" + story + "<aside class='admonition note'><p>Note<p>" + prose(9) + "</aside><aside class=starlight-aside><p>Tip</aside><p>" + prose(8) + "</div>", told + "\nNote\n" + prose(9) + "\nTip\n" + prose(8)},
		{"footnotes", "<div>" + story + "<aside class=footnote-list><aside class=footnote>One</aside></aside><aside role=doc-endnotes><p>Two</aside><footer class=footnotes><p>" + prose(9) + "</footer></div>", told + "\nOne\nTwo\n" + prose(9)},
		{"an aside called a note, with an advert's name", "<div>" + story + "<aside class='note newsletter'>Subscribe</aside><aside class=callout id=related>More</aside><aside>" + prose(9) + "</aside></div>", told},
		{"a note longer than the text", "<div>" + story + "</div><aside class=note>" + strings.Repeat(story, 2) + "</aside>", told},
		// Pages without an article have their main text.
		{"comments and a note", "<p>" + strings.Repeat(prose(9)+" ", 4) + strings.Repeat("<p class=comment>"+prose(1), 90), strings.TrimSpace(strings.Repeat(prose(9)+" ", 4)) + strings.Repeat("\n"+prose(1), 90)},
		{"short lines and a note", "<div>" + story + "</div><div>" + strings.Repeat("<p>A short line of the page, as long as many others", 40) + "</div>", told + strings.Repeat("\nA short line of the page, as long as many others", 40)},
		{"a list of links", links, "Of the harbour\nA new bridge"},
		{"a short text", "<p>Back soon.", "Back soon."},
		{"next to nothing", "<p>" + prose(1) + "<nav>menu</nav>", prose(1)},
		{"nothing", "", ""},
		{"too deep for a tree", strings.Repeat("<div>", 600) + story, told},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := articleOf(t, c.body); got != c.want {
				t.Errorf("%q\ngot  %q\nwant %q", c.body, got, c.want)
			}
		})
	}
}

func TestArticleOfOtherTypes(t *testing.T) {
	base := mustURL(t, self)
	for _, c := range []struct{ body, media, want string }{
		{"a  b\nc", "text/plain", "a b\nc"},
		{"\x89PNG", "image/png", ""},
		{"<div>" + strings.ReplaceAll(story, "words", "w\xf6rds") + "</div>", "text/html; charset=iso-8859-1", strings.ReplaceAll(told, "words", "wörds")},
	} {
		got, err := Article(Source{Body: []byte(c.body), ContentType: c.media, URL: base}, Rules{})
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.media, got, err, c.want)
		}
	}
}

// TestArticleByRules: elements that a crawl ignores are in no article, and those that it
// selects are the article.
func TestArticleByRules(t *testing.T) {
	body := "<div>" + story + "<p class=x>" + prose(9) + "</p></div><p class=y>price</p>"
	for name, c := range map[string]struct {
		spec crawl.ContentSpec
		want string
	}{
		"ignored":  {crawl.ContentSpec{IgnoreSelectors: []string{".x"}}, told},
		"patterns": {crawl.ContentSpec{IgnoreSelectors: []string{".x"}, IgnorePatterns: []string{"^Sentence "}}, strings.ReplaceAll(told, "Sentence ", "")},
		"selected": {crawl.ContentSpec{Rules: []crawl.ContentRule{{Host: "example.com", Select: []string{".y"}}}}, "price"},
	} {
		rules, err := NewRules(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Article(Source{Body: []byte(body), ContentType: "text/html", URL: mustURL(t, self)}, rules)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
}

func TestHidesByStyle(t *testing.T) {
	for style, want := range map[string]bool{
		"": false, "display:none": true, "DISPLAY: none;": true, "color:red;display:none!important": true, "visibility:hidden": true,
		"display:block": false, "--display:none": false, "overflow:hidden": false, "none": false, "display:none-such": false,
	} {
		if got := hidesByStyle(style); got != want {
			t.Errorf("%q: %v", style, got)
		}
	}
}

// TestArticlesOfHostileDocuments: the memory that an article takes is in proportion to
// its page.
func TestArticlesOfHostileDocuments(t *testing.T) {
	const size = 200_000
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)) }
	nested := strings.Repeat("<div class='a b c'>", 500)
	for name, body := range map[string]string{
		"nesting":    nested + fill("<p>x"),
		"texts":      nested + fill("<p class=x>"+prose(1)),
		"twins":      fill("<div class=x><p>" + prose(1) + "</div>"),
		"names":      "<p class='" + fill("comment-x ") + "'>" + story,
		"long names": "<p class='" + fill("comment-x-") + "'>" + story,
		"styles":     "<p style='" + fill("display:;") + "'>" + story,
		"headlines":  fill("<h1>x</h1>"),
		"cells":      "<table>" + fill("<tr><td>x"),
		"a heading":  "<div id=ad><h2>" + fill("aa bb "),
		"states":     "<p class='" + strings.Repeat("promoted ", 400_000) + "'>" + story,
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			articleOf(t, body)
			runtime.ReadMemStats(&after)
			used := after.TotalAlloc - before.TotalAlloc
			if t.Logf("%d bytes took %d KiB", len(body), used>>10); used > 250*size {
				t.Error("too much")
			}
		})
	}
}

// FuzzArticle: an article is text of its page, in its order, and never empty if the main
// text is not.
func FuzzArticle(f *testing.F) {
	f.Add("<nav><div class=ad>", "</nav><aside id=sidebar>", "comments")
	f.Add("<table><td><a href=x>a", "</a></td></table><h1>b</h1><ul><li><a href=y>c</a>", "entry-content")
	f.Add("<main><template>", "</template><form><pre>", "byline")
	f.Fuzz(func(t *testing.T, before, after, class string) {
		body := strings.ToValidUTF8(fmt.Sprintf("%s<div class=%q>%s</div>%s<p>%s", before, html.EscapeString(class), story, after, prose(7)), "")
		page, text := parse(t, body), articleOf(t, body)
		checkText(t, text)
		if text == "" && page.Text != "" {
			t.Errorf("no article, but %q", page.Text)
		}
		root, err := parseTree([]byte(body), false)
		if err != nil {
			return
		}
		s := surveyOf(root, nil)
		whole := composer{survey: s, whole: true}
		whole.walk(root, modeAll)
		whole.endLine(modeAll)
		if !isSubsequence(strings.Fields(text), strings.Fields(whole.text.String())) {
			t.Errorf("%q\nis no part of %q", text, whole.text.String())
		}
	})
}

func BenchmarkArticle(b *testing.B) {
	body := sample()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		articleOf(b, string(body))
	}
}
