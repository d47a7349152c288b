package activities_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

func (w *world) steering() store.SteeringRecord {
	w.t.Helper()
	return must[store.SteeringRecord](w.t)(w.store.Steering(w.t.Context(), w.crawl().ID, true))
}

// looked records the visits of a page that saw it at the times ago, the last of
// them with the outcome.
func (w *world) looked(page crawl.PageRef, outcome crawl.Outcome, ago ...time.Duration) {
	w.t.Helper()
	now := must[time.Time](w.t)(w.store.Now(w.t.Context()))
	for i, d := range ago {
		seen := contract.FetchOut{Outcome: crawl.OutcomeUnchanged, At: now.Add(-d)}
		switch i {
		case len(ago) - 1:
			seen.Outcome = outcome
		case 0:
			seen.Outcome = crawl.OutcomeNew
		}
		w.plan(page, w.page(page.URL).Visits+1, seen)
	}
}

// A budget of twice the planned visits is met: the threshold falls, and the round
// that looks at them tells the sleepers, up to the limit.
func TestMaintainMeetsTheBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(40), func(spec *crawl.Spec) {
		spec.Limits.Window, spec.Revisit.Budget = 100, "400/day"
		spec.MaintainEvery = crawl.Duration(day)
	})
	for _, p := range pages {
		w.looked(p, crawl.OutcomeChanged, 20*day, 10*day, time.Minute)
	}
	w.maintain(false)
	first := w.steering()
	if first.Policy != "sqrt" || first.Threshold <= 0 || first.Rounds != 1 || first.Planned <= 0 || first.Budget != 400 || first.At.IsZero() {
		t.Errorf("steering %+v after the first round", first)
	}
	if len(w.flows.rescheduled) > 0 {
		t.Errorf("sleepers are looked at in the first round")
	}
	for range schedule.LookEvery - 1 {
		w.maintain(false)
	}
	// 5 % of the visits of seven days: those of the budget, which are more than are planned.
	last := w.steering()
	if most := int(0.05 * 7 * max(last.Planned, last.Budget)); len(w.flows.rescheduled) == 0 || len(w.flows.rescheduled) > most {
		t.Errorf("%d sleepers are moved, want some and at most %d", len(w.flows.rescheduled), most)
	}
	moved := w.page(w.flows.rescheduled[0])
	if gap := moved.NextAt.Sub(moved.LastAt); gap > 6*time.Hour {
		t.Errorf("a sleeper is moved to %v after its visit; ten visits a day are to be had", gap)
	}
	planned := 0.0
	for _, p := range pages {
		page := w.page(p.URL)
		w.looked(p, crawl.OutcomeUnchanged, time.Second)
		page = w.page(p.URL)
		planned += float64(day) / float64(page.NextAt.Sub(page.LastAt))
	}
	if math.Abs(planned-400) > 60 {
		t.Errorf("visited once more, the pages plan %v visits a day of 400", planned)
	}
}

// measured is a store whose engine makes no more than some visits a day.
type measured struct {
	store.Store
	engine store.EngineRecord
}

func (m measured) Engine(context.Context, int64) (store.EngineRecord, error) { return m.engine, nil }

// What the engine does not make is not planned, beside what other crawls ask for. The reasons
// of a visit say so.
func TestMaintainPlansWhatTheEngineMakes(t *testing.T) {
	t.Parallel()
	for policy, words := range map[string]string{
		"fixed": "because the engine does not make more visits",
		"sqrt":  "√λ share: ",
	} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(p *parts) { p.store = measured{p.store, store.EngineRecord{PerDay: 30, Others: 80}} })
			pages := w.living(numbered(40), func(spec *crawl.Spec) {
				spec.Limits.Window, spec.Revisit.Policy, spec.Revisit.DefaultInterval = 100, policy, crawl.Duration(day)
			})
			for _, p := range pages {
				w.looked(p, crawl.OutcomeUnchanged, 20*day, 10*day, time.Minute)
			}
			for range 15 {
				w.maintain(false)
			}
			planned := 0.0
			for _, p := range pages {
				w.looked(p, crawl.OutcomeUnchanged, time.Second)
				page := w.page(p.URL)
				planned += float64(day) / float64(page.NextAt.Sub(page.LastAt))
			}
			if planned < 9 || planned > 11 {
				t.Errorf("%v visits a day are planned; a third of 30 can be", planned)
			}
			if asked := w.steering().Asked; asked < 39 || asked > 41 {
				t.Errorf("%v visits a day are asked for, want 40", asked)
			}
			visits := must[[]store.VisitRecord](t)(w.store.ListVisits(t.Context(), pages[0].PageID, 0, 1))
			if why := schedule.Words(visits[0].Reasons); !strings.Contains(why, words) {
				t.Errorf("why: %s", why)
			}
		})
	}
}

// A host gets no more visits than its gaps allow, whatever the budget.
func TestMaintainKeepsHostsWithinTheirLimits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(30), func(spec *crawl.Spec) {
		spec.Limits.Window, spec.Revisit.Budget = 100, "10000/day"
		spec.Politeness.Delay, spec.Revisit.MinInterval = crawl.Duration(time.Hour), crawl.Duration(time.Minute)
	})
	for _, p := range pages {
		w.looked(p, crawl.OutcomeChanged, 20*day, 10*day, time.Minute)
	}
	for range 25 {
		w.maintain(false)
	}
	for _, p := range pages {
		w.looked(p, crawl.OutcomeUnchanged, time.Second)
	}
	planned := 0.0
	for _, p := range pages {
		page := w.page(p.URL)
		planned += float64(day) / float64(page.NextAt.Sub(page.LastAt))
	}
	if planned > 24 {
		t.Errorf("%v visits a day are planned for a host that can be asked once an hour", planned)
	}
	page := w.page(pages[0].URL)
	if page.HostSteering.Price <= page.Steering.Threshold || page.HostSteering.Limit <= 0 {
		t.Errorf("the host is full, and its steering %+v beside %+v", page.HostSteering, page.Steering)
	}
}

// A site's Crawl-delay counts, however fast the crawl would be by itself.
func TestMaintainKeepsCrawlDelays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(30), func(spec *crawl.Spec) {
		spec.Limits.Window, spec.Revisit.Budget = 100, "10000/day"
		spec.Politeness.Delay, spec.Revisit.MinInterval = crawl.Duration(time.Millisecond), crawl.Duration(time.Minute)
	})
	w.saveRobots(store.SaveRobotsParams{
		Origin: originOf(pages[0].URL), State: store.RobotsParsed, Status: 200, Text: "User-agent: *\nCrawl-delay: 600\n",
		CrawlDelay: 10 * time.Minute, Expires: time.Hour,
	})
	for _, p := range pages {
		w.looked(p, crawl.OutcomeChanged, 20*day, 10*day, time.Minute)
	}
	for range 2 {
		w.maintain(false)
		for _, p := range pages { // planned by the new threshold
			w.looked(p, crawl.OutcomeUnchanged, time.Second)
		}
	}
	w.maintain(false)
	w.maintain(false)
	if page := w.page(pages[0].URL); page.HostSteering.Price <= page.Steering.Threshold || page.HostSteering.Limit > 144 {
		t.Errorf("a host that is to be asked every ten minutes has %+v beside %+v", page.HostSteering, page.Steering)
	}
}

func TestRevisitRules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/", "http://localhost/news/"}, func(spec *crawl.Spec) {
		spec.Revisit.Rules = []crawl.RevisitRule{{Prefix: "http://localhost/news/", Policy: "fixed", DefaultInterval: crawl.Duration(2 * time.Hour)}}
	})
	for i, want := range []string{"√λ share", "every 2h"} {
		if plan := w.plan(pages[i], 1, contract.FetchOut{Outcome: crawl.OutcomeNew}); !strings.Contains(plan.Reason, want) {
			t.Errorf("%s: %s, want %s", pages[i].URL, plan.Reason, want)
		}
	}
}

// The selective rule skips the visit of a page that did not change while those that
// it links to stay the same, once; a person's ask is served.
func TestSelectiveTurnIsSkipped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(6), func(spec *crawl.Spec) { spec.Revisit.Policy, spec.Revisit.Selective = "frmax", true })
	hub := pages[0]
	urls := []store.NewURL{}
	for _, p := range pages[1:] {
		urls = append(urls, store.NewURL{URL: p.URL, Host: p.Host, Level: 1})
	}
	must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: hub.CrawlID, From: hub.PageID, URLs: urls}))
	w.looked(hub, crawl.OutcomeUnchanged, 3*day, day)
	for i, p := range pages[1:] {
		w.looked(p, []crawl.Outcome{crawl.OutcomeUnchanged, crawl.OutcomeChanged}[i/4], 4*day, time.Hour) // one of five changed
	}
	visit := w.page(hub.URL).Visits + 1
	manual := run(w, contract.Acquire, contract.AcquireIn{Page: hub, Visit: visit, Class: crawl.ClassManual})
	if manual.Answer != contract.AnswerPermit {
		t.Fatalf("a person's ask is answered %+v", manual)
	}
	run(w, contract.LeaveLine, contract.LeaveIn{Page: hub})
	skipped := w.acquire(hub, visit)
	if skipped.Answer != contract.AnswerSkipped || !strings.Contains(schedule.Words(skipped.Reasons), "20 % of the pages it links to changed") {
		t.Fatalf("answer %+v", skipped)
	}
	plan := run(w, contract.PlanRevisit, contract.PlanIn{
		Page: hub, Visit: visit, Fetch: contract.FetchOut{Outcome: crawl.OutcomeSkipped, At: time.Now()}, Reasons: skipped.Reasons,
	})
	if plan.Outcome != crawl.OutcomeSkipped || plan.State != crawl.Active {
		t.Errorf("recorded as %+v", plan)
	}
	if again := w.acquire(hub, visit+1); again.Answer != contract.AnswerPermit {
		t.Errorf("skipped twice in a row: %+v", again)
	}
	if !slices.ContainsFunc(must[[]store.VisitRecord](t)(w.store.ListVisits(t.Context(), hub.PageID, 0, 10)), func(v store.VisitRecord) bool {
		return v.Outcome == crawl.OutcomeSkipped
	}) {
		t.Error("the skipped visit is not recorded")
	}
}

// A page that a sitemap says has changed is not skipped, whatever the pages that it links to do.
func TestSelectiveTurnOfAHint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(3), func(spec *crawl.Spec) {
		spec.Revisit.Policy, spec.Revisit.Selective, spec.Revisit.DefaultInterval = "frmax", true, crawl.Duration(30*day)
	})
	for _, from := range pages[:2] {
		must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{
			CrawlID: from.CrawlID, From: from.PageID, URLs: []store.NewURL{{URL: pages[2].URL, Host: pages[2].Host, Level: 1}},
		}))
		w.looked(from, crawl.OutcomeUnchanged, 3*day, day)
	}
	w.looked(pages[2], crawl.OutcomeUnchanged, 4*day, time.Hour)
	w.read(w.listed("http://localhost/map.xml"), "application/xml", urlset(pages[0].URL+" "+ago(2*time.Hour)))
	hinted := w.page(pages[0].URL)
	if hinted.HintedBy == 0 {
		t.Fatal("the sitemap moved nothing")
	}
	if other := w.acquire(pages[1], w.page(pages[1].URL).Visits+1); other.Answer != contract.AnswerSkipped {
		t.Errorf("a page that did not change is answered %+v", other)
	}
	if got := w.acquire(pages[0], hinted.Visits+1); got.Answer != contract.AnswerPermit {
		t.Errorf("a page that the sitemap says has changed is answered %+v", got)
	}
}

// The share left for revisits follows how much of a host has been seen: half of its
// capacity at first, nine tenths in the end.
func TestMaintainLeavesRoomForDiscovery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const most = 24 // visits a day that the host can take
	urls := numbered(40)
	pages := w.living(urls[:10], func(spec *crawl.Spec) {
		spec.Limits.Window, spec.Revisit.Budget = 100, "10000/day"
		spec.Politeness.Delay, spec.Revisit.MinInterval = crawl.Duration(time.Hour), crawl.Duration(time.Minute)
	})
	var more []store.NewURL
	for _, url := range urls[10:] {
		more = append(more, store.NewURL{URL: url, Host: pages[0].Host, Level: 1})
	}
	must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: w.crawl().ID, URLs: more}))
	see := func(pages []crawl.PageRef) {
		for _, p := range pages {
			w.looked(p, crawl.OutcomeChanged, 20*day, 10*day, time.Minute)
		}
	}
	limit := func() float64 {
		w.maintain(false)
		return w.page(urls[0]).HostSteering.Limit
	}
	see(pages)
	if got := limit(); math.Abs(got-most/2) > 0.1 {
		t.Errorf("with 10 pages of 40 visited, revisits may take %v of %d a day", got, most)
	}
	seeMore := func() {
		for _, p := range run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 20}).Pages {
			see([]crawl.PageRef{p.Page})
		}
	}
	seeMore()
	if got := limit(); math.Abs(got-most*0.75) > 0.1 {
		t.Errorf("with 30 pages of 40 visited, revisits may take %v of %d a day", got, most)
	}
	seeMore()
	if got := limit(); math.Abs(got-most*0.9) > 0.1 {
		t.Errorf("with all visited, revisits may take %v of %d a day", got, most)
	}
}
