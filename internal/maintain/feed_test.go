package maintain

import (
	"context"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// trims is a store whose feed was trimmed before a time.
type trims struct {
	crawls []store.CrawlRecord
	before time.Time
}

var feedNow = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

func (s *trims) ListCrawls(context.Context) ([]store.CrawlRecord, error) { return s.crawls, nil }
func (s *trims) Now(context.Context) (time.Time, error)                  { return feedNow, nil }

func (s *trims) TrimChanges(_ context.Context, before time.Time, limit int) (bool, error) {
	s.before = before
	return limit == 0, nil
}

func TestTrimFeed(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	keeps := func(kept time.Duration) store.CrawlRecord {
		c := store.CrawlRecord{Spec: crawl.DefaultSpec(), State: crawl.CrawlStopped}
		c.Spec.Retention.Changes = crawl.Duration(kept)
		return c
	}
	deleting := keeps(0)
	deleting.Deleting = true
	collects := func(kept, every time.Duration) store.CrawlRecord {
		c := keeps(kept)
		c.Spec.Sinks = map[string]crawl.SinkSpec{"each": {Kind: crawl.SinkExec, To: "x"}, "digest": {Kind: crawl.SinkExec, To: "x", Every: crawl.Duration(every)}}
		return c
	}
	for _, c := range []struct {
		what   string
		crawls []store.CrawlRecord
		want   time.Time
	}{
		{"no crawl", nil, time.Time{}},
		{"the default", []store.CrawlRecord{{Spec: crawl.DefaultSpec()}}, feedNow.Add(-30 * day)},
		{"the longest", []store.CrawlRecord{keeps(day), keeps(40 * day), keeps(7 * day)}, feedNow.Add(-40 * day)},
		{"for ever", []store.CrawlRecord{keeps(day), keeps(0)}, time.Time{}},
		{"a digest that takes longer", []store.CrawlRecord{collects(day, 31*day)}, feedNow.Add(-36 * day)},
		{"a digest that takes less", []store.CrawlRecord{collects(30*day, day)}, feedNow.Add(-30 * day)},
		{"one that goes", []store.CrawlRecord{keeps(day), deleting}, feedNow.Add(-day)},
	} {
		s := &trims{crawls: c.crawls}
		if err := TrimFeed(t.Context(), s); err != nil || !s.before.Equal(c.want) {
			t.Errorf("%s: trimmed before %v, %v; want %v", c.what, s.before, err, c.want)
		}
	}
}
