package e2e

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/testsite"
)

// setClock is a site's clock that a test sets.
type setClock struct{ since atomic.Int64 }

var setStart = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func (c *setClock) Now() time.Time                         { return setStart.Add(time.Duration(c.since.Load())) }
func (c *setClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// TestSecondLook crawls two pages that say "not found" with 200 OK: one for a while, the
// other for good. The first has not changed; the second has, once a second look has found
// the same.
func TestSecondLook(t *testing.T) {
	sideBySide(t, 35)
	soft := func(w testsite.Window) []testsite.Trouble { return []testsite.Trouble{{Status: 200, Window: w}} }
	clock := &setClock{}
	site := testsite.New(testsite.Options{Seed: 7, Clock: clock, Hosts: []testsite.Host{{Name: "soft.localhost", Pages: []testsite.Page{
		{Path: "/", Title: "Home", Links: []string{"/passing", "/gone"}},
		{Path: "/passing", Title: "Passing", ETag: true, Troubles: soft(testsite.Window{From: time.Hour, For: time.Hour})},
		{Path: "/gone", Title: "Gone", ETag: true, Troubles: soft(testsite.Window{From: time.Hour})},
	}}}})
	if err := site.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close() })
	root := site.URL("soft.localhost")
	args := append([]string{"--name", "t"}, crawlSettings("20ms")...)
	d := startDev(t, filepath.Join(t.TempDir(), "data"), append(args, "--default-interval", "24h", root)...)
	d.await("all pages are visited", d.crawled("t", 3, 1))
	outcomes := func(path string) string {
		var all []string
		for _, v := range d.history(root + path) {
			all = append([]string{v.Outcome}, all...)
		}
		return strings.Join(all, " ")
	}
	look := func(passing, gone string) {
		t.Helper()
		d.must("visit", root+"passing")
		d.must("visit", root+"gone")
		d.await("both pages are visited again", func() bool { return outcomes("passing") == passing && outcomes("gone") == gone })
	}

	clock.since.Store(int64(90 * time.Minute))
	look("new suspect", "new suspect")
	for _, path := range []string{"passing", "gone"} {
		visit := d.history(root + path)[0]
		if soon := visit.NextAt.Sub(visit.At); soon > 40*time.Minute {
			t.Errorf("/%s is looked at again after %s only", path, soon)
		}
		if why := strings.Join(visit.Reasons, ", "); !strings.Contains(why, `reads like an error or a wall ("page not found")`) {
			t.Errorf("/%s: %s", path, why)
		}
		if found := d.must("show", root+path, "--visit", "2"); !strings.Contains(found, "<h1>Page not found</h1>") {
			t.Errorf("visit 2 of /%s found %s", path, found)
		}
		if kept := d.must("show", root+path); strings.Contains(kept, "Page not found") {
			t.Errorf("the newest version of /%s is %s", path, kept)
		}
		if says := d.must("explain", root+path); !strings.Contains(says, "what visit 2 found counts if the next look finds such a thing, too") {
			t.Errorf("explain does not say so:\n%s", says)
		}
	}

	clock.since.Store(int64(150 * time.Minute))
	look("new suspect unchanged", "new suspect changed")
	if visit := d.history(root + "passing")[0]; visit.Status != 304 || !strings.Contains(strings.Join(visit.Reasons, ", "), "what visit 2 found is gone") {
		t.Errorf("/passing: %+v", visit)
	}
	if kept := d.must("show", root+"gone"); !strings.Contains(kept, "<h1>Page not found</h1>") {
		t.Errorf("the newest version of /gone is %s", kept)
	}
	if status := d.must("status", "t"); !strings.Contains(status, "2 suspect") && !strings.Contains(status, "suspect 2") {
		t.Errorf("status does not count them:\n%s", status)
	}
	d.stop()
}
