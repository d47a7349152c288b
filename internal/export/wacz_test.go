package export_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/export/warctest"
)

// packed reads the files in a package.
func packed(t testing.TB, all map[string][]byte) map[string][]byte {
	t.Helper()
	parts := map[string][]byte{}
	for name, text := range all {
		if !strings.HasSuffix(name, ".wacz") {
			continue
		}
		problems, err := warctest.CheckPackage(bytes.NewReader(text), int64(len(text)))
		if err != nil || len(problems) > 0 {
			t.Fatalf("%s: %v\n%s", name, err, strings.Join(problems, "\n"))
		}
		z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			in, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			if parts[f.Name], err = io.ReadAll(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	return parts
}

// A package keeps to its standard, and has the same WARC files and index as an export in
// that format.
func TestWACZ(t *testing.T) {
	t.Parallel()
	var urls []string
	for i := range 300 { // more lines than one block of the index has
		urls = append(urls, "https://example.com/"+strings.Repeat("a", i%7)+string(rune('a'+i%26))+string(rune('a'+i/26)))
	}
	for name, src := range map[string]*exporttest.Memory{
		"hard names": exporttest.Crawl(10, exporttest.URLs(), 12),
		"many pages": exporttest.Crawl(11, urls, 12),
		"none":       {},
	} {
		parts := packed(t, files(t, mustExport(t, src, t.TempDir(), options(export.WACZ)).Folder))
		want := files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)
		for _, file := range warcFiles(want) {
			if !bytes.Equal(parts["archive/"+file], want[file]) {
				t.Errorf("%s: %s is another", name, file)
			}
		}
		z, err := gzip.NewReader(bytes.NewReader(parts["indexes/index.cdx.gz"]))
		if name == "none" {
			if len(parts["indexes/index.cdx.gz"]) > 0 {
				t.Errorf("an index of nothing has %d bytes", len(parts["indexes/index.cdx.gz"]))
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if index, err := io.ReadAll(z); err != nil || !bytes.Equal(index, want["index.cdxj"]) {
			t.Errorf("%s: the index has %d bytes, want %d, %v", name, len(index), len(want["index.cdxj"]), err)
		}
		if blocks := bytes.Count(parts["indexes/index.idx"], []byte("\n")) - 1; name == "many pages" && blocks < 2 {
			t.Errorf("%s: %d blocks", name, blocks)
		}
	}
}

// The list has the pages that people read, with the time of their version.
func TestWACZPages(t *testing.T) {
	t.Parallel()
	src := &exporttest.Memory{}
	add(src, "https://example.com/", "text/html", "<title>Home</title>", nil)
	add(src, "https://example.com/p.png", "image/png", "png", func(x *export.Exchange) { x.Requisite = true })
	add(src, "https://example.com/map.xml", "application/xml", "<urlset/>", func(x *export.Exchange) { x.Stands = false })
	add(src, "https://example.com/secret", "text/html", "not kept", func(x *export.Exchange) { x.Version.Digest = "" })
	add(src, "https://example.com/a|b", "text/plain", "words", func(x *export.Exchange) { x.Version.Title = "A\nB" })
	// A page that returned to its first version is as it was then. Its text is longer than
	// is listed, and is cut in the middle of a letter.
	long := "x" + strings.Repeat("é", 100_000)
	add(src, "https://example.com/long", "text/plain", long, nil)
	first := src.Visits[len(src.Visits)-1]
	second := first
	second.Visit, second.At = 2, first.At.Add(time.Hour)
	second.Version = export.Version{Seq: 2, Visit: 2, At: second.At, Digest: src.Put([]byte("other words")), Bytes: 11, ContentType: "text/plain"}
	second.Digest = second.Version.Digest
	back := first
	back.Visit, back.At, back.Back = 3, first.At.Add(2*time.Hour), true
	unchanged := back
	unchanged.Visit, unchanged.At, unchanged.Outcome, unchanged.Back = 4, first.At.Add(3*time.Hour), crawl.OutcomeUnchanged, false
	src.Visits = append(src.Visits, second, back, unchanged)
	parts := packed(t, files(t, mustExport(t, src, t.TempDir(), options(export.WACZ)).Folder))
	want := `{"format":"json-pages-1.0","id":"pages","title":"All Pages","hasText":true}
{"id":"urn:uuid:ID","url":"https://example.com/","ts":"2026-11-21T18:03:38Z","title":"A title","text":"<TITLE>HOME</TITLE>"}
{"id":"urn:uuid:ID","url":"https://example.com/a%7Cb","ts":"2026-11-21T18:03:38Z","title":"A B","text":"WORDS"}
{"id":"urn:uuid:ID","url":"https://example.com/long","ts":"2026-11-21T18:03:38Z","title":"A title","text":"X` + strings.Repeat("É", 32767) + `"}
`
	if got := uuids.ReplaceAllString(string(parts["pages/pages.jsonl"]), "urn:uuid:ID"); got != want {
		t.Errorf("pages\n%swant\n%s", got, want)
	}
	for _, words := range []string{`"mainPageUrl": "https://example.com/"`, `"mainPageDate": "2026-11-21T18:03:38Z"`, `"software": "recrawl/test"`, `"title": "news"`} {
		if !bytes.Contains(parts["datapackage.json"], []byte(words)) {
			t.Errorf("datapackage.json lacks %s:\n%s", words, parts["datapackage.json"])
		}
	}
}

// The checker finds the faults for which it exists.
func TestCheckPackage(t *testing.T) {
	t.Parallel()
	good := packed(t, files(t, mustExport(t, exporttest.Crawl(12, exporttest.URLs(), 4), t.TempDir(), options(export.WACZ)).Folder))
	warc := slices.Sorted(func(yield func(string) bool) {
		for name := range good {
			if strings.HasPrefix(name, "archive/") && !yield(name) {
				return
			}
		}
	})[0]
	for name, c := range map[string]struct {
		change func(parts map[string][]byte)
		method uint16
		want   string
	}{
		"a WARC file is missing": {func(p map[string][]byte) { delete(p, warc) }, zip.Store, "which is not there"},
		"a file is another":      {func(p map[string][]byte) { p["pages/pages.jsonl"] = append(p["pages/pages.jsonl"], '\n') }, zip.Store, "pages/pages.jsonl has"},
		"a file is not named":    {func(p map[string][]byte) { p["x.txt"] = nil }, zip.Store, "does not name x.txt"},
		"the digest is another":  {func(p map[string][]byte) { p["datapackage.json"] = append(p["datapackage.json"], ' ') }, zip.Store, "does not fit"},
		"no digest":              {func(p map[string][]byte) { delete(p, "datapackage-digest.json") }, zip.Store, "datapackage-digest.json is missing"},
		"texts are not announced": {func(p map[string][]byte) {
			p["pages/pages.jsonl"] = bytes.Replace(p["pages/pages.jsonl"], []byte(`,"hasText":true`), nil, 1)
		}, zip.Store, "has texts"},
		"the index is not sorted": {swapBlocks, zip.Store, "index.idx"},
		"compressed twice":        {func(map[string][]byte) {}, zip.Deflate, "is compressed in the ZIP file"},
	} {
		parts := map[string][]byte{}
		for n, text := range good {
			parts[n] = bytes.Clone(text)
		}
		c.change(parts)
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for n, text := range parts {
			w, err := z.CreateHeader(&zip.FileHeader{Name: n, Method: c.method})
			if err == nil {
				_, err = w.Write(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		problems, err := warctest.CheckPackage(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil || !strings.Contains(strings.Join(problems, "\n"), c.want) {
			t.Errorf("%s: %v, %q", name, err, problems)
		}
	}
}

// swapBlocks has the index name the bytes before a block too.
func swapBlocks(parts map[string][]byte) {
	parts["indexes/index.idx"] = bytes.Replace(parts["indexes/index.idx"], []byte(`"offset":0`), []byte(`"offset":1`), 1)
}
