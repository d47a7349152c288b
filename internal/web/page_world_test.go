package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// hostileTitle tries to be more than text: it runs, is framed, turns the direction of what
// follows, and is long.
var hostileTitle = `<script>alert(1)</script><iframe src="https://evil.test/"></iframe>` + "\u202Etxt.exe\x1b[2J" + strings.Repeat("Title ", 2000)

// pageWorld is a base with a crawl, shop, and a server on it.
type pageWorld struct {
	base
	server  *Server
	asked   askedCommands
	pages   map[string]store.PageRecord // by path
	beliefs map[int64]schedule.Belief
}

func newPageWorld(t *testing.T) *pageWorld {
	t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "shop", []string{"https://shop.test/"}
	w := &pageWorld{base: newBase(t, spec), pages: map[string]store.PageRecord{}, beliefs: map[int64]schedule.Belief{}}
	w.server = New(Options{
		Report: report.Reporter{Store: w.s, Visits: w.s, Deliveries: w.s, Relations: w.s, Out: io.Discard, Format: report.JSON},
		Feed:   w.s, Files: w.files, Commands: &w.asked, TemporalUI: "http://127.0.0.1:8233/namespaces/default", Log: slog.New(slog.DiscardHandler),
	})
	return w
}

// page makes a living page to which another one links; "" for none.
func (w *pageWorld) page(path, from string) store.PageRecord {
	w.Helper()
	page := w.known(path, from)
	_, err := w.s.Admit(w.Context(), store.AdmitParams{CrawlID: w.crawl.ID, Admit: []int64{page.PageID}})
	w.check(err)
	return w.read(path)
}

func (w *pageWorld) known(path, from string) store.PageRecord {
	w.Helper()
	p := store.RegisterParams{CrawlID: w.crawl.ID, From: w.pages[from].PageID, URLs: []store.NewURL{{URL: "https://shop.test" + path, Host: "shop.test", Level: 1}}}
	_, err := w.s.RegisterLinks(w.Context(), p)
	w.check(err)
	return w.read(path)
}

func (w *pageWorld) read(path string) store.PageRecord {
	w.Helper()
	found, err := w.s.FindPages(w.Context(), "https://shop.test"+path, "shop")
	w.check(err)
	w.pages[path] = found[0]
	return found[0]
}

// visit records a visit, planned by the crawl's own policy.
func (w *pageWorld) visit(path string, v store.VisitRecord) {
	w.Helper()
	page := w.read(path)
	rules, err := schedule.NewRules(w.crawl.Spec.Revisit)
	w.check(err)
	group := rules.At(0)
	belief := w.beliefs[page.PageID]
	known := schedule.Page{ID: page.PageID, State: page.State, Visit: page.Visits + 1, Belief: belief}
	d := group.Policy.Next(known, schedule.Observation{Outcome: v.Outcome, At: v.At, Gap: belief.Gap(v.At)}, group.Steer(page.Steering, page.HostSteering, page.Weight))
	w.beliefs[page.PageID] = d.Belief
	v.PageID, v.Visit, v.Reasons = page.PageID, page.Visits+1, append(v.Reasons, d.Reasons()...)
	p := store.RecordParams{Visit: v, Interval: d.Interval, Belief: d.Belief.Encode()}
	if !v.Outcome.Observes() {
		p.Failures, p.Visit.Reasons = page.Failures+1, []crawl.Reason{{Code: schedule.CodeFailed, Num: map[string]float64{"n": 1}}}
	}
	_, err = w.s.RecordVisit(w.Context(), p)
	w.check(err)
	w.read(path)
}

// finds records a visit that finds a body.
func (w *pageWorld) finds(path, title, contentType, body string, at time.Time) {
	w.Helper()
	page := w.read(path)
	digest := archivetest.Put(w.T, w.files, []byte(body))
	text := sha256.Sum256([]byte(body))
	_, err := w.s.SaveVersion(w.Context(), store.SaveVersionParams{Version: store.VersionRecord{
		PageID: page.PageID, Visit: page.Visits + 1, Digest: digest, TextDigest: hex.EncodeToString(text[:]), Bytes: int64(len(body)), TextBytes: int64(len(body) / 2),
		ContentType: contentType, Title: title, Language: "en", Heads: store.Heads{Request: "GET / HTTP/1.1\r\n\r\n", Response: "HTTP/1.1 200 OK\r\nServer: shop\r\n\r\n"},
	}})
	w.check(err)
	outcome := crawl.OutcomeChanged
	if page.Last.ID == 0 {
		outcome = crawl.OutcomeNew
	}
	w.visit(path, store.VisitRecord{At: at, Outcome: outcome, State: crawl.Active, Status: 200, Digest: digest, Bytes: int64(len(body)), Duration: 180 * time.Millisecond})
}

// days returns a time that many days ago.
func days(ago float64) time.Time {
	return time.Now().Add(-time.Duration(ago * 24 * float64(time.Hour))).UTC().Truncate(time.Microsecond)
}

const htmlType = "text/html; charset=utf-8"

func prices(price, note string) string {
	return "<!DOCTYPE html><html lang=en><title>Prices</title><main><h1>Prices</h1><p>A ticket costs " + price + " euros.</p><p>Children are free.</p><p>Dogs stay outside.</p>" + note + "</main>"
}

// shop fills the world with a page that has two months of visits, and others.
func (w *pageWorld) shop() {
	w.Helper()
	w.page("/", "")
	price := 8
	for visit := range 26 {
		at := days(57.6 - 2.3*float64(visit))
		switch {
		case visit == 0, visit == 5, visit == 6, visit == 13, visit == 21:
			price++
			note := ""
			if visit >= 13 {
				note = "<p>New: <b>annual tickets</b>.</p>"
			}
			w.finds("/", "Prices & tickets", htmlType, prices(fmt.Sprint(price), note), at)
		case visit == 9, visit == 10:
			w.visit("/", store.VisitRecord{At: at, Outcome: crawl.OutcomeFailed, State: crawl.Failing, Problem: "connect: connection refused"})
		default:
			last := w.read("/").Last
			w.visit("/", store.VisitRecord{At: at, Outcome: crawl.OutcomeUnchanged, State: crawl.Active, Status: 304, Digest: last.Digest, Duration: 40 * time.Millisecond})
		}
	}
	w.page("/about", "/")
	w.finds("/about", "About us", htmlType, prices("8", ""), days(3))
	w.known("/", "/about")
	w.page("/gone", "/about")
	w.finds("/gone", "Old offer", htmlType, prices("1", ""), days(9))
	w.visit("/gone", store.VisitRecord{At: days(2), Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 410})
	w.known("/not-yet", "/about")
	w.page("/paper.pdf", "/about")
	w.finds("/paper.pdf", "", "application/pdf", "%PDF-1.4 …", days(1))
	w.page("/hostile", "/about")
	w.finds("/hostile", hostileTitle, `text/html; charset="x\"><script>"`, `<title>x</title><script>alert(1)</script><p>Buy `+"\u202E"+`now</p>`, days(1))
}

// at returns the address of a view of a page.
func (w *pageWorld) at(path, view string) string {
	return fmt.Sprintf("/crawls/shop/pages/%d%s", w.pages[path].PageID, view)
}

func (w *pageWorld) ask(method, address string, form url.Values, header http.Header) *httptest.ResponseRecorder {
	w.Helper()
	r := httptest.NewRequest(method, address, strings.NewReader(form.Encode()))
	r.Host = "localhost:8234"
	r.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, values := range header {
		r.Header[name] = values
	}
	got := httptest.NewRecorder()
	w.server.Handler().ServeHTTP(got, r.WithContext(w.Context()))
	return got
}

// get returns the page at an address, which must be there.
func (w *pageWorld) get(address string) string {
	w.Helper()
	got := w.ask(http.MethodGet, address, nil, nil)
	if got.Code != http.StatusOK {
		w.Fatalf("GET %s: %d\n%s", address, got.Code, got.Body)
	}
	return got.Body.String()
}

// askedCommands records the commands on pages. No other command is called here.
type askedCommands struct {
	Commands
	asked []string
	live  func(ctx context.Context) (report.Live, error)
}

func (a *askedCommands) ChangePage(_ context.Context, page store.PageRecord, change, arg string) (string, error) {
	a.asked = append(a.asked, page.URL+" "+change+" "+arg)
	return "understood: " + change, nil
}

func (a *askedCommands) Live(ctx context.Context, _ store.PageRecord) (report.Live, error) {
	if a.live != nil {
		return a.live(ctx)
	}
	return report.Live{}, errors.New("nobody is there")
}
