package activities_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"recrawl/activities"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/sink/sinktest"
)

// collection is a receiver that holds the collection: one event says that all of it must be
// read, in a number of steps.
type collection struct {
	sinktest.Receiver
	left, fills int
	fails       error // of a fill
}

func (c *collection) Sender(ctx context.Context, crawlName, name string, spec crawl.SinkSpec) (sink.Sender, error) {
	s, err := c.Receiver.Sender(ctx, crawlName, name, spec)
	return &filling{s, c}, err
}

type filling struct {
	sink.Sender
	*collection
}

func (f *filling) Send(ctx context.Context, e feed.Event) error {
	if e.Kind == feed.CrawlSpec {
		f.left = 3
	}
	return f.Sender.Send(ctx, e)
}

func (f *filling) Fill(context.Context) (bool, error) {
	f.fills++
	f.left = max(0, f.left-1)
	return f.left > 0, f.fails
}

func (f *filling) SendDigest(ctx context.Context, d sink.Digest) error {
	return f.Sender.SendDigest(ctx, d)
}
func (f *filling) Close() error { return f.Sender.Close() }

// Pages that an event leaves to be filled are filled in the same delivery, and not when
// the next change wakes the sink.
func TestFillAfterAChangeOfAll(t *testing.T) {
	t.Parallel()
	c := &collection{}
	p := newPost(t, crawl.SinkSpec{Kind: crawl.SinkSearch})
	p.world.activities = activities.New(activities.Stores{Crawls: p.feed, Sinks: p.feed}, nil, nil, p.flows, activities.Settings{Senders: c, Events: p.events}, slog.New(slog.DiscardHandler))
	if out := p.deliver(); out.More || c.fills != 1 {
		t.Errorf("at rest: %+v, filled %d times", out, c.fills)
	}
	p.feed.Add(feed.CrawlSpec, 0, feed.Data{}, 0)
	p.change(1)
	if out := p.deliver(); out.Sent != 2 || out.More || c.left != 0 || c.fills != 5 {
		t.Errorf("after a change of all: %+v, %d steps left, filled %d times", out, c.left, c.fills)
	}
}

// Once a receiver could be filled, its trouble is over, though no change has come: one that comes a
// week later does not pause its sink at once.
func TestFillEndsATrouble(t *testing.T) {
	t.Parallel()
	c := &collection{}
	p := newPost(t, crawl.SinkSpec{Kind: crawl.SinkSearch})
	p.world.activities = activities.New(activities.Stores{Crawls: p.feed, Sinks: p.feed}, nil, nil, p.flows, activities.Settings{Senders: c, Events: p.events}, slog.New(slog.DiscardHandler))
	for _, at := range []string{"at first", "a week later"} {
		c.fails = &sink.Later{Reason: "another process writes to the search index"}
		if out := p.deliver(); out.Paused || out.Tries != 1 || out.Wait == 0 {
			t.Errorf("%s: %+v", at, out)
		}
		c.fails, p.time = nil, p.time.Add(time.Minute)
		p.deliver()
		if rec := p.feed.Record("x"); rec.Problem != "" || rec.Tries != 0 || !rec.Since.IsZero() || !rec.NextAt.IsZero() {
			t.Errorf("%s, after it was filled: %+v", at, rec)
		}
		p.time = p.time.Add(7 * 24 * time.Hour)
	}
}
