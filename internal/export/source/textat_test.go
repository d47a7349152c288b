package source_test

import (
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/export/source"
	"recrawl/internal/feed"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// When a page last got another text: by its first version, another or an earlier one again,
// but not by one that differs only in markup, even if the visit is no longer kept.
func TestTextAt(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	c := crawltest.New(t)
	s := c.Store
	ends, err := s.FeedEnds(ctx)
	check(t, err)
	page := c.Page(store.NewURL{URL: "https://host.test/"}).PageID
	at := func(visit int) time.Time { return exporttest.Start.Add(time.Duration(visit) * time.Hour) }
	ids := map[int]int64{}
	visits := 0
	visit := func(outcome crawl.Outcome, digest string, backTo int64, keep store.Retention) {
		visits++
		if digest != "" || backTo != 0 {
			v := store.VersionRecord{PageID: page, Visit: visits, At: at(visits), Digest: digest, TextDigest: digest, Language: "en"}
			ids[visits], err = s.SaveVersion(ctx, store.SaveVersionParams{Version: v, BackTo: backTo})
			check(t, err)
		}
		_, err := s.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Retention: keep, Visit: store.VisitRecord{
			PageID: page, Visit: visits, At: at(visits), Outcome: outcome, Status: 200, State: crawl.Active, Digest: digest,
		}})
		check(t, err)
	}
	src, err := source.NewChanged(s, s, c.Files, c.Record)
	check(t, err)
	wantText := func(name string, want ...int) {
		t.Helper()
		got := []int{}
		for x, err := range src.Exchanges(ctx, export.Query{Until: at(1000), Found: true}) {
			check(t, err)
			got = append(got, int(x.TextAt.Sub(exporttest.Start)/time.Hour))
			if !x.Version.Fetched.Equal(at(x.Version.Visit)) || x.Version.Language != "en" {
				t.Errorf("%s: version %+v", name, x.Version)
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %v, want %v", name, got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		last := want[len(want)-1]
		x, ok, err := src.Document(ctx, page)
		if check(t, err); !ok || !x.TextAt.Equal(at(last)) {
			t.Errorf("%s: the page's text is of %v, want visit %d", name, x.TextAt, last)
		}
		now, err := s.FeedEnds(ctx)
		check(t, err)
		var of time.Time
		for x, err := range src.Exchanges(ctx, export.Query{Since: feed.Cursor{Epoch: ends.Newest.Epoch, ID: ends.Newest.ID}, Through: now.Newest}) {
			check(t, err)
			of = x.TextAt
		}
		if !of.IsZero() && !of.Equal(at(last)) { // zero if the visit is no longer kept
			t.Errorf("%s: since the beginning, the text is of %v, want visit %d", name, of, last)
		}
	}
	visit(crawl.OutcomeNew, "a", 0, store.Retention{})
	visit(crawl.OutcomeCosmetic, "b", 0, store.Retention{})
	visit(crawl.OutcomeUnchanged, "", 0, store.Retention{})
	wantText("another markup", 1, 1)
	visit(crawl.OutcomeChanged, "c", 0, store.Retention{})
	wantText("another text", 1, 1, 4)
	visit(crawl.OutcomeReturned, "", ids[2], store.Retention{})
	visit(crawl.OutcomeUnchanged, "", 0, store.Retention{})
	wantText("back", 1, 1, 4, 5)
	visit(crawl.OutcomeCosmetic, "d", 0, store.Retention{Versions: 1, Visits: 1})
	wantText("the past is not kept", 5)
}
