package activities_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

// plan records a visit with an outcome.
func (w *world) plan(page crawl.PageRef, visit int, seen contract.FetchOut) contract.PlanOut {
	w.t.Helper()
	return run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit, Fetch: seen})
}

func TestPlanRevisit(t *testing.T) {
	t.Parallel()
	outcomes := func(list ...crawl.Outcome) []crawl.Outcome { return list }
	cases := []struct {
		name     string
		policy   string
		outcomes []crawl.Outcome // of the visits one after the other
		state    crawl.PageState // after the last
		interval time.Duration   // and a tenth more or less
		summary  string
	}{
		{"fixed", "fixed", outcomes(crawl.OutcomeNew), crawl.Active, day, "every 1d"},
		{"frmax, first", "frmax", outcomes(crawl.OutcomeNew), crawl.Active, 2 * day, "every 2 rounds of 1d"},
		{
			"frmax, changing", "frmax", outcomes(crawl.OutcomeNew, crawl.OutcomeChanged),
			crawl.Active, day, "changed since the last visit, every round of 1d",
		},
		{"sqrt, first", "sqrt", outcomes(crawl.OutcomeNew), crawl.Active, day, "√λ share: every 1d at θ 0.025"},
		{"fresh, first", "fresh", outcomes(crawl.OutcomeNew), crawl.Active, day, "freshness share: every 1d"},
		{"deltat, first", "deltat", outcomes(crawl.OutcomeNew), crawl.Active, day, "refresh time 1d"},
		{"gone", "fixed", outcomes(crawl.OutcomeGone), crawl.Gone, day, "gone"},
		{"redirected", "fixed", outcomes(crawl.OutcomeRedirected), crawl.Redirect, day, "answers with a redirect"},
		{"unsupported", "fixed", outcomes(crawl.OutcomeUnsupported), crawl.Active, 120 * day, "content type not wanted"},
		{"failing", "fixed", outcomes(crawl.OutcomeFailed), crawl.Failing, time.Hour, "failed"},
		{
			"failing on and on", "fixed", outcomes(crawl.OutcomeFailed, crawl.OutcomeTimedOut, crawl.OutcomeFailed),
			crawl.Failing, 4 * time.Hour, "failed 3 times in a row",
		},
		{
			"back again", "fixed", outcomes(crawl.OutcomeFailed, crawl.OutcomeFailed, crawl.OutcomeUnchanged),
			crawl.Active, day, "every 1d",
		},
		{
			"failing anew", "fixed", outcomes(crawl.OutcomeFailed, crawl.OutcomeFailed, crawl.OutcomeUnchanged, crawl.OutcomeFailed),
			crawl.Failing, time.Hour, "failed",
		},
		{"back from the dead", "fixed", outcomes(crawl.OutcomeGone, crawl.OutcomeChanged), crawl.Active, day, "every 1d"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Revisit.Policy = c.policy })[0]
			var plan contract.PlanOut
			for i, o := range c.outcomes {
				plan = w.plan(page, i+1, contract.FetchOut{Outcome: o})
			}
			if plan.Visit != len(c.outcomes) || plan.State != c.state || !near(plan.NextAt.Sub(plan.At), c.interval, 0.1) || !strings.Contains(plan.Reason, c.summary) {
				t.Errorf("plan %+v, want the page %s, visited again after %s: %s", plan, c.state, c.interval, c.summary)
			}
			got := w.page(page.URL)
			if got.State != plan.State || got.Visits != plan.Visit || !got.NextAt.Equal(plan.NextAt) || !got.LastAt.Equal(plan.At) {
				t.Errorf("page %+v, want as planned %+v", got, plan)
			}
		})
	}
}

// A page that had content and is lost comes again soon. Who excluded it decides: an answer, whose
// next look would cost a request, and the scope, after whose changes maintenance looks, do not.
func TestPlanRevisitOfWhatIsLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		fetch    contract.FetchOut
		outside  bool
		interval time.Duration
	}{
		{"gone", contract.FetchOut{Outcome: crawl.OutcomeGone, Status: 404}, false, day},
		{"redirected", contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 302}, false, day},
		{"forbidden by robots.txt", contract.FetchOut{Outcome: crawl.OutcomeExcluded}, false, day},
		{"excluded by its answer", contract.FetchOut{Outcome: crawl.OutcomeExcluded, Status: 200}, false, 120 * day},
		{"outside the scope", contract.FetchOut{Outcome: crawl.OutcomeExcluded}, true, 120 * day},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Revisit.Policy = "fixed" })[0]
			at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
			w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeNew, Status: 200, At: at})
			c.fetch.At = at.Add(day)
			w.saveRobots(store.SaveRobotsParams{Origin: "http://localhost", State: store.RobotsParsed, Text: "User-agent: *\nDisallow: /\n", Expires: time.Hour})
			if c.outside {
				w.open([]string{"http://other.localhost/"})
			}
			if plan := w.plan(page, 2, c.fetch); !near(plan.NextAt.Sub(plan.At), c.interval, 0.1) {
				t.Errorf("again after %s, want %s: %s", plan.NextAt.Sub(plan.At), c.interval, plan.Reason)
			}
		})
	}
}

// A seed whose first visits come while its site is in trouble is not given up for months; one
// that has moved, and pages to which links lead, are.
func TestPlanRevisitOfWhatNeverCame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		out    crawl.Outcome
		seed   bool
		waits  []time.Duration
	}{
		{"a seed is gone", 404, crawl.OutcomeGone, true, []time.Duration{day, 4 * day, 16 * day, 64 * day, 120 * day}},
		{"a seed redirects", 302, crawl.OutcomeRedirected, true, []time.Duration{day, 4 * day}},
		{"a seed has moved", 301, crawl.OutcomeRedirected, true, []time.Duration{120 * day, 120 * day}},
		{"a seed is gone for good", 410, crawl.OutcomeGone, true, []time.Duration{120 * day}},
		{"a dead link", 404, crawl.OutcomeGone, false, []time.Duration{120 * day, 120 * day}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Revisit.Policy = "fixed" })[0]
			if !c.seed {
				must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{
					CrawlID: w.crawl().ID, From: page.PageID, URLs: []store.NewURL{{URL: "http://localhost/dead", Host: "localhost", Level: 1}},
				}))
				run(w, contract.Admit, contract.AdmitIn{CrawlID: w.crawl().ID, Limit: 100})
				page = w.page("http://localhost/dead").PageRef
			}
			at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
			for i, wait := range c.waits {
				plan := w.plan(page, i+1, contract.FetchOut{Outcome: c.out, Status: c.status, At: at})
				if !near(plan.NextAt.Sub(plan.At), wait, 0.1) {
					t.Errorf("after visit %d again in %s, want %s: %s", i+1, plan.NextAt.Sub(plan.At), wait, plan.Reason)
				}
				at = at.Add(wait)
			}
		})
	}
}

// The rate of change is learned from the time between two comparisons, whatever
// failed in between, and remembered with the page.
func TestPlanRevisitLearnsTheRate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"}, func(spec *crawl.Spec) { spec.Revisit.Policy = "sqrt" })[0]
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	visits := []struct {
		after   time.Duration
		outcome crawl.Outcome
		status  int
		days    float64 // without a change that were seen so far
		told    uint32
	}{
		{0, crawl.OutcomeNew, 200, 0, 0},
		{2 * day, crawl.OutcomeUnchanged, 200, 2, 0},
		{day, crawl.OutcomeFailed, 500, 2, 0},
		{day, crawl.OutcomeThrottled, 429, 2, 0},
		{day, crawl.OutcomeUnchanged, http.StatusNotModified, 5, 1},
	}
	for i, v := range visits {
		at = at.Add(v.after)
		w.plan(page, i+1, contract.FetchOut{Outcome: v.outcome, Status: v.status, At: at})
		b := schedule.DecodeBelief(w.page(page.URL).Belief)
		// The oldest evidence is forgotten a little.
		if float64(b.Days) > v.days || float64(b.Days) < v.days*0.98 || b.Told != v.told {
			t.Errorf("after visit %d: %+v, want %v days without a change", i+1, b, v.days)
		}
	}
	plan := w.plan(page, len(visits)+1, contract.FetchOut{Outcome: crawl.OutcomeChanged, At: at.Add(day)})
	if b := schedule.DecodeBelief(w.page(page.URL).Belief); b.Looks < 0.9 || b.Looks > 1 || !strings.Contains(plan.Reason, "changed in 1 of the last 3 visits") {
		t.Errorf("after a change: %+v, %s", b, plan.Reason)
	}
	var foreseen store.Foresight
	for _, f := range w.status().Foresight {
		foreseen = store.Foresight{Visits: foreseen.Visits + f.Visits, Found: foreseen.Found + f.Found, Chance: foreseen.Chance + f.Chance}
	}
	if foreseen.Visits != 3 || foreseen.Found != 1 || foreseen.Chance <= 0 || foreseen.Chance >= 3 {
		t.Errorf("of three comparisons, foreseen were %+v", foreseen)
	}
}

// A page that is overdue when its visit is recorded is due at once for its workflow too, whose
// clock lags behind the store's: it must not wait for the store's present.
func TestOverduePlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	at := time.Now().Add(-3 * day)
	plan := w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeNew, At: at})
	if late := time.Since(plan.NextAt); late < day/2 {
		t.Errorf("a visit of %s plans the next for %s, which is overdue by %s only", at, plan.NextAt, late)
	}
	if due := w.page(page.URL).NextAt; due.Before(plan.NextAt.Add(day / 2)) {
		t.Errorf("the store has it at %s, want its own present", due)
	}
}

func TestPlanRevisitHonoursRetryAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	plan := w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeThrottled, Status: 429, RetryAfter: 5 * time.Hour})
	if wait := plan.NextAt.Sub(plan.At); plan.State != crawl.Active || wait < 5*time.Hour || wait > 6*time.Hour {
		t.Errorf("plan %+v, want the page active and left alone for 5h", plan)
	}
}

func TestPlanRevisitRecordsTheVisit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	w.plan(page, 1, contract.FetchOut{
		Outcome: crawl.OutcomeFailed, At: at, Status: 500, Bytes: 7, Duration: time.Second, Problem: "the server answered 500",
	})
	got := must[store.VisitRecord](t)(w.store.Visit(t.Context(), page.PageID, 1))
	if got.Outcome != crawl.OutcomeFailed || !got.At.Equal(at) || got.Status != 500 || got.Bytes != 7 || got.Duration != time.Second || got.Problem != "the server answered 500" {
		t.Errorf("visit %+v", got)
	}
	if record := w.page(page.URL); record.Failures != 1 {
		t.Errorf("%d failures", record.Failures)
	}
	// A visit that is not the page's next is a bug, and stores nothing.
	if _, err := try(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 3, Fetch: contract.FetchOut{Outcome: crawl.OutcomeGone}}); err == nil {
		t.Error("a visit was left out")
	}
	if n := w.status().Visits; n != 1 {
		t.Errorf("%d visits", n)
	}
}

// Every second visit may end its page's run, so that no run of a page that sleeps for days
// has only one visit, and no first visit costs a second run.
func TestPlanRevisitEndsRunsAtEverySecondVisit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	for visit, want := range []time.Duration{0, 36 * time.Hour, 0, 36 * time.Hour} {
		plan := w.plan(page, visit+1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
		if plan.Linger != want {
			t.Errorf("visit %d: visits may linger for %s, want %s", visit+1, plan.Linger, want)
		}
		again := run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit + 1})
		if again.Linger != want {
			t.Errorf("visit %d, asked again: %s, want %s", visit+1, again.Linger, want)
		}
	}
}

// A workflow task can be lost after its visit was recorded. If the page is woken before the
// visit's plan arrives, the workflow ignores that: it is for a visit that it does not
// know. The page would then sleep until its interval ends, however early the store has it due.
func TestRecordedVisitWasMoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	first := w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeExcluded})
	woken, err := w.store.WakePages(t.Context(), []int64{page.PageID})
	if err != nil || len(woken) != 1 || !woken[0].NextAt.Before(first.NextAt) {
		t.Fatalf("woken: %+v, %v", woken, err)
	}
	for asking, plan := range map[string]contract.PlanOut{
		"to record the visit": run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1}),
		"for its permit":      *w.acquire(page, 1).Recorded,
	} {
		if !plan.NextAt.Equal(woken[0].NextAt) || plan.Visit != 1 || plan.Outcome != crawl.OutcomeExcluded {
			t.Errorf("asked again %s: %+v, want it due at %s", asking, plan, woken[0].NextAt)
		}
	}
}

// A failover may take a page's last visit from the store, and its workflow knows of it. No attempt
// could record the next one, so that the page would never be visited again. The workflow ends
// instead, and maintenance starts the page as the store has it.
func TestPlanRevisitAfterALostVisit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	made := contract.FetchOut{Outcome: crawl.OutcomeUnchanged, Status: 304}
	w.plan(page, 1, made)
	_, err := try(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 3, Fetch: made})
	wantError(t, err, contract.ErrTypeNotFound, false, "next visit is 2")
	if plan := w.plan(page, 2, made); plan.Visit != 2 || plan.State != crawl.Active {
		t.Errorf("plan %+v, want the visit that the store lacks recorded", plan)
	}
}

// A first visit frees its page's place in the host's window.
func TestPlanRevisitSaysThatThereIsRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	urls := []string{"http://localhost/1", "http://localhost/2"}
	opened := w.open(urls, func(spec *crawl.Spec) { spec.Limits.Window = 1 })
	first := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 10}).Pages[0].Page
	if plan := w.plan(first, 1, contract.FetchOut{Outcome: crawl.OutcomeGone}); !plan.Room {
		t.Errorf("plan %+v, want room for the other page", plan)
	}
	second := run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 10}).Pages[0].Page
	if plan := w.plan(second, 1, contract.FetchOut{Outcome: crawl.OutcomeGone}); plan.Room {
		t.Errorf("plan %+v, but no page is left", plan)
	}
}

func TestPlanRevisitFollowsARedirect(t *testing.T) {
	t.Parallel()
	const seed = "http://shop.localhost/"
	cases := []struct {
		name, from, to string
		known          bool // the target becomes a page
		seeds          []string
	}{
		{"of a seed, to its other name", seed, "http://www.shop.localhost/", true, []string{seed, "http://www.shop.localhost/"}},
		{"of a seed, within the scope", seed, "http://shop.localhost/home", true, []string{seed}},
		{"of a seed, to another site", seed, "http://other.localhost/", false, []string{seed}},
		{"of another page, within the scope", seed + "old", seed + "new", true, []string{seed}},
		{"of another page, to the other name", seed + "old", "http://www.shop.localhost/", false, []string{seed}},
		{"nowhere", seed, "mailto:me@example.com", false, []string{seed}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			from := w.living([]string{seed})[0]
			if c.from != seed {
				must[store.RegisterResult](t)(w.store.RegisterLinks(t.Context(), store.RegisterParams{
					CrawlID: from.CrawlID, URLs: []store.NewURL{{URL: c.from, Host: from.Host, Level: 2}},
				}))
				run(w, contract.Admit, contract.AdmitIn{CrawlID: from.CrawlID, Limit: 1})
				from = w.page(c.from).PageRef
			}
			plan := w.plan(from, 1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 301, Location: c.to})
			target, known := w.find(c.to)
			if known != c.known || (plan.RedirectHost != 0) != c.known || plan.RedirectHost != target.HostID {
				t.Errorf("the target is known: %t, on host %d; want %t, to be admitted on host %d", known, target.HostID, c.known, plan.RedirectHost)
			}
			if from := w.page(c.from); known && (target.Level != from.Level || target.State != crawl.Known || target.Backlinks != 1) {
				t.Errorf("target %+v, want it known, linked, and as near to a seed as %+v", target, from)
			}
			if got := w.crawl().Spec.Seeds; !slices.Equal(got, c.seeds) {
				t.Errorf("seeds %q, want %q", got, c.seeds)
			}
		})
	}
}

// Many sites send http to https first, and from there to www. The seed brings that name, and no
// other.
func TestPlanRevisitFollowsASeedOverHTTPS(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	redirect := func(from crawl.PageRef, visit int, to string) contract.PlanOut {
		return w.plan(from, visit, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 301, Location: to})
	}
	seed := w.living([]string{"http://shop.localhost/"}, func(spec *crawl.Spec) { spec.Fetch.AllowNetworks = []string{"127.0.0.0/8", "::1/128"} })[0]
	redirect(seed, 1, "https://shop.localhost/")
	secure := w.admitted("https://shop.localhost/")
	redirect(secure, 1, "https://www.shop.localhost/")
	want := []string{"http://shop.localhost/", "https://www.shop.localhost/"}
	if target, known := w.find("https://www.shop.localhost/"); !known || target.Level != 0 || !slices.Equal(w.crawl().Spec.Seeds, want) {
		t.Errorf("target %+v, known %t; seeds %q", target, known, w.crawl().Spec.Seeds)
	}
	again := redirect(secure, 2, "https://other.shop.localhost/")
	if !strings.Contains(again.Reason, "this seed has brought another by an earlier redirect") || !slices.Equal(w.crawl().Spec.Seeds, want) {
		t.Errorf("%s; seeds %q", again.Reason, w.crawl().Spec.Seeds)
	}
}

// A redirect leads to the page under which the crawl keeps its target. If that is
// the page itself, as on sites that hand out a session, it leads nowhere.
func TestPlanRevisitFollowsARedirectByTheURLRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		to, want string
		seeds    int
	}{
		{"http://shop.localhost/new?sid=1", "http://shop.localhost/new", 1},
		{"http://www.shop.localhost/?sid=1&a", "http://www.shop.localhost/?a", 2},
		{"http://shop.localhost/?sid=1", "", 1},
	} {
		t.Run(c.to, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://shop.localhost/"}, func(spec *crawl.Spec) {
				spec.Seeds, spec.URLs.StripParams = []string{"http://shop.localhost/?sid=0"}, []string{"sid"}
			})[0]
			plan := w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 302, Location: c.to})
			if (plan.RedirectHost != 0) != (c.want != "") {
				t.Errorf("plan %+v", plan)
			}
			if _, known := w.find(c.to); known {
				t.Errorf("%s is a page", c.to)
			}
			if c.want != "" && w.page(c.want).State != crawl.Known {
				t.Errorf("page %+v", w.page(c.want))
			}
			if seeds := w.crawl().Spec.Seeds; len(seeds) != c.seeds || c.seeds == 2 && seeds[1] != c.want {
				t.Errorf("seeds %q", seeds)
			}
		})
	}
}

// A chain of redirects over the names of a site ends: a seed brings one seed, and
// that one none, even when it redirects elsewhere later. The visit says so.
func TestPlanRevisitEndsAChainOfSeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const site = ".shop.localhost/"
	redirect := func(from crawl.PageRef, visit int, to string) contract.PlanOut {
		return w.plan(from, visit, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 301, Location: "http://" + to + site})
	}
	first := w.living([]string{"http://0" + site})[0]
	redirect(first, 1, "1")
	from := w.admitted("http://1" + site)
	want := w.crawl().Spec.Seeds
	redirect(from, 1, "2")
	if _, known := w.find("http://2" + site); known || len(want) != 2 || !slices.Equal(w.crawl().Spec.Seeds, want) {
		t.Errorf("seeds %q, want the first and where it led", w.crawl().Spec.Seeds)
	}
	chained := must[store.VisitRecord](t)(w.store.Visit(t.Context(), from.PageID, 1))
	if words := schedule.Words(chained.Reasons); !strings.Contains(words, "not made a seed: this seed came by a redirect itself") {
		t.Errorf("the visit says %q", words)
	}
	again := redirect(first, 2, "other")
	if !strings.Contains(again.Reason, "this seed has brought another by an earlier redirect") || len(w.crawl().Spec.Seeds) != 2 {
		t.Errorf("%s; seeds %q", again.Reason, w.crawl().Spec.Seeds)
	}
	if n := must[[]store.RejectionCount](t)(w.store.Rejections(t.Context(), first.CrawlID)); len(n) != 1 || n[0] != (store.RejectionCount{Reason: "host", Links: 2}) {
		t.Errorf("rejected %+v", n)
	}
}

// The target of a seed's redirect is a seed in full: its own links are in scope.
func TestPlanRevisitWidensTheScopeToTheSeedsOtherName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://shop.localhost/"})[0]
	w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Location: "http://www.shop.localhost/"})
	target := w.page("http://www.shop.localhost/").PageRef
	w.seen(target, 1, `<a href="/a">a</a>`)
	if got := run(w, contract.RegisterLinks, contract.RegisterIn{Page: target, Visit: 1}); got.New != 1 {
		t.Errorf("registered %+v, want the link", got)
	}
}

// A redirect that comes in after the crawl was stopped does not start it again.
func TestPlanRevisitLeavesAStoppedCrawlStopped(t *testing.T) {
	t.Parallel()
	for _, state := range []crawl.CrawlState{crawl.CrawlStopped, crawl.CrawlPaused} {
		t.Run(state.String(), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://shop.localhost/"})[0]
			w.setState(state)
			plan := w.plan(page, 1, contract.FetchOut{Outcome: crawl.OutcomeRedirected, Location: "http://www.shop.localhost/"})
			if plan.State != crawl.Redirect {
				t.Errorf("plan %+v", plan)
			}
			if got := w.crawl().State; got != state {
				t.Errorf("the crawl is %s, want it %s as it was", got, state)
			}
		})
	}
}

func TestLeaveLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living([]string{"http://localhost/1", "http://localhost/2"}, func(spec *crawl.Spec) {
		spec.Politeness.Delay = crawl.Duration(time.Hour)
	})
	w.permit(pages[0], 1)
	if got := w.acquire(pages[1], 1); got.Answer != contract.AnswerWait {
		t.Fatalf("answer %+v, want to wait", got)
	}
	run(w, contract.LeaveLine, contract.LeaveIn{Page: pages[0], State: crawl.Stopped})
	if got := w.page(pages[0].URL).State; got != crawl.Stopped {
		t.Errorf("the page is %s", got)
	}
	if !slices.Equal(w.flows.turned, []string{pages[1].URL}) {
		t.Errorf("turned %q, want the page that waited", w.flows.turned)
	}
	run(w, contract.LeaveLine, contract.LeaveIn{Page: pages[1]})
	if got := w.page(pages[1].URL).State; got != crawl.Active {
		t.Errorf("the page that only left is %s", got)
	}
	if h := w.host(pages[0]); h.Waiting != 0 {
		t.Errorf("%d pages in line", h.Waiting)
	}
}
