package activities_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/activities"
	"recrawl/internal/archive"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/urlkey"
)

func digestOf(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

func TestFetch(t *testing.T) {
	t.Parallel()
	const body = "<p>hello"
	cases := []struct {
		name    string
		answer  http.HandlerFunc
		outcome crawl.Outcome
		status  int
		problem string
		held    bool // the host is left alone for a while
	}{
		{"a page", pageOf(body), crawl.OutcomeNew, 200, "", false},
		{"not found", answering(404, body), crawl.OutcomeGone, 404, "404", false},
		{"gone", answering(410, body), crawl.OutcomeGone, 410, "410", false},
		{"forbidden", answering(403, body), crawl.OutcomeFailed, 403, "403", false},
		{"server error", answering(500, body), crawl.OutcomeFailed, 500, "500 Internal Server Error", false},
		{"throttled", answering(429, body), crawl.OutcomeThrottled, 429, "429", true},
		{"unavailable", answering(503, body), crawl.OutcomeThrottled, 503, "503", true},
		{"redirected", answering(302, body, "Location: /there/../else#part"), crawl.OutcomeRedirected, 302, "", false},
		{"redirected nowhere", answering(302, body), crawl.OutcomeFailed, 302, "without a place to go to", false},
		{"too large, and says so", answering(200, strings.Repeat("x", 2000), "Content-Type: text/html"), crawl.OutcomeTooLarge, 200, "larger than 1KiB", false},
		{"too large, and does not say so", endless, crawl.OutcomeTooLarge, 200, "larger than 1KiB", false},
		{"another type", answering(200, "GIF", "Content-Type: image/gif"), crawl.OutcomeUnsupported, 200, "image/gif", false},
		{"broken off", brokenOff, crawl.OutcomeFailed, 200, "closed the connection", false},
		{"no answer", hangUp, crawl.OutcomeFailed, 0, "closed the connection", false},
		{"not modified since never", answering(304, ""), crawl.OutcomeFailed, 304, "without a condition", false},
	}
	sites := make([]*site, len(cases))
	urls := make([]string, len(cases))
	for i, c := range cases {
		sites[i] = serve(t, c.answer)
		urls[i] = sites[i].url + "/page"
	}
	shared := newWorld(t)
	pages := shared.living(urls, func(spec *crawl.Spec) { spec.Fetch.MaxBody = 1 << 10 })
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w, page := shared.in(t), pages[i]
			before := must[time.Time](t)(w.store.Now(t.Context()))
			out, err := w.fetch(page, 1)
			if failed := err != nil; failed != (c.outcome == crawl.OutcomeFailed || c.outcome == crawl.OutcomeThrottled) {
				t.Errorf("error %v of a fetch that came to %s", err, c.outcome)
			}
			if err != nil {
				wantError(t, err, contract.ErrTypeFetchFailed, false, c.problem)
			}
			out = w.fetched(out, err)
			if out.Outcome != c.outcome || out.Status != c.status || !strings.Contains(out.Problem, c.problem) || c.problem == "" && out.Problem != "" {
				t.Errorf("fetched %+v, want %s, status %d, problem %q", out, c.outcome, c.status, c.problem)
			}
			if out.At.Before(before) || out.Duration <= 0 || out.NotBegun || out.Recorded {
				t.Errorf("fetched %+v", out)
			}
			checkContent(t, out, c.outcome == crawl.OutcomeNew, body)
			host := w.host(page)
			if host.InFlight || host.Waiting != 0 {
				t.Error("the permit was not given back")
			}
			if held := host.BackoffUntil.Sub(before) > 50*time.Second; held != c.held {
				t.Errorf("the host is left alone until %s", host.BackoffUntil)
			}
			sites[i].wantRequests(t, "/page")
		})
	}
	if contents, temporary := shared.archived(); contents != 1 || temporary != 0 {
		t.Errorf("%d contents and %d temporary files in the archive, want the one page", contents, temporary)
	}
	if ok := must[bool](t)(shared.archive.Has(t.Context(), digestOf(body))); !ok {
		t.Error("the page is not in the archive")
	}
}

func checkContent(t *testing.T, out contract.FetchOut, content bool, body string) {
	t.Helper()
	want := contract.FetchOut{}
	if content {
		want = contract.FetchOut{
			Differs: true, Bytes: int64(len(body)), Size: int64(len(body)), Digest: digestOf(body),
			ContentType: "text/html; charset=utf-8", Validators: true,
		}
	}
	if out.Differs != want.Differs || out.Digest != want.Digest || out.ContentType != want.ContentType || out.Validators != want.Validators ||
		content && (out.Size != want.Size || out.Bytes != want.Bytes) {
		t.Errorf("content %+v, want %+v", out, want)
	}
}

// endless answers with a body larger than the limit in pieces.
func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	for range 8 {
		_, _ = io.WriteString(w, strings.Repeat("x", 256))
		_ = http.NewResponseController(w).Flush()
	}
}

func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// silent gives no answer until the client goes away.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestFetchKeepsItsTimeLimit(t *testing.T) {
	t.Parallel()
	var w *world
	var s *site
	var page crawl.PageRef
	var err error
	// A busy machine may take longer than the first limit to make the request.
	for limit := time.Second; s == nil || len(s.requests()) == 0; limit *= 2 {
		w, s = newWorld(t), serve(t, silent)
		page = w.living([]string{s.url + "/"}, func(spec *crawl.Spec) { spec.Fetch.TimeLimit = crawl.Duration(limit) })[0]
		_, err = w.fetch(page, 1)
	}
	wantError(t, err, contract.ErrTypeFetchFailed, false, "no answer within")
	if out := w.fetched(contract.FetchOut{}, err); out.Outcome != crawl.OutcomeTimedOut {
		t.Errorf("fetched %+v, want it ended at its limit", out)
	}
	if w.host(page).InFlight {
		t.Error("the permit was not given back")
	}
	s.wantRequests(t, "/")
}

func TestFetchStoresARedirect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, answering(301, "", "Location: /there/../else#part"))
	out := w.fetched(w.fetch(w.living([]string{s.url + "/"})[0], 1))
	if out.Location != s.url+"/else" {
		t.Errorf("redirected to %q, want the canonical target", out.Location)
	}
	s.wantRequests(t, "/")
}

// A redirect to a page that is forgotten, by its URL or with its host, is one to nowhere: no
// history names the page. The spelling says nothing of it either.
func TestFetchLeavesAForgottenTargetOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target store.Target
		to     string
	}{
		"its URL":            {store.Target{URL: "http://gone.test/secret?a"}, "http://gone.test/secret?a"},
		"another spelling":   {store.Target{URL: "http://gone.test/se%20cret"}, "http://gone.test/se+cret/../se%20cret"},
		"its host":           {store.Target{Host: "gone.test"}, "http://gone.test/%73ecret"},
		"on the page's site": {store.Target{URL: "/secret"}, "/secret"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, answering(301, "", "Location: "+c.to))
			page := w.living([]string{s.url + "/"})[0]
			if strings.HasPrefix(c.target.URL, "/") {
				c.target.URL = s.url + c.target.URL
			}
			must[store.ForgetResult](t)(w.store.Forget(t.Context(), store.ForgetParams{Target: c.target}))
			out := w.finished(page, 1)
			if out.Outcome != crawl.OutcomeRedirected || out.Location != "" || out.Spelling != "" || out.Respelled {
				t.Errorf("fetched %+v, want a redirect to nowhere", out)
			}
			if text := string(encode(t, out)); strings.Contains(text, "secret") || strings.Contains(text, "gone.test") {
				t.Errorf("the result names it: %s", text)
			}
			if w.host(page).InFlight {
				t.Error("the permit was not given back")
			}
			plan := run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1, Fetch: out})
			if record := w.page(page.URL); plan.Outcome != crawl.OutcomeRedirected || record.State != crawl.Redirect {
				t.Errorf("planned %+v for a page that is %s", plan, record.State)
			}
		})
	}
}

// A store that does not say whether the target is forgotten costs the visit its result, and
// the permit is given back.
func TestFetchWithoutAnAnswerAboutItsTarget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *parts) { p.store = &unsure{p.store} })
	s := serve(t, answering(301, "", "Location: /else"))
	page := w.living([]string{s.url + "/"})[0]
	_, err := w.fetch(page, 1)
	wantError(t, err, contract.ErrTypeStoreUnavailable, true, "no answer")
	if w.host(page).InFlight {
		t.Error("the permit was not given back")
	}
}

// unsure is a store that cannot say what is forgotten.
type unsure struct{ store.Store }

func (*unsure) Forgotten(context.Context, string) (bool, error) {
	return false, fmt.Errorf("no answer: %w", store.ErrUnavailable)
}

func TestFetchOfARefusedConnection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{unreached + "/"})[0]
	_, err := w.fetch(page, 1)
	wantError(t, err, contract.ErrTypeFetchFailed, false, "refused the connection")
	if out := w.fetched(contract.FetchOut{}, err); out.Outcome != crawl.OutcomeFailed || out.Status != 0 {
		t.Errorf("fetched %+v", out)
	}
	if w.host(page).InFlight {
		t.Error("the permit was not given back")
	}
}

// A visit sends the conditions of the last content, and a 304 keeps the headers
// that it does not repeat.
func TestFetchIsConditional(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const modified = "Sat, 21 Nov 2026 10:00:00 GMT"
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == "" {
			answering(200, "<p>hello", "Content-Type: text/html", `ETag: "1"`, "Last-Modified: "+modified)(rw, r)
			return
		}
		answering(304, "", `ETag: W/"1"`)(rw, r)
	})
	page := w.living([]string{s.url + "/"})[0]
	w.visit(page, 1)
	out := w.fetched(w.fetch(page, 2))
	if out.Outcome != crawl.OutcomeUnchanged || out.Status != 304 || out.Differs || out.Digest != digestOf("<p>hello") {
		t.Errorf("fetched %+v, want the last version unchanged", out)
	}
	if !out.Validators || out.ETag != `W/"1"` || out.LastModified != modified {
		t.Errorf("validators %t %q %q", out.Validators, out.ETag, out.LastModified)
	}
	run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 2, Fetch: out})
	if out := w.fetched(w.fetch(page, 3)); out.Validators {
		t.Errorf("the same validators are stored again: %+v", out)
	}
	for n, want := range []struct{ etag, since string }{{}, {`"1"`, modified}, {`W/"1"`, modified}} {
		if h := s.header(n); h.Get("If-None-Match") != want.etag || h.Get("If-Modified-Since") != want.since {
			t.Errorf("request %d: If-None-Match %q, If-Modified-Since %q", n+1, h.Get("If-None-Match"), h.Get("If-Modified-Since"))
		}
	}
	s.wantRequests(t, "/", "/", "/")
}

// A server that compares only dates answers 304 for another version. Its validators do not
// become ours: the next visit asks for the whole page, and finds the change.
func TestNotModifiedOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const modified = "Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT"
	var visits atomic.Int32
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		version := min(visits.Add(1), 2)
		tag := fmt.Sprintf("ETag: \"%d\"", version)
		if r.Header.Get("If-Modified-Since") != "" {
			answering(304, "", tag)(rw, r)
			return
		}
		answering(200, fmt.Sprintf("<p>version %d", version), "Content-Type: text/html", tag, modified)(rw, r)
	})
	page := w.living([]string{s.url + "/"})[0]
	w.visit(page, 1)
	out := w.fetched(w.fetch(page, 2))
	if out.Outcome != crawl.OutcomeUnchanged || !out.Validators || out.ETag+out.LastModified != "" {
		t.Errorf("after a 304 for another version: %+v", out)
	}
	w.plan(page, 2, out)
	record, err := w.store.Visit(t.Context(), page.PageID, 2)
	if err != nil || !slices.ContainsFunc(record.Reasons, func(r crawl.Reason) bool { return r.Code == schedule.CodeDoubted }) {
		t.Errorf("reasons %v, error %v", record.Reasons, err)
	}
	if out := w.fetched(w.fetch(page, 3)); out.Status != 200 || !out.Differs {
		t.Errorf("the change was not found: %+v", out)
	}
}

// A server that does not like our conditions, whatever it answers to them, is asked without
// them the next time.
func TestConditionsThatFail(t *testing.T) {
	t.Parallel()
	for status, outcome := range map[int]crawl.Outcome{400: crawl.OutcomeFailed, 403: crawl.OutcomeFailed, 412: crawl.OutcomeFailed, 500: crawl.OutcomeFailed, 503: crawl.OutcomeThrottled} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
				if r.Header.Get("If-None-Match") != "" {
					answering(status, "", "Retry-After: 0")(rw, r)
					return
				}
				answering(200, "<p>hello", "Content-Type: text/html", `ETag: "1"`)(rw, r)
			})
			page := w.living([]string{s.url + "/"})[0]
			w.visit(page, 1)
			out := w.fetched(w.fetch(page, 2))
			if out.Outcome != outcome || out.Status != status {
				t.Errorf("fetched %+v, want a failure", out)
			}
			w.plan(page, 2, out)
			out = w.fetched(w.fetch(page, 3))
			if out.Outcome != crawl.OutcomeUnchanged || out.Status != 200 {
				t.Errorf("asked without conditions: %+v", out)
			}
			w.plan(page, 3, out)
			if out := w.fetched(w.fetch(page, 4)); out.Status != status {
				t.Errorf("conditions are sent again after a success: %+v", out)
			}
		})
	}
}

// Without validators the digest shows that nothing changed.
func TestFetchComparesTheDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bodies := []string{"<p>one", "<p>one", "<p>two"}
	asked := make(chan string, len(bodies))
	for _, b := range bodies {
		asked <- b
	}
	s := serve(t, func(rw http.ResponseWriter, _ *http.Request) { html(rw, <-asked) })
	page := w.living([]string{s.url + "/"})[0]
	w.visit(page, 1)
	if out := w.fetched(w.fetch(page, 2)); out.Outcome != crawl.OutcomeUnchanged || out.Differs || out.Digest != digestOf("<p>one") {
		t.Errorf("the same bytes: %+v", out)
	}
	// A result that was lost is asked for again: the visit is not recorded.
	if out := w.fetched(w.fetch(page, 2)); !out.Differs || out.Digest != digestOf("<p>two") {
		t.Errorf("other bytes: %+v", out)
	}
}

func TestRetryAfterHoldsTheHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		status  int
		headers []string
	}{
		{"seconds", 429, []string{"Retry-After: 3600"}},
		{"of another refusal", 403, []string{"Retry-After: 3600"}},
		{"of a redirect", 302, []string{"Location: /c", "Retry-After: 3600"}},
		{"of a gateway", 502, []string{"Retry-After: 60 minutes"}},
		{"a date by the site's own clock", 503, []string{"Date: Mon, 02 Jan 2006 15:04:05 GMT", "Retry-After: Mon, 02 Jan 2006 16:04:05 GMT"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, answering(c.status, "", c.headers...))
			pages := w.living([]string{s.url + "/a", s.url + "/b"})
			if out := w.fetched(w.fetch(pages[0], 1)); out.RetryAfter != time.Hour {
				t.Errorf("fetched %+v, want to be asked for an hour", out)
			}
			got := w.acquire(pages[1], 1)
			if got.Answer != contract.AnswerWait || !near(got.Wait, time.Hour, 0.01) || got.Reason != "the host asked for quiet, or its connections fail" {
				t.Errorf("the host's other page: %+v, want to wait an hour", got)
			}
			s.wantRequests(t, "/a")
		})
	}
}

// Nobody waits because of a page that is not there, nor because of an error that names no time.
func TestOtherAnswersHoldNoHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		wait   string
	}{{404, "3600"}, {200, "3600"}, {500, "0"}, {403, "soon"}} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, answering(c.status, "<p>hello", "Content-Type: text/html", "Retry-After: "+c.wait))
			pages := w.living([]string{s.url + "/a", s.url + "/b"})
			w.fetch(pages[0], 1)
			if got := w.acquire(pages[1], 1); got.Reason == "the host asked for quiet, or its connections fail" {
				t.Errorf("the host's other page: %+v", got)
			}
		})
	}
}

// A page that had its host held is left alone for that long, and for eight times as
// long when it is refused again.
func TestThrottledPageIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, answering(429, ""))
	page := w.living([]string{s.url + "/"}, func(spec *crawl.Spec) {
		spec.Revisit.DefaultInterval, spec.Revisit.MinInterval = crawl.Duration(time.Second), crawl.Duration(time.Second)
	})[0]
	out := w.fetched(w.fetch(page, 1))
	if !near(out.Held, time.Minute, 0.11) {
		t.Errorf("fetched %+v, want the host held for about a minute", out)
	}
	for i, times := range []time.Duration{1, 8, 8} {
		plan := w.plan(page, i+1, out)
		if wait := plan.NextAt.Sub(plan.At); wait < times*out.Held || wait > times*out.Held*11/10 || !strings.Contains(plan.Reason, "its host was held on its account") {
			t.Errorf("refused %d times in a row: %s, in %v; the host was held for %v", i+1, plan.Reason, wait, out.Held)
		}
	}
}

func TestFetchIntroducesItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, contact, worker, agent, from string }{
		{"nobody", "", "", "recrawl/1.2.3", ""},
		{"a mail address", "me@example.com", "you@example.com", "recrawl/1.2.3 (+me@example.com)", "me@example.com"},
		{"a URL", "https://example.com/@me", "", "recrawl/1.2.3 (+https://example.com/@me)", ""},
		{"the worker's", "", "you@example.com", "recrawl/1.2.3 (+you@example.com)", "you@example.com"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(p *parts) { p.settings.Contact = c.worker })
			s := serve(t, pageOf("<p>hello"))
			page := w.living([]string{s.url + "/"}, func(spec *crawl.Spec) { spec.Identity.Contact = c.contact })[0]
			w.visit(page, 1)
			if h := s.header(0); h.Get("User-Agent") != c.agent || h.Get("From") != c.from {
				t.Errorf("User-Agent %q, From %q", h.Get("User-Agent"), h.Get("From"))
			}
		})
	}
}

// A page of the public web that leads to this machine is not followed there,
// unless the crawl names the network.
func TestFetchKeepsOutOfPrivateNetworks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		allow   []string
		outcome crawl.Outcome
		asked   []string
	}{
		{"not allowed", nil, crawl.OutcomeFailed, nil},
		{"another network is", []string{"10.0.0.0/8"}, crawl.OutcomeFailed, nil},
		{"allowed", []string{"127.0.0.0/8"}, crawl.OutcomeNew, []string{"/admin"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, pageOf("<p>secret"))
			opened := w.open([]string{"https://example.com/"}, func(spec *crawl.Spec) {
				spec.Identity.Contact, spec.Fetch.AllowNetworks, spec.Scope.Type = "me@example.com", c.allow, "any"
			})
			must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{
				CrawlID: opened.CrawlID, URLs: []store.NewURL{{URL: s.url + "/admin", Host: strings.TrimPrefix(s.url, "http://"), Level: 1}},
			}))
			w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsAllowAll, Expires: time.Hour})
			out := w.fetched(w.fetch(w.page(s.url+"/admin").PageRef, 1))
			if out.Outcome != c.outcome || out.Outcome == crawl.OutcomeFailed && !strings.Contains(out.Problem, "allow_networks") {
				t.Errorf("fetched %+v, want %s", out, c.outcome)
			}
			s.wantRequests(t, c.asked...)
		})
	}
}

// A permit that gives no right leads to no request.
func TestFetchWithoutARight(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		before func(w *world, in *contract.FetchIn)
		asked  []string
	}{
		{"begun before", func(w *world, in *contract.FetchIn) { run(w, contract.Fetch, *in) }, []string{"/"}},
		{"given back", func(w *world, in *contract.FetchIn) { run(w, contract.LeaveLine, contract.LeaveIn{Page: in.Page}) }, nil},
		{"made up", func(_ *world, in *contract.FetchIn) { in.Permit.ID++ }, nil},
		{"of another visit", func(_ *world, in *contract.FetchIn) { in.Visit++ }, nil},
		{"paused", func(w *world, _ *contract.FetchIn) { w.setState(crawl.CrawlPaused) }, nil},
		{"stopped", func(w *world, _ *contract.FetchIn) { w.setState(crawl.CrawlStopped) }, nil},
		{"page stopped", func(w *world, in *contract.FetchIn) {
			run(w, contract.LeaveLine, contract.LeaveIn{Page: in.Page, State: crawl.Stopped})
		}, nil},
		{"the worker stops", func(w *world, _ *contract.FetchIn) {
			close(w.stopping)
			w.waits(blocks)
		}, nil},
		{"the host is busy", func(w *world, _ *contract.FetchIn) { w.waits(gaveUp) }, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(p *parts) { p.store = &busyHosts{Store: p.store} })
			s := serve(t, pageOf("<p>hello"))
			page := w.living([]string{s.url + "/"})[0]
			in := contract.FetchIn{Page: page, Visit: 1, Permit: w.permit(page, 1)}
			c.before(w, &in)
			if out := run(w, contract.Fetch, in); !out.NotBegun || out.Outcome != 0 {
				t.Errorf("fetched %+v, want that it did not begin", out)
			}
			s.wantRequests(t, c.asked...)
		})
	}
}

// busyHosts is a store whose hosts may be too busy for a request to begin.
type busyHosts struct {
	store.Store
	begin func(context.Context) (store.BeginResult, error) // nil is the store's own
}

func (s *busyHosts) Begin(ctx context.Context, p store.BeginParams) (store.BeginResult, error) {
	if s.begin != nil {
		return s.begin(ctx)
	}
	return s.Store.Begin(ctx, p)
}

// waits makes the hosts of a world of busyHosts busy.
func (w *world) waits(begin func(context.Context) (store.BeginResult, error)) {
	w.store.(*busyHosts).begin = begin
}

// blocks waits for a host that does not become free.
func blocks(ctx context.Context) (store.BeginResult, error) {
	<-ctx.Done()
	return store.BeginResult{}, ctx.Err()
}

// gaveUp is the end of the patience with a host.
func gaveUp(context.Context) (store.BeginResult, error) {
	return store.BeginResult{Wait: time.Minute}, nil
}

// A fault of ours is no evidence about the page: it is no outcome, and the host
// is free again at once.
func TestFetchWithAFaultOfOurs(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name     string
		fault    faultyArchive
		failures int // of the host, in a row: a request that was not made is no answer
		asked    []string
	}{
		{"no file", faultyArchive{create: true}, 1, nil},
		{"disk full", faultyArchive{write: true}, 0, []string{"/"}},
		{"not durable", faultyArchive{commit: true}, 0, []string{"/"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(p *parts) {
				c.fault.Store = p.archive
				p.archive = c.fault
			})
			s := serve(t, pageOf("<p>hello"))
			page := w.living([]string{s.url + "/"})[0]
			failed := w.permit(page, 1)
			must[store.BeginResult](t)(w.store.Begin(t.Context(), store.BeginParams{Permit: failed, Page: page, Visit: 1}))
			must[store.GateEffects](t)(w.store.Release(t.Context(), store.ReleaseParams{Permit: failed, Answer: store.HostFailed}))
			_, err := w.fetch(page, 1)
			wantError(t, err, contract.ErrTypeStoreUnavailable, true, "disk full")
			if host := w.host(page); host.InFlight || !host.BackoffUntil.IsZero() || host.Failures != c.failures {
				t.Errorf("the host after our fault: %+v", host)
			}
			if contents, temporary := w.archived(); contents+temporary != 0 {
				t.Errorf("%d contents and %d temporary files in the archive", contents, temporary)
			}
			s.wantRequests(t, c.asked...)
		})
	}
}

var errDisk = errors.New("disk full")

// faultyArchive fails at one of its steps.
type faultyArchive struct {
	archive.Store
	create, write, commit bool
}

func (a faultyArchive) Create(ctx context.Context) (archive.Writer, error) {
	if a.create {
		return nil, errDisk
	}
	w, err := a.Store.Create(ctx)
	return faultyWriter{w, a}, err
}

type faultyWriter struct {
	archive.Writer
	of faultyArchive
}

func (w faultyWriter) Write(p []byte) (int, error) {
	if w.of.write {
		return 0, errDisk
	}
	return w.Writer.Write(p)
}

func (w faultyWriter) Commit() (string, int64, error) {
	if w.of.commit {
		return "", 0, errDisk
	}
	return w.Writer.Commit()
}

// A fetch that is cancelled still gives its permit back.
func TestFetchCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var cancel context.CancelFunc
	w.background, cancel = context.WithCancel(t.Context())
	defer cancel()
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	page := w.living([]string{s.url + "/"})[0]
	if out, err := w.fetch(page, 1); err == nil {
		t.Errorf("fetched %+v, want an error", out)
	}
	if host := w.host(page); host.InFlight || !host.BackoffUntil.IsZero() {
		t.Errorf("the host after a cancelled fetch: %+v", host)
	}
	s.wantRequests(t, "/")
}

// Whatever the outcome of a visit: once it is recorded, no activity asks the site
// again, and all return the decision made then.
func TestRecordedVisitMakesNoRequest(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		answer http.HandlerFunc
	}{
		{"new", pageOf("<p>hello<a href=/a>a</a>")},
		{"gone", answering(404, "")},
		{"failed", answering(500, "")},
		{"throttled", answering(429, "", "Retry-After: 60")},
		{"redirected", answering(301, "", "Location: /else")},
		{"too large", endless},
	}
	urls := make([]string, len(cases))
	sites := make([]*site, len(cases))
	for i, c := range cases {
		sites[i] = serve(t, c.answer)
		urls[i] = sites[i].url + "/"
	}
	shared := newWorld(t)
	pages := shared.living(urls, func(spec *crawl.Spec) { spec.Fetch.MaxBody = 1 << 10 })
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w, page := shared.in(t), pages[i]
			permit := w.permit(page, 1)
			in := contract.PlanIn{Page: page, Visit: 1}
			in.Fetch = w.fetched(try(w, contract.Fetch, contract.FetchIn{Page: page, Visit: 1, Permit: permit}))
			if in.Fetch.Differs {
				in.Fetch.Outcome = run(w, contract.DetectChange, contract.DetectIn{Page: page, Visit: 1, Fetch: in.Fetch}).Outcome
			}
			want := run(w, contract.PlanRevisit, in)
			if out := run(w, contract.Fetch, contract.FetchIn{Page: page, Visit: 1, Permit: permit}); !reflect.DeepEqual(out, contract.FetchOut{Recorded: true}) {
				t.Errorf("Fetch again: %+v", out)
			}
			in.Fetch.Outcome, in.Fetch.Status = crawl.OutcomeFailed, 500
			if got := run(w, contract.PlanRevisit, in); got != want {
				t.Errorf("PlanRevisit again, of another outcome:\n%+v, want\n%+v", got, want)
			}
			want.Room, want.Refill = false, false
			if got := w.acquire(page, 1); got.Answer != contract.AnswerRecorded || got.Recorded == nil || *got.Recorded != want {
				t.Errorf("Acquire again: %+v, want\n%+v", got.Recorded, want)
			}
			if record := w.page(page.URL); record.Visits != 1 {
				t.Errorf("%d visits", record.Visits)
			}
			sites[i].wantRequests(t, "/")
		})
	}
}

// A site's wish for a pause survives an outage of the store if the permit does.
func TestReleaseOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *parts) { p.store = &briefOutage{Store: p.store, releases: 4} })
	s := serve(t, answering(503, "no", "Retry-After: 7200"))
	page := w.living([]string{s.url + "/"})[0]
	before := must[time.Time](t)(w.store.Now(t.Context()))
	out := w.fetched(w.fetch(page, 1))
	if out.Outcome != crawl.OutcomeThrottled {
		t.Errorf("fetched %+v, want it throttled", out)
	}
	if host := w.host(page); host.InFlight || host.BackoffUntil.Sub(before) < 2*time.Hour {
		t.Errorf("the host after the outage: %+v, want it left alone for two hours", host)
	}
}

// TestWishOutlivesItsPermit: a site's wish for a pause is heeded also if the store was away for longer
// than the permit lived. Every page of the site was once asked for when the store was back.
func TestWishOutlivesItsPermit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ robots, terms, domains bool }{
		"a page": {}, "a robots.txt": {robots: true}, "a tdmrep.json": {terms: true}, "a page, hosts by domain": {domains: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			away := &longOutage{told: make(chan struct{}, 10)}
			w := newWorld(t, func(p *parts) {
				if c.domains {
					options := sqlite.Options{Owner: true, Grouping: urlkey.ByDomain}
					p.store = must[store.Store](t)(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "domains.db"), options))
					t.Cleanup(func() { p.store.Close() })
				}
				away.Store, p.store = p.store, away
				p.fetcher = patient{p.fetcher}
			})
			t.Cleanup(w.activities.Close)
			s := serve(t, answering(503, "no", "Retry-After: 7200"))
			var change []func(*crawl.Spec)
			if c.terms {
				change = append(change, aim(crawl.UseAITrain))
			}
			pages := w.living([]string{s.url + "/", s.url + "/other"}, change...)
			if c.robots {
				w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsAllowAll, Status: 404, Expires: -time.Hour})
			}
			before := must[time.Time](t)(w.store.Now(t.Context()))
			permit := w.acquire(pages[0], 1).Permit
			permit.Lifetime = time.Millisecond
			away.is.Store(true)
			if c.robots || c.terms {
				if out, err := try(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: pages[0], Visit: 1, Permit: permit}); err == nil {
					t.Errorf("%s was refreshed: %+v", name, out)
				}
			} else if out := w.fetched(try(w, contract.Fetch, contract.FetchIn{Page: pages[0], Visit: 1, Permit: permit})); out.Outcome != crawl.OutcomeThrottled {
				t.Errorf("fetched %+v, want it throttled", out)
			}
			_, err := try(w, contract.Acquire, contract.AcquireIn{Page: pages[1], Visit: 1, Class: crawl.ClassRevisit})
			if err == nil || application(t, err).Type() != contract.ErrTypeStoreUnavailable {
				t.Errorf("while the store does not know of the wish: %v", err)
			}
			away.is.Store(false)
			select {
			case <-away.told: // by itself
			case <-time.After(5 * time.Minute):
				t.Fatal("the store was never told")
			}
			if until := w.host(pages[0]).BackoffUntil; until.Sub(before) < 7100*time.Second || until.Sub(before) > 7300*time.Second {
				t.Errorf("the host is left alone until %s, asked for at %s", until, before)
			}
			if got := w.acquire(pages[1], 1); got.Answer != contract.AnswerWait || got.Wait < time.Hour {
				t.Errorf("another page of the host: %+v, want it to wait", got)
			}
		})
	}
}

// longOutage is a store that cannot be told how requests ended while it is away.
type longOutage struct {
	store.Store
	is   atomic.Bool
	told chan struct{}
}

func (s *longOutage) SaveRobots(ctx context.Context, p store.SaveRobotsParams) error {
	if s.is.Load() {
		return fmt.Errorf("save: %w", store.ErrUnavailable)
	}
	return s.Store.SaveRobots(ctx, p)
}

func (s *longOutage) SaveTerms(ctx context.Context, p store.SaveTermsParams) error {
	if s.is.Load() {
		return fmt.Errorf("save: %w", store.ErrUnavailable)
	}
	return s.Store.SaveTerms(ctx, p)
}

func (s *longOutage) Release(ctx context.Context, p store.ReleaseParams) (store.GateEffects, error) {
	if s.is.Load() {
		return store.GateEffects{}, fmt.Errorf("release: %w", store.ErrUnavailable)
	}
	effects, err := s.Store.Release(ctx, p)
	s.told <- struct{}{}
	return effects, err
}

// patient is a fetcher that gives requests all the time that they need.
type patient struct{ activities.Fetcher }

func (p patient) Do(ctx context.Context, req fetch.Request, sink io.Writer) fetch.Result {
	req.Deadline = time.Now().Add(time.Hour)
	return p.Fetcher.Do(ctx, req, sink)
}

// briefOutage is a store that a number of times does not answer when it is told how
// a request ended.
type briefOutage struct {
	store.Store
	saves, releases int
}

func (s *briefOutage) SaveRobots(ctx context.Context, p store.SaveRobotsParams) error {
	if s.saves--; s.saves >= 0 {
		return fmt.Errorf("save: %w", store.ErrUnavailable)
	}
	return s.Store.SaveRobots(ctx, p)
}

func (s *briefOutage) Release(ctx context.Context, p store.ReleaseParams) (store.GateEffects, error) {
	if s.releases--; s.releases >= 0 {
		return store.GateEffects{}, fmt.Errorf("release: %w", store.ErrUnavailable)
	}
	return s.Store.Release(ctx, p)
}
