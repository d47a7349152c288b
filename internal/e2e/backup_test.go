//go:build unix

package e2e

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const backupPages = 15 // docs/backup.md counts them

// visitPlan is a page's next visit according to its workflow and to its row.
type visitPlan struct {
	Next     time.Time `json:"next_at"`
	Workflow struct {
		Doing string    `json:"doing"`
		Due   time.Time `json:"due"`
	} `json:"workflow"`
}

// addPlans adds the plans of a crawl's pages, by URL, up to the first page that does not
// sleep. Each takes a command, and a page that sleeps does so for long; so pages that are
// known to sleep are not asked again.
func addPlans(t *testing.T, all map[string]visitPlan, pages []pageLine, starter func(args ...string) string) {
	t.Helper()
	for _, page := range pages {
		if all[page.URL].Workflow.Doing == "sleeping" {
			continue
		}
		var p visitPlan
		if err := json.Unmarshal([]byte(starter("--output", "json", "explain", page.URL)), &p); err != nil {
			t.Fatal(err)
		}
		all[page.URL] = p
		if p.Workflow.Doing != "sleeping" {
			break
		}
	}
}

// asleep reports whether every page has a workflow that sleeps.
func asleep(all map[string]visitPlan) bool {
	for _, p := range all {
		if p.Workflow.Doing != "sleeping" {
			return false
		}
	}
	return len(all) == backupPages
}

// comparePlans checks that a restored crawl's pages are due when they were.
func comparePlans(t *testing.T, before, after map[string]visitPlan) {
	t.Helper()
	for url, was := range before {
		is := after[url]
		if was.Workflow.Due.IsZero() || !is.Workflow.Due.Equal(was.Workflow.Due) || !is.Next.Equal(was.Next) {
			t.Errorf("%s was due %s and is due %s; its next visit was %s and is %s", url, was.Workflow.Due, is.Workflow.Due, was.Next, is.Next)
		}
	}
}

// TestBackupPage runs the commands of docs/backup.md for one machine beside a crawl, loses
// everything except the backup, and continues from it.
func TestBackupPage(t *testing.T) {
	sideBySide(t, 70)
	s := serve(t, tree(backupPages))
	folder := t.TempDir()
	d := startDev(t, filepath.Join(folder, "data"), append([]string{s.url + "/", "--name", "t"}, crawlSettings("20ms")...)...)
	d.await("every page is visited", d.crawled("t", backupPages, 1))
	before := map[string]visitPlan{}
	d.await("every page sleeps", func() bool {
		addPlans(t, before, d.pages("t"), d.answer)
		return asleep(before)
	})
	env := append(cleanEnv(t), pathWith())
	runSteps(t, "docs/backup.md", section(t, "../../docs/backup.md", "## One machine", "## A cluster"), folder, env)
	if t.Failed() {
		return
	}
	d.killAll()
	if err := os.RemoveAll(filepath.Join(folder, "data")); err != nil {
		t.Fatal(err)
	}

	asked := len(s.requests())
	restored := startDev(t, filepath.Join(folder, "restored"))
	after := map[string]visitPlan{}
	restored.await("every page sleeps again", func() bool {
		addPlans(t, after, restored.pages("t"), restored.answer)
		return asleep(after)
	})
	comparePlans(t, before, after)
	if n := len(s.requests()); n != asked {
		t.Errorf("%d requests for pages that were not due", n-asked)
	}
	url := s.url + "/p7.html"
	restored.answer("visit", url)
	restored.await("the visits go on", func() bool { return len(restored.history(url)) == 2 })
	if h := restored.history(url); h[0].Visit != 2 || h[0].Outcome != "unchanged" {
		t.Errorf("%s: %+v, want its second visit, unchanged", url, h)
	}
	restored.stop()
}

// TestBackupPageOnPostgres runs the commands for a cluster, and starts workers on what
// they restore with an empty Temporal.
func TestBackupPageOnPostgres(t *testing.T) {
	sideBySide(t, 105)
	s := serve(t, tree(backupPages))
	f := startFleet(t, 1)
	f.starter(append([]string{"crawl", "t", s.url + "/"}, crawlSettings("20ms")...)...)
	list := func() []pageLine {
		return decodeLines[pageLine](t, f.starter("--output", "json", "pages", "t", "--limit", "0"))
	}
	before := map[string]visitPlan{}
	f.await("every page sleeps", func() bool {
		addPlans(t, before, list(), f.starter)
		return asleep(before)
	})
	folder := t.TempDir()
	store := strings.Replace(f.postgres.DSN(), "/postgres?", "/restored?", 1)
	env := append(append([]string{}, f.env...), pathWith(f.postgres.Bin()), "RESTORED_STORE="+store)
	steps := section(t, "../../docs/backup.md", "## A cluster", "## What a backup keeps of forgotten pages")
	runSteps(t, "docs/backup.md", steps, folder, env)
	if t.Failed() {
		return
	}

	f.workers[0].kill()
	f.temporal.kill()
	asked := len(s.requests())
	f.database = filepath.Join(t.TempDir(), "temporal.db")
	for up := false; !up; {
		f.address = net.JoinHostPort("127.0.0.1", freePort(t))
		f.startTemporal()
		up = f.temporalUp()
	}
	f.env = append(f.env, "RECRAWL_STORE="+store, "RECRAWL_ARCHIVE="+filepath.Join(folder, "restored"), "TEMPORAL_ADDRESS="+f.address)
	f.starter("adopt", "--yes")
	f.startWorker() // which starts the crawl
	after := map[string]visitPlan{}
	f.await("every page sleeps again", func() bool {
		addPlans(t, after, list(), f.starter)
		return asleep(after)
	})
	comparePlans(t, before, after)
	if n := len(s.requests()); n != asked {
		t.Errorf("%d requests for pages that were not due", n-asked)
	}
}
