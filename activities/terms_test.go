package activities_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/robots/reserve"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
)

// aim gives a crawl its purpose.
func aim(purpose ...crawl.Use) func(*crawl.Spec) {
	return func(spec *crawl.Spec) { spec.Purpose = purpose }
}

// named gives a crawl a contact, which it needs beyond this machine.
func named(spec *crawl.Spec) { spec.Identity.Contact = "you@example.org" }

// speaking is a site with one page, and files beside it.
type speaking struct {
	robots, terms string // "" is 404
	headers       []string
	body          string
}

func (s speaking) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/robots.txt":
		fileOr404(w, s.robots)
	case crawl.TermsPath:
		fileOr404(w, s.terms)
	default:
		for _, h := range s.headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Add(name, value)
		}
		html(w, s.body)
	}
}

func fileOr404(w http.ResponseWriter, text string) {
	if text == "" {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(text))
}

// arrive makes a page's visit as its workflow does, with the files that it asks for first.
func (w *world) arrive(page crawl.PageRef, visit int) contract.PlanOut {
	w.t.Helper()
	for range 5 {
		got := w.acquire(page, visit)
		switch got.Answer {
		case contract.AnswerRobots:
			run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: visit, Permit: got.Permit})
		case contract.AnswerExcluded:
			fetched := contract.FetchOut{Outcome: crawl.OutcomeExcluded, At: time.Now(), Problem: got.Rule}
			return run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit, Fetch: fetched})
		case contract.AnswerPermit:
			plan := contract.PlanIn{Page: page, Visit: visit, Fetch: w.fetched(try(w, contract.Fetch, contract.FetchIn{Page: page, Visit: visit, Permit: got.Permit, Plans: true}))}
			if plan.Fetch.Plan != nil {
				return *plan.Fetch.Plan
			}
			if plan.Fetch.Differs {
				verdict := run(w, contract.DetectChange, contract.DetectIn{Page: page, Visit: visit, Fetch: plan.Fetch, Register: true, Returns: true, Suspects: true})
				plan.Fetch.Outcome, plan.Reasons = verdict.Outcome, verdict.Reasons
			}
			return run(w, contract.PlanRevisit, plan)
		default:
			w.t.Fatalf("visit %d of %s was answered %+v", visit, page.URL, got)
		}
	}
	w.t.Fatalf("visit %d of %s came to nothing", visit, page.URL)
	return contract.PlanOut{}
}

// newcomer is the page of a speaking site in a crawl, with nothing known of its files.
func newcomer(t *testing.T, answer http.HandlerFunc, change ...func(*crawl.Spec)) (*world, *site, crawl.PageRef) {
	t.Helper()
	w := newWorld(t)
	s := serve(t, answer)
	opened := w.open([]string{s.url + "/"}, change...)
	run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	return w, s, w.page(s.url + "/").PageRef
}

// A reservation keeps a page out of a crawl with that purpose, with the site's words as the
// reason, and without a copy of it.
func TestReservedPagesAreExcluded(t *testing.T) {
	t.Parallel()
	const signal = "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n"
	const reserved = `[{"location": "/", "tdm-reservation": 1}]`
	refused := func(use, source string) string {
		return `the site reserves ` + use + `, which the crawl is for: "` + source + `"`
	}
	for _, c := range []struct {
		name    string
		site    speaking
		purpose []crawl.Use
		why     string // "" is taken
		asked   []string
	}{
		{"signal for training", speaking{robots: signal}, []crawl.Use{crawl.UseAITrain}, refused("ai-train", "robots.txt: Content-Signal: search=yes, ai-train=no"), []string{"/robots.txt"}},
		{"signal for search", speaking{robots: signal}, []crawl.Use{crawl.UseSearch}, "", []string{"/robots.txt", crawl.TermsPath, "/"}},
		{"no purpose", speaking{robots: signal, terms: reserved, headers: []string{"tdm-reservation: 1"}, body: `<meta name=robots content=noai>`}, nil, "", []string{"/robots.txt", "/"}},
		{"usage by path", speaking{robots: "User-agent: *\nContent-Usage: /x train-ai=n\nContent-Usage: / bots=n\n"}, []crawl.Use{crawl.UseArchive}, refused("archive", "robots.txt: Content-Usage: / bots=n"), []string{"/robots.txt"}},
		{"tdmrep.json", speaking{terms: reserved}, []crawl.Use{crawl.UseAIInput}, refused("ai-input", "tdmrep.json: / tdm-reservation 1"), []string{"/robots.txt", crawl.TermsPath}},
		{"tdmrep.json for search", speaking{terms: reserved}, []crawl.Use{crawl.UseSearch}, "", []string{"/robots.txt", crawl.TermsPath, "/"}},
		{"tdmrep.json that robots.txt forbids", speaking{robots: "User-agent: *\nDisallow: /.well-known/\n", terms: reserved}, []crawl.Use{crawl.UseAIInput}, "", []string{"/robots.txt", "/"}},
		{"header", speaking{headers: []string{"Content-Usage: train-ai=n"}}, []crawl.Use{crawl.UseAITrain}, refused("ai-train", "Content-Usage: train-ai=n"), []string{"/robots.txt", crawl.TermsPath, "/"}},
		{"tdm header", speaking{headers: []string{"TDM-Reservation: 1", "TDM-Policy: https://host.test/p"}}, []crawl.Use{crawl.UseAITrain}, refused("ai-train", "tdm-reservation: 1, tdm-policy https://host.test/p"), []string{"/robots.txt", crawl.TermsPath, "/"}},
		{"noai header", speaking{headers: []string{"X-Robots-Tag: noai, noimageai"}}, []crawl.Use{crawl.UseAITrain}, refused("ai-train", "X-Robots-Tag: noai"), []string{"/robots.txt", crawl.TermsPath, "/"}},
		{"noai element", speaking{body: `<meta name=robots content="noai">`}, []crawl.Use{crawl.UseAIInput}, refused("ai-input", "meta robots: noai"), []string{"/robots.txt", crawl.TermsPath, "/"}},
		{"tdm element", speaking{body: `<meta name=tdm-reservation content=1>`}, []crawl.Use{crawl.UseArchive, crawl.UseAITrain}, refused("ai-train", "meta tdm-reservation: 1"), []string{"/robots.txt", crawl.TermsPath, "/"}},
		{"element for an archive", speaking{body: `<meta name=tdm-reservation content=1>`}, []crawl.Use{crawl.UseArchive}, "", []string{"/robots.txt", crawl.TermsPath, "/"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.site.body += `<title>Mine</title><p>Some words <a href="/a">a</a>`
			w, s, page := newcomer(t, c.site.ServeHTTP, aim(c.purpose...))
			plan := w.arrive(page, 1)
			if got := s.requests(); !slices.Equal(got, c.asked) {
				t.Errorf("asked for %q, want %q", got, c.asked)
			}
			visit := must[store.VisitRecord](t)(w.store.Visit(t.Context(), page.PageID, 1))
			if c.why == "" {
				if plan.Outcome != crawl.OutcomeNew || plan.State != crawl.Active || visit.Problem != "" {
					t.Errorf("planned %+v of %+v, want a copy", plan, visit)
				}
				return
			}
			if plan.Outcome != crawl.OutcomeExcluded || plan.State != crawl.Excluded || visit.Problem != c.why {
				t.Errorf("planned %+v of %+v, want excluded: %s", plan, visit, c.why)
			}
			if strings.Count(plan.Reason, c.why) != 1 {
				t.Errorf("the reason is %q", plan.Reason)
			}
			if w.page(page.URL).Last.ID != 0 || w.kept(c.site.body) {
				t.Errorf("a copy was kept: %+v", w.page(page.URL).Last)
			}
			if _, found := w.find(s.url + "/a"); found {
				t.Error("its link was followed")
			}
		})
	}
}

// A site's statements are kept with the version, even by a crawl without a purpose.
func TestReservedIsRecorded(t *testing.T) {
	t.Parallel()
	const tdm = `[{"location": "/", "tdm-reservation": 0}]`
	all := speaking{
		robots: "User-agent: *\nContent-Signal: search=yes\n", terms: tdm,
		headers: []string{"Content-Usage: train-ai=n"}, body: `<meta name=tdm-reservation content=0><p>Some words`,
	}
	for _, c := range []struct {
		name    string
		site    speaking
		purpose []crawl.Use
		want    string
	}{
		{"nothing", speaking{body: "<p>Some words"}, nil, ""},
		{
			"without a purpose", all, nil,
			`allows search ("robots.txt: Content-Signal: search=yes"), allows ai-input ("meta tdm-reservation: 0"), refuses ai-train ("Content-Usage: train-ai=n")`,
		},
		{
			"for search", all,
			[]crawl.Use{crawl.UseSearch},
			`allows search ("robots.txt: Content-Signal: search=yes"), allows ai-input ("tdmrep.json: / tdm-reservation 0"), refuses ai-train ("Content-Usage: train-ai=n")`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, _, page := newcomer(t, c.site.ServeHTTP, aim(c.purpose...))
			w.arrive(page, 1)
			version := must[store.VersionRecord](t)(w.store.Version(t.Context(), page.PageID, 1))
			if got := reserve.Words(version.Reserved); got != c.want {
				t.Errorf("the version says %s, want %s", got, c.want)
			}
		})
	}
}

// A permit begins as soon as it is granted only if all files that it depends on are cached
// and allow the page.
func TestReservedPagesBeginNothingAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, atOnce)
	t.Cleanup(w.activities.Close)
	s := serve(t, speaking{terms: `[{"location": "/b", "tdm-reservation": 1}]`, body: "<p>words"}.ServeHTTP)
	urls := []string{s.url + "/a", s.url + "/b"}
	pages := w.living(urls, aim(crawl.UseAITrain))
	for i, want := range []crawl.Outcome{crawl.OutcomeNew, crawl.OutcomeExcluded} {
		for visit := range 2 {
			plan := w.arrive(pages[i], visit+1)
			if visit == 1 && i == 0 {
				want = crawl.OutcomeUnchanged
			}
			if plan.Outcome != want {
				t.Errorf("visit %d of %s: %+v, want %s", visit+1, urls[i], plan, want)
			}
		}
	}
	if got := s.requests(); !slices.Equal(got, []string{crawl.TermsPath, "/a", "/a"}) {
		t.Errorf("requests %q", got)
	}
}

// Pages that files at hand reserve get no workflow.
func TestReservedPagesAreNotAdmitted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		robots  store.SaveRobotsParams
		terms   string
		purpose []crawl.Use
		want    []crawl.PageState // of /a and /b
	}{
		{"robots.txt", store.SaveRobotsParams{State: store.RobotsParsed, Text: "User-agent: *\nContent-Usage: /b train-ai=n\n"}, "", []crawl.Use{crawl.UseAITrain}, []crawl.PageState{crawl.Active, crawl.Excluded}},
		{"tdmrep.json", store.SaveRobotsParams{State: store.RobotsAllowAll}, `[{"location": "/b", "tdm-reservation": 1}]`, []crawl.Use{crawl.UseAITrain}, []crawl.PageState{crawl.Active, crawl.Excluded}},
		{"another purpose", store.SaveRobotsParams{State: store.RobotsAllowAll}, `[{"location": "/b", "tdm-reservation": 1}]`, []crawl.Use{crawl.UseSearch}, []crawl.PageState{crawl.Active, crawl.Active}},
		{"no purpose", store.SaveRobotsParams{State: store.RobotsParsed, Text: "User-agent: *\nContent-Usage: /b train-ai=n\n"}, `[{"location": "/b", "tdm-reservation": 1}]`, nil, []crawl.PageState{crawl.Active, crawl.Active}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			urls := []string{"https://host.test/a", "https://host.test/b"}
			opened := w.open(urls, aim(c.purpose...), named)
			c.robots.Origin, c.robots.Expires = "https://host.test", time.Hour
			w.saveRobots(c.robots)
			if err := w.store.SaveTerms(t.Context(), store.SaveTermsParams{Origin: "https://host.test", Text: c.terms, Expires: time.Hour}); err != nil {
				t.Fatal(err)
			}
			run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
			for i, url := range urls {
				if state := w.page(url).State; state != c.want[i] {
					t.Errorf("%s is %s, want %s", url, state, c.want[i])
				}
			}
		})
	}
}

// A tdmrep.json that has expired keeps no page out: it is asked for again before the page is.
func TestOldTermsKeepNobodyOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open([]string{"https://host.test/a"}, aim(crawl.UseAITrain), named)
	w.saveRobots(store.SaveRobotsParams{Origin: "https://host.test", State: store.RobotsAllowAll, Expires: time.Hour})
	err := w.store.SaveTerms(t.Context(), store.SaveTermsParams{Origin: "https://host.test", Text: `[{"location": "/", "tdm-reservation": 1}]`, Expires: -time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	if state := w.page("https://host.test/a").State; state != crawl.Active {
		t.Errorf("the page is %s", state)
	}
}

// A process that has not acquired the page reads its site's robots.txt when it compares.
func TestReservedIsRecordedElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	opened := w.open([]string{"https://host.test/"}, named)
	run(w, contract.Admit, contract.AdmitIn{CrawlID: opened.CrawlID, Limit: 100})
	page := w.page("https://host.test/").PageRef
	w.saveRobots(store.SaveRobotsParams{Origin: "https://host.test", State: store.RobotsParsed, Text: "Content-Signal: search=yes\n", Expires: time.Hour})
	in := w.detection(page, 1, "<p>words")
	in.Fetch.Reserved = []crawl.Reservation{{Use: crawl.UseAITrain, Source: "Content-Usage: train-ai=n"}}
	in.Fetch.Outcome = run(w, contract.DetectChange, in).Outcome
	run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: 1, Fetch: in.Fetch})
	version := must[store.VersionRecord](t)(w.store.Version(t.Context(), page.PageID, 1))
	if got := reserve.Words(version.Reserved); got != `allows search ("robots.txt: Content-Signal: search=yes"), refuses ai-train ("Content-Usage: train-ai=n")` {
		t.Errorf("the version says %s", got)
	}
}

// A page that is excluded by its own statement is fetched whole at its next visit, and
// comes back when it no longer says so. One that begins to say so keeps its earlier copies.
func TestReservedPagesComeBack(t *testing.T) {
	t.Parallel()
	for _, by := range []struct{ name, header, element string }{
		{"header", "noai", ""}, {"element", "", "<meta name=robots content=noai>"},
	} {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			w, owner, s, page := owners(t, aim(crawl.UseAITrain))
			if err := w.store.SaveTerms(t.Context(), store.SaveTermsParams{Origin: s.url, Expires: time.Hour}); err != nil {
				t.Fatal(err)
			}
			const words = "<p>Some words"
			for i, step := range []struct {
				reserved bool
				want     crawl.Outcome
			}{{false, crawl.OutcomeNew}, {true, crawl.OutcomeExcluded}, {true, crawl.OutcomeExcluded}, {false, crawl.OutcomeUnchanged}} {
				owner.say(words)
				if step.reserved {
					owner.say(by.element+words+by.header, by.header) // another ETag
				}
				if plan := w.arrive(page, i+1); plan.Outcome != step.want {
					t.Fatalf("visit %d: %+v, want %s", i+1, plan, step.want)
				}
				if step.reserved && w.kept(by.element+words+by.header) {
					t.Errorf("visit %d kept a copy", i+1)
				}
			}
			if p := w.page(page.URL); p.State != crawl.Active || p.Last.Seq != 1 || !w.kept(words) {
				t.Errorf("at the end %+v", p)
			}
		})
	}
}

// An answer that nothing has changed may reserve the page, too. The next one is asked for whole.
func TestReservedByA304(t *testing.T) {
	t.Parallel()
	w, _, page := newcomer(t, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/":
			rw.WriteHeader(http.StatusNotFound)
		case r.Header.Get("If-None-Match") != "":
			rw.Header().Set("TDM-Reservation", "1")
			rw.WriteHeader(http.StatusNotModified)
		default:
			rw.Header().Set("ETag", `"1"`)
			html(rw, "<p>Some words")
		}
	}, aim(crawl.UseAITrain))
	for i, want := range []crawl.Outcome{crawl.OutcomeNew, crawl.OutcomeExcluded, crawl.OutcomeUnchanged} {
		if plan := w.arrive(page, i+1); plan.Outcome != want {
			t.Errorf("visit %d: %+v, want %s", i+1, plan, want)
		}
	}
}

// A tdmrep.json is requested once a day, whatever the result, and by one page.
func TestTermsAreCached(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	status.Store(http.StatusServiceUnavailable)
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == crawl.TermsPath && status.Load() != http.StatusOK {
			w.WriteHeader(int(status.Load()))
			return
		}
		speaking{terms: `[{"location": "/b", "tdm-reservation": 1}]`, body: "<p>words"}.ServeHTTP(w, r)
	}
	for _, code := range []int{200, 404, 301, 410} {
		status.Store(int32(code))
		w, s, page := newcomer(t, handler, aim(crawl.UseAITrain))
		for visit := range 3 {
			w.arrive(page, visit+1)
		}
		asked := slices.DeleteFunc(s.requests(), func(target string) bool { return target != crawl.TermsPath })
		if len(asked) != 1 {
			t.Errorf("after %d it was asked for %d times", code, len(asked))
		}
		rec := must[store.TermsRecord](t)(w.store.Terms(t.Context(), s.url))
		if left := rec.ExpiresAt.Sub(rec.FetchedAt); left != 24*time.Hour || rec.Failures != 0 || (rec.Text == "") != (code != 200) {
			t.Errorf("after %d there is %+v", code, rec)
		}
	}
}

// If a tdmrep.json cannot be had, its earlier statement applies, and an origin without
// one forbids nothing.
func TestTermsThatCannotBeHad(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == crawl.TermsPath {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		speaking{body: "<p>words"}.ServeHTTP(w, r)
	}
	for _, before := range []string{"", `[{"location": "/", "tdm-reservation": 1}]`} {
		w, s, page := newcomer(t, handler, aim(crawl.UseAITrain))
		if before != "" {
			if err := w.store.SaveTerms(t.Context(), store.SaveTermsParams{Origin: s.url, Text: before, Expires: -time.Second}); err != nil {
				t.Fatal(err)
			}
		}
		want := crawl.OutcomeNew
		if before != "" {
			want = crawl.OutcomeExcluded
		}
		if plan := w.arrive(page, 1); plan.Outcome != want {
			t.Errorf("after %q: %+v, want %s", before, plan, want)
		}
		rec := must[store.TermsRecord](t)(w.store.Terms(t.Context(), s.url))
		if rec.Failures != 1 || rec.Problem == "" || rec.Text != before || !rec.ExpiresAt.After(rec.FetchedAt) {
			t.Errorf("after %q there is %+v", before, rec)
		}
	}
}

// Two pages that have their permits request it once.
func TestTermsKnownMeanwhile(t *testing.T) {
	t.Parallel()
	w, s, page := newcomer(t, speaking{body: "<p>words"}.ServeHTTP, aim(crawl.UseAITrain))
	w.saveRobots(store.SaveRobotsParams{Origin: s.url, State: store.RobotsAllowAll, Status: 404, Expires: time.Hour})
	got := w.acquire(page, 1)
	if got.Answer != contract.AnswerRobots || got.Permit.URL != crawl.TermsPath {
		t.Fatalf("answered %+v", got)
	}
	if err := w.store.SaveTerms(t.Context(), store.SaveTermsParams{Origin: s.url, Expires: time.Hour}); err != nil {
		t.Fatal(err)
	}
	out := run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: 1, Permit: got.Permit})
	if out.Summary != "known meanwhile" || len(s.requests()) != 0 {
		t.Errorf("%+v, requests %q", out, s.requests())
	}
	if again := w.acquire(page, 1); again.Answer != contract.AnswerPermit || again.Permit.ID != got.Permit.ID {
		t.Errorf("then answered %+v, want the permit that it had", again)
	}
}

// A worker of an older release that is given the permit cannot take the file for a robots.txt:
// the permit names no URL.
func TestTermsPathIsNoURL(t *testing.T) {
	t.Parallel()
	if u, err := urlkey.Canonical(crawl.TermsPath); err == nil {
		t.Errorf("it is %s", u)
	}
}

// Requests for the file are requests like any other: a failed one holds the host.
func TestTermsThrottled(t *testing.T) {
	t.Parallel()
	w, _, page := newcomer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == crawl.TermsPath {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		speaking{}.ServeHTTP(w, r)
	}, aim(crawl.UseAITrain))
	for range 2 { // robots.txt, and this
		run(w, contract.RefreshRobots, contract.RefreshRobotsIn{Page: page, Visit: 1, Permit: w.acquire(page, 1).Permit})
	}
	if got := w.acquire(page, 1); got.Answer != contract.AnswerWait || !strings.Contains(got.Reason, "quiet") && !strings.Contains(got.Reason, "back") {
		t.Errorf("answered %+v, want the host's back-off", got)
	}
}

// A crawl without a purpose does not pay for those that have one.
func TestNoPurposeCostsNothing(t *testing.T) {
	t.Parallel()
	w, s, page := newcomer(t, speaking{robots: "User-agent: *\nContent-Signal: ai-train=no\n", body: "<p>words"}.ServeHTTP)
	w.arrive(page, 1)
	if _, err := w.store.Terms(t.Context(), s.url); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("terms: %v", err)
	}
}
