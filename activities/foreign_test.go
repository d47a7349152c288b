package activities_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"recrawl/activities"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
)

// rejected counts the crawl's rejected links of a reason.
func (w *world) rejected(reason string) int {
	w.t.Helper()
	for _, c := range must[[]store.RejectionCount](w.t)(w.store.Rejections(w.t.Context(), w.crawl().ID)) {
		if c.Reason == reason {
			return c.Links
		}
	}
	return 0
}

// sitemapsUnder counts the crawl's sources on hosts under a domain.
func (w *world) sitemapsUnder(domain string) int {
	w.t.Helper()
	n := 0
	for _, s := range w.sources() {
		if strings.Contains(s.Host, domain) {
			n++
		}
	}
	return n
}

// A robots.txt names hundreds of sitemaps beyond its site. Those on as many hosts as
// the spec allows are read, and those on the site itself; the others are counted,
// and nothing more is done about them when a page of the site has a new version.
func TestSitemapsBeyondTheSite(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		port := r.Host[strings.LastIndexByte(r.Host, ':'):]
		for i := range 300 {
			fmt.Fprintf(w, "Sitemap: http://n%d.victim.localhost%s/x\n", i, port)
			if i == 150 {
				fmt.Fprintf(w, "Sitemap: http://maps.shop.localhost%s/a\nSitemap: http://www.shop.localhost%s/b\nSitemap: http://www.shop.localhost%s/c\n", port, port, port)
			}
		}
	})
	seed := "http://www.shop.localhost" + s.url[strings.LastIndexByte(s.url, ':'):] + "/"
	for name, c := range map[string]struct {
		most    int
		scope   string
		foreign int
	}{"default": {5, "host", 5}, "none": {0, "host", 0}, "in scope": {5, "any", 300}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.open([]string{seed}, wholeMachine, func(spec *crawl.Spec) {
				spec.Scope.Type, spec.Sources.ForeignHosts = c.scope, c.most
			})
			page := w.admitted(seed)
			w.refreshed(page)
			if n := w.sitemapsUnder(".victim.localhost"); n != c.foreign {
				t.Errorf("%d sitemaps of others are read, want %d", n, c.foreign)
			}
			if n := w.sitemapsUnder(".shop.localhost"); n != 3 {
				t.Errorf("%d sitemaps of the site are read, want 3", n)
			}
			if n := w.rejected("foreign host"); n != 300-c.foreign {
				t.Errorf("%d are rejected, want %d", n, 300-c.foreign)
			}
			w.seen(page, 1, "<p>News")
			if got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: page, Visit: 1}); got.New+got.Seen+len(got.Rejected) != 0 {
				t.Errorf("with a page: %+v", got)
			}
		})
	}
}

// A robots.txt that redirects beyond its site is followed to as many hosts as the
// spec allows. Beyond that, it counts as unavailable, with the reason; it is tried
// again, also for other crawls.
func TestRobotsRedirectBeyondTheSite(t *testing.T) {
	t.Parallel()
	const relays, most = 12, 5
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Host, ".")
		port := r.Host[strings.LastIndexByte(r.Host, ':'):]
		http.Redirect(w, r, "http://"+name+".victim.localhost"+port+"/robots.txt", http.StatusFound)
	})
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	var seeds []string
	for i := range relays {
		seeds = append(seeds, fmt.Sprintf("http://r%d.relay.localhost%s/", i, port))
	}
	w := newWorld(t)
	w.open(seeds, wholeMachine)
	run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 100})
	followed := 0
	for _, seed := range seeds {
		got, summary := w.refreshed(w.page(seed).PageRef)
		if got.State == store.RobotsRedirected {
			followed++
			continue
		}
		retry := got.ExpiresAt.Sub(got.FetchedAt)
		if got.State != store.RobotsUnreachable || !strings.Contains(got.Problem, "sources.foreign_hosts") || retry > time.Hour || !strings.Contains(summary, "nothing is fetched") {
			t.Errorf("%s: %+v, %s", seed, got, summary)
		}
	}
	if followed != most || w.rejected("foreign host") != relays-most {
		t.Errorf("%d redirects are followed, %d rejected; want %d, %d", followed, w.rejected("foreign host"), most, relays-most)
	}
	listed := must[[]store.RejectedLink](t)(w.store.ListRejected(t.Context(), store.RejectedFilter{CrawlID: w.crawl().ID, Limit: 100}))
	if len(listed) == 0 || !strings.HasSuffix(listed[0].URL, ".victim.localhost"+port+"/robots.txt") || !strings.HasSuffix(listed[0].From, ".relay.localhost"+port+"/") {
		t.Errorf("listed %+v", listed)
	}
}

// Where a list redirects to is a list again, on its own site, or on as many other
// hosts as the spec allows; a chain of such redirects ends.
func TestListsThatHaveMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.living([]string{"http://shop.localhost/"}, wholeMachine, func(spec *crawl.Spec) { spec.Sources.ForeignHosts = 1 })
	moved := func(from crawl.PageRef, to string) (store.PageRecord, bool) {
		w.plan(from, w.page(from.URL).Visits+1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 301, Location: to})
		return w.find(to)
	}
	list := w.listed("http://shop.localhost/map.xml")
	if got, ok := moved(list, "http://www.shop.localhost/map.xml"); !ok || got.Kind != crawl.KindSitemap {
		t.Errorf("on the site: %+v", got)
	}
	if _, ok := moved(list, "http://n1.victim.localhost/x"); !ok {
		t.Error("to a first host beyond the site: not followed")
	}
	if _, ok := moved(list, "http://n2.victim.localhost/x"); ok || w.rejected("foreign host") != 1 {
		t.Errorf("to a second one: followed %t, %d rejected", ok, w.rejected("foreign host"))
	}
	hops := 0
	for from, ok := w.page("http://www.shop.localhost/map.xml"), true; ok && hops < 20; hops++ {
		from, ok = moved(w.admitted(from.URL), fmt.Sprintf("http://shop.localhost/%d.xml", hops))
	}
	if hops > 5 {
		t.Errorf("a chain of redirects is followed for %d hops", hops)
	}
	if len(w.crawl().Spec.Seeds) != 1 {
		t.Errorf("seeds %q", w.crawl().Spec.Seeds)
	}
}

// hasty waits for no place at an address.
type hasty struct{ activities.Fetcher }

func (h hasty) Reserve(ctx context.Context, req fetch.Request, _ time.Duration) (*fetch.Place, error) {
	return h.Fetcher.Reserve(ctx, req, time.Millisecond)
}

// While the most requests allowed are in flight to an address, requests to other
// names of it do not begin: neither for a page nor for a robots.txt. That is
// nobody's fault, and the permit stands.
func TestFetchWaitsForACrowdedAddress(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan struct{}), make(chan struct{})
	slow := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answer
		html(w, "<p>late")
	})
	quick, other := serve(t, pageOf("<p>hello")), serve(t, answering(404, ""))
	w := newWorld(t, func(p *parts) { p.fetcher = hasty{p.fetcher} })
	pages := w.living([]string{slow.url + "/", quick.url + "/", other.url + "/"}, func(spec *crawl.Spec) { spec.Politeness.PerAddress = 1 })
	w.saveRobots(store.SaveRobotsParams{Origin: other.url, State: store.RobotsParsed, Expires: -time.Second})
	done := make(chan contract.FetchOut)
	permit := w.permit(pages[0], 1)
	go func() {
		out, err := try(w, contract.Fetch, contract.FetchIn{Page: pages[0], Visit: 1, Permit: permit})
		if err != nil {
			t.Error(err)
		}
		done <- out
	}()
	<-asked
	in := contract.FetchIn{Page: pages[1], Visit: 1, Permit: w.permit(pages[1], 1)}
	robots := contract.RefreshRobotsIn{Page: pages[2], Visit: 1, Permit: w.acquire(pages[2], 1).Permit}
	_, err := try(w, contract.Fetch, in)
	wantError(t, err, contract.ErrTypeCrowded, true, "at most 1 to 127.0.0.1")
	_, err = try(w, contract.RefreshRobots, robots)
	wantError(t, err, contract.ErrTypeCrowded, true, "at most 1 to 127.0.0.1")
	for _, page := range pages[1:] {
		if host := w.host(page); host.InFlight || host.BackoffLevel != 0 || w.page(page.URL).Visits != 0 {
			t.Errorf("%s: %+v", page.URL, host)
		}
	}
	close(answer)
	if out := <-done; out.Outcome != crawl.OutcomeNew {
		t.Errorf("the first: %+v", out)
	}
	if out := run(w, contract.Fetch, in); out.Outcome != crawl.OutcomeNew {
		t.Errorf("the second, by the same permit: %+v", out)
	}
	if out := run(w, contract.RefreshRobots, robots); !strings.Contains(out.Summary, "no robots.txt") {
		t.Errorf("the robots.txt, by the same permit: %s", out.Summary)
	}
	quick.wantRequests(t, "/")
	other.wantRequests(t, "/robots.txt")
}
