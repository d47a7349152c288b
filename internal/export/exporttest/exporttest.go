// Package exporttest holds a source of exports in memory, crawls made up for it, and
// the promises of export.Source as a test.
package exporttest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/crawl"
	"recrawl/internal/document"
	"recrawl/internal/export"
)

// Memory is a source in memory. It yields all visits, whatever is asked for, except those
// of pages up to Query.After.
type Memory struct {
	Visits []export.Exchange // in order
	Bodies map[string][]byte // by digest
}

var _ export.Source = (*Memory)(nil)

// Exchanges implements export.Source.
func (m *Memory) Exchanges(_ context.Context, q export.Query) iter.Seq2[export.Exchange, error] {
	return func(yield func(export.Exchange, error) bool) {
		for _, x := range m.Visits {
			if x.Page > q.After && !yield(x, nil) {
				return
			}
		}
	}
}

// Body implements export.Source.
func (m *Memory) Body(_ context.Context, digest string) (io.ReadCloser, error) {
	body, ok := m.Bodies[digest]
	if !ok {
		return nil, fmt.Errorf("%w: %s", archive.ErrNotFound, digest)
	}
	return archive.Decode(io.NopCloser(bytes.NewReader(body)), archive.Plain, digest), nil
}

// Text implements export.Source: the body's words in capital letters.
func (m *Memory) Text(ctx context.Context, x export.Exchange) (string, error) {
	r, err := m.Body(ctx, x.Version.Digest)
	if err != nil {
		return "", err
	}
	defer r.Close()
	body, err := io.ReadAll(r)
	if err != nil {
		return "", err
	}
	return strings.ToUpper(strings.ToValidUTF8(string(body), "?")), nil
}

// Read implements export.Source: the text below a heading, of crawl "news".
func (m *Memory) Read(ctx context.Context, x export.Exchange) (document.Document, error) {
	return Document(x, func() (string, error) { return m.Text(ctx, x) })
}

// Document returns a document as Memory makes it from a text, if there is one.
func Document(x export.Exchange, read func() (string, error)) (document.Document, error) {
	text, err := read()
	if err != nil {
		return document.Document{}, err
	}
	if text != "" {
		text = "# A document\n\n" + strings.Join(strings.Fields(text), " ") + "\n"
	}
	return document.New(export.MetaOf("news", x), text), nil
}

// Put adds a body and returns its digest.
func (m *Memory) Put(body []byte) string {
	if m.Bodies == nil {
		m.Bodies = map[string][]byte{}
	}
	digest := digestOf(body)
	m.Bodies[digest] = body
	return digest
}

func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Start is when the visits of made-up crawls begin.
var Start = time.Date(2026, 11, 21, 18, 3, 38, 123456000, time.UTC)

// Crawl makes a crawl up: a page for each URL with up to visits visits, of all
// outcomes, some of them with heads. The same arguments make the same crawl.
func Crawl(seed uint64, urls []string, visits int) *Memory {
	m := &Memory{}
	r := rand.New(rand.NewPCG(seed, 1))
	for i, url := range urls {
		p := page{m: m, r: r, x: export.Exchange{Page: int64(i)*3 + 1, URL: url, Stands: i%7 != 6, At: Start.Add(time.Duration(r.Int64N(int64(time.Hour)))).Truncate(time.Microsecond)}}
		for range 1 + r.IntN(visits) {
			p.visit()
		}
	}
	return m
}

// page makes up the visits of one page.
type page struct {
	m *Memory
	r *rand.Rand
	x export.Exchange // the last visit
}

func (p *page) visit() {
	x := export.Exchange{
		Page: p.x.Page, URL: p.x.URL, Stands: p.x.Stands, Visit: p.x.Visit + 1, Version: p.x.Version, TextAt: p.x.TextAt, Reserved: p.x.Reserved, Duration: time.Duration(p.r.IntN(5000)) * time.Millisecond,
		At: p.x.At.Add(time.Duration(1+p.r.Int64N(int64(30*time.Hour))) * time.Nanosecond).Truncate(time.Microsecond).Add(time.Microsecond),
	}
	switch n := p.r.IntN(12); {
	case n < 3 || n < 8 && x.Version.Seq == 0:
		p.change(&x)
	case n < 6 && x.Version.Digest != "":
		x.Outcome, x.Status, x.Digest, x.Bytes = crawl.OutcomeUnchanged, 200, x.Version.Digest, x.Version.Bytes
		p.heads(&x, "Content-Encoding: br", "Content-Type: text/html")
	case n < 8:
		x.Outcome, x.Status, x.Digest = crawl.OutcomeUnchanged, 304, x.Version.Digest
		p.heads(&x, `ETag: "1"`)
	case n == 8:
		x.Outcome, x.Status, x.Bytes, x.Digest = crawl.OutcomeCosmetic, 200, 12, strings.Repeat("ab", 32)
	case n == 9:
		x.Outcome, x.Status, x.Location, x.Bytes = crawl.OutcomeRedirected, 301, "https://example.org/", int64(p.r.IntN(2))
		p.heads(&x, "Location: https://example.org/", "Content-Length: 1")
	case n == 10:
		x.Outcome, x.Problem = crawl.OutcomeFailed, "connection reset\r\nby peer \x00\x7f"
	default:
		x.Outcome, x.Duration = crawl.OutcomeExcluded, 0
	}
	x.Reasons = []crawl.Reason{{Code: "steady", Num: map[string]float64{"n": float64(x.Visit)}}}
	p.m.Visits = append(p.m.Visits, x)
	p.x = x
}

// change makes a new version, one in eight of which may not be kept.
func (p *page) change(x *export.Exchange) {
	x.Outcome, x.Status = crawl.OutcomeChanged, 200
	if x.Version.Seq == 0 {
		x.Outcome = crawl.OutcomeNew
	}
	body := Body(p.r)
	v := export.Version{
		Seq: x.Version.Seq + 1, Visit: x.Visit, At: x.At, Bytes: int64(len(body)), ContentType: "text/html; charset=utf-8",
		Title: "A <title> & more", Canonical: x.URL, Language: "en", Fetched: x.At,
	}
	x.TextAt, x.Reserved = x.At, nil
	if x.Version.Seq%2 == 0 { // the first version, the third and so on
		x.Reserved = []crawl.Reservation{{Use: crawl.UseAITrain, Source: "robots.txt: Content-Signal: ai-train=no"}, {Use: crawl.UseSearch, Allowed: true, Source: "x"}}
	}
	x.Digest = digestOf(body)
	if v.Digest = x.Digest; p.r.IntN(8) == 0 {
		v.Digest, v.Title = "", ""
	} else {
		p.m.Put(body)
	}
	x.Version, x.Bytes = v, v.Bytes/2+1
	p.heads(x, "Content-Type: text/html; charset=utf-8", "Content-Encoding: gzip", fmt.Sprintf("Content-Length: %d", x.Bytes))
}

// heads gives some of the visits their heads.
func (p *page) heads(x *export.Exchange, fields ...string) {
	switch p.r.IntN(3) {
	case 0:
		return
	case 1:
		x.Protocol, x.Response = "h2", []byte(fmt.Sprintf("HTTP/2.0 %d\r\n%s\r\n\r\n", x.Status, strings.ToLower(strings.Join(fields, "\r\n"))))
		x.Request = []byte("GET / HTTP/2.0\r\nhost: example.com\r\n\r\n")
	default:
		x.Protocol, x.Response = "http/1.1", []byte(fmt.Sprintf("HTTP/1.1 %d OK\r\n%s\r\nTransfer-Encoding: chunked\r\n\r\n", x.Status, strings.Join(fields, "\r\n")))
		x.Request = []byte("GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
	}
	x.IP = []string{"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.9"}[p.r.IntN(3)]
}

// Body makes up a page of up to some hundred words.
func Body(r *rand.Rand) []byte {
	var b bytes.Buffer
	b.WriteString("<html><title>A title</title>\n<body>\n")
	for range r.IntN(20) {
		b.WriteString("<p>")
		for range 10 + r.IntN(40) {
			// Few words are common, as in any language.
			n := int(1000 * r.Float64() * r.Float64() * r.Float64())
			b.WriteString(syllables[n%10] + syllables[n/10%10] + syllables[n/100] + " ")
		}
		b.WriteString("</p>\n")
	}
	return b.Bytes()
}

var syllables = []string{"ka", "lo", "mi", "ter", "un", "des", "", "ing", "ro", "sel"}

// Conform checks a source against the promises of export.Source. It reads all of it.
func Conform(t *testing.T, src export.Source) {
	t.Helper()
	ctx := t.Context()
	all := collect(t, src, export.Query{Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
	if len(all) == 0 {
		t.Fatal("the source is empty: give it visits to be tested with")
	}
	if !slices.IsSortedFunc(all, compare) {
		t.Error("visits are not in the order of page and number")
	}
	found := map[[2]int64]export.Exchange{}
	for _, x := range all {
		checkExchange(t, x)
		key := [2]int64{x.Page, int64(x.Version.Seq)}
		if x.Found() {
			found[key] = x
			checkBody(ctx, t, src, x)
		}
		if x.Version.Seq > 0 && found[key].Version != x.Version {
			t.Errorf("page %d visit %d: its version %+v is not what a visit before found", x.Page, x.Visit, x.Version)
		}
	}
	again := collect(t, src, export.Query{Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)})
	if fmt.Sprint(all) != fmt.Sprint(again) {
		t.Error("read again, the source is another")
	}
	parts(t, src, all)
	if _, err := src.Body(ctx, strings.Repeat("0", 64)); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("a body that is not there: %v", err)
	}
}

// parts asks for parts of the source.
func parts(t *testing.T, src export.Source, all []export.Exchange) {
	t.Helper()
	middle := all[len(all)/2]
	for name, q := range map[string]export.Query{
		"after a page": {After: middle.Page, Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
		"until a time": {Until: middle.At},
		"found":        {Until: middle.At, Found: true},
	} {
		wanted := func(x export.Exchange) bool {
			return x.Page > q.After && !x.At.After(q.Until) && (!q.Found || x.Found() || x.Back)
		}
		got := collect(t, src, q)
		got = slices.DeleteFunc(got, func(x export.Exchange) bool { return !wanted(x) })
		want := slices.DeleteFunc(slices.Clone(all), func(x export.Exchange) bool { return !wanted(x) })
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %d visits, want %d", name, len(got), len(want))
		}
	}
	// A reader that stops early is not called again.
	for range src.Exchanges(t.Context(), export.Query{Until: middle.At}) {
		break
	}
}

func collect(t *testing.T, src export.Source, q export.Query) []export.Exchange {
	t.Helper()
	var all []export.Exchange
	for x, err := range src.Exchanges(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

func compare(a, b export.Exchange) int {
	return cmp.Or(cmp.Compare(a.Page, b.Page), cmp.Compare(a.Visit, b.Visit))
}

func checkExchange(t *testing.T, x export.Exchange) {
	t.Helper()
	if x.Page <= 0 || x.Visit <= 0 || x.URL == "" || x.At.IsZero() || x.At.Location() != time.UTC || !x.At.Equal(x.At.Truncate(time.Microsecond)) {
		t.Errorf("page %d visit %d: URL %q, at %v", x.Page, x.Visit, x.URL, x.At)
	}
	if !slices.Contains(crawl.Outcomes(), x.Outcome) {
		t.Errorf("page %d visit %d: outcome %d", x.Page, x.Visit, x.Outcome)
	}
	if x.Version.Seq > 0 && (x.TextAt.IsZero() || x.Version.Fetched.IsZero()) {
		t.Errorf("page %d visit %d: its text is of %v, its version of %v", x.Page, x.Visit, x.TextAt, x.Version.Fetched)
	}
	if v := x.Version; v.Visit > x.Visit || (v.Seq == 0) != (v == export.Version{}) || x.Found() && !v.At.Equal(x.At) {
		t.Errorf("page %d visit %d at %v: version %+v", x.Page, x.Visit, x.At, v)
	}
}

func checkBody(ctx context.Context, t *testing.T, src export.Source, x export.Exchange) {
	t.Helper()
	if x.Version.Digest == "" {
		return
	}
	r, err := src.Body(ctx, x.Version.Digest)
	if err != nil {
		t.Errorf("page %d version %d: %v", x.Page, x.Version.Seq, err)
		return
	}
	body, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || digestOf(body) != x.Version.Digest || int64(len(body)) != x.Version.Bytes {
		t.Errorf("page %d version %d: %d bytes, %v", x.Page, x.Version.Seq, len(body), err)
	}
	if text, err := src.Text(ctx, x); err != nil || text != strings.ToValidUTF8(text, "") {
		t.Errorf("page %d version %d: text %.40q, %v", x.Page, x.Version.Seq, text, err)
	}
	d, err := src.Read(ctx, x)
	meta := d.Meta
	meta.TextSHA256 = ""
	if fmt.Sprint(meta) != fmt.Sprint(export.MetaOf(d.Crawl, x)) || d.TextSHA256 != digestOf([]byte(d.Markdown)) || d.Markdown != strings.ToValidUTF8(d.Markdown, "") || err != nil {
		t.Errorf("page %d version %d: document %+v, %v", x.Page, x.Version.Seq, d.Meta, err)
	}
}

// URLs returns addresses that are hard on names, besides plain ones.
func URLs() []string {
	all := []string{
		"https://www.mysite.com/d1/d2", "https://www.mysite.com/d1/d2/", "https://www.mysite.com/d1", "https://www.mysite.com/",
		"http://www.mysite.com/d1/d2", "https://www.mysite.com:8443/d1/d2", "http://localhost:8000/", "http://[2001:db8::1]:8080/a",
		"http://[::1]/", "http://127.0.0.1:8000/list?page=2", "https://example.com/list?page=2&sort=asc", "https://example.com/list?",
		"https://example.com/Main_Page", "https://example.com/main_page", "https://example.com/MAIN_PAGE", "https://example.com/con",
		"https://example.com/con.txt", "https://example.com/..%2f", "https://example.com/..%2F..%2Fetc/passwd", "https://example.com/a.",
		"https://example.com/a%20", "https://example.com/a%00b", "https://example.com/%", "https://example.com/%E4%B8%AD%E6%96%87",
		"https://example.com/caf%C3%A9", "https://example.com/cafe%CC%81", "https://example.com/@page.html", "https://example.com/@user",
		"https://example.com//a//b/", "https://example.com/a|b^c", "https://example.com/[x]?{y}|z", "https://example.com/a~b",
		"https://xn--bcher-kva.example/", "https://con.example.com/", "https://index.jsonl/", "https://export.json/",
		"https://example.com/" + strings.Repeat("a", 3000), "https://example.com/" + strings.Repeat("a", 2999) + "b",
		"https://example.com/" + strings.Repeat("a/", 1500), "https://example.com/" + strings.Repeat("a/", 1499),
		"https://" + strings.Repeat("a.", 100) + "example/", "https://example.com/?q=" + strings.Repeat("1", 500),
	}
	return slices.Clip(all)
}
