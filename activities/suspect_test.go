package activities_test

import (
	"fmt"
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

// Bodies of a page, of its edit, and of the contents that replace it now and then.
const (
	articleBody = `<title>Tides</title><h1>Tides</h1><p>High water comes twice a day at this coast, and low water twice. Boats leave with the ebb.`
	editedBody  = `<title>Tides</title><h1>Tides</h1><p>High water comes twice a day at this coast, and low water twice. Boats stay in port today.`
	errorBody   = `<title>Oops</title><h1>Page not found</h1><p>Sorry, we could not find what you asked for.`
	busyBody    = `<title>Please wait</title><h1>Temporarily unavailable</h1><p>Come back in some minutes.`
	frontBody   = `<title>The coast</title><h1>The coast</h1><p>All about beaches, walks, the old lighthouse, the museum of fishing, where to eat and where to sleep in town.`
)

// look makes a whole visit as the Page workflow does, with suspicions.
func (w *world) look(page crawl.PageRef, visit int) contract.PlanOut {
	w.t.Helper()
	plan := contract.PlanIn{Page: page, Visit: visit, Fetch: w.finished(page, visit)}
	if plan.Fetch.Plan != nil {
		return *plan.Fetch.Plan
	}
	if plan.Fetch.Differs {
		verdict := run(w, contract.DetectChange, contract.DetectIn{Page: page, Visit: visit, Fetch: plan.Fetch, Suspects: true})
		plan.Fetch.Outcome, plan.Reasons = verdict.Outcome, verdict.Reasons
	}
	return run(w, contract.PlanRevisit, plan)
}

// shown serves the test's bodies, with an ETag of each.
type shown struct {
	body     string
	status   int
	location string
	header   string
}

func (s *shown) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.location != "":
		answering(s.status, "", "Location: "+s.location)(w, r)
	case s.status != 0:
		answering(s.status, s.body)(w, r)
	default:
		etag := fmt.Sprintf("%q", digestOf(s.body)[:8])
		if r.Header.Get("If-None-Match") == etag {
			answering(304, "", "ETag: "+etag)(w, r)
			return
		}
		header := []string{"Content-Type: text/html", "ETag: " + etag}
		if s.header != "" {
			header = append(header, s.header)
		}
		answering(200, s.body, header...)(w, r)
	}
}

// suspectSite is a site with one page, whose content the test sets.
func suspectSite(t *testing.T, path string) (*world, *shown, crawl.PageRef) {
	t.Helper()
	w, what := newWorld(t), &shown{}
	s := serve(t, what.ServeHTTP)
	return w, what, w.living([]string{s.url + path})[0]
}

// waiting are the digests whose bytes are to be deleted.
func (w *world) waiting() []string {
	w.t.Helper()
	return must[[]string](w.t)(w.store.Unreferenced(w.t.Context(), 100))
}

func (w *world) recordedVisit(page crawl.PageRef, visit int) store.VisitRecord {
	w.t.Helper()
	return must[store.VisitRecord](w.t)(w.store.Visit(w.t.Context(), page.PageID, visit))
}

// TestSuspects plays a page's contents at one visit after another.
func TestSuspects(t *testing.T) {
	t.Parallel()
	const page, edit, fault, busy = articleBody, editedBody, errorBody, busyBody
	for _, c := range []struct {
		name, outcomes string
		bodies         []string
		versions       int
	}{
		{"an error once", "new suspect unchanged unchanged", []string{page, fault, page, page}, 1},
		{"an error for good", "new suspect changed unchanged", []string{page, fault, fault, fault}, 2},
		{"an error, then an edit", "new suspect changed", []string{page, fault, edit}, 2},
		{"an error, then another", "new suspect changed", []string{page, fault, busy}, 2},
		{"an error now and then", "new suspect unchanged suspect unchanged suspect unchanged", []string{page, fault, page, fault, page, fault, page}, 1},
		{"gone, and back", "new suspect changed changed", []string{page, fault, fault, page}, 3},
		{"an edit", "new changed", []string{page, edit}, 2},
		{"an error at first", "new changed", []string{fault, page}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, site, ref := suspectSite(t, "/tides")
			var outcomes []string
			for i, body := range c.bodies {
				site.body = body
				outcomes = append(outcomes, w.look(ref, i+1).Outcome.String())
			}
			if got := strings.Join(outcomes, " "); got != c.outcomes {
				t.Errorf("outcomes %s, want %s", got, c.outcomes)
			}
			if n := w.status().Versions; n != c.versions {
				t.Errorf("%d versions, want %d", n, c.versions)
			}
			if now := w.page(ref.URL); now.Suspect != (store.Suspect{}) {
				t.Errorf("still suspect: %+v", now.Suspect)
			}
		})
	}
}

// Suspect content is kept and checked again soon, and leaves nothing behind when it is
// gone: neither validators, nor a change in the belief about the page, nor bytes.
func TestSuspectIsDropped(t *testing.T) {
	t.Parallel()
	w, site, ref := suspectSite(t, "/tides")
	site.body = articleBody
	w.look(ref, 1)
	before := w.page(ref.URL)
	site.body = errorBody
	plan := w.look(ref, 2)
	now := w.page(ref.URL)
	if plan.Outcome != crawl.OutcomeSuspect || plan.State != crawl.Active || now.Suspect != (store.Suspect{Visit: 2, Digest: digestOf(errorBody)}) {
		t.Fatalf("planned %+v, suspect %+v", plan, now.Suspect)
	}
	if soon := plan.NextAt.Sub(plan.At); soon > 2*time.Hour {
		t.Errorf("looked at again after %s", soon)
	}
	if now.ETag != before.ETag || now.Changes != 0 || string(now.Belief) != string(before.Belief) || now.Last.ID != before.Last.ID {
		t.Errorf("the page is now %+v, was %+v", now, before)
	}
	if v := w.recordedVisit(ref, 2); v.Digest != digestOf(errorBody) || v.Version != 1 || codes(v.Reasons) != "text-differs beyond-noise reads-like-an-error second_look min" {
		t.Errorf("recorded %+v", v)
	}
	if _, err := w.archive.Open(t.Context(), digestOf(errorBody)); err != nil {
		t.Errorf("the suspect body is not kept: %v", err)
	}
	if digests := w.waiting(); len(digests) > 0 {
		t.Errorf("to be deleted: %q", digests)
	}
	site.body = articleBody
	back := w.look(ref, 3)
	if back.Outcome != crawl.OutcomeUnchanged || back.Status != 304 {
		t.Errorf("then %+v, want the page's own validators answered by a 304", back)
	}
	if v := w.recordedVisit(ref, 3); !strings.HasPrefix(codes(v.Reasons), "suspect-gone") {
		t.Errorf("because of %q", codes(v.Reasons))
	}
	if b := schedule.DecodeBelief(w.page(ref.URL).Belief); b.Pairs != 1 || b.History != 0 {
		t.Errorf("believed %+v, want one look without a change", b)
	}
	if digests := w.waiting(); !slices.Equal(digests, []string{digestOf(errorBody)}) {
		t.Errorf("to be deleted: %q", digests)
	}
}

// A second look makes a version of lasting content, with its validators.
func TestSuspectIsConfirmed(t *testing.T) {
	t.Parallel()
	w, site, ref := suspectSite(t, "/tides")
	site.body = articleBody
	w.look(ref, 1)
	site.body = errorBody
	w.look(ref, 2)
	etag := w.page(ref.URL).ETag
	w.look(ref, 3)
	now := w.page(ref.URL)
	if now.Last.Seq != 2 || now.Last.Digest != digestOf(errorBody) || now.Changes != 1 || now.ETag == etag {
		t.Errorf("the page is now %+v", now)
	}
	if v := w.recordedVisit(ref, 3); !strings.Contains(codes(v.Reasons), "reads-like-an-error suspect-again") {
		t.Errorf("because of %q", codes(v.Reasons))
	}
	if digests := w.waiting(); len(digests) > 0 {
		t.Errorf("to be deleted: %q, though a version has it", digests)
	}
	if v := w.recordedVisit(ref, 2); v.Version != 1 {
		t.Errorf("visit 2 has version %d", v.Version)
	}
}

// While pages of a host show the same notice at once, none of them counts it, for a day and a half
// at most. A page that shows a notice of its own does.
func TestSuspectOnManyPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		pages int
		looks int  // that find the notice, of each page
		ends  bool // it is over then
	}{
		{"for hours", 6, 5, true},
		{"for good", 6, 7, false},
		{"on three pages", 3, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, busy := newWorld(t), false
			s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
				body := articleBody + r.URL.Path
				if busy {
					body = busyBody
				}
				answering(200, body, "Content-Type: text/html")(rw, r)
			})
			var urls []string
			for n := range c.pages {
				urls = append(urls, fmt.Sprintf("%s/tides-%d", s.url, n))
			}
			pages := w.living(urls)
			visit := 0
			lookAtAll := func() (last contract.PlanOut) {
				visit++
				for _, page := range pages {
					last = w.look(page, visit)
				}
				return last
			}
			lookAtAll()
			busy = true
			for look := range c.looks {
				plan := lookAtAll()
				if last := look == c.looks-1 && !c.ends; last != (plan.Outcome == crawl.OutcomeChanged) && c.pages > 3 {
					t.Errorf("look %d: %s", look+1, plan.Outcome)
				}
				if want := time.Hour << max(look-1, 0); plan.Outcome == crawl.OutcomeSuspect && !near(plan.NextAt.Sub(plan.At), want, 0.15) {
					t.Errorf("look %d: again after %s, want %s", look+1, plan.NextAt.Sub(plan.At), want)
				}
			}
			busy = false
			changes := 0
			for _, page := range pages {
				changes += w.page(page.URL).Changes
			}
			if want := map[bool]int{true: 0, false: c.pages}[c.ends]; changes != want {
				t.Errorf("%d changes, want %d", changes, want)
			}
			if !c.ends {
				return
			}
			if plan := lookAtAll(); plan.Outcome != crawl.OutcomeUnchanged {
				t.Errorf("at last %s", plan.Outcome)
			}
			if v := w.recordedVisit(pages[0], visit); !strings.Contains(codes(v.Reasons), "suspect-gone") {
				t.Errorf("because of %q", codes(v.Reasons))
			}
			if v := w.recordedVisit(pages[0], 4); !strings.Contains(codes(v.Reasons), "suspect-on-others") {
				t.Errorf("visit 4 because of %q", codes(v.Reasons))
			}
			if digests := w.waiting(); !slices.Equal(digests, []string{digestOf(busyBody)}) {
				t.Errorf("to be deleted: %q", digests)
			}
		})
	}
}

// A failed fetch is no second look.
func TestSuspectOutlivesAFailure(t *testing.T) {
	t.Parallel()
	for _, last := range []string{articleBody, errorBody} {
		w, site, ref := suspectSite(t, "/tides")
		site.body = articleBody
		w.look(ref, 1)
		site.body = errorBody
		w.look(ref, 2)
		site.status = 500
		if plan := w.look(ref, 3); plan.Outcome != crawl.OutcomeFailed || w.page(ref.URL).Suspect.Visit != 2 {
			t.Errorf("then %+v, suspect %+v", plan, w.page(ref.URL).Suspect)
		}
		site.status, site.body = 0, last
		want := crawl.OutcomeChanged
		if last == articleBody {
			want = crawl.OutcomeUnchanged
		}
		if plan := w.look(ref, 4); plan.Outcome != want || plan.State != crawl.Active {
			t.Errorf("at last %+v, want %s", plan, want)
		}
	}
}

// Workflows that know no suspects get the verdict unchanged.
func TestWorkflowsOfOlderReleasesSuspectNothing(t *testing.T) {
	t.Parallel()
	w, site, ref := suspectSite(t, "/tides")
	site.body = articleBody
	w.whole(ref, 1)
	site.body = errorBody
	if plan := w.whole(ref, 2); plan.Outcome != crawl.OutcomeChanged || w.page(ref.URL).Last.Seq != 2 {
		t.Errorf("planned %+v", plan)
	}
}

// A version that a worker of an older release made from suspect content settles it,
// too.
func TestSuspectThatAnOlderWorkerTookForAVersion(t *testing.T) {
	t.Parallel()
	w, site, ref := suspectSite(t, "/tides")
	for i, body := range []string{articleBody, errorBody} {
		site.body = body
		w.look(ref, i+1)
	}
	in := w.detection(ref, 3, errorBody)
	in.Fetch.Outcome = run(w, contract.DetectChange, in).Outcome
	params := store.RecordParams{Visit: store.VisitRecord{PageID: ref.PageID, Visit: 3, Outcome: in.Fetch.Outcome, State: crawl.Active, Digest: in.Fetch.Digest}}
	must[store.RecordResult](t)(w.store.RecordVisit(t.Context(), params)) // leaves the page's Suspect
	site.body = busyBody
	if plan := w.look(ref, 4); plan.Outcome != crawl.OutcomeSuspect {
		t.Errorf("%s, want another first look", plan.Outcome)
	}
}

// Content that may not be kept is not kept, suspect or not.
func TestSuspectThatMayNotBeKept(t *testing.T) {
	t.Parallel()
	w, site, ref := suspectSite(t, "/tides")
	site.body = articleBody
	w.look(ref, 1)
	site.body, site.header = errorBody, "X-Robots-Tag: noarchive"
	plan := w.look(ref, 2)
	if got := w.page(ref.URL).Suspect; plan.Outcome != crawl.OutcomeSuspect || got != (store.Suspect{Visit: 2}) {
		t.Errorf("planned %+v, suspect %+v", plan, got)
	}
	if digests := w.waiting(); !slices.Equal(digests, []string{digestOf(errorBody)}) {
		t.Errorf("to be deleted: %q", digests)
	}
}

// A page that shows the text of its host's front page may have lost its own for a while.
func TestFrontPageIsSuspect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lost := false
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/" || lost:
			html(rw, frontBody)
		default:
			html(rw, articleBody)
		}
	})
	pages := w.living([]string{s.url + "/", s.url + "/tides"})
	w.look(pages[0], 1)
	w.look(pages[1], 1)
	lost = true
	if plan := w.look(pages[1], 2); plan.Outcome != crawl.OutcomeSuspect || !strings.Contains(codes(w.recordedVisit(pages[1], 2).Reasons), "front-page-instead") {
		t.Errorf("planned %+v", plan)
	}
	if plan := w.look(pages[1], 3); plan.Outcome != crawl.OutcomeChanged {
		t.Errorf("then %+v", plan)
	}
}

// Where the address of the front page redirects, the page there is the front page.
func TestFrontPageBehindARedirectIsSuspect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	lost := false
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/":
			answering(301, "", "Location: /en/")(rw, r)
		case r.URL.Path == "/en/" || lost:
			html(rw, frontBody)
		default:
			html(rw, articleBody)
		}
	})
	pages := w.living([]string{s.url + "/", s.url + "/en/", s.url + "/tides"})
	for _, page := range pages {
		w.look(page, 1)
	}
	lost = true
	if plan := w.look(pages[2], 2); plan.Outcome != crawl.OutcomeSuspect || !strings.Contains(codes(w.recordedVisit(pages[2], 2).Reasons), "front-page-instead") {
		t.Errorf("planned %+v", plan)
	}
}

// A long text that becomes a few words counts if the words last.
func TestFewWordsAreSuspect(t *testing.T) {
	t.Parallel()
	w, site, ref := suspectSite(t, "/tides")
	long := articleBody + strings.Repeat("<p>The harbour, the lighthouse and the beach are open all day, and the boats sail with the ebb.", 12)
	var outcomes []string
	for i, body := range []string{long, "<p>Guru Meditation", long, "<p>null", "<p>null"} {
		site.body = body
		outcomes = append(outcomes, w.look(ref, i+1).Outcome.String())
	}
	if got, want := strings.Join(outcomes, " "), "new suspect unchanged suspect changed"; got != want {
		t.Errorf("outcomes %s, want %s", got, want)
	}
}

// A redirect to the front page takes a page out of its schedule only if it lasts.
func TestRedirectToTheFrontPageIsSuspect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, location, outcomes string }{
		{"once", "/", "new suspect unchanged"},
		{"for good", "/", "new suspect redirected redirected"},
		{"to log in", "/login?next=/tides", "new suspect unchanged"},
		{"to an error", "/error?aspxerrorpath=/tides", "new suspect unchanged"},
		{"elsewhere", "/high-and-low-water", "new redirected redirected"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, site, ref := suspectSite(t, "/tides")
			site.body = articleBody
			var outcomes []string
			for visit := range strings.Count(c.outcomes, " ") + 1 {
				site.status, site.location = 0, ""
				if visit > 0 && (visit == 1 || !strings.HasSuffix(c.outcomes, "unchanged")) {
					site.status, site.location = 302, c.location
				}
				plan := w.look(ref, visit+1)
				outcomes = append(outcomes, plan.Outcome.String())
				if plan.Outcome == crawl.OutcomeSuspect && (plan.State != crawl.Active || plan.NextAt.Sub(plan.At) > 2*time.Hour) {
					t.Errorf("planned %+v", plan)
				}
			}
			if got := strings.Join(outcomes, " "); got != c.outcomes {
				t.Errorf("outcomes %s, want %s", got, c.outcomes)
			}
			if n := w.status().Versions; n != 1 {
				t.Errorf("%d versions", n)
			}
		})
	}
}
