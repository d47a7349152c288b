package activities_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// returning makes a visit as a workflow that knows of returns, and returns its record.
func (w *world) returning(page crawl.PageRef, visit int, in contract.DetectIn) store.VisitRecord {
	w.t.Helper()
	in.Returns = true
	out := run(w, contract.DetectChange, in)
	if again := run(w, contract.DetectChange, in); fmt.Sprint(again) != fmt.Sprint(out) {
		w.t.Errorf("run again: %+v, want %+v", again, out)
	}
	in.Fetch.Outcome, in.Fetch.Returned = out.Outcome, out.Returned
	plan := run(w, contract.PlanRevisit, contract.PlanIn{Page: page, Visit: visit, Fetch: in.Fetch, Reasons: out.Reasons})
	if plan.Outcome == crawl.OutcomeReturned {
		w.t.Error("a worker of release 0.2.0 could not read the history")
	}
	recorded, err := w.store.Visit(w.t.Context(), page.PageID, visit)
	if err != nil {
		w.t.Fatal(err)
	}
	if contract.Unmarked(plan.Outcome, plan.Returned) != recorded.Outcome {
		w.t.Errorf("the plan says %s, returned %v, the record %s", plan.Outcome, plan.Returned, recorded.Outcome)
	}
	return recorded
}

// clockNow stands for the time of day in a body.
const clockNow = "{now}"

// shows makes visits that see bodies, and returns their results: the outcome and the
// number of the page's version.
func (w *world) shows(page crawl.PageRef, bodies ...string) string {
	w.t.Helper()
	var came []string
	for _, body := range bodies {
		visit := w.page(page.URL).Visits + 1
		// Another second each time, and never far from when the page is seen.
		body = strings.ReplaceAll(body, clockNow, time.Now().UTC().Add(time.Duration(visit)*time.Second).Format("15:04:05"))
		recorded := w.returning(page, visit, w.detection(page, visit, body))
		came = append(came, fmt.Sprintf("%s %d", recorded.Outcome, recorded.Version))
	}
	return strings.Join(came, ", ")
}

func TestReturns(t *testing.T) {
	t.Parallel()
	text := func(what string) string {
		return `<title>Tide</title><p>` + what + ` water today. <a href="/a">more</a>`
	}
	a, b, c := text("Low"), text("High"), text("No")
	sold := func(what, button string) string {
		return text(what) + `<form><input type=submit value="` + button + `"></form>`
	}
	clocked := func(what string) string { return text(what) + `<p>` + clockNow }
	many := []string{a}
	for n := range 12 {
		many = append(many, text(fmt.Sprint("The ", n, "th")))
	}
	numbered := "new 1"
	for n := range 12 {
		numbered += fmt.Sprint(", changed ", n+2)
	}
	for name, test := range map[string]struct {
		bodies []string
		want   string
	}{
		"to the version before":     {[]string{a, b, a}, "new 1, changed 2, returned 1"},
		"and it stays":              {[]string{a, b, a, a}, "new 1, changed 2, returned 1, unchanged 1"},
		"further back":              {[]string{a, b, c, a}, "new 1, changed 2, changed 3, returned 1"},
		"and then something new":    {[]string{a, b, a, c}, "new 1, changed 2, returned 1, changed 3"},
		"in other bytes":            {[]string{a, b, a + "<!-- -->", a}, "new 1, changed 2, returned 1, unchanged 1"},
		"with other links":          {[]string{a, b, strings.Replace(a, "/a", "/b", 1)}, "new 1, changed 2, returned 3"},
		"of the links alone":        {[]string{a, strings.Replace(a, "/a", "/b", 1), a}, "new 1, cosmetic 2, cosmetic 1"},
		"with an edit besides":      {[]string{a, b, strings.Replace(a, "Low water", "Lower water", 1)}, "new 1, changed 2, changed 3"},
		"with another title":        {[]string{a, b, strings.Replace(a, "Tide", "Tide table", 1), a + " "}, "new 1, changed 2, changed 3, returned 1"},
		"with another button":       {[]string{sold("Low", "Buy"), sold("High", "Buy"), sold("Low", "Sold out"), sold("Low", "Buy")}, "new 1, changed 2, changed 3, returned 1"},
		"a dozen texts ago":         {append(many[:12:12], a), strings.TrimSuffix(numbered, ", changed 13") + ", returned 1"},
		"more than a dozen ago":     {append(many[:13:13], a), numbered + ", changed 14"},
		"with the time of the day":  {[]string{clocked("Low"), clocked("High"), clocked("Low")}, "new 1, changed 2, returned 1"},
		"with another hour in it":   {[]string{text("At 14:05:33 low"), b, text("At 15:05:33 low")}, "new 1, changed 2, changed 3"},
		"without any text":          {[]string{`<img src=a.png>`, a, `<img src=a.png>`}, "new 1, changed 2, returned 1"},
		"without text, other bytes": {[]string{`<img src=a.png>`, a, `<img src=b.png>`}, "new 1, changed 2, changed 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			page := w.living([]string{"http://localhost/"})[0]
			if got := w.shows(page, test.bodies...); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A page that flips between two texts for ever grows neither the archive nor its versions,
// does not count as changing often, and its history names the version of each return.
func TestReturnsForEver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	bodies := []string{`<p>Try these steps, or ask the community.`, `<p>Try these steps.`}
	for n := range 30 {
		w.shows(page, bodies[n%2]+strings.Repeat("<br>", n)) // never the same bytes
	}
	if err := sweepContents(w); err != nil {
		t.Fatal(err)
	}
	kept, _ := w.archived()
	if got := w.page(page.URL); w.status().Versions != 2 || kept != 2 || got.Changes != 1 || got.Last.Seq != 2 {
		t.Errorf("%d versions, %d bodies, %d changes, now version %d", w.status().Versions, kept, got.Changes, got.Last.Seq)
	}
	last, err := w.store.Visit(t.Context(), page.PageID, 30)
	if err != nil || last.Reasons[0].Code != "returned" || last.Reasons[0].Num["version"] != 2 || last.Reasons[0].Num["from"] != 1 {
		t.Errorf("the last visit: %+v, %v", last, err)
	}
}

// sweepContents deletes the bytes that no version has.
func sweepContents(w *world) error {
	for {
		digests, err := w.store.Unreferenced(w.t.Context(), 100)
		if err != nil || len(digests) == 0 {
			return err
		}
		for _, digest := range digests {
			if err := w.archive.Delete(w.t.Context(), digest); err != nil {
				return err
			}
		}
		if err := w.store.Deleted(w.t.Context(), digests); err != nil {
			return err
		}
	}
}

// A page cannot return to a missing version: neither from a body that may be kept to one
// that may not, nor to one that is gone from the archive or the store.
func TestReturnsToWhatIsGone(t *testing.T) {
	t.Parallel()
	const a, b, secret = `<p>Low water today.`, `<p>High water today.`, `<meta name=robots content=noarchive>`
	t.Run("withheld", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		page := w.living([]string{"http://localhost/"})[0]
		if got, want := w.shows(page, secret+a, b, a, secret+b, b, secret+a), "new 1, changed 2, changed 3, changed 4, cosmetic 2, returned 1"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
	t.Run("from the archive", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		page := w.living([]string{"http://localhost/"})[0]
		w.shows(page, a)
		first := w.page(page.URL).Last
		w.shows(page, b)
		if err := w.archive.Delete(t.Context(), first.Digest); err != nil {
			t.Fatal(err)
		}
		if got := w.shows(page, a+"<br>"); got != "changed 3" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("from the store", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		page := w.living([]string{"http://localhost/"}, func(s *crawl.Spec) { s.Retention.MaxVersions = 1 })[0]
		if got := w.shows(page, a, b, a, b); got != "new 1, changed 2, changed 3, changed 4" || w.status().Versions != 1 {
			t.Errorf("got %s, %d versions", got, w.status().Versions)
		}
	})
}

// A workflow of an earlier release knows nothing of returns.
func TestReturnsOfAnEarlierRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	for visit, body := range []string{`<p>Low water.`, `<p>High water.`, `<p>Low water.`} {
		if out := w.seen(page, visit+1, body); out.Returned {
			t.Errorf("visit %d: %+v", visit+1, out)
		}
	}
	if n := w.status().Versions; n != 3 {
		t.Errorf("%d versions", n)
	}
}

// A page of the same words that looks as before, such as one of two variants, has returned too.
func TestReturnsOfLooks(t *testing.T) {
	t.Parallel()
	text := func(button string) string {
		return `<title>Tide</title><p>Low water today.<form><input type=submit value="` + button + `"></form>`
	}
	w := newWorld(t)
	page := w.living([]string{"http://localhost/"})[0]
	const want = "new 1, changed 2, returned 1, returned 2, changed 3, cosmetic 3, returned 1"
	if got := w.shows(page, text("Buy"), text("Order"), text("Buy"), text("Order"), text("Book"), text("Book")+" ", text("Buy")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
