package maintain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
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
	// Outside, unless nil, reports whether the crawl's scope leaves a page out now.
	Outside func(ctx context.Context, page store.PageRecord) (bool, error)
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
	swaps, err := Replacements(ctx, r.Store, r.CrawlID, r.Options, r.allowed)
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

// allowed reports whether a page may come in: it is there and in the scope, and no cached
// robots.txt forbids it. Otherwise it would be excluded in the place of a good one.
func (r *Replacement) allowed(ctx context.Context, id int64) (bool, error) {
	now, err := r.Store.Now(ctx)
	if err != nil {
		return false, err
	}
	page, err := r.Store.Page(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if r.Outside != nil {
		if outside, err := r.Outside(ctx, page); err != nil || outside {
			return false, err
		}
	}
	forbidden, err := r.Forbidden(ctx, page.PageRef, now)
	return !forbidden, err
}

// swap carries out one swap.
func (r *Replacement) swap(ctx context.Context, swap rank.Swap, out *Replaced) error {
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

// Replacements says which pages of a crawl should be exchanged now. It reads all pages, more
// than once if many of the best outside are not allowed to come in, and holds some thousands.
// allowed, unless nil, is asked for the pages that would come in.
func Replacements(ctx context.Context, s ReplacementStore, crawlID int64, o ReplaceOptions, allowed func(ctx context.Context, id int64) (bool, error)) ([]rank.Swap, error) {
	x := exchange{store: s, crawlID: crawlID, options: o, allowed: allowed, barred: map[int64]bool{}}
	swaps, err := x.swaps(ctx)
	if err != nil {
		return nil, fmt.Errorf("replacements of crawl %d: %w", crawlID, err)
	}
	return swaps, nil
}

// exchange is the choice of pages to exchange.
type exchange struct {
	store   ReplacementStore
	crawlID int64
	options ReplaceOptions
	allowed func(ctx context.Context, id int64) (bool, error)

	now             time.Time
	params          rank.ReplaceParams
	outside, inside []rank.Candidate
	more            bool           // there may be others outside than those on the list
	barred          map[int64]bool // pages that may not come in
}

// widerBy is by how much more candidates are listed when those on a list may not come in, and
// widest the most batches of them: beyond that, the exchange waits for a page to be excluded.
const (
	widerBy = 8
	widest  = 512
)

// swaps chooses, and chooses again without the pages that may not come in: these stay at the
// top of the order, and would keep all others out.
func (x *exchange) swaps(ctx context.Context) ([]rank.Swap, error) {
	possible, err := x.begin(ctx)
	if err != nil || !possible {
		return nil, err
	}
	for wide := 1; ; {
		if err := x.list(ctx, wide*x.options.Batch); err != nil {
			return nil, err
		}
		swaps, err := x.choose(ctx)
		if err != nil || len(swaps) == x.options.Batch || len(x.barred) == 0 || !x.more || wide >= widest {
			return swaps, err
		}
		wide *= widerBy
	}
}

// begin reports whether anybody could come in or go.
func (x *exchange) begin(ctx context.Context) (possible bool, err error) {
	if x.now, err = x.store.Now(ctx); err != nil {
		return false, err
	}
	collection, err := x.store.Collection(ctx, x.crawlID)
	if err != nil {
		return false, err
	}
	o := x.options
	x.params = rank.ReplaceParams{Places: places(collection, o.Batch), Margin: o.Margin, Tenure: o.Tenure}
	x.params.Most = min(o.Batch, int(math.Ceil(o.Share*float64(collection.MaxPages)))-collection.Evicted)
	return (x.params.Places <= 0 || collection.Out > 0) && (x.params.Places > 0 || x.params.Most > 0), nil
}

// list reads the candidates, up to n of those outside.
func (x *exchange) list(ctx context.Context, n int) error {
	outside, inside := rank.NewShortlist(n, false), rank.NewShortlist(x.options.Batch, true)
	seen := 0
	add := func(c rank.Candidate) {
		if !x.barred[c.ID] {
			outside.Add(c)
			seen++
		}
	}
	err := eachPage(ctx, x.store, x.crawlID, func(p store.RankedPage) error {
		c := rank.Candidate{ID: p.ID, Importance: p.Weight, Seed: p.Seed, State: p.State, Since: x.now.Sub(p.Placed)}
		switch {
		case p.State.Lives():
			// Pages that may not be evicted would keep others off the list.
			if !c.Seed && (x.params.Places < 0 || c.Importance > 0 && c.Since >= x.options.Tenure) {
				inside.Add(c)
			}
		case p.State == crawl.Evicted:
			c.State = p.EvictedAs
			if x.params.Places > 0 || c.Since >= x.options.Tenure {
				add(c)
			}
		case p.State == crawl.Known && x.params.Places <= 0:
			add(c)
		}
		return nil
	})
	x.outside, x.inside, x.more = outside.Candidates(), inside.Candidates(), seen > n
	return err
}

// choose chooses among the listed, until all that would come in are allowed to.
func (x *exchange) choose(ctx context.Context) ([]rank.Swap, error) {
	asked := map[int64]bool{}
	for {
		swaps := rank.Replace(x.outside, x.inside, x.params)
		barred := false
		for _, swap := range swaps {
			if swap.In == 0 || asked[swap.In] || x.allowed == nil {
				continue
			}
			asked[swap.In] = true
			ok, err := x.allowed(ctx, swap.In)
			if err != nil {
				return nil, err
			}
			if !ok {
				x.barred[swap.In], barred = true, true
			}
		}
		if !barred {
			return swaps, nil
		}
		x.outside = slices.DeleteFunc(x.outside, func(c rank.Candidate) bool { return x.barred[c.ID] })
	}
}

// places is how many more pages the collection may hold, up to one batch.
func places(c store.CollectionRecord, batch int) int {
	if c.MaxPages == 0 {
		return batch
	}
	return min(c.MaxPages-c.Living, batch)
}
