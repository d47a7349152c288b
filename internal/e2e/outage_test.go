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

// promise is when a host in trouble may be asked again, as the store has it.
func (h hostLine) promise() time.Time {
	until := h.BackoffUntil
	for _, r := range h.Robots {
		if r.State == "unreachable" && r.Expires.After(until) {
			until = r.Expires
		}
	}
	return until
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
// healthy one. The short form takes 80 s, nearly all of it waiting: the first
// back-off is a minute, which is no setting. The long form has a second one.
func TestRobotsOutage(t *testing.T) {
	t.Parallel()
	attempts := 1
	if os.Getenv("RECRAWL_LONG") != "" {
		attempts = 2
	}
	const robots = "/robots.txt"
	outages := []struct {
		name, problem string
		*ailingSite
	}{
		{"503", "the server answered 503", serveAiling(t, robots, answers(http.StatusServiceUnavailable))},
		{"429", "the server answered 429", serveAiling(t, robots, answers(http.StatusTooManyRequests))},
		{"silence", "no answer within", serveAiling(t, robots, neverAnswers)},
		{"reset", "the host reset the connection", serveAiling(t, robots, resetsConnection)},
		{"500 after a good crawl", "the server answered 500", serveAiling(t, robots, answers(http.StatusInternalServerError))},
	}
	healthy, known := serve(t, tree(outagePages)), outages[len(outages)-1].site
	all := []*site{healthy}

	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, outageArgs(healthy, known)...)
	d.eventually(2*time.Minute, "the good crawl", d.crawled("t", 2*outagePages, 1))
	d.stop()
	expireRobots(t, data, known)
	before := len(known.requests())
	for _, o := range outages {
		o.ill.Store(true)
		all = append(all, o.site)
	}
	d.args = outageArgs(all...)
	d.start()

	promises := make([][]time.Time, len(outages))
	for attempt := range attempts {
		for i, o := range outages {
			d.eventually(5*time.Minute, o.name+": robots.txt was tried and is not tried again soon", func() bool {
				promise := d.host("t", o.site).promise()
				if promise.Before(time.Now().Add(outageLeft)) || attempt > 0 && !promise.After(promises[i][attempt-1]) {
					return false
				}
				promises[i] = append(promises[i], promise)
				return true
			})
		}
		d.goesOn(healthy)
		d.killAll()
		d.start()
		for i, o := range outages {
			if again := d.host("t", o.site).promise(); !again.Equal(promises[i][attempt]) {
				t.Errorf("%s: to be tried at %s; after kill -9, at %s", o.name, promises[i][attempt], again)
			}
		}
		d.goesOn(healthy)
	}
	hosts := d.must("hosts", "t")
	for _, o := range outages {
		wantLine(t, hosts, o.host(), "unreachable: "+o.problem, ", tried again in ")
		explained := d.must("explain", o.url+"/")
		wantLine(t, explained, "workflow ", "robots.txt cannot be had, so everything is disallowed")
		wantLine(t, explained, "robots ", "robots.txt cannot be had: "+o.problem, ", tried again in ")
		o.ill.Store(false)
	}
	d.eventually(3*time.Minute, "the crawl goes on by itself", d.crawled("t", outagePages*len(all), 1))
	d.eventually(time.Minute, "so does the host that was known", func() bool {
		return len(known.requests()) >= before+attempts+1+outagePages
	})
	d.stop()
	healthy.checkPolite(t, outageGap)
	for i, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			log := o.requests()
			if o.site == known {
				log = log[before:]
			}
			checkOutage(t, log, promises[i])
			o.checkPolite(t, outageGap)
		})
	}
}

// outageLeft is more than a kill and a restart take.
const outageLeft = 20 * time.Second

// checkOutage checks the log of a host from the begin of its outage: robots.txt is
// tried once, and then once after each promise, the last time with success; pages
// come after that.
func checkOutage(t *testing.T, log []request, promises []time.Time) {
	t.Helper()
	if len(log) <= len(promises)+1 {
		t.Fatalf("%d requests", len(log))
	}
	for i, r := range log {
		if tried := r.path == "/robots.txt"; tried != (i <= len(promises)) {
			t.Errorf("request %d was for %s, after %d attempts at robots.txt", i, r.path, min(i, len(promises)+1))
		}
	}
	for i, promise := range promises {
		if next := log[i+1]; next.begin.Before(promise) {
			t.Errorf("attempt %d came %s before the time that was promised", i+2, promise.Sub(next.begin))
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

// throttledSite is a site that asks for quiet with one of its pages.
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
		if r.status != http.StatusOK && r.path == throttledPage {
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
	quiet := 20 * time.Second
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
	d := startDev(t, filepath.Join(t.TempDir(), "data"), outageArgs(healthy, throttled[0].site, throttled[1].site)...)
	promises := make([]time.Time, len(throttled))
	for i, s := range throttled {
		d.eventually(2*time.Minute, "the host is held", func() bool {
			promises[i] = d.host("t", s.site).promise()
			return !promises[i].IsZero()
		})
		s.ill.Store(false)
	}
	d.goesOn(healthy)
	d.killAll()
	d.start()
	hosts := d.must("hosts", "t")
	for i, s := range throttled {
		if again := d.host("t", s.site).promise(); !again.Equal(promises[i]) {
			t.Errorf("%s is held until %s; after kill -9, until %s", s.url, promises[i], again)
		}
		wantLine(t, hosts, s.host(), " in ")
		d.eventually(quiet, "a page that came due says what it waits for", func() bool {
			return strings.Contains(d.must("explain", s.url+"/"), "the host asked for quiet")
		})
	}
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
