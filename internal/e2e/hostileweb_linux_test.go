package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawl/internal/testsite"
)

const (
	// hostileGap is the time between two requests to a host: long enough that it, and not
	// the machine's load, decides their number.
	hostileGap = 2 * time.Second
	// honestPages are due so often that the honest host's line is never empty.
	honestPages = 60
	// honestShare is the share of its visits that the honest host must keep, in the long form,
	// which has the machine to itself. Beside something else the crawler that has the
	// attackers, and so more to do, is later at each of its timers than the other: there it
	// must keep busyShare. A crawl that attackers have jammed keeps far less.
	honestShare = 0.9
	busyShare   = 0.7
	// endlessPages is the number of clean pages on each site beside its endless part.
	endlessPages = 10
)

// hostileWeb is a crawl of a web of attackers and of one honest host, and another
// crawler beside it, with a copy of that host only, at the same time on the same machine:
// the visits that the one host gets fewer than the other were taken by the attackers.
type hostileWeb struct {
	d, control    *dev
	honest, alone *testsite.Loopback
	victim        *testsite.Loopback // whom the attackers' robots.txt name
	neighbour     *testsite.Loopback // another service of this machine
	attackers     *testsite.Loopback
	endless       *testsite.Endless
	answers       map[string]*testsite.Loopback // attacks that are in one answer, by URL
	hostile       []string                      // the seeds of the attackers
	from          time.Time                     // when they were added
}

// TestHostileWeb crawls a web of attackers beside an honest host, with everything on.
// The honest host gets its visits and the third parties are left alone, memory stays within
// a bound, and the held pages are listed with their reasons.
func TestHostileWeb(t *testing.T) {
	if !long() { // then alone: it compares how fast two crawlers are, more strictly
		sideBySide(t, 100)
	}
	w := startHostileWeb(t)
	w.d.await("both honest hosts have a line", func() bool {
		return len(w.d.pages("web")) >= honestPages && len(w.control.pages("web")) >= honestPages
	})
	w.attack(t)
	w.checkVisits(t)
	w.d.awaitEvery(time.Second, "every attacker is met", w.met)
	w.d.awaitEvery(time.Second, "what has no end is held", w.held)
	w.checkMemory(t)
	w.checkThirdParties(t)
	w.checkRobots(t)
	w.checkEndless(t)
	w.checkTold(t)
	w.awaitNotKept(t)
	w.control.stop()
	w.d.stop()
	w.checkNotKept(t)
	for _, breach := range testsite.CheckPolite(slices.Concat(w.honest.Log(), w.victim.Log()), hostileGap) {
		t.Error(breach)
	}
}

// checkVisits compares the visits of the honest host with those of its copy: for ten
// minutes, or in the short form for 40 seconds. The short form continues, up to five times
// as long, until the honest host has its share.
func (w *hostileWeb) checkVisits(t *testing.T) {
	t.Helper()
	const short = 20 // visits
	enough, most, share := short, 5*short, busyShare
	if long() {
		enough, most, share = 15*short, 15*short, honestShare
	}
	for ; ; enough += short {
		controls := 0
		w.d.await("the other crawler makes its visits", func() bool {
			controls = len(since(w.alone.Log(), w.from))
			return controls >= enough
		})
		visits := len(since(w.honest.Log(), w.from))
		t.Logf("in %s the honest host had %d requests, its copy without attackers %d", time.Since(w.from).Round(time.Second), visits, controls)
		if float64(visits) >= share*float64(controls) {
			return
		}
		if enough >= most {
			t.Errorf("the honest host had %d requests beside attackers and %d without: it keeps less than %v", visits, controls, share)
			return
		}
	}
}

// since returns the requests that began after a time.
func since(log []testsite.Request, from time.Time) []testsite.Request {
	var later []testsite.Request
	for _, r := range log {
		if r.Begin.After(from) {
			later = append(later, r)
		}
	}
	return later
}

func startHostileWeb(t *testing.T) *hostileWeb {
	t.Helper()
	w := &hostileWeb{
		honest: startHosts(t, "127.2.0.1", nil, honest()), alone: startHosts(t, "127.2.0.2", nil, honest()),
		victim: startHosts(t, "127.0.0.1", nil, tree(1)), neighbour: startHosts(t, "127.0.0.1", nil, tree(1)),
		endless: testsite.NewEndless(endlessPages, time.Now().Year()+2),
		answers: map[string]*testsite.Loopback{},
	}
	attacks := testsite.Attacks(testsite.Aims{
		Victim:    strings.Replace(w.victim.Address(), "127.0.0.1", "victim.localhost", 1),
		Neighbour: w.neighbour.Address(),
	})
	w.attackers = startHosts(t, "127.0.0.1", attacks, w.endless)
	for i, a := range attacks {
		switch {
		case a.Outcome != 0: // on an address of its own, as attackers on the web
			one := startHosts(t, fmt.Sprintf("127.9.1.%d", i+1), []testsite.Attack{a}, nil)
			url := "http://" + one.Address() + "/"
			w.answers[url] = one
			w.hostile = append(w.hostile, url)
		case a.Name != "neighbour":
			w.hostile = append(w.hostile, w.attackers.URL(a.Name))
		}
	}
	domains := []string{"relay.localhost", "crowd.localhost"}
	for _, trap := range testsite.EndlessTraps() {
		w.hostile, domains = append(w.hostile, w.attackers.URL(trap)), append(domains, trap+".localhost")
	}
	dev := func() *dev { return startDevEnv(t, filepath.Join(t.TempDir(), "data"), []string{asUsersDo}) }
	w.d, w.control = dev(), dev()
	w.control.crawlSpec(hostileSpec("web", w.alone, domains))
	w.d.crawlSpec(hostileSpec("web", w.honest, domains))
	return w
}

// attack adds the attackers to the crawl, all at once.
func (w *hostileWeb) attack(t *testing.T) {
	t.Helper()
	seeds, err := json.Marshal(map[string]any{"seeds": w.hostile})
	if err != nil {
		t.Fatal(err)
	}
	w.d.temporal("workflow", "update", "execute", "--workflow-id", "crawl/web", "--name", "add-seeds", "--input", string(seeds))
	// A crawl that may reach no more of this machine than its seed.
	w.d.must("crawl", "local", w.attackers.URL("neighbour"))
	w.from = time.Now()
}

// hostileSpec is a crawl with everything on, of a host whose pages are always due.
// Others are due every two minutes.
func hostileSpec(name string, honest *testsite.Loopback, domains []string) map[string]any {
	seed := "http://" + honest.Address() + "/"
	return map[string]any{
		"name": name, "seeds": []string{seed}, "maintain_every": "2s",
		"scope":      map[string]any{"type": "host", "rules": []map[string]any{{"accept": map[string]any{"domain": domains}}}},
		"fetch":      map[string]any{"allow_networks": []string{"127.0.0.0/8", "::1/128"}},
		"politeness": map[string]any{"delay": hostileGap.String()},
		"rank":       map[string]any{"every": "10s"},
		"revisit": map[string]any{
			"policy": "fixed", "default_interval": "2m", "min_interval": "1s",
			"rules": []map[string]any{{"prefix": seed, "default_interval": "2s"}},
		},
	}
}

// honest is a host with a sitemap and a feed, of which each third page changes.
func honest() http.Handler {
	var mu sync.Mutex
	visits := map[string]int{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		visits[r.URL.Path]++
		edition := visits[r.URL.Path]
		mu.Unlock()
		site := "http://" + r.Host
		var i int
		switch n, _ := fmt.Sscanf(r.URL.Path, "/%d", &i); {
		case r.URL.Path == "/robots.txt":
			fmt.Fprintf(w, "User-agent: *\nDisallow: /private\nSitemap: %s/sitemap.xml\n", site)
		case r.URL.Path == "/sitemap.xml":
			w.Header().Set("Content-Type", "application/xml")
			fmt.Fprintf(w, `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>%s/1</loc></url></urlset>`, site)
		case r.URL.Path == "/feed":
			w.Header().Set("Content-Type", "application/rss+xml")
			fmt.Fprintf(w, `<rss version="2.0"><channel><item><link>%s/2</link></item></channel></rss>`, site)
		case r.URL.Path == "/" || n == 1 && i < honestPages:
			if i%3 != 0 {
				edition = 1
			}
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<!doctype html><link rel=alternate type="application/rss+xml" href="/feed"><title>page %d</title><main><p>Page %d in edition %d`, i, i, edition)
			for next := 1; next < honestPages; next++ {
				fmt.Fprintf(w, `<p><a href="/%d">page %d</a>`, next, next)
			}
		default:
			http.NotFound(w, r)
		}
	})
}
