package maintain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// collection is a full collection: the pages that live in it, those that wait
// outside, and the evictions of which workflows may not have heard.
type collection struct {
	rows    []store.RankedPage
	max     int
	untold  []store.Eviction
	missing int64 // a page that was forgotten
	calls   []string
}

func (c *collection) Now(context.Context) (time.Time, error) { return time.Unix(1e9, 0), nil }

func (c *collection) RankedPages(_ context.Context, _, after int64, _ int) (some []store.RankedPage, err error) {
	for _, p := range c.rows {
		if p.ID > after {
			some = append(some, p)
		}
	}
	return some, nil
}

func (c *collection) Collection(context.Context, int64) (store.CollectionRecord, error) {
	return store.CollectionRecord{MaxPages: c.max, Living: c.max}, nil
}

func (c *collection) Evictions(_ context.Context, _ int64, untold bool, limit int) ([]store.Eviction, error) {
	if !untold {
		return nil, errors.New("all evictions are asked for")
	}
	return slices.Clone(c.untold[:min(len(c.untold), limit)]), nil
}

func (c *collection) Page(_ context.Context, id int64) (store.PageRecord, error) {
	if id == c.missing {
		return store.PageRecord{}, store.ErrNotFound
	}
	return store.PageRecord{PageRef: crawl.PageRef{PageID: id}}, nil
}

func (c *collection) Swap(_ context.Context, p store.SwapParams) (store.Eviction, bool, error) {
	c.calls = append(c.calls, fmt.Sprintf("swap %d for %d", p.Out, p.In))
	return eviction(p.Out, p.In), true, nil
}

func (c *collection) SetTold(_ context.Context, _ int64, pages []int64) error {
	c.calls = append(c.calls, fmt.Sprintf("note %d", len(pages)))
	c.untold = slices.DeleteFunc(c.untold, func(e store.Eviction) bool { return slices.Contains(pages, e.Page.PageID) })
	return nil
}

func eviction(out, in int64) store.Eviction {
	return store.Eviction{
		Page: store.PageRecord{PageRef: crawl.PageRef{PageID: out}, State: crawl.Evicted},
		By:   store.PageRecord{PageRef: crawl.PageRef{PageID: in}, State: crawl.Active},
	}
}

// replacement exchanges pages of a collection in which the pages 1 to 4 are poor and the
// pages 11 to 14 outside are rich.
func (c *collection) replacement(forbidden ...int64) *Replacement {
	for i := range int64(4) {
		c.rows = append(c.rows, store.RankedPage{ID: 1 + i, State: crawl.Active, Weight: 0.1 * float64(1+i)})
	}
	for i := range int64(4) {
		c.rows = append(c.rows, store.RankedPage{ID: 11 + i, State: crawl.Known, Weight: 9 - float64(i)})
	}
	c.max = 4
	return &Replacement{
		Store: c, Options: ReplaceOptions{Share: 1, Batch: 100},
		Forbidden: func(_ context.Context, page crawl.PageRef, _ time.Time) (bool, error) {
			return slices.Contains(forbidden, page.PageID), nil
		},
		Tell: func(_ context.Context, e store.Eviction) error {
			c.calls = append(c.calls, fmt.Sprintf("tell %d", e.Page.PageID))
			return nil
		},
	}
}

// Evictions that were not told before are told first; in each exchange the store
// knows before the workflows do, and the record that they know comes last.
func TestAReplacementsOrder(t *testing.T) {
	t.Parallel()
	c := &collection{untold: []store.Eviction{eviction(7, 8)}}
	done, err := c.replacement(12).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"tell 7", "swap 1 for 11", "tell 1", "swap 2 for 13", "tell 2", "swap 3 for 14", "tell 3", "note 4"}
	if !slices.Equal(c.calls, want) || done != (Replaced{Evicted: 3, Admitted: 3}) {
		t.Errorf("%+v by %q, want %q", done, c.calls, want)
	}
}

// A page that robots.txt forbids does not come in, nor one that was forgotten.
func TestWhoDoesNotComeIn(t *testing.T) {
	t.Parallel()
	c := &collection{missing: 14}
	r := c.replacement(11, 12)
	done, err := r.Run(t.Context())
	if err != nil || done.Admitted != 1 || !slices.Contains(c.calls, "swap 1 for 13") {
		t.Errorf("%+v by %q: %v", done, c.calls, err)
	}
}

// Nor does one that the scope leaves out by now.
func TestNobodyComesInFromOutsideTheScope(t *testing.T) {
	t.Parallel()
	c := &collection{}
	r := c.replacement()
	r.Outside = func(_ context.Context, page store.PageRecord) (bool, error) { return page.PageID < 13, nil }
	done, err := r.Run(t.Context())
	if err != nil || done.Admitted != 2 || !slices.Contains(c.calls, "swap 1 for 13") || !slices.Contains(c.calls, "swap 2 for 14") {
		t.Errorf("%+v by %q: %v", done, c.calls, err)
	}
}

// Pages that may not come in do not keep others out, however many they are.
func TestForbiddenPagesKeepNobodyOut(t *testing.T) {
	t.Parallel()
	c := &collection{}
	r := c.replacement()
	const many = 200
	for i := range int64(many) {
		c.rows = append(c.rows, store.RankedPage{ID: 100 + i, State: crawl.Known, Weight: float64(100 + i)})
	}
	r.Options.Batch = 2
	asked := map[int64]int{}
	r.Forbidden = func(_ context.Context, page crawl.PageRef, _ time.Time) (bool, error) {
		asked[page.PageID]++
		return page.PageID >= 100, nil
	}
	done, err := r.Run(t.Context())
	if err != nil || done.Admitted != 2 || !slices.Contains(c.calls, "swap 1 for 11") || !slices.Contains(c.calls, "swap 2 for 12") {
		t.Errorf("%+v by %q: %v", done, c.calls, err)
	}
	for id, n := range asked {
		if id >= 100 && n > 1 {
			t.Errorf("page %d was judged %d times", id, n)
		}
	}
}

// If nothing is possible, no other batch is requested.
func TestReplaceAgain(t *testing.T) {
	t.Parallel()
	for name, forbidden := range map[string][]int64{"possible": nil, "impossible": {11, 12, 13, 14}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &collection{}
			r := c.replacement(forbidden...)
			r.Options.Batch = 2
			if done, err := r.Run(t.Context()); err != nil || done.More != (forbidden == nil) {
				t.Errorf("%+v: %v", done, err)
			}
		})
	}
}

// An eviction whose telling fails is not recorded as told.
func TestAnEvictionThatIsNotTold(t *testing.T) {
	t.Parallel()
	c := &collection{untold: []store.Eviction{eviction(7, 8)}}
	r := c.replacement()
	r.Tell = func(context.Context, store.Eviction) error { return errCutOff }
	if _, err := r.Run(t.Context()); !errors.Is(err, errCutOff) || len(c.calls) > 0 || len(c.untold) != 1 {
		t.Errorf("%q, untold %v: %v", c.calls, c.untold, err)
	}
}

// When there are many evictions, they are recorded as they go: after a kill, few are
// told twice.
func TestEvictionsAreNotedAsTheyGo(t *testing.T) {
	t.Parallel()
	c := &collection{}
	for i := range int64(2*toldBatch + 1) {
		c.untold = append(c.untold, eviction(100+i, 0))
	}
	r := c.replacement()
	r.Options.Batch, r.Options.Share = 1000, 0
	if _, err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	notes := slices.DeleteFunc(c.calls, func(call string) bool { return call[:4] != "note" })
	if want := []string{"note 50", "note 50", "note 1"}; !slices.Equal(notes, want) || len(c.untold) > 0 {
		t.Errorf("noted %q, want %q; %d are untold", notes, want, len(c.untold))
	}
}
