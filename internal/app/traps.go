package app

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/cli"
	"recrawl/internal/store"
)

// releasedAtOnce is how many pages of a trap one call of the store releases; if
// this process ends in between, maintenance releases the others.
const releasedAtOnce = 5000

// ReleaseTrap implements cli.Backend.
func (Backend) ReleaseTrap(ctx context.Context, at cli.Target, crawl, name string) (message string, err error) {
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	record, err := s.Crawl(ctx, crawl)
	if errors.Is(err, store.ErrNotFound) {
		return "", fmt.Errorf("there is no crawl %q: `starter status` lists the crawls: %w", crawl, err)
	}
	if err != nil {
		return "", err
	}
	found, err := findTrap(ctx, s, record.ID, name)
	if err != nil {
		return "", err
	}
	pages := 0
	for more := true; more; {
		var n int
		if n, more, err = s.ReleaseTrap(ctx, found, releasedAtOnce); err != nil {
			return "", err
		}
		pages += n
	}
	return fmt.Sprintf("released %s: %d pages are known and no longer held", name, pages), nil
}

// findTrap returns the id of a crawl's trap by its name.
func findTrap(ctx context.Context, s store.Guard, crawlID int64, name string) (int64, error) {
	for f := (store.TrapFilter{CrawlID: crawlID, Limit: releasedAtOnce}); ; {
		traps, err := s.Traps(ctx, f)
		if err != nil {
			return 0, err
		}
		for _, t := range traps {
			if t.Name == name {
				return t.ID, nil
			}
		}
		if len(traps) == 0 {
			return 0, fmt.Errorf("there is no trap %q: `starter traps` names them: %w", name, store.ErrNotFound)
		}
		f.After = traps[len(traps)-1].ID
	}
}
