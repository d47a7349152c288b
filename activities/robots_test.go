package activities_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"recrawl/activities"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/robots"
	"recrawl/internal/store"
)

// refreshed lets a page fetch its origin's robots.txt, as its workflow does, and
// returns the stored record.
func (w *world) refreshed(page crawl.PageRef) (store.RobotsRecord, string) {
	w.t.Helper()
	got := w.acquire(page, 1)
	if got.Answer != contract.AnswerRobots {
		w.t.Fatalf("answer %+v, want a robots permit", got)
	}
	out := run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: 1, Permit: got.Permit})
	return must[store.RobotsRecord](w.t)(w.store.Robots(w.t.Context(), originOf(page.URL))), out.Summary
}

// answering answers with a status, headers ("Name: value") and a body.
func answering(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// brokenOff answers with less of a body than it has promised.
func brokenOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, "User-agent: *\nAllow: /\n")
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// A robots.txt that was fetched is not requested again because the store was away
// for a moment; the gap that it asks for would not be known yet.
func TestRobotsOutliveAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *parts) { p.store = &briefOutage{Store: p.store, saves: 2, releases: 2} })
	s := serve(t, answering(200, "User-agent: *\nCrawl-delay: 7\n"))
	w.open([]string{s.url + "/"})
	page := w.page(s.url + "/").PageRef
	if got, _ := w.refreshed(page); got.State != store.RobotsParsed {
		t.Errorf("stored %+v", got)
	}
	if host := w.host(page); host.InFlight || host.CrawlDelay != 7*time.Second {
		t.Errorf("the host after the outage: %+v", host)
	}
}

// As long as a robots.txt cannot be stored, its permit is not given back: otherwise
// the next page would keep the wrong gap.
func TestRobotsThatCannotBeStoredHoldTheHost(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	w := newWorld(t, func(p *parts) { p.store = unsaving{p.store, broken} })
	s := serve(t, answering(200, "User-agent: *\nCrawl-delay: 7\n"))
	w.open([]string{s.url + "/"})
	page := w.page(s.url + "/").PageRef
	_, err := try(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: 1, Permit: w.acquire(page, 1).Permit})
	if err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("error %v", err)
	}
	if !w.host(page).InFlight {
		t.Error("the permit was given back")
	}
}

// unsaving is a store that cannot store a robots.txt.
type unsaving struct {
	store.Store
	err error
}

func (s unsaving) SaveRobots(context.Context, store.SaveRobotsParams) error { return s.err }

func TestRefreshRobots(t *testing.T) {
	t.Parallel()
	const file = "User-agent: *\nDisallow: /private\nCrawl-delay: 7\nSitemap: https://example.com/map.xml\n"
	cases := []struct {
		name    string
		answer  http.HandlerFunc
		state   store.RobotsState
		status  int
		text    string
		fresh   time.Duration // and up to a tenth more
		problem string
		summary string
	}{
		{
			"a file", answering(200, file), store.RobotsParsed, 200, file, day, "",
			fmt.Sprintf("%d bytes", len(file)),
		},
		{"an empty file", answering(200, ""), store.RobotsParsed, 200, "", day, "", "0 bytes"},
		{"not found", answering(404, "no"), store.RobotsAllowAll, 404, "", day, "", "everything is allowed"},
		{"forbidden", answering(403, "no"), store.RobotsAllowAll, 403, "", day, "", "everything is allowed"},
		{"server error", answering(500, "no"), store.RobotsUnreachable, 500, "", time.Minute, "500", "nothing is fetched"},
		{
			"unavailable for two hours", answering(503, "no", "Retry-After: 7200"),
			store.RobotsUnreachable, 503, "", 2 * time.Hour, "503", "tried again in 2h",
		},
		{
			"throttled for a year", answering(429, "no", "Retry-After: 31536000"),
			store.RobotsUnreachable, 429, "", day, "429", "tried again in 1d",
		},
		{"broken off", brokenOff, store.RobotsUnreachable, 200, "", time.Minute, "closed the connection", "nothing is fetched"},
		{
			"redirected", answering(301, "", "Location: http://elsewhere.localhost/robots.txt"),
			store.RobotsRedirected, 301, "", time.Hour, "it redirects to http://elsewhere.localhost/robots.txt", "is at http://elsewhere.localhost/robots.txt",
		},
		{
			"redirected, and later", answering(301, "", "Location: http://elsewhere.localhost/robots.txt", "Retry-After: 7200"),
			store.RobotsRedirected, 301, "", 3 * time.Hour, "it redirects to http://elsewhere.localhost/robots.txt", "is at",
		},
		{
			"redirected beyond this machine, without a contact", answering(301, "", "Location: https://elsewhere.example/robots.txt"),
			store.RobotsUnreachable, 301, "", time.Minute, "no contact", "nothing is fetched",
		},
		{"a part of a file", answering(206, file), store.RobotsUnreachable, 206, "", time.Minute, "a part", "nothing is fetched"},
		{"not modified", answering(304, ""), store.RobotsUnreachable, 304, "", time.Minute, "without a condition", "nothing is fetched"},
		{"a difference", answering(226, file), store.RobotsUnreachable, 226, "", time.Minute, "226", "nothing is fetched"},
		{"use a proxy", answering(305, "", "Location: http://elsewhere.localhost/"), store.RobotsUnreachable, 305, "", time.Minute, "305", "nothing is fetched"},
		{"no content", answering(204, ""), store.RobotsParsed, 204, "", day, "", "0 bytes"},
		{"redirected nowhere", answering(301, ""), store.RobotsAllowAll, 301, "", day, "", "everything is allowed"},
		{"redirected to itself", answering(301, "", "Location: /robots.txt"), store.RobotsAllowAll, 301, "", day, "", "everything is allowed"},
	}
	sites := make([]*site, len(cases))
	var seeds []string
	for i, c := range cases {
		sites[i] = serve(t, c.answer)
		seeds = append(seeds, sites[i].url+"/")
	}
	shared := newWorld(t)
	shared.open(seeds, wholeMachine)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := shared.in(t)
			page := w.page(seeds[i]).PageRef
			got, summary := w.refreshed(page)
			if got.State != c.state || got.Status != c.status || got.Text != c.text {
				t.Errorf("stored state %d, status %d, text %q", got.State, got.Status, got.Text)
			}
			if fresh := got.ExpiresAt.Sub(got.FetchedAt); fresh < c.fresh || fresh > c.fresh+c.fresh/10 {
				t.Errorf("believed for %s, want %s", fresh, c.fresh)
			}
			if c.problem == "" && got.Problem != "" || !strings.Contains(got.Problem, c.problem) {
				t.Errorf("problem %q, want %q", got.Problem, c.problem)
			}
			if failed := c.state == store.RobotsUnreachable; failed != (got.Failures == 1) {
				t.Errorf("%d failures", got.Failures)
			}
			if !strings.Contains(summary, c.summary) {
				t.Errorf("summary %q, want %q", summary, c.summary)
			}
			if w.host(page).InFlight {
				t.Error("the permit was not given back")
			}
			sites[i].wantRequests(t, "/robots.txt")
		})
	}
	first := must[store.RobotsRecord](t)(shared.store.Robots(t.Context(), sites[0].url))
	if first.CrawlDelay != 7*time.Second || len(first.Sitemaps) != 1 || first.Sitemaps[0] != "https://example.com/map.xml" {
		t.Errorf("Crawl-delay %s, sitemaps %q", first.CrawlDelay, first.Sitemaps)
	}
}

func TestRefreshRobotsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open([]string{unreached + "/"})
	page := w.page(unreached + "/").PageRef
	got, _ := w.refreshed(page)
	if got.State != store.RobotsUnreachable || got.Status != 0 || !strings.Contains(got.Problem, "refused the connection") {
		t.Errorf("stored %+v", got)
	}
	if again := w.acquire(page, 1); again.Answer != contract.AnswerWait || again.Wait < 50*time.Second {
		t.Errorf("answer %+v, want to wait until robots.txt is tried again", again)
	}
}

// Each failure in a row doubles the time to the next try; an answer ends the row.
func TestRefreshRobotsAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		answer   http.HandlerFunc
		failures int
		fresh    time.Duration
	}{
		{"fails again", answering(500, ""), 4, 8 * time.Minute},
		{"redirects", answering(302, "", "Location: /r"), 3, time.Hour},
		{"is there", answering(200, "User-agent: *\nAllow: /\n"), 0, day},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, c.answer)
			w.open([]string{s.url + "/"})
			w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsUnreachable, Failures: 3, Problem: "HTTP 500"})
			got, _ := w.refreshed(w.page(s.url + "/").PageRef)
			if got.Failures != c.failures || !near(got.ExpiresAt.Sub(got.FetchedAt), c.fresh, 0.1) {
				t.Errorf("%d failures, next try after %s; want %d, %s", got.Failures, got.ExpiresAt.Sub(got.FetchedAt), c.failures, c.fresh)
			}
		})
	}
}

// Text beyond 500 KiB does not count, and neither does the line that is cut there:
// its rest would be another rule.
func TestRefreshRobotsOfAHugeFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const head, cut = "User-agent: *\nDisallow: /early\n", "Disallow: /"
	filler := strings.Repeat("#", robots.MaxBytes-len(head)-len(cut)-1) + "\n"
	s := serve(t, answering(200, head+filler+cut+"cut\nDisallow: /late\n"+filler))
	w.open([]string{s.url + "/early", s.url + "/late"})
	early, late := w.page(s.url+"/early").PageRef, w.page(s.url+"/late").PageRef
	if got, _ := w.refreshed(early); got.State != store.RobotsParsed || got.Text != head+filler {
		t.Errorf("state %d, %d bytes, want the %d before the line that is cut", got.State, len(got.Text), len(head+filler))
	}
	if answer := w.acquire(early, 1); answer.Answer != contract.AnswerExcluded {
		t.Errorf("the early rule: %+v", answer)
	}
	w.permit(late, 1)
}

// A file that takes more bytes on the wire than are read is cut there, within a line, although
// less than that counts has come: the half of a line may forbid everything.
func TestRefreshRobotsCutOnTheWire(t *testing.T) {
	t.Parallel()
	const head = "User-agent: *\nDisallow: /early\n"
	var sent bytes.Buffer
	gz := must[*gzip.Writer](t)(gzip.NewWriterLevel(&sent, gzip.NoCompression))
	must[int](t)(io.WriteString(gz, head+"Disallow: /"+strings.Repeat("x", robots.MaxBytes)))
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	s := serve(t, answering(200, sent.String(), "Content-Type: text/plain", "Content-Encoding: gzip"))
	w.open([]string{s.url + "/"})
	if got, _ := w.refreshed(w.page(s.url + "/").PageRef); got.State != store.RobotsParsed || got.Text != head {
		t.Errorf("state %d, %d bytes, want the %d before the line that is cut", got.State, len(got.Text), len(head))
	}
}

// A redirect hop is fetched under the permit of its own host, and decides for the
// origin that redirected.
func TestRefreshRobotsFollowsAHop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	there := serve(t, answering(200, "User-agent: *\nDisallow: /private\n"))
	here := serve(t, answering(302, "", "Location: "+there.url+"/central.txt"))
	w.open([]string{here.url + "/private"}, wholeMachine)
	page := w.page(here.url + "/private").PageRef
	if got, _ := w.refreshed(page); got.State != store.RobotsRedirected || got.Hops != 1 {
		t.Fatalf("stored %+v, want a redirect", got)
	}
	permit := w.acquire(page, 1).Permit
	if permit.URL != there.url+"/central.txt" || permit.HostID == w.page(page.URL).HostID {
		t.Errorf("permit %+v, want one of the other host", permit)
	}
	if got, _ := w.refreshed(page); got.State != store.RobotsParsed || got.Origin != here.url || got.Hops != 0 {
		t.Errorf("stored %+v, want the file of the hop for %s", got, here.url)
	}
	if got := w.acquire(page, 1); got.Answer != contract.AnswerExcluded {
		t.Errorf("answer %+v, want excluded", got)
	}
	here.wantRequests(t, "/robots.txt")
	there.wantRequests(t, "/central.txt")
}

func TestRefreshRobotsGivesUpAChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) })
	w.open([]string{s.url + "/"})
	page := w.page(s.url + "/").PageRef
	for range robots.MaxHops {
		if got, _ := w.refreshed(page); got.State != store.RobotsRedirected {
			t.Fatalf("stored %+v, want a redirect", got)
		}
	}
	if got, _ := w.refreshed(page); got.State != store.RobotsAllowAll {
		t.Errorf("after %d hops: %+v, want everything allowed", robots.MaxHops, got)
	}
	if n := len(s.requests()); n != 1+robots.MaxHops {
		t.Errorf("%d requests", n)
	}
}

// A chain that was not followed in time starts again: the hops of its old tries do
// not count, or a slow hop would at last allow everything.
func TestRefreshRobotsBeginsAChainAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, answering(302, "", "Location: /r"))
	w.open([]string{s.url + "/"})
	w.saveRobots(store.SaveRobotsParams{
		Origin: s.url, State: store.RobotsRedirected, Next: s.url + "/old", NextHost: strings.TrimPrefix(s.url, "http://"), Hops: robots.MaxHops,
	})
	if got, _ := w.refreshed(w.page(s.url + "/").PageRef); got.State != store.RobotsRedirected || got.Hops != 1 {
		t.Errorf("stored state %d, hop %d; want the first hop of a redirect", got.State, got.Hops)
	}
	s.wantRequests(t, "/robots.txt")
}

func TestRefreshRobotsWithoutARight(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		before func(w *world, page crawl.PageRef)
	}{
		{"given back", func(w *world, page crawl.PageRef) { run(w, contract.LeaveLine, contract.LeaveIn{Page: page}) }},
		{"paused", func(w *world, _ crawl.PageRef) { w.setState(crawl.CrawlPaused) }},
		{"the visit is recorded", func(w *world, page crawl.PageRef) {
			w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, answering(200, ""))
			w.open([]string{s.url + "/"})
			page := w.page(s.url + "/").PageRef
			in := contract.RefreshRobotsIn{Page: page, Visit: 1, Permit: w.acquire(page, 1).Permit}
			c.before(w, page)
			if out := run(w, contract.RefreshRobots, in); out.Summary != "not begun" {
				t.Errorf("summary %q", out.Summary)
			}
			s.wantRequests(t)
			if _, err := w.store.Robots(t.Context(), s.url); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("a robots.txt was stored (%v)", err)
			}
		})
	}
}

// other opens a second crawl of a URL that another agent makes, and returns its page.
func (w *world) other(url string, change ...func(*crawl.Spec)) crawl.PageRef {
	w.t.Helper()
	spec := specOf([]string{url}, change...)
	spec.Name = "other"
	opened := run(w, contract.OpenCrawl, contract.OpenCrawlIn{Spec: encode(w.t, spec), WorkflowID: contract.CrawlID(spec.Name)})
	run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	pages := must[[]store.PageRecord](w.t)(w.store.FindPages(w.t.Context(), url, spec.Name))
	if len(pages) != 1 {
		w.t.Fatalf("the other crawl has %d pages %s", len(pages), url)
	}
	return pages[0].PageRef
}

func slowbot(spec *crawl.Spec) { spec.Identity.Agent = "slowbot" }

// A host keeps the Crawl-delay that its robots.txt asks of another agent than that of the
// crawl which fetched the file.
func TestCrawlDelayOfAnotherAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atOnce)
	t.Cleanup(w.activities.Close)
	// Times are stored in whole microseconds, so the delay is longer than what is stored.
	s := serve(t, answering(200, "User-agent: *\nCrawl-delay: 0.001\nDisallow:\n\nUser-agent: slowbot\nCrawl-delay: 0.0100001\n"))
	w.open([]string{s.url + "/"})
	page := w.page(s.url + "/").PageRef
	if got, _ := w.refreshed(page); got.CrawlDelay != time.Millisecond {
		t.Fatalf("stored Crawl-delay %s", got.CrawlDelay)
	}
	run(w, contract.LeaveLine, contract.LeaveIn{Page: page})
	slow := w.other(s.url+"/", slowbot)
	permit := w.permit(slow, 1)
	if host := w.host(page); host.InFlight || host.CrawlDelay != 10*time.Millisecond {
		t.Errorf("in flight %v, Crawl-delay %s; want a permit that has not begun, and the agent's own delay", host.InFlight, host.CrawlDelay)
	}
	w.fetchWith(slow, 1, permit)
	w.rested(page)
	w.permit(slow, 2)
	if !w.host(page).InFlight {
		t.Error("with the delay raised, a permit of the free host did not begin at once")
	}
}

// rested waits until a page's host is free.
func (w *world) rested(page crawl.PageRef) {
	w.t.Helper()
	for w.t.Context().Err() == nil && w.host(page).NextFree.After(must[time.Time](w.t)(w.store.Now(w.t.Context()))) {
	}
}

// A permit begins at once if the file asks no longer delay of its crawl's agent than is kept.
func TestCrawlDelayThatIsKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atOnce)
	t.Cleanup(w.activities.Close)
	s := serve(t, answering(200, "User-agent: *\nCrawl-delay: 0.0100001\n"))
	w.open([]string{s.url + "/"})
	page := w.page(s.url + "/").PageRef
	w.refreshed(page)
	run(w, contract.LeaveLine, contract.LeaveIn{Page: page})
	slow := w.other(s.url+"/", slowbot)
	w.rested(page)
	w.permit(slow, 1)
	if !w.host(page).InFlight {
		t.Error("the permit did not begin at once")
	}
}

// walled lets only crawls with a certain agent reach other hosts.
type walled struct {
	activities.Fetcher
	agent string
}

func (f walled) Do(ctx context.Context, req fetch.Request, body io.Writer) fetch.Result {
	if !strings.HasPrefix(req.UserAgent, f.agent) {
		req.AllowNetworks, req.AllowAddresses = nil, nil
	}
	return f.Fetcher.Do(ctx, req, body)
}

// A crawl that may not reach a host by its own spec keeps no other crawl from it: the host's
// robots.txt has not failed, and the other crawl comes first when it is tried again.
func TestRobotsThatOneCrawlMayNotReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(p *parts) { p.fetcher = walled{p.fetcher, "slowbot"} })
	s := serve(t, answering(200, "User-agent: *\nDisallow: /private\n"))
	w.open([]string{s.url + "/"})
	page, slow := w.page(s.url+"/").PageRef, w.other(s.url+"/", slowbot)
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsUnreachable, Failures: 3, Problem: "HTTP 500"})
	got, _ := w.refreshed(page)
	if rest := got.ExpiresAt.Sub(got.FetchedAt); got.State != store.RobotsUnreachable || got.Failures != 3 || rest > time.Minute || !strings.Contains(got.Problem, "allow_networks") {
		t.Errorf("stored %+v, believed for %s", got, rest)
	}
	if host := w.host(page); host.Failures != 0 || host.Mean != 0 {
		t.Errorf("the host's own record: %+v", host)
	}
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsUnreachable, Failures: 3}) // the rest is over
	if again := w.acquire(page, 1); again.Answer != contract.AnswerWait || again.Wait < 50*time.Second {
		t.Errorf("the crawl that was refused is answered %+v, want it to wait", again)
	}
	if got, _ := w.refreshed(slow); got.State != store.RobotsParsed {
		t.Errorf("stored %+v", got)
	}
	w.permit(slow, 1)
	s.wantRequests(t, "/robots.txt")
}

// A robots.txt that redirects to an address which the crawl may not reach is asked for less and
// less often, although the host answers each time.
func TestRobotsThatRedirectOutOfReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, answering(302, "", "Location: http://10.0.0.1/robots.txt"))
	w.open([]string{s.url + "/"}, func(spec *crawl.Spec) { spec.Identity.Contact = "https://example.org/" })
	page := w.page(s.url + "/").PageRef
	w.refreshed(page)
	if got, _ := w.refreshed(page); got.State != store.RobotsUnreachable || !strings.Contains(got.Problem, "allow_networks") {
		t.Fatalf("stored %+v", got)
	}
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsUnreachable}) // the rest is over
	elsewhere := *w                                                                     // a worker that knows nothing of it
	elsewhere.activities = activities.New(storesOf(w.store), w.archive, w.fetcher, w.flows, w.settings, slog.New(slog.DiscardHandler))
	permit := elsewhere.acquire(page, 1).Permit
	run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: 1, Permit: permit})
	if again := w.acquire(page, 1); again.Answer != contract.AnswerWait || again.Wait < 50*time.Second {
		t.Errorf("answer %+v, want to wait as before", again)
	}
	s.wantRequests(t, "/robots.txt", "/robots.txt")
}
