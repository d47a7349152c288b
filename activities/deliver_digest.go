package activities

import (
	"context"
	"slices"
	"time"

	"recrawl/internal/feed"
	"recrawl/internal/sink"
)

const (
	// digestMost is the most changes in one digest; later ones go into the next. A sink with
	// `when` reads the bodies of all of them, which takes some milliseconds for each, and has ten
	// minutes.
	digestMost     = 100_000
	digestReadMost = 10_000
	// digestRead is how many of them are read as events at a time.
	digestRead = 200
)

// digest waits for the first change of a digest, then for the digest's end, and sends
// it.
func (d *delivery) digest(ctx context.Context) error {
	if d.rec.DigestSince.IsZero() {
		if begun, err := d.beginDigest(ctx); err != nil || !begun {
			return err
		}
	}
	now, err := d.a.stores.Crawls.Now(ctx)
	if err != nil {
		return err
	}
	// The digest of a stopped crawl, for which nothing will come, is not waited for.
	end := sink.DigestEnd(d.rec.DigestSince, d.spec.Every.Std())
	if end.After(now) && !d.out.Stopped {
		d.out.Wait, d.out.Reason = end.Sub(now), "a message collects changes"
		d.out.Lag = max(now.Sub(d.rec.DigestSince), 0)
		return nil
	}
	if end.After(now) {
		end = now
	}
	return d.sendDigest(ctx, end)
}

// beginDigest looks for the first change of a digest, and records its time.
func (d *delivery) beginDigest(ctx context.Context) (bool, error) {
	for {
		page, err := d.changes(ctx, d.rec.After, deliverBatch)
		if err != nil {
			return false, err
		}
		selected, err := d.placed(ctx, page.Through.Epoch, page.Changes)
		if err != nil {
			return false, err
		}
		if len(selected) > 0 {
			to := d.rec
			to.DigestSince = selected[0].At
			to.After = feed.Cursor{Epoch: page.Through.Epoch, ID: max(selected[0].ID-1, to.After.ID)}
			return true, d.write(ctx, to)
		}
		d.out.Passed += len(page.Changes)
		if err := d.moveTo(ctx, page.Through); err != nil || page.Through.ID >= page.Newest.ID {
			return false, err
		}
		if time.Since(d.began) >= deliverFor {
			d.out.More = true
			return false, nil
		}
	}
}

// placed returns the changes that the sink wants by kind, host and prefix.
func (d *delivery) placed(ctx context.Context, epoch string, changes []feed.Change) ([]feed.Change, error) {
	var selected []feed.Change
	for some := range slices.Chunk(changes, digestRead) {
		events, err := d.events(ctx, epoch, some, false)
		if err != nil {
			return nil, err
		}
		for _, c := range some {
			if e, left := events[c.ID]; left && d.filter.Place(e).Send {
				selected = append(selected, c)
			}
		}
	}
	return selected, nil
}

// sendDigest sends the changes before the end.
func (d *delivery) sendDigest(ctx context.Context, end time.Time) error {
	changes, through, err := d.collect(ctx, end)
	if err != nil {
		return err
	}
	selected, err := d.placed(ctx, through.Epoch, sink.Merge(changes))
	if err != nil {
		return err
	}
	if d.filter.Reads() {
		if selected, err = d.changedAsAsked(ctx, through.Epoch, selected); err != nil {
			return err
		}
	}
	if len(selected) == 0 {
		to := withStanding(d.rec, sink.Standing{}) // as in moveTo
		d.out.More = true                          // another may begin
		to.After, to.DigestSince = through, time.Time{}
		d.out.Passed += len(changes)
		return d.write(ctx, to)
	}
	items := selected[:min(len(selected), d.spec.Items())]
	message := sink.Digest{
		ID:    sink.DigestID(through.Epoch, changes[0].ID, changes[len(changes)-1].ID),
		Crawl: d.crawl.Spec.Name, Sink: d.rec.Name, From: d.rec.DigestSince, To: end, Left: len(selected) - len(items),
	}
	if message.Events, err = d.shown(ctx, through.Epoch, items); err != nil {
		return err
	}
	d.out.More, err = d.try(ctx, items, d.rec.After, through, func(ctx context.Context, s sink.Sender) error { return s.SendDigest(ctx, message) })
	return err
}

// collect reads the changes of a digest, and returns how far it reaches.
func (d *delivery) collect(ctx context.Context, end time.Time) ([]feed.Change, feed.Cursor, error) {
	var changes []feed.Change
	after, most := d.rec.After, digestMost
	if d.filter.Reads() {
		most = digestReadMost
	}
	for {
		page, err := d.changes(ctx, after, 0)
		if err != nil {
			return nil, after, err
		}
		for i, c := range page.Changes {
			if !c.At.Before(end) && len(changes) > 0 || len(changes) == most {
				return changes, feed.Cursor{Epoch: page.Through.Epoch, ID: c.ID - 1}, nil
			}
			changes = append(changes, page.Changes[i])
		}
		if after = page.Through; page.Through.ID >= page.Newest.ID {
			return changes, after, nil
		}
	}
}

// changedAsAsked returns the changes whose texts changed as the sink requires.
func (d *delivery) changedAsAsked(ctx context.Context, epoch string, changes []feed.Change) ([]feed.Change, error) {
	var selected []feed.Change
	for some := range slices.Chunk(changes, digestRead) {
		events, err := d.events(ctx, epoch, some, false)
		if err != nil {
			return nil, err
		}
		for _, c := range some {
			_, ok, err := d.selected(ctx, c, events)
			if err != nil {
				return nil, err
			}
			if ok {
				selected = append(selected, c)
			}
		}
	}
	return selected, nil
}

// shown returns the events of a message.
func (d *delivery) shown(ctx context.Context, epoch string, items []feed.Change) ([]feed.Event, error) {
	byID, err := d.events(ctx, epoch, items, d.showsDiffs())
	if err != nil {
		return nil, err
	}
	var events []feed.Event
	for _, c := range items {
		if e, left := byID[c.ID]; left {
			events = append(events, sink.Shorten(e, sink.DigestLines))
		}
	}
	return events, nil
}
