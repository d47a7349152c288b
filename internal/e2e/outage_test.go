package e2e

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
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
	outageLimit = 5 * time.Second // of a request
)

// ailingSite is a tree in which one path answers otherwise while the site is ill.
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
	a.limit = outageLimit
	return a
}

// host returns the site's name in `starter hosts`.
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
	args := append([]string{"--name", "t", "--time-limit", outageLimit.String()}, crawlSettings(outageGap.String())...)
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
	d.await("a healthy host is visited meanwhile", func() bool { return len(s.requests()) >= before+outagePages })
}

// crawledAll reports whether every page of the sites has been visited.
func (d *dev) crawledAll(crawl string, sites ...*site) func() bool {
	return func() bool {
		visited := map[string]int{}
		for _, p := range d.pages(crawl) {
			if p.Visits > 0 {
				u, err := url.Parse(p.URL)
				if err != nil {
					d.t.Fatal(err)
				}
				visited[u.Host]++
			}
		}
		return !slices.ContainsFunc(sites, func(s *site) bool { return visited[s.host()] < outagePages })
	}
}

// promises returns the times when the hosts in trouble may be asked again, from the store.
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

// killedPromises kills everything with kill -9, starts again, and checks that the promises
// to the sites still hold, unless they are over.
func (d *dev) killedPromises(crawl string, sites []*ailingSite) {
	d.t.Helper()
	before := d.promises(crawl)
	d.killAll()
	d.start()
	after := d.promises(crawl)
	now := time.Now()
	for _, s := range sites {
		if before[s.url].After(now) && !after[s.url].Equal(before[s.url]) {
			d.t.Errorf("%s was to be asked again at %s; after kill -9, at %s", s.url, before[s.url], after[s.url])
		}
	}
}

// awaitWords waits until a command prints a line that begins with a word and has all the
// parts. Its output may depend on whether a workflow is quick to answer.
func (d *dev) awaitWords(command []string, start string, parts ...string) {
	d.t.Helper()
	d.await(fmt.Sprintf("%v prints %q with %q", command, start, parts), func() bool {
		return hasLine(d.must(command...), start, parts...)
	})
}

// hasLine reports whether an output has a line that begins with a word and has all the parts.
func hasLine(output, start string, parts ...string) bool {
	for line := range strings.Lines(output) {
		lacks := func(part string) bool { return !strings.Contains(line, part) }
		if strings.HasPrefix(line, start) && !slices.ContainsFunc(parts, lacks) {
			return true
		}
	}
	return false
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

// pledge is the time until which a site is to be left alone after a number of requests.
type pledge struct {
	requests int
	until    time.Time
}

// addPledges adds the current promise to each site, if it is for later than its last pledge
// and the site is not asked meanwhile.
func (d *dev) addPledges(crawl string, sites []*ailingSite, known [][]pledge) {
	d.t.Helper()
	before := make([]int64, len(sites))
	for i, s := range sites {
		before[i] = s.begun.Load()
	}
	promised := d.promises(crawl)
	for i, s := range sites {
		last := pledge{}
		if n := len(known[i]); n > 0 {
			last = known[i][n-1]
		}
		if until := promised[s.url]; s.begun.Load() == before[i] && until.After(last.until) {
			known[i] = append(known[i], pledge{int(before[i]), until})
		}
	}
}

// TestRobotsOutage: hosts whose robots.txt is unavailable, in one crawl with a healthy one.
// The short form takes 75 s, nearly all of it waiting: the first back-off is a minute,
// which is no setting. The long form has a second one.
func TestRobotsOutage(t *testing.T) {
	sideBySide(t, 140)
	attempts := 1
	if long() {
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
	d.await("the good crawl", d.crawledAll("t", healthy, known.site))
	d.stop()
	expireRobots(t, data, known.site)
	before := len(known.requests())
	for _, s := range ill {
		s.ill.Store(true)
	}
	d.args = outageArgs(all...)
	d.start()

	pledges := make([][]pledge, len(ill))
	for attempt := range attempts {
		d.await("each robots.txt was tried and has a time when it is tried again", func() bool {
			d.addPledges("t", ill, pledges)
			return !slices.ContainsFunc(pledges, func(p []pledge) bool { return len(p) <= attempt })
		})
		for i, o := range outages {
			d.awaitWords([]string{"hosts", "t"}, ill[i].host(), "unreachable: "+o.problem, ", tried again ")
			explain := []string{"explain", ill[i].url + "/"}
			d.awaitWords(explain, "workflow ", "robots.txt cannot be had, so everything is disallowed")
			d.awaitWords(explain, "robots ", "robots.txt cannot be had: "+o.problem, ", tried again ")
		}
		d.goesOn(healthy)
		d.killedPromises("t", ill)
		d.goesOn(healthy)
	}
	for _, s := range ill {
		s.ill.Store(false)
	}
	d.await("the crawl goes on by itself", d.crawledAll("t", all...))
	d.await("so does the host that was known", func() bool {
		return len(known.requests()) >= before+attempts+1+outagePages
	})
	d.stop()
	healthy.checkPolite(t, outageGap)
	for i, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			log := ill[i].requests()
			checkPledges(t, log, pledges[i])
			if ill[i] == known {
				log = log[before:]
			}
			checkOutage(t, log, attempts)
			ill[i].checkPolite(t, outageGap)
		})
	}
}

// checkPledges checks that a site was left alone until the times that were promised.
func checkPledges(t *testing.T, log []request, pledges []pledge) {
	t.Helper()
	for _, p := range pledges {
		if next := log[p.requests]; next.begin.Before(p.until) {
			t.Errorf("request %d, for %s, came %s too early", p.requests+1, next.path, p.until.Sub(next.begin))
		}
	}
}

// checkOutage checks the log of a host from the beginning of its outage, which lasts for
// some attempts at least: robots.txt is tried until it is available, never within a minute;
// and no page before that.
func checkOutage(t *testing.T, log []request, attempts int) {
	t.Helper()
	tries := 0
	for tries < len(log) && log[tries].path == "/robots.txt" {
		tries++
	}
	if tries <= attempts || tries == len(log) {
		t.Fatalf("%d of %d requests, from the first on, were for robots.txt; want at least %d, and pages", tries, len(log), attempts+1)
	}
	for _, r := range log[tries:] {
		if r.path == "/robots.txt" {
			t.Error("robots.txt was asked for again after it was had")
		}
	}
	for i, r := range log[1:tries] {
		if due := log[i].end.Add(time.Minute); r.begin.Before(due) {
			t.Errorf("try %d came %s too early", i+2, due.Sub(r.begin))
		}
	}
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

// serveBothThrottled is two sites that ask for quiet in seconds and by a date.
func serveBothThrottled(t *testing.T, quiet time.Duration) []*throttledSite {
	t.Helper()
	return []*throttledSite{
		serveThrottled(t, http.StatusTooManyRequests, quiet, func(time.Time) string { return strconv.Itoa(int(quiet.Seconds())) }),
		// A date has whole seconds; this is the first one that is not too early.
		serveThrottled(t, http.StatusServiceUnavailable, quiet, func(now time.Time) string {
			return now.Add(quiet + time.Second).UTC().Format(http.TimeFormat)
		}),
	}
}

// awaitWaiting returns a page of a host that asked for quiet, once it says that it waits for
// that. Which one it is depends on what came first, the host's wish or the plan for the page's
// next visit, which respects it.
func (d *dev) awaitWaiting(s *ailingSite) string {
	d.t.Helper()
	waiting := ""
	d.await("a page that came due says what it waits for", func() bool {
		for _, p := range d.pages("t") {
			other := strings.HasPrefix(p.URL, s.url+"/") && p.URL != s.url+throttledPage
			if other && hasLine(d.must("explain", p.URL), "", "the host asked for quiet") {
				waiting = p.URL
			}
		}
		return waiting != ""
	})
	return waiting
}

// TestRetryAfterHeld: one page's Retry-After, in seconds or as a date, holds its
// host, and only that, through kill -9 of everything. Some ask for more quiet than the
// test takes, however busy the machine is; to the others the crawl comes back.
func TestRetryAfterHeld(t *testing.T) {
	sideBySide(t, 30)
	quiet := 10 * time.Second
	if long() {
		quiet = 120 * time.Second
	}
	held, brief := serveBothThrottled(t, 12*time.Hour), serveBothThrottled(t, quiet)
	healthy := serve(t, tree(outagePages))
	ill := []*ailingSite{held[0].ailingSite, held[1].ailingSite}
	d := startDev(t, filepath.Join(t.TempDir(), "data"), outageArgs(healthy, held[0].site, held[1].site, brief[0].site, brief[1].site)...)
	d.await("both hosts are held", func() bool {
		promises := d.promises("t")
		return !promises[ill[0].url].IsZero() && !promises[ill[1].url].IsZero()
	})
	for _, s := range ill {
		d.awaitWords([]string{"hosts", "t"}, s.host(), " in ")
		d.awaitWords([]string{"explain", d.awaitWaiting(s)}, "host ", "in back-off, which ends in ")
	}
	d.goesOn(healthy)
	// A kill before this would lose the answer, and another visit would take its place.
	d.await("the others' requests for quiet are recorded", func() bool {
		visits := d.stored("t")
		return !slices.ContainsFunc(brief, func(s *throttledSite) bool {
			of := visits[s.url+throttledPage] // the latest first
			return len(of) == 0 || of[len(of)-1].Outcome != "throttled"
		})
	})
	d.killedPromises("t", ill)
	d.goesOn(healthy)
	d.await("the crawl goes on by itself", d.crawledAll("t", healthy, brief[0].site, brief[1].site))
	for _, s := range brief {
		d.await("the page that was throttled is had", func() bool {
			visits := d.history(s.url + throttledPage) // the latest first
			return len(visits) > 1 && visits[len(visits)-2].Outcome == "new" && visits[len(visits)-1].Outcome == "throttled"
		})
	}
	d.stop()
	healthy.checkPolite(t, outageGap)
	for _, s := range slices.Concat(held, brief) {
		s.checkPolite(t, outageGap)
		s.checkQuiet(t)
	}
}
