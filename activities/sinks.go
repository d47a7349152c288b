package activities

import (
	"context"
	"errors"
	"maps"
	"slices"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// SinkStore has the changes, and the sinks' progress through them.
type SinkStore interface {
	FeedEnds(ctx context.Context) (store.FeedEnds, error)
	Changes(ctx context.Context, p store.ChangesParams) (store.ChangesPage, error)
	store.Sinks
}

// Senders makes the senders of sinks.
type Senders interface {
	// Sender makes the sender of a crawl's sink; the caller closes it. Its error counts as
	// one of Send: a *sink.Stop pauses the sink.
	Sender(ctx context.Context, crawlName, name string, spec crawl.SinkSpec) (sink.Sender, error)
}

// EventSource reads changes as receivers get them.
type EventSource interface {
	// Events reads changes as events, in their order, with what changed in the texts if
	// diffs is set. Changes about which nothing is left to report may be missing.
	Events(ctx context.Context, epoch string, changes []feed.Change, diffs bool) ([]feed.Event, error)
	// Texts reads the texts of a change's page, before and after the change.
	Texts(ctx context.Context, c feed.Change) (sink.Texts, error)
}

// startOf is the cursor at which a new sink begins. A sink that holds the collection is
// filled from the list of pages.
func startOf(spec crawl.SinkSpec, ends store.FeedEnds) feed.Cursor {
	if spec.From == crawl.SinkFromAll && !crawl.HoldsCollection(spec.Kind) {
		return ends.Oldest
	}
	return ends.Newest
}

// openSink returns the record of a sink. It creates the record if there is none.
func (a *Activities) openSink(ctx context.Context, crawlID int64, name string, spec crawl.SinkSpec) (store.SinkRecord, error) {
	ends, err := a.stores.Sinks.FeedEnds(ctx)
	if err != nil {
		return store.SinkRecord{}, err
	}
	return a.stores.Sinks.OpenSink(ctx, crawlID, name, startOf(spec, ends))
}

// openSinks makes the sinks of a spec that is new, starts or wakes their workflows, and
// closes the sinks that are no longer in the spec. Running it again changes nothing.
func (a *Activities) openSinks(ctx context.Context, rec store.CrawlRecord) error {
	return a.eachSink(ctx, rec, func(in contract.SinkIn) error {
		return a.workflows.StartSink(ctx, in, contract.SinkWakeArg{Asked: true})
	})
}

// lookAfterSinks is a step of maintenance: it starts the workflows of sinks that are
// missing or stuck.
func (a *Activities) lookAfterSinks(ctx context.Context, in contract.MaintainIn, _ *contract.MaintainOut) error {
	rec, err := a.stores.Crawls.Crawl(ctx, in.Name)
	if err != nil || rec.State == crawl.CrawlStopped {
		return err
	}
	return a.eachSink(ctx, rec, func(in contract.SinkIn) error {
		_, err := a.workflows.MendSink(ctx, in)
		return err
	})
}

// finishSinks wakes the sinks of a crawl that is stopped, so that they deliver the rest.
func (a *Activities) finishSinks(ctx context.Context, name string) error {
	rec, err := a.stores.Crawls.Crawl(ctx, name)
	if err != nil {
		return err
	}
	return a.eachSink(ctx, rec, func(in contract.SinkIn) error { return a.wakeSink(ctx, in.Crawl, in.Sink) })
}

// eachSink does something with each sink of a crawl's spec, and creates its record if
// there is none. It closes the sinks that are not in the spec.
func (a *Activities) eachSink(ctx context.Context, rec store.CrawlRecord, do func(contract.SinkIn) error) error {
	known, err := a.stores.Sinks.ListSinks(ctx, rec.ID)
	if err != nil {
		return err
	}
	for _, k := range known {
		if _, wanted := rec.Spec.Sinks[k.Name]; wanted {
			continue
		}
		if err := a.stores.Sinks.CloseSink(ctx, rec.ID, k.Name); err != nil {
			return err
		}
		if err := a.wakeSink(ctx, rec.Spec.Name, k.Name); err != nil { // it finds that it is gone, and completes
			return err
		}
	}
	var failures []error
	for _, name := range slices.Sorted(maps.Keys(rec.Spec.Sinks)) {
		if !slices.ContainsFunc(known, func(k store.SinkRecord) bool { return k.Name == name }) {
			if _, err := a.openSink(ctx, rec.ID, name, rec.Spec.Sinks[name]); err != nil {
				return err
			}
		}
		failures = append(failures, do(contract.SinkIn{Store: a.stores.Crawls.ID(), CrawlID: rec.ID, Crawl: rec.Spec.Name, Sink: name}))
	}
	return errors.Join(failures...)
}

// wakeSink wakes the workflow of a sink, if there is one.
func (a *Activities) wakeSink(ctx context.Context, crawlName, name string) error {
	err := a.workflows.WakeSink(ctx, crawlName, name, contract.SinkWakeArg{Asked: true})
	if errors.Is(err, temporalkit.ErrNoWorkflow) {
		return nil
	}
	return err
}
