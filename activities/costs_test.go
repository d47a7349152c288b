package activities_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlite"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
)

// counted is a world whose store counts its calls.
func counted(t *testing.T) (*world, *storetest.Counter) {
	t.Helper()
	var counter *storetest.Counter
	wrap := func(e sqlstore.Engine) sqlstore.Engine {
		counter = storetest.Count(e)
		return counter
	}
	w := newWorld(t, atOnce, func(p *parts) {
		p.store = must[store.Store](t)(sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "counted.db"), sqlite.Options{Owner: true, Wrap: wrap}))
	})
	t.Cleanup(func() {
		w.activities.Close()
		w.store.Close()
	})
	return w, counter
}

// whole makes a whole visit as the Page workflow does: DetectChange registers the links, and
// PlanRevisit is called only if Fetch did not record the visit.
func (w *world) whole(page crawl.PageRef, visit int) contract.PlanOut {
	w.t.Helper()
	plan := contract.PlanIn{Page: page, Visit: visit, Fetch: w.finished(page, visit)}
	if plan.Fetch.Plan != nil {
		return *plan.Fetch.Plan
	}
	if plan.Fetch.Differs {
		verdict := run(w, contract.DetectChange, contract.DetectIn{Page: page, Visit: visit, Fetch: plan.Fetch, Returns: true, Register: true})
		plan.Fetch.Outcome, plan.Fetch.Returned, plan.Reasons = verdict.Outcome, verdict.Returned, verdict.Reasons
	}
	return run(w, contract.PlanRevisit, plan)
}

// linked are a link into the crawl and one out of it, which all copies of the page have. So they
// are known from the second version on.
const linked = `<a href="/known">known</a> <a href="https://elsewhere.test/">not taken</a>`

// mostOf are the most calls of the store that kinds of visits may make, which is more
// than their share of a machine's disk and processor: count before you raise one. Round trips are
// those of Postgres, where registering new links has one more, which locks their pages.
var mostOf = []struct {
	visit string
	body  string // "" is a 304
	most  storetest.Counts
}{
	{"first", "<p>hello", storetest.Counts{Durable: 5, Lazy: 1, Reads: 6, Statements: 59, Trips: 30}},
	{"unchanged", "", storetest.Counts{Durable: 1, Lazy: 1, Reads: 1, Statements: 21, Trips: 8}},
	{"unchanged again", "", storetest.Counts{Durable: 1, Lazy: 1, Reads: 1, Statements: 21, Trips: 8}},
	{"changed", "<p>quite other words", storetest.Counts{Durable: 4, Lazy: 1, Reads: 6, Statements: 53, Trips: 22}},
	{"changed again", "<p>words of a third kind", storetest.Counts{Durable: 4, Lazy: 1, Reads: 7, Statements: 54, Trips: 23}},
	{"returned", "<p>hello", storetest.Counts{Durable: 5, Lazy: 1, Reads: 7, Statements: 54, Trips: 25}},
}

func TestCostOfAVisit(t *testing.T) {
	t.Parallel()
	w, counter := counted(t)
	n := 0
	s := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if mostOf[n].body == "" {
			answering(304, "")(rw, r)
			return
		}
		answering(200, linked+mostOf[n].body, "Content-Type: text/html", `ETag: "1"`)(rw, r)
	})
	page := w.living([]string{s.url + "/"})[0]
	for i, kind := range mostOf {
		n = i
		counter.Take()
		w.whole(page, i+1)
		got, queries := counter.Take()
		if m := kind.most; got.Durable > m.Durable || got.Lazy > m.Lazy || got.Reads > m.Reads || got.Statements > m.Statements || got.Trips > m.Trips {
			t.Errorf("%s: %+v, at most %+v:\n%s", kind.visit, got, m, strings.Join(queries, "\n"))
		}
	}
}
