package sqlite

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest"
)

// synchronous is the pragma within a transaction.
func synchronous(t *testing.T, write func(context.Context, func(sqlstore.Tx) error) error) string {
	t.Helper()
	var is string
	err := write(t.Context(), func(tx sqlstore.Tx) error {
		return tx.QueryRow(t.Context(), "PRAGMA synchronous", nil, &is)
	})
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// Only an owner writes lazily: nobody else finds out that the last one did not close the
// store.
func TestLazyCommits(t *testing.T) {
	const full, normal = "2", "1"
	path := filepath.Join(t.TempDir(), "store.db")
	e := openOwner(t, path)
	other, err := openEngine(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for name, got := range map[string][2]string{
			"an owner's write":       {synchronous(t, e.Write), full},
			"an owner's lazy write":  {synchronous(t, e.WriteLazily), normal},
			"another's lazy write":   {synchronous(t, other.WriteLazily), full},
			"an owner's write again": {synchronous(t, e.Write), full},
		} {
			if got[0] != got[1] {
				t.Errorf("%s commits with synchronous = %s, want %s", name, got[0], got[1])
			}
		}
	}
	if err := errors.Join(other.Close(), e.Close()); err != nil {
		t.Error(err)
	}
}

// logSize is how long the write-ahead log is.
func logSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// powerCut is a copy of a store whose log ends after size bytes, as after a power cut that
// lost the writes since the last synced commit.
func powerCut(t *testing.T, path string, size int64) string {
	t.Helper()
	after := filepath.Join(t.TempDir(), "store.db")
	for _, suffix := range []string{"", "-wal"} {
		from, err := os.Open(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.Create(after + suffix)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(to, from)
		if suffix != "" {
			err = errors.Join(err, to.Truncate(size))
		}
		if err := errors.Join(err, from.Close(), to.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return after
}

// If a power cut took a permit, and its begin, from the store, opening it makes that
// good: the permit is refused, every host rests, and the page gets another.
func TestLostPermitIsMadeGood(t *testing.T) {
	for name, begins := range map[string]bool{"granted": false, "begun": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			counter := storetest.Count(openOwner(t, path))
			s := sqlstore.New(counter, sqlstore.Options{})
			defer s.Close()
			page := onlyPage(t, s, time.Hour)
			synced := logSize(t, path)
			counter.Take()
			permit := granted(t, s, page)
			if begins {
				if _, err := s.Begin(t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: 1}); err != nil {
					t.Fatal(err)
				}
			}
			if counts, _ := counter.Take(); counts.Durable > 0 || counts.Lazy == 0 || logSize(t, path) == synced {
				t.Fatalf("%+v, and the log went from %d to %d bytes; want lazy commits", counts, synced, logSize(t, path))
			}

			again := openAt(t, powerCut(t, path, synced), Options{Owner: true})
			b, err := again.Begin(t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: 1})
			if !errors.Is(err, store.ErrRefused) {
				t.Errorf("the lost permit: %+v, %v; want it refused", b, err)
			}
			a, err := again.Acquire(t.Context(), store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassRevisit})
			if err != nil || a.Answer != store.GateWait || a.Wait < 59*time.Minute {
				t.Errorf("asked again: %+v, %v; want to wait until the host has rested", a, err)
			}
		})
	}
}

// The visit that a workflow was told about survives a power cut, and so does everything
// that was lazily written before it.
func TestRecordedVisitIsDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	counter := storetest.Count(openOwner(t, path))
	s := sqlstore.New(counter, sqlstore.Options{})
	defer s.Close()
	page := onlyPage(t, s, time.Millisecond)
	permit := granted(t, s, page)
	if _, err := s.Begin(t.Context(), store.BeginParams{Permit: permit, Page: page, Visit: 1}); err != nil {
		t.Fatal(err)
	}
	counter.Take()
	_, err := s.Finish(t.Context(), store.FinishParams{
		Release: store.ReleaseParams{Permit: permit, Answer: store.HostThrottled, RetryAfter: time.Hour, HasRetryAfter: true},
		Page:    page.PageID, Generation: permit.Generation,
		Plan: func(time.Duration) store.RecordParams {
			return store.RecordParams{Visit: store.VisitRecord{PageID: page.PageID, Visit: 1, Outcome: crawl.OutcomeThrottled, State: crawl.Failing}}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	// The second visit records who refills the crawl, after the first visit of a page.
	if counts, _ := counter.Take(); counts.Durable != 2 || counts.Lazy != 0 {
		t.Fatalf("%+v, want two durable commits", counts)
	}
	again := openAt(t, powerCut(t, path, logSize(t, path)), Options{Owner: true})
	a, err := again.Acquire(t.Context(), store.AcquireParams{Page: page, Visit: 2, Class: crawl.ClassRevisit})
	if err != nil || a.Answer != store.GateWait || a.Wait < 59*time.Minute || a.Reason != store.WaitBackoff {
		t.Errorf("after a power cut: %+v, %v; want the host's back-off kept", a, err)
	}
	if v, err := again.Visit(t.Context(), page.PageID, 1); err != nil || v.Outcome != crawl.OutcomeThrottled {
		t.Errorf("after a power cut: %+v, %v", v, err)
	}
}

// onlyPage is the one page of a crawl whose robots.txt allows all.
func onlyPage(t *testing.T, s store.Store, delay time.Duration) crawl.PageRef {
	t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "news", []string{"http://host.test/"}
	spec.Politeness = crawl.PolitenessSpec{Delay: crawl.Duration(delay), MaxCrawlDelay: crawl.Duration(time.Hour)}
	rec, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: rec.ID, URLs: []store.NewURL{{URL: "http://host.test/", Host: "host.test"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SaveRobots(t.Context(), store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsAllowAll, Status: 404, Expires: time.Hour}); err != nil {
		t.Fatal(err)
	}
	pages, err := s.FindPages(t.Context(), "http://host.test/", "news")
	if err != nil || len(pages) != 1 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	return pages[0].PageRef
}

func granted(t *testing.T, s store.Store, page crawl.PageRef) crawl.Permit {
	t.Helper()
	a, err := s.Acquire(t.Context(), store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassRevisit})
	if err != nil || a.Answer != store.GateGranted {
		t.Fatalf("%+v, %v; want a permit", a, err)
	}
	return a.Permit
}

func TestCosts(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	storetest.RunCosts(t, e, storetest.Costs{
		AtOnce:  storetest.Counts{Durable: 1, Lazy: 1, Statements: 22},
		Granted: storetest.Counts{Durable: 1, Lazy: 2, Statements: 28},
		Asks:    storetest.Counts{Lazy: 1, Statements: 9},
		Serves:  storetest.Counts{Durable: 2, Lazy: 1, Reads: 1, Statements: 27}, // a first visit: and who refills the crawl
		Links:   storetest.Counts{Durable: 1, Statements: 9},
		Records: storetest.Counts{Durable: 1, Statements: 10},
	})
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
