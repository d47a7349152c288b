package export_test

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"strings"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/feed"
	"recrawl/internal/urlkey"
)

var uuids = regexp.MustCompile(`urn:uuid:[0-9a-f-]{36}`)

// add gives a source another page with one version, which change may modify.
func add(src *exporttest.Memory, url, contentType, body string, change func(*export.Exchange)) {
	digest := src.Put([]byte(body))
	x := export.Exchange{
		Page: int64(len(src.Visits)) + 1, URL: url, Visit: 1, At: exporttest.Start, Outcome: crawl.OutcomeNew, Status: 200, Digest: digest, Stands: true,
		Response: []byte("HTTP/1.1 200 OK\r\nContent-Type: " + contentType + "\r\n\r\n"),
		Version:  export.Version{Seq: 1, Visit: 1, At: exporttest.Start, Digest: digest, Bytes: int64(len(body)), ContentType: contentType, Title: "A title"},
	}
	if change != nil {
		change(&x)
	}
	src.Visits = append(src.Visits, x)
}

func requisite(x *export.Exchange) { x.Requisite = true }

// leading is a source with redirects, whose crawl knows no parameters.
type leading struct {
	*exporttest.Memory
	leads []export.Lead
}

func (l leading) Key(u urlkey.URL) urlkey.URL {
	plain, _, _ := strings.Cut(u.String(), "?")
	key, err := urlkey.Canonical(plain)
	if err != nil {
		return u
	}
	return key
}

func (l leading) Leads(context.Context) iter.Seq2[export.Lead, error] {
	return func(yield func(export.Lead, error) bool) {
		for _, lead := range l.leads {
			if !yield(lead, nil) {
				return
			}
		}
	}
}

// A link leads to a page of the mirror, wherever it stands, by its own address or by one
// that leads to it, and otherwise to its site.
func TestMirror(t *testing.T) {
	t.Parallel()
	src := leading{Memory: &exporttest.Memory{}, leads: []export.Lead{
		{From: "https://example.com/old", To: "https://example.com/older"},
		{From: "https://example.com/older", To: "https://example.com/last"},
		{From: "https://example.com/round", To: "https://example.com/round"},
		{From: "https://example.com/lost", To: "https://example.com/none"},
	}}
	add(src.Memory, "https://example.com/", "text/html", `<link rel=stylesheet href=s.css><a href=last?utm=1#x>later</a><a href=gone>gone</a><a href=old>old</a>`+
		`<a href=round>round</a><a href=lost>lost</a><a href=secret>secret</a><img src=p.png><img src=no.png><script>a()</script>`, nil)
	add(src.Memory, "https://example.com/gone", "text/html", "gone", func(x *export.Exchange) { x.Stands = false })
	add(src.Memory, "https://example.com/secret", "text/html", "not kept", func(x *export.Exchange) { x.Version.Digest = "" })
	add(src.Memory, "https://example.com/s.css", "text/css", `@font-face { src: url(//cdn.example/f.woff2) } p { background: url(/p.png) }`, requisite)
	add(src.Memory, "https://example.com/p.png", "image/png", "png", requisite)
	add(src.Memory, "https://cdn.example/f.woff2", "font/woff2", "font", requisite)
	add(src.Memory, "https://example.com/last", "text/html", `<a href="/">home</a>`, nil)
	all := files(t, mustExport(t, src, t.TempDir(), options(export.Mirror)).Folder)
	for name, want := range map[string]string{
		"example.com/@index.html": `<link rel="stylesheet" href="./s.css/@page.css"><a href="./last/@page.html#x">later</a><a href="https://example.com/gone">gone</a>` +
			`<a href="./last/@page.html">old</a><a href="https://example.com/round">round</a><a href="https://example.com/lost">lost</a><a href="https://example.com/secret">secret</a>` +
			`<img src="./p.png/@page.png"><img src="https://example.com/no.png">`,
		"example.com/s.css/@page.css":     `@font-face { src: url("../../cdn.example/f.woff2/@page.woff2") } p { background: url("../p.png/@page.png") }`,
		"example.com/p.png/@page.png":     "png",
		"cdn.example/f.woff2/@page.woff2": "font",
		"example.com/last/@page.html":     `<a href="../@index.html">home</a>`,
		"index.jsonl":                     `"path":null`,
		"export.json":                     `"format": "mirror"`,
	} {
		got := string(all[name])
		if policy := `'none'">`; strings.Contains(got, policy) {
			_, got, _ = strings.Cut(got, policy)
		}
		if got != want && !(strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")) || !strings.Contains(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	if len(all) != 7 {
		t.Errorf("%d files", len(all))
	}
	// Only a mirror has requisites.
	for _, f := range []export.Format{export.HTML, export.Text} {
		if all := files(t, mustExport(t, src, t.TempDir(), options(f)).Folder); len(all) != 4 {
			t.Errorf("%s: %d files", f, len(all))
		}
	}
}

// Every line of a mirror's list can be found, however long the list is.
func TestMirrorOfMany(t *testing.T) {
	t.Parallel()
	src := &exporttest.Memory{}
	const pages = 2000
	for i := range pages {
		add(src, fmt.Sprintf("https://example.com/%d", i), "text/html", fmt.Sprintf("<a href=%d>x</a><a href=%d>y</a>", (i*7+1)%pages, pages+i), nil)
	}
	all := files(t, mustExport(t, src, t.TempDir(), options(export.Mirror)).Folder)
	for i := range pages {
		text := string(all[fmt.Sprintf("example.com/%d/@page.html", i)])
		inside := fmt.Sprintf(`"../%d/@page.html"`, (i*7+1)%pages)
		if (i*7+1)%pages == i {
			inside = `"./@page.html"`
		}
		if !strings.Contains(text, inside) || !strings.Contains(text, fmt.Sprintf(`"https://example.com/%d"`, pages+i)) {
			t.Fatalf("page %d: %s", i, text)
		}
	}
}

func TestMirrorIsWhole(t *testing.T) {
	t.Parallel()
	o := options(export.Mirror)
	o.Since, o.Cursor = feed.Cursor{Epoch: "e", ID: 1}, feed.Cursor{Epoch: "e", ID: 2}
	if _, err := export.Export(t.Context(), &exporttest.Memory{}, t.TempDir(), o); err == nil || !strings.Contains(err.Error(), "leave --since away") {
		t.Error(err)
	}
}
