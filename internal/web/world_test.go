package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// base is a real store and archive with a crawl.
type base struct {
	*testing.T
	s     store.Store
	files archive.Store
	crawl store.CrawlRecord
}

func newBase(t *testing.T, spec crawl.Spec) base {
	t.Helper()
	made := crawltest.New(t, func(s *crawl.Spec) { *s = spec })
	return base{T: t, s: made.Store, files: made.Files, crawl: made.Record}
}

func (w *base) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// world is a base with a crawl, news, and the page on it.
type world struct {
	base
	commands *pressedCommands
	server   *Server
}

func newWorld(t *testing.T) *world {
	t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	w := &world{base: newBase(t, spec), commands: &pressedCommands{}}
	w.reads(func(s report.Store) report.Store { return s })
	return w
}

// reads makes the page's server anew, which reads through what wrap returns.
func (w *world) reads(wrap func(report.Store) report.Store) {
	w.server = New(Options{
		Report: report.Reporter{Store: wrap(w.s), Visits: w.s, Deliveries: w.s, Format: report.JSON},
		Feed:   w.s, Files: w.files, Commands: w.commands, Log: slog.New(slog.DiscardHandler),
	})
}

// page makes a living page and returns its id.
func (w *world) page(url, host string) int64 {
	w.Helper()
	return crawltest.Page(w.T, w.s, w.crawl, store.NewURL{URL: url, Host: host}).PageID
}

// finds records a visit that finds a text.
func (w *world) finds(page int64, title, text string) {
	w.Helper()
	body := []byte("<!DOCTYPE html><html lang=en><title>x</title><body><main>" + text + "</main>")
	digest := archivetest.Put(w.T, w.files, body)
	record, err := w.s.Page(w.Context(), page)
	w.check(err)
	_, err = w.s.SaveVersion(w.Context(), store.SaveVersionParams{Version: store.VersionRecord{
		PageID: page, Visit: record.Visits + 1, Digest: digest, TextDigest: digest, Bytes: int64(len(body)), ContentType: "text/html; charset=utf-8", Title: title, Language: "en",
	}})
	w.check(err)
	w.visit(page, store.VisitRecord{Outcome: crawl.OutcomeChanged, State: crawl.Active, Status: 200})
}

func (w *world) visit(page int64, v store.VisitRecord) {
	w.Helper()
	w.check(w.record(page, store.RecordParams{Visit: v}))
}

// record records the page's next visit.
func (w *world) record(page int64, p store.RecordParams) error {
	w.Helper()
	record, err := w.s.Page(w.Context(), page)
	w.check(err)
	p.Visit.PageID, p.Visit.Visit = page, record.Visits+1
	_, err = w.s.RecordVisit(w.Context(), p)
	return err
}

// local returns a request as a browser on this machine makes it.
func local(method, path, body string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Host = "localhost:8234"
	r.Header.Set("Accept", "text/html,application/xhtml+xml")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return r
}

func (w *world) do(r *http.Request) *httptest.ResponseRecorder {
	w.Helper()
	got := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(got, r.WithContext(w.Context()))
	return got
}

// get returns a page, which must be there.
func (w *world) get(path string) string {
	w.Helper()
	got := w.do(local(http.MethodGet, path, ""))
	if got.Code != http.StatusOK {
		w.Fatalf("GET %s: %d\n%s", path, got.Code, got.Body)
	}
	return got.Body.String()
}

// press posts a form and returns the page that follows.
func (w *world) press(path string, fields url.Values) (answer *httptest.ResponseRecorder, next string) {
	w.Helper()
	answer = w.do(local(http.MethodPost, path, fields.Encode()))
	if answer.Code != http.StatusSeeOther {
		return answer, ""
	}
	r := local(http.MethodGet, answer.Header().Get("Location"), "")
	for _, c := range answer.Result().Cookies() {
		r.AddCookie(c)
	}
	return answer, w.do(r).Body.String()
}

func (w *world) has(page string, wanted ...string) {
	w.Helper()
	for _, want := range wanted {
		if !strings.Contains(page, want) {
			w.Errorf("no %q in\n%s", want, page)
		}
	}
}

// pressedCommands records what buttons ask for.
type pressedCommands struct {
	calls []string
	err   error
	doing []string
}

func (p *pressedCommands) Doing(string) []string { return p.doing }

func (p *pressedCommands) call(format string, args ...any) (string, error) {
	text := fmt.Sprintf(format, args...)
	p.calls = append(p.calls, text)
	return "did: " + text, p.err
}

func (p *pressedCommands) ChangeCrawl(_ context.Context, name, change string) (string, error) {
	return p.call("%s %s", change, name)
}

func (p *pressedCommands) ChangePage(_ context.Context, page store.PageRecord, change, arg string) (string, error) {
	return p.call("%s %s %s", change, page.URL, arg)
}

func (p *pressedCommands) Retry(_ context.Context, name, host string) (string, error) {
	return p.call("retry %s %q", name, host)
}

func (p *pressedCommands) CommandSink(_ context.Context, name, sink, command, after string) (string, error) {
	return p.call("sink %s %s %s %q", command, name, sink, after)
}

func (p *pressedCommands) ReplayFailed(_ context.Context, name, sink string) (string, error) {
	return p.call("replay what %s of %s could not deliver", sink, name)
}

func (p *pressedCommands) SetBlocked(_ context.Context, host string, blocked bool) (string, error) {
	return p.call("block %s %v", host, blocked)
}

func (p *pressedCommands) ReleaseTrap(_ context.Context, name, trap string) (string, error) {
	return p.call("release %s %s", name, trap)
}

func (p *pressedCommands) Live(context.Context, store.PageRecord) (report.Live, error) {
	return report.Live{}, errors.New("Temporal is away")
}
