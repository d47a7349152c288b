//go:build unix

package e2e

import (
	"fmt"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// faultTold is the time within which status must name a fault. It is asserted in the long
// form, which has the machine to itself.
const faultTold = time.Minute

// isTold waits until status names a fault that has just been made.
func (o operator) isTold(fault string) {
	o.t.Helper()
	began := time.Now()
	o.awaitSays(fault, "status", "t")
	if took := time.Since(began); took > faultTold && long() {
		o.t.Errorf("status named this after %s: %s", took, fault)
	}
}

// terminatePages terminates the workflows of pages.
func (o operator) terminatePages(urls []string) {
	o.t.Helper()
	for _, url := range urls {
		o.temporal("workflow", "terminate", "--workflow-id", "page/t/"+url, "--reason", "a mistake")
	}
}

// terminated is how many pages are terminated by mistake.
func terminated() int {
	if long() {
		return 20
	}
	return 5
}

// TestBadWeek continues a crawl of the last release, and then makes one mistake after
// another: a worker with another store, a crawl and some of its pages that are terminated, a
// page that no worker can continue, and a lost data folder. Status names each, and nothing
// is missing afterwards.
func TestBadWeek(t *testing.T) {
	waitsBeside(t, 215)
	files, err := filepath.Glob(releases)
	if err != nil || len(files) == 0 {
		t.Fatalf("no data folder of a release: %v", err)
	}
	s := serve(t, releaseWeb())
	folder := t.TempDir()
	d := &dev{t: t, data: filepath.Join(folder, "data"), env: releaseEnv(s)}
	unpack(t, files[len(files)-1], d.data)
	before := recorded(t, filepath.Join(d.data, "recrawl.db"))
	d.start() // the upgrade
	o := d.operator()
	d.await("every page is known", d.crawled("t", releasePages, 1))
	victims, wedged := make([]string, terminated()), releaseSite+"/p26.html"
	for i := range victims {
		victims[i] = fmt.Sprintf("%s/p%d.html", releaseSite, i+6)
	}
	hurt := append(slices.Clone(victims), wedged)
	d.await("every page that is to suffer was visited since", func() bool { return slices.Min(s.asked(hurt)) > 0 })
	asked := s.asked(hurt)

	strangers := workersOf(t, d.state().Address)
	stranger := strangers.start("sqlite:" + filepath.Join(folder, "stranger.db"))
	strangers.await(stranger, idle)
	o.isTold("has another store, ")
	stranger.kill()

	o.temporal("workflow", "terminate", "--workflow-id", "crawl/t", "--reason", "a mistake")
	o.isTold("workflow: it was terminated and was started anew")
	o.terminatePages(victims)
	o.isTold(fmt.Sprintf("pages: workflows that ended in the last hour: %d terminated; all run again", len(victims)))
	d.await("every page has its workflow", func() bool { return d.running("t") == releasePages })

	d.stop()
	d.wedge("page/t/" + wedged)
	d.start()
	// The program that wedged it took tasks of other pages, too, and failed them: on a busy
	// machine so often that more than one is stuck.
	o.isTold(" stuck (")
	if now := s.asked(hurt); !slices.Equal(now, asked) {
		t.Errorf("pages were asked for before they were due: %d requests for each, before the mistakes %d", now, asked)
	}
	d.visitAll(hurt)

	kept := filepath.Join(folder, "kept")
	d.answer("backup", kept)
	d.killAll()
	d.data = filepath.Join(folder, "restored")
	d.answer("restore", kept)
	saved := recorded(t, filepath.Join(d.data, "recrawl.db"))
	d.start()
	d.await("every page has its workflow", func() bool { return d.running("t") == releasePages })
	d.visitAll(hurt)
	for i, n := range s.asked(hurt) {
		if n != asked[i]+2 {
			t.Errorf("%s was asked for %d times, and twice by somebody; want %d", hurt[i], n, asked[i]+2)
		}
	}
	d.answer("archive", "verify")
	d.stop()
	after := recorded(t, filepath.Join(d.data, "recrawl.db"))
	keeps(t, before, after)
	keeps(t, saved, after)
	if len(after) != releasePages {
		t.Errorf("%d pages, want %d", len(after), releasePages)
	}
	s.checkPolite(t, releaseGap)
}

// asked counts the requests for pages of the recorded crawl's site.
func (s *site) asked(urls []string) []int {
	counts := make([]int, len(urls))
	for _, r := range s.requests() {
		if i := slices.Index(urls, releaseSite+r.path); i >= 0 {
			counts[i]++
		}
	}
	return counts
}

// visitAll asks for a visit of each page and waits until all have one more.
func (d *dev) visitAll(urls []string) {
	d.t.Helper()
	before := d.stored("t")
	for _, url := range urls {
		d.answer("visit", url)
	}
	d.await("the pages are visited", func() bool {
		now := d.stored("t")
		return !slices.ContainsFunc(urls, func(url string) bool { return len(now[url]) <= len(before[url]) })
	})
}

// wedge wedges a workflow of a data folder that nobody uses.
func (d *dev) wedge(id string) {
	d.t.Helper()
	f := &fleet{t: d.t, database: filepath.Join(d.data, "temporal.db")}
	for up := false; !up; {
		f.address = net.JoinHostPort("127.0.0.1", freePort(d.t))
		f.startTemporal()
		up = f.temporalUp()
	}
	wedge(d.t, f.address, id)
	f.temporal.kill()
}

// keeps asserts that the visits of before are still the first ones.
func keeps(t *testing.T, before, after map[string][]string) {
	t.Helper()
	for _, url := range slices.Sorted(maps.Keys(before)) {
		if n := len(before[url]); len(after[url]) < n || !slices.Equal(before[url], after[url][:n]) {
			t.Errorf("%s: before %v, now %v", url, before[url], after[url])
		}
	}
}
