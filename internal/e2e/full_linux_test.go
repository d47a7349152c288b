package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// envSmallDisk marks a test binary that may mount a small disk.
const envSmallDisk = "RECRAWL_TEST_SMALL_DISK"

// smallDisk mounts a file system of a size. Without root it runs the test again in a user
// namespace of its own, where it is root. Then done reports that the test has run.
func smallDisk(t *testing.T, size int64) (folder string, done bool) {
	t.Helper()
	if os.Geteuid() != 0 && os.Getenv(envSmallDisk) == "" {
		runInNamespace(t)
		return "", true
	}
	folder = t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Fatalf("mount a small disk: %v: this test needs root, or user namespaces", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return folder, false
}

func runInNamespace(t *testing.T) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), envSmallDisk+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("in a user namespace: %v\n%s", err, out)
	}
	if !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in a user namespace it did not run: %s", out)
	}
}

// ballast takes room on a disk until free bytes are left; 0 takes all.
func ballast(t *testing.T, folder string, free int64) (remove func()) {
	t.Helper()
	path := filepath.Join(folder, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<10)
	for {
		var fs syscall.Statfs_t
		if err := syscall.Statfs(folder, &fs); err != nil {
			t.Fatal(err)
		}
		left := int64(fs.Bavail)*fs.Bsize - free
		if left <= 0 {
			break
		}
		if _, err := f.Write(block[:min(int64(len(block)), left)]); errors.Is(err, syscall.ENOSPC) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

// moving is a site of n pages that link to each other and are new at each visit, in
// some kilobytes that cannot be compressed.
func moving(n int) http.Handler {
	var serial atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<html><title>%d</title><p>", serial.Add(1))
		for i := range n {
			fmt.Fprintf(w, `<a href="/p%d">%d</a> `, i, i)
		}
		for i := range 200 {
			sum := sha256.Sum256([]byte(strconv.FormatInt(serial.Load()*1000+int64(i), 10)))
			fmt.Fprintf(w, "<p>%s", hex.EncodeToString(sum[:]))
		}
	})
}

// TestFullDisk crawls on a disk that others fill: the worker makes no request while
// less room than the reserve is left, says so, and goes on by itself. No visit is
// lost, and none is made twice.
func TestFullDisk(t *testing.T) {
	sideBySide(t, 35)
	disk, done := smallDisk(t, 160<<20)
	if done {
		return
	}
	const pages = 12
	s := serve(t, moving(pages))
	d := startDevEnv(t, filepath.Join(disk, "data"), []string{"RECRAWL_RESERVE=32MiB"},
		crawlArgs(s, "10ms", "--default-interval", "1s")...)
	d.await("every page is visited", d.crawled("t", pages+1, 1))

	remove := ballast(t, disk, 24<<20)
	d.held("no room")
	d.await("all that was asked for is recorded", func() bool { return d.recorded() == asked(s) })
	d.noRequests(s, pages+1)
	if n := strings.Count(d.out.String(), "no room"); n != 1 {
		t.Errorf("the log says %d times that there is no room: %s", n, d.out)
	}
	remove()
	d.visitsAgain(pages + 1)

	// Now at once to the last byte: what is in progress cannot be kept, and Temporal, on
	// the same disk, cannot keep its result.
	remove = ballast(t, disk, 0)
	d.held("no room")
	d.await("the worker says so too", func() bool { return strings.Count(d.out.String(), "no request is made until") == 2 })
	d.noRequests(s, pages+1)
	remove()
	d.visitsAgain(pages + 1)
	if out, code, errout := d.starter("pause", "t"); code != 0 {
		t.Fatalf("pause: %d: %s%s", code, out, errout)
	}
	// One request for each page may have been in progress when the last byte was taken.
	d.await("what was asked for is recorded", func() bool {
		for _, p := range d.pages("t") {
			if lost := s.count(strings.TrimPrefix(p.URL, s.url)) - p.Visits; lost < 0 || lost > 1 {
				return false
			}
		}
		return true
	})
	d.stop()
	for url, visits := range d.stored("t") {
		for i, v := range visits {
			if want := len(visits) - i; v.Visit != want {
				t.Errorf("visit %d of %s is where visit %d should be", v.Visit, url, want)
			}
			if v.Outcome == "failed" {
				t.Errorf("visit %d of %s failed: that was the disk's fault", v.Visit, url)
			}
		}
	}
}

// recorded returns the number of visits.
func (d *dev) recorded() int {
	d.t.Helper()
	n := 0
	for _, p := range d.pages("t") {
		n += p.Visits
	}
	return n
}

// asked returns the number of requested pages, also of those that are not answered yet.
func asked(s *site) int { return int(s.begun.Load()) - s.count("/robots.txt") }

// held waits until status says why workers are held.
func (d *dev) held(why string) {
	d.t.Helper()
	d.await("status says "+why, func() bool {
		out, code, _ := d.starter("status")
		return code == 0 && strings.Contains(out, why)
	})
}

// noRequests watches until all pages are late and sees that none is requested, except one
// that may have been on its way. Some of them may stand in the host's line.
func (d *dev) noRequests(s *site, pages int) {
	d.t.Helper()
	const late = time.Second + 15*time.Second // the interval, and how late they must be
	before := s.begun.Load()
	d.await("the pages are late", func() bool {
		visits := d.stored("t")
		for _, v := range visits {
			if time.Since(v[0].At) < late {
				return false
			}
		}
		return len(visits) == pages
	})
	if n := s.begun.Load() - before; n > 1 {
		d.t.Errorf("%d requests while there was no room", n)
	}
}

// visitsAgain waits until every page has been visited again and status has nothing to say
// of room.
func (d *dev) visitsAgain(pages int) {
	d.t.Helper()
	at := time.Now()
	d.await("all pages are visited again", func() bool {
		all := d.pages("t")
		visits := d.stored("t")
		for _, p := range all {
			if v := visits[p.URL]; len(v) == 0 || v[0].At.Before(at) {
				return false
			}
		}
		return len(all) >= pages
	})
	d.await("status is content", func() bool {
		out, code, _ := d.starter("status")
		return code == 0 && !strings.Contains(out, "no room")
	})
}
