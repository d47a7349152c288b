package seeds

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // memory never fails
	_ = w.Close()
	return b.String()
}

func record(kind, url, block string) string {
	return fmt.Sprintf("WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, len(block), block)
}

// readAll returns the entries of a list, refused ones with their reason, and the error
// at the end unless it is the end.
func readAll(text string, o Options) (what, entries string, err error) {
	r, err := Open(strings.NewReader(text), o)
	if err != nil {
		return "", "", err
	}
	var all []string
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return r.What(), strings.Join(all, " "), nil
		}
		if err != nil {
			return r.What(), strings.Join(all, " "), err
		}
		if e.Refused != "" {
			e.Text = "!" + e.Refused
		}
		all = append(all, e.Text)
	}
}

// utf16LE is a text in ASCII as Windows' programs save it.
func utf16LE(text string) string {
	b := []byte{0xFF, 0xFE}
	for i := range len(text) {
		b = append(b, text[i], 0)
	}
	return string(b)
}

func TestFormats(t *testing.T) {
	t.Parallel()
	const sitemap = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="x">
		<url><loc>http://a/1?x&amp;y</loc><image:image><image:loc>http://a/i.png</image:loc></image:image></url><url><loc> http://a/2 </loc></url></urlset>`
	const two = "http://a/1 http://a/2"
	for name, c := range map[string]struct {
		text          string
		o             Options
		what, entries string
	}{
		"list":                   {"# note\nhttp://a/1\r\n\n  http://a/2", Options{}, "a list of URLs", two},
		"list with comments":     {"http://a/1 # first\n\t# none\nhttp://a/2\t#second, and\nhttp://a/3#x\n", Options{}, "a list of URLs", two + " http://a/3#x"},
		"list of returns":        {"# note\rhttp://a/1\r\rhttp://a/2\r", Options{}, "a list of URLs", two},
		"CSV of returns":         {"n,url\r1,http://a/1\r2,http://a/2\r", Options{}, "CSV, column 2 (url)", two},
		"list with commas":       {"http://a/1,2\nhttp://a/3", Options{}, "a list of URLs", "http://a/1,2 http://a/3"},
		"list with a mark":       {"\uFEFFhttp://a/1\nhttp://a/2\n", Options{}, "a list of URLs", two},
		"list of one":            {"http://a/x,y", Options{}, "a list of URLs", "http://a/x,y"},
		"list of names":          {"example.com\nexample.org\n", Options{}, "a list of URLs", "example.com example.org"},
		"UTF-16":                 {"\xFF\xFEh\x00t\x00t\x00p\x00:\x00/\x00/\x00a\x00/\x001\x00", Options{}, "a list of URLs", "http://a/1"},
		"CSV with a header":      {"rank,URL\n1,http://a/1\n2,\"http://a/2\"\n", Options{}, "CSV, column 2 (URL)", two},
		"CSV of one column":      {"url\nhttp://a/1\nhttp://a/2\n", Options{}, "CSV, column 1 (url)", two},
		"CSV of other names":     {"n;site\n1;http://a/1\n2;http://a/2\n", Options{}, "CSV, column 2 (site)", two},
		"CSV without a header":   {"1,http://a/1\n2,http://a/2\n", Options{}, "CSV, column 2", two},
		"CSV of quotes":          {"\"http://a/1\",\"x\"\n\"http://a/2\",\"y\"\n", Options{}, "CSV, column 1", two},
		"CSV that starts so":     {"http://a/1,x\nhttp://a/2,y\nhttp://a/3,z\n", Options{}, "CSV, column 1", two + " http://a/3"},
		"TSV":                    {"http://a/1\tx\nhttp://a/2\ty\n", Options{}, "CSV, column 1", two},
		"CSV by number":          {"http://b/,http://a/1\nhttp://b/,http://a/2\n", Options{Column: "2"}, "CSV, column 2", two},
		"CSV by name":            {"url,other\nhttp://b/,http://a/1\nhttp://b/,http://a/2\n", Options{Column: "OTHER"}, "CSV, column 2 (other)", two},
		"CSV with gaps":          {"n,url\n1,\n2\n3,http://a/1\n", Options{}, "CSV, column 2 (url)", "!no URL !no URL http://a/1"},
		"CSV over lines":         {"title,url\n\"a\nb, \"\"c\"\"\",http://a/1\nd,http://a/2\n", Options{}, "CSV, column 2 (url)", two},
		"CSV that is told":       {"http://a/1,x\n", Options{Format: FormatCSV}, "CSV, column 1", "http://a/1"},
		"sitemap":                {sitemap, Options{}, "a sitemap", "http://a/1?x&y http://a/2"},
		"sitemap in UTF-16":      {utf16LE(`<?xml version="1.0" encoding="UTF-16"?><urlset><url><loc>http://a/1</loc></url></urlset>`), Options{}, "a sitemap", "http://a/1"},
		"sitemap that says so":   {`<?xml version="1.0" encoding="utf-16"?><urlset><url><loc>http://a/1</loc></url></urlset>`, Options{}, "a sitemap", "http://a/1"},
		"sitemap in Latin-1":     {`<?xml version="1.0" encoding="iso-8859-1"?><urlset><url><loc>http://a/` + "\xE9" + `</loc></url></urlset>`, Options{}, "a sitemap", "http://a/é"},
		"sitemap index":          {`<sitemapindex><sitemap><loc>http://a/1.xml</loc></sitemap></sitemapindex>`, Options{}, "a sitemap", "!" + ReasonIndex},
		"sitemap of nothing":     {`<urlset></urlset>`, Options{}, "a sitemap", ""},
		"CDXJ":                   {"a)/1 20200101000000 {\"url\": \"http://a/1\", \"mime\": \"x\"}\na)/2 20200101000000123 {\"url\": \"http://a/2\"}\n", Options{}, "CDXJ", two},
		"CDXJ of others":         {"a)/1 20200101 {\"url\": \"http://a/1\"}\na)/1 20200101 {\"uri\": 1}\nx 20200101 {\"url\": \"dns:a\"}\n", Options{}, "CDXJ", "http://a/1 !no URL"},
		"CDX":                    {" CDX N b a m s k r M S V g\na)/1 20200101000000 http://a/1 text/html 200 - - 1 2 x\n", Options{}, "CDXJ", "http://a/1"},
		"WARC":                   {record("warcinfo", "x:y", "software") + record("response", "<http://a/1>", "WARC/1.1\r\n\r\nx") + record("request", "http://a/3", "") + record("response", "dns:a", "x") + record("revisit", "http://a/2", ""), Options{}, "WARC", two},
		"of one format, so said": {"http://a/1\turl\n", Options{Format: FormatURLs}, "a list of URLs", "http://a/1\turl"},
	} {
		for _, form := range []string{"plain", "gzip", "gzip with zeros behind"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				t.Parallel()
				text, want := c.text, c.what
				if form != "plain" {
					half := strings.Index(text, "\n") + 1 // several members, as WARC files have
					text, want = zipped(text[:half])+zipped(text[half:]), "gzipped "+want
				}
				if form == "gzip with zeros behind" {
					text += strings.Repeat("\x00", 512)
				}
				what, entries, err := readAll(text, c.o)
				if what != want || entries != c.entries || err != nil {
					t.Errorf("%q, entries %q (%v), want %q, %q", what, entries, err, want, c.entries)
				}
			})
		}
	}
}

// An error is reported in one line, after the entries before it.
func TestBrokenLists(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text          string
		o             Options
		entries, want string
	}{
		"empty":                 {" \n", Options{}, "", "it is empty"},
		"empty, zipped":         {zipped(""), Options{}, "", "it is empty"},
		"ZIP":                   {"PK\x03\x04xx", Options{}, "", "ZIP"},
		"zstd":                  {"\x28\xB5\x2F\xFDxx", Options{}, "", "zstd"},
		"binary":                {"\x01\x00\x02", Options{}, "", "no text"},
		"gzip of nothing":       {"\x1F\x8Bxx", Options{}, "", "gzip"},
		"gzip that is cut off":  {zipped(strings.Repeat("http://a/1\n", 9))[:30], Options{}, "", "unexpected EOF"},
		"HTML":                  {"<html><a href=x>", Options{}, "", "<html>"},
		"sitemap that is cut":   {"<urlset><url><loc>http://a/1</loc></url><url><loc>http", Options{}, "http://a/1", "after its entry 1"},
		"sitemap without end":   {"<urlset><url><loc>" + strings.Repeat("x", 2*maxEntry), Options{}, "", "has more than"},
		"an open quote":         {"n,url\n1,http://a/1\n2,\"http" + strings.Repeat("x\n", maxEntry), Options{}, "http://a/1", "quote left open"},
		"WARC that is cut":      {record("response", "http://a/1", "x") + record("response", "http://a/2", "x")[:60], Options{}, "http://a/1", "record 2"},
		"WARC of no length":     {"WARC/1.0\r\nWARC-Type: response\r\n\r\n", Options{}, "", "Content-Length"},
		"WARC of a bad length":  {"WARC/1.0\r\nContent-Length: -1\r\n\r\n", Options{}, "", "no length"},
		"no such column":        {"n,url\n1,http://a/1\n", Options{Column: "x"}, "", "name one of n, url"},
		"column 3 of two":       {"n,url\n1,http://a/1\n", Options{Column: "3"}, "", "1 to 2"},
		"a format of no reader": {"http://a/", Options{Format: "yaml"}, "", "is no format"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, entries, err := readAll(c.text, c.o)
			if err == nil || !strings.Contains(err.Error(), c.want) || entries != c.entries && c.entries != "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("entries %.100q, error %.300v; want %q, %q", entries, err, c.entries, c.want)
			}
		})
	}
}

// A list that breaks off within a line has no entry of that line: it would be another URL, and the
// import would go on after it.
func TestListThatBreaksOff(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"http://a/page%d\n", "a)/page%[1]d 20200101 http://a/page%[1]d text/html\n", "%d,http://a/page%[1]d\n"} {
		var list strings.Builder
		for n := 1; list.Len() < looked+1000; n++ {
			fmt.Fprintf(&list, line, n)
		}
		text := list.String()
		r, err := Open(io.MultiReader(strings.NewReader(text[:len(text)-2]), iotest.ErrReader(io.ErrUnexpectedEOF)), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var e Entry
		n := 0
		for err == nil {
			if e, err = r.Next(); err == nil {
				if n++; e.Text != fmt.Sprintf("http://a/page%d", n) {
					t.Fatalf("%s: entry %d is %q", r.What(), n, e.Text)
				}
			}
		}
		if want := strings.Count(text, "\n") - 1; n != want || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%s: %d entries, %v; want %d", r.What(), n, err, want)
		}
	}
}

// A line without an end is one entry that is too long, in bounded memory.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	endless := io.MultiReader(strings.NewReader("http://a/1\nhttp://a/"), io.LimitReader(zeros{}, 64<<20), strings.NewReader("\nhttp://a/2"))
	r, err := Open(endless, Options{Format: FormatURLs})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for range 3 {
		e, err := r.Next()
		if err != nil || len(e.Text) > maxLine {
			t.Fatalf("an entry of %d bytes, %v", len(e.Text), err)
		}
		_, refused := Judge{Contact: true}.Seed(e)
		all = append(all, refused)
	}
	if strings.Join(all, ",") != ","+ReasonLong+"," {
		t.Errorf("refused %q", all)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://example.com":                      "http://example.com/",
		"HTTPS://Example.com:443/a":               "https://example.com/a",
		"http://localhost:8000/":                  "http://localhost:8000/",
		"example.com":                             "!" + ReasonScheme,
		"ftp://example.com/":                      "!" + ReasonScheme,
		"mailto:x@example.com":                    "!" + ReasonScheme,
		"http://":                                 "!" + ReasonNoURL,
		"http://me:pw@example.com/":               "!" + ReasonPassword,
		"http://example.com/@x":                   "http://example.com/@x",
		"http://example.com:25/":                  "!" + ReasonPort,
		"http://a/" + strings.Repeat("x", 70_000): "!" + ReasonLong,
		"": "!" + ReasonScheme,
	} {
		u, refused := Judge{Contact: true}.Seed(Entry{Text: text})
		if got := u.String(); refused == "" && got != want || refused != "" && "!"+refused != want {
			t.Errorf("%.60q is %q, %q; want %q", text, got, refused, want)
		}
	}
	if _, refused := (Judge{}).Seed(Entry{Text: "http://example.com/"}); refused != ReasonContact {
		t.Errorf("without a contact: %q", refused)
	}
	if _, refused := (Judge{}).Seed(Entry{Text: "http://localhost/"}); refused != "" {
		t.Errorf("on this machine, without a contact: %q", refused)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("n,url\n1,http://a/1\n"))
	f.Add([]byte("<urlset><url><loc>http://a/</loc></url></urlset>"))
	f.Add([]byte(record("response", "http://a/", "x")))
	f.Add([]byte("a)/ 2020 {\"url\": \"http://a/\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Open(bytes.NewReader(text), Options{})
		if err != nil {
			return
		}
		for range len(text) + 2 {
			e, err := r.Next()
			if err != nil {
				return
			}
			Judge{}.Seed(e)
		}
		t.Fatalf("more entries than bytes in %q", text)
	})
}
