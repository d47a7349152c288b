//go:build unix

package e2e

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// envChaosSeed repeats a chaos that went wrong: the same blows in the same order, with the
// same lengths and distances; what they hit is chance.
const envChaosSeed = "RECRAWL_CHAOS_SEED"

const (
	chaosDelay      = 40 * time.Millisecond
	chaosFactor     = 0.25
	chaosRetryAfter = time.Second
	chaosTimeLimit  = 3 * time.Second
	// chaosPermit is the lifetime of a permit: the request's time limit and the store's
	// grace. A worker that is stopped for longer has lost it to another.
	chaosPermit = chaosTimeLimit + 10*time.Second
	// chaosHandshake is how long a site takes for a handshake. Between Begin and the
	// request there is little else, and a stop then is the one that matters most.
	chaosHandshake = 200 * time.Millisecond
)

// chaosShort is a stop after which a request can still be answered in time. For the site, a
// request that is given up at its time limit ends only when the site is done with it; so no
// stop ends just before that limit.
var chaosShort = seconds(0.1, 1.5)

// chaosForm sets the size of a chaos.
type chaosForm struct {
	pages   int           // of each site but one, which is slow
	length  time.Duration // of the chaos
	pause   span          // between two blows to a worker
	outages []span        // of Temporal and of Postgres
	calm    span          // between two of them
	over    span          // a stop for longer than a permit lives
}

// TestPolitenessUnderChaos crawls five sites with three workers while workers,
// Temporal and Postgres are killed at random, and workers stopped, also for
// longer than a permit lives. Then the crawl visits every page, and no site's log
// shows a request too early, too many or forbidden.
//
// Nothing is excused. The documented limit, a request by a process that is
// stopped in the microseconds between its last look at the clock and the write,
// needs a long stop to meet a few microseconds of a hundred milliseconds: one of ten
// thousand. Treat a breach as a bug; the log lists each blow, with its part and time.
func TestPolitenessUnderChaos(t *testing.T) {
	sideBySide(t, 110)
	form := chaosForm{
		pages: 20, length: 22 * time.Second, pause: seconds(1, 5), over: chaosLong(0.2, 1.2),
		outages: []span{seconds(0.5, 2)}, calm: seconds(9, 18),
	}
	if long() {
		form = chaosForm{
			pages: 150, length: 12 * time.Minute, pause: seconds(1, 20), over: chaosLong(0.2, 20),
			outages: []span{seconds(1, 10), seconds(1, 10), seconds(60, 150)}, calm: seconds(20, 60),
		}
	}
	rng := chaosRand(t)
	web := serveChaosWeb(t, form.pages)
	f := startChaosFleet(t, 3, web.env())
	f.starter(append([]string{"crawl", "t"}, web.crawlArgs()...)...)
	f.await("the crawl begins", web.begun)

	var temporal, postgres []blow
	for _, lasts := range form.outages {
		temporal, postgres = append(temporal, f.killTemporal(lasts)), append(postgres, f.killPostgres(lasts))
	}
	steps := append(plan(rng, form.length, form.calm, temporal...), plan(rng, form.length, form.calm, postgres...)...)
	for i := range f.live {
		blows := []blow{f.stopWorker(i, form.over), f.stopWorker(i, chaosShort), f.killWorker(i)}
		if i == 1 {
			blows = blows[1:] // somebody must be there to take over what the others lose
		}
		steps = append(steps, plan(rng, form.length, form.pause, rotated(blows, i%len(blows))...)...)
	}
	begun := time.Now()
	carryOut(t, steps, f.revive)

	over := time.Now()
	f.await("every page is answered, and every site still asked", func() bool { f.revive(); return web.finished(over) })
	f.await("every page is visited", func() bool {
		return web.visited(decodeLines[pageLine](t, f.starter("--output", "json", "pages", "t", "--limit", "0")))
	})
	web.report(t, begun, over)
	web.checkRules(t)
}

// TestPolitenessUnderChaosEmbedded is the same with everything in one process
// tree, which is killed as a whole and in parts, and stopped.
func TestPolitenessUnderChaosEmbedded(t *testing.T) {
	sideBySide(t, 45)
	form := chaosForm{pages: 20, length: 25 * time.Second, pause: seconds(1, 5), calm: seconds(9, 18), over: chaosLong(0.2, 1.2)}
	if long() {
		form = chaosForm{pages: 100, length: 6 * time.Minute, pause: seconds(2, 20), calm: seconds(5, 30), over: chaosLong(0.2, 20)}
	}
	rng := chaosRand(t)
	web := serveChaosWeb(t, form.pages)
	d := startDevEnv(t, filepath.Join(t.TempDir(), "data"), web.env(), append(web.crawlArgs(), "--name", "t")...)
	d.await("the crawl begins", web.begun)

	starter := func() *os.Process { return d.cmd.Process }
	blows := []blow{
		{"kill -9 of everything", seconds(0, 2), func() { d.killTemporal(); d.kill() }, d.start},
		stop("the starter", chaosShort, starter),
		{"kill -9 of the starter", seconds(0, 2), d.kill, d.start},
		stop("the starter", form.over, starter),
	}
	steps := plan(rng, form.length, form.pause, rotated(blows, rng.IntN(len(blows)))...)
	steps = append(steps, plan(rng, form.length, form.calm, blow{"kill -9 of Temporal", span{}, d.killTemporal, func() {}})...)
	begun := time.Now()
	carryOut(t, steps, func() {})

	over := time.Now()
	d.await("every page is answered, and every site still asked", func() bool { return web.finished(over) })
	d.await("every page is visited", func() bool { return web.visited(d.pages("t")) })
	d.stop()
	web.report(t, begun, over)
	web.checkRules(t)
}

// killTemporal kills the Temporal server of a starter that is there to restart it.
func (d *dev) killTemporal() {
	select {
	case <-d.done: // its server went with it, and the id may be another's by now
	default:
		_ = syscall.Kill(d.state().TemporalPID, syscall.SIGKILL) // it may be down already
	}
}

// chaosFleet is a fleet whose parts can be killed, and are started again as by a
// container's restart policy.
type chaosFleet struct {
	*fleet
	down bool       // Temporal is held down
	live []*process // the workers; nil while one is held down
}

func startChaosFleet(t *testing.T, workers int, env []string) *chaosFleet {
	t.Helper()
	f := &chaosFleet{fleet: newFleet(t, env...), live: make([]*process, workers)}
	for i := range f.live {
		f.startWorker()
		f.live[i] = f.workers[i]
	}
	return f
}

// restart starts a worker without waiting for it, since what it needs may be down.
func (f *chaosFleet) restart(i int) {
	f.live[i] = startProcess(f.t, f.env, programs.worker)
	f.workers = append(f.workers, f.live[i])
}

// revive restarts parts that ended by themselves. A worker that starts while Temporal or
// Postgres is down gives up; one that was ready must not. Temporal gives up if another
// process has taken one of its ports.
func (f *chaosFleet) revive() {
	select {
	case <-f.temporal.done:
		if !f.down {
			f.t.Logf("Temporal ended by itself: %s", f.temporal.out)
			f.startTemporal()
		}
	default:
		if !f.down {
			f.replaceHungTemporal()
		}
	}
	for i, w := range f.live {
		if w == nil {
			continue
		}
		select {
		case <-w.done:
			if out := w.out.String(); strings.Contains(out, "worker ready") {
				f.t.Errorf("a worker ended by itself: %s", out)
			}
			f.restart(i)
		default:
		}
	}
}

// revived runs a starter command, again if the machine was too busy for it, and restarts meanwhile
// what ended by itself, or hangs.
func (f *chaosFleet) revived(args ...string) {
	f.t.Helper()
	p := startProcess(f.t, f.env, programs.starter, args...)
	command := "starter " + strings.Join(args, " ")
	f.await(command+" is answered", func() bool {
		f.revive()
		select {
		case <-p.done:
			again := p.cmd.ProcessState.ExitCode() != 0 && tooBusy(p.out.String())
			if again {
				p = startProcess(f.t, f.env, programs.starter, args...)
			}
			return !again
		default:
			return false
		}
	})
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		f.t.Fatalf("%s: %d: %s", command, code, p.out)
	}
}

func (f *chaosFleet) killWorker(i int) blow {
	return blow{
		fmt.Sprintf("kill -9 of worker %d", i), seconds(0, 2),
		func() { f.live[i].kill(); f.live[i] = nil },
		func() { f.restart(i) },
	}
}

func (f *chaosFleet) stopWorker(i int, lasts span) blow {
	return stop(fmt.Sprintf("worker %d", i), lasts, func() *os.Process { return f.live[i].cmd.Process })
}

func (f *chaosFleet) killTemporal(lasts span) blow {
	return blow{
		"kill -9 of Temporal", lasts,
		func() { f.down = true; f.temporal.kill() },
		func() { f.down = false; f.startTemporal() },
	}
}

func (f *chaosFleet) killPostgres(lasts span) blow {
	must := func(err error) {
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return blow{
		"kill -9 of Postgres", lasts,
		func() { must(f.postgres.Kill9()) },
		func() { must(f.postgres.Restart(f.t.Context())) },
	}
}

// blow is a disturbance of one part of the system for a while.
type blow struct {
	name       string
	lasts      span
	begin, end func()
}

// stop freezes a process and continues it.
func stop(name string, lasts span, process func() *os.Process) blow {
	signal := func(s os.Signal) func() {
		return func() { _ = process().Signal(s) } // it may just have given up, and is started again
	}
	return blow{"stop of " + name, lasts, signal(syscall.SIGSTOP), signal(syscall.SIGCONT)}
}

// span is a range of durations.
type span struct{ least, most time.Duration }

func seconds(least, most float64) span {
	return span{time.Duration(least * float64(time.Second)), time.Duration(most * float64(time.Second))}
}

// chaosLong is longer than the life of a permit by least to most seconds.
func chaosLong(least, most float64) span {
	more := seconds(least, most)
	return span{chaosPermit + more.least, chaosPermit + more.most}
}

func (s span) draw(rng *rand.Rand) time.Duration {
	return s.least + time.Duration(rng.Int64N(int64(s.most-s.least)+1))
}

// step is an act of a chaos, at a time since its start.
type step struct {
	at   time.Duration
	what string
	do   func()
}

// plan lets blows hit one part one after the other, in turn, while they fit into the
// length.
func plan(rng *rand.Rand, length time.Duration, pause span, blows ...blow) []step {
	var steps []step
	at := pause.draw(rng)
	for i := 0; at < length; i++ {
		b := blows[i%len(blows)]
		if end := at + b.lasts.draw(rng); end <= length {
			steps = append(steps, step{at, b.name, b.begin}, step{end, "end of the " + b.name, b.end})
			at = end
		}
		at += pause.draw(rng)
	}
	return steps
}

func rotated(blows []blow, by int) []blow { return slices.Concat(blows[by:], blows[:by]) }

// carryOut makes the steps at their times, and calls meanwhile in between. A misfortune
// waits for nothing but the clock.
func carryOut(t *testing.T, steps []step, meanwhile func()) {
	t.Helper()
	slices.SortStableFunc(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for _, s := range steps {
		due := time.NewTimer(time.Until(begin.Add(s.at)))
		for waiting := true; waiting; {
			select {
			case <-due.C:
				waiting = false
			case <-tick.C:
				meanwhile()
			}
		}
		t.Logf("%s %s", time.Now().Format(time.StampMicro), s.what)
		s.do()
	}
}

func chaosRand(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv(envChaosSeed); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s: %v", envChaosSeed, err)
		}
	}
	t.Logf("%s=%d", envChaosSeed, seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// chaosSite is a site with a tree of pages, with links to the next site's and to addresses
// that its robots.txt forbids. In its log a request begins with its connection.
type chaosSite struct {
	site
	certificate string // file
	pages       int
	slow        time.Duration // what an answer takes
	crawlDelay  time.Duration
	moody       bool // throttles now and then
	moved       bool // has pages that redirect to the next site's

	// Set before the first request:
	paths []string          // of all pages
	links map[string]string // of a page, besides the tree's
	next  *chaosSite
}

// chaosWeb is some sites that make up one crawl.
type chaosWeb []*chaosSite

// serveChaosWeb serves sites of n pages. Most of the time a request is in flight
// at some of them.
func serveChaosWeb(t *testing.T, n int) chaosWeb {
	t.Helper()
	web := chaosWeb{
		{pages: n},
		{pages: n, slow: 250 * time.Millisecond},
		{pages: n / 5, slow: 50 * time.Millisecond, crawlDelay: time.Second},
		{pages: n, slow: 100 * time.Millisecond, moody: true},
		{pages: n, slow: 20 * time.Millisecond, crawlDelay: 150 * time.Millisecond, moved: true},
	}
	ready := make(chan struct{})
	for i, s := range web {
		s.next, s.limit = web[(i+1)%len(web)], chaosTimeLimit
		s.serve(t, ready)
	}
	for _, s := range web {
		s.lay()
	}
	close(ready)
	return web
}

// connected is the key of the time at which a request's connection was made.
type connected struct{}

// serve serves the site once it is ready. It uses TLS for the sake of the handshake; see
// chaosHandshake.
func (s *chaosSite) serve(t *testing.T, ready <-chan struct{}) {
	t.Helper()
	pages := tree(s.pages)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-ready
		rec := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		s.answer(rec, r, pages)
		begin := r.Context().Value(connected{}).(time.Time)
		end := s.ended(r, begin, time.Now())
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, request{path: r.URL.Path, begin: begin, end: end, status: rec.status})
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, connected{}, time.Now())
	}
	server.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
		<-time.After(chaosHandshake)
		return nil, nil
	}}
	server.StartTLS()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url, s.certificate = server.URL, filepath.Join(t.TempDir(), "certificate.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(s.certificate, block, 0o600); err != nil {
		t.Fatal(err)
	}
}

// lay lays out the pages.
func (s *chaosSite) lay() {
	s.links = map[string]string{}
	for i := range s.pages {
		path := "/"
		if i > 0 {
			path = fmt.Sprintf("/p%d.html", i)
		}
		s.paths = append(s.paths, path)
		s.links[path] = fmt.Sprintf(`<a href="/private%s">`, path)
		if i < s.next.pages {
			s.links[path] += fmt.Sprintf(`<a href="%s%s">`, s.next.url, path)
		}
		if s.moved && i < s.next.pages && i%3 == 0 {
			s.paths = append(s.paths, "/old"+path)
			s.links[path] += fmt.Sprintf(`<a href="/old%s">`, path)
		}
	}
}

func (s *chaosSite) answer(w http.ResponseWriter, r *http.Request, pages http.Handler) {
	<-time.After(s.slow)
	old, isOld := strings.CutPrefix(r.URL.Path, "/old")
	switch asked := len(s.requests()); {
	case r.URL.Path == "/robots.txt":
		fmt.Fprintf(w, "User-agent: *\nDisallow: /private/\nCrawl-delay: %g\n", s.crawlDelay.Seconds())
	case s.moody && asked%20 == 10:
		w.Header().Set("Retry-After", fmt.Sprint(chaosRetryAfter.Seconds()))
		w.WriteHeader([]int{http.StatusServiceUnavailable, http.StatusTooManyRequests}[asked/20%2])
	case isOld:
		http.Redirect(w, r, s.next.url+old, http.StatusMovedPermanently)
	default:
		pages.ServeHTTP(w, r)
		fmt.Fprint(w, s.links[r.URL.Path])
	}
}

// env makes programs trust the sites, which share one certificate, and makes them soon
// resume pages that a kill caught between their admission and their workflow's start.
func (web chaosWeb) env() []string {
	return []string{"SSL_CERT_FILE=" + web[0].certificate, "RECRAWL_OVERDUE=10s"}
}

// crawlArgs are the seeds and settings of the crawl. Pages are visited again and
// again, so that there are requests for as long as there is chaos.
func (web chaosWeb) crawlArgs() []string {
	var args []string
	for _, s := range web {
		args = append(args, s.url+"/")
	}
	return append(args, "--delay", chaosDelay.String(), "--factor", fmt.Sprint(chaosFactor), "--time-limit", chaosTimeLimit.String(),
		"--policy", "fixed", "--default-interval", "30s", "--min-interval", "1s", "--maintain-every", "2s")
}

// begun reports whether every site was asked for a page.
func (web chaosWeb) begun() bool {
	return !slices.ContainsFunc(web, func(s *chaosSite) bool { return len(s.requests()) < 2 })
}

// finished reports whether every page has been fetched, and every site asked since.
func (web chaosWeb) finished(since time.Time) bool {
	return !slices.ContainsFunc(web, func(s *chaosSite) bool { return !s.finished(since) })
}

func (s *chaosSite) finished(since time.Time) bool {
	had, asked := map[string]bool{}, false
	for _, r := range s.requests() {
		had[r.path] = had[r.path] || r.status < 400
		asked = asked || r.begin.After(since)
	}
	return asked && !slices.ContainsFunc(s.paths, func(path string) bool { return !had[path] })
}

// visited reports whether every page of the crawl was visited.
func (web chaosWeb) visited(pages []pageLine) bool {
	visited := map[string]bool{}
	for _, p := range pages {
		visited[p.URL] = p.Visits > 0
	}
	return !slices.ContainsFunc(web, func(s *chaosSite) bool {
		return slices.ContainsFunc(s.paths, func(path string) bool { return !visited[s.url+path] })
	})
}

// checkRules asserts from the sites' own logs that every rule was kept.
func (web chaosWeb) checkRules(t *testing.T) {
	t.Helper()
	for _, s := range web {
		s.checkRules(t)
	}
}

func (s *chaosSite) checkRules(t *testing.T) {
	t.Helper()
	var last request
	for _, r := range s.requests() {
		if rest, need := r.begin.Sub(last.end), s.rest(last); rest < need {
			t.Errorf("%s%s began %s, %s after %s (%d, took %s) had ended; the rule is %s", s.url, r.path,
				r.begin.Format(time.StampMicro), rest, last.path, last.status, last.end.Sub(last.begin), need)
		}
		if took := r.end.Sub(r.begin); took > chaosPermit {
			t.Errorf("%s%s came %s after its connection, when its permit had expired", s.url, r.path, took)
		}
		if strings.HasPrefix(r.path, "/private/") {
			t.Errorf("%s%s is forbidden", s.url, r.path)
		}
		if last.path == "" && r.path != "/robots.txt" {
			t.Errorf("the first request was for %s%s", s.url, r.path)
		}
		last = r
	}
}

// rest is the least time between the end of a request and the next one.
func (s *chaosSite) rest(r request) time.Duration {
	rest := max(chaosDelay, s.crawlDelay, time.Duration(chaosFactor*float64(r.end.Sub(r.begin))))
	if r.status == http.StatusServiceUnavailable || r.status == http.StatusTooManyRequests {
		rest = max(rest, chaosRetryAfter)
	}
	return rest
}

// report logs the number of requests before, during and after the chaos.
func (web chaosWeb) report(t *testing.T, from, to time.Time) {
	t.Helper()
	for _, s := range web {
		var before, under, after int
		for _, r := range s.requests() {
			switch {
			case r.begin.Before(from):
				before++
			case r.begin.Before(to):
				under++
			default:
				after++
			}
		}
		t.Logf("%s: %d requests before, %d under, %d after the chaos", s.url, before, under, after)
	}
}
