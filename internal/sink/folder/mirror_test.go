package folder_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive/archivetest"
	"recrawl/internal/crawl"
	"recrawl/internal/export"
	"recrawl/internal/feed"
	"recrawl/internal/sink/folder"
	"recrawl/internal/store"
)

// sees records a visit to a page that finds a body, or that the page is elsewhere or gone.
func (c *stored) sees(url, body string, v store.VisitRecord) int64 {
	c.t.Helper()
	ctx := c.t.Context()
	p, ok := c.Find(store.NewURL{URL: url, Host: "host.test"})
	if !ok {
		c.t.Fatalf("%s is not taken", url)
	}
	v.PageID, v.Visit = p.PageID, p.Visits+1
	if body != "" {
		v.Outcome, v.State, v.Status = crawl.OutcomeChanged, crawl.Active, 200
		_, err := c.Store.SaveVersion(ctx, store.SaveVersionParams{Version: store.VersionRecord{
			PageID: v.PageID, Visit: v.Visit, Bytes: int64(len(body)), ContentType: "text/html; charset=utf-8", TextDigest: body,
			Digest: archivetest.Put(c.t, c.Files, []byte(body)),
		}})
		c.check(err)
	}
	_, err := c.Store.RecordVisit(ctx, store.RecordParams{Interval: time.Hour, Visit: v})
	c.check(err)
	return v.PageID
}

// A folder that is a mirror also ends up equal to a fresh export. Links to pages that come
// or go follow with the next look at all pages, which touches no file that is right.
func TestMirrorFollows(t *testing.T) {
	t.Parallel()
	c := open(t)
	root, now := t.TempDir(), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	s, err := folder.New(crawl.SinkSpec{Kind: "folder", To: "docs", Format: "mirror"}, map[string]string{"docs": root},
		folder.Collection{Store: "s", Crawl: "news", Source: c.source(), Now: func() time.Time { return now }})
	c.check(err)
	send := func(kind feed.Kind, page int64) {
		t.Helper()
		c.check(s.Send(t.Context(), feed.Event{Kind: kind, Crawl: "news", Page: &feed.EventPage{ID: page}}))
	}
	look := func(what string) map[string]string {
		t.Helper()
		now = now.Add(48 * time.Hour)
		for more := true; more; {
			more, err = s.Fill(t.Context())
			c.check(err)
		}
		done, err := export.Export(t.Context(), c.source(), t.TempDir(), export.Options{Format: export.Mirror, Crawl: "news", Now: time.Now().Add(time.Hour)})
		c.check(err)
		got, want := read(t, root), read(t, done.Folder)
		if !maps.Equal(got, want) || len(want) == 0 {
			t.Fatalf("%s: the folder has\n%q\nthe export\n%q", what, got, want)
		}
		return got
	}
	const home = "host.test/@index.html"
	c.sees("https://host.test/", `<a href="later">x</a> <a href="moved?">y</a><script>a()</script>`, store.VisitRecord{})
	c.sees("https://host.test/other", `<p>no links</p>`, store.VisitRecord{})
	if got := look("filled")[home]; !strings.Contains(got, `href="https://host.test/later"`) || strings.Contains(got, "script>") {
		t.Error(got)
	}
	other, err := os.Stat(filepath.Join(root, "host.test", "other", "@page.html"))
	c.check(err)
	later := c.sees("https://host.test/later", `<a href="/">home</a>`, store.VisitRecord{})
	c.sees("https://host.test/moved?", "", store.VisitRecord{Outcome: crawl.OutcomeRedirected, State: crawl.Redirect, Location: "/later"})
	send(feed.PageNew, later)
	if got := read(t, root)["host.test/later/@page.html"]; !strings.Contains(got, `href="../@index.html"`) {
		t.Error(got)
	}
	if got := look("a page came")[home]; !strings.Contains(got, `<a href="./later/@page.html">x</a> <a href="./later/@page.html">y</a>`) {
		t.Error(got)
	}
	c.sees("https://host.test/later", "", store.VisitRecord{Outcome: crawl.OutcomeGone, State: crawl.Gone, Status: 404})
	send(feed.PageGone, later)
	if got := look("a page went")[home]; !strings.Contains(got, `<a href="https://host.test/later">x</a> <a href="https://host.test/moved?">y</a>`) {
		t.Error(got)
	}
	same, err := os.Stat(filepath.Join(root, "host.test", "other", "@page.html"))
	if c.check(err); !os.SameFile(other, same) {
		t.Error("a page that was right was written again")
	}
}
