package activities_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
)

// slow is a crawl whose pages were all seen three days ago and are due in weeks.
func slow(w *world, n int) []crawl.PageRef {
	w.t.Helper()
	pages := w.living(numbered(n), func(spec *crawl.Spec) {
		spec.Limits.Window = 1000
		spec.Revisit.Policy, spec.Revisit.DefaultInterval, spec.Revisit.MinInterval = "fixed", crawl.Duration(30*day), crawl.Duration(day)
	})
	for _, p := range pages {
		w.looked(p, crawl.OutcomeNew, 3*day)
	}
	return pages
}

func ago(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339) }

// A date after the last visit makes the page's next visit early; the visit shows
// what the date was worth.
func TestHints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := slow(w, 6)
	list := w.listed("http://localhost/map.xml")
	before := w.page(pages[0].URL).NextAt
	w.read(list, "application/xml", urlset(
		pages[0].URL+" "+ago(time.Hour), pages[1].URL+" "+ago(2*time.Hour), pages[2].URL+" "+ago(4*day), pages[3].URL, pages[4].URL+" "+ago(-100*time.Hour)))
	if got := w.flows.rescheduled; !slices.Equal(got, []string{pages[0].URL, pages[1].URL}) {
		t.Fatalf("moved %q", got)
	}
	now := must[time.Time](t)(w.store.Now(t.Context()))
	hinted := w.page(pages[0].URL)
	if hinted.HintedBy != list.PageID || !hinted.NextAt.Before(before) || hinted.NextAt.Sub(now) > time.Minute {
		t.Errorf("due %s instead of %s, hinted by %d", hinted.NextAt, before, hinted.HintedBy)
	}
	if source := w.sources()[0]; source.Hinted != 2 || source.Dated != 3 || source.Dropped["date in the future"] != 1 {
		t.Errorf("source %+v", source)
	}
	plan := w.plan(pages[0], 2, contract.FetchOut{Outcome: crawl.OutcomeChanged, At: now})
	if !strings.Contains(plan.Reason, "visited early because the sitemap http://localhost/map.xml said that it had changed") {
		t.Errorf("summary %q", plan.Reason)
	}
	if got := schedule.DecodeBelief(w.page(pages[0].URL).Belief); got.Pairs != 1 || got.LastGap != 0 {
		t.Errorf("a look that a list asked for counts as evidence of a wave: %+v", got)
	}
	w.plan(pages[1], 2, contract.FetchOut{Outcome: crawl.OutcomeUnchanged, At: now})
	if source := w.sources()[0]; source.Hits != 1 || source.Misses != 1 {
		t.Errorf("source %+v", source)
	}
	// The same dates again, with another page: nothing to say about those two.
	w.read(list, "application/xml", urlset(pages[0].URL+" "+ago(time.Hour), pages[1].URL+" "+ago(2*time.Hour), pages[5].URL+" "+ago(3*time.Hour)))
	if got := w.flows.rescheduled[2:]; !slices.Equal(got, []string{pages[5].URL}) {
		t.Errorf("moved then %q", got)
	}
}

// A hinted page is visited no sooner than min_interval after its last visit.
func TestHintsKeepTheLeastInterval(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := slow(w, 1)
	w.looked(pages[0], crawl.OutcomeUnchanged, 2*time.Hour)
	w.read(w.listed("http://localhost/map.xml"), "application/xml", urlset(pages[0].URL+" "+ago(time.Hour)))
	if page := w.page(pages[0].URL); page.NextAt.Sub(page.LastAt) != day {
		t.Errorf("due %s after its last visit", page.NextAt.Sub(page.LastAt))
	}
}

// Dates that cannot be true move nothing, and the source says why.
func TestHintsOfLiars(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		date func(i int) string
		why  string
	}{
		"all the same":  {func(int) string { return ago(time.Hour) }, "dates all the same"},
		"always now":    {func(i int) string { return ago(time.Duration(i) * time.Second) }, "dates always now"},
		"in the future": {func(i int) string { return ago(-time.Duration(30+i) * time.Hour) }, "date in the future"},
		"unreadable":    {func(int) string { return "yesterday" }, "unreadable date"},
	} {
		w := newWorld(t)
		var entries []string
		for i, p := range slow(w, 12) {
			entries = append(entries, p.URL+" "+tc.date(i))
		}
		list := w.listed("http://localhost/map.xml")
		w.read(list, "application/xml", urlset(entries...))
		if source := w.sources()[0]; len(w.flows.rescheduled) > 0 || source.Dropped[tc.why] != 12 || source.Dated != 0 {
			t.Errorf("%s: moved %q, source %+v", name, w.flows.rescheduled, source)
		}
		// Nor is such a list another one for other lies.
		entries[0] = strings.Replace(entries[0], " 20", " 19", 1)
		if name == "always now" {
			w.read(list, "application/xml", urlset(entries[1:]...)+"<!-- later -->")
			if out, _ := w.read(list, "application/xml", urlset(entries[1:]...)); out.Outcome != crawl.OutcomeCosmetic {
				t.Errorf("made again it is %s", out.Outcome)
			}
		}
	}
}

// A list that lies plausibly about all its pages moves a few visits, and after two
// misses one in ten of a few; it may become honest.
func TestHintsOfPlausibleLiars(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := slow(w, 60)
	list := w.listed("http://localhost/map.xml")
	var first []string
	now := time.Now() // the same for all: each pass has other dates
	lie := func(turn int) []string {
		before := len(w.flows.rescheduled)
		var entries []string
		for i, p := range pages {
			date := now.Add(-time.Duration(10+i)*time.Minute - time.Duration(turn)*time.Second)
			entries = append(entries, p.URL+" "+date.UTC().Format(time.RFC3339))
		}
		w.read(list, "application/xml", urlset(entries...))
		return slices.DeleteFunc(slices.Clone(w.flows.rescheduled[before:]), func(url string) bool { return slices.Contains(first, url) })
	}
	first = lie(0)
	if len(first) != 4 {
		t.Fatalf("%d of 60 pages are moved", len(first))
	}
	if again := lie(1); len(again) > 0 || w.sources()[0].Skipped["moved already"] != 4 || w.sources()[0].Skipped["too many at once"] != 56 {
		t.Errorf("%d more are moved before those were visited; %+v", len(again), w.sources()[0].Skipped)
	}
	for _, url := range first {
		w.plan(w.page(url).PageRef, 2, contract.FetchOut{Outcome: crawl.OutcomeUnchanged, At: time.Now().UTC()})
	}
	if then := lie(2); len(then) > 4 || w.sources()[0].Skipped["source not trusted"] < 40 {
		t.Errorf("%d are moved then; %+v", len(then), w.sources()[0])
	}
}

// If it is lost after the pages were moved, the activity is made again and moves no
// others.
func TestHintsAreMadeOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var entries []string
	for i, p := range slow(w, 20) {
		entries = append(entries, fmt.Sprint(p.URL, " ", ago(time.Duration(1+i)*time.Hour)))
	}
	list := w.listed("http://localhost/map.xml")
	in := w.detection(list, 1, urlset(entries...))
	in.Fetch.ContentType = "application/xml"
	run(w, contract.DetectChange, in)
	w.flows.down = true
	if _, err := try(w, contract.RegisterLinks, contract.RegisterIn{Page: list, Visit: 1}); err == nil {
		t.Error("nobody noticed that Temporal does not answer")
	}
	w.flows.down = false
	run(w, contract.RegisterLinks, contract.RegisterIn{Page: list, Visit: 1})
	moved := 0
	for _, e := range entries {
		url, _, _ := strings.Cut(e, " ")
		if w.page(url).HintedBy != 0 {
			moved++
		}
	}
	if moved != 4 || w.sources()[0].Hinted != 4 || len(w.flows.rescheduled) != 4 {
		t.Errorf("%d pages are moved, %d counted; told %q", moved, w.sources()[0].Hinted, w.flows.rescheduled)
	}
}

// A time that is ahead of our clock moves the visit once, to that time, however often the list
// is read meanwhile.
func TestHintsOfTimesAhead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	pages := slow(w, 3)
	list := w.listed("http://localhost/map.xml")
	ahead := time.Now().Add(13 * time.Hour).UTC().Truncate(time.Second)
	before := ago(4 * day)
	for turn := range 3 {
		body := urlset(pages[0].URL+" "+ahead.Format(time.RFC3339), pages[1].URL+" "+before) + fmt.Sprintf("<!-- made %d -->", turn)
		out, _ := w.read(list, "application/xml", body)
		if turn > 0 && out.Outcome == crawl.OutcomeChanged {
			t.Errorf("reading %d: the same list has changed", turn)
		}
	}
	if got := w.page(pages[0].URL).NextAt; len(w.flows.rescheduled) != 1 || !got.Equal(ahead) {
		t.Errorf("moved %q, to %s, want %s", w.flows.rescheduled, got, ahead)
	}
}
