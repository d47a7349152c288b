package report

import (
	"context"
	"testing"
	"time"

	"recrawl/internal/store"
)

func (f *fake) Traps(_ context.Context, q store.TrapFilter) ([]store.TrapRecord, error) {
	if q.CrawlID != 1 || q.After > 0 {
		return nil, f.fail
	}
	return []store.TrapRecord{
		{
			ID: 1, NewTrap: store.NewTrap{Name: "example.com/calendar@dates", Reason: "calendar", Detail: "6 dates from 2029 on"},
			State: store.TrapSweeping, Held: 1200, FoundAt: now.Add(-3 * time.Hour),
		},
		{
			ID: 2, NewTrap: store.NewTrap{Name: "example.com/print/#", Reason: "copies", Detail: "12 of 12 contents are copies of older pages"},
			State: store.TrapReleased, FoundAt: now.Add(-time.Hour),
		},
	}, f.fail
}

func (f *fake) Dominating(_ context.Context, crawlID int64, limit int) ([]store.PrefixRecord, error) {
	if crawlID != 1 {
		return nil, f.fail
	}
	all := []store.PrefixRecord{{Host: "example.com", Pages: 1500}, {Host: "example.com", Prefix: "/calendar/", Pages: 1212}, {Host: "example.net", Pages: 3}}
	return all[:min(limit, len(all))], f.fail
}

func TestGoldenTraps(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]TrapsQuery{
		"traps":       {Crawl: "news", Prefixes: 2},
		"traps-alone": {Crawl: "news"},
		"traps-none":  {Crawl: "docs", Prefixes: 2},
	} {
		answers(t, name, Reporter{Store: sample()}, func(r Reporter) error { return r.Traps(t.Context(), q) })
	}
}
