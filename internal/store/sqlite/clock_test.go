package sqlite

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// The machine's clock jumps ahead while a request is under way, as it does when the machine
// sleeps. The host is not asked again before the request is over, and then rests its gap.
func TestClockJumpsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
		s := sqlstore.New(e, sqlstore.Options{})
		defer s.Close()
		pages := twoPages(t, s)
		var jumped time.Duration
		e.clock.machine = func(t time.Time) time.Time { return t.Round(0).Add(jumped) }
		ask := func(page crawl.PageRef) store.AcquireResult {
			t.Helper()
			a, err := s.Acquire(t.Context(), store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassRevisit})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		begin := func(page crawl.PageRef, p crawl.Permit) {
			t.Helper()
			b, err := s.Begin(t.Context(), store.BeginParams{Page: page, Visit: 1, Permit: p})
			if err != nil || b.Wait > 0 {
				t.Fatal(b, err)
			}
		}
		first := ask(pages[0]).Permit
		begin(pages[0], first)
		before := now(t, s)

		jumped = time.Hour
		if a := ask(pages[1]); a.Answer != store.GateWait {
			t.Fatalf("a second request while the first is under way: %s", a.Answer)
		}
		if got := now(t, s).Sub(before); got != time.Hour {
			t.Errorf("the clock went on by %v, want that of the machine", got)
		}
		time.Sleep(first.Lifetime - time.Second)
		if a := ask(pages[1]); a.Answer != store.GateWait {
			t.Fatalf("the first request may still be under way: %s", a.Answer)
		}
		if _, err := s.Release(t.Context(), store.ReleaseParams{Permit: first, Answer: store.HostOK}); err != nil {
			t.Fatal(err)
		}
		for _, d := range []time.Duration{2 * time.Hour, 2*time.Hour + 700*time.Millisecond, time.Hour} {
			jumped = d
			if a := ask(pages[1]); a.Wait < 9*time.Second || a.Wait > 10*time.Second {
				t.Errorf("the clock is ahead by %v: the host rests %v, want about ten seconds", d, a.Wait)
			}
		}
		time.Sleep(10 * time.Second)
		begin(pages[1], ask(pages[1]).Permit)
	})
}

// twoPages are two pages of one host with a gap of ten seconds.
func twoPages(t *testing.T, s store.Store) []crawl.PageRef {
	t.Helper()
	spec := crawl.DefaultSpec()
	spec.Name, spec.Seeds = "news", []string{"http://host.test/"}
	spec.Politeness = crawl.PolitenessSpec{Delay: crawl.Duration(10 * time.Second)}
	c, err := s.OpenCrawl(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	var pages []crawl.PageRef
	for _, url := range []string{"http://host.test/1", "http://host.test/2"} {
		_, err := s.RegisterLinks(t.Context(), store.RegisterParams{CrawlID: c.ID, URLs: []store.NewURL{{URL: url, Host: "host.test"}}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.FindPages(t.Context(), url, spec.Name)
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		pages = append(pages, found[0].PageRef)
	}
	err = s.SaveRobots(t.Context(), store.SaveRobotsParams{Origin: "http://host.test", State: store.RobotsAllowAll, Status: 404, Expires: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

func now(t *testing.T, s store.Store) time.Time {
	t.Helper()
	at, err := s.Now(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}
