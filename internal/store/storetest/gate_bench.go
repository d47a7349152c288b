package storetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// BenchGate measures Acquire on a host with a long line: 100 000 waiters, or
// 5 000 with -short. open returns an empty store.
func BenchGate(b *testing.B, open func(testing.TB) store.Store) {
	waiters := 100_000
	if testing.Short() {
		waiters = 5_000
	}
	w := newGateWorld(b, open(b))
	c := w.crawl("long", time.Second)
	w.allow("http://host.test")
	pages := w.manyPages(c, waiters+b.N+1)
	w.lineUp(pages[:waiters])
	b.Run("Arrive", func(b *testing.B) {
		for i := range b.N {
			w.ask(pages[(waiters+i)%len(pages)])
		}
	})
	b.Run("AskAgain", func(b *testing.B) {
		for i := range b.N {
			w.ask(pages[i*7919%waiters])
		}
	})
	b.Run("LeaveAndReturn", func(b *testing.B) {
		for i := range b.N {
			page := pages[i*7919%waiters]
			w.leave(page)
			w.ask(page)
		}
	})
}

// manyPages registers many pages of host.test.
func (w *gateWorld) manyPages(c store.CrawlRecord, n int) []crawl.PageRef {
	w.t.Helper()
	const batch = 1000
	for from := 0; from < n; from += batch {
		urls := make([]store.NewURL, min(batch, n-from))
		for i := range urls {
			urls[i] = store.NewURL{URL: fmt.Sprintf("http://host.test/%d", from+i), Host: "host.test"}
		}
		must(w.s.RegisterLinks(w.t.Context(), store.RegisterParams{CrawlID: c.ID, URLs: urls}))(w.t)
	}
	pages := make([]crawl.PageRef, 0, n)
	for after := int64(0); len(pages) < n; {
		for _, p := range must(w.s.ListPages(w.t.Context(), store.PageFilter{CrawlID: c.ID, After: after, Limit: batch}))(w.t) {
			pages, after = append(pages, p.PageRef), p.PageID
		}
	}
	return pages
}

// lineUp has the pages ask, several at once.
func (w *gateWorld) lineUp(pages []crawl.PageRef) {
	w.t.Helper()
	var asking sync.WaitGroup
	next := make(chan crawl.PageRef)
	for range 8 {
		asking.Go(func() {
			for page := range next {
				p := store.AcquireParams{Page: page, Visit: 1, Class: crawl.ClassRevisit}
				if _, err := w.s.Acquire(w.t.Context(), p); err != nil {
					w.t.Error(err)
				}
			}
		})
	}
	for _, page := range pages {
		next <- page
	}
	close(next)
	asking.Wait()
}
