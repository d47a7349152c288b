package e2e

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
)

const (
	outagePages = 7
	outageGap   = 20 * time.Millisecond
)

// ailingSite is a tree of which one path answers otherwise while the site is ill.
type ailingSite struct {
	*site
	ill atomic.Bool
}

func serveAiling(t *testing.T, path string, illness http.HandlerFunc) *ailingSite {
	t.Helper()
	a, healthy := &ailingSite{}, tree(outagePages)
	a.site = serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path && a.ill.Load() {
			illness(w, r)
			return
		}
		healthy.ServeHTTP(w, r)
	}))
	return a
}

// host is the site's name in `starter hosts`.
func (s *site) host() string { return strings.TrimPrefix(s.url, "http://") }

func answers(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

func neverAnswers(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func resetsConnection(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// outageArgs crawl the sites and visit their pages again all the time, so that a
// host that is left alone and one that is not can be told apart.
func outageArgs(sites ...*site) []string {
	args := append([]string{"--name", "t", "--time-limit", "2s"}, crawlSettings(outageGap.String())...)
	args = append(args, "--default-interval", "5s")
	for _, s := range sites {
		args = append(args, s.url+"/")
	}
	return args
}

// goesOn waits for some more visits of a site.
func (d *dev) goesOn(s *site) {
	d.t.Helper()
	before := len(s.requests())
	d.eventually(2*time.Minute, "a healthy host is visited meanwhile", func() bool { return len(s.requests()) >= before+outagePages })
}

// promises are when the hosts in trouble may be asked again, as the store has it.
func (d *dev) promises(crawl string) map[string]time.Time {
	d.t.Helper()
	all := map[string]time.Time{}
	for _, h := range lines[hostLine](d, "--output", "json", "hosts", crawl) {
		until := h.BackoffUntil
		for _, r := range h.Robots {
			if r.State == "unreachable" && r.Expires.After(until) {
				until = r.Expires
			}
		}
		all["http://"+h.Host] = until
	}
	return all
}

// killedPromises kills everything with kill -9, starts again, and checks that what
// was promised to the sites is promised still, as far as it is not over.
func (d *dev) killedPromises(crawl string, sites []*ailingSite, promises map[string]time.Time) {
	d.t.Helper()
	d.killAll()
	d.start()
	again := d.promises(crawl)
	now := time.Now()
	for _, s := range sites {
		if promises[s.url].After(now) && !again[s.url].Equal(promises[s.url]) {
			d.t.Errorf("%s was to be asked again at %s; after kill -9, at %s", s.url, promises[s.url], again[s.url])
		}
	}
}

// expireRobots ends the day for which a robots.txt is believed, in the store of a
// data folder that nobody uses.
func expireRobots(t *testing.T, data string, s *site) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(data, "recrawl.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.SaveRobots(t.Context(), store.SaveRobotsParams{Origin: s.url, State: store.RobotsAllowAll, Status: 404}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestRobotsOutage: hosts whose robots.txt cannot be had, in one crawl with a
// healthy one. The short form takes 75 s, nearly all of it waiting: the first
// back-off is a minute, which is no setting. The long form has a second one.
func TestRobotsOutage(t *testing.T) {
	t.Parallel()
	attempts := 1
	if os.Getenv("RECRAWL_LONG") != "" {
		attempts = 2
	}
	outages := []struct {
		name, problem string
		illness       http.HandlerFunc
	}{
		{"500 after a good crawl", "the server answered 500", answers(http.StatusInternalServerError)},
		{"503", "the server answered 503", answers(http.StatusServiceUnavailable)},
		{"429", "the server answered 429", answers(http.StatusTooManyRequests)},
		{"silence", "no answer within", neverAnswers},
		{"reset", "the host reset the connection", resetsConnection},
	}
	var ill []*ailingSite
	healthy := serve(t, tree(outagePages))
	all := []*site{healthy}
	for _, o := range outages {
		s := serveAiling(t, "/robots.txt", o.illness)
		ill, all = append(ill, s), append(all, s.site)
	}

	data := filepath.Join(t.TempDir(), "data")
	known := ill[0]
	d := startDev(t, data, outageArgs(healthy, known.site)...)
	d.eventually(2*time.Minute, "the good crawl", d.crawled("t", 2*outagePages, 1))
	d.stop()
	expireRobots(t, data, known.site)
	before := len(known.requests())
	for _, s := range ill {
		s.ill.Store(true)
	}
	d.args = outageArgs(all...)
	d.start()

	promises := make([]map[string]time.Time, attempts)
	for attempt := range attempts {
		d.eventually(5*time.Minute, "each robots.txt was tried and has a time when it is tried again", func() bool {
			promises[attempt] = d.promises("t")
			for _, s := range ill {
				if p := promises[attempt][s.url]; p.IsZero() || attempt > 0 && !p.After(promises[attempt-1][s.url]) {
					return false
				}
			}
			return true
		})
		hosts := d.must("hosts", "t")
		for i, o := range outages {
			wantLine(t, hosts, ill[i].host(), "unreachable: "+o.problem, ", tried again in ")
			explained := d.must("explain", ill[i].url+"/")
			wantLine(t, explained, "workflow ", "robots.txt cannot be had, so everything is disallowed")
			wantLine(t, explained, "robots ", "robots.txt cannot be had: "+o.problem, ", tried again in ")
		}
		d.goesOn(healthy)
		d.killedPromises("t", ill, promises[attempt])
		d.goesOn(healthy)
	}
	for _, s := range ill {
		s.ill.Store(false)
	}
	d.eventually(3*time.Minute, "the crawl goes on by itself", d.crawled("t", outagePages*len(all), 1))
	d.eventually(3*time.Minute, "so does the host that was known", func() bool {
		return len(known.requests()) >= before+attempts+1+outagePages
	})
	d.stop()
	healthy.checkPolite(t, outageGap)
	for i, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			log := ill[i].requests()
			if ill[i] == known {
				log = log[before:]
			}
			checkOutage(t, log, ill[i].url, promises)
			ill[i].checkPolite(t, outageGap)
		})
	}
}

// checkOutage checks the log of a host from the begin of its outage: robots.txt is
// tried until it can be had, never before the time that was promised, nor within a
// minute; and no page before that.
func checkOutage(t *testing.T, log []request, url string, promises []map[string]time.Time) {
	t.Helper()
	tries := 0
	for tries < len(log) && log[tries].path == "/robots.txt" {
		tries++
	}
	if tries <= len(promises) || tries == len(log) {
		t.Fatalf("%d of %d requests, from the first on, were for robots.txt; want at least %d, and pages", tries, len(log), len(promises)+1)
	}
	for _, r := range log[tries:] {
		if r.path == "/robots.txt" {
			t.Error("robots.txt was asked for again after it was had")
		}
	}
	for i, r := range log[1:tries] {
		due := log[i].end.Add(time.Minute)
		if i < len(promises) && promises[i][url].After(due) {
			due = promises[i][url]
		}
		if r.begin.Before(due) {
			t.Errorf("try %d came %s too early", i+2, due.Sub(r.begin))
		}
	}
}

// wantLine wants a line that begins with a word and has all the parts.
func wantLine(t *testing.T, text, start string, parts ...string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, start) {
			continue
		}
		for _, part := range parts {
			if !strings.Contains(line, part) {
				t.Errorf("%q is missing in %q", part, line)
			}
		}
		return
	}
	t.Errorf("no line begins with %q:\n%s", start, text)
}

// throttledSite is a site that asks for quiet at the first request for one of its
// pages.
type throttledSite struct {
	*ailingSite
	until atomic.Pointer[time.Time] // what was asked for
}

const throttledPage = "/p2.html"

func serveThrottled(t *testing.T, status int, quiet time.Duration, header func(now time.Time) string) *throttledSite {
	t.Helper()
	s := &throttledSite{}
	s.ailingSite = serveAiling(t, throttledPage, func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now()
		until := now.Add(quiet)
		s.until.Store(&until)
		s.ill.Store(false)
		w.Header().Set("Retry-After", header(now))
		w.WriteHeader(status)
	})
	s.ill.Store(true)
	return s
}

// checkQuiet checks that the site asked for quiet once and got it.
func (s *throttledSite) checkQuiet(t *testing.T) {
	t.Helper()
	asked := 0
	for _, r := range s.requests() {
		if r.status >= 400 && r.path == throttledPage {
			asked++
			continue
		}
		if asked > 0 && r.begin.Before(*s.until.Load()) {
			t.Errorf("%s came %s too early", r.path, s.until.Load().Sub(r.begin))
		}
	}
	if asked != 1 {
		t.Errorf("%d requests were throttled, want 1", asked)
	}
}

// TestRetryAfterHeld: one page's Retry-After, in seconds or as a date, holds its
// host, and only that, through kill -9 of everything.
func TestRetryAfterHeld(t *testing.T) {
	t.Parallel()
	quiet := 30 * time.Second
	if os.Getenv("RECRAWL_LONG") != "" {
		quiet = 120 * time.Second
	}
	throttled := []*throttledSite{
		serveThrottled(t, http.StatusTooManyRequests, quiet, func(time.Time) string { return strconv.Itoa(int(quiet.Seconds())) }),
		// A date has whole seconds; this is the first one that is not too early.
		serveThrottled(t, http.StatusServiceUnavailable, quiet, func(now time.Time) string {
			return now.Add(quiet + time.Second).UTC().Format(http.TimeFormat)
		}),
	}
	healthy := serve(t, tree(outagePages))
	ill := []*ailingSite{throttled[0].ailingSite, throttled[1].ailingSite}
	d := startDev(t, filepath.Join(t.TempDir(), "data"), outageArgs(healthy, ill[0].site, ill[1].site)...)
	var promises map[string]time.Time
	d.eventually(2*time.Minute, "both hosts are held", func() bool {
		promises = d.promises("t")
		return !promises[ill[0].url].IsZero() && !promises[ill[1].url].IsZero()
	})
	for _, s := range ill {
		wantLine(t, d.must("hosts", "t"), s.host(), " in ")
		var explained string
		d.eventually(quiet, "a page that came due says what it waits for", func() bool {
			explained = d.must("explain", s.url+"/")
			return strings.Contains(explained, "the host asked for quiet")
		})
		wantLine(t, explained, "host ", "in back-off until in ")
	}
	d.goesOn(healthy)
	d.killedPromises("t", ill, promises)
	d.goesOn(healthy)
	d.eventually(3*time.Minute+quiet, "the crawl goes on by itself", d.crawled("t", outagePages*3, 1))
	for _, s := range throttled {
		d.eventually(time.Minute, "the page that was throttled is had", func() bool {
			visits := d.history(s.url + throttledPage) // the latest first
			return len(visits) > 1 && visits[len(visits)-2].Outcome == "new" && visits[len(visits)-1].Outcome == "throttled"
		})
	}
	d.stop()
	healthy.checkPolite(t, outageGap)
	for _, s := range throttled {
		s.checkPolite(t, outageGap)
		s.checkQuiet(t)
	}
}
