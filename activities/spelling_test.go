package activities_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// insisting serves one spelling and redirects all others to it.
func insisting(on string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if r.RequestURI != on {
			rw.Header().Set("Location", on)
			rw.WriteHeader(http.StatusMovedPermanently)
			return
		}
		answering(200, "<p>the page", "Content-Type: text/html")(rw, r)
	}
}

// TestServerInsistsOnASpelling: the page is requested again at once under the spelling that
// its server wants, and from then on only under that.
func TestServerInsistsOnASpelling(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"/O%27Brien": "/O'Brien", "/~joe": "/%7Ejoe", "/caf%C3%A9": "/caf%c3%a9", "/a%5B1%5D": "/a[1]", "/p?q=%27y%27": "/p?q='y'",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, insisting(want))
			page := w.living([]string{s.url + key})[0]
			first := w.whole(page, 1)
			if first.Outcome != crawl.OutcomeRedirected || first.State != crawl.Active || first.NextAt.After(first.At.Add(time.Minute)) {
				t.Errorf("the first visit came to %+v", first)
			}
			visit := must[store.VisitRecord](t)(w.store.Visit(t.Context(), page.PageID, 1))
			if words := schedule.Words(visit.Reasons); visit.Location != s.url+want || !strings.Contains(words, "spelled otherwise") {
				t.Errorf("it led to %s, because %s", visit.Location, words)
			}
			if second := w.whole(page, 2); second.Outcome != crawl.OutcomeNew || second.State != crawl.Active {
				t.Errorf("the second visit came to %+v", second)
			}
			w.whole(page, 3)
			s.wantRequests(t, key, want, want)
			if got := w.page(page.URL).Respelling; got != (store.Respelling{Spelling: want}) {
				t.Errorf("the page keeps %+v", got)
			}
		})
	}
}

// TestSpellingsInACircle: two spellings that redirect to each other are reported as a
// failure after few requests, and no longer once one of them is answered.
func TestSpellingsInACircle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mended := false
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case mended:
			answering(200, "<p>x", "Content-Type: text/html")(rw, r)
		case r.RequestURI == "/it's":
			answering(301, "", "Location: /it%27s")(rw, r)
		default:
			answering(301, "", "Location: /it's")(rw, r)
		}
	})
	page := w.living([]string{s.url + "/it%27s"})[0]
	for visit := 1; visit <= 2; visit++ {
		if plan := w.whole(page, visit); plan.Outcome != crawl.OutcomeRedirected {
			t.Errorf("visit %d: %+v", visit, plan)
		}
	}
	for visit := 3; visit <= 4; visit++ {
		plan := w.whole(page, visit)
		record := must[store.VisitRecord](t)(w.store.Visit(t.Context(), page.PageID, visit))
		if plan.Outcome != crawl.OutcomeFailed || plan.State != crawl.Failing || !strings.Contains(record.Problem, "in a circle between spellings") {
			t.Errorf("visit %d: %+v: %s", visit, plan, record.Problem)
		}
		if wait := plan.NextAt.Sub(plan.At); wait < time.Minute {
			t.Errorf("the circle is tried again after %s", wait)
		}
	}
	mended = true
	if plan := w.whole(page, 5); plan.Outcome != crawl.OutcomeNew {
		t.Errorf("mended: %+v", plan)
	}
	s.wantRequests(t, "/it%27s", "/it's", "/it%27s", "/it%27s", "/it%27s")
	if got := w.page(page.URL).Respelling; got.Times != 0 {
		t.Errorf("the page keeps %+v", got)
	}
}

// TestFirstSpelling: a URL is requested under the spelling of its link, seed or
// redirect, as a browser would, and known by its key.
func TestFirstSpelling(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		switch r.RequestURI {
		case "/seed's":
			answering(200, `<a href="/%7ejoe">x</a><a href="/~joe">x</a><a href="/go">x</a><a href="/100%">x</a>`, "Content-Type: text/html")(rw, r)
		case "/go":
			answering(302, "", "Location: /a[1]")(rw, r)
		default:
			answering(200, "<p>"+r.RequestURI, "Content-Type: text/html")(rw, r)
		}
	})
	opened := w.open([]string{s.url + "/seed's"})
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
	admit := func(key string) crawl.PageRef {
		run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
		return w.page(s.url + key).PageRef
	}
	w.visitAnd(admit("/seed%27s"), 1, contract.DetectIn{Register: true})
	w.visit(admit("/~joe"), 1)
	w.visit(admit("/go"), 1)
	w.visit(admit("/a%5B1%5D"), 1)
	w.visit(admit("/100%25"), 1)
	s.wantRequests(t, "/seed's", "/%7ejoe", "/go", "/a[1]", "/100%25")
}

// TestSpellingThatTheRulesChange: if the crawl's rules change a URL, the request follows
// the rules.
func TestSpellingThatTheRulesChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		answering(200, "<p>x", "Content-Type: text/html")(rw, r)
	})
	opened := w.open([]string{s.url + "/it's?utm_source=x"}, func(spec *crawl.Spec) { spec.URLs.StripParams = []string{"utm_*"} })
	run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
	w.visit(w.page(s.url+"/it%27s").PageRef, 1)
	s.wantRequests(t, "/it%27s")
}

// TestRobotsForbidEverySpelling: a rule in any spelling forbids a page in any other, before
// any request.
func TestRobotsForbidEverySpelling(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{"/O'Brien", "/O%27Brien"} {
		for i, seed := range []string{"/O'Brien", "/O%27Brien"} {
			t.Run(fmt.Sprint(rule, i), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				s := serve(t, answering(200, "<p>x", "Content-Type: text/html"))
				opened := w.open([]string{s.url + seed})
				run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
				w.saveRobots(store.SaveRobotsParams{
					Origin: s.url, State: store.RobotsParsed, Status: 200, Expires: time.Hour, Text: "User-agent: *\nDisallow: " + rule + "\n",
				})
				if got := w.acquire(w.page(s.url+"/O%27Brien").PageRef, 1); got.Answer != contract.AnswerExcluded {
					t.Errorf("%+v", got)
				}
				s.wantRequests(t)
			})
		}
	}
}
