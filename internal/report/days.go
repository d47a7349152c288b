package report

import (
	"context"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// Day sums up the visits of one day (UTC).
type Day struct {
	Day     string `json:"day"` // 2026-03-01
	Visits  int    `json:"visits"`
	Changes int    `json:"changes"` // visits that found a change
	// Lag is the mean time by which visits came after they were due; first visits have no
	// due time.
	Lag crawl.Duration `json:"lag"`
}

// Days returns the last thirty days of a crawl, today last, but none before the crawl was
// created. A day without visits has zeros.
func (r Reporter) Days(ctx context.Context, name string) ([]Day, error) {
	record, now, err := r.open(ctx, name)
	if err != nil {
		return nil, err
	}
	s, err := r.Store.Status(ctx, record.ID)
	if err != nil {
		return nil, err
	}
	return daysOf(s.Days, record.CreatedAt, now), nil
}

func daysOf(counted []store.Day, created, now time.Time) []Day {
	const day = 24 * time.Hour
	byStart := map[int64]store.Day{}
	for _, d := range counted {
		byStart[d.Start.Unix()] = d
	}
	today := now.UTC().Truncate(day)
	first := today.Add(-(store.DaysKept - 1) * day)
	if created.After(first) {
		first = created.UTC().Truncate(day)
	}
	all := []Day{}
	for at := first; !at.After(today); at = at.Add(day) {
		d := byStart[at.Unix()]
		line := Day{Day: at.Format(time.DateOnly), Visits: d.Visits, Changes: d.Changes}
		if d.Due > 0 {
			line.Lag = crawl.Duration((d.Late / time.Duration(d.Due)).Truncate(time.Millisecond))
		}
		all = append(all, line)
	}
	return all
}
