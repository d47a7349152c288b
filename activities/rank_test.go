package activities_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

func (w *world) register(from int64, urls ...string) {
	w.t.Helper()
	list := make([]store.NewURL, len(urls))
	for i, url := range urls {
		list[i] = store.NewURL{URL: url, Host: "localhost", Level: 1}
	}
	must[store.RegisterResult](w.t)(w.store.RegisterLinks(w.t.Context(), store.RegisterParams{CrawlID: w.crawl().ID, From: from, URLs: list}))
}

func (w *world) rank() contract.RankOut {
	w.t.Helper()
	return run(w, contract.Rank, contract.RankIn{CrawlID: w.crawl().ID, Name: "news", Reason: crawl.Reason{Code: contract.RankAsked}})
}

func (w *world) replace() contract.ReplaceOut {
	w.t.Helper()
	return run(w, contract.Replace, contract.ReplaceIn{CrawlID: w.crawl().ID, Name: "news"})
}

func link(i int) string { return fmt.Sprintf("http://localhost/link/%d", i) }

// Ranks are due at first, and again when links have doubled; not for a crawl that
// wants none.
func TestMaintainSaysWhenRanksAreDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living(numbered(1))[0]
	due := func() string {
		if why := w.maintain(false).RankDue; why != nil {
			return why.Code
		}
		return ""
	}
	steps := []struct {
		do   func()
		want string
	}{
		{func() {}, ""},
		{func() { w.register(page.PageID, link(1), link(2)) }, rank.CodeFirst},
		{func() { w.rank() }, ""},
		{func() { w.register(page.PageID, link(3)) }, ""},
		{func() { w.register(page.PageID, link(4)) }, rank.CodeGrown},
		{func() {
			spec := w.crawl().Spec
			spec.Rank.Every = 0
			must[store.CrawlRecord](t)(w.store.OpenCrawl(t.Context(), spec))
		}, ""},
	}
	for i, step := range steps {
		step.do()
		if got := due(); got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := w.living(numbered(2), func(spec *crawl.Spec) { spec.Rank.Personalised = true })
	w.register(pages[0].PageID, link(1), link(2))
	w.register(pages[1].PageID, link(2))
	if out := w.rank(); out.Pages != 4 || out.Links != 3 || out.Rounds == 0 || out.At.IsZero() {
		t.Errorf("ranked %+v", out)
	}
	one, two := w.page(link(1)), w.page(link(2))
	if one.Weight <= 0 || two.Weight <= one.Weight || two.InnerLinks != 2 {
		t.Errorf("weights %v and %v, %d links from their host", one.Weight, two.Weight, two.InnerLinks)
	}
	last, _, err := w.store.Ranking(t.Context(), w.crawl().ID)
	if err != nil || !last.Personalised || last.Damping != 0.85 || last.Reason.Code != rank.CodeAsked {
		t.Errorf("recorded %+v, %v", last, err)
	}
	_, err = try(w, contract.Rank, contract.RankIn{CrawlID: 99, Name: "nobody"})
	wantError(t, err, contract.ErrTypeNotFound, false, "not found")
}

// full is a crawl whose collection is full with a seed and two pages nobody links to
// much, while it knows a page that all link to. The tenure is over at once.
func full(w *world) (seed crawl.PageRef, poor []store.PageRecord, rich store.PageRecord) {
	w.t.Helper()
	seed = w.living(numbered(1), func(spec *crawl.Spec) { spec.Limits.MaxPages = 3 })[0]
	w.register(seed.PageID, link(1), link(2))
	admitted := run(w, contract.Admit, contract.AdmitIn{CrawlID: seed.CrawlID, Limit: 10}).Pages
	if len(admitted) != 2 {
		w.t.Fatalf("admitted %+v", admitted)
	}
	w.plan(seed, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
	for _, p := range admitted {
		w.plan(p.Page, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
		w.register(p.Page.PageID, link(9))
	}
	w.register(seed.PageID, link(9))
	spec := w.crawl().Spec
	spec.Rank.Every, spec.Rank.MaxEvictions = 1, 1
	must[store.CrawlRecord](w.t)(w.store.OpenCrawl(w.t.Context(), spec))
	w.rank()
	return seed, []store.PageRecord{w.page(link(1)), w.page(link(2))}, w.page(link(9))
}

func TestReplace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, poor, rich := full(w)
	w.flows.started = nil
	if out := w.replace(); out != (contract.ReplaceOut{Evicted: 1, Admitted: 1}) {
		t.Fatalf("exchanged %+v", out)
	}
	w.wantStarted(rich.URL)
	if got := w.page(rich.URL); got.State != crawl.Active {
		t.Errorf("the page that comes in is %s", got.State)
	}
	if len(w.flows.evicted) != 1 || w.page(w.flows.evicted[0]).State != crawl.Evicted {
		t.Fatalf("evicted %q", w.flows.evicted)
	}
	if untold := must[[]store.Eviction](t)(w.store.Evictions(t.Context(), rich.CrawlID, true, 10)); len(untold) > 0 {
		t.Errorf("untold %+v", untold)
	}
	// Its present request is answered so that its workflow ends.
	gone := w.page(w.flows.evicted[0])
	if got := w.acquire(gone.PageRef, gone.Visits+1); got.Answer != contract.AnswerEvicted {
		t.Errorf("answer %+v", got)
	}
	if out := run(w, contract.LeaveLine, contract.LeaveIn{Page: gone.PageRef, State: crawl.Evicted}); out.Returned {
		t.Error("it was said to be back")
	}
	if out := w.replace(); out != (contract.ReplaceOut{}) {
		t.Errorf("and then %+v", out)
	}
	// Room again: it comes back, and its visits go on.
	other := poor[0]
	if other.PageID == gone.PageID {
		other = poor[1]
	}
	run(w, contract.LeaveLine, contract.LeaveIn{Page: other.PageRef, State: crawl.Stopped})
	if out := w.replace(); out != (contract.ReplaceOut{Admitted: 1}) {
		t.Fatalf("exchanged %+v", out)
	}
	if out := run(w, contract.LeaveLine, contract.LeaveIn{Page: gone.PageRef, State: crawl.Evicted}); !out.Returned {
		t.Error("a workflow that has not ended yet was not told that its page is back")
	}
	w.plan(gone.PageRef, 2, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
	if got := w.page(gone.URL); got.Visits != 2 || got.State != crawl.Active {
		t.Errorf("%d visits, %s", got.Visits, got.State)
	}
}

// Cut off between the store and Temporal: the next attempt tells the workflows.
func TestReplaceCutOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, _, rich := full(w)
	w.flows.started, w.flows.down = nil, true
	if out, err := try(w, contract.Replace, contract.ReplaceIn{CrawlID: rich.CrawlID, Name: "news"}); err == nil {
		t.Fatalf("exchanged %+v without Temporal", out)
	}
	if w.page(rich.URL).State != crawl.Active {
		t.Fatal("the store does not know of the exchange")
	}
	w.flows.down = false
	if out := w.replace(); out.Evicted+out.Admitted > 0 {
		t.Errorf("exchanged %+v more", out)
	}
	w.wantStarted(rich.URL)
	if len(w.flows.evicted) != 1 {
		t.Errorf("evicted %q", w.flows.evicted)
	}
	w.replace()
	if len(w.flows.evicted) != 1 {
		t.Errorf("told again: %q", w.flows.evicted)
	}
}

// A page without a workflow can be evicted without telling one; a page that robots.txt
// forbids, or that the scope leaves out, does not come in; a crawl that wants no ranks evicts nobody.
func TestReplaceGuards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(w *world)
		want   contract.ReplaceOut
	}{
		"no workflow": {func(w *world) { w.flows.missing = true }, contract.ReplaceOut{Evicted: 1, Admitted: 1}},
		"forbidden": {func(w *world) {
			w.saveRobots(store.SaveRobotsParams{
				Origin: "http://localhost", State: store.RobotsParsed, Status: 200, Text: "User-agent: *\nDisallow: /link/9", Expires: time.Hour,
			})
		}, contract.ReplaceOut{}},
		"out of scope": {func(w *world) {
			spec := w.crawl().Spec
			spec.Scope.Rules = []crawl.ScopeRule{{Name: "old", Reject: &crawl.FilterSpec{Prefix: crawl.Texts{link(9)}}}}
			must[store.CrawlRecord](w.t)(w.store.OpenCrawl(w.t.Context(), spec))
		}, contract.ReplaceOut{}},
		"no ranks": {func(w *world) {
			spec := w.crawl().Spec
			spec.Rank.Every = 0
			must[store.CrawlRecord](w.t)(w.store.OpenCrawl(w.t.Context(), spec))
		}, contract.ReplaceOut{}},
		"no evictions": {func(w *world) {
			spec := w.crawl().Spec
			spec.Rank.MaxEvictions = 0
			must[store.CrawlRecord](w.t)(w.store.OpenCrawl(w.t.Context(), spec))
		}, contract.ReplaceOut{}},
		"tenure": {func(w *world) {
			spec := w.crawl().Spec
			spec.Rank.Every = crawl.Duration(time.Hour)
			must[store.CrawlRecord](w.t)(w.store.OpenCrawl(w.t.Context(), spec))
		}, contract.ReplaceOut{}},
		"fewer places": {func(w *world) {
			spec := w.crawl().Spec
			spec.Limits.MaxPages = 2
			must[store.CrawlRecord](w.t)(w.store.OpenCrawl(w.t.Context(), spec))
		}, contract.ReplaceOut{Evicted: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			full(w)
			c.before(w)
			if out := w.replace(); out != c.want {
				t.Errorf("exchanged %+v, want %+v", out, c.want)
			}
		})
	}
}

// Continuous discovery of ever better pages: max_pages holds after every step, and no
// more pages are evicted in a day than the spec allows.
func TestMaxPagesUnderContinuousDiscovery(t *testing.T) {
	t.Parallel()
	const places = 10
	w := newWorld(t)
	seed := w.living(numbered(1), func(spec *crawl.Spec) { spec.Limits.MaxPages, spec.Limits.Window = places, 5 })[0]
	spec := w.crawl().Spec
	spec.Rank.Every, spec.Rank.MaxEvictions = 1, 0.3
	must[store.CrawlRecord](t)(w.store.OpenCrawl(t.Context(), spec))
	w.plan(seed, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
	next, evicted := 0, 0
	for range 12 {
		living := slices.DeleteFunc(w.list(), func(p store.PageRecord) bool { return !p.State.Lives() })
		for i, p := range living {
			// Every page links to three more, all to the first of them.
			urls := []string{link(next)}
			for k := range 3 {
				urls = append(urls, link(next+1+3*i+k))
			}
			w.register(p.PageID, urls...)
		}
		next += 3*len(living) + 1
		for {
			admitted := run(w, contract.Admit, contract.AdmitIn{CrawlID: seed.CrawlID, Limit: 10}).Pages
			if len(admitted) == 0 {
				break
			}
			for _, p := range admitted {
				w.plan(p.Page, 1, contract.FetchOut{Outcome: crawl.OutcomeUnchanged})
			}
		}
		w.rank()
		out := w.replace()
		evicted += out.Evicted
		if got := w.inCollection(); got > places {
			t.Fatalf("%d pages live, of at most %d", got, places)
		}
	}
	if got := w.inCollection(); got != places || evicted != 3 {
		t.Errorf("%d pages live; %d were evicted in a day, of %d at most 30 %%", got, evicted, places)
	}
	if w.page(seed.URL).State != crawl.Active {
		t.Error("the seed was evicted")
	}
}

func (w *world) list() []store.PageRecord {
	w.t.Helper()
	return must[[]store.PageRecord](w.t)(w.store.ListPages(w.t.Context(), store.PageFilter{CrawlID: w.crawl().ID, Limit: 10_000}))
}

// inCollection is how many pages live.
func (w *world) inCollection() int {
	w.t.Helper()
	return must[store.CollectionRecord](w.t)(w.store.Collection(w.t.Context(), w.crawl().ID)).Living
}
