package maintain

import (
	"context"
	"fmt"
	"math"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

// ReplaceOptions are how a full collection changes.
type ReplaceOptions struct {
	// Margin and Tenure are rank.ReplaceParams'.
	Margin float64
	Tenure time.Duration
	// Share is how much of the collection may be evicted in 24 hours, in [0, 1].
	Share float64
	// Batch is how many swaps are wanted at most.
	Batch int
}

// Replacements says which pages of a crawl should be exchanged now. It reads all pages
// and holds four times a batch of them.
func Replacements(ctx context.Context, s RankStore, crawlID int64, o ReplaceOptions) ([]rank.Swap, error) {
	swaps, err := replacements(ctx, s, crawlID, o)
	if err != nil {
		return nil, fmt.Errorf("replacements of crawl %d: %w", crawlID, err)
	}
	return swaps, nil
}

func replacements(ctx context.Context, s RankStore, crawlID int64, o ReplaceOptions) ([]rank.Swap, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	collection, err := s.Collection(ctx, crawlID)
	if err != nil {
		return nil, err
	}
	params := rank.ReplaceParams{Places: places(collection, o.Batch), Margin: o.Margin, Tenure: o.Tenure}
	params.Most = min(o.Batch, int(math.Ceil(o.Share*float64(collection.MaxPages)))-collection.Evicted)
	if params.Places > 0 && collection.Out == 0 || params.Places <= 0 && params.Most <= 0 {
		return nil, nil // nobody can come back, or go
	}
	outside, inside := rank.NewShortlist(o.Batch, false), rank.NewShortlist(o.Batch, true)
	err = eachPage(ctx, s, crawlID, func(p store.RankedPage) error {
		c := rank.Candidate{ID: p.ID, Importance: p.Weight, Seed: p.Seed, State: p.State, Since: now.Sub(p.Placed)}
		switch {
		case p.State.Lives():
			// Those that may not go would keep others off the list.
			if !c.Seed && (params.Places < 0 || c.Importance > 0 && c.Since >= o.Tenure) {
				inside.Add(c)
			}
		case p.State == crawl.Evicted:
			c.State = p.EvictedAs
			if params.Places > 0 || c.Since >= o.Tenure {
				outside.Add(c)
			}
		case p.State == crawl.Known && params.Places <= 0:
			outside.Add(c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rank.Replace(outside.Candidates(), inside.Candidates(), params), nil
}

// places is how many more pages the collection may hold, as far as one batch goes.
func places(c store.CollectionRecord, batch int) int {
	if c.MaxPages == 0 {
		return batch
	}
	return min(c.MaxPages-c.Living, batch)
}
