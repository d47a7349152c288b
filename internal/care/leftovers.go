package care

import (
	"context"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// leftoversEvery is how often a worker looks for leftovers.
const leftoversEvery = 5 * time.Minute

// leftovers deletes bytes that no version has where no crawl runs whose maintenance would: what a
// takedown or a deletion that was killed has claimed can be deleted only when that claim ends.
type leftovers struct {
	store interface {
		ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
	}
	// sweep deletes some, and returns how many.
	sweep func(ctx context.Context) (int, error)
	now   func() time.Time
	last  time.Time
}

// look implements looker.
func (l *leftovers) look(ctx context.Context) error {
	begun := l.now()
	if begun.Sub(l.last) < leftoversEvery {
		return nil
	}
	l.last = begun
	crawls, err := l.store.ListCrawls(ctx)
	if err != nil {
		return err
	}
	for _, c := range crawls {
		if c.State != crawl.CrawlStopped {
			return nil
		}
	}
	for l.now().Sub(begun) < careLimit { // what is left then has its turn later
		if n, err := l.sweep(ctx); n == 0 || err != nil {
			return err
		}
	}
	return nil
}
