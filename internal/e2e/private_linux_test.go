package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// nobodyMasks runs a program without any umask, so that it alone decides who may
// read its files.
func nobodyMasks(t *testing.T, program string) string {
	return write(t, filepath.Join(t.TempDir(), "unmasked"), "#!/bin/sh\numask 000\nexec "+program+" \"$@\"\n")
}

// TestOtherUsersAreKeptOut: only its owner can read a data folder and everything in it,
// also one of an earlier recrawl, and whatever the umask.
func TestOtherUsersAreKeptOut(t *testing.T) {
	sideBySide(t, 10)
	s := serve(t, tree(3))
	data := filepath.Join(t.TempDir(), "data")
	unmasked := nobodyMasks(t, programs.starter)
	if err := os.Chmod(unmasked, 0o700); err != nil {
		t.Fatal(err)
	}
	d := &dev{t: t, data: data, program: unmasked, args: crawlArgs(s, "10ms")}
	d.start()
	d.await("the pages are visited", d.crawled("t", 3, 1))
	checkPrivate(t, data)
	if _, code, problem := d.starter("export", "t", "--format", "jsonl", filepath.Join(data, "exports")); code != 0 {
		t.Fatalf("export: %d: %s", code, problem)
	}
	d.stop()
	checkPrivate(t, data)
	loosen(t, data)
	d.start()
	d.await("the crawl goes on", d.crawled("t", 3, 1))
	checkPrivate(t, data)
	d.stop()
	checkPrivate(t, data)
}

// checkPrivate looks at a data folder as other users would.
func checkPrivate(t *testing.T, data string) {
	t.Helper()
	want := map[string]bool{"recrawl.db": true, "temporal.db": true, "recrawl.json": true, "temporal.log": true, "archive": true}
	entries, err := os.ReadDir(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append([]fs.DirEntry{nil}, entries...) {
		path, mode := data, fs.FileMode(0o700)
		if name != nil {
			path = filepath.Join(data, name.Name())
			delete(want, name.Name())
		}
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a database's log, which comes and goes
		}
		if err != nil {
			t.Fatal(err)
		}
		if !info.IsDir() {
			mode = 0o600
		}
		if got := info.Mode().Perm(); got != mode && !strings.HasSuffix(path, "/exports") {
			t.Errorf("%s has the permissions %o, want %o", path, got, mode)
		}
	}
	if len(want) > 0 {
		t.Errorf("%s lacks %v", data, want)
	}
}

// loosen gives a data folder the permissions that earlier recrawls left.
func loosen(t *testing.T, data string) {
	t.Helper()
	err := filepath.WalkDir(data, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if e.IsDir() {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// onTerminal runs a program with a terminal as its output.
func onTerminal(t *testing.T, env []string, program string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env, cmd.Stdout = env, terminal
	var problem bytes.Buffer
	cmd.Stderr = &problem
	err = cmd.Start()
	terminal.Close()
	if err != nil {
		t.Fatal(err)
	}
	shown, err := io.ReadAll(master)
	if err != nil && !errors.Is(err, syscall.EIO) { // the last who wrote is gone
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s %s: %v: %s", program, strings.Join(args, " "), err, &problem)
	}
	return string(shown)
}

// TestPagesDoNotReachTheTerminal: control sequences of a page do not reach a terminal, and
// a pipe gets the page byte for byte.
func TestPagesDoNotReachTheTerminal(t *testing.T) {
	sideBySide(t, 30)
	const evil = "<title>t\x1b]0;renamed\x07</title><p>hello \x1b[2J \x9b31m \u009b32m \x07\x08 world\r\n<p>\x1b]8;;http://attacker.example/\x1b\\here"
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, evil)
	}))
	d := startDev(t, filepath.Join(t.TempDir(), "data"), crawlArgs(s, "10ms")...)
	page := s.url + "/"
	d.await("the page is visited", d.crawled("t", 1, 1))
	if piped, code, problem := d.starter("show", page); code != 0 || piped != evil {
		t.Errorf("a pipe gets %q (%d, %s), want the page: %q", piped, code, problem, evil)
	}
	for _, env := range [][]string{nil, {"TERM=dumb"}, {"TERM=xterm-256color"}} {
		for _, args := range [][]string{
			{"show", page},
			{"show", page, "--text"},
			{"show", page, "--head"},
			{"show", page, "--output", "json"},
			{"history", page},
			{"history", page, "--versions"},
			{"history", page, "--versions", "--output", "json"},
			{"explain", page},
			{"pages", "t"},
			{"rejected", "t"},
			{"diff", page, "1", "1", "--html"},
		} {
			shown := onTerminal(t, append(cleanEnv(t), env...), programs.starter, append([]string{"--data", d.data}, args...)...)
			for _, obeyed := range []string{"\x1b", "\x9b3", "\u009b", "\x07", "\x08"} {
				if strings.Contains(shown, obeyed) {
					t.Errorf("%v starter %s shows %q: %.300q", env, strings.Join(args, " "), obeyed, shown)
				}
			}
			if args[0] == "show" && len(args) == 2 && !strings.Contains(shown, "hello") {
				t.Errorf("starter show shows %q", shown)
			}
		}
	}
	d.stop()
}
