package activities_test

import (
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// However a site leads to a port of another protocol, it is rejected, counted and
// never requested.
func TestBadPortsAreRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, answering(302, "", "Location: http://127.0.0.1:25/robots.txt"))
	pages := w.living([]string{"http://localhost/", "http://localhost/moved", "http://shop.localhost/"}, wholeMachine, func(spec *crawl.Spec) {
		spec.Scope.Type, spec.Seeds = "any", append(spec.Seeds, s.url+"/")
	})
	w.saveRobots(store.SaveRobotsParams{
		Origin: "http://localhost", State: store.RobotsParsed, Status: 200, Expires: time.Hour,
		Text: "Sitemap: http://localhost:6000/map.xml", Sitemaps: []string{"http://localhost:6000/map.xml"},
	})
	w.seen(pages[0], 1, `<a href="http://localhost:22/">a</a> <a href="http://mail.localhost:25/">b</a> <link rel=alternate type=application/rss+xml href="//localhost:143/feed">`)
	got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: pages[0], Visit: 1})
	if got.Rejected["bad port"] != 4 || got.New != 0 {
		t.Errorf("registered %+v, want the links, the sitemap and the feed rejected", got)
	}
	w.plan(pages[1], 1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Location: "http://localhost:6667/"})
	seeds := len(w.crawl().Spec.Seeds)
	w.plan(pages[2], 1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Location: "http://www.shop.localhost:6667/"})
	counts := must[[]store.RejectionCount](t)(w.store.Rejections(t.Context(), w.crawl().ID))
	if len(counts) != 1 || counts[0] != (store.RejectionCount{Reason: "bad port", Links: 6}) || len(w.crawl().Spec.Seeds) != seeds {
		t.Errorf("rejected %+v, %d seeds", counts, len(w.crawl().Spec.Seeds)-seeds)
	}
	if robots, _ := w.refreshed(w.page(s.url + "/").PageRef); robots.State != store.RobotsUnreachable || !strings.Contains(robots.Problem, "bad port") {
		t.Errorf("robots.txt %+v, want it out of reach", robots)
	}
}
