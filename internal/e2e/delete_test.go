package e2e

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// files counts the files below a folder.
func files(t *testing.T, folder string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestDeleteCrawl: a crawl is deleted beside another while both run, also when the command
// is killed. Nothing revives it, the other crawl keeps the shared contents, and the name is
// free.
func TestDeleteCrawl(t *testing.T) {
	sideBySide(t, 90)
	const n = 40
	s := serve(t, tree(n))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "5ms")...)
	d.must(append([]string{"crawl", "other", s.url + "/"}, crawlSettings("5ms")...)...)
	d.await("both crawls are whole", func() bool { return d.crawled("t", n, 1)() && d.crawled("other", n, 1)() })
	contents := files(t, filepath.Join(d.data, "archive"))
	if out := d.must("delete", "t"); !strings.Contains(out, "would delete crawl t") || d.running("t") == 0 {
		t.Errorf("without --yes: %q, %d workflows run", out, d.running("t"))
	}
	killed := startProcess(t, cleanEnv(t), programs.starter, "--data", d.data, "delete", "t", "--yes")
	d.await("the deletion has begun", func() bool {
		select {
		case <-killed.done: // it was faster, or the machine too busy for it
			return true
		default:
		}
		_, code, errout := d.starter("crawl", "t", s.url+"/p1.html", "--max-pages", "1000")
		return code != 0 && strings.Contains(errout, "is being deleted") || d.running("t") < n
	})
	killed.kill()

	out, code, errout := d.starter("delete", "t", "--yes")
	if code == 3 { // the first one was quicker than the kill
		t.Logf("deleted before the kill: %s", errout)
	} else if code != 0 || !strings.Contains(out, "deleted crawl t") {
		t.Fatalf("delete: %d %q %q", code, out, errout)
	}
	if _, code, _ := d.starter("status", "t"); code != 3 {
		t.Errorf("status of the deleted crawl: %d", code)
	}
	d.await("no workflow of it is left, running or closed", func() bool {
		return strings.TrimSpace(d.temporal("workflow", "list", "--query", "WorkflowId STARTS_WITH 'page/t/' OR WorkflowId = 'crawl/t'", "--output", "jsonl")) == ""
	})
	if got := files(t, filepath.Join(d.data, "archive")); got != contents {
		t.Errorf("%d contents, want the %d that the other crawl has", got, contents)
	}
	checkVerified(d)
	d.must(append([]string{"crawl", "t", s.url + "/"}, crawlSettings("5ms")...)...)
	d.await("a new crawl of the name is whole", d.crawled("t", n, 1))
	d.must("delete", "t", "--yes")
	out = d.must("delete", "other", "--yes")
	if got := files(t, filepath.Join(d.data, "archive")); got != 0 {
		t.Errorf("%d contents are left of no crawl: %s", got, out)
	}
	d.stop()
}

// checkVerified asserts that every content that a version has is in the archive.
func checkVerified(d *dev) {
	d.t.Helper()
	if out := d.must("archive", "verify"); strings.Contains(out, "missing:") {
		d.t.Errorf("archive verify says %q", out)
	}
}
