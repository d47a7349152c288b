package activities_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// owned is a page whose owner changes his mind. It answers to conditions as
// servers do: by the validator of the body alone.
type owned struct {
	mu   sync.Mutex
	tags []string // X-Robots-Tag, left out of a 304
	body string
}

func (o *owned) say(body string, tags ...string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.body, o.tags = body, tags
}

func (o *owned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	etag := `"` + digestOf(o.body)[:8] + `"`
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	for _, tag := range o.tags {
		w.Header().Add("X-Robots-Tag", tag)
	}
	html(w, o.body)
}

// owners is a world with one page of an owner.
func owners(t *testing.T, change ...func(*crawl.Spec)) (*world, *owned, *site, crawl.PageRef) {
	t.Helper()
	w, owner := newWorld(t), &owned{}
	s := serve(t, owner.ServeHTTP)
	return w, owner, s, w.living([]string{s.url + "/"}, change...)[0]
}

// kept reports whether the archive has a body after maintenance has run.
func (w *world) kept(body string) bool {
	w.t.Helper()
	w.maintain(false)
	r, err := w.archive.Open(w.t.Context(), digestOf(body))
	if err == nil {
		r.Close()
	}
	return err == nil
}

// followed are the paths of the links that a visit stored and that are followed.
func (w *world) followed(page crawl.PageRef, visit int) []string {
	w.t.Helper()
	paths := []string{}
	if pending := must[*store.PendingLinks](w.t)(w.store.PendingLinks(w.t.Context(), page.PageID, visit)); pending != nil {
		for _, l := range pending.Links {
			if !l.NoFollow && l.Refused == "" {
				paths = append(paths, l.URL[strings.LastIndex(l.URL, "/"):])
			}
		}
	}
	return paths
}

func TestWhatPagesForbid(t *testing.T) {
	t.Parallel()
	const words = `<title>Mine</title><p>Hello <a href="/a">a</a> <a rel="ugc nofollow" href="/ad">ad</a>`
	both := []string{"/a"}
	past := "unavailable_after: Friday, 25-Jun-10 15:00:00 PST"
	future := "unavailable_after: " + time.Now().AddDate(1, 0, 0).Format("2 Jan 2006")
	cases := []struct {
		name, meta string
		tags       []string
		kept       bool
		followed   []string
		why        string // in words, a part of the plan's summary
	}{
		{"nothing", "", nil, true, both, ""},
		{"noindex header", "", []string{"noindex"}, false, both, "noindex by X-Robots-Tag: no body kept"},
		{"noindex element", "<meta name=robots content=noindex>", nil, false, both, "noindex by meta robots: no body kept"},
		{"noarchive for us", "", []string{"otherbot: none", "Recrawl: noarchive"}, false, both, "noarchive by X-Robots-Tag: no body kept"},
		{"element for us", "<meta name=recrawl content=noarchive>", nil, false, both, "noarchive by meta robots: no body kept"},
		{"none", "<meta name=robots content=none>", nil, false, nil, "nofollow by meta robots: no links followed"},
		{"nofollow", "", []string{"index, nofollow"}, true, nil, "nofollow by X-Robots-Tag: no links followed"},
		{"both", "<meta name=robots content=noindex>", []string{"nofollow"}, false, nil, "noindex by meta robots: no body kept, nofollow by X-Robots-Tag"},
		{"others only", "<meta name=otherbot content=none>", []string{"otherbot: none"}, true, both, ""},
		{"unknown", "", []string{"noimageindex, max-snippet: 0"}, true, both, ""},
		{"in the 17th header", "", append(slices.Repeat([]string{"otherbot: all"}, 16), "none"), false, nil, "noindex by X-Robots-Tag: no body kept"},
		{"far behind in a header", "", []string{strings.Repeat("max-snippet: 5, ", 3000) + "noindex; nofollow"}, false, nil, "noindex by X-Robots-Tag: no body kept"},
		{"semicolons", `<meta name="otherbot,recrawl" content="noindex;nofollow">`, nil, false, nil, "noindex by meta robots: no body kept"},
		{"more than is read", `<meta name=robots content="` + strings.Repeat("index, ", 10_000) + `">`, nil, false, nil, "meta robots too long to read, taken as noindex: no body kept, meta robots too long to read, taken as nofollow"},
		{"past its time", "", []string{past}, false, both, "unavailable_after by X-Robots-Tag (2010-06-25 23:00 UTC): no body kept"},
		{"not yet", "", []string{future}, true, both, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, owner, _, page := owners(t)
			body := c.meta + words
			owner.say(body, c.tags...)
			plan := w.visit(page, 1)
			if plan.Outcome != crawl.OutcomeNew || plan.State != crawl.Active || !strings.Contains(plan.Reason, c.why) || c.why == "" && strings.Contains(plan.Reason, "by ") {
				t.Errorf("planned %+v, want new: %s", plan, c.why)
			}
			if got := w.followed(page, 1); !slices.Equal(got, c.followed) {
				t.Errorf("follows %q, want %q", got, c.followed)
			}
			if got := w.kept(body); got != c.kept {
				t.Errorf("the body is kept: %t, want %t", got, c.kept)
			}
			if visit := must[store.VisitRecord](t)(w.store.Visit(t.Context(), page.PageID, 1)); visit.Digest != digestOf(body) {
				t.Errorf("visit %+v, want the digest of what was seen", visit)
			}
			if last := w.page(page.URL).Last; (last.Title == "Mine") != c.kept || (last.Digest != "") != c.kept {
				t.Errorf("version %+v, want words and a body: %t", last, c.kept)
			}
		})
	}
}

// The token that a page speaks to is the crawl's own.
func TestWhatPagesForbidAnotherAgent(t *testing.T) {
	t.Parallel()
	w, owner, _, page := owners(t, func(spec *crawl.Spec) { spec.Identity.Agent = "otherbot" })
	const body = "<meta name=recrawl content=nofollow><p>Hello <a href=/a>a</a>"
	owner.say(body, "recrawl: noarchive, otherbot: noindex")
	if plan := w.visit(page, 1); !strings.Contains(plan.Reason, "noindex by X-Robots-Tag") || w.kept(body) || len(w.followed(page, 1)) != 1 {
		t.Errorf("planned %+v, links %q", plan, w.followed(page, 1))
	}
}

// A page that may not be kept is compared like any other.
func TestChangesOfAPageThatIsNotKept(t *testing.T) {
	t.Parallel()
	for _, by := range []struct {
		name, meta string
		tags       []string
	}{{"header", "", []string{"noindex"}}, {"element", "<meta name=robots content=noindex>", nil}} {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			w, owner, _, page := owners(t)
			for i, step := range []struct {
				body    string
				outcome crawl.Outcome
			}{
				{"<p>one", crawl.OutcomeNew},
				{"<p>one", crawl.OutcomeUnchanged},
				{"<p class=x>one", crawl.OutcomeCosmetic},
				{"<p>two", crawl.OutcomeChanged},
				{"<p>two", crawl.OutcomeUnchanged},
				{"<p>one", crawl.OutcomeChanged},
			} {
				body := by.meta + step.body
				owner.say(body, by.tags...)
				plan := w.visit(page, i+1)
				if plan.Outcome != step.outcome || !strings.HasPrefix(plan.Reason, "noindex by ") {
					t.Errorf("visit %d: %+v, want %s and why no body is kept", i+1, plan, step.outcome)
				}
				if visit := must[store.VisitRecord](t)(w.store.Visit(t.Context(), page.PageID, i+1)); visit.Digest != digestOf(body) && plan.Outcome != crawl.OutcomeCosmetic {
					t.Errorf("visit %d has the digest %s, want that of what was seen", i+1, visit.Digest)
				}
				if w.kept(body) {
					t.Errorf("visit %d kept its body", i+1)
				}
			}
			if n, _ := w.archived(); n != 0 {
				t.Errorf("%d contents in the archive", n)
			}
		})
	}
}

// A request in an element is part of the body: as long as that has not changed, a
// 304 will do. A request in a header is not, so the body is fetched each time.
func TestConditionsForAPageThatIsNotKept(t *testing.T) {
	t.Parallel()
	for _, by := range []struct {
		name, meta string
		tags       []string
		status     int // of the second visit
	}{
		{"header", "", []string{"noindex"}, 200},
		{"header, to be", "", []string{"unavailable_after: 1 Jan 2999"}, 200},
		{"element", "<meta name=robots content=noindex>", nil, 304},
	} {
		t.Run(by.name, func(t *testing.T) {
			t.Parallel()
			w, owner, s, page := owners(t)
			owner.say(by.meta+"<p>one", by.tags...)
			w.visit(page, 1)
			if plan := w.visit(page, 2); plan.Status != by.status || plan.Outcome != crawl.OutcomeUnchanged {
				t.Errorf("second visit %+v, want status %d", plan, by.status)
			}
			if asked := s.header(1).Get("If-None-Match") != ""; asked != (by.status == 304) {
				t.Errorf("the second visit had a condition: %t", asked)
			}
		})
	}
}

// An owner's change of mind takes effect at the next visit, whether the page says
// so or only its headers.
func TestOwnersChangeTheirMind(t *testing.T) {
	t.Parallel()
	const text = "<p>Hello <a href=/a>a</a>"
	cases := []struct {
		name, meta string
		tags       []string
		kept       bool
	}{
		{"noindex header", "", []string{"noindex"}, false},
		{"noindex element", "<meta name=robots content=noindex>", nil, false},
		{"nofollow header", "", []string{"nofollow"}, true},
		{"nofollow element", "<meta name=robots content=nofollow>", nil, true},
		{"none header", "", []string{"none"}, false},
	}
	for _, c := range cases {
		t.Run("takes back "+c.name, func(t *testing.T) {
			t.Parallel()
			w, owner, _, page := owners(t)
			owner.say(c.meta+text, c.tags...)
			w.visit(page, 1)
			w.maintain(false)
			owner.say(text)
			plan := w.visit(page, 2)
			if !w.kept(text) || w.page(page.URL).Last.Digest != digestOf(text) || strings.Contains(plan.Reason, "by ") {
				t.Errorf("visit 2: %+v, version %+v, want the body kept", plan, w.page(page.URL).Last)
			}
			if got := w.followed(page, 2); !slices.Equal(got, []string{"/a"}) {
				t.Errorf("follows %q", got)
			}
			if plan := w.visit(page, 3); plan.Status != 304 || plan.Outcome != crawl.OutcomeUnchanged {
				t.Errorf("visit 3: %+v, want it conditional again", plan)
			}
		})
	}
}

// Versions kept before stay, later ones are not kept.
func TestNoIndexOfAPageThatWasKept(t *testing.T) {
	t.Parallel()
	w, owner, _, page := owners(t)
	const before, after = "<p>one", "<meta name=robots content=noindex><p>one"
	owner.say(before)
	w.visit(page, 1)
	owner.say(after)
	if plan := w.visit(page, 2); plan.Outcome != crawl.OutcomeCosmetic || !strings.Contains(plan.Reason, "noindex by meta robots") {
		t.Errorf("visit 2: %+v", plan)
	}
	if !w.kept(before) || w.kept(after) || w.page(page.URL).Last.Digest != "" {
		t.Errorf("kept before %t, after %t; version %+v", w.kept(before), w.kept(after), w.page(page.URL).Last)
	}
	if plan := w.visit(page, 3); plan.Status != 304 || !strings.Contains(plan.Reason, "noindex by meta robots") {
		t.Errorf("visit 3: %+v, want a 304 that says why no body is kept", plan)
	}
}

// If a 304 brings a header, the page is read at the next visit.
func TestNoIndexOfA304(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == "" {
			html(rw, "<p>one")
			return
		}
		rw.Header().Set("X-Robots-Tag", "noindex")
		rw.WriteHeader(http.StatusNotModified)
	})
	page := w.living([]string{s.url + "/"})[0]
	w.visit(page, 1)
	w.visit(page, 2)
	if record := w.page(page.URL); record.ETag != "" {
		t.Errorf("the page is still asked for on the condition of %s", record.ETag)
	}
}

// A recording that is cut off before its visit is recorded is made again, and
// still deletes the bytes.
func TestUnkeptBytesAreGivenUpBeforeTheVisitIsRecorded(t *testing.T) {
	t.Parallel()
	faulty := &discardingOnce{}
	w := newWorld(t, func(p *parts) {
		faulty.Store = p.store
		p.store = faulty
	})
	const body = "<meta name=robots content=noindex><p>one"
	s := serve(t, pageOf(body))
	page := w.living([]string{s.url + "/"})[0]
	in := contract.PlanIn{Page: page, Visit: 1, Fetch: w.fetched(w.fetch(page, 1))}
	out := run(w, contract.DetectChange, contract.DetectIn{Page: page, Visit: 1, Fetch: in.Fetch})
	in.Fetch.Outcome, in.Reasons = out.Outcome, out.Reasons
	_, err := try(w, contract.PlanRevisit, in)
	wantError(t, err, contract.ErrTypeStoreUnavailable, true, "")
	if n := w.page(page.URL).Visits; n != 0 {
		t.Fatalf("%d visits recorded while the bytes stay", n)
	}
	run(w, contract.PlanRevisit, in)
	if w.kept(body) {
		t.Error("the body is kept")
	}
}

// If a body could not be compared, as when the worker is killed at it again and again,
// nobody knows its requests: it is deleted too, unless it is a version's.
func TestBytesThatCouldNotBeComparedAreGivenUp(t *testing.T) {
	t.Parallel()
	const unkept, known = "<meta name=robots content=noindex><p>one", "<p>two"
	w := newWorld(t)
	for _, c := range []struct {
		body string
		kept bool
	}{{unkept, false}, {known, true}} {
		s := serve(t, pageOf(c.body))
		pages := w.living([]string{s.url + "/", s.url + "/again"})
		if c.kept {
			w.visit(pages[0], 1)
		}
		in := contract.PlanIn{Page: pages[1], Visit: 1, Fetch: w.fetched(w.fetch(pages[1], 1))}
		in.Fetch.Outcome, in.Fetch.Digest, in.Fetch.Dropped = crawl.OutcomeFailed, "", in.Fetch.Digest
		run(w, contract.PlanRevisit, in)
		if kept := w.kept(c.body); kept != c.kept {
			t.Errorf("%q is kept: %v, want %v", c.body, kept, c.kept)
		}
	}
}

// discardingOnce is a store whose first Discard fails.
type discardingOnce struct {
	store.Store
	failed bool
}

func (s *discardingOnce) Discard(ctx context.Context, digests []string) error {
	if !s.failed {
		s.failed = true
		return fmt.Errorf("discard: %w", store.ErrUnavailable)
	}
	return s.Store.Discard(ctx, digests)
}
