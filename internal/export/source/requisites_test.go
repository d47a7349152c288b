package source_test

import (
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/source"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// TestRequisites: an export's exchanges have requisites, marked, which stand while the site
// has them. They are documents only for callers that ask for them.
func TestRequisites(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := crawltest.New(t, func(s *crawl.Spec) { s.Documents.Requisites = true })
	digest := archivetest.Put(t, c.Files, []byte("a picture"))
	kept := func(path string, outcomes ...crawl.Outcome) int64 {
		id := c.Page(store.NewURL{URL: "https://host.test/" + path, Level: 1, Hops: 1, Kind: crawl.KindRequisite, Looks: true}).PageID
		for i, outcome := range outcomes {
			if outcome == crawl.OutcomeNew {
				_, err := c.Store.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{PageID: id, Visit: i + 1, Digest: digest, Bytes: 9, ContentType: "image/png"}})
				check(t, err)
			}
			_, err := c.Store.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: store.VisitRecord{PageID: id, Visit: i + 1, Outcome: outcome, State: crawl.Kept}})
			check(t, err)
		}
		return id
	}
	want := map[int64]bool{ // whether it stands
		kept("a.png", crawl.OutcomeNew):                                              true,
		kept("b.png", crawl.OutcomeNew, crawl.OutcomeUnchanged, crawl.OutcomeFailed): true,
		kept("c.png", crawl.OutcomeNew, crawl.OutcomeGone):                           false,
		kept("d.png", crawl.OutcomeGone):                                             false,
		kept("e.png", crawl.OutcomeExcluded):                                         false,
	}
	src, err := source.New(c.Store, c.Files, c.Record)
	check(t, err)
	got := map[int64]bool{}
	for x, err := range src.Exchanges(ctx, export.Query{Until: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}) {
		check(t, err)
		if !x.Requisite {
			t.Errorf("%s is no requisite", x.URL)
		}
		got[x.Page] = x.Stands
	}
	for id, stands := range want {
		if is, there := got[id]; is != stands || !there {
			t.Errorf("page %d stands: %v, %v", id, is, there)
		}
		_, ok, err := src.Document(ctx, id)
		check(t, err)
		if ok {
			t.Errorf("page %d is a document", id)
		}
		x, ok, err := src.WithRequisites().Document(ctx, id)
		check(t, err)
		if ok != stands || ok && !x.Requisite {
			t.Errorf("page %d is one for who asks for requisites: %v", id, ok)
		}
	}
	if found, _, _, err := src.Documents(ctx, 0, 10); err != nil || len(found) != 0 {
		t.Errorf("%d documents, %v", len(found), err)
	}
	if found, _, _, err := src.WithRequisites().Documents(ctx, 0, 10); err != nil || len(found) != 2 {
		t.Errorf("%d documents with requisites, %v", len(found), err)
	}
	for format, pages := range map[export.Format]int64{export.WARC: 5, export.HTML: 0, export.Text: 0, export.Dir: 0, export.JSONL: 0} {
		done, err := export.Export(ctx, src, t.TempDir(), export.Options{Format: format, Crawl: "news", Now: time.Now().Add(time.Hour), Software: "recrawl/test"})
		check(t, err)
		if done.Pages != pages {
			t.Errorf("%s: %d pages, want %d", format, done.Pages, pages)
		}
	}
}
