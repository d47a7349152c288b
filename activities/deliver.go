package activities

import (
	"context"
	"errors"
	"slices"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/store"
)

const (
	// deliverBatch is the most events that one Deliver sends.
	deliverBatch = 100
	// deliverFor is how long one Deliver goes on starting new messages: a person's command
	// waits for it to end.
	deliverFor = 10 * time.Second
	// sendLimit bounds one try to send, unless the sender says that it needs longer.
	sendLimit = 30 * time.Second
	// fillLimit bounds one call that fills a receiver: some hundred pages, each written
	// durably.
	fillLimit = 5 * time.Minute
)

// Deliver sends a batch of a sink's changes in order, and moves the sink's cursor after
// each acknowledged change. If it is cut off in between, that change is sent again. If two
// run at once because a worker seemed to be lost, one finds that the cursor has moved, and
// ends.
func (a *Activities) Deliver(ctx context.Context, in contract.DeliverIn) (contract.DeliverOut, error) {
	d, err := a.newDelivery(ctx, in.CrawlID, in.Crawl, in.Sink)
	if err != nil {
		return contract.DeliverOut{}, translate(err)
	}
	if d == nil {
		return contract.DeliverOut{Ended: true}, nil
	}
	defer d.close()
	err = d.run(ctx, in.Asked)
	if errors.Is(err, store.ErrConflict) {
		d.out.More, err = true, nil
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return d.out, translate(err)
}

// delivery is a sink while work is done on it.
type delivery struct {
	a      *Activities
	crawl  store.CrawlRecord
	spec   crawl.SinkSpec
	filter sink.Filter
	rec    store.SinkRecord // as the store has it
	began  time.Time
	sender sink.Sender // nil until it is needed
	out    contract.DeliverOut
}

// newDelivery returns nil if the crawl has no such sink.
func (a *Activities) newDelivery(ctx context.Context, crawlID int64, crawlName, name string) (*delivery, error) {
	rec, err := a.stores.Crawls.Crawl(ctx, crawlName)
	if err != nil {
		return nil, err
	}
	spec, ok := rec.Spec.Sinks[name]
	if !ok || rec.ID != crawlID || rec.Deleting {
		return nil, nil
	}
	d := &delivery{a: a, crawl: rec, spec: spec, filter: sink.NewFilter(name, spec), began: time.Now()}
	d.out.Stopped = rec.State == crawl.CrawlStopped
	known, err := a.stores.Sinks.ListSinks(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(known, func(k store.SinkRecord) bool { return k.Name == name }); i >= 0 {
		d.rec = known[i]
		return d, nil
	}
	d.rec, err = a.openSink(ctx, rec.ID, name, spec)
	return d, err
}

func (d *delivery) close() {
	if d.sender == nil {
		return
	}
	if err := d.sender.Close(); err != nil {
		d.a.log.Debug("a sink's connections were not closed", "crawl", d.crawl.Spec.Name, "sink", d.rec.Name, "error", err)
	}
}

func (d *delivery) run(ctx context.Context, asked bool) error {
	now, err := d.a.stores.Crawls.Now(ctx)
	if err != nil {
		return err
	}
	if d.rec.Paused || d.rec.NextAt.After(now) && !asked {
		d.tell(now)
		return d.lag(ctx, now)
	}
	if goes, err := d.fill(ctx); err != nil || !goes {
		return err
	}
	if d.spec.Every > 0 {
		return d.digest(ctx)
	}
	for {
		more, err := d.stream(ctx)
		if err != nil {
			return err
		}
		if !more {
			return d.fillAgain(ctx)
		}
		if d.out.Sent >= deliverBatch || time.Since(d.began) >= deliverFor {
			d.out.More = true
			return nil
		}
	}
}

// tell puts the sink's standing into the answer.
func (d *delivery) tell(now time.Time) {
	r := d.rec
	d.out.Paused, d.out.Code, d.out.Problem, d.out.Tries = r.Paused, r.Code, r.Problem, r.Tries
	if !r.Paused && r.NextAt.After(now) {
		d.out.Wait, d.out.Reason = r.NextAt.Sub(now), "its receiver is tried again: "+r.Problem
	}
}

// changes reads the changes after a cursor.
func (d *delivery) changes(ctx context.Context, after feed.Cursor, limit int) (store.ChangesPage, error) {
	return d.a.stores.Sinks.Changes(ctx, store.ChangesParams{After: after, CrawlID: d.crawl.ID, Kinds: d.filter.Kinds(), Limit: limit})
}

// lag records the age of the first undelivered change.
func (d *delivery) lag(ctx context.Context, now time.Time) error {
	page, err := d.changes(ctx, d.rec.After, 1)
	if err == nil && len(page.Changes) > 0 {
		d.out.Lag = max(now.Sub(page.Changes[0].At), 0)
	}
	return err
}

// stream delivers a page of changes, each as one message. It reports whether there may
// be more that the sink can take.
func (d *delivery) stream(ctx context.Context) (more bool, err error) {
	page, err := d.changes(ctx, d.rec.After, deliverBatch-d.out.Sent)
	if err != nil {
		return false, err
	}
	events, err := d.events(ctx, page.Through.Epoch, page.Changes, false)
	if err != nil {
		return false, err
	}
	done := d.rec.After // sent, or not for the sink
	for i, c := range page.Changes {
		e, selected, err := d.selected(ctx, c, events)
		if err != nil {
			return false, err
		}
		here := feed.Cursor{Epoch: page.Through.Epoch, ID: c.ID}
		if !selected {
			done = here
			d.out.Passed++
			continue
		}
		if i > 0 && time.Since(d.began) >= deliverFor {
			return true, d.moveTo(ctx, done)
		}
		goes, err := d.try(ctx, []feed.Change{c}, done, here, func(ctx context.Context, s sink.Sender) error { return s.Send(ctx, e) })
		if err != nil || !goes {
			return false, err
		}
		done = here
	}
	return page.Through.ID < page.Newest.ID, d.moveTo(ctx, page.Through)
}

// events reads changes as events, by the ids of the changes.
func (d *delivery) events(ctx context.Context, epoch string, changes []feed.Change, diffs bool) (map[int64]feed.Event, error) {
	byID := map[int64]feed.Event{}
	if len(changes) == 0 {
		return byID, nil
	}
	events, err := d.a.settings.Events.Events(ctx, epoch, changes, diffs)
	for _, e := range events {
		byID[e.Cursor.ID] = e
	}
	return byID, err
}

// selected reports whether the sink gets a change, and returns its event, with the
// difference of the texts if the sink shows it. Texts are read only of changes that the
// sink is for.
func (d *delivery) selected(ctx context.Context, c feed.Change, events map[int64]feed.Event) (feed.Event, bool, error) {
	e, left := events[c.ID]
	if !left || !d.filter.Place(e).Send {
		return e, false, nil
	}
	if d.showsDiffs() {
		read, err := d.events(ctx, e.Cursor.Epoch, []feed.Change{c}, true)
		if err != nil {
			return e, false, err
		}
		// The others of its batch may have taken a while, and a takedown may have come meanwhile.
		if e, left = read[c.ID]; !left || !d.filter.Place(e).Send {
			return e, false, nil
		}
	}
	if !d.filter.Reads() {
		return e, true, nil
	}
	texts, err := d.a.settings.Events.Texts(ctx, c)
	if err != nil {
		return e, false, err
	}
	return e, d.filter.Text(e, texts).Send, nil
}

// showsDiffs reports whether the sink does anything with the differences of texts. One that
// holds the collection reads the pages themselves.
func (d *delivery) showsDiffs() bool { return !crawl.HoldsCollection(d.spec.Kind) }

// try tries once to send one message of some changes, which reaches up to here; everything
// before it is done. It reports whether the sink goes on.
func (d *delivery) try(ctx context.Context, items []feed.Change, done, here feed.Cursor, send func(context.Context, sink.Sender) error) (bool, error) {
	failure := d.send(ctx, sendLimit, send)
	if ctx.Err() != nil {
		return false, ctx.Err() // the worker stops: that was no answer from the receiver
	}
	now, err := d.a.stores.Crawls.Now(ctx)
	if err != nil {
		return false, err
	}
	j := sink.Judge(standingOf(d.rec), failure, now)
	d.a.log.Debug("a sink has tried to send", "crawl", d.crawl.Spec.Name, "sink", d.rec.Name, "change", items[0].ID, "came to", j.Reason)
	to := withStanding(d.rec, j.Standing)
	switch j.Step {
	case sink.Move:
		to.After, to.DigestSince, to.LastSent = here, time.Time{}, now
		to.Sent += int64(len(items))
		d.out.Sent += len(items)
		return true, d.write(ctx, to)
	case sink.Pass:
		to.After, to.DigestSince = here, time.Time{}
		return true, d.pass(ctx, items, to, store.UndeliveredRecord{At: now, Tries: j.Tried, Problem: failure.Error()})
	}
	to.After = done
	if err := d.write(ctx, to); err != nil {
		return false, err
	}
	d.tell(now)
	d.out.Lag = max(now.Sub(items[0].At), 0)
	return false, nil
}

// fill lets a receiver that holds the whole collection read the list of pages, if that is
// needed and as long as there is time. It reports whether the sink goes on.
func (d *delivery) fill(ctx context.Context) (bool, error) {
	if !crawl.HoldsCollection(d.spec.Kind) {
		return true, nil
	}
	for more := true; more; {
		failure := d.send(ctx, fillLimit, func(ctx context.Context, s sink.Sender) (err error) {
			f, ok := s.(sink.Filler)
			more = false
			if ok {
				more, err = f.Fill(ctx)
			}
			return err
		})
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case failure != nil:
			return false, d.unfilled(ctx, failure)
		case more && time.Since(d.began) >= deliverFor:
			d.out.More = true
			return false, nil
		}
	}
	return true, nil
}

// fillAgain fills the pages that the last changes left to be filled: a change that concerns
// all pages is accepted at once, and carried out page by page.
func (d *delivery) fillAgain(ctx context.Context) error {
	if d.rec.Paused || d.rec.Tries > 0 || d.out.Sent == 0 {
		return nil
	}
	_, err := d.fill(ctx)
	return err
}

// unfilled records why a receiver could not be filled.
func (d *delivery) unfilled(ctx context.Context, failure error) error {
	now, err := d.a.stores.Crawls.Now(ctx)
	if err != nil {
		return err
	}
	j := sink.Judge(standingOf(d.rec), failure, now)
	if err := d.write(ctx, withStanding(d.rec, j.Standing)); err != nil {
		return err
	}
	d.tell(now)
	return nil
}

// pass keeps changes as undelivered, and moves the sink past the last one.
func (d *delivery) pass(ctx context.Context, items []feed.Change, to store.SinkRecord, u store.UndeliveredRecord) error {
	u.CrawlID, u.Sink = d.crawl.ID, d.rec.Name
	for i, c := range items {
		u.ChangeID = c.ID
		next := d.rec
		if i == len(items)-1 {
			next = to
		}
		if err := d.a.stores.Sinks.SetUndelivered(ctx, d.rec, next, u); err != nil {
			return err
		}
		d.rec = next
		d.out.Undelivered++
	}
	return nil
}

// send lets the sender send within the time limit, or within its own if that is longer.
func (d *delivery) send(ctx context.Context, limit time.Duration, send func(context.Context, sink.Sender) error) error {
	if err := d.open(ctx); err != nil {
		return err
	}
	if s, ok := d.sender.(sink.Patient); ok {
		limit = max(limit, s.TimeLimit())
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return send(ctx, d.sender)
}

// open makes the sender, unless there is one.
func (d *delivery) open(ctx context.Context) error {
	if d.sender != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, sendLimit)
	defer cancel()
	s, err := d.a.settings.Senders.Sender(ctx, d.crawl.Spec.Name, d.rec.Name, d.spec)
	if err != nil {
		return err
	}
	d.sender = s
	return nil
}

// moveTo moves the cursor past changes that the sink is not for. Its receiver owes no answer then:
// a change that it did not take is not for the sink any more, as after a takedown, and what could
// not be filled is filled. So that trouble is over, and must not count in the next one's five days.
// Nor does the sink collect, as an earlier spec may have asked for. Workers wake no sink of which the
// store has either.
func (d *delivery) moveTo(ctx context.Context, c feed.Cursor) error {
	if c == d.rec.After && d.rec.Tries == 0 && d.rec.DigestSince.IsZero() {
		return nil
	}
	to := withStanding(d.rec, sink.Standing{})
	to.After, to.DigestSince = c, time.Time{}
	return d.write(ctx, to)
}

// write writes the sink's record, unless the sink was delivered, paused or resumed
// elsewhere meanwhile.
func (d *delivery) write(ctx context.Context, to store.SinkRecord) error {
	if err := d.a.stores.Sinks.MoveSink(ctx, d.rec, to); err != nil {
		return err
	}
	d.rec = to
	return nil
}

func standingOf(r store.SinkRecord) sink.Standing {
	return sink.Standing{Paused: r.Paused, Code: r.Code, Problem: r.Problem, Since: r.Since, Tries: r.Tries, NextAt: r.NextAt}
}

func withStanding(r store.SinkRecord, s sink.Standing) store.SinkRecord {
	r.Paused, r.Code, r.Problem, r.Since, r.Tries, r.NextAt = s.Paused, s.Code, s.Problem, s.Since, s.Tries, s.NextAt
	return r
}
