package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
	"recrawl/internal/web"
)

// hostile is page text that tries to be more than text: it runs, is framed, turns the
// direction of what follows, and is long.
var hostile = `<script>alert(1)</script><iframe src="https://evil.test/"></iframe>` + "\u202Etxt.exe\x1b[2J" + strings.Repeat("Title ", 2000)

// site is a crawl with some of everything that lists show, in a real store behind a server.
type site struct {
	*testing.T
	ctx   context.Context
	s     store.Store
	files archive.Store
	crawl store.CrawlRecord
	url   string // of the server
	pages map[string]int64
}

// newSite is a site with its server. Change may change what the server is made of.
func newSite(t *testing.T, change func(*web.Options)) *site {
	t.Helper()
	made := crawltest.New(t, func(s *crawl.Spec) {
		s.Seeds = []string{"https://a.test/"}
		s.Sinks = map[string]crawl.SinkSpec{"team": {Kind: "webhook"}}
	})
	w := &site{T: t, ctx: t.Context(), s: made.Store, files: made.Files, crawl: made.Record, pages: map[string]int64{}}
	w.fill()
	o := web.Options{
		Report: report.Reporter{Store: w.s, Visits: w.s, Deliveries: w.s, Search: w.s, Relations: w.s, Requests: w.s, Out: io.Discard, Format: report.JSON},
		Feed:   w.s, Files: w.files, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&o)
	}
	server := httptest.NewServer(web.New(o).Handler())
	t.Cleanup(server.Close)
	w.url = server.URL
	return w
}

func (w *site) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// fill makes pages of three hosts, changes, duplicates, rejected links, a trap, a source, a
// sink that lags and has failed, and a robots.txt.
func (w *site) fill() {
	for _, path := range []string{"a.test/", "a.test/prices", "a.test/copy", "b.test/x_y", "b.test/gone", "c.test/hostile"} {
		w.page("https://" + path)
	}
	w.finds("https://a.test/", "Home", "<p>Welcome.")
	w.finds("https://a.test/prices", "Prices", "<p>A ticket costs 10 euros.<p>Children are free.")
	w.finds("https://a.test/prices", "New prices", "<p>A ticket costs 12 euros.<p>Children are free.")
	w.finds("https://a.test/copy", "Prices again", "<p>A ticket costs 12 euros.<p>Children are free.")
	w.finds("https://c.test/hostile", hostile, "<p>"+hostile)
	w.visit("https://b.test/gone", store.VisitRecord{Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 404, Problem: "not found"})
	original, copied := w.record("https://a.test/prices"), w.record("https://a.test/copy")
	w.check(w.s.UpdateDuplicates(w.ctx, store.UpdateDuplicatesParams{CrawlID: w.crawl.ID, Set: []store.NewDuplicate{{
		PageVersion: store.PageVersion{PageID: copied.PageID, Version: copied.Last.ID},
		Of:          store.DuplicateOf{PageVersion: store.PageVersion{PageID: original.PageID, Version: original.Last.ID}, Resemblance: 0.97},
	}}}))
	_, err := w.s.RegisterLinks(w.ctx, store.RegisterParams{
		CrawlID: w.crawl.ID, From: original.PageID,
		URLs: []store.NewURL{{URL: "https://a.test/sitemap.xml", Host: "a.test", Kind: crawl.KindSitemap}},
		Rejected: []store.Rejection{{Reason: "host", Links: 3, Examples: []store.RejectedURL{{URL: "https://elsewhere.test/%3Cb%3E", Host: "elsewhere.test", Detail: "beyond <b>this site"}}}, {Reason: "depth", Links: 2, Examples: []store.RejectedURL{
			{URL: "https://a.test/1/2/3/4", Host: "a.test"}, {URL: "https://a.test/1/2/3/6", Host: "a.test"},
		}}},
	})
	w.check(err)
	_, err = w.s.SetTraps(w.ctx, w.crawl.ID, []store.NewTrap{{Site: "a.test", Host: "a.test", Name: "a.test/cal/#", Pattern: json.RawMessage(`{}`), Reason: "calendar", Detail: "days without end", After: -1}})
	w.check(err)
	grown, err := w.s.GrownPages(w.ctx, w.crawl.ID, 100)
	w.check(err)
	_, err = w.s.EndLook(w.ctx, store.EndLookParams{CrawlID: w.crawl.ID, From: grown.From, Through: grown.Through, Found: []store.PrefixRecord{{HostID: original.HostID, Pages: 3}}})
	w.check(err)
	w.check(w.s.SaveRobots(w.ctx, store.SaveRobotsParams{Origin: "https://a.test", State: store.RobotsParsed, Status: 200, Text: "User-agent: *\nDisallow: /<i>private\n", Expires: time.Hour}))
	ends, err := w.s.FeedEnds(w.ctx)
	w.check(err)
	sink, err := w.s.OpenSink(w.ctx, w.crawl.ID, "team", ends.Oldest)
	w.check(err)
	to := sink
	to.After.ID++
	w.check(w.s.SetUndelivered(w.ctx, sink, to, store.UndeliveredRecord{CrawlID: w.crawl.ID, Sink: "team", ChangeID: to.After.ID, Tries: 3, Problem: "400 Bad Request"}))
}

func (w *site) page(url string) {
	w.Helper()
	w.pages[url] = crawltest.Page(w.T, w.s, w.crawl, store.NewURL{URL: url}).PageID
}

func (w *site) record(url string) store.PageRecord {
	w.Helper()
	found, err := w.s.FindPages(w.ctx, url, w.crawl.Spec.Name)
	w.check(err)
	if len(found) != 1 {
		w.Fatalf("%d pages of %s", len(found), url)
	}
	return found[0]
}

func (w *site) finds(url, title, text string) {
	w.Helper()
	body := fmt.Appendf(nil, "<!DOCTYPE html><html lang=en><title>t</title><body><main>%s</main>", text)
	digest := archivetest.Put(w.T, w.files, body)
	page := w.record(url)
	_, err := w.s.SaveVersion(w.ctx, store.SaveVersionParams{Version: store.VersionRecord{
		PageID: page.PageID, Visit: page.Visits + 1, Digest: digest, TextDigest: digest, Bytes: int64(len(body)), ContentType: "text/html", Title: title,
	}})
	w.check(err)
	w.visit(url, store.VisitRecord{Outcome: crawl.OutcomeChanged, State: crawl.Active, Status: 200})
}

func (w *site) visit(url string, v store.VisitRecord) {
	w.Helper()
	page := w.record(url)
	v.PageID, v.Visit = page.PageID, page.Visits+1
	_, err := w.s.RecordVisit(w.ctx, store.RecordParams{Visit: v})
	w.check(err)
}

// get returns the answer of an address.
func (w *site) get(address string) (status int, header http.Header, body string) {
	w.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(w.ctx, http.MethodGet, w.url+address, nil)
	w.check(err)
	response, err := client.Do(request)
	w.check(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	w.check(err)
	return response.StatusCode, response.Header, string(text)
}

// html returns the page at an address, as people see it.
func (w *site) html(address string) string {
	w.Helper()
	status, header, body := w.get(address)
	if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
		w.Fatalf("%s: %d %s\n%s", address, status, header.Get("Content-Type"), body)
	}
	return body
}

// data returns the JSON at an address, as programs see it.
func data[T any](w *site, address string) (v T) {
	w.Helper()
	status, header, body := w.get(address)
	if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		w.Fatalf("%s: %d %s\n%s", address, status, header.Get("Content-Type"), body)
	}
	w.check(json.Unmarshal([]byte(body), &v))
	return v
}

// rows is one part of any list.
type rows struct {
	V     int
	Items []map[string]any
	Next  *string
}

func TestPages(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	for query, number := range map[string]int{
		"": 7, "?text=PRICES": 1, "?text=x_y": 1, "?host=a.test": 4, "?state=gone": 1, "?state=gone&state=active": 6, "?state=gone,known": 2,
		"?prefix=https://b.test/": 2, "?prefix=https://a.test/&text=copy": 1, "?host=none.test": 0, "?host=a.test&state=gone": 0, "?text=absent": 0,
	} {
		got := data[rows](w, "/crawls/news/pages.json"+query)
		if got.V != 1 || len(got.Items) != number || got.Next != nil || got.Items == nil {
			t.Errorf("%s: %d pages of version %d, next %v; want %d", query, len(got.Items), got.V, got.Next, number)
		}
		w.html("/crawls/news/pages" + query)
	}
	item := data[rows](w, "/crawls/news/pages.json?text=prices").Items[0]
	if item["url"] != "https://a.test/prices" || item["title"] != "New prices" || item["page"] != float64(w.pages["https://a.test/prices"]) || item["state"] != "active" {
		t.Errorf("%v", item)
	}
	shown := w.html("/crawls/news/pages?text=prices&state=active")
	for _, want := range []string{
		`value="prices"`, `<option value="active" selected>`, "New prices", fmt.Sprintf(`href="/crawls/news/pages/%d"`, w.pages["https://a.test/prices"]),
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not have %s", want)
		}
	}
}

// Characters that URLs have encoded are found as people write them.
func TestPagesByEncodedCharacters(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	w.page("https://a.test/list?id%5B%5D=3&q=it%27s%7B%22%C3%B6%22%7D")
	for _, text := range []string{"id[]=3", "it's", `{"ö"}`, "%5B%5D", "list?ID[]=3&q=it's"} {
		if got := data[rows](w, "/crawls/news/pages.json?text="+url.QueryEscape(text)); len(got.Items) != 1 {
			t.Errorf("%s: %d pages", text, len(got.Items))
		}
	}
}

// Followed by the addresses that they name, the parts of a list hold all of it, each item
// once.
func TestPartsOfLists(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	for list, number := range map[string]int{
		"pages": 7, "pages?text=test": 7, "pages?host=a.test&state=active": 3, "hosts": 3, "hosts?text=.TEST": 3, "traps": 1, "traps?host=a.test": 1, "traps?host=b.test": 0, "duplicates": 1, "duplicates?host=A.test": 1, "duplicates?host=b.test": 0, "rejected": 3, "rejected?reason=depth": 2, "sources": 1, "sinks/team/failed": 1, "changes": 7, "changes?host=a.test": 5, "changes?kinds=page.gone,page.changed": 2,
	} {
		path, query, _ := strings.Cut(list, "?")
		at, found, parts := "/crawls/news/"+path+".json?limit=1&"+query, 0, 0
		for ; parts <= number+1; parts++ {
			got := data[rows](w, at)
			if found += len(got.Items); len(got.Items) > 1 {
				t.Errorf("%s: %d rows", at, len(got.Items))
			}
			if got.Next == nil {
				break
			}
			at = *got.Next
		}
		if found != number {
			t.Errorf("%s: %d rows in %d parts, want %d", list, found, parts, number)
		}
	}
}

func TestBadQuestions(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	for address, want := range map[string]int{
		"pages?state=dead": 400, "pages?after=x": 400, "pages?after=-1": 400, "pages?limit=501": 400, "duplicates?after=7": 400, "duplicates?after=a.b": 400, "sources?after=x": 400,
		"traps?after=x": 400, "rejected?after=x": 400, "rejected?after=1.2.": 400, "changes?kinds=page": 400, "changes?before=now": 400, "changes?before=c1.00000000.7": 400, "changes.atom?kinds=page": 400,
		"url": 400, "url?url=": 400, "url?url=https://": 400, "hosts/none.test": 404, "sinks/none/failed": 404,
	} {
		for _, suffix := range []string{"", ".json"} {
			path, query, _ := strings.Cut(address, "?")
			if path == "changes.atom" && suffix != "" {
				continue
			}
			status, _, body := w.get("/crawls/news/" + path + suffix + "?" + query)
			if status != want {
				t.Errorf("%s%s: %d, want %d\n%s", address, suffix, status, want, body)
			}
			if status, _, _ := w.get("/crawls/none/" + path + suffix + "?" + query); status != 404 && status != 400 {
				t.Errorf("%s%s of no crawl: %d", address, suffix, status)
			}
		}
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	for address, wants := range map[string][]string{
		"hosts":                    {"a.test", "b.test", "c.test", `class="badge ok"`},
		"hosts?trouble=1":          {"No host is in trouble."},
		"hosts/a.test":             {"Gap between requests", "Disallow: /&lt;i&gt;private", `action="/crawls/news/hosts/a.test/block"`},
		"rejected":                 {"https://elsewhere.test/%3Cb%3E", "beyond &lt;b&gt;this site", "https://a.test/prices"},
		"rejected?reason=host":     {"All reasons"},
		"rejected?reason=none":     {"No example is kept."},
		"traps":                    {"a.test/cal/#", "days without end", `action="/crawls/news/traps/a.test%2Fcal%2F%23/release"`},
		"duplicates":               {"https://a.test/copy", "0.970"},
		"sources":                  {"https://a.test/sitemap.xml", "sitemap"},
		"sources?host=b.test":      {"No sitemaps or feeds have been found."},
		"sinks":                    {"team", "webhook", `action="/crawls/news/sinks/team/test"`, `href="/crawls/news/sinks/team/failed"`},
		"sinks/team/failed":        {"400 Bad Request", "starter sinks replay news team --failed", `action="/crawls/news/sinks/team/replay"`, `name="failed" value="1"`},
		"changes":                  {"New prices", "A ticket costs 12 euros.", `href="/crawls/news/changes.atom"`, "gone (404)"},
		"changes?kinds=page.gone":  {"gone (404)", "/crawls/news/changes.atom?kinds=page.gone"},
		"changes?host=none.test":   {"Nothing of this kind has changed."},
		"url?url=elsewhere.test/b": {"No page of this crawl", "elsewhere.test/b", "None is among the examples"},
	} {
		body := w.html("/crawls/news/" + address)
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s does not have %s\n%s", address, want, body)
			}
		}
		if strings.Contains(body, "style=") || strings.Count(body, "<h1") != 1 {
			t.Errorf("%s has a style of its own, or not one headline", address)
		}
	}
}

// Text of pages stays text, whatever it is.
func TestHostilePagesInLists(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	for _, address := range []string{"pages", "changes", "pages?text=%3Cscript%3E", "url?url=https://b.test/%3Cscript%3E", "rejected?reason=%3Cscript%3Ealert(1)"} {
		body := w.html("/crawls/news/" + address)
		for _, never := range []string{"<script>", "<iframe", "\u202E", "\x1b", strings.Repeat("Title ", 100)} {
			if strings.Contains(body, never) {
				t.Errorf("%s has %.20q", address, never)
			}
		}
	}
}

// The box leads to a page, however its URL is written, or says why there is none.
func TestURLBox(t *testing.T) {
	t.Parallel()
	w := newSite(t, func(o *web.Options) {
		o.Judge = func(_ store.CrawlRecord, url string) (report.ScopeCheck, error) {
			return report.ScopeCheck{URL: url, Crawl: "news", Level: 1, Reason: "host", Steps: []report.ScopeStep{{Check: "is its host one of the seeds'", Result: "no", Decides: true}}}, nil
		}
	})
	for _, given := range []string{"https://a.test/prices", "HTTPS://A.test:443/%70rices#top", " a.test/prices "} {
		status, header, body := w.get("/crawls/news/url?url=" + url.QueryEscape(given))
		if want := fmt.Sprintf("/crawls/news/pages/%d", w.pages["https://a.test/prices"]); status != http.StatusSeeOther || header.Get("Location") != want {
			t.Errorf("%s: %d to %q, want %s\n%s", given, status, header.Get("Location"), want, body)
		}
	}
	w.page("http://plain.test/")
	if status, header, _ := w.get("/crawls/news/url?url=plain.test"); status != http.StatusSeeOther || header.Get("Location") != fmt.Sprintf("/crawls/news/pages/%d", w.pages["http://plain.test/"]) {
		t.Errorf("plain.test: %d to %q", status, header.Get("Location"))
	}
	body := w.html("/crawls/news/url?url=https://elsewhere.test/%3Cb%3E")
	for _, want := range []string{"It is out of scope of the crawl", "decides", "beyond &lt;b&gt;this site", "found on"} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing in\n%s", want, body)
		}
	}
	got := data[map[string]any](w, "/crawls/news/url.json?url=a.test/prices")
	if got["page"] != float64(w.pages["https://a.test/prices"]) || got["url"] != "https://a.test/prices" || got["today"] != nil {
		t.Errorf("%v", got)
	}
}

// A URL of another scheme is answered about as such, and a host with a port is none.
func TestOtherSchemes(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	for given, want := range map[string]string{
		"data:text/html,x": "scheme", "mailto:a@b.c": "scheme", "javascript:alert(1)": "scheme", "ftp://a.test/": "scheme", "JavaScript:void": "scheme",
		"a.test:8080/x": "", "a.test:8080": "", "a.test?x:y": "", "https://a.test:81/": "",
	} {
		got := data[map[string]any](w, "/crawls/news/url.json?url="+url.QueryEscape(given))
		if today, _ := got["today"].(map[string]any); today == nil || today["reason"] != want || want != "" && got["url"] != given {
			t.Errorf("%s: %v", given, got)
		}
	}
	body := w.html("/crawls/news/url?url=" + url.QueryEscape("javascript:alert(1)"))
	if !strings.Contains(body, "It is out of scope of the crawl") || !strings.Contains(body, "not an http or https URL") || strings.Contains(body, `href="javascript`) || strings.Contains(body, "Pages beside it") {
		t.Error(body)
	}
	if status, _, _ := w.get("/crawls/none/url?url=mailto:a@b.c"); status != http.StatusNotFound {
		t.Errorf("of no crawl: %d", status)
	}
}

// A choice is made by 1, and not by whatever is given.
func TestChoices(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	for _, query := range []string{"hosts.json?trouble=", "changes.json?diff="} {
		for text, want := range map[string]int{"": 200, "0": 200, "1": 200, "false": 400, "yes": 400} {
			if got, _, _ := w.get("/crawls/news/" + query + text); got != want {
				t.Errorf("%s%s: %d, want %d", query, text, got, want)
			}
		}
	}
	for text, want := range map[string]string{"0": "By name", "1": "Hosts in trouble"} {
		if body := w.html("/crawls/news/hosts?trouble=" + text); !strings.Contains(body, want) {
			t.Errorf("trouble=%s: no %q in\n%s", text, want, body)
		}
	}
}

// The two filters of hosts hold together.
func TestHostsInTroubleByName(t *testing.T) {
	t.Parallel()
	w := newSite(t, nil)
	for _, host := range []string{"a.test", "b.test"} {
		_, err := w.s.SetBlocked(w.ctx, host, true)
		w.check(err)
	}
	for query, want := range map[string][]string{
		"trouble=1": {"a.test", "b.test"}, "trouble=1&text=B.": {"b.test"}, "text=b.": {"b.test"}, "trouble=1&text=c.": {},
	} {
		got := []string{}
		for _, h := range data[struct{ Items []struct{ Host string } }](w, "/crawls/news/hosts.json?"+query).Items {
			got = append(got, h.Host)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if body := w.html("/crawls/news/hosts?trouble=1&text=c."); !strings.Contains(body, "No host is like that.") {
		t.Error(body)
	}
}
