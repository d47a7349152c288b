package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/store"
)

// TestExportsFollowEachOther: an export of everything, and one of what changed since for each
// that came after it, have all there is, though visits come in the very second of an export.
func TestExportsFollowEachOther(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	k := newKept(t)
	seen := map[string]bool{}
	visit := func(n int) {
		url := fmt.Sprintf("https://host.test/%d", n)
		k.found(url, url)
	}
	run := func(since feed.Cursor) export.Result {
		t.Helper()
		done, err := Backend{}.Export(ctx, k.at, t.TempDir(), export.Options{Format: export.JSONL, Crawl: "news", Since: since})
		k.must(err)
		text, err := os.ReadFile(filepath.Join(done.Folder, "versions.jsonl"))
		k.must(err)
		for line := range strings.Lines(string(text)) {
			seen[strings.SplitN(line, `"`, 5)[3]] = true
		}
		return done
	}
	visit(0)
	visit(1)
	done := run(feed.Cursor{})
	first := done.Cursor
	if first == (feed.Cursor{}) {
		t.Fatal("an export of everything has no cursor")
	}
	for n := 2; n < 5; n++ {
		visit(n)
		done = run(done.Cursor)
	}
	if last := run(done.Cursor); last.Visits != 0 || last.Cursor != done.Cursor {
		t.Errorf("nothing has changed: %+v", last)
	}
	if len(seen) != 5 {
		t.Errorf("the exports have %v", seen)
	}
	if past, err := (Backend{}).Export(ctx, k.at, t.TempDir(), export.Options{Format: export.JSONL, Crawl: "news", At: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}); err != nil || past.Visits != 0 || past.Cursor.ID > first.ID {
		t.Errorf("of long ago: %+v, %v", past, err)
	}
	now, err := k.Store.Now(ctx)
	k.must(err)
	_, err = k.Store.TrimChanges(ctx, now.Add(time.Hour), 1000)
	k.must(err)
	if _, err := (Backend{}).Export(ctx, k.at, t.TempDir(), export.Options{Format: export.JSONL, Crawl: "news", Since: first}); !errors.Is(err, feed.ErrTrimmed) {
		t.Errorf("since a cursor that is no longer kept: %v", err)
	}
	if again, err := (Backend{}).Export(ctx, k.at, t.TempDir(), export.Options{Format: export.JSONL, Crawl: "news", At: now.Add(-time.Hour)}); err != nil || again.Cursor != (feed.Cursor{}) {
		t.Errorf("everything of a time before what is kept has the cursor %s, %v", again.Cursor, err)
	}
}

// follower is the feed of a standby.
type follower struct{ store.Feed }

func (follower) FeedEnds(context.Context) (store.FeedEnds, error) {
	return store.FeedEnds{}, store.ErrStandby
}

// TestExportOfAStandby: a whole export needs no cursor; one since a cursor does.
func TestExportOfAStandby(t *testing.T) {
	t.Parallel()
	if cursor, err := exportCursor(t.Context(), follower{}, export.Options{}); err != nil || cursor != (feed.Cursor{}) {
		t.Errorf("a whole export: %v, %v", cursor, err)
	}
	since := export.Options{Since: feed.Cursor{Epoch: "ab", ID: 7}}
	if _, err := exportCursor(t.Context(), follower{}, since); !errors.Is(err, store.ErrStandby) {
		t.Errorf("one since a cursor: %v", err)
	}
}
