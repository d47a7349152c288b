package export_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/feed"
)

// changing is a source whose changes are the visits with other numbers than 1.
type changing struct {
	*exporttest.Memory
	asked []export.Query
	after feed.Cursor // of the last call of Changes
}

func (c *changing) Exchanges(ctx context.Context, q export.Query) iter.Seq2[export.Exchange, error] {
	c.asked = append(c.asked, q)
	return func(yield func(export.Exchange, error) bool) {
		for x, err := range c.Memory.Exchanges(ctx, q) {
			if (q.Since == (feed.Cursor{}) || x.Visit > 1) && !yield(x, err) {
				return
			}
		}
	}
}

func (c *changing) Changes(_ context.Context, since, through feed.Cursor) iter.Seq2[feed.Event, error] {
	c.after = since
	return func(yield func(feed.Event, error) bool) {
		for id := since.ID + 1; id <= through.ID; id++ {
			if !yield(feed.Event{V: 1, Kind: feed.PageGone, Cursor: feed.Cursor{Epoch: since.Epoch, ID: id}}, nil) {
				return
			}
		}
	}
}

var since, upTo = feed.Cursor{Epoch: "ab", ID: 3}, feed.Cursor{Epoch: "ab", ID: 9}

func manifestOf(t *testing.T, folder string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "export.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestExportOfChanges(t *testing.T) {
	t.Parallel()
	for _, format := range export.Formats() {
		if format == export.Mirror { // is always whole
			continue
		}
		made := exporttest.Crawl(5, exporttest.URLs(), 6)
		src := &changing{Memory: made}
		o := options(format)
		o.Since, o.Cursor = since, upTo
		o.At = exporttest.Start // long before the visits: the cursors select, not the time
		out := t.TempDir()
		done, err := export.Export(t.Context(), src, out, o)
		if err != nil {
			t.Fatal(err)
		}
		if done.Since != since || done.Cursor != upTo || done.Visits == 0 {
			t.Errorf("%s: %+v", format, done)
		}
		if q := src.asked[0]; q.Since != since || q.Through != upTo || !q.Until.IsZero() || src.after != since {
			t.Errorf("%s asked for %+v and %s", format, q, src.after)
		}
		want := int64(0)
		for _, x := range made.Visits {
			is := true
			switch format {
			case export.Dir:
				is = x.Found() || x.Back
			case export.HTML, export.Text, export.Markdown, export.Chunks: // a page may have come back with its old version
				is = x.Stands && x.Version.Seq > 0
			}
			if x.Visit > 1 && is {
				want++
			}
		}
		if done.Visits != want {
			t.Errorf("%s: %d visits, want %d", format, done.Visits, want)
		}
		m := manifestOf(t, done.Folder)
		if m["since"] != since.String() || m["cursor"] != upTo.String() {
			t.Errorf("%s: the manifest says %v and %v", format, m["since"], m["cursor"])
		}
		text, err := os.ReadFile(filepath.Join(done.Folder, "changes.jsonl"))
		if err != nil || strings.Count(string(text), "\n") != 6 || !strings.Contains(string(text), `"cursor":"c1.ab.9"`) {
			t.Errorf("%s: %v, changes\n%s", format, err, text)
		}
		if again, err := export.Export(t.Context(), src, out, o); err != nil || !again.Already || again.Cursor != upTo {
			t.Errorf("%s again: %+v, %v", format, again, err)
		}
		o.Since.ID++
		if _, err := export.Export(t.Context(), src, out, o); !errors.Is(err, export.ErrForeign) || !strings.Contains(err.Error(), "since c1.ab.3, and not an export since c1.ab.4") {
			t.Errorf("%s over another: %v", format, err)
		}
		if _, err := export.Export(t.Context(), made, t.TempDir(), o); !errors.Is(err, export.ErrSource) {
			t.Errorf("%s of a source that knows no changes: %v", format, err)
		}
	}
}

// A full export has the cursor from which to go on, and no list of changes.
func TestFullExportHasACursor(t *testing.T) {
	t.Parallel()
	o := options(export.JSONL)
	o.Cursor = upTo
	done, err := export.Export(t.Context(), exporttest.Crawl(5, exporttest.URLs()[:3], 3), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	if m := manifestOf(t, done.Folder); m["cursor"] != upTo.String() || m["since"] != nil || done.Cursor != upTo {
		t.Errorf("%+v, %v", done, m)
	}
	if _, err := os.Stat(filepath.Join(done.Folder, "changes.jsonl")); err == nil {
		t.Error("it lists changes")
	}
	o.Since, o.Cursor = since, feed.Cursor{}
	if _, err := export.Export(t.Context(), &changing{}, t.TempDir(), o); err == nil {
		t.Error("an export of changes that has no end")
	}
}

// stopping is a source that ends with an error after some visits, as a kill does.
type stopping struct {
	*changing
	left int
}

var errStopped = errors.New("stopped")

func (s *stopping) Exchanges(ctx context.Context, q export.Query) iter.Seq2[export.Exchange, error] {
	return func(yield func(export.Exchange, error) bool) {
		for x, err := range s.changing.Exchanges(ctx, q) {
			if s.left--; s.left < 0 {
				yield(export.Exchange{}, errStopped)
				return
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

// An interrupted export keeps the cursor with which it began: with another one, its first
// part would lack the changes in between.
func TestInterruptedExportKeepsItsCursor(t *testing.T) {
	t.Parallel()
	src := &changing{Memory: exporttest.Crawl(5, exporttest.URLs(), 6)}
	o := options(export.JSONL)
	o.Since, o.Cursor = since, upTo
	out := t.TempDir()
	if _, err := export.Export(t.Context(), &stopping{src, 20}, out, o); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	later := o
	later.At, later.Now, later.Cursor.ID = time.Time{}, o.At.Add(time.Hour), 50
	done, err := export.Export(t.Context(), src, out, later)
	if err != nil || done.Cursor != upTo || !done.At.Equal(o.At.Truncate(time.Second)) {
		t.Fatalf("%+v, %v", done, err)
	}
	if last := src.asked[len(src.asked)-1]; last.Through != upTo {
		t.Errorf("it went on through %s", last.Through)
	}
	whole, err := export.Export(t.Context(), &changing{Memory: src.Memory}, t.TempDir(), o)
	if err != nil || whole.Counts != done.Counts {
		t.Errorf("%v: %+v, want %+v", err, done.Counts, whole.Counts)
	}
	other := later
	other.Since = feed.Cursor{}
	if _, err := export.Export(t.Context(), &stopping{src, 20}, filepath.Join(out, "x"), o); !errors.Is(err, errStopped) {
		t.Fatal(err)
	}
	if _, err := export.Export(t.Context(), src, filepath.Join(out, "x"), other); !errors.Is(err, export.ErrForeign) || !strings.Contains(err.Error(), "holds the unfinished") {
		t.Errorf("everything, over an unfinished export of changes: %v", err)
	}
	if !slices.ContainsFunc(src.asked, func(q export.Query) bool { return q.Since == since }) {
		t.Error("no export of changes")
	}
}
