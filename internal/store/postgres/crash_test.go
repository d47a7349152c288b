//go:build unix

package postgres

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/pgtest"
)

// TestServerKilled kills the server under load: every error says that the store
// is unavailable, the same store works when the server is back, and a visit that
// was answered as recorded is there exactly once.
func TestServerKilled(t *testing.T) {
	server, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	s, err := Open(t.Context(), server.DSN(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	pages := admitted(t, s, 4)

	recorded := make([]int, len(pages))
	var workers sync.WaitGroup
	var underWay sync.WaitGroup
	underWay.Add(len(pages))
	for i, p := range pages {
		workers.Go(func() {
			for visit := 1; ; visit++ {
				if err := record(t, s, p.PageID, visit); err != nil {
					if !errors.Is(err, store.ErrUnavailable) {
						t.Errorf("with the server gone: %v", err)
					}
					return
				}
				recorded[i] = visit
				if visit == 5 {
					underWay.Done()
				}
			}
		})
	}
	underWay.Wait()
	if err := server.Kill9(); err != nil {
		t.Fatal(err)
	}
	workers.Wait()
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i, p := range pages {
		got, err := s.Page(t.Context(), p.PageID)
		if err != nil {
			t.Fatal(err)
		}
		// The last one's answer may have been lost, never one that was given.
		if got.Visits != recorded[i] && got.Visits != recorded[i]+1 {
			t.Errorf("page %d: %d visits are stored, %d were answered", p.PageID, got.Visits, recorded[i])
		}
		if err := record(t, s, p.PageID, recorded[i]+1); err != nil {
			t.Errorf("the visit again: %v", err)
		}
	}
}

// TestCommittedOutlivesACrash: what was committed is there after a crash, also at a server that
// is set to answer before it is on disk. It once forgot there that a request was begun, and let the
// next one to that host begin beside it.
func TestCommittedOutlivesACrash(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Start(t.Context(), "synchronous_commit=off", "wal_writer_delay=10s")
	if err != nil {
		t.Fatal(err)
	}
	stops(t, server)
	s := openDSN(t, server.DSN())
	page := admitted(t, s, 1)[0].PageID
	if err := record(t, s, page, 1); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill9(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Page(t.Context(), page); err != nil || got.Visits != 1 {
		t.Errorf("%d visits after the crash, %v; want the one that was recorded", got.Visits, err)
	}
}

func record(t *testing.T, s store.Store, page int64, visit int) error {
	_, err := s.RecordVisit(t.Context(), store.RecordParams{
		Visit: store.VisitRecord{PageID: page, Visit: visit, Outcome: crawl.OutcomeUnchanged, State: crawl.Active},
	})
	return err
}

// admitted returns n active pages.
func admitted(t *testing.T, s store.Store, n int) []store.PageRecord {
	t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name = "news"
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	params := store.RegisterParams{CrawlID: rec.ID}
	for i := range n {
		params.URLs = append(params.URLs, store.NewURL{URL: fmt.Sprintf("https://example.com/%d", i), Host: "example.com"})
	}
	if _, err := s.RegisterLinks(t.Context(), params); err != nil {
		t.Fatal(err)
	}
	pages, err := s.Candidates(t.Context(), store.CandidateParams{CrawlID: rec.ID, Limit: n})
	if err != nil {
		t.Fatal(err)
	}
	admit := store.AdmitParams{CrawlID: rec.ID}
	for _, p := range pages {
		admit.Admit = append(admit.Admit, p.PageID)
	}
	pages, err = s.Admit(t.Context(), admit)
	if err != nil || len(pages) != n {
		t.Fatalf("%d pages admitted, %v", len(pages), err)
	}
	return pages
}
