package care

import (
	"context"
	"slices"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink/sinktest"
	"recrawl/internal/store"
)

// wokenSinks takes down which sinks are woken.
type wokenSinks struct{ names []string }

func (w *wokenSinks) StartSink(_ context.Context, in contract.SinkIn, _ contract.SinkWakeArg) error {
	w.names = append(w.names, in.Sink)
	return nil
}

// Sinks are woken once for all changes since the last look, only if these are for them, and
// not while they wait for a person or a time.
func TestSinkWatch(t *testing.T) {
	t.Parallel()
	hook := crawl.SinkSpec{Kind: crawl.SinkExec, To: "x"}
	states := crawl.SinkSpec{Kind: crawl.SinkExec, To: "x", Kinds: []string{"crawl.*", "page.forgotten"}}
	at := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	s := sinktest.NewStore(func() time.Time { return at }, map[string]crawl.SinkSpec{"a": hook, "b": states, "new": hook})
	start := feed.Cursor{Epoch: sinktest.Epoch}
	for _, name := range []string{"a", "b"} {
		if _, err := s.OpenSink(t.Context(), 1, name, start); err != nil {
			t.Fatal(err)
		}
	}
	woken := &wokenSinks{}
	watch := &sinkWatch{store: s, flows: woken}
	look := func(what string, want ...string) {
		t.Helper()
		rec, err := s.Crawl(t.Context(), "news")
		if err == nil {
			err = watch.look(t.Context(), rec)
		}
		if err != nil || !slices.Equal(woken.names, want) {
			t.Errorf("%s: woken %q, %v; want %q", what, woken.names, err, want)
		}
		woken.names = nil
	}
	move := func(change func(*store.SinkRecord)) {
		t.Helper()
		to := s.Record("a")
		change(&to)
		if err := s.MoveSink(t.Context(), s.Record("a"), to); err != nil {
			t.Fatal(err)
		}
	}
	look("nothing has changed")
	s.Add(feed.PageNew, 1, feed.Data{}, 1)
	s.Add(feed.PageNew, 2, feed.Data{}, 1)
	look("two changes", "a")
	look("it knows of them")
	s.AddOther(3 * store.FeedStep)
	look("another crawl's")
	s.Add(feed.PageGone, 1, feed.Data{}, 0)
	move(func(r *store.SinkRecord) { r.Paused = true })
	look("it is paused")
	move(func(r *store.SinkRecord) { r.Paused, r.NextAt = false, at.Add(time.Minute) })
	look("it tries again later")
	move(func(r *store.SinkRecord) { r.NextAt, r.DigestSince = time.Time{}, at })
	look("it collects")
	move(func(r *store.SinkRecord) { r.DigestSince = time.Time{} })
	look("it waits for changes again", "a")
	s.Add(feed.CrawlState, 0, feed.Data{}, 0)
	look("of the crawl", "b")
	s.SetCrawl(func(c *store.CrawlRecord) { c.State = crawl.CrawlStopped })
	s.Add(feed.PageNew, 3, feed.Data{}, 1)
	look("it is stopped")
	s.Add(feed.PageForgotten, 3, feed.Data{}, 0)
	look("a takedown of a stopped crawl", "b")
}
