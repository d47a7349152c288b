package extract

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"recrawl/internal/crawl"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/urlkey"
)

const self = "https://example.com/dir/page.html"

func parse(t testing.TB, body string) Page {
	t.Helper()
	return parseAs(t, []byte(body), "text/html; charset=utf-8")
}

func parseAs(t testing.TB, body []byte, contentType string) Page {
	t.Helper()
	page, err := Parse(Source{Body: body, ContentType: contentType, URL: mustURL(t, self)}, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func mustURL(t testing.TB, raw string) urlkey.URL {
	t.Helper()
	u, err := urlkey.Canonical(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// deep nests a body so deeply that html.Parse refuses it.
func deep(body string) string { return strings.Repeat("<div>", 600) + body }

// TestLinks runs each case on the tree and tag by tag.
func TestLinks(t *testing.T) {
	cases := []struct {
		name, body string
		want       []string // "-" in front: nofollow
	}{
		{"a and area", `<a href=x>x</a><map><area href="/y"></map>`, []string{"https://example.com/dir/x", "https://example.com/y"}},
		{"white space and line feeds in a value", "<a href=' x\ny '>", []string{"https://example.com/dir/xy"}},
		{"entities", `<a href="?a=1&amp;b=2">`, []string{"https://example.com/dir/page.html?a=1&b=2"}},
		{"fragments are the page itself", `<a href="#top">t</a><a href="page.html#x">x</a><a href="">e</a>`, nil},
		{"no pages", `<a href="mailto:a@b">m</a><a href="javascript:void(0)">j</a><a href="tel:1">t</a><a href="data:,x">d</a><a name=x>n</a>`, nil},
		{"bad addresses", `<a href="http://[">a</a><a href="//">b</a><a href="http://a b/">c</a>`, nil},
		{"nofollow", `<a rel="external NoFollow" href=a></a><a rel=ugc href=b></a><a rel=sponsored href=c></a><a rel=noopener href=d></a>`, []string{"-https://example.com/dir/a", "-https://example.com/dir/b", "-https://example.com/dir/c", "https://example.com/dir/d"}},
		{"once each, followed if any is", `<a rel=nofollow href=a></a><a href=b></a><a href=a></a><a rel=nofollow href=b></a>`, []string{"https://example.com/dir/a", "https://example.com/dir/b"}},
		{"frames", `<iframe src=a></iframe><iframe src="about:blank"></iframe>`, []string{"https://example.com/dir/a"}},
		{"link relations", `<link rel=next href=a><link rel="PREV" href=b><link rel=stylesheet href=c><link rel=icon href=d><link rel="alternate stylesheet" href=e><link rel=pingback href=f><link rel=alternate hreflang=de href=g><link href=h>`, []string{"https://example.com/dir/a", "https://example.com/dir/b", "https://example.com/dir/g"}},
		{"links of other types", `<link rel=alternate type="application/rss+xml" href=a><link rel=alternate type="text/html; charset=x" href=b><link rel=search type="application/opensearchdescription+xml" href=c>`, []string{"https://example.com/dir/b"}},
		{"refresh", `<meta http-equiv="Refresh" content="0; URL='next.html'">`, []string{"https://example.com/dir/next.html"}},
		{"first base", `<a href=x></a><base target=_blank><base href="/b/"><base href="/c/"><a href=y></a>`, []string{"https://example.com/b/x", "https://example.com/b/y"}},
		{"base on another host", `<base href="//other.example/q"><a href=x></a><a href="page.html"></a>`, []string{"https://other.example/x", "https://other.example/page.html"}},
		{"data base is ignored", `<base href="data:,x"><base href="/c/"><a href=x></a>`, []string{"https://example.com/dir/x"}},
		{"javascript base is ignored", `<base href="javascript:1"><a href=x></a>`, []string{"https://example.com/dir/x"}},
		{"noscript counts", `<noscript><a href=x>x</a></noscript>`, []string{"https://example.com/dir/x"}},
		{"templates do not", `<template><a href=x>x</a><template><a href=y></a></template><a href=z></a></template><a href=w></a>`, []string{"https://example.com/dir/w"}},
		{"scripts and comments do not", `<script>"<a href=x>"</script><!-- <a href=y> --><textarea><a href=z></textarea>`, nil},
		{"svg", `<svg><a xlink:href=x><text>t</text></a><a href=y></a></svg>`, []string{"https://example.com/dir/x", "https://example.com/dir/y"}},
		{"ping is never asked", `<a ping=x href=y></a>`, []string{"https://example.com/dir/y"}},
	}
	for _, c := range cases {
		for _, shape := range []struct {
			name string
			wrap func(string) string
		}{{"tree", strings.TrimSpace}, {"flat", deep}} {
			t.Run(c.name+" "+shape.name, func(t *testing.T) {
				page := parse(t, shape.wrap(c.body))
				if page.Flat != (shape.name == "flat") {
					t.Fatalf("flat: %v", page.Flat)
				}
				var got []string
				for _, l := range page.Links {
					got = append(got, map[bool]string{true: "-"}[l.NoFollow]+l.URL)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("got  %q\nwant %q", got, c.want)
				}
			})
		}
	}
}

func TestFrameSet(t *testing.T) {
	page := parse(t, `<title>t</title><frameset cols="*"><frame src=a><frame src=b><noframes><a href=c>c</a></noframes></frameset>`)
	if len(page.Links) != 2 || page.Links[0].URL != "https://example.com/dir/a" || page.Links[1].Kind != KindFrame || page.Text != "" {
		t.Errorf("%+v", page)
	}
}

func TestLinkLimits(t *testing.T) {
	var b strings.Builder
	for i := range MaxLinks + 5 {
		fmt.Fprintf(&b, "<a href=%d>", i)
	}
	if page := parse(t, b.String()); len(page.Links) != MaxLinks || !page.LinksCut {
		t.Errorf("%d links, cut %v", len(page.Links), page.LinksCut)
	}
	if page := parse(t, strings.Repeat("<link rel=next href=x>", maxRefs+1)); len(page.Links) != 1 || !page.LinksCut {
		t.Errorf("%d links, cut %v", len(page.Links), page.LinksCut)
	}
}

func TestText(t *testing.T) {
	cases := []struct{ name, body, want string }{
		{"white space", "<p> a\n\tb&nbsp;c </p>", "a b c"},
		{"blocks end words, inline elements do not", "<p>a<p>b<b>c</b>d<br>e<table><td>f</table><li>g<span>h</span>", "a\nbcd\ne\nf\ngh"},
		{"unseen", "<head><title>t</title><style>s</style></head><body>a<script>s</script><style>s</style><template>t</template><noframes>n</noframes><iframe>i</iframe>b", "ab"},
		{"without scripts", "<noscript>no script</noscript>", "no script"},
		{"hidden", "<p hidden>a</p><p hidden=until-found>b</p>", "b"},
		{"boilerplate", "<header>h</header><nav>n</nav><main>m</main><aside>s</aside><footer>f</footer>", "m"},
		{"nothing but boilerplate", "<header>h</header><nav>n</nav>", "h\nn"},
		{"no body", "just text", "just text"},
		{"empty", "", ""},
		{"pictures end words, not lines", "a<img>b<custom-element>c</custom-element>d", "a b c d"},
		{"elements that the style sets apart", "<p><a>a</a><a>b</a> <span>c</span><small>d</small>", "a b c d"},
		{"parts of words", "<p>H<sub>2</sub>O 1<sup>st</sup><b>a</b>b<code><b>c</b><i>d</i></code>", "H2O 1stabcd"},
		{"characters that only allow a break", "<p>a\u00adb\u200bc", "abc"},
		{"a title in a picture", "<svg><title>t</title><text>x</text></svg>", "x"},
		{"what a picture does not draw", "<p>a<svg><desc>Created with a program.</desc><metadata><rdf:RDF>b</rdf:RDF></metadata><text>x</text></svg><desc>c", "a x\nc"},
		{"form fields", "<textarea>t</textarea><option>o</option>", "t\no"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := parse(t, c.body).Text; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFlatText(t *testing.T) {
	page := parse(t, "<head><title>the\n title</title><style>s</style><title>second</title>"+deep("<p>a<b>b</b><script>s</script><p>c<noscript>d</noscript><template>e</template>"))
	if !page.Flat || page.Title != "the title" || page.Text != "ab\nc\nd" {
		t.Errorf("%+v", page)
	}
}

func TestTitle(t *testing.T) {
	cases := map[string]string{
		"<title> a\n b&amp;c </title>":                                           "a b&c",
		"<svg><title>pic</title></svg><title>page</title>":                       "page",
		"<title>one</title><title>two</title>":                                   "one",
		"<p>none":                                                                "",
		"<title>" + strings.Repeat("é", 400) + "</title>":                        strings.Repeat("é", 250),
		"<title>a\u202egpj\x00</title>":                                          "agpj\uFFFD",
		"<template><title>inert</title></template><title>t</title>":              "t",
		"<template><p><b><title>inert</title></b></template><p><title>t</title>": "t",
		// Without a <title>, what the page calls itself elsewhere.
		"<title>t</title><meta property=og:title content=o><h1>h</h1>":                       "t",
		"<title> </title><meta name=' OG:Title ' content=' an \n o '><h1>h</h1>":             "an o",
		"<meta property=og:title content=' '><h1> </h1><h1>the<br>first <b>one</b></h1><h1>": "the first one",
		"<template><h1>a</h1></template><h1 hidden>b</h1><h1 style=display:none>c</h1><h1>d": "d",
		"<h2>no</h2>": "",
		strings.Repeat("<div>", 600) + "<meta property=og:title content=o><h1>h</h1>": "o",
	}
	for body, want := range cases {
		if got := parse(t, body).Title; got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	cases := map[string]string{
		`<link rel=canonical href="/x#y">`:                               "https://example.com/x",
		`<link rel=canonical href="/x"><link rel=canonical href="/y">`:   "https://example.com/x",
		`<base href="http://b.example/"><link rel="canonical" href="z">`: "http://b.example/z",
		`<link rel=canonical href="mailto:x">`:                           "",
		`<link rel=canonical href="https://example.com/dir/page.html">`:  self,
		`<link rel=canonical>`:                                           "",
		`<a rel=canonical href=x>`:                                       "",
	}
	for body, want := range cases {
		if got := parse(t, body).Canonical; got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}

func TestMetaRobots(t *testing.T) {
	page := parse(t, `<meta name=Robots content="NOINDEX , follow"><meta name=" Recrawl " content="nofollow"><meta name=recrawl content=noarchive>
		<meta name=other content=none><meta name=description content="about nofollow links"><meta name=viewport content="width=device-width">`)
	for agent, want := range map[string]string{
		"Recrawl": "noindex, nofollow, noarchive", "other": "noindex, nofollow", "third": "noindex", "": "noindex",
	} {
		if got := page.Robots(agent).String(); got != want {
			t.Errorf("%s is asked for %q, want %q", agent, got, want)
		}
	}
}

// Reservations in elements are read in every shape of document.
func TestMetaReserved(t *testing.T) {
	for body, want := range map[string]string{
		`<meta name=robots content="noai, noimageai">`:                                                         `refuses ai-input ("meta robots: noai"), refuses ai-train ("meta robots: noai")`,
		`<meta name=recrawl content=noai><meta name=other content=noai>`:                                       `refuses ai-input ("meta robots: noai"), refuses ai-train ("meta robots: noai")`,
		`<meta name=other content=noai>`:                                                                       "",
		`<meta name=robots content=noimageai>`:                                                                 "",
		`<meta name="TDM-Reservation" content="1"><meta name="tdm-policy" content="https://host.test/p.json">`: `refuses ai-input ("meta tdm-reservation: 1, tdm-policy https://host.test/p.json"), refuses ai-train ("meta tdm-reservation: 1, tdm-policy https://host.test/p.json")`,
		`<meta name=tdm-reservation content=0>`:                                                                `allows ai-input ("meta tdm-reservation: 0"), allows ai-train ("meta tdm-reservation: 0")`,
		`<meta name=tdm-reservation content=yes>`:                                                              "",
		`<template><meta name=tdm-reservation content=1></template>`:                                           "",
	} {
		for shape, wrap := range map[string]func(string) string{"tree": strings.TrimSpace, "flat": deep} {
			if got := reserve.Words(parse(t, wrap(body)).Reserved("recrawl")); got != want {
				t.Errorf("%s (%s) %s, want %s", body, shape, got, want)
			}
		}
	}
}

func TestMetaRobotsSpellings(t *testing.T) {
	for body, want := range map[string]string{
		`<meta name="robots,recrawl" content="noindex">`:                                                        "noindex",
		`<meta name="otherbot, Recrawl" content="noindex">`:                                                     "noindex",
		`<meta name="recrawl;otherbot" content="noindex">`:                                                      "noindex",
		`<meta name="otherbot|ROBOTS" content="noindex">`:                                                       "noindex",
		`<meta name="otherbot recrawl" content="noindex">`:                                                      "noindex",
		`<meta name="'robots'" content="'noindex'">`:                                                            "noindex",
		`<meta name="recrawl/1.0" content="noindex">`:                                                           "noindex",
		`<meta name="robots:" content="noindex">`:                                                               "noindex",
		`<meta name="*" content="noindex">`:                                                                     "noindex",
		`<meta name="robot" content="noindex">`:                                                                 "noindex",
		`<meta name="googlebot,bingbot" content="noindex">`:                                                     "",
		`<meta name="recrawl-images" content="noindex"><meta name="dc.robots" content="noindex">`:               "",
		`<meta name="" content="noindex"><meta content="noindex">`:                                              "",
		`<meta name="robots">`:                                                                                  "",
		`<META CONTENT="NOINDEX;NOFOLLOW" NAME="ROBOTS">`:                                                       "noindex, nofollow",
		`<meta name=robots content="noindex"><meta name=robots content="index, nofollow">`:                      "noindex, nofollow",
		`<meta name=robots content="noindex&#44;nofollow">`:                                                     "noindex, nofollow",
		`<meta name=robots content="index, follow"><body><p>text<meta name=robots content="noindex">`:           "noindex",
		`<noscript><meta name=robots content="noindex"></noscript>`:                                             "noindex",
		`<template><meta name=robots content="noindex"></template><!-- <meta name=robots content=nofollow> -->`: "",
		`<meta property="robots" content="noindex">`:                                                            "noindex",
		`<meta http-equiv="Robots" content="noindex">`:                                                          "noindex",
		`<meta http-equiv="X-Robots-Tag" content="otherbot: nofollow, recrawl: noindex">`:                       "noindex",
		`<meta http-equiv="content-language" content="none">`:                                                   "",
	} {
		for shape, wrap := range map[string]func(string) string{"tree": strings.TrimSpace, "flat": deep} {
			if got := parse(t, wrap(body)).Robots("recrawl").String(); got != want {
				t.Errorf("%s (%s) asks for %q, want %q", body, shape, got, want)
			}
		}
	}
}

// Whatever else a page says, its directives for us are read.
func TestMetaRobotsAmongMany(t *testing.T) {
	filler := `<meta name=description content="` + strings.Repeat("none of it ", maxRobots/5) + `">`
	page := parse(t, filler+numbered(1000, "<meta name=bot%d content=none>")+
		`<meta name=robots content="`+strings.Repeat("max-snippet: 5, ", 1000)+`noarchive"><meta name=recrawl content=nofollow>`)
	if got := page.Robots("recrawl"); got.String() != "nofollow, noarchive" || got.Cut {
		t.Errorf("asked for %q, cut %t", got, got.Cut)
	}
	for name, body := range map[string]string{
		"in one":  `<meta name=robots content="` + strings.Repeat("max-snippet: 5, ", maxRobots/16) + `noindex">`,
		"in many": strings.Repeat("<meta name=recrawl content=all>", maxRobots/3+1),
	} {
		page := parse(t, body)
		if got := page.Robots("recrawl"); !got.Cut || got.String() != "noindex, nofollow" {
			t.Errorf("more than is read %s: asked for %q, cut %t", name, got, got.Cut)
		}
		if got := page.Robots("otherbot"); name == "in many" && got.Cut {
			t.Error("what is said to one crawler is cut for another")
		}
	}
}

func TestRefreshTarget(t *testing.T) {
	cases := map[string]string{
		"5": "", "5;": "", "": "", "x": "", "5x": "", "; url=x": "",
		"5; url=x": "x", "0;URL = 'x y' z": "x y", `0,url="x`: "x", "5 x": "x", "1.5;url=x": "x", "..;x": "x",
		"0; urlx": "urlx", "0; url x": "url x", "0; u": "u", "0; 'x'": "x", " \n3 ;\turl=x": "x", "0;url=": "", "0;url=''": "",
	}
	for content, want := range cases {
		if got, ok := refreshTarget(content); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", content, got, ok, want)
		}
	}
}

func TestCharset(t *testing.T) {
	const text = "Größe “日本” ж"
	latin, err := charmap.Windows1252.NewEncoder().String("Größe “x”")
	if err != nil {
		t.Fatal(err)
	}
	cyrillic, err := charmap.Windows1251.NewEncoder().String("жук")
	if err != nil {
		t.Fatal(err)
	}
	jis, err := japanese.ISO2022JP.NewEncoder().String("日本")
	if err != nil {
		t.Fatal(err)
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	markless := map[unicode.Endianness]string{}
	for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
		if markless[order], err = unicode.UTF16(order, unicode.IgnoreBOM).NewEncoder().String("<p>" + text); err != nil {
			t.Fatal(err)
		}
	}
	ascii := strings.Repeat("a ", 600)
	cases := []struct{ name, body, contentType, charset, text string }{
		{"Content-Type", cyrillic, "text/html; charset=windows-1251", "windows-1251", "жук"},
		{"Content-Type that mime cannot read", cyrillic, "text/html;; charset=cp1251; charset=utf-8", "windows-1251", "жук"},
		{"meta", "<meta charset=windows-1251>" + cyrillic, "text/html", "windows-1251", "жук"},
		{"Content-Type before meta", "<meta charset=koi8-r>" + cyrillic, "text/html; charset=windows-1251", "windows-1251", "жук"},
		{"wrong meta on UTF-8", "<meta charset=iso-8859-1>" + text, "text/html", "utf-8", text},
		{"no declaration, UTF-8", text, "text/html", "utf-8", text},
		{"no declaration, UTF-8 after a kilobyte", ascii + text, "text/html", "utf-8", ascii + text},
		{"no declaration, not UTF-8", latin, "text/html", "windows-1252", "Größe “x”"},
		{"seven-bit Japanese", "<meta charset=iso-2022-jp>" + jis, "text/html", "iso-2022-jp", "日本"},
		{"byte order mark", "\xEF\xBB\xBF" + text, "text/html; charset=windows-1251", "utf-8", text},
		{"UTF-16", wide, "text/html", "utf-16le", text},
		{"UTF-16 without a mark", markless[unicode.LittleEndian], "text/html", "utf-16le", text},
		{"UTF-16 in the other order", markless[unicode.BigEndian], "", "utf-16be", text},
		{"UTF-16 in an order that is not said", markless[unicode.BigEndian], "text/html; charset=utf-16", "utf-16be", text},
		{"UTF-16 that is said to be something else", "<\x00p\x00>\x00a\x00", "text/html; charset=utf-8", "utf-8", "<p>a"},
		{"seven-bit Japanese that says nothing", "<p>" + jis, "text/html", "iso-2022-jp", "日本"},
		{"signs of a terminal", "a\x1b$Bx", "text/plain", "utf-8", "a\x1b$Bx"},
		{"invalid UTF-8", "a\xffb", "text/html; charset=utf-8", "utf-8", "a\uFFFDb"},
		{"unknown charset", text, "text/html; charset=klingon", "utf-8", text},
		{"no type", text, "", "utf-8", text},
		{"XHTML", text, "application/xhtml+xml", "utf-8", text},
		{"XML declaration", `<?xml version="1.0" encoding="windows-1251"?>` + cyrillic, "application/xhtml+xml", "windows-1251", "жук"},
		{"XML declaration in HTML", "<?xml version='1.0'\tencoding = 'windows-1251' ?>" + cyrillic, "text/html", "windows-1251", "жук"},
		{"XML declaration after Content-Type", `<?xml version="1.0" encoding="koi8-r"?>` + cyrillic, "application/xhtml+xml; charset=windows-1251", "windows-1251", "жук"},
		{"XML declaration before meta in XHTML", `<?xml version="1.0" encoding="windows-1251"?><meta charset="koi8-r"/>` + cyrillic, "application/xhtml+xml", "windows-1251", "жук"},
		{"meta before XML declaration in HTML", `<?xml version="1.0" encoding="koi8-r"?><meta charset=windows-1251>` + cyrillic, "text/html", "windows-1251", "жук"},
		{"wrong XML declaration on UTF-8", `<?xml version="1.0" encoding="iso-8859-1"?>` + text, "application/xhtml+xml", "utf-8", text},
		{"XML declaration of UTF-16", `<?xml version="1.0" encoding="utf-16"?>a` + "\xff", "application/xhtml+xml", "utf-8", "a\uFFFD"},
		{"XML declaration of nothing", `<?xml version="1.0" encoding="klingon"?>` + latin, "text/html", "windows-1252", "Größe “x”"},
		{"XML declaration too late", " <?xml version='1.0' encoding='windows-1251'?>" + latin, "text/html", "windows-1252", "Größe “x”"},
		{"meta of UTF-16", "<meta charset=utf-16>a\xff", "text/html", "utf-8", "a\uFFFD"},
		{"user-defined meta", "<meta charset=x-user-defined>" + latin, "text/html", "windows-1252", "Größe “x”"},
		{"seven-bit Korean is never decoded", "a<script>b", "text/html; charset=iso-2022-kr", "replacement", "\uFFFD"},
		{"lying UTF-8", cyrillic, "text/html; charset=utf-8", "utf-8", "\uFFFD"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			page := parseAs(t, []byte(c.body), c.contentType)
			if page.Charset != c.charset || page.Text != c.text {
				t.Errorf("got %s %q, want %s %q", page.Charset, page.Text, c.charset, c.text)
			}
		})
	}
}

func TestOtherTypes(t *testing.T) {
	page := parseAs(t, []byte("a  <b>\n<a href=x>"), "text/plain")
	if page.Text != "a <b>\n<a href=x>" || page.Links != nil {
		t.Errorf("plain text: %+v", page)
	}
	for _, media := range []string{"application/json", "application/ld+json; charset=utf-8"} {
		for _, body := range []string{"{\n  \"price\": 24 , \"tags\":[ \"a, {b}\",\"\\\"c\"]}", `{"price":24,"tags":["a, {b}","\"c"]}`} {
			if page := parseAs(t, []byte(body), media); page.Text != "{\n\"price\": 24,\n\"tags\": [\n\"a, {b}\",\n\"\\\"c\"\n]\n}" || page.Charset != "utf-8" {
				t.Errorf("%s: %+v", media, page)
			}
		}
	}
	for _, body := range []string{"<?xml version='1.0'?><rss><!-- made 12:03 --><title>Pier &amp; quay</title><item><![CDATA[<p>12 euros]]></item></rss", "<?xml version='1.0'?>\n<rss>\n  <title>Pier\n  &amp; quay</title>\n<item>\n<![CDATA[<p>12 euros]]></item>\n</rss"} {
		if page := parseAs(t, []byte(body), "application/rss+xml"); page.Text != "<?xml version='1.0'?>\n<rss>\n<title>\nPier &amp; quay\n</title>\n<item>\n<![CDATA[\n<p>\n12 euros]]>\n</item>\n</rss" {
			t.Errorf("XML: %q", page.Text)
		}
	}
	for _, broken := range []string{"", "{", "\"", "\"\\", "}", "<", "<!--", "<![CDATA[", "a<b", "[1,]2"} {
		parseAs(t, []byte(broken), "application/json")
		parseAs(t, []byte(broken), "text/xml")
	}
	latin := "<?xml version='1.0' encoding='ISO-8859-1'?><a>Preis f\xfcr Gr\xf6\xdfe</a>"
	if page := parseAs(t, []byte(latin), "application/xml"); !strings.Contains(page.Text, "Preis für Größe") {
		t.Errorf("XML: %+v", page)
	}
	if page := parseAs(t, []byte("%PDF-1.4"), "application/pdf"); !reflect.DeepEqual(page, Page{}) {
		t.Errorf("PDF: %+v", page)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`<base href="//[::1]"><a href=" x"><svg><a xlink:href=y></svg><template><title>`), "text/html")
	f.Add([]byte(deep("<table><a href=x>")), "text/html;charset=gbk")
	f.Add([]byte("<meta charset=utf-7><meta http-equiv=refresh content='0;url=//'><frameset><plaintext>"), "")
	f.Add([]byte("\xff\xfe<\x00a\x00"), "text/html; charset=replacement")
	base := mustURL(f, self)
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		src := Source{Body: body, ContentType: contentType, URL: base}
		page, err := Parse(src, Rules{})
		if err != nil {
			return
		}
		checkText(t, page.Text)
		if crawl.Clean(page.Title, maxTitle) != page.Title {
			t.Errorf("title %q", page.Title)
		}
		seen := map[string]bool{}
		for _, l := range page.Links {
			checkLink(t, l, base)
			if seen[l.URL] {
				t.Errorf("link %q twice", l.URL)
			}
			seen[l.URL] = true
		}
		if again, err := Parse(src, Rules{}); err != nil || !reflect.DeepEqual(again, page) {
			t.Errorf("not deterministic: %v", err)
		}
	})
}

// checkText: lines of words with single spaces.
func checkText(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("text %q", text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if collapse(line) != line || line == "" && text != "" {
			t.Errorf("line %q", line)
		}
	}
}

// checkLink: its address is canonical and not the page's own, and its text is safe to show.
func checkLink(t *testing.T, l Link, self urlkey.URL) {
	t.Helper()
	if u, err := urlkey.Canonical(l.URL); err != nil || u.String() != l.URL || u == self {
		t.Errorf("link %q: %v", l.URL, err)
	}
	if utf8.RuneCountInString(l.Text) > maxAnchor || crawl.Clean(collapse(l.Text), len(l.Text)) != l.Text || len(l.Rel) > maxRel {
		t.Errorf("link %+v", l)
	}
	if l.Kind == "" || l.Place == "" || l.Reach == "" {
		t.Errorf("link %+v", l)
	}
}

// sample is a page of some hundred kilobytes.
func sample() []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html><title>t</title><nav>")
	for i := range 200 {
		fmt.Fprintf(&b, `<li><a class="c" href="/section/%d">Section %d</a>`, i, i)
	}
	b.WriteString("</nav><main>")
	for i := range 800 {
		fmt.Fprintf(&b, `<div class="row"><p>Some words of <b>paragraph</b> %d, and <a href="../other/%d?x=1&amp;y=2">a link</a>.</p></div>`, i, i%300)
	}
	b.WriteString("</main>")
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	body := sample()
	base := mustURL(b, self)
	b.Run("extract", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, err := Parse(Source{Body: body, ContentType: "text/html", URL: base}, Rules{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("html.Parse", func(b *testing.B) { // the yardstick
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			if _, err := html.Parse(bytes.NewReader(body)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
