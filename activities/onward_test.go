package activities_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/testsite"
	"recrawl/internal/trap"
)

// crawlAll visits pages one after another in the order of their admission, as
// workflows do, starting with those in line, until none is left or the given number
// of visits was made.
func (w *world) crawlAll(crawlID int64, most int, line ...crawl.PageRef) (visits int) {
	w.t.Helper()
	for visits < most {
		for _, p := range run(w, contract.Admit, contract.AdmitIn{CrawlID: crawlID, Limit: 100}).Pages {
			line = append(line, p.Page)
		}
		if len(line) == 0 {
			return visits
		}
		page := line[0]
		line = line[1:]
		w.saveRobots(store.SaveRobotsParams{Origin: originOf(page.URL), State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
		if answer := w.acquire(page, 1); answer.Answer == contract.AnswerEvicted {
			continue // it was taken back
		}
		w.visitAnd(page, 1, contract.DetectIn{Register: true})
		visits++
	}
	return visits
}

// TestEmptyPagesThatLeadOnAreHeld between two passes of maintenance: a part of a site
// whose pages only lead to more of their kind costs few requests, and no page beside it
// is lost.
func TestEmptyPagesThatLeadOnAreHeld(t *testing.T) {
	t.Parallel()
	const clean, most = 25, 40
	for name, entry := range map[string]string{"agenda": "/agenda/May-2030", "names": "/people/ada-berg", "home": "/home?time=101"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			web := testsite.NewEndless(clean, 2030)
			server := httptest.NewServer(web)
			t.Cleanup(server.Close)
			_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
			host := fmt.Sprintf("%s.localhost:%s", name, port)
			w := newWorld(t)
			seed := w.living([]string{"http://" + host + "/"})[0]
			visits := w.crawlAll(seed.CrawlID, 300, seed)
			t.Logf("%d visits, %v", visits, web.Fetched())
			if web.Reached(name) != clean || web.Fetched()[name] > most {
				t.Errorf("%d of %d clean pages, and %d others, want at most %d", web.Reached(name), clean, web.Fetched()[name], most)
			}
			// Pages visited before the trap was found are visited rarely from then on.
			again := w.visit(w.page("http://"+host+entry).PageRef, 2)
			if rest := again.NextAt.Sub(again.At); rest < 100*day || !strings.Contains(again.Reason, "part of a trap") {
				t.Errorf("%s is visited again after %s: %s", entry, rest, again.Reason)
			}
			found := w.traps()
			for _, k := range found {
				t.Logf("%s: %d held; %s", k.Name, k.Held, k.Detail)
				if k.Reason != trap.ReasonOnward || k.Held == 0 || k.State != store.TrapHolding || len(found) != 1 {
					t.Errorf("trap %+v of %d", k, len(found))
				}
				// Released pages are not held again.
				if _, more, err := w.store.ReleaseTrap(t.Context(), k.ID, 1000); err != nil || more {
					t.Fatal(more, err)
				}
			}
			if again := w.visit(w.page("http://"+host+entry).PageRef, 3); again.NextAt.Sub(again.At) > 50*day {
				t.Errorf("%s is visited after the release: %s", entry, again.Reason)
			}
			before := web.Fetched()[name]
			w.crawlAll(seed.CrawlID, 60)
			if after := web.Fetched()[name]; after < before+40 || w.status().Pages[crawl.Held] > 0 {
				t.Errorf("%d pages are fetched after the release, and %d held", after-before, w.status().Pages[crawl.Held])
			}
		})
	}
}

// Redirects that lead to redirects for ever say nothing, and lead only onward.
func TestEndlessRedirectsAreHeld(t *testing.T) {
	t.Parallel()
	var fetched atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		fetched.Add(1)
		n, _ := strconv.Atoi(r.URL.Query().Get("n"))
		http.Redirect(rw, r, fmt.Sprintf("/r?n=%d", n+1), http.StatusFound)
	}))
	t.Cleanup(server.Close)
	w := newWorld(t)
	seed := w.living([]string{server.URL + "/r?n=1"})[0]
	w.crawlAll(seed.CrawlID, 100, seed)
	if fetched.Load() > 40 || len(w.traps()) != 1 {
		t.Errorf("%d fetches, traps %v", fetched.Load(), w.traps())
	}
}

// TestCopiedHostsAreHeld between two passes of maintenance: a domain that answers every
// name alike costs few requests, however fast the crawl is.
func TestCopiedHostsAreHeld(t *testing.T) {
	t.Parallel()
	const clean, most = 25, 60
	web := testsite.NewEndless(clean, 2030)
	server := httptest.NewServer(web)
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	w := newWorld(t)
	seed := w.living([]string{"http://wild.localhost:" + port + "/"}, func(spec *crawl.Spec) {
		spec.Scope.Type, spec.Fetch.AllowNetworks = "domain", []string{"127.0.0.0/8"}
	})[0]
	visits := w.crawlAll(seed.CrawlID, 500, seed)
	t.Logf("%d visits, %v", visits, web.Fetched())
	if web.Reached("wild") != clean || web.Fetched()["wild"] > most {
		t.Errorf("%d of %d clean pages, and %d copied hosts, want at most %d", web.Reached("wild"), clean, web.Fetched()["wild"], most)
	}
	found := w.traps()
	for _, k := range found {
		t.Logf("%s: %d held; %s", k.Name, k.Held, k.Detail)
		if k.Reason != trap.ReasonHosts || k.Held == 0 || k.State != store.TrapHolding || len(found) != 1 {
			t.Errorf("trap %+v of %d", k, len(found))
		}
	}
}
