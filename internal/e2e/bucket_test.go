//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"recrawl/internal/archive/s3/s3test"
)

// TestArchiveInABucket crawls into a bucket, with its server down for a while: then no page
// is requested, and none fails. Damaged objects are found, unknown ones are deleted, and
// forgotten ones are gone.
func TestArchiveInABucket(t *testing.T) {
	sideBySide(t, 85)
	const pages = 15
	s := serve(t, tree(pages))
	server := s3test.Start(t)
	bucket := server.Bucket()
	f := startFleet(t, 0)
	f.env = append(f.env, "RECRAWL_ARCHIVE="+server.URL(bucket, "pages"),
		"AWS_ACCESS_KEY_ID="+s3test.AccessKey, "AWS_SECRET_ACCESS_KEY="+s3test.SecretKey)
	f.startWorker()
	f.starter(append([]string{"crawl", "t", s.url + "/"}, crawlSettings("300ms")...)...)
	f.await("the crawl begins", func() bool { return len(s.requests()) > 4 })
	server.Kill()
	// A page in progress may be requested in vain, and so may one that finds the archive
	// down.
	most := len(s.requests()) + 2
	f.await("the worker has noticed", func() bool { return strings.Contains(f.output().String(), "archive unavailable") })
	if n := len(s.requests()); n > most {
		t.Errorf("%d pages were asked for that could not be kept", n-most)
	}
	server.Restart()
	f.await("every page is kept", func() bool {
		out, code, _ := f.try(programs.starter, "archive", "verify", "--output", "json")
		return code == 0 && strings.Contains(out, `"contents":15,`)
	})
	if out := f.starter("pages", "t", "--state", "failing"); strings.Contains(out, s.url) {
		t.Errorf("pages fail for want of an archive: %s", out)
	}

	damaged, page := f.digest(t, s.url+"/p3.html"), s.url+"/p3.html"
	root := filepath.Join(server.Root(), bucket, "pages")
	if err := os.WriteFile(only(t, archived(t, root, damaged)), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, code, errout := f.try(programs.starter, "archive", "verify")
	if code != 1 || !strings.Contains(out, "corrupt "+damaged+" of "+page) || !strings.Contains(errout, "1 of 15 contents") {
		t.Errorf("verify of a damaged content: %d: %s%s", code, out, errout)
	}

	orphan := strings.Repeat("a", 64)
	file := filepath.Join(root, "aa", "aa", orphan+".raw")
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte("lost"), 0o600)
	}
	old := time.Now().Add(-25 * time.Hour)
	if err == nil {
		err = os.Chtimes(file, old, old)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := f.starter("archive", "gc"); !strings.HasPrefix(out, "deleted 1 content that no version has, 4 B") {
		t.Errorf("gc: %s", out)
	}
	f.starter("forget", page, "--yes")
	for _, digest := range []string{orphan, damaged} {
		if left := archived(t, root, digest); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	f.starter("archive", "verify")
	for place, want := range map[string]string{
		filepath.Join(root, "nowhere"):                   "there is no archive at " + root,
		server.URL("no-such-bucket", ""):                 "there is no such bucket",
		"s3://" + s3test.SecretKey + "@" + bucket + "/x": "credentials",
		"ftp://pages": "s3://BUCKET/PREFIX",
	} {
		out, code, errout := f.try(programs.starter, "archive", "gc", "--archive", place)
		if code != 1 || out != "" || strings.Count(errout, "\n") != 1 || !strings.Contains(errout, want) || strings.Contains(errout, s3test.SecretKey) {
			t.Errorf("gc of %s: %d: %s%s, want %q", place, code, out, errout, want)
		}
	}
}

// digest returns the digest of a page's last visit.
func (f *fleet) digest(t *testing.T, url string) string {
	t.Helper()
	first, _, _ := strings.Cut(f.starter("--output", "json", "history", url), "\n")
	var v visitLine
	if err := json.Unmarshal([]byte(first), &v); err != nil {
		t.Fatal(err)
	}
	return v.Digest
}

// only returns the one element.
func only(t *testing.T, all []string) string {
	t.Helper()
	if len(all) != 1 {
		t.Fatalf("%v, want one", all)
	}
	return all[0]
}
