package maintain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/rank"
	"recrawl/internal/store"
)

// ReplaceOptions say how a full collection changes.
type ReplaceOptions struct {
	// Margin and Tenure are rank.ReplaceParams'.
	Margin float64
	Tenure time.Duration
	// Share is the part of the collection that may be evicted in 24 hours, in [0, 1].
	Share float64
	// Batch is the most swaps in a batch.
	Batch int
}

// ReplacementStore is the part of a store that the exchange of pages uses.
type ReplacementStore interface {
	RankedPages(ctx context.Context, crawlID, after int64, limit int) ([]store.RankedPage, error)
	Collection(ctx context.Context, crawlID int64) (store.CollectionRecord, error)
	Evictions(ctx context.Context, crawlID int64, untold bool, limit int) ([]store.Eviction, error)
	Swap(ctx context.Context, p store.SwapParams) (store.Eviction, bool, error)
	SetTold(ctx context.Context, crawlID int64, pages []int64) error
	Page(ctx context.Context, pageID int64) (store.PageRecord, error)
	Now(ctx context.Context) (time.Time, error)
}

// toldBatch is how many evictions are recorded as told at once.
const toldBatch = 50

// Replacement exchanges pages of a full collection for better ones, brings evicted pages
// back where there is room, and evicts pages beyond max_pages.
type Replacement struct {
	Store   ReplacementStore
	CrawlID int64
	Options ReplaceOptions
	// Forbidden reports whether robots.txt is known to forbid a page now.
	Forbidden func(ctx context.Context, page crawl.PageRef, now time.Time) (bool, error)
	// Tell tells the workflows of an eviction: it ends that of a page that is evicted, and
	// starts that of the page that took its place. It may be called again for the same
	// eviction.
	Tell func(ctx context.Context, e store.Eviction) error

	told []int64 // evictions that are yet to be recorded
}

// Replaced is the result of a batch.
type Replaced struct {
	Evicted, Admitted int
	More              bool // there may be more to exchange
}

// Run exchanges a batch. The store knows first; workflows that may not have heard of
// an eviction are told again.
func (r *Replacement) Run(ctx context.Context) (Replaced, error) {
	untold, err := r.Store.Evictions(ctx, r.CrawlID, true, r.Options.Batch)
	if err != nil {
		return Replaced{}, err
	}
	for _, e := range untold {
		if err := r.tell(ctx, e); err != nil {
			return Replaced{}, err
		}
	}
	swaps, err := Replacements(ctx, r.Store, r.CrawlID, r.Options)
	if err != nil {
		return Replaced{}, err
	}
	var out Replaced
	for _, swap := range swaps {
		if err := r.swap(ctx, swap, &out); err != nil {
			return out, err
		}
	}
	// A batch in which nothing was possible would come again and again.
	out.More = len(swaps) == r.Options.Batch && out.Evicted+out.Admitted > 0
	return out, r.note(ctx)
}

// swap carries out one swap, unless a cached robots.txt forbids the page that would
// come in.
func (r *Replacement) swap(ctx context.Context, swap rank.Swap, out *Replaced) error {
	if swap.In != 0 {
		now, err := r.Store.Now(ctx)
		if err != nil {
			return err
		}
		page, err := r.Store.Page(ctx, swap.In)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if forbidden, err := r.Forbidden(ctx, page.PageRef, now); err != nil || forbidden {
			return err
		}
	}
	eviction, done, err := r.Store.Swap(ctx, store.SwapParams{CrawlID: r.CrawlID, Swap: swap})
	if err != nil || !done {
		return err
	}
	if swap.Out != 0 {
		out.Evicted++
	}
	if swap.In != 0 {
		out.Admitted++
	}
	return r.tell(ctx, eviction)
}

// tell tells the workflows of an eviction, and records now and then that it did.
func (r *Replacement) tell(ctx context.Context, e store.Eviction) error {
	if err := r.Tell(ctx, e); err != nil {
		return err
	}
	if e.Page.PageID == 0 {
		return nil // nothing to record; a page that is not started is found as untried
	}
	if r.told = append(r.told, e.Page.PageID); len(r.told) < toldBatch {
		return nil
	}
	return r.note(ctx)
}

func (r *Replacement) note(ctx context.Context) error {
	if len(r.told) == 0 {
		return nil
	}
	err := r.Store.SetTold(ctx, r.CrawlID, r.told)
	r.told = r.told[:0]
	return err
}

// Replacements says which pages of a crawl should be exchanged now. It reads all pages
// and holds four times a batch of them.
func Replacements(ctx context.Context, s ReplacementStore, crawlID int64, o ReplaceOptions) ([]rank.Swap, error) {
	swaps, err := replacements(ctx, s, crawlID, o)
	if err != nil {
		return nil, fmt.Errorf("replacements of crawl %d: %w", crawlID, err)
	}
	return swaps, nil
}

func replacements(ctx context.Context, s ReplacementStore, crawlID int64, o ReplaceOptions) ([]rank.Swap, error) {
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
			// Pages that may not be evicted would keep others off the list.
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

// places is how many more pages the collection may hold, up to one batch.
func places(c store.CollectionRecord, batch int) int {
	if c.MaxPages == 0 {
		return batch
	}
	return min(c.MaxPages-c.Living, batch)
}
