package care

import (
	"context"
	"errors"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

type crawlStates []crawl.CrawlState

func (c crawlStates) ListCrawls(context.Context) (all []store.CrawlRecord, err error) {
	for _, state := range c {
		all = append(all, store.CrawlRecord{State: state})
	}
	return all, nil
}

// Bytes that nobody needs are deleted where no crawl's maintenance does it: all are stopped, or
// the last one was deleted. A worker looks now and then.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		crawls crawlStates
		swept  int
	}{
		{nil, 3},
		{crawlStates{crawl.CrawlStopped, crawl.CrawlStopped}, 3},
		{crawlStates{crawl.CrawlStopped, crawl.CrawlRunning}, 0},
	} {
		left, swept, now := []int{100, 20, 0}, 0, time.Now()
		l := &leftovers{store: c.crawls, now: func() time.Time { return now }, sweep: func(context.Context) (int, error) {
			swept++
			return left[swept-1], nil
		}}
		for range 2 { // the second comes too early
			if err := l.look(t.Context()); err != nil || swept != c.swept {
				t.Errorf("%v: %d sweeps, want %d: %v", c.crawls, swept, c.swept, err)
			}
		}
	}
	errBroken, now := errors.New("broken"), time.Now()
	l := &leftovers{store: crawlStates{}, now: func() time.Time { return now }, sweep: func(context.Context) (int, error) { return 0, errBroken }}
	for range 2 {
		if err := l.look(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%v", err)
		}
		now = now.Add(leftoversEvery)
	}
}
