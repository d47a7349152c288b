package export_test

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/export/warctest"
	"recrawl/internal/urlkey"
)

// warcRecord is a record as read back.
type warcRecord struct {
	*warctest.Record
	file  string
	block []byte
}

// warcFiles returns the names of an export's WARC files in their order.
func warcFiles(all map[string][]byte) []string {
	var names []string
	for name := range all {
		if strings.HasSuffix(name, ".warc.gz") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func records(t testing.TB, all map[string][]byte) []warcRecord {
	t.Helper()
	var found []warcRecord
	for _, name := range warcFiles(all) {
		for r := warctest.NewReader(bytes.NewReader(all[name])); ; {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			block, err := io.ReadAll(rec.Block)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, warcRecord{rec, name, block})
		}
	}
	return found
}

// mustBeValid checks WARC files against the standard, including its recommendations.
func mustBeValid(t testing.TB, all map[string][]byte) {
	t.Helper()
	for _, name := range warcFiles(all) {
		report, err := warctest.Check(bytes.NewReader(all[name]))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range report.Problems {
			t.Errorf("%s: %v", name, p)
		}
	}
}

func sha1Of(block []byte) string {
	sum := sha1.Sum(block)
	return base32.StdEncoding.EncodeToString(sum[:])
}

func TestWARCIsValid(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: many files")
	}
	t.Parallel()
	for seed := range uint64(10) {
		src := exporttest.Crawl(seed, exporttest.URLs(), 12)
		all := files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)
		if len(warcFiles(all)) < 3 {
			t.Fatal("the files do not roll over")
		}
		mustBeValid(t, all)
	}
}

// Each visit is there, with its body if it is kept.
func TestWARCHoldsEverything(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(8, exporttest.URLs(), 12)
	all := files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)
	byDate := map[string]map[string]warcRecord{} // by date, then type; no two visits have one
	for _, r := range records(t, all) {
		if byDate[r.Get("WARC-Date")] == nil {
			byDate[r.Get("WARC-Date")] = map[string]warcRecord{}
		}
		byDate[r.Get("WARC-Date")][r.Get("WARC-Type")] = r
	}
	seen := map[string]int{}
	for _, x := range src.Visits {
		have := byDate[x.At.Format("2006-01-02T15:04:05.000000Z")]
		if !strings.Contains(string(have["metadata"].block), "outcome: "+x.Outcome.String()+"\r\n") {
			t.Fatalf("page %d visit %d: metadata %q", x.Page, x.Visit, have["metadata"].block)
		}
		const reserved = `reserved: [{"use":"ai-train","allowed":false,"source":"robots.txt: Content-Signal: ai-train=no"},`
		if strings.Contains(string(have["metadata"].block), reserved) != (len(x.Reserved) > 0) {
			t.Fatalf("page %d visit %d, %v reserved: metadata %q", x.Page, x.Visit, x.Reserved, have["metadata"].block)
		}
		if _, ok := have["request"]; ok != (len(x.Request) > 0) {
			t.Errorf("page %d visit %d: request %v", x.Page, x.Visit, ok)
		}
		want := ""
		switch {
		case x.Found() && x.Version.Digest != "" && len(x.Response) > 0:
			want = "response"
		case x.Found() && x.Version.Digest != "":
			want = "resource"
		case x.Outcome == crawl.OutcomeUnchanged && x.Version.Digest != "":
			want = "revisit"
		case x.Outcome == crawl.OutcomeRedirected && len(x.Response) > 0:
			want = "response"
		}
		seen[want]++
		for _, kind := range []string{"response", "resource", "revisit"} {
			if _, ok := have[kind]; ok != (kind == want) {
				t.Errorf("page %d visit %d, %s: %s is there: %v", x.Page, x.Visit, x.Outcome, kind, ok)
			}
		}
		if x.Found() && x.Version.Digest != "" && !bytes.HasSuffix(have[want].block, src.Bodies[x.Version.Digest]) {
			t.Errorf("page %d visit %d: another body", x.Page, x.Visit)
		}
	}
	for _, kind := range []string{"", "response", "resource", "revisit"} {
		if seen[kind] == 0 {
			t.Errorf("no visit came to %q: choose another seed", kind)
		}
	}
}

// A revisit names the record that has its payload, which came before it.
func TestRevisitsRefer(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(9, exporttest.URLs(), 12)
	before := map[string]warcRecord{}
	profiles := map[string]int{}
	for _, r := range records(t, files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)) {
		before[r.Get("WARC-Record-ID")] = r
		if r.Get("WARC-Type") != "revisit" {
			continue
		}
		to, ok := before[r.Get("WARC-Refers-To")]
		if !ok {
			t.Fatalf("%v refers to nothing before it", r.Fields)
		}
		for field, of := range map[string]string{
			"WARC-Payload-Digest": "WARC-Payload-Digest", "WARC-Refers-To-Target-URI": "WARC-Target-URI", "WARC-Refers-To-Date": "WARC-Date",
		} {
			if r.Get(field) != to.Get(of) {
				t.Errorf("%s %q, want %q", field, r.Get(field), to.Get(of))
			}
		}
		profiles[r.Get("WARC-Profile")]++
	}
	if len(profiles) != 2 {
		t.Errorf("profiles %v", profiles)
	}
}

// A page's records have its URL as it was asked for, which is how links lead to it: the player of
// WACZ files looks up the bytes of a link, and found no page of a site that writes "%d0%bf".
func TestTargetsAreSpelledAsAsked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ url, request, want string }{
		"small digits":       {"https://example.com/%D0%BF/?q=%C3%A9", "GET /%d0%bf/?q=%c3%a9 HTTP/1.1\r\n\r\n", "https://example.com/%d0%bf/?q=%c3%a9"},
		"a plain apostrophe": {"https://example.com/it%27s", "GET /it's HTTP/1.1\r\n\r\n", "https://example.com/it's"},
		"what a URI escapes": {"https://example.com/%D0%BF%7C", "GET /%d0%bf| HTTP/1.1\r\n\r\n", "https://example.com/%d0%bf%7C"},
		"as it is":           {"https://example.com/%D0%BF", "GET /%D0%BF HTTP/1.1\r\n\r\n", "https://example.com/%D0%BF"},
		"another page":       {"https://example.com/%D0%BF", "GET /other HTTP/1.1\r\n\r\n", "https://example.com/%D0%BF"},
		"no request":         {"https://example.com/%D0%BF", "", "https://example.com/%D0%BF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := &exporttest.Memory{}
			x := exchangeOf(src, "HTTP/1.1 200 OK\r\n\r\n", c.request)
			x.URL = c.url
			again := x
			again.Visit, again.At, again.Outcome, again.Request, again.Response = 2, x.At.Add(time.Hour), crawl.OutcomeUnchanged, nil, nil
			src.Visits = []export.Exchange{x, again}
			all := files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)
			mustBeValid(t, all)
			kinds := map[string]bool{}
			for _, r := range records(t, all)[1:] {
				kinds[r.Get("WARC-Type")] = true
				if got := r.Get("WARC-Target-URI"); got != c.want {
					t.Errorf("%s of %s, want %s", r.Get("WARC-Type"), got, c.want)
				}
				if to := r.Get("WARC-Refers-To-Target-URI"); to != "" && to != c.want {
					t.Errorf("%s refers to %s, want %s", r.Get("WARC-Type"), to, c.want)
				}
			}
			if !kinds["response"] || !kinds["revisit"] {
				t.Errorf("records %v", kinds)
			}
			for line := range strings.Lines(string(all["index.cdxj"])) {
				if _, _, f := cdxj(t, line); f["url"] != c.want {
					t.Errorf("the index has %s, want %s", f["url"], c.want)
				}
			}
			pages := string(packed(t, files(t, mustExport(t, src, t.TempDir(), options(export.WACZ)).Folder))["pages/pages.jsonl"])
			if !strings.Contains(pages, `"url":"`+c.want+`"`) {
				t.Errorf("the list of pages has another URL than %s: %s", c.want, pages)
			}
		})
	}
}

// cdxj reads a line of the index.
func cdxj(t testing.TB, line string) (key, date string, fields map[string]string) {
	t.Helper()
	parts := strings.SplitN(line, " ", 3)
	if len(parts) != 3 || json.Unmarshal([]byte(parts[2]), &fields) != nil {
		t.Fatalf("%q is no line of CDXJ", line)
	}
	return parts[0], parts[1], fields
}

// Each line of the index leads to its record, and to nothing more.
func TestIndex(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(10, exporttest.URLs(), 12)
	all := files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)
	text := strings.TrimSuffix(string(all["index.cdxj"]), "\n")
	lines := strings.Split(text, "\n")
	if !sort.StringsAreSorted(lines) {
		t.Error("the index is not sorted")
	}
	captures := 0
	for _, r := range records(t, all) {
		switch r.Get("WARC-Type") {
		case "response", "resource", "revisit":
			captures++
		}
	}
	if len(lines) != captures {
		t.Errorf("%d lines for %d captures", len(lines), captures)
	}
	for _, line := range lines {
		_, date, f := cdxj(t, line)
		var offset, length int
		fmt.Sscan(f["offset"], &offset)
		fmt.Sscan(f["length"], &length)
		member := all[f["filename"]][offset : offset+length]
		report, err := warctest.Check(bytes.NewReader(member))
		if err != nil || report.Records != 1 || report.Err() != nil {
			t.Fatalf("%s: %+v, %v", line, report, err)
		}
		rec, err := warctest.NewReader(bytes.NewReader(member)).Next()
		if err != nil {
			t.Fatal(err)
		}
		at, err := time.Parse(time.RFC3339, rec.Get("WARC-Date"))
		if err != nil || at.Format("20060102150405") != date || rec.Get("WARC-Target-URI") != f["url"] ||
			strings.TrimPrefix(rec.Get("WARC-Payload-Digest"), "sha1:") != f["digest"] || (f["mime"] == "warc/revisit") != (rec.Get("WARC-Type") == "revisit") {
			t.Errorf("%s leads to %v", line, rec.Fields)
		}
	}
}

func TestRollOver(t *testing.T) {
	t.Parallel()
	src := exporttest.Crawl(11, exporttest.URLs(), 12)
	o := options(export.WARC)
	all := files(t, mustExport(t, src, t.TempDir(), o).Folder)
	names := warcFiles(all)
	for i, name := range names {
		if want := fmt.Sprintf("news-20280112100338-%05d.warc.gz", i); name != want {
			t.Errorf("%s, want %s", name, want)
		}
		if size := int64(len(all[name])); size < o.MaxFile && i < len(names)-1 || size > 2*o.MaxFile {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
	file := map[string]string{} // of each visit's records
	for _, r := range records(t, all) {
		visit := cmp.Or(r.Get("WARC-Concurrent-To"), r.Get("WARC-Record-ID"))
		if was, ok := file[visit]; ok && was != r.file {
			t.Errorf("a visit's records are in %s and %s", was, r.file)
		}
		file[visit] = r.file
	}
	o.MaxFile = 0
	if one := files(t, mustExport(t, src, t.TempDir(), o).Folder); len(warcFiles(one)) != 1 {
		t.Errorf("files %v", warcFiles(one))
	}
}

// A body too large for memory is read twice, and an incompressible one works like any
// other.
func TestLargeBody(t *testing.T) {
	t.Parallel()
	src := &exporttest.Memory{}
	body := make([]byte, 9<<20)
	r := rand.NewChaCha8([32]byte{})
	r.Read(body)
	digest := src.Put(body)
	src.Visits = []export.Exchange{{
		Page: 1, URL: "https://example.com/", Visit: 1, At: exporttest.Start, Outcome: crawl.OutcomeNew, Status: 200, Digest: digest,
		Version: export.Version{Seq: 1, Visit: 1, At: exporttest.Start, Digest: digest, Bytes: int64(len(body)), ContentType: "text/html"},
	}}
	all := files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)
	mustBeValid(t, all)
	if recs := records(t, all); !bytes.Equal(recs[1].block, body) || recs[1].Get("WARC-Payload-Digest") != "sha1:"+sha1Of(body) {
		t.Errorf("%v", recs[1].Fields)
	}
}

func TestHeads(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		head, want string // "" for a resource
	}{
		"as it was": {
			"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX: y\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX: y\r\n\r\n",
		},
		"without a length": {"HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\n"},
		"coded": {
			"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\nVary: *\r\n\r\n",
			"HTTP/1.1 200 OK\r\nX-Archive-Orig-Content-Encoding: gzip\r\nX-Archive-Orig-Content-Length: 99\r\nVary: *\r\nContent-Length: 6\r\n\r\n",
		},
		"coded, of the same length": {
			"HTTP/1.1 200 OK\r\ncontent-length: 6\r\ncontent-encoding: br\r\n\r\n",
			"HTTP/1.1 200 OK\r\nX-Archive-Orig-content-length: 6\r\nX-Archive-Orig-content-encoding: br\r\nContent-Length: 6\r\n\r\n",
		},
		"chunked": {
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			"HTTP/1.1 200 OK\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n",
		},
		"two lengths": {
			"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nContent-Length: 6\r\n\r\n",
			"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nX-Archive-Orig-Content-Length: 6\r\n\r\n",
		},
		"HTTP/2": {
			"HTTP/2.0 200\r\n:status: 200\r\nserver: x\r\n\r\n",
			"HTTP/1.1 200 \r\nserver: x\r\nContent-Length: 6\r\n\r\n",
		},
		"bare newlines, folded, no end": {
			"HTTP/1.1 200 OK\nA: b\n c\nno field\nD:\te \x00",
			"HTTP/1.1 200 OK\r\nA: b c\r\nD: e\r\nContent-Length: 6\r\n\r\n",
		},
		"no head":        {"", ""},
		"no status line": {"<html>\r\n\r\n", ""},
		"a short status": {"HTTP/1.1 20 OK\r\n\r\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src := &exporttest.Memory{}
			src.Visits = []export.Exchange{exchangeOf(src, c.head, "GET /?a HTTP/2.0\nhost: example.com\n\n")}
			all := files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)
			mustBeValid(t, all)
			recs := records(t, all)
			kind, want := "response", c.want+"<html>"
			if c.want == "" {
				kind = "resource"
			}
			if recs[1].Get("WARC-Type") != kind || string(recs[1].block) != want {
				t.Errorf("%s %q, want %q", recs[1].Get("WARC-Type"), recs[1].block, want)
			}
			if want := "GET /?a HTTP/1.1\r\nhost: example.com\r\n\r\n"; string(recs[2].block) != want {
				t.Errorf("request %q, want %q", recs[2].block, want)
			}
		})
	}
}

// FuzzWARC: whatever sites and people sent, the file is valid, and reading it back gives
// what went in.
func FuzzWARC(f *testing.F) {
	f.Add("https://example.com/a|b?c={d}#e", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "text/html", "x\r\nWARC-Type: y", "h2", "::1", []byte("<html>"))
	f.Add("http://[::1]:80/[%", "HTTP/1.1 304\n", "POST\n", "; =", "\xff\x7f", "", "1.2.3.4%eth0", []byte{})
	f.Fuzz(func(t *testing.T, url, response, request, media, text, alpn, ip string, body []byte) {
		u, err := urlkey.Canonical(url)
		if err != nil {
			if u, err = urlkey.Canonical("https://example.com/" + url); err != nil {
				return // no page has such an address
			}
		}
		src := &exporttest.Memory{}
		x := exchangeOf(src, response, request)
		x.URL, x.Protocol, x.IP, x.Problem, x.Location = u.String(), alpn, ip, text, text
		x.Reasons = []crawl.Reason{{Code: text, Text: text}}
		x.Version.Digest, x.Version.Bytes, x.Version.ContentType, x.Version.Title = src.Put(body), int64(len(body)), media, text
		x.Digest = x.Version.Digest
		unchanged := x
		unchanged.Visit, unchanged.Outcome, unchanged.At = 2, crawl.OutcomeUnchanged, x.At.Add(time.Second)
		failed := x
		failed.Visit, failed.Outcome, failed.At, failed.Digest = 3, crawl.OutcomeFailed, x.At.Add(time.Minute), ""
		src.Visits = []export.Exchange{x, unchanged, failed}
		all := files(t, mustExport(t, src, t.TempDir(), options(export.WARC)).Folder)
		mustBeValid(t, all)
		if recs := records(t, all); !bytes.HasSuffix(recs[1].block, body) {
			t.Errorf("body %q, want %q", recs[1].block, body)
		}
		lines := bufio.NewScanner(bytes.NewReader(all["index.cdxj"]))
		for lines.Buffer(nil, 1<<20); lines.Scan(); {
			cdxj(t, lines.Text())
		}
	})
}
