package activities_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/requisite"
	"recrawl/internal/store"
)

// shownUnder counts the crawl's requisites on hosts under a domain.
func (w *world) shownUnder(domain string) int {
	w.t.Helper()
	n := 0
	for _, p := range must[[]store.PageRecord](w.t)(w.store.ListPages(w.t.Context(), store.PageFilter{CrawlID: w.crawl().ID, Limit: 10_000})) {
		if p.Kind == crawl.KindRequisite && strings.HasSuffix(hostName(p.Host), domain) {
			n++
		}
	}
	return n
}

// hostName is a host without its port.
func hostName(host string) string { name, _, _ := strings.Cut(host, ":"); return name }

// picturesOn is a page with pictures on n foreign hosts.
func picturesOn(first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<img src=http://n%d.victim%d.localhost/a.png>", first+i, first+i)
	}
	return b.String()
}

// TestRequisitesOnHostsOfOthers: a page has pictures on as many foreign hosts as one page
// may have, its stylesheet first, and a crawl on as many as its spec allows. The rest is
// rejected in words.
func TestRequisitesOnHostsOfOthers(t *testing.T) {
	t.Parallel()
	var body atomic.Pointer[string]
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { html(w, *body.Load()) })
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	seed := "http://www.shop.localhost" + port + "/"
	w := newWorld(t)
	page := w.living([]string{seed}, keepRequisites, wholeMachine, func(spec *crawl.Spec) { spec.Documents.RequisiteHosts = 23 })[0]
	show := func(visit int, text string) contract.PlanOut {
		text = fmt.Sprintf("<p>Edition %d of this page.%s", visit, text)
		body.Store(&text)
		return w.visitAnd(page, visit, registering)
	}

	own := "<img src=/a.png><img src=http://static.shop.localhost" + port + "/b.png>"
	show(1, picturesOn(0, 40)+own+"<link rel=stylesheet href=http://style.localhost/a.css>")
	if n := w.shownUnder(".localhost"); n != requisite.MaxHosts+2 {
		t.Errorf("%d requisites are kept, want those of %d hosts and two of the site", n, requisite.MaxHosts)
	}
	for _, url := range []string{"http://style.localhost/a.css", "http://n0.victim0.localhost/a.png", seed + "a.png", "http://static.shop.localhost" + port + "/b.png"} {
		if found, known := w.find(url); !known || found.Kind != crawl.KindRequisite {
			t.Errorf("%s: %+v", url, found)
		}
	}
	if n := w.rejected(requisite.ReasonPageHosts); n != 21 {
		t.Errorf("%d pictures of the page are rejected, want 21", n)
	}

	// Those that are known take no place, and three others are left.
	show(2, picturesOn(9, 10)+picturesOn(100, 10))
	if n := w.shownUnder(".localhost"); n != 23+2 {
		t.Errorf("%d requisites are kept after another page, want those of 23 hosts and two of the site", n)
	}
	if n := w.rejected(requisite.ReasonCrawlHosts); n != 7 {
		t.Errorf("%d pictures are rejected for the crawl, want 7", n)
	}
	for reason, words := range map[string]string{requisite.ReasonPageHosts: "20 hosts", requisite.ReasonCrawlHosts: "23 hosts for requisites (documents.requisite_hosts)"} {
		listed := must[[]store.RejectedLink](t)(w.store.ListRejected(t.Context(), store.RejectedFilter{CrawlID: w.crawl().ID, Reason: reason, Limit: 10}))
		if len(listed) == 0 || listed[0].From != seed || !strings.Contains(listed[0].Detail, words) {
			t.Errorf("%s: %+v", reason, listed)
		}
	}
}

// TestRequisitesAnywhere: requisites that the scope takes by itself, or by a rule, count
// against no bound.
func TestRequisitesAnywhere(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*crawl.Spec){
		"any": func(spec *crawl.Spec) { spec.Scope.Type = "any" },
		"a rule": func(spec *crawl.Spec) {
			spec.Scope.Rules = []crawl.ScopeRule{{Accept: &crawl.FilterSpec{Extension: crawl.Texts{"images"}}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(w http.ResponseWriter, r *http.Request) { html(w, "<p>Some words"+picturesOn(0, 40)) })
			w := newWorld(t)
			page := w.living([]string{s.url + "/"}, keepRequisites, wholeMachine, change, func(spec *crawl.Spec) { spec.Documents.RequisiteHosts = 1 })[0]
			w.visitAnd(page, 1, registering)
			if n := w.shownUnder(".localhost"); n != 40 {
				t.Errorf("%d pictures are kept, want 40", n)
			}
		})
	}
}

// TestRequisitesLeadOn: a stylesheet on a foreign host, and a picture that redirects, take
// places for the other hosts to which they lead, under one domain or not.
func TestRequisitesLeadOn(t *testing.T) {
	t.Parallel()
	var s *site
	s = serve(t, func(w http.ResponseWriter, r *http.Request) {
		port := s.url[strings.LastIndexByte(s.url, ':'):]
		switch r.URL.Path {
		case "/":
			html(w, "<p>Some words<link rel=stylesheet href=http://a.style.localhost"+port+"/a.css><img src=http://moving.localhost"+port+"/a.png>")
		case "/a.css":
			w.Header().Set("Content-Type", "text/css")
			for i := range 9 {
				fmt.Fprintf(w, ".c%d{background:url(http://n%d.style.localhost%s/a.png)}", i, i, port)
			}
			fmt.Fprint(w, ".own{background:url(/own.png)}")
		case "/a.png":
			http.Redirect(w, r, "http://moved.localhost"+port+"/b.png", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	port := s.url[strings.LastIndexByte(s.url, ':'):]
	w := newWorld(t)
	page := w.living([]string{s.url + "/"}, keepRequisites, wholeMachine, func(spec *crawl.Spec) { spec.Documents.RequisiteHosts = 4 })[0]
	for _, host := range []string{"a.style", "moving"} {
		w.saveRobots(store.SaveRobotsParams{Origin: "http://" + host + ".localhost" + port, State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
	}
	w.visitAnd(page, 1, registering)
	w.visitAnd(w.admitted("http://a.style.localhost"+port+"/a.css"), 1, registering)
	if n := w.shownUnder(".style.localhost"); n != 2+2 {
		t.Errorf("%d requisites under the stylesheet's domain, want it, its own and two others", n)
	}
	if n := w.rejected(requisite.ReasonCrawlHosts); n != 7 {
		t.Errorf("%d are rejected, want 7", n)
	}
	w.visitAnd(w.admitted("http://moving.localhost"+port+"/a.png"), 1, registering)
	if _, known := w.find("http://moved.localhost" + port + "/b.png"); known || w.rejected(requisite.ReasonCrawlHosts) != 8 {
		t.Errorf("a redirect leads to a fifth host: %t, %d rejected", known, w.rejected(requisite.ReasonCrawlHosts))
	}
}
