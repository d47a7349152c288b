package source_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/export/source"
	"recrawl/internal/store"
)

// Reading one page, or a list of pages, gives the data of an export in the formats for
// standing pages.
func TestDocuments(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	urls := exporttest.URLs()
	src, s := stored(t, exporttest.Crawl(5, urls, 8))
	record, err := s.Crawl(ctx, "news")
	check(t, err)
	all, err := s.ListPages(ctx, store.PageFilter{CrawlID: record.ID})
	check(t, err)
	// Each page comes to another state; of each twenty, half moved before.
	states := []crawl.PageState{
		crawl.Active, crawl.Active, crawl.Failing, crawl.Stopped, crawl.Gone, crawl.Redirect, crawl.Duplicate, crawl.Excluded, crawl.Evicted, crawl.Evicted,
	}
	expect := []bool{true, true, true, true, false, false, false, false, false, false}
	for i, p := range all {
		visit := store.VisitRecord{PageID: p.PageID, Visit: p.Visits + 1, At: p.LastAt.Add(time.Hour), Outcome: crawl.OutcomeRedirected, State: crawl.Redirect}
		if i%20 >= 10 {
			_, err := s.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: visit})
			check(t, err)
			visit.Visit++
		}
		visit.At, visit.Outcome, visit.State = visit.At.Add(time.Hour), crawl.OutcomeUnchanged, states[i%len(states)]
		_, err := s.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: visit})
		check(t, err)
	}
	if len(all) < 5 {
		t.Fatalf("%d pages", len(all))
	}
	_, err = s.Forget(ctx, store.ForgetParams{Target: store.Target{URL: all[1].URL}, Limit: 10})
	check(t, err)

	want := map[int64]export.Exchange{}
	for x, err := range src.Exchanges(ctx, export.Query{Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), Found: true}) {
		check(t, err)
		if x.Stands && (x.Found() || x.Back) {
			want[x.Page] = x
		}
	}
	if len(want) < 5 || len(want) > len(all)/2 {
		t.Fatalf("%d of %d pages stand", len(want), len(all))
	}
	for i, p := range all {
		if _, ok := want[p.PageID]; i != 1 && p.Last.Seq > 0 && ok != (expect[i%len(expect)] && !(i%20 >= 10 && i%10 >= 2)) {
			t.Errorf("page %d, number %d: stands %v", p.PageID, i, ok)
		}
	}
	listed := map[int64]export.Exchange{}
	var after int64
	for more := true; more; {
		var found []export.Exchange
		found, after, more, err = src.Documents(ctx, after, 7)
		check(t, err)
		for _, x := range found {
			listed[x.Page] = x
		}
	}
	if got, wanted := slices.Sorted(maps.Keys(listed)), slices.Sorted(maps.Keys(want)); !slices.Equal(got, wanted) {
		t.Errorf("listed %v, want %v", got, wanted)
	}
	for _, p := range all {
		x, ok, err := src.Document(ctx, p.PageID)
		check(t, err)
		w, standing := want[p.PageID]
		if ok != standing || ok && (fmt.Sprint(x) != fmt.Sprint(listed[p.PageID]) || x.URL != w.URL || x.Version != w.Version || !x.Stands) {
			t.Errorf("page %d in state %s: %+v, %v, want %+v, %v", p.PageID, p.State, x, ok, w, standing)
		}
	}
	for page, x := range listed {
		for _, f := range export.Formats() {
			if w := want[page]; export.Signature(f, x) != export.Signature(f, w) {
				t.Errorf("as %s, page %d of %v in a list is not the %v of an export", f, page, x, w)
			}
		}
	}
	another, err := source.New(s, nil, store.CrawlRecord{ID: record.ID + 1, Spec: record.Spec})
	check(t, err)
	for page := range want {
		if _, ok, err := another.Document(ctx, page); ok || err != nil {
			t.Errorf("page %d of another crawl: %v, %v", page, ok, err)
		}
	}
}
