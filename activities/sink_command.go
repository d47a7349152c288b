package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/temporal"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/store"
)

// CommandSink carries out a person's command to a sink. The sink's workflow lets
// nothing be delivered meanwhile.
func (a *Activities) CommandSink(ctx context.Context, in contract.SinkCommandIn) (contract.SinkCommandOut, error) {
	d, err := a.newDelivery(ctx, in.CrawlID, in.Crawl, in.Sink)
	if err == nil && d == nil {
		err = fmt.Errorf("crawl %s has no sink %s: %w", in.Crawl, in.Sink, store.ErrNotFound)
	}
	if err != nil {
		return contract.SinkCommandOut{}, translate(err)
	}
	defer d.close()
	out, err := d.command(ctx, in)
	return out, translate(err)
}

func (d *delivery) command(ctx context.Context, in contract.SinkCommandIn) (contract.SinkCommandOut, error) {
	switch in.Command {
	case contract.SinkTest:
		return d.test(ctx)
	case contract.Pause:
		to := withStanding(d.rec, sink.Standing{Paused: true, Code: sink.CodePerson, Problem: "a person paused it"})
		return contract.SinkCommandOut{Message: "paused: nothing is delivered until it is resumed", Look: true}, d.write(ctx, to)
	case contract.Resume:
		to := withStanding(d.rec, sink.Standing{})
		return contract.SinkCommandOut{Message: "resumed: changes are delivered from where it was", Look: true}, d.write(ctx, to)
	case contract.SinkSkip:
		return d.skip(ctx)
	case contract.SinkReplay:
		if in.Replay.After != "" {
			return d.replayAfter(ctx, in.Replay.After)
		}
		return d.replayChanges(ctx, in.Replay.Changes)
	}
	return contract.SinkCommandOut{}, wrongCommand("a sink knows no command %q", in.Command)
}

// wrongCommand is the error for a command that cannot be carried out, however often it
// is tried.
func wrongCommand(format string, args ...any) error {
	return temporal.NewNonRetryableApplicationError(fmt.Sprintf(format, args...), "", nil)
}

// test sends a made-up change, which touches neither the cursor nor the standing.
func (d *delivery) test(ctx context.Context) (contract.SinkCommandOut, error) {
	now, err := d.a.stores.Crawls.Now(ctx)
	if err != nil {
		return contract.SinkCommandOut{}, err
	}
	e := testEvent(d.crawl.Spec.Name, d.rec, now)
	err = d.send(ctx, sendLimit, func(ctx context.Context, s sink.Sender) error {
		check, checks := s.(sink.Checker)
		switch {
		case crawl.HoldsCollection(d.spec.Kind) && checks: // it holds what the crawl holds: nothing made up
			return check.Check(ctx)
		case d.spec.Every > 0:
			return s.SendDigest(ctx, sink.Digest{ID: e.ID, Crawl: e.Crawl, Sink: d.rec.Name, From: now.Add(-d.spec.Every.Std()), To: now, Events: []feed.Event{e}})
		}
		return s.Send(ctx, e)
	})
	return contract.SinkCommandOut{Message: testAnswer(d.spec, err), Refused: err != nil}, nil
}

// testEvent is a made-up change.
func testEvent(crawlName string, r store.SinkRecord, now time.Time) feed.Event {
	return feed.Event{
		V: feed.EventVersion, ID: fmt.Sprintf("test.%d", now.UnixMilli()), Cursor: r.After, Kind: feed.PageChanged, At: now, Crawl: crawlName,
		Page:    &feed.EventPage{URL: "https://example.com/", Host: "example.com", Title: "A test of the sink " + r.Name, Was: crawl.Active, State: crawl.Active},
		Status:  200,
		Before:  &feed.EventVersionOf{Seq: 1},
		Version: &feed.EventVersionOf{Seq: 2, At: now, Title: "A test of the sink " + r.Name},
		Diff:    &feed.EventDiff{WordsAdded: 4, WordsRemoved: 4, Added: []string{"This line was added."}, Removed: []string{"This line was removed."}},
	}
}

// testAnswer describes the receiver's answer.
func testAnswer(spec crawl.SinkSpec, err error) string {
	var refused *sink.Refused
	var stop *sink.Stop
	switch {
	case err == nil && spec.Kind == crawl.SinkFolder:
		return "the folder can be used; no page was written"
	case err == nil && spec.Kind == crawl.SinkSearch:
		return "the search index can be used; no page was written"
	case err == nil:
		return "the receiver took the test"
	case errors.As(err, &refused):
		return "the receiver refused the test: " + refused.Reason
	case errors.As(err, &stop):
		return "the test was not sent, or the receiver wants nothing more: " + stop.Reason
	}
	return "the receiver did not take the test: " + err.Error()
}

// skip passes over the first change that the sink is for, which counts as undelivered.
func (d *delivery) skip(ctx context.Context) (contract.SinkCommandOut, error) {
	now, err := d.a.stores.Crawls.Now(ctx)
	if err != nil {
		return contract.SinkCommandOut{}, err
	}
	after := d.rec.After
	for {
		page, err := d.changes(ctx, after, deliverBatch)
		if err != nil {
			return contract.SinkCommandOut{}, err
		}
		selected, err := d.placed(ctx, page.Through.Epoch, page.Changes)
		if err != nil {
			return contract.SinkCommandOut{}, err
		}
		if len(selected) > 0 {
			c := selected[0]
			to := withStanding(d.rec, sink.Standing{Paused: d.rec.Paused, Code: d.rec.Code, Problem: d.rec.Problem})
			if !d.rec.Paused {
				to = withStanding(d.rec, sink.Standing{})
			}
			to.After = feed.Cursor{Epoch: page.Through.Epoch, ID: c.ID}
			u := store.UndeliveredRecord{At: now, Tries: d.rec.Tries, Problem: strings.TrimSuffix("a person skipped it: "+d.rec.Problem, ": ")}
			message := fmt.Sprintf("change %d, a %s, is passed by and counts as undelivered", c.ID, c.Kind)
			return contract.SinkCommandOut{Message: message, Look: true}, d.pass(ctx, []feed.Change{c}, to, u)
		}
		if after = page.Through; page.Through.ID >= page.Newest.ID {
			return contract.SinkCommandOut{Message: "there is nothing to skip: all is delivered"}, nil
		}
	}
}

// replayAfter moves the cursor back or forward.
func (d *delivery) replayAfter(ctx context.Context, text string) (contract.SinkCommandOut, error) {
	after, err := feed.ParseCursor(text)
	if err != nil {
		return contract.SinkCommandOut{}, wrongCommand("%v", err)
	}
	if _, err := d.changes(ctx, after, 1); errors.Is(err, feed.ErrTrimmed) || errors.Is(err, feed.ErrAhead) || errors.Is(err, feed.ErrEpoch) {
		return contract.SinkCommandOut{}, wrongCommand("%v", err)
	} else if err != nil {
		return contract.SinkCommandOut{}, err
	}
	to := d.rec
	if !to.Paused {
		to = withStanding(to, sink.Standing{})
	}
	to.After, to.DigestSince = after, time.Time{}
	message := "all changes after the cursor are delivered, also those that were before"
	if to.Paused {
		message += ", once the sink is resumed"
	}
	return contract.SinkCommandOut{Message: message, Look: true}, d.write(ctx, to)
}

// replayFor is how long a replay of undelivered changes goes on starting messages: a person waits,
// and so do deliveries.
const replayFor = 20 * time.Second

// replayChanges sends undelivered changes again, and forgets those that the receiver
// accepts.
func (d *delivery) replayChanges(ctx context.Context, ids []int64) (contract.SinkCommandOut, error) {
	var r sink.Replayed
	for i, id := range ids {
		if r.Halted || i > 0 && time.Since(d.began) >= replayFor {
			r.Left += len(ids) - i
			break
		}
		failure, err := d.replayOne(ctx, id)
		if err == nil && failure != nil {
			err = ctx.Err() // the worker stops: that was no answer from the receiver
		}
		if err != nil {
			return contract.SinkCommandOut{}, err
		}
		r = r.With(id, failure)
	}
	return contract.SinkCommandOut{Message: r.Words(), Refused: r.Failed(), Replayed: &r}, nil
}

func (d *delivery) replayOne(ctx context.Context, id int64) (failure, err error) {
	listed, err := d.a.stores.Sinks.Undelivered(ctx, d.crawl.ID, d.rec.Name, id-1, 1)
	if err != nil {
		return nil, err
	}
	if len(listed) == 0 || listed[0].ChangeID != id {
		return sink.ErrNotUndelivered, nil
	}
	before := feed.Cursor{Epoch: d.rec.After.Epoch, ID: id - 1}
	// Of any kind: an earlier spec may have asked for it.
	page, err := d.a.stores.Sinks.Changes(ctx, store.ChangesParams{After: before, CrawlID: d.crawl.ID, Limit: 1})
	if errors.Is(err, feed.ErrTrimmed) {
		return sink.ErrNotKept, nil
	}
	if err != nil {
		return nil, err
	}
	if len(page.Changes) == 0 || page.Changes[0].ID != id {
		return sink.ErrNotKept, nil
	}
	events, err := d.events(ctx, before.Epoch, page.Changes, d.showsDiffs())
	if err != nil {
		return nil, err
	}
	e, left := events[id]
	if !left {
		return sink.ErrNotKept, nil
	}
	if failure := d.send(ctx, sendLimit, func(ctx context.Context, s sink.Sender) error { return s.Send(ctx, e) }); failure != nil {
		return failure, nil
	}
	return nil, d.a.stores.Sinks.Delivered(ctx, d.crawl.ID, d.rec.Name, id)
}
