package reader_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"recrawl/internal/feed"
	"recrawl/internal/feed/reader"
	"recrawl/internal/store"
)

// long is a feed of n changes, every tenth of rare.test. It counts the facts that are read.
type long struct {
	reader.Store
	n     int64
	facts int
}

func (l *long) cursor(id int64) feed.Cursor { return feed.Cursor{Epoch: "ab", ID: id} }

func (l *long) FeedEnds(context.Context) (store.FeedEnds, error) {
	return store.FeedEnds{Oldest: l.cursor(0), Newest: l.cursor(l.n)}, nil
}

func (l *long) Changes(_ context.Context, p store.ChangesParams) (page store.ChangesPage, err error) {
	for id := p.After.ID + 1; id <= min(l.n, p.After.ID+store.FeedStep); id++ {
		page.Changes = append(page.Changes, feed.Change{ID: id, Kind: feed.PageChanged, PageID: id})
	}
	page.Through = l.cursor(min(l.n, p.After.ID+store.FeedStep))
	return page, nil
}

func (l *long) ChangeFacts(_ context.Context, changes []feed.Change) (facts []store.ChangeFacts, err error) {
	l.facts += len(changes)
	for _, c := range changes {
		host := "common.test"
		if c.ID%10 == 0 {
			host = "rare.test"
		}
		facts = append(facts, store.ChangeFacts{URL: fmt.Sprintf("https://%s/%d", host, c.ID), Host: host})
	}
	return facts, nil
}

// However rare the selected events are, one call reads a bounded number of facts, and the
// calls together find each event once.
func TestLastReadsFewFacts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		hosts []string
		n     int
		found int // changes
	}{{nil, 7, 3333}, {[]string{"rare.test"}, 7, 333}, {[]string{"rare.test"}, 500, 333}, {[]string{"none.test"}, 50, 0}} {
		l := &long{n: 3333}
		r := reader.New(l, nil)
		var ids []int64
		before, calls := feed.Cursor{}, 0
		for {
			l.facts = 0
			calls++
			b, err := r.Last(t.Context(), reader.Query{Hosts: c.hosts}, before, c.n)
			if err != nil {
				t.Fatal(err)
			}
			if len(b.Events) > c.n || l.facts > 1000+c.n || len(c.hosts) == 0 && l.facts > c.n {
				t.Fatalf("%v: %d events of %d facts", c, len(b.Events), l.facts)
			}
			for _, e := range b.Events {
				ids = append(ids, e.Cursor.ID)
			}
			if !b.More {
				break
			}
			if before != (feed.Cursor{}) && b.Before.ID >= before.ID || calls > 1000 {
				t.Fatalf("%v: from %v on to %v", c, before, b.Before)
			}
			before = b.Before
		}
		if len(ids) != c.found || !slices.IsSortedFunc(ids, func(a, b int64) int { return int(b - a) }) || len(slices.Compact(ids)) != c.found {
			t.Errorf("%v: %d changes, not the newest first or not once", c, len(ids))
		}
	}
}
