package app

import (
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/cli"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// kept is a crawl in a store and an archive, which commands open by themselves.
type kept struct {
	*crawltest.Crawl
	t  *testing.T
	at cli.Target
}

func newKept(t *testing.T) *kept {
	t.Helper()
	c := crawltest.New(t)
	return &kept{Crawl: c, t: t, at: cli.Target{Store: "sqlite:" + c.Path, Archive: c.Root}}
}

func (k *kept) must(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// found makes a page with one visit, which found an HTML body.
func (k *kept) found(url, body string) {
	k.t.Helper()
	page := k.Page(store.NewURL{URL: url}).PageID
	_, err := k.Store.SaveVersion(k.t.Context(), store.SaveVersionParams{Version: store.VersionRecord{
		PageID: page, Visit: 1, Digest: archivetest.Put(k.t, k.Files, []byte(body)), Bytes: int64(len(body)), ContentType: "text/html",
	}})
	k.must(err)
	_, err = k.Store.RecordVisit(k.t.Context(), store.RecordParams{Interval: time.Hour, Visit: store.VisitRecord{
		PageID: page, Visit: 1, Outcome: crawl.OutcomeNew, State: crawl.Active, Status: 200,
	}})
	k.must(err)
}
