package activities_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

func TestAcquireGrants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, pageOf("<p>hello"))
	page := w.living([]string{s.url + "/a"})[0]
	got := w.permit(page, 1)
	if got.Kind != crawl.PermitPage || got.URL != page.URL || got.Generation != 1 || got.Lifetime <= 30*time.Second {
		t.Errorf("permit %+v", got)
	}
	if again := w.permit(page, 1); again != got {
		t.Errorf("asked again: permit %+v, want the same %+v", again, got)
	}
	s.wantRequests(t)
}

func TestAcquireAsksForRobots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, pageOf("<p>hello"))
	w.open([]string{s.url + "/a", s.url + "/b"})
	first, second := w.page(s.url+"/a").PageRef, w.page(s.url+"/b").PageRef
	got := w.acquire(first, 1)
	if got.Answer != contract.AnswerRobots || got.Permit.Kind != crawl.PermitRobots || got.Permit.URL != s.url+"/robots.txt" {
		t.Fatalf("answer %+v, want a permit for robots.txt", got)
	}
	run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: first, Visit: 1, Permit: got.Permit})
	w.permit(first, 1)
	w.permit(second, 1)
	s.wantRequests(t, "/robots.txt")
}

// A page that robots.txt forbids gives its permit back: it makes no request, and
// the next one need not wait for it.
func TestAcquireExcludes(t *testing.T) {
	t.Parallel()
	const everybody = "User-agent: *\nDisallow: /private\n"
	const ours = "User-agent: *\nAllow: /\n\nUser-agent: recrawl\nDisallow: /private\n"
	cases := []struct{ name, robots, agent, rule string }{
		{"a rule for everybody", everybody, "recrawl", `line 2 of robots.txt says "Disallow: /private"`},
		{"a rule for us", ours, "recrawl", `line 5 of robots.txt says "Disallow: /private"`},
		{"a rule for another crawler", ours, "other", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			denied := 0
			w := newWorld(t, func(p *parts) { p.settings.Denied = func() { denied++ } })
			s := serve(t, pageOf("<p>hello"))
			pages := w.living([]string{s.url + "/private/a", s.url + "/b"}, func(spec *crawl.Spec) {
				spec.Identity.Agent = c.agent
				spec.Politeness.Delay = crawl.Duration(time.Hour)
			})
			w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsParsed, Status: 200, Text: c.robots, Expires: time.Hour})
			got := w.acquire(pages[0], 1)
			if c.rule == "" {
				if got.Answer != contract.AnswerPermit || denied != 0 {
					t.Errorf("answer %+v, and %d denials were counted, want a permit", got, denied)
				}
				return
			}
			if got.Answer != contract.AnswerExcluded || got.Rule != c.rule || got.Permit != (crawl.Permit{}) || denied != 1 {
				t.Errorf("answer %+v, and %d denials were counted, want excluded by %q", got, denied, c.rule)
			}
			if h := w.host(pages[0]); h.Waiting != 0 {
				t.Errorf("%d pages in line, want none", h.Waiting)
			}
			if out := w.fetched(w.fetch(pages[1], 1)); out.Outcome != crawl.OutcomeNew {
				t.Errorf("the next page's fetch: %+v", out)
			}
			s.wantRequests(t, "/b")
		})
	}
}

// An exclusion is a visit like any other, except that it makes no request.
func TestExcludedVisitIsRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, pageOf("<p>hello"))
	page := w.living([]string{s.url + "/"})[0] // a seed
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsParsed, Text: "User-agent: *\nDisallow: /\n", Expires: time.Hour})
	rule := w.acquire(page, 1).Rule
	plan := run(w, contract.PlanRevisit, contract.PlanIn{
		Page: page, Visit: 1, Fetch: contract.FetchOut{Outcome: crawl.OutcomeExcluded, Problem: rule},
	})
	if plan.State != crawl.Excluded || !near(plan.NextAt.Sub(plan.At), day, 0.1) || !strings.Contains(plan.Reason, rule) {
		t.Errorf("plan %+v, want the page excluded and looked at again after a day", plan)
	}
	s.wantRequests(t)
}

func TestAcquireOfACrawlThatDoesNotRun(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		before func(w *world, page crawl.PageRef)
		want   contract.AcquireAnswer
	}{
		{"paused", func(w *world, _ crawl.PageRef) { w.setState(crawl.CrawlPaused) }, contract.AnswerParked},
		{"stopped", func(w *world, _ crawl.PageRef) { w.setState(crawl.CrawlStopped) }, contract.AnswerStopped},
		{"page stopped", func(w *world, page crawl.PageRef) {
			run(w, contract.LeaveLine, contract.LeaveIn{Page: page, State: crawl.Stopped})
		}, contract.AnswerStopped},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://localhost/"})[0]
			c.before(w, page)
			got := w.acquire(page, 1)
			if got.Answer != c.want || got.Permit != (crawl.Permit{}) {
				t.Errorf("answer %+v, want %s", got, c.want)
			}
			if parked := got.Answer == contract.AnswerParked; parked != (got.Reason != "") {
				t.Errorf("answer %s with the reason %q", got.Answer, got.Reason)
			}
		})
	}
}

func TestAcquireWaits(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		before func(w *world, s *site, others []crawl.PageRef)
		want   time.Duration
		reason string
	}{
		{"one other page comes first", func(w *world, _ *site, others []crawl.PageRef) {
			w.permit(others[0], 1)
		}, time.Hour, "one other page of the host comes first"},
		{"the host rests", func(w *world, _ *site, others []crawl.PageRef) {
			w.visit(others[0], 1)
		}, time.Hour, "the host rests between two requests"},
		{"robots.txt cannot be had", func(w *world, s *site, _ []crawl.PageRef) {
			w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsUnreachable, Expires: time.Hour, Problem: "HTTP 500"})
		}, time.Hour, "robots.txt cannot be had, so everything is disallowed"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s := serve(t, pageOf("<p>hello"))
			pages := w.living([]string{s.url + "/a", s.url + "/b"}, func(spec *crawl.Spec) {
				spec.Politeness.Delay = crawl.Duration(time.Hour)
			})
			c.before(w, s, pages)
			got := w.acquire(pages[1], 1)
			if got.Answer != contract.AnswerWait || !near(got.Wait, c.want, 0.05) || got.Reason != c.reason {
				t.Errorf("answer %+v, want to wait %s because %q", got, c.want, c.reason)
			}
			if slices.Contains(s.requests(), "/b") {
				t.Error("the waiting page was requested")
			}
		})
	}
}

// changedRobots is a store in which an origin's robots.txt is replaced between
// the grant of a permit and the reading of the text that the grant names.
type changedRobots struct {
	store.Store
	to store.SaveRobotsParams
}

func (s changedRobots) Robots(ctx context.Context, origin string) (store.RobotsRecord, error) {
	if err := s.SaveRobots(ctx, s.to); err != nil {
		return store.RobotsRecord{}, err
	}
	return s.Store.Robots(ctx, origin)
}

// The newest robots.txt decides, whatever has become of the one in force at the grant.
func TestAcquireReadsTheNewestRobots(t *testing.T) {
	t.Parallel()
	const origin = "http://localhost"
	cases := []struct {
		name string
		to   store.SaveRobotsParams
		want contract.AcquireAnswer
	}{
		{"forbids now", store.SaveRobotsParams{State: store.RobotsParsed, Text: "User-agent: *\nDisallow: /\n"}, contract.AnswerExcluded},
		{"is gone now", store.SaveRobotsParams{State: store.RobotsAllowAll}, contract.AnswerPermit},
		{"cannot be had now", store.SaveRobotsParams{State: store.RobotsUnreachable, Problem: "HTTP 500"}, contract.AnswerExcluded},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.to.Origin, c.to.Expires = origin, time.Hour
			w := newWorld(t, func(p *parts) { p.store = changedRobots{p.store, c.to} })
			page := w.living([]string{origin + "/"})[0]
			w.saveRobots(store.SaveRobotsParams{Origin: origin, State: store.RobotsParsed, Text: "User-agent: *\nAllow: /\n", Expires: time.Hour})
			if got := w.acquire(page, 1); got.Answer != c.want {
				t.Errorf("answer %+v, want %s", got, c.want)
			}
		})
	}
}
