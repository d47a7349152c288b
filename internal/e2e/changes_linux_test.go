package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

// restlessSite has pages with another text at each request. Now and then one is gone, or
// redirects elsewhere.
func restlessSite(t *testing.T, pages int) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>Home</title><main><h1>Home</h1><p>All that is here, and nothing else.")
		for i := range pages {
			fmt.Fprintf(w, "<p><a href=/p%d>The page of %s</a>", i, word(i))
		}
	})
	for i := range pages {
		var requests atomic.Int64
		mux.HandleFunc(fmt.Sprintf("/p%d", i), func(w http.ResponseWriter, r *http.Request) {
			switch n := int(requests.Add(1)); {
			case i%4 == 1 && n%3 == 2:
				http.NotFound(w, r)
			case i%4 == 2 && n%3 == 2:
				http.Redirect(w, r, "/p0", http.StatusMovedPermanently)
			default:
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				fmt.Fprintf(w, "<!doctype html><title>%s</title><main><h1>%s</h1><p>This page speaks of %s today, and of much else besides.</main>", word(i), word(i), word(n*pages+i))
			}
		})
	}
	return serve(t, mux).url
}

// word returns a different word for each number.
func word(n int) string {
	var b strings.Builder
	for n += 100; n > 0; n /= 20 {
		b.WriteString([]string{"ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "va", "we", "xi", "yo", "zu"}[n%20])
	}
	return b.String()
}

// copiedPage is a page as consumers keep it.
type copiedPage struct {
	URL     string `json:"url"`
	State   string `json:"state"`
	Version int    `json:"version"`
	SHA256  string `json:"sha256"`
}

// changesLine is a line of `starter changes --output json`.
type changesLine struct {
	Kind, Cursor string
	Page         *struct {
		ID         int64
		URL, State string
	}
	Version struct {
		Seq    int
		SHA256 string
	}
}

// changesCopy is a copy kept up to date by lines of changes, with the last cursor and that
// of the last event.
type changesCopy struct {
	pages         map[int64]copiedPage
	cursor, event string
	kinds         map[string]int
}

func (c *changesCopy) apply(lines []changesLine) {
	for _, l := range lines {
		c.kinds[l.Kind]++
		if l.Cursor != "" {
			c.cursor = l.Cursor
			if l.Kind != "cursor" {
				c.event = l.Cursor
			}
		}
		if l.Page == nil {
			continue
		}
		c.pages[l.Page.ID] = copiedPage{l.Page.URL, l.Page.State, l.Version.Seq, l.Version.SHA256}
	}
}

func newCopy() *changesCopy {
	return &changesCopy{pages: map[int64]copiedPage{}, kinds: map[string]int{}}
}

// consumer is an example that keeps a copy.
type consumer struct {
	name string
	args []string
	// place returns its cursor, "" if it has none, and pages its pages.
	place func() string
	pages func() map[int64]copiedPage
}

// startGroup starts a program as the leader of a process group, and returns a function that
// kills the whole group with kill -9.
func startGroup(t *testing.T, env []string, out *syncBuffer, args ...string) (kill func()) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stderr = env, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	kill = func() {
		once.Do(func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); cmd.Wait() })
	}
	t.Cleanup(kill)
	return kill
}

// consumers are the examples of docs/changes.md.
func consumers(t *testing.T, programs, root string) []consumer {
	t.Helper()
	base := filepath.Join(t.TempDir(), "base.db")
	folder := filepath.Join(t.TempDir(), "copy")
	// query reads the copy while the example may be writing it, or has not made it yet.
	query := func(read func(*sql.DB) error) {
		db, err := sql.Open("sqlite", base+"?_pragma=busy_timeout(60000)")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := read(db); err != nil && !errors.Is(err, sql.ErrNoRows) && !strings.Contains(err.Error(), "no such table") {
			t.Fatal(err)
		}
	}
	return []consumer{
		{
			"mirror",
			[]string{filepath.Join(programs, "mirror"), "t", base},
			func() (cursor string) {
				query(func(db *sql.DB) error { return db.QueryRow(`SELECT cursor FROM place`).Scan(&cursor) })
				return cursor
			},
			func() map[int64]copiedPage {
				all := map[int64]copiedPage{}
				query(func(db *sql.DB) error {
					rows, err := db.Query(`SELECT id, url, state, version, sha256 FROM pages`)
					if err != nil {
						return err
					}
					defer rows.Close()
					for rows.Next() {
						var id int64
						var p copiedPage
						if err := rows.Scan(&id, &p.URL, &p.State, &p.Version, &p.SHA256); err != nil {
							return err
						}
						all[id] = p
					}
					return rows.Err()
				})
				return all
			},
		},
		{
			"mirror.sh",
			[]string{filepath.Join(root, "examples", "mirror.sh"), "t", folder},
			func() string {
				text, _ := os.ReadFile(filepath.Join(folder, "cursor"))
				return strings.TrimSpace(string(text))
			},
			func() map[int64]copiedPage {
				all := map[int64]copiedPage{}
				files, _ := filepath.Glob(filepath.Join(folder, "pages", "*.json"))
				for _, name := range files {
					var id int64
					var p copiedPage
					text, err := os.ReadFile(name)
					if err == nil {
						err = json.Unmarshal(text, &p)
					}
					if _, scanErr := fmt.Sscanf(filepath.Base(name), "%d.json", &id); err != nil || scanErr != nil {
						t.Fatalf("%s: %v, %v", name, err, scanErr)
					}
					all[id] = p
				}
				return all
			},
		},
	}
}

// mirrorProgram builds the example of that name into the folder that it returns.
func mirrorProgram(t *testing.T, root string) string {
	t.Helper()
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin+"/", "./examples/mirror")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return bin
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestConsumersFail: an example that cannot keep a change, as on a full disk, does not write the
// cursor behind it, and says that it failed; so it does where starter failed.
func TestConsumersFail(t *testing.T) {
	sideBySide(t, 3)
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	bin, folder := mirrorProgram(t, root), t.TempDir()
	script := filepath.Join(root, "examples", "mirror.sh")
	env := append(cleanEnv(t), "PATH="+bin+":"+os.Getenv("PATH"))
	starter := func(text string) {
		if err := os.WriteFile(filepath.Join(bin, "starter"), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	starter(`echo '{"page":{"id":7,"url":"http://a.test/","state":"active"},"version":{"seq":1},"cursor":"c1.a.1"}'
echo '{"page":{"id":8,"url":"http://b.test/","state":"active"},"version":{"seq":1},"cursor":"c1.a.2"}'
`)
	cursor := write(t, filepath.Join(folder, "cursor"), "c1.a.0\n")
	if err := os.MkdirAll(filepath.Join(folder, "pages", "7.json.new"), 0o755); err != nil { // where the page is written first
		t.Fatal(err)
	}
	_, code, said := runEnv(t, env, script, "t", folder)
	if at := readText(t, cursor); code == 0 || at != "c1.a.0\n" {
		t.Errorf("a page that cannot be kept: exit code %d, the cursor %q: %s", code, at, said)
	}
	starter("exit 3\n")
	_, asks, _ := strings.Cut(readText(t, filepath.Join(root, "docs", "changes.md")), "```sh\n")
	asks, _, _ = strings.Cut(asks, "```")
	_, code, said = runEnv(t, env, "sh", "-c", "cd "+folder+"\n"+asks)
	if at := readText(t, cursor); code != 3 || at != "c1.a.0\n" {
		t.Errorf("the script of docs/changes.md: exit code %d, the cursor %q: %s", code, at, said)
	}
	for _, args := range [][]string{{script, "t", folder}, {filepath.Join(bin, "mirror"), "t", filepath.Join(folder, "copy.db")}} {
		if _, code, said := runEnv(t, env, args[0], args[1:]...); code != 3 {
			t.Errorf("%s: starter failed with 3, and the example with %d: %s", args[0], code, said)
		}
	}
}

// TestConsumersOfChanges: a consumer that takes a snapshot of a busy crawl and follows its
// changes ends up with the current pages; so do the examples of docs/changes.md, which are
// killed again and again meanwhile.
func TestConsumersOfChanges(t *testing.T) {
	sideBySide(t, 130)
	if _, err := exec.LookPath("jq"); err != nil {
		t.Fatal("jq is missing: run .ci/need-packages, or install jq")
	}
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	bin := mirrorProgram(t, root)
	url := restlessSite(t, 30)
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, append(append([]string{"--name", "t"}, crawlSettings("20ms")...), "--default-interval", "1s", url+"/")...)
	env := append(cleanEnv(t), "RECRAWL_DATA="+data)
	for i, v := range env {
		if strings.HasPrefix(v, "PATH=") {
			env[i] = "PATH=" + filepath.Dir(programs.starter) + ":" + strings.TrimPrefix(v, "PATH=")
		}
	}
	visits := func() (n int) {
		for _, p := range d.pages("t") {
			n += p.Visits
		}
		return n
	}
	d.await("the crawl is under way", func() bool { return visits() > 10 })

	follower := exec.Command(programs.starter, "changes", "t", "--snapshot", "--follow", "--output", "json")
	var lines, trouble syncBuffer
	follower.Env, follower.Stdout, follower.Stderr = env, &lines, &trouble
	if err := follower.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { follower.Process.Kill() })

	examples := consumers(t, bin, root)
	for _, c := range examples {
		d.killAgainAndAgain(c, env)
	}
	seen := visits()
	d.await("every page is visited again", func() bool { return visits() > seen+60 })
	d.stop()

	// At rest.
	changes := func(args ...string) []changesLine {
		t.Helper()
		out, code, errout := runEnv(t, env, programs.starter, append([]string{"changes", "t", "--output", "json"}, args...)...)
		if code != 0 {
			t.Fatalf("changes %v: %d, %s", args, code, errout)
		}
		return decodeLines[changesLine](t, out)
	}
	there, history := newCopy(), newCopy()
	there.apply(changes("--snapshot"))
	history.apply(changes())
	for _, kind := range []string{"page.new", "page.changed", "page.gone", "page.moved"} {
		if history.kinds[kind] == 0 {
			t.Errorf("no %s in %v", kind, history.kinds)
		}
	}
	compareCopies(t, "all changes", history.pages, there.pages)

	follower.Process.Signal(syscall.SIGTERM)
	if err := follower.Wait(); err != nil {
		t.Errorf("the follower ended with %v: %s", err, &trouble)
	}
	followed := newCopy()
	followed.apply(decodeLines[changesLine](t, lines.String()))
	followed.apply(changes("--after", followed.cursor))
	compareCopies(t, "snapshot and follow", followed.pages, there.pages)

	for _, c := range examples {
		var out syncBuffer
		kill := startGroup(t, env, &out, c.args...)
		d := &dev{t: t, out: &out}
		d.await(c.name+" has read all", func() bool { return c.place() == history.cursor || c.place() == history.event })
		kill()
		compareCopies(t, c.name, c.pages(), there.pages)
	}
}

// killAgainAndAgain starts an example and kills it as soon as it has made progress.
func (d *dev) killAgainAndAgain(c consumer, env []string) {
	for i := range 8 {
		var out syncBuffer
		kill := startGroup(d.t, env, &out, c.args...)
		before := c.place()
		d.awaitEvery(time.Millisecond, fmt.Sprintf("%s gets on, start %d: %s", c.name, i, &out), func() bool { return c.place() != before })
		kill()
	}
}

func compareCopies(t *testing.T, name string, got, want map[int64]copiedPage) {
	t.Helper()
	if len(want) < 30 {
		t.Errorf("only %d pages", len(want))
	}
	if maps.Equal(got, want) {
		return
	}
	var b bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] != want[id] {
			fmt.Fprintf(&b, "page %d is %+v, and the copy has %+v\n", id, want[id], got[id])
		}
	}
	t.Errorf("%s: %d pages, there are %d\n%s", name, len(got), len(want), &b)
}
