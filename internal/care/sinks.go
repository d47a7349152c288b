package care

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/store"
)

// sinkWatch wakes the workflows of sinks when there is something for them: once for all
// changes since the last time, so that a sink costs Temporal nothing while nothing changes, and
// a signal every twenty seconds at most while much does. Its memory may be lost.
type sinkWatch struct {
	store sinkWatchStore
	flows sinkFlows

	seen map[sinkKey]feed.Cursor // how far it has read, and told
}

type sinkWatchStore interface {
	ID() string
	ListSinks(ctx context.Context, crawlID int64) ([]store.SinkRecord, error)
	Changes(ctx context.Context, p store.ChangesParams) (store.ChangesPage, error)
}

type sinkFlows interface {
	StartSink(ctx context.Context, in contract.SinkIn, arg contract.SinkWakeArg) error
}

type sinkKey struct {
	crawl int64
	name  string
}

// look checks the sinks of a crawl.
func (w *sinkWatch) look(ctx context.Context, c store.CrawlRecord) error {
	if len(c.Spec.Sinks) == 0 || c.Deleting {
		return nil
	}
	known, err := w.store.ListSinks(ctx, c.ID)
	if err != nil {
		return err
	}
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(c.Spec.Sinks)) {
		i := slices.IndexFunc(known, func(k store.SinkRecord) bool { return k.Name == name })
		kinds := kindsThatWake(c, name)
		if i < 0 || len(kinds) == 0 || !waitsForChanges(known[i]) {
			continue
		}
		if err := w.lookAt(ctx, c, known[i], kinds); err != nil {
			failures = append(failures, fmt.Errorf("sink %s: %w", name, err))
		}
	}
	return errors.Join(failures...)
}

// waitsForChanges reports whether the sink is waiting for changes. Otherwise it waits for
// a person, or for a time.
func waitsForChanges(k store.SinkRecord) bool {
	return !k.Paused && k.NextAt.IsZero() && k.DigestSince.IsZero()
}

// kindsThatWake are the kinds of changes for which a sink is woken. Those of a stopped crawl have
// delivered the rest and completed, but who has a copy must still hear of a takedown.
func kindsThatWake(c store.CrawlRecord, name string) []feed.Kind {
	kinds := sink.NewFilter(name, c.Spec.Sinks[name]).Kinds()
	if c.State != crawl.CrawlStopped {
		return kinds
	}
	return slices.DeleteFunc(slices.Clone(kinds), func(k feed.Kind) bool { return k != feed.PageForgotten })
}

// watchSteps bounds how many parts of the feed one look reads for a sink; the next goes on.
const watchSteps = 20

func (w *sinkWatch) lookAt(ctx context.Context, c store.CrawlRecord, k store.SinkRecord, kinds []feed.Kind) error {
	key := sinkKey{c.ID, k.Name}
	from := k.After
	if seen := w.seen[key]; seen.Epoch == from.Epoch && seen.ID > from.ID {
		from = seen
	}
	if w.seen == nil {
		w.seen = map[sinkKey]feed.Cursor{}
	}
	for range watchSteps {
		page, err := w.store.Changes(ctx, store.ChangesParams{After: from, CrawlID: c.ID, Kinds: kinds, Limit: 1})
		if errors.Is(err, feed.ErrTrimmed) || errors.Is(err, feed.ErrAhead) || errors.Is(err, feed.ErrEpoch) {
			delete(w.seen, key)
			return nil // its own check, in some hours, reports it
		}
		if err != nil {
			return err
		}
		if len(page.Changes) > 0 {
			in := contract.SinkIn{Store: w.store.ID(), CrawlID: c.ID, Crawl: c.Spec.Name, Sink: k.Name}
			if err := w.flows.StartSink(ctx, in, contract.SinkWakeArg{}); err != nil {
				return err
			}
			w.seen[key] = page.Newest
			return nil
		}
		from = page.Through
		w.seen[key] = from
		if page.Through.ID >= page.Newest.ID {
			return nil
		}
	}
	return nil
}
