package folder_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/export/source"
	"recrawl/internal/feed"
	"recrawl/internal/sink/folder"
	"recrawl/internal/sink/sinktest"
	"recrawl/internal/store"
	"recrawl/internal/store/storetest/crawltest"
)

// stored is a crawl in a real store and archive, and its folder.
type stored struct {
	*crawltest.Crawl
	t      *testing.T
	r      *rand.Rand
	cursor feed.Cursor
	seen   map[feed.Kind]int
	// decorated: some visits find a version that differs in decoration only, which is not
	// in the feed.
	decorated bool
	now       time.Time // of the folders
}

func (c *stored) check(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

func open(t *testing.T) *stored {
	t.Helper()
	c := &stored{Crawl: crawltest.New(t), t: t, r: rand.New(rand.NewPCG(21, 22)), seen: map[feed.Kind]int{}}
	ends, err := c.Store.FeedEnds(t.Context())
	c.check(err)
	c.cursor = ends.Newest
	return c
}

// visit makes the next visit of a page, of a random kind.
func (c *stored) visit(url string) {
	ctx := c.t.Context()
	p, ok := c.Find(store.NewURL{URL: url, Host: "host.test"})
	if !ok {
		return
	}
	v := store.VisitRecord{PageID: p.PageID, Visit: p.Visits + 1, Outcome: crawl.OutcomeUnchanged, State: crawl.Active}
	n := c.r.IntN(10)
	switch {
	case p.Visits == 0:
		v.Outcome = crawl.OutcomeNew
		c.version(v, 0)
	case n < 3:
		v.Outcome = crawl.OutcomeChanged
		c.version(v, 0)
	case n == 3 && c.decorated:
		v.Outcome = crawl.OutcomeCosmetic
		c.version(v, 0)
	case n == 4:
		if before, err := c.Store.EarlierVersions(ctx, p.PageID, 1); len(before) > 0 {
			c.check(err)
			v.Outcome = crawl.OutcomeReturned
			c.version(v, before[0].ID)
		}
	case n > 4 && n < 9:
		v = sinktest.Fruitless(v, n-5)
	}
	_, err := c.Store.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: v, Retention: store.Retention{Versions: 3, Visits: 4}})
	c.check(err)
}

// version makes a version, or makes the page return to an earlier one.
func (c *stored) version(v store.VisitRecord, back int64) {
	c.t.Helper()
	text := fmt.Sprintf("<html><title>Page %d</title><p>The words of page %d at visit %d, number %d.</p></html>", v.PageID, v.PageID, v.Visit, c.r.IntN(1e9))
	record := store.VersionRecord{PageID: v.PageID, Visit: v.Visit, Bytes: int64(len(text)), ContentType: "text/html; charset=utf-8", TextDigest: fmt.Sprint(c.r.Int()), Title: fmt.Sprint("Title ", v.Visit), Language: "en"}
	if c.r.IntN(8) > 0 { // else its body may not be kept
		record.Digest = archivetest.Put(c.t, c.Files, []byte(text))
	}
	_, err := c.Store.SaveVersion(c.t.Context(), store.SaveVersionParams{Version: record, BackTo: back})
	c.check(err)
}

// source reads the crawl, as the worker does for each delivery.
func (c *stored) source() *source.Source {
	c.t.Helper()
	src, err := source.New(c.Store, c.Files, c.Record)
	c.check(err)
	return src
}

// follow sends the feed's changes since the last call.
func (c *stored) follow(s *folder.Sender) {
	c.t.Helper()
	c.cursor = sinktest.Follow(c.t, c.Store, c.Record, c.cursor, func(e feed.Event) {
		c.seen[e.Kind]++
		c.check(s.Send(c.t.Context(), e))
	})
}

func read(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(name, ".recrawl/") || name == "index.jsonl" || name == "export.json" {
			return err
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The feed of a real store is enough: the folder ends up equal to a fresh export of the
// store and its archive, takedowns included.
func TestFollowsTheStore(t *testing.T) {
	t.Parallel()
	c := open(t)
	urls := exporttest.URLs()
	for range 60 { // before the sink is there
		c.visit(urls[c.r.IntN(len(urls))])
	}
	roots := map[string]string{}
	senders := map[export.Format]*folder.Sender{}
	ends, err := c.Store.FeedEnds(t.Context())
	c.check(err)
	c.cursor = ends.Newest
	for _, f := range folder.Formats() {
		roots[string(f)] = t.TempDir()
		senders[f], err = folder.New(crawl.SinkSpec{Kind: "folder", To: string(f), Format: string(f)}, roots,
			folder.Collection{Store: "s", Crawl: "news", Source: c.source(), Now: func() time.Time { return c.now }})
		c.check(err)
		for more := true; more; {
			more, err = senders[f].Fill(t.Context())
			c.check(err)
		}
	}
	for round := range 14 {
		c.decorated = round >= 8
		for range 15 {
			c.visit(urls[c.r.IntN(len(urls))])
		}
		_, err := c.Store.Forget(t.Context(), store.ForgetParams{Target: store.Target{URL: urls[round]}, Limit: 10})
		c.check(err)
		from := c.cursor
		for f, s := range senders {
			c.cursor = from
			c.follow(s)
			for more := c.decorated; more; {
				c.now = c.now.Add(24 * time.Hour)
				more, err = s.Fill(t.Context())
				c.check(err)
			}
			done, err := export.Export(t.Context(), c.source(), t.TempDir(), export.Options{Format: f, Crawl: "news", Now: time.Now().Add(time.Hour)})
			c.check(err)
			got, want := read(t, roots[string(f)]), read(t, done.Folder)
			if !maps.Equal(got, want) || len(want) == 0 {
				t.Fatalf("round %d, %s: the folder has %q,\nthe export %q", round, f, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
			}
		}
	}
	for _, k := range []feed.Kind{feed.PageNew, feed.PageChanged, feed.PageGone, feed.PageBack, feed.PageMoved, feed.PageExcluded, feed.PageForgotten} {
		if c.seen[k] == 0 {
			t.Errorf("no %s was seen", k)
		}
	}
}
