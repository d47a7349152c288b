package sitemap

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"

	"recrawl/internal/urlkey"
)

func canonical(t testing.TB, url string) urlkey.URL {
	t.Helper()
	u, err := urlkey.Canonical(url)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func readText(t testing.TB, body string) (List, error) {
	t.Helper()
	return Read(Source{Body: strings.NewReader(body), URL: canonical(t, "https://a.test/s/list.xml"), MaxURLs: 100})
}

// wordsOf is a list as a test writes it.
func wordsOf(l List) string {
	var b strings.Builder
	for i, e := range l.Entries {
		if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(strings.TrimPrefix(e.URL.String(), "https://a.test"))
		if !e.Modified.IsZero() {
			b.WriteString("@" + e.Modified.Format("2006-01-02T15:04:05"))
		}
		if e.Sitemap {
			b.WriteString("*")
		}
	}
	return b.String()
}

const urlset = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body    string
		format  Format
		want    string
		dropped map[string]int
		problem string
	}{
		"sitemap": {
			`<?xml version="1.0" encoding="UTF-8"?>` + urlset + `<url><loc> https://a.test/1 </loc><lastmod>2026-01-02</lastmod><priority>0.5</priority></url>
			<url><loc>https://a.test/2?a=1&amp;b=2</loc></url></urlset>`,
			FormatURLs, "/1@2026-01-02T00:00:00 /2?a=1&b=2", nil, "",
		},
		"index": {
			`<sitemapindex><sitemap><loc>https://a.test/1.xml.gz</loc><lastmod>2026-01-02T03:04:05+01:00</lastmod></sitemap></sitemapindex>`,
			FormatIndex, "/1.xml.gz@2026-01-02T02:04:05*", nil, "",
		},
		"extensions have URLs of their own": {
			urlset + `<url><loc>https://a.test/1</loc><image:image><image:loc>https://a.test/i.png</image:loc></image:image>
			<video:video><video:player_loc>https://a.test/v</video:player_loc><url>https://a.test/no</url><lastmod>2020-01-01</lastmod></video:video>
			<xhtml:link rel="alternate" hreflang="de" href="https://a.test/de"/></url></urlset>`,
			FormatURLs, "/1", nil, "",
		},
		"languages before the page": {
			urlset + `<url><xhtml:link rel="alternate" hreflang="de" href="https://a.test/de"/><lastmod>2026-01-02</lastmod><loc>https://a.test/en</loc></url></urlset>`,
			FormatURLs, "/en@2026-01-02T00:00:00", nil, "",
		},
		"bases": {
			`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><entry xml:base="2026/"><link href="1"/><updated>2026-01-02</updated></entry>
			<entry><link href="2"/></entry><entry><link xml:base="https://a.test/other/" href="3"/></entry>
			<entry xml:base="http://[bad"><content xml:base="/x/">t</content><link href="4"/></entry>
			<entry xml:base="unclosed/"><link href="5"/><entry><link href="6"/></entry></feed>`,
			FormatAtom, "/blog/2026/1@2026-01-02T00:00:00 /blog/2 /other/3 /blog/4 /blog/unclosed/5 /blog/6", nil, "",
		},
		"a base of RSS": {
			`<rss xml:base="https://a.test/r/"><channel><link>x</link><item><link>1</link></item><item><guid>http://a.test/g</guid></item></channel></rss>`,
			FormatRSS, "/r/1 http://a.test/g", nil, "",
		},
		"the full name of a relation": {
			`<feed><entry><link rel="self" href="0"/><link rel="http://www.iana.org/assignments/relation/alternate" href="1"/></entry></feed>`,
			FormatAtom, "/s/1", nil, "",
		},
		"entries in several types": {
			`<feed xml:base="/f/"><entry><link rel="alternate" type="application/json" href="1.json"/><link type="TEXT/HTML; charset=utf-8" href="1"/><link href="no"/></entry>
			<entry><link type="application/json" href="2.json"/><link xml:base="/g/" href="2"/><link href="no"/></entry>
			<entry><link type="application/pdf" href="3.pdf"/><link type="application/json" href="3.json"/></entry>
			<entry><link type="text/html" hreflang="en" href="4"/><link type="text/html" hreflang="de" href="4.de"/></entry>
			<entry><link href="5"/><link rel="self" type="text/html" href="no"/><link rel="enclosure" type="text/html" href="no"/></entry>
			<entry><link>6</link><link type="text/html" href="no"/></entry></feed>`,
			FormatAtom, "/f/1 /g/2 /f/3.pdf /f/4 /f/5 /f/6", nil, "",
		},
		"wrong name spaces, cases and entities": {
			`<s:URLSET xmlns:s="wrong"><s:Url><S:LOC>https://a.test/a&b</S:LOC><x:lastMod>2026</x:lastMod>&nbsp;&unknown;</s:Url></s:URLSET>`,
			FormatURLs, "/a&b@2026-01-01T00:00:00", nil, "",
		},
		"CDATA and comments": {
			urlset + `<!-- <url> --><url><loc><![CDATA[https://a.test/?a&b]]></loc></url></urlset>`, FormatURLs, "/?a&b", nil, "",
		},
		"tags that are not closed": {
			urlset + `<url><loc>https://a.test/1<url><loc>https://a.test/2</loc><lastmod>2026-01-02</url></b><url><loc>https://a.test/3</loc></url></urlset>`,
			FormatURLs, "/1 /2@2026-01-02T00:00:00 /3", nil, "",
		},
		"cut off": {
			urlset + `<url><loc>https://a.test/1</loc></url><url><loc>https://a.test/2</lo`, FormatURLs, "/1 /2", nil, "it ends in the middle",
		},
		"ends early": {
			urlset + `<url><loc>https://a.test/1</loc></url>`, FormatURLs, "/1", nil, "it ends in the middle",
		},
		"broken": {
			urlset + `<url><loc>https://a.test/1</loc></url><<>`, FormatURLs, "/1", map[string]int{DropBroken: 2}, "it ends in the middle",
		},
		"what is dropped": {
			urlset + `<url/><url><loc> </loc></url><url><loc>ftp://a.test/</loc></url><url><loc>https://a.test/1</loc><lastmod>soon</lastmod></url>
			<url><loc>https://a.test/1</loc><lastmod>2026-01-02</lastmod></url><url><loc>https://a.test/` + strings.Repeat("x", maxURL) + `</loc></url></urlset>`,
			FormatURLs, "/1@2026-01-02T00:00:00",
			map[string]int{DropNoURL: 2, DropMalformed: 1, DropRepeated: 1, DropDate: 1, DropTooLong: 1},
			"",
		},
		"nested too deep": {
			urlset + `<url><loc>https://a.test/1</loc></url>` + strings.Repeat("<a>", 1000), FormatURLs, "/1", nil, "its elements are nested more than 64 deep",
		},
		"text": {
			"https://a.test/1\r\n\n  https://a.test/2\nnothing:\nhttps://a.test/1\n" + strings.Repeat("y", 3*maxURL), FormatText,
			"/1 /2",
			map[string]int{DropMalformed: 1, DropRepeated: 1, DropTooLong: 1},
			"",
		},
		"RSS": {
			`<rss version="2.0"><channel><link>https://a.test/</link><pubDate>Mon, 05 Jan 2026 00:00:00 GMT</pubDate>
			<item><title>1</title><link>https://a.test/1</link><pubDate>Fri, 02 Jan 2026 03:04:05 EST</pubDate><guid isPermaLink="false">https://a.test/no</guid></item>
			<item><guid>https://a.test/2</guid><dc:date>2026-01-02T03:04:05Z</dc:date><media:content url="x"><media:item><link>https://a.test/no</link></media:item></media:content></item>
			<item><atom:link rel="self" href="https://a.test/no"/><link>/3</link><pubDate>2 Jan 2026 10:00 +0200</pubDate><atom:updated>2026-01-03</atom:updated></item></channel></rss>`,
			FormatRSS, "/1@2026-01-02T08:04:05 /2@2026-01-02T03:04:05 /3@2026-01-03T00:00:00", nil, "",
		},
		"the picture of RSS": {
			`<rss><channel><image><url>https://a.test/logo.png</url><link>https://a.test/</link></image><item><link>/1</link></item></channel></rss>`,
			FormatRSS, "/1", nil, "",
		},
		"the picture of RDF": {
			`<rdf:RDF><image><url>https://a.test/logo.png</url></image><item><link>/1</link></item></rdf:RDF>`, FormatRSS, "/1", nil, "",
		},
		"RDF": {
			`<rdf:RDF xmlns:rdf="x"><channel rdf:about="https://a.test/"><items><rdf:Seq><rdf:li resource="https://a.test/1"/></rdf:Seq></items></channel>
			<item rdf:about="https://a.test/1"><dc:date>2026-01-02</dc:date></item></rdf:RDF>`,
			FormatRSS, "/1@2026-01-02T00:00:00", nil, "",
		},
		"Atom": {
			`<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://a.test/"/><updated>2026-01-05T00:00:00Z</updated>
			<entry><link rel="replies" href="/no"/><link rel="alternate" href="../1"/><published>2026-01-01T00:00:00Z</published><updated>2026-01-02T00:00:00.5Z</updated>
			<content type="xhtml"><div><a href="/no">x</a><link href="/no"/></div></content></entry></feed>`,
			FormatAtom, "/1@2026-01-02T00:00:00", nil, "",
		},
		"JSON Feed": {
			`{"version":"https://jsonfeed.org/version/1.1","title":"x","author":{"name":["y"]},"items":[{"id":"1","url":"https://a.test/1","date_published":"2026-01-02T00:00:00Z"},
			{"id":"https://a.test/2","date_published":"2026-01-02T00:00:00Z","date_modified":"2026-01-03T00:00:00Z"},7,{"id":3}]}`,
			FormatJSON, "/1@2026-01-02T00:00:00 /2@2026-01-03T00:00:00",
			map[string]int{DropMalformed: 1, DropNoURL: 1},
			"",
		},
		"JSON Feed that is cut off": {
			`{"version":"https://jsonfeed.org/version/1","items":[{"url":"https://a.test/1"},{"ur`, FormatJSON, "/1", nil, "it ends in the middle",
		},
		"JSON Feed that is cut off behind an item": {
			`{"version":"https://jsonfeed.org/version/1","items":[{"url":"https://a.test/1"}`, FormatJSON, "/1", nil, "it ends in the middle",
		},
		"JSON Feed without a list": {
			`{"version":"https://jsonfeed.org/version/1.1","items":{}}`, FormatJSON, "", nil, "it is broken: items is no list",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := readText(t, tc.body)
			if err != nil {
				t.Fatal(err)
			}
			if got := wordsOf(l); got != tc.want || l.Format != tc.format || l.Problem != tc.problem {
				t.Errorf("%s: %q, problem %q; want %s: %q, problem %q", l.Format, got, l.Problem, tc.format, tc.want, tc.problem)
			}
			if !maps.Equal(l.Dropped, tc.dropped) {
				t.Errorf("dropped %v, want %v", l.Dropped, tc.dropped)
			}
		})
	}
}

func TestReadNoList(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", " \n", "<!doctype html><html><body>x", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>`, "hello", "/relative\n", "\x1f\x8bnot gzip",
		"<", "{", `{"items":[]}`, `{"version":"2"}`, "<!-- nothing -->", "\x00\x01", "<a><urlset/></a>", `{"version":["x"]}`,
	} {
		if l, err := readText(t, body); !errors.Is(err, ErrNoList) {
			t.Errorf("%q: %v, %v; want ErrNoList", body, l, err)
		}
	}
}

func TestReadEncodings(t *testing.T) {
	t.Parallel()
	const text = `<urlset><url><loc>https://a.test/` + "\xE9" + `</loc></url></urlset>`
	latin := `<?xml version="1.0" encoding="ISO-8859-1"?>` + text
	utf16 := []byte{0xFF, 0xFE}
	for _, c := range `<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>https://a.test/é</loc></url></urlset>` {
		utf16 = append(utf16, byte(c), byte(c>>8))
	}
	for name, src := range map[string]Source{
		"declared in the document": {Body: strings.NewReader(latin)},
		"declared in the header":   {Body: strings.NewReader(text), ContentType: "application/xml; charset=iso-8859-1"},
		"both, the header is right": {
			Body: strings.NewReader(`<?xml version="1.0" encoding="utf-7"?>` + text), ContentType: "text/xml;charset=latin1",
		},
		"UTF-16":        {Body: bytes.NewReader(utf16)},
		"UTF-8 by mark": {Body: strings.NewReader("\uFEFF" + `<urlset><url><loc>https://a.test/é</loc></url></urlset>`)},
		"UTF-8 by marks": {
			Body: strings.NewReader("\r\n\uFEFF\uFEFF\n\uFEFF\n" + `<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>https://a.test/é</loc></url></urlset>`),
		},
		"UTF-8 by mark, lines": {Body: strings.NewReader("\n\uFEFFhttps://a.test/é\n")},
		"gzip":                 {Body: bytes.NewReader(zipped(t, strings.NewReader(latin)))},
	} {
		src.URL, src.MaxURLs = canonical(t, "https://a.test/"), 10
		l, err := Read(src)
		if err != nil || wordsOf(l) != "/%C3%A9" {
			t.Errorf("%s: %q, %v", name, wordsOf(l), err)
		}
	}
}

// What follows the last member of a gzip file is ignored.
func TestReadGzipMembers(t *testing.T) {
	t.Parallel()
	first := string(zipped(t, strings.NewReader("<urlset><url><loc>https://a.test/1</loc></url>")))
	second := string(zipped(t, strings.NewReader("<url><loc>https://a.test/2</loc></url></urlset>")))
	for name, tc := range map[string]struct{ body, want, problem string }{
		"two members":       {first + second, "/1 /2", ""},
		"a line feed":       {first + second + "\n", "/1 /2", ""},
		"zeros":             {first + second + strings.Repeat("\x00", 600), "/1 /2", ""},
		"a member cut off":  {first + second[:5], "/1", "it ends in the middle"},
		"a broken checksum": {first + second[:len(second)-8] + "\x00\x00\x00\x00" + second[len(second)-4:], "/1 /2", "its gzip coding is broken"},
	} {
		l, err := readText(t, tc.body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := wordsOf(l); got != tc.want || l.Problem != tc.problem {
			t.Errorf("%s: %q, problem %q; want %q, problem %q", name, got, l.Problem, tc.want, tc.problem)
		}
	}
}

// GBK is read as GB18030, of which it is a part.
func TestReadGBK(t *testing.T) {
	t.Parallel()
	const text = "<urlset><url><loc>https://a.test/\x81\x39\xEE\x39</loc></url></urlset>" // U+3400
	for name, src := range map[string]Source{
		"declared in the header":   {Body: strings.NewReader(text), ContentType: "application/xml; charset=gb2312"},
		"declared in the document": {Body: strings.NewReader(`<?xml version="1.0" encoding="gbk"?>` + text)},
	} {
		src.URL, src.MaxURLs = canonical(t, "https://a.test/"), 10
		l, err := Read(src)
		if err != nil || wordsOf(l) != "/%E3%90%80" {
			t.Errorf("%s: %q, %v", name, wordsOf(l), err)
		}
	}
}

func zipped(t testing.TB, r io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.Copy(w, r); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// endless repeats a text for n bytes after a head.
func endless(head, text string, n int) io.Reader {
	return io.MultiReader(strings.NewReader(head), io.LimitReader(&repeater{text: text}, int64(n)))
}

type repeater struct {
	text string
	at   int
}

func (r *repeater) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], r.text[r.at:])
		n += c
		r.at = (r.at + c) % len(r.text)
	}
	return n, nil
}

// TestReadWithinLimits reads lists much larger than allowed, as a bomb of some
// kilobytes of gzip, and checks the cost: it follows the limits, not the size.
func TestReadWithinLimits(t *testing.T) {
	const limit, size = 2 << 20, 6 << 20
	for name, tc := range map[string]struct{ head, text, problem string }{
		"entries":      {urlset, "<url><loc>https://a.test/x</loc></url>", errTooLarge.Error()},
		"text":         {urlset + "<url><loc>", "xxxxxxxx", errToken.Error()},
		"an attribute": {urlset + `<url x="`, "yyyyyyyy", errToken.Error()},
		"a comment":    {urlset + `<!--`, "y>y<y>y", errToken.Error()},
		"spaces":       {urlset, "                ", errToken.Error()},
		"depth":        {urlset, "<a>", errTooDeep.Error()},
		"ends":         {urlset, "</a>", errTooLarge.Error()},
		"lines":        {"https://a.test/\n", "https://a.test/y\n", errTooLarge.Error()},
		"one line":     {"https://a.test/\n", "https", errToken.Error()},
		"JSON depth":   {jsonHead, "[", "exceeded max depth"},
		"a JSON text":  {jsonHead + `{"url":"`, "[", errToken.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			bomb := zipped(t, endless(tc.head, tc.text, size))
			body := &peak{Reader: bytes.NewReader(bomb), every: 1}
			floor := inUse()
			l, err := Read(Source{Body: body, URL: canonical(t, "https://a.test/s.xml.gz"), MaxURLs: 100, maxBytes: limit})
			if err != nil || !strings.Contains(l.Problem, tc.problem) {
				t.Errorf("problem %q, %v; want %q", l.Problem, err, tc.problem)
			}
			if grown := int64(max(body.most, inUse())) - int64(floor); grown > 8<<20 {
				t.Errorf("%d MiB were in use at most", grown>>20)
			}
		})
	}
}

const jsonHead = `{"version":"https://jsonfeed.org/version/1","items":[{"url":"https://a.test/1"},`

func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// peak is a reader that measures, now and then as it is read, how much memory is in
// use.
type peak struct {
	io.Reader
	every, reads int
	most         uint64
}

func (p *peak) Read(b []byte) (int, error) {
	if p.reads++; p.reads%p.every == 0 {
		p.most = max(p.most, inUse())
	}
	return p.Reader.Read(b)
}

// A list of 20 MiB with a hundred thousand URLs is streamed: only the allowed part
// of it is kept.
func TestReadGigantic(t *testing.T) {
	n := 0
	entries := &generator{next: func() string {
		n++
		return fmt.Sprintf("<url><loc>https://a.test/%d</loc><lastmod>2026-01-02</lastmod><changefreq>daily</changefreq>%s</url>\n", n, strings.Repeat(" ", 100))
	}, end: "</urlset>", most: 100_000}
	body := &peak{Reader: io.MultiReader(strings.NewReader(urlset), entries), every: 20_000}
	floor := inUse()
	l, err := Read(Source{Body: body, URL: canonical(t, "https://a.test/"), MaxURLs: 1000})
	if err != nil || len(l.Entries) != 1000 || l.Dropped[DropMany] != 99_000 || l.Problem != "" {
		t.Errorf("%d entries, dropped %v, problem %q, %v", len(l.Entries), l.Dropped, l.Problem, err)
	}
	if grown := int64(body.most) - int64(floor); grown > 8<<20 {
		t.Errorf("%d MiB were in use at most", grown>>20)
	}
}

type generator struct {
	next      func() string
	end, rest string
	made      int
	most      int
}

func (g *generator) Read(p []byte) (int, error) {
	if g.rest == "" {
		switch {
		case g.made < g.most:
			g.rest = g.next()
		case g.made == g.most:
			g.rest = g.end
		default:
			return 0, io.EOF
		}
		g.made++
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

// An archive that fails says nothing about the list.
func TestReadPassesErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	body := io.MultiReader(strings.NewReader(urlset+"<url><loc>https://a.test/1</loc></url>"), &failing{broken})
	if _, err := Read(Source{Body: body, URL: canonical(t, "https://a.test/"), MaxURLs: 10}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func TestDigest(t *testing.T) {
	t.Parallel()
	digest := func(body string) string {
		l, err := readText(t, body)
		if err != nil {
			t.Fatal(err)
		}
		return l.Digest()
	}
	const a, b = "<url><loc>https://a.test/1</loc><lastmod>2026-01-02</lastmod></url>", "<url><loc>https://a.test/2</loc></url>"
	same := digest(urlset + a + b + "</urlset>")
	if digest(urlset+"<!-- made at noon -->"+b+a+"</urlset>") != same {
		t.Error("the order and comments count")
	}
	for _, other := range []string{a, a + a, strings.ReplaceAll(a+b, "-02", "-03"), a + b + "<url><loc>https://a.test/3</loc></url>"} {
		if digest(urlset+other+"</urlset>") == same {
			t.Errorf("%s has the same digest", other)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(urlset + "<url><loc>https://a.test/1</loc><lastmod>2026</lastmod></url></urlset>"))
	f.Add([]byte("https://a.test/1\nhttps://a.test/2"))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"url":"https://a.test/1"}]}`))
	f.Add([]byte(`<rss><channel><item><link>https://a.test/1<item><guid>https://a.test/2</item></channel>`))
	f.Add([]byte(`<?xml version="1.0" encoding="shift_jis"?><feed><entry><link href="x"/>`))
	f.Add(zipped(f, strings.NewReader(urlset)))
	f.Add([]byte(urlset + "<url>https://a.test/1<loc>/2</loc><x y='\xe9'><loc>/3\x01</loc><<!-- -- --></url>&#1;http://a.test/4</urlset>"))
	f.Add([]byte("<?xml version='1.1' encoding='utf-16'?>" + urlset + "<?xml version='9'?><url><loc>/1</loc>"))
	f.Fuzz(func(t *testing.T, body []byte) {
		l, err := Read(Source{Body: bytes.NewReader(body), URL: canonical(t, "https://a.test/"), MaxURLs: 5})
		if err != nil {
			if !errors.Is(err, ErrNoList) {
				t.Fatal(err)
			}
			return
		}
		if l.Format == "" || len(l.Entries) > 5 {
			t.Fatalf("%+v", l)
		}
		seen := map[urlkey.URL]bool{}
		for _, e := range l.Entries {
			if e.URL.IsZero() || seen[e.URL] {
				t.Fatalf("%+v", l.Entries)
			}
			seen[e.URL] = true
		}
		l.Believe(time.Unix(1e9, 0))
		l.Digest()
	})
}
