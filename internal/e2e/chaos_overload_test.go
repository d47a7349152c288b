//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/crawl"
	"recrawl/internal/testsite"
)

// envChaosLength is how long the chaos of TestOverloadUnderChaos lasts.
const envChaosLength = "RECRAWL_CHAOS_LENGTH"

const overloadDelay = 40 * time.Millisecond

// overloadForm sets the size of the crawl and of the chaos.
type overloadForm struct {
	hosts, pages int           // pages of each host
	interval     time.Duration // between two visits of a page
	length       time.Duration // of the chaos
	pause, calm  span          // between two blows to a worker; between two to a server
	stop         span          // of a worker, for longer than a permit lives
	outages      []span        // of Temporal and of Postgres
}

// TestOverloadUnderChaos crawls hundreds of hosts with more pages than the engine can
// handle at once, admitted, due and overdue, while workers, Temporal and Postgres are
// killed and stopped at random, for an hour in the long form. No host's log shows a request
// too early or two at a time, every page's visits are numbered without a gap, and none has
// more visits than requests. After the chaos the crawl asks for less than the engine bears,
// and every page is visited.
func TestOverloadUnderChaos(t *testing.T) {
	form := overloadForm{
		hosts: 30, pages: 4, interval: 4 * time.Second, length: 30 * time.Second,
		pause: seconds(2, 6), calm: seconds(6, 12), stop: chaosLong(0.2, 1.2), outages: []span{seconds(0.5, 2)},
	}
	if long() {
		// Alone, and before the others: it takes all of the machine.
		form = overloadForm{
			hosts: 500, pages: 30, interval: 30 * time.Second, length: time.Hour,
			pause: seconds(1, 30), calm: seconds(20, 90), stop: chaosLong(0.2, 20), outages: []span{seconds(1, 10), seconds(1, 20), seconds(60, 150)},
		}
	} else {
		sideBySide(t, 120)
	}
	form.length = chaosLength(t, form.length)
	rng := chaosRand(t)
	sites := startHosts(t, "127.0.0.1", nil, overloadSite(form.pages))
	sites.SetClientLimit(chaosTimeLimit)
	f := startChaosFleet(t, 3, []string{"RECRAWL_OVERDUE=10s"})
	f.starter(form.crawl(sites)...)
	f.await("the crawl begins", func() bool { return len(sites.Log()) >= 2*form.hosts })

	begun := time.Now()
	carryOut(t, f.overload(rng, form), f.revive)
	over := time.Now()
	t.Log(f.starter("status", "t"))
	f.revived("crawl", "t", "--default-interval", "1h")
	f.await("every page is visited", func() bool { f.revive(); return f.visited() == form.hosts*form.pages })
	for i, w := range f.live {
		w.kill()
		f.live[i] = nil
	}
	t.Logf("%d visits were recorded", f.checkNumbers(sites.Log()))
	log := sites.Log()
	t.Logf("%d requests before, %d under, %d after the chaos", len(between(log, time.Time{}, begun)), len(between(log, begun, over)), len(between(log, over, time.Now())))
	for _, breach := range testsite.CheckPolite(log, overloadDelay) {
		t.Error(breach)
	}
}

// chaosLength is how long a chaos lasts, unless the environment says otherwise.
func chaosLength(t *testing.T, usual time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(envChaosLength)
	if text == "" {
		return usual
	}
	length, err := crawl.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", envChaosLength, err)
	}
	return length
}

// overloadSite is a tree of pages on each host, with texts of their own, so that no host
// is taken for a copy of another one.
func overloadSite(pages int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var host, page int
		if _, err := fmt.Sscanf(r.Host, "h%d.", &host); err != nil {
			http.NotFound(w, r)
			return
		}
		if r.URL.Path != "/" {
			if _, err := fmt.Sscanf(r.URL.Path, "/p%d.html", &page); err != nil || page <= 0 || page >= pages {
				http.NotFound(w, r)
				return
			}
		}
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		words := rand.New(rand.NewPCG(uint64(host), uint64(page)))
		fmt.Fprintf(w, "<!doctype html><title>page %d of host %d</title><h1>page %d</h1><p>", page, host, page)
		for range 60 {
			fmt.Fprintf(w, "%x ", words.IntN(1<<24))
		}
		for child := 8*page + 1; child <= min(8*page+8, pages-1); child++ {
			fmt.Fprintf(w, `<p><a href="/p%d.html">page %d</a>`, child, child)
		}
	})
}

// crawl is the command that starts the crawl.
func (form overloadForm) crawl(sites *testsite.Loopback) []string {
	args := []string{"crawl", "t"}
	for i := range form.hosts {
		args = append(args, sites.URL(fmt.Sprintf("h%d", i)))
	}
	return append(args, "--delay", overloadDelay.String(), "--factor", "0", "--window", "64", "--time-limit", chaosTimeLimit.String(),
		"--policy", "fixed", "--default-interval", form.interval.String(), "--min-interval", "1s", "--maintain-every", "5s")
}

// overload returns the blows to the fleet. Each part suffers one at a time.
func (f *chaosFleet) overload(rng *rand.Rand, form overloadForm) []step {
	var temporal, postgres []blow
	for _, lasts := range form.outages {
		temporal = append(temporal, f.killTemporal(lasts), stop("Temporal", lasts, func() *os.Process { return f.temporal.cmd.Process }))
		postgres = append(postgres, f.freezePostgres(lasts), f.killPostgres(lasts))
	}
	steps := append(plan(rng, form.length, form.calm, temporal...), plan(rng, form.length, form.calm, postgres...)...)
	for i := range f.live {
		blows := []blow{f.killWorker(i), f.stopWorker(i, form.stop), f.stopWorker(i, chaosShort)}
		steps = append(steps, plan(rng, form.length, form.pause, rotated(blows, i%len(blows))...)...)
	}
	return steps
}

func (f *chaosFleet) freezePostgres(lasts span) blow {
	var thaw func() error
	must := func(err error) {
		if err != nil {
			f.t.Fatal(err)
		}
	}
	return blow{
		"stop of Postgres", lasts,
		func() {
			var err error
			thaw, err = f.postgres.Freeze(f.t.Context())
			must(err)
			f.t.Cleanup(func() { _ = thaw() }) // or a test that fails now would wait for it for ever
		},
		func() { must(thaw()) },
	}
}

// visited counts the pages that have a visit.
func (f *chaosFleet) visited() int {
	f.t.Helper()
	conn := f.connect()
	defer conn.Close(f.t.Context())
	var n int
	if err := conn.QueryRow(f.t.Context(), "SELECT count(*) FROM frontier WHERE visit > 0").Scan(&n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// connect opens the store itself, since a command for each page would take longer than
// the chaos.
func (f *chaosFleet) connect() *pgx.Conn {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.postgres.DSN())
	if err != nil {
		f.t.Fatal(err)
	}
	return conn
}

// numbered are the visits of a page as the store has them.
type numbered struct {
	url      string
	last     int // number of the last visit, by the page's row
	recorded int // visits
	lowest   int // number
	highest  int
	answered int // visits with a status
}

// checkNumbers asserts that the visits of each page are numbered from 1 without a gap, and
// that each answered visit was a request: none is doubled, none lost. It returns the number
// of visits.
func (f *chaosFleet) checkNumbers(log []testsite.Request) (visits int) {
	f.t.Helper()
	requests := map[string]int{}
	for _, r := range log {
		requests[r.Host+r.Path]++
	}
	conn := f.connect()
	defer conn.Close(f.t.Context())
	rows, err := conn.Query(f.t.Context(), `SELECT p.url, f.visit, count(v.visit), coalesce(min(v.visit), 1), coalesce(max(v.visit), 0), count(*) FILTER (WHERE v.status > 0)
		FROM pages p JOIN frontier f ON f.page_id = p.id LEFT JOIN visits v ON v.page_id = p.id GROUP BY p.id, p.url, f.visit`)
	if err != nil {
		f.t.Fatal(err)
	}
	var p numbered
	if _, err := pgx.ForEachRow(rows, []any{&p.url, &p.last, &p.recorded, &p.lowest, &p.highest, &p.answered}, func() error {
		visits += p.recorded
		for _, wrong := range p.wrong(requests) {
			f.t.Error(wrong)
		}
		return nil
	}); err != nil {
		f.t.Fatal(err)
	}
	return visits
}

// wrong judges a page by the requests for each host and path.
func (p numbered) wrong(requests map[string]int) []string {
	var wrong []string
	if p.lowest != 1 || p.highest != p.recorded || p.last != p.recorded {
		wrong = append(wrong, fmt.Sprintf("%s: %d visits from number %d to %d, and the page counts %d", p.url, p.recorded, p.lowest, p.highest, p.last))
	}
	name, path, _ := strings.Cut(strings.TrimPrefix(p.url, "http://"), "/")
	name, _, _ = strings.Cut(name, ":")
	if asked := requests[name+"/"+path]; p.answered > asked {
		wrong = append(wrong, fmt.Sprintf("%s: %d visits were answered, of %d requests", p.url, p.answered, asked))
	}
	return wrong
}

// TestNumbered checks the judge of a chaos itself.
func TestNumbered(t *testing.T) {
	t.Parallel()
	requests := map[string]int{"h7.localhost/p3.html": 3}
	good := numbered{url: "http://h7.localhost:80/p3.html", last: 3, recorded: 3, lowest: 1, highest: 3, answered: 3}
	unvisited := numbered{url: "http://h7.localhost:80/", lowest: 1}
	for _, p := range []numbered{good, unvisited} {
		if wrong := p.wrong(requests); wrong != nil {
			t.Errorf("%+v: %v", p, wrong)
		}
	}
	for what, spoil := range map[string]func(*numbered){
		"a gap":                   func(p *numbered) { p.highest, p.last = 4, 4 },
		"none is the first":       func(p *numbered) { p.lowest, p.highest, p.last = 2, 4, 4 },
		"one is not on the page":  func(p *numbered) { p.last = 2 },
		"one is on the page only": func(p *numbered) { p.last = 4 },
		"one request, two visits": func(p *numbered) { p.recorded, p.highest, p.last, p.answered = 4, 4, 4, 4 },
	} {
		p := good
		spoil(&p)
		if wrong := p.wrong(requests); len(wrong) != 1 {
			t.Errorf("%s: %v", what, wrong)
		}
	}
}

// between returns the requests that began in a period.
func between(log []testsite.Request, from, to time.Time) []testsite.Request {
	var part []testsite.Request
	for _, r := range log {
		if !r.Begin.Before(from) && r.Begin.Before(to) {
			part = append(part, r)
		}
	}
	return part
}
