package activities_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// bothFamilies serves on one port of 127.0.0.1 and of ::1, and returns the port
// with its colon.
func bothFamilies(t *testing.T, s *site, answer http.HandlerFunc) string {
	t.Helper()
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	l, err := net.Listen("tcp", "[::1]"+port)
	switch {
	case err != nil && os.Getenv("CI") != "": // where nobody reads which tests were skipped
		t.Fatalf("no such port on ::1: %v", err)
	case err != nil:
		t.Skipf("no such port on ::1: %v", err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: answer}}
	server.Start()
	t.Cleanup(server.Close)
	return port
}

// A seed on this machine opens its own host and port, however it is spelled; other
// services there are reached if the spec names their network.
func TestLoopbackSeedOpensItsServiceOnly(t *testing.T) {
	t.Parallel()
	neighbour := serve(t, pageOf("<p>secret"))
	answer := pageOf("<p>mine")
	mine := serve(t, answer)
	there := neighbour.url[strings.LastIndexByte(neighbour.url, ':'):]
	here := bothFamilies(t, mine, answer)
	for _, seed := range []string{"127.0.0.1", "localhost", "a.localhost", "[::1]", "127.1", "[::ffff:127.0.0.1]"} {
		t.Run(seed, func(t *testing.T) {
			w := newWorld(t)
			w.open([]string{"http://" + seed + here + "/"}, func(spec *crawl.Spec) { spec.Scope.Type = "any" })
			// Even URLs that have slipped into the frontier are not reached: the check is at the
			// dial.
			var urls []store.NewURL
			for _, host := range []string{"127.0.0.1" + there, "127.0.0.2" + here, "localhost" + there, "b.localhost" + here} {
				urls = append(urls, store.NewURL{URL: "http://" + host + "/x", Host: host, Level: 1})
			}
			must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: w.crawl().ID, URLs: urls}))
			run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 100})
			pages := must[[]store.PageRecord](t)(w.store.ListPages(t.Context(), store.PageFilter{CrawlID: w.crawl().ID, Limit: 100}))
			for _, p := range pages {
				w.saveRobots(store.SaveRobotsParams{Origin: originOf(p.URL), State: store.RobotsAllowAll, Expires: time.Hour})
				out := w.fetched(w.fetch(p.PageRef, 1))
				if p.Level == 0 && out.Outcome != crawl.OutcomeNew {
					t.Errorf("the seed: %+v", out)
				}
				if p.Level != 0 && (out.Outcome != crawl.OutcomeFailed || !strings.Contains(out.Problem, "allow_networks")) {
					t.Errorf("%s: %+v", p.URL, out)
				}
			}
		})
	}
	neighbour.wantRequests(t)
}

// Neither a robots.txt, nor a link, nor a seed's redirect of a service on this
// machine leads to its neighbour, and the rejection says why.
func TestNeighbourOnLoopback(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*crawl.Spec){"closed": func(*crawl.Spec) {}, "open": wholeMachine} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			neighbour := serve(t, answering(200, ""))
			mine := serve(t, func(w http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/robots.txt", "/moved":
					http.Redirect(w, r, neighbour.url+r.URL.Path, http.StatusFound)
				default:
					html(w, `<a href="`+neighbour.url+`/linked">x</a>`)
				}
			})
			w := newWorld(t)
			w.open([]string{mine.url + "/", mine.url + "/moved"}, func(spec *crawl.Spec) { spec.Scope.Type = "any" }, open)
			run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 100})
			page, moved := w.page(mine.url+"/").PageRef, w.page(mine.url+"/moved").PageRef
			robots, _ := w.refreshed(page)
			w.saveRobots(store.SaveRobotsParams{Origin: mine.url, State: store.RobotsAllowAll, Expires: time.Hour})
			w.visit(page, 1)
			registered := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1})
			w.visit(moved, 1)
			_, linked := w.find(neighbour.url + "/linked")
			_, redirected := w.find(neighbour.url + "/moved")
			if name == "open" {
				if robots.State != store.RobotsRedirected || !linked || !redirected {
					t.Errorf("robots.txt %+v, linked %t, redirected %t; want all followed", robots, linked, redirected)
				}
				return
			}
			if robots.State != store.RobotsUnreachable || !strings.Contains(robots.Problem, "loopback") || !strings.Contains(robots.Problem, "allow_networks") {
				t.Errorf("robots.txt %+v, want it out of reach", robots)
			}
			if linked || redirected || registered.Rejected["loopback"] != 1 || len(w.crawl().Spec.Seeds) != 2 {
				t.Errorf("linked %t, redirected %t, rejected %v, seeds %q", linked, redirected, registered.Rejected, w.crawl().Spec.Seeds)
			}
			neighbour.wantRequests(t)
		})
	}
}
