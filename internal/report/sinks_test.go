package report

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// withSinks is the sample with sinks of all states.
func withSinks() *fake {
	f := sample()
	hook := crawl.SinkSpec{Kind: crawl.SinkWebhook, To: "https://example.com/hunter2"}
	f.crawls[1].Spec.Sinks = map[string]crawl.SinkSpec{
		"a-paused": hook, "b-retrying": hook, "c-digest": {Kind: crawl.SinkMail, To: "you@example.org", Every: crawl.Duration(time.Hour)}, "d-idle": hook, "e-new": hook,
	}
	at := func(id int64) feed.Cursor { return feed.Cursor{Epoch: "5f2a9c01", ID: id} }
	f.sinks = []store.SinkRecord{
		{CrawlID: 1, Name: "a-paused", After: at(7), Paused: true, Code: "gone", Problem: "410 Gone", Since: now.Add(-2 * time.Hour), Tries: 1},
		{CrawlID: 1, Name: "b-retrying", After: at(8), Problem: "connection refused", Since: now.Add(-time.Minute), Tries: 3, NextAt: now.Add(20 * time.Second)},
		{CrawlID: 1, Name: "c-digest", After: at(8), Sent: 80, LastSent: now.Add(-3 * time.Hour), DigestSince: now.Add(-20 * time.Minute)},
		{CrawlID: 1, Name: "d-idle", After: at(9), Sent: 9, LastSent: now.Add(-time.Minute)},
	}
	f.changes = []feed.Change{{ID: 8, At: now.Add(-2 * time.Hour)}, {ID: 9, At: now.Add(-20 * time.Minute)}}
	f.failed = []store.UndeliveredRecord{
		{CrawlID: 1, Sink: "d-idle", ChangeID: 3, At: now.Add(-time.Hour), Tries: 5, Problem: "400 Bad Request"},
		{CrawlID: 1, Sink: "d-idle", ChangeID: 5, At: now.Add(-time.Hour), Tries: 5, Problem: "422\nno such field"},
	}
	return f
}

// standby is a store that cannot tell what its sinks have before them.
type standby struct{ *fake }

func (standby) Changes(context.Context, store.ChangesParams) (store.ChangesPage, error) {
	return store.ChangesPage{}, store.ErrStandby
}

// TestStatusOfAStandby: the rest of a status is told there.
func TestStatusOfAStandby(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	f := withSinks()
	if err := (Reporter{Store: f, Deliveries: standby{f}, Out: &out}).Status(t.Context(), "news"); err != nil || !bytes.Contains(out.Bytes(), []byte("d-idle")) {
		t.Errorf("%v\n%s", err, &out)
	}
}

func TestSinks(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, ask := range map[string]func(Reporter) error{
		"sinks":      func(r Reporter) error { return r.Sinks(ctx, "news") },
		"sinks-none": func(r Reporter) error { return r.Sinks(ctx, "docs") },
		"sinks-failed": func(r Reporter) error {
			return errors.Join(r.FailedOf(ctx, "news", "d-idle"), r.FailedOf(ctx, "news", "a-paused"))
		},
		"status-sinks": func(r Reporter) error { return errors.Join(r.Status(ctx, "news"), r.StatusAll(ctx)) },
	} {
		for format, ext := range map[Format]string{Text: ".txt", JSON: ".jsonl"} {
			var out bytes.Buffer
			f := withSinks()
			if err := ask(Reporter{Store: f, Deliveries: f, Out: &out, Format: format}); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(out.Bytes(), []byte("hunter2")) {
				t.Errorf("%s: a receiver's address is shown, which may be its own secret: %s", name, &out)
			}
			golden(t, name+ext, out.Bytes())
		}
	}
}
