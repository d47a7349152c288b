package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/feed/reader"
	"recrawl/internal/mcp"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/search"
	"recrawl/internal/search/fts"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// world is a real store and archive with a crawl, docs, and a client of a server on it.
type world struct {
	*testing.T
	s       store.Store
	files   archive.Store
	crawl   store.CrawlRecord
	options mcp.Options
	client  *sdk.ClientSession
	index   search.Index
	beliefs map[int64]schedule.Belief
	// reserved is said of the versions that are found from now on.
	reserved []crawl.Reservation
}

func newWorld(t *testing.T) *world {
	t.Helper()
	made := crawltest.New(t, func(s *crawl.Spec) {
		s.Name, s.Seeds = "docs", []string{"https://docs.test/"}
		s.Sinks = map[string]crawl.SinkSpec{"search": {Kind: crawl.SinkSearch}}
	})
	w := &world{T: t, s: made.Store, files: made.Files, crawl: made.Record, beliefs: map[int64]schedule.Belief{}}
	var err error
	w.index, err = fts.Open(t.Context(), filepath.Join(t.TempDir(), fts.Name), fts.Options{Store: w.s.ID()})
	w.check(err)
	t.Cleanup(func() { w.check(w.index.Close()) })
	w.options = mcp.Options{
		Reports: report.Reporter{Store: w.s, Visits: w.s, Deliveries: w.s, Relations: w.s, Search: w.s, Index: w.index, Out: io.Discard, Format: report.JSON},
		Changes: reader.New(w.s, w.files), Crawl: w.s.Crawl, Files: w.files, Version: "test", Log: slog.New(slog.DiscardHandler),
	}
	return w
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) opens(name string, seeds ...string) store.CrawlRecord {
	w.Helper()
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = name, seeds
	record, err := w.s.OpenCrawl(w.Context(), spec)
	w.check(err)
	return record
}

// connect connects a client to a server on the world.
func (w *world) connect() {
	w.Helper()
	ours, theirs := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.New(w.options).Serve(w.Context(), ours, ours) }()
	var err error
	w.client, err = sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(w.Context(), &sdk.IOTransport{Reader: theirs, Writer: theirs}, nil)
	w.check(err)
	w.Cleanup(func() {
		_ = w.client.Close()
		if err := <-ended; err != nil {
			w.Errorf("Serve: %v", err)
		}
	})
}

// page makes a living page of docs.test.
func (w *world) page(path string) store.PageRecord {
	w.Helper()
	return w.pageOf(w.crawl, path)
}

func (w *world) pageOf(c store.CrawlRecord, path string) store.PageRecord {
	w.Helper()
	return w.read(crawltest.Page(w.T, w.s, c, store.NewURL{URL: "https://docs.test" + path, Level: 1}).PageID)
}

func (w *world) read(id int64) store.PageRecord {
	w.Helper()
	page, err := w.s.Page(w.Context(), id)
	w.check(err)
	return page
}

// finds records a visit that finds a body.
func (w *world) finds(id int64, title, body string, at time.Time) {
	w.Helper()
	page := w.read(id)
	digest := archivetest.Put(w.T, w.files, []byte(body))
	text := sha256.Sum256([]byte(body))
	_, err := w.s.SaveVersion(w.Context(), store.SaveVersionParams{Version: store.VersionRecord{
		PageID: id, Visit: page.Visits + 1, Digest: digest, TextDigest: hex.EncodeToString(text[:]), Bytes: int64(len(body)),
		ContentType: "text/html; charset=utf-8", Title: title, Language: "en", Reserved: w.reserved,
	}})
	w.check(err)
	outcome := crawl.OutcomeChanged
	if page.Last.ID == 0 {
		outcome = crawl.OutcomeNew
	}
	w.visit(id, store.VisitRecord{At: at, Outcome: outcome, State: crawl.Active, Status: 200, Digest: digest})
}

// indexes puts a page's text into the search index, as the crawl's sink does.
func (w *world) indexes(id int64) {
	w.Helper()
	page := w.read(id)
	d, err := w.options.Reports.DocumentOf(w.Context(), w.files, page, report.DocumentQuery{})
	w.check(err)
	w.check(w.index.Put(w.Context(), []search.Document{{
		Crawl: w.crawl.ID, Page: id, Version: page.Last.Seq, URL: page.URL, Host: page.Host, Title: page.Last.Title, Text: d.Markdown, Digest: d.TextSHA256, Importance: 1, At: page.Last.At,
	}}))
}

// visit records a visit, planned by the crawl's own policy.
func (w *world) visit(id int64, v store.VisitRecord) {
	w.Helper()
	page := w.read(id)
	rules, err := schedule.NewRules(w.crawl.Spec.Revisit)
	w.check(err)
	group, belief := rules.At(0), w.beliefs[id]
	known := schedule.Page{ID: id, State: page.State, Visit: page.Visits + 1, Belief: belief}
	d := group.Policy.Next(known, schedule.Observation{Outcome: v.Outcome, At: v.At, Gap: belief.Gap(v.At)}, group.Steer(page.Steering, page.HostSteering, page.Weight))
	w.beliefs[id] = d.Belief
	v.PageID, v.Visit, v.Reasons = id, page.Visits+1, d.Reasons()
	_, err = w.s.RecordVisit(w.Context(), store.RecordParams{Visit: v, Interval: d.Interval, Belief: d.Belief.Encode()})
	w.check(err)
}

// days returns a time that many days ago.
func days(ago float64) time.Time {
	return time.Now().Add(-time.Duration(ago * 24 * float64(time.Hour))).UTC().Truncate(time.Microsecond)
}

func html(title, main string) string {
	return "<!DOCTYPE html><html lang=en><title>" + title + "</title><main><h1>" + title + "</h1>" + main + "</main>"
}

// result is a tool's answer.
type result struct {
	*testing.T
	text    string
	isError bool
}

// call calls a tool of the world's client.
func (w *world) call(tool string, args map[string]any) result {
	w.Helper()
	return call(w.T, w.client, tool, args)
}

func call(t *testing.T, client *sdk.ClientSession, tool string, args map[string]any) result {
	t.Helper()
	got, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	if len(got.Content) != 1 || got.StructuredContent != nil {
		t.Fatalf("%s %v: %d contents, structured %v", tool, args, len(got.Content), got.StructuredContent)
	}
	text := got.Content[0].(*sdk.TextContent).Text
	if n := utf8.RuneCountInString(text); n > 20_000 {
		t.Errorf("%s %v: %d characters", tool, args, n)
	}
	return result{t, text, got.IsError}
}

// answers makes a call that must succeed.
func (w *world) answers(tool string, args map[string]any) result {
	w.Helper()
	r := w.call(tool, args)
	if r.isError {
		w.Fatalf("%s %v: %s", tool, args, r.text)
	}
	return r
}

// fact returns a line of the server's own.
func (r result) fact(name string) string {
	r.Helper()
	for line := range strings.Lines(r.ours()) {
		if value, is := strings.CutPrefix(line, name+": "); is {
			return strings.TrimSuffix(value, "\n")
		}
	}
	r.Fatalf("no fact %s in\n%s", name, r.text)
	return ""
}

var marks = regexp.MustCompile(`(?s)^(.*?)\nThe text between the two marks with the word (\w+) is untrusted.*?\n<<<BEGIN UNTRUSTED WEB PAGE (\w+)>>>\n(.*)\n<<<END UNTRUSTED WEB PAGE (\w+)>>>\n$`)

// parts returns the server's words, the sites' words, and the word of the marks between
// them.
func (r result) parts() (ours, theirs, word string) {
	r.Helper()
	m := marks.FindStringSubmatch(r.text)
	if m == nil {
		return r.text, "", ""
	}
	if m[2] != m[3] || m[3] != m[5] || strings.Count(r.text, m[2]) != 3 {
		r.Fatalf("the marks do not agree:\n%s", r.text)
	}
	return m[1] + "\n", m[4], m[2]
}

func (r result) ours() string   { r.Helper(); ours, _, _ := r.parts(); return ours }
func (r result) theirs() string { r.Helper(); _, theirs, _ := r.parts(); return theirs }

// says checks that words are among the server's, and not among the sites'.
func (r result) says(words ...string) {
	r.Helper()
	ours, theirs, _ := r.parts()
	for _, want := range words {
		if !strings.Contains(ours, want) || strings.Contains(theirs, want) {
			r.Errorf("the server does not say %q in\n%s", want, r.text)
		}
	}
}

// quotes checks that words are among the sites', and nowhere else.
func (r result) quotes(words ...string) {
	r.Helper()
	ours, theirs, _ := r.parts()
	for _, want := range words {
		if !strings.Contains(theirs, want) || strings.Contains(ours, want) {
			r.Errorf("%q is not quoted in\n%s", want, r.text)
		}
	}
}

// visits are asked of a function.
func visits(ask func(store.PageRecord) (string, error)) func(context.Context, store.PageRecord) (string, error) {
	return func(_ context.Context, p store.PageRecord) (string, error) { return ask(p) }
}

// broken are reports whose store has a secret to keep.
type broken struct{ mcp.Reports }

func (broken) CollectionsOf(context.Context, int, int) ([]report.Collection, bool, error) {
	return nil, false, errors.New("dial tcp: postgres://user:secret@store/")
}
