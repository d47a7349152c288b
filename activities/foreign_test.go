package activities_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"recrawl/activities"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/fetch"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
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
// spec allows, for each site: one that uses up its own takes none from others. Beyond
// that, it counts as unavailable, with the reason; it is tried again, also for other crawls.
func TestRobotsRedirectBeyondTheSite(t *testing.T) {
	t.Parallel()
	const relays, most = 12, 5 // of each site
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(r.Host, ".")
		port := r.Host[strings.LastIndexByte(r.Host, ':'):]
		http.Redirect(w, r, "http://"+name+".victim.localhost"+port+"/robots.txt", http.StatusFound)
	})
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	var seeds []string
	for i := range relays {
		seeds = append(seeds, fmt.Sprintf("http://r%d.relay.localhost%s/", i, port), fmt.Sprintf("http://o%d.other.localhost%s/", i, port))
	}
	w := newWorld(t)
	w.open(seeds, wholeMachine)
	run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 100})
	followed := map[string]int{}
	for _, seed := range seeds {
		got, summary := w.refreshed(w.page(seed).PageRef)
		if got.State == store.RobotsRedirected {
			followed[must[urlkey.URL](t)(urlkey.Canonical(seed)).Site()]++
			continue
		}
		retry := got.ExpiresAt.Sub(got.FetchedAt)
		if got.State != store.RobotsUnreachable || !strings.Contains(got.Problem, "sources.foreign_hosts") || retry > time.Hour || !strings.Contains(summary, "nothing is fetched") {
			t.Errorf("%s: %+v, %s", seed, got, summary)
		}
	}
	want := map[string]int{"relay.localhost" + port: most, "other.localhost" + port: most}
	if !maps.Equal(followed, want) || w.rejected("foreign host") != 2*(relays-most) {
		t.Errorf("%v redirects are followed, %d rejected; want %v, %d", followed, w.rejected("foreign host"), want, 2*(relays-most))
	}
	listed := must[[]store.RejectedLink](t)(w.store.ListRejected(t.Context(), store.RejectedFilter{CrawlID: w.crawl().ID, Limit: 100}))
	if len(listed) == 0 || !strings.HasSuffix(listed[0].URL, ".victim.localhost"+port+"/robots.txt") || !strings.HasSuffix(listed[0].From, ".localhost"+port+"/") {
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

func (h hasty) Queue(ctx context.Context, req fetch.Request, who fetch.Asker, _ time.Duration) (*fetch.Ticket, time.Duration, error) {
	return h.Fetcher.Queue(ctx, req, who, time.Millisecond)
}

// crowded is a worker with three pages of as many hosts at one address, where one request may
// be in flight, and is. The third needs its robots.txt first. finish ends the first request.
func crowded(t *testing.T) (w *world, pages []crawl.PageRef, sites []*site, finish func()) {
	asked, answer := make(chan struct{}), make(chan struct{})
	slow := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-answer
		html(w, "<p>late")
	})
	sites = []*site{slow, serve(t, pageOf("<p>hello")), serve(t, answering(404, ""))}
	w = newWorld(t, func(p *parts) { p.fetcher = hasty{p.fetcher} })
	pages = w.living([]string{slow.url + "/", sites[1].url + "/", sites[2].url + "/"}, func(spec *crawl.Spec) { spec.Politeness.PerAddress = 1 })
	w.saveRobots(store.SaveRobotsParams{Origin: sites[2].url, State: store.RobotsParsed, Expires: -time.Second})
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
	return w, pages, sites, func() {
		close(answer)
		if out := <-done; out.Outcome != crawl.OutcomeNew {
			t.Errorf("the first: %+v", out)
		}
	}
}

// While the most requests allowed are in flight to an address, requests to other names of it
// do not come: neither for a page nor for a robots.txt. Their pages are told to wait, which is
// no failure, and keep their permits.
func TestAcquireWaitsForACrowdedAddress(t *testing.T) {
	t.Parallel()
	w, pages, sites, finish := crowded(t)
	for _, page := range pages[1:] {
		if got := w.acquire(page, 1); got.Answer != contract.AnswerWait || got.Wait < time.Second || !strings.Contains(got.Reason, "politeness.per_address") {
			t.Errorf("%s is answered %+v", page.URL, got)
		}
		if host := w.host(page); host.InFlight || host.BackoffLevel != 0 {
			t.Errorf("%s: %+v", page.URL, host)
		}
	}
	finish()
	if out, err := w.fetch(pages[1], 1); err != nil || out.Outcome != crawl.OutcomeNew {
		t.Errorf("the second: %+v, %v", out, err)
	}
	robots := w.acquire(pages[2], 1)
	if robots.Answer != contract.AnswerRobots {
		t.Fatalf("the third is answered %+v", robots)
	}
	run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: pages[2], Visit: 1, Permit: robots.Permit})
	sites[1].wantRequests(t, "/")
	sites[2].wantRequests(t, "/robots.txt")
}

// A page that sleeps until there is room at its address keeps its permit, unless a person
// waits for another visit at the host.
func TestSleeperGivesWayToAPerson(t *testing.T) {
	t.Parallel()
	w, pages, sites, finish := crowded(t)
	w.open([]string{sites[1].url + "/", sites[1].url + "/a", sites[1].url + "/b"}, func(spec *crawl.Spec) {
		spec.Name, spec.Politeness.PerAddress = "other", 1
	})
	rec := must[store.CrawlRecord](t)(w.store.Crawl(t.Context(), "other"))
	run(w, contract.Admit, contract.AdmitIn{CrawlID: rec.ID, Limit: 100})
	var sleepers []crawl.PageRef
	for _, path := range []string{"/a", "/b"} {
		found := must[[]store.PageRecord](t)(w.store.FindPages(t.Context(), sites[1].url+path, "other"))
		sleepers = append(sleepers, found[0].PageRef)
	}
	for _, page := range sleepers { // as many as may have a permit of the host
		if got := w.acquire(page, 1); got.Answer != contract.AnswerWait {
			t.Fatalf("%s is answered %+v", page.URL, got)
		}
	}
	wanted := contract.AcquireIn{Page: pages[1], Visit: 1, Class: crawl.ClassManual}
	if got := run(w, contract.Acquire, wanted); got.Answer != contract.AnswerWait || got.Wait != time.Second || !strings.Contains(got.Reason, "politeness.per_address") {
		t.Errorf("the person's visit is answered %+v, want it to have the host's permit", got)
	}
	finish()
	got := run(w, contract.Acquire, wanted)
	if got.Answer != contract.AnswerPermit {
		t.Fatalf("the person's visit is answered %+v", got)
	}
	run(w, contract.Fetch, contract.FetchIn{Page: pages[1], Visit: 1, Permit: got.Permit})
	for _, page := range sleepers {
		if _, err := w.fetch(page, 1); err != nil {
			t.Errorf("%s: %v", page.URL, err)
		}
	}
	sites[1].wantRequests(t, "/", "/a", "/b")
}

// A request that comes to a full address all the same does not begin. That is nobody's fault,
// and the permit stands.
func TestFetchWaitsForACrowdedAddress(t *testing.T) {
	t.Parallel()
	w, pages, sites, finish := crowded(t)
	open := w.beside() // to which its address looks free
	open.fetcher = fetch.New(fetch.Options{})
	open = open.beside()
	in := contract.FetchIn{Page: pages[1], Visit: 1, Permit: open.permit(pages[1], 1)}
	robots := contract.RefreshRobotsIn{Page: pages[2], Visit: 1, Permit: open.acquire(pages[2], 1).Permit}
	_, err := try(w, contract.Fetch, in)
	wantError(t, err, contract.ErrTypeCrowded, true, "at most 1 to 127.0.0.1")
	_, err = try(w, contract.RefreshRobots, robots)
	wantError(t, err, contract.ErrTypeCrowded, true, "at most 1 to 127.0.0.1")
	for _, page := range pages[1:] {
		if host := w.host(page); host.InFlight || host.BackoffLevel != 0 || w.page(page.URL).Visits != 0 {
			t.Errorf("%s: %+v", page.URL, host)
		}
	}
	finish()
	if out := run(w, contract.Fetch, in); out.Outcome != crawl.OutcomeNew {
		t.Errorf("the second, by the same permit: %+v", out)
	}
	if out := run(w, contract.RefreshRobots, robots); !strings.Contains(out.Summary, "no robots.txt") {
		t.Errorf("the robots.txt, by the same permit: %s", out.Summary)
	}
	sites[1].wantRequests(t, "/")
	sites[2].wantRequests(t, "/robots.txt")
}
