package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"recrawl/internal/testsite"
)

const (
	hookSecret = "whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdCBvZiBhbGwgc2lua3M="
	hookPath   = "/hooks/an-address-that-nobody-guesses"
	sinkPages  = 5 // of each host, beside its home
	sinkHosts  = 3
	hookWords  = "not now, and your secret is "
)

// hookTry is a request that came to a webhook, and the status of its answer: 0 for none.
type hookTry struct {
	id, page  string
	timestamp string
	status    int
}

// hookEvent is the part of an event that the test reads.
type hookEvent struct {
	ID, Kind string
	Page     struct{ URL string }
}

// hook is the receiver of a webhook. It checks all signatures by the reference library.
type hook struct {
	t *testing.T
	*site
	verifier *standardwebhooks.Webhook

	mu     sync.Mutex
	answer func(page string) int // 0 waits until the sender is gone
	tries  []hookTry
}

func startHook(t *testing.T) *hook {
	t.Helper()
	verifier, err := standardwebhooks.NewWebhook(hookSecret)
	if err != nil {
		t.Fatal(err)
	}
	h := &hook{t: t, verifier: verifier}
	h.site = serve(t, http.HandlerFunc(h.receive))
	return h
}

func (h *hook) receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender was killed
	}
	var e hookEvent
	if err := json.Unmarshal(body, &e); err != nil {
		h.t.Errorf("%v: %s", err, body)
	}
	if err := h.verifier.Verify(body, r.Header); err != nil {
		h.t.Errorf("the signature of %s: %v", e.ID, err)
	}
	id := r.Header.Get("webhook-id")
	if r.URL.Path != hookPath || id != e.ID {
		h.t.Errorf("%s came to %s in a request of the id %q", e.ID, r.URL, id)
	}
	if !strings.HasPrefix(id, "test.") && e.Kind != "page.new" {
		h.t.Errorf("a %s came", e.Kind)
	}
	h.mu.Lock()
	status := h.answer(e.Page.URL)
	h.tries = append(h.tries, hookTry{id, e.Page.URL, r.Header.Get("webhook-timestamp"), status})
	h.mu.Unlock()
	switch status {
	case 0:
		<-r.Context().Done()
	case http.StatusNoContent:
		w.WriteHeader(status)
	default:
		w.WriteHeader(status)
		fmt.Fprint(w, hookWords, hookSecret)
	}
}

// answers sets its answers from now on.
func (h *hook) answers(answer func(page string) int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answer = answer
}

func (h *hook) all() []hookTry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.tries)
}

// taken returns the ids that it accepted, or read and did not answer, in their order and
// each once.
func (h *hook) taken() (ids []string) {
	for _, try := range h.all() {
		if (try.status == 0 || try.status == http.StatusNoContent) && !slices.Contains(ids, try.id) && !strings.HasPrefix(try.id, "test.") {
			ids = append(ids, try.id)
		}
	}
	return ids
}

func taking(string) int { return http.StatusNoContent }

// sinkState is a line of `starter sinks --output json`.
type sinkState struct {
	Sink, State, Code, Problem, Lag string
	Tries, Waiting, Undelivered     int
	Sent                            int64
}

// sinksTest is a crawl whose changes go to a webhook, a program and a folder.
type sinksTest struct {
	*dev
	site   *testsite.Site
	hook   *hook
	folder string
	lines  string          // what the program has got
	said   strings.Builder // by all commands and programs
}

// startSinks starts a crawl of the first host with its sinks.
func startSinks(t *testing.T) *sinksTest {
	t.Helper()
	var hosts []testsite.Host
	for n := range sinkHosts {
		h := testsite.Host{Name: sinkHost(n), Pages: []testsite.Page{{Path: "/", Title: fmt.Sprint("Home ", n)}}}
		for p := range sinkPages {
			path := fmt.Sprintf("/%d", p)
			h.Pages[0].Links = append(h.Pages[0].Links, path)
			h.Pages = append(h.Pages, testsite.Page{Path: path, Title: fmt.Sprintf("Page %d of %d", p, n)})
		}
		hosts = append(hosts, h)
	}
	x := &sinksTest{site: testsite.New(testsite.Options{Seed: 11, Hosts: hosts}), hook: startHook(t), folder: t.TempDir()}
	if err := x.site.Start(t.Context(), "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.site.Close() })
	x.lines = filepath.Join(t.TempDir(), "lines")
	program := write(t, filepath.Join(t.TempDir(), "log"), fmt.Sprintf("#!/bin/sh\nenv >>'%s.env'\ncat >>'%s' || exit 75\n", x.lines, x.lines))
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	x.dev = startDevEnv(t, filepath.Join(t.TempDir(), "data"), []string{
		"HOOK_SECRET=" + hookSecret, "HOOK_ADDRESS=" + x.hook.url + hookPath,
		"RECRAWL_SINK_PROGRAMS=log=" + program, "RECRAWL_SINK_FOLDERS=mirror=" + x.folder, "RECRAWL_LOG=debug",
	})
	return x
}

func sinkHost(n int) string { return fmt.Sprintf("host%d.localhost", n) }

// crawl gives the crawl the first hosts.
func (x *sinksTest) crawl(hosts int) {
	x.t.Helper()
	text, err := json.Marshal(map[string]any{
		"name": "t", "seeds": x.site.Seeds()[:hosts],
		"politeness": map[string]any{"delay": "20ms", "factor": 0},
		"revisit":    map[string]any{"policy": "fixed", "default_interval": "1h"},
		"sinks": map[string]any{
			"hook": map[string]any{"kind": "webhook", "to": "env:HOOK_ADDRESS", "secret": "env:HOOK_SECRET", "allow_private": true, "kinds": []string{"page.new"}},
			"log":  map[string]any{"kind": "exec", "to": "log"},
			"copy": map[string]any{"kind": "folder", "to": "mirror/t"},
		},
	})
	if err != nil {
		x.t.Fatal(err)
	}
	x.command("crawl", "--spec", write(x.t, filepath.Join(x.t.TempDir(), "spec.json"), string(text)))
}

// command runs one that succeeds, and keeps its output.
func (x *sinksTest) command(args ...string) string {
	x.t.Helper()
	out, code, errout := x.starter(args...)
	x.said.WriteString(out + errout)
	if code != 0 {
		x.t.Fatalf("starter %v: %d: %s%s", args, code, out, errout)
	}
	return out
}

// says runs a command and checks its output.
func (x *sinksTest) says(want string, args ...string) {
	x.t.Helper()
	if out := x.command(args...); !strings.Contains(out, want) {
		x.t.Errorf("starter %v says %q, want %q", args, out, want)
	}
}

// sink returns the state of a sink.
func (x *sinksTest) sink(name string) sinkState {
	x.t.Helper()
	all := decodeLines[sinkState](x.t, x.command("--output", "json", "sinks", "list", "t"))
	i := slices.IndexFunc(all, func(s sinkState) bool { return s.Sink == name })
	if i < 0 {
		return sinkState{}
	}
	return all[i]
}

// killed ends all running processes with kill -9 and starts them again.
func (x *sinksTest) killed() {
	x.t.Helper()
	x.killAll()
	x.said.WriteString(x.out.String())
	x.start()
}

// news returns the ids of the feed's page.new, in order, without those of forgotten pages.
func (x *sinksTest) news() (ids []string) {
	for _, e := range decodeLines[hookEvent](x.t, x.command("changes", "t", "--kinds", "page.new", "--output", "json")) {
		if e.Kind == "page.new" && e.Page.URL != "" {
			ids = append(ids, e.ID)
		}
	}
	return ids
}

// awaitNews waits until the crawl has found the pages of this many hosts.
func (x *sinksTest) awaitNews(hosts int) []string {
	x.t.Helper()
	var ids []string
	x.await(fmt.Sprintf("all pages of %d hosts are new", hosts), func() bool {
		ids = x.news()
		return len(ids) == hosts*(1+sinkPages)
	})
	return ids
}

// awaitTaken waits until the receiver has these changes, and checks their order.
func (x *sinksTest) awaitTaken(want []string) {
	x.t.Helper()
	x.await("the receiver has all", func() bool { return len(x.hook.taken()) >= len(want) && x.sink("hook").Waiting == 0 })
	if got := x.hook.taken(); !slices.Equal(got, want) {
		x.t.Errorf("the receiver took %v, and the feed has %v", got, want)
	}
}

// TestSinks: a webhook, a program and a folder get all changes meant for them, in order,
// while the receiver is down, refuses one change, or is paused, and the programs are
// killed; nobody gets a forgotten page any more; and no secret is anywhere.
func TestSinks(t *testing.T) {
	waitsBeside(t, 125)
	x := startSinks(t)
	x.sinkOutlivesKills()
	x.sinkPassesRefused()
	x.sinkForgets()
	x.folderIsAnExport()
	x.programHasAll()
	x.stop()
	x.said.WriteString(x.out.String())
	x.secretsAreNowhere()
}

// sinkOutlivesKills has the receiver down while everything is killed, and everything killed
// when the receiver has a change and has not confirmed it.
func (x *sinksTest) sinkOutlivesKills() {
	x.t.Helper()
	x.hook.answers(func(string) int { return http.StatusServiceUnavailable })
	x.crawl(1)
	want := x.awaitNews(1)
	x.await("the sink tries again, and says how far it is behind", func() bool {
		s := x.sink("hook")
		return s.State == "retrying" && s.Tries >= 2 && s.Waiting == len(want) && s.Lag != "" && s.Lag != "0s" && strings.Contains(s.Problem, "503") && strings.Contains(s.Problem, "not now")
	})
	x.says("hook (webhook): try ", "status", "t")
	x.killed()

	reached := make(chan struct{})
	taken := 0
	x.hook.answers(func(string) int { // with the lock of the receiver
		if taken++; taken == 3 {
			close(reached)
			return 0
		}
		return http.StatusNoContent
	})
	receive(x.t, reached, "the third change at the receiver")
	x.killed()
	x.awaitTaken(want)
	x.checkTries(want)
}

// checkTries: changes came in order, the one whose answer was lost came again, and a new try
// has a new time.
func (x *sinksTest) checkTries(order []string) {
	x.t.Helper()
	lost, again, last := "", 0, 0
	times := map[string]bool{}
	for _, try := range x.hook.all() {
		at := slices.Index(order, try.id)
		if at < last {
			x.t.Errorf("change %d came after change %d: %+v", at, last, x.hook.all())
		}
		last = at
		if try.id == lost {
			again++
		}
		if try.status == 0 {
			lost = try.id
		}
		if try.id == order[0] {
			times[try.timestamp] = true
		}
	}
	if again == 0 {
		x.t.Errorf("what the receiver did not answer (%s) did not come again", lost)
	}
	if len(times) < 2 {
		x.t.Errorf("all tries of %s have the time %v", order[0], times)
	}
}

// sinkPassesRefused has the receiver refuse one change: a person skips it, and sends it
// later.
func (x *sinksTest) sinkPassesRefused() {
	x.t.Helper()
	refused := x.site.URL(sinkHost(1)) + "2"
	x.hook.answers(func(page string) int {
		if page == refused {
			return http.StatusBadRequest
		}
		return http.StatusNoContent
	})
	x.crawl(2)
	want := x.awaitNews(2)
	x.await("the receiver has refused the change", func() bool {
		s := x.sink("hook")
		return s.State == "retrying" && s.Code == "refused" && strings.Contains(s.Problem, "400")
	})
	x.says("counts as undelivered", "sinks", "skip", "t", "hook")
	x.await("the line goes on", func() bool { return x.sink("hook").Waiting == 0 })

	failed := decodeLines[struct {
		Change  int64
		Tries   int
		Problem string
	}](x.t, x.command("--output", "json", "sinks", "failed", "t", "hook"))
	if len(failed) != 1 || failed[0].Tries < 1 || !strings.Contains(failed[0].Problem, "400") {
		x.t.Fatalf("undelivered are %+v", failed)
	}
	id := ""
	for _, n := range want {
		if strings.HasSuffix(n, fmt.Sprint(".", failed[0].Change)) {
			id = n
		}
	}
	rest := slices.DeleteFunc(slices.Clone(want), func(n string) bool { return n == id })
	if got := x.hook.taken(); id == "" || !slices.Equal(got, rest) {
		x.t.Errorf("the receiver took %v, and the feed has %v without %q", got, want, id)
	}
	replay := []string{"sinks", "replay", "t", "hook", fmt.Sprint(failed[0].Change)}
	if out, code, errout := x.starter(replay...); code == 0 || !strings.Contains(errout, "400") || strings.Contains(errout, hookSecret) {
		x.t.Errorf("a replay that is refused: %d: %s%s", code, out, errout)
	}
	x.hook.answers(taking)
	x.says("1 of 1", "sinks", "replay", "t", "hook", "--failed")
	x.says("nothing is undelivered", "sinks", "failed", "t", "hook")
	if got := x.hook.taken(); !slices.Equal(got, append(rest, id)) {
		x.t.Errorf("the receiver took %v, and %s was sent again", got, id)
	}
}

// sinkForgets has a page forgotten while the webhook is paused: its file goes, and its change
// is not sent.
func (x *sinksTest) sinkForgets() {
	x.t.Helper()
	x.says("paused", "sinks", "pause", "t", "hook")
	before := len(x.hook.all())
	x.crawl(3)
	want := x.awaitNews(3)
	x.await("the folder and the program have them", func() bool {
		return x.sink("copy").Waiting == 0 && x.sink("log").Waiting == 0 && len(treeOf(x.t, filepath.Join(x.folder, "t"))) == len(want)
	})
	if s := x.sink("hook"); s.State != "paused" || s.Code != "person" || s.Waiting != 1+sinkPages || len(x.hook.all()) != before {
		x.t.Errorf("a paused sink is %+v, and has sent %d", s, len(x.hook.all())-before)
	}
	x.says("took the test", "sinks", "test", "t", "hook")

	page := x.site.URL(sinkHost(2)) + "3"
	file := x.fileOf(page)
	if file == "" {
		x.t.Fatalf("the folder has no file of %s", page)
	}
	x.command("forget", page, "--yes")
	forgotten := time.Now()
	x.await("the file is gone", func() bool { return x.fileOf(page) == "" })
	x.t.Logf("the folder has forgotten the page %s after the command", time.Since(forgotten).Round(time.Millisecond))
	if _, err := os.Stat(filepath.Join(x.folder, "t", file)); err == nil {
		x.t.Errorf("the index has forgotten %s, and it is there", file)
	}

	x.says("resumed", "sinks", "resume", "t", "hook")
	left := x.news()
	x.await("the rest is delivered", func() bool { return x.sink("hook").Waiting == 0 })
	missed := slices.DeleteFunc(slices.Clone(left), func(id string) bool { return slices.Contains(x.hook.taken(), id) })
	sent := slices.ContainsFunc(x.hook.all(), func(try hookTry) bool { return try.page == page })
	if len(left) != len(want)-1 || len(missed) > 0 || sent {
		x.t.Errorf("the feed has %d changes, the receiver lacks %v, and got the forgotten page: %t", len(left), missed, sent)
	}
}

// fileOf returns a page's file according to the folder's index, "" if it has none.
func (x *sinksTest) fileOf(page string) string {
	x.t.Helper()
	files, err := filepath.Glob(filepath.Join(x.folder, "t", ".recrawl", "pages", "*.jsonl"))
	if err != nil {
		x.t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it was replaced, or has gone
		}
		for _, l := range decodeLines[struct{ Path, URL string }](x.t, string(text)) {
			if l.URL == page {
				return l.Path
			}
		}
	}
	return ""
}

// folderIsAnExport compares the folder with a fresh export.
func (x *sinksTest) folderIsAnExport() {
	x.t.Helper()
	out := filepath.Join(x.t.TempDir(), "export")
	x.command("export", "t", out, "--format", "html")
	exports, err := filepath.Glob(filepath.Join(out, "*", "index.jsonl"))
	if err != nil || len(exports) != 1 {
		x.t.Fatalf("exports %v, %v", exports, err)
	}
	want := treeOf(x.t, filepath.Dir(exports[0]))
	delete(want, "index.jsonl")
	delete(want, "export.json")
	got := treeOf(x.t, filepath.Join(x.folder, "t"))
	if len(want) != sinkHosts*(1+sinkPages)-1 || !maps.Equal(got, want) {
		x.t.Errorf("the folder has %v, and an export %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}

// treeOf returns the files of a folder by their names, without those of the folder's
// keeper.
func treeOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it has just gone
		case err != nil:
			return err
		case e.Name() == ".recrawl":
			return fs.SkipDir
		case !e.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		name, _ := filepath.Rel(folder, path)
		files[filepath.ToSlash(name)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// programHasAll: the program got each page.new, in order, whatever happened to the webhook.
func (x *sinksTest) programHasAll() {
	x.t.Helper()
	text, err := os.ReadFile(x.lines)
	if err != nil {
		x.t.Fatal(err)
	}
	var got []string
	for _, l := range decodeLines[hookEvent](x.t, string(text)) {
		if l.Kind == "page.new" && !slices.Contains(got, l.ID) {
			got = append(got, l.ID)
		}
	}
	left := x.news()
	if len(got) != len(left)+1 { // and the page that was forgotten since
		x.t.Errorf("the program got %d changes, and the feed has %d", len(got), len(left))
	}
	if kept := slices.DeleteFunc(got, func(id string) bool { return !slices.Contains(left, id) }); !slices.Equal(kept, left) {
		x.t.Errorf("the program got %v, and the feed has %v", kept, left)
	}
}

// secretsAreNowhere searches all output and files: logs, answers, the store, the archive
// and Temporal's histories.
func (x *sinksTest) secretsAreNowhere() {
	x.t.Helper()
	written := map[string]string{"what was said": x.said.String()}
	env, err := os.ReadFile(x.lines + ".env")
	if err != nil {
		x.t.Fatal(err)
	}
	written["the program's environment"] = string(env)
	maps.Copy(written, treeOf(x.t, x.data))
	// If a search does not even find what must be there, it has searched nothing.
	marks := map[string]string{"what was said": hookWords, "the program's environment": "PATH=", "recrawl.db": "env:HOOK_SECRET", "temporal.db": hookWords}
	for name, text := range written {
		for _, secret := range []string{strings.TrimPrefix(hookSecret, "whsec_"), hookPath} {
			if strings.Contains(text, secret) {
				x.t.Errorf("%s holds %s", name, secret)
			}
		}
		if strings.Contains(text, marks[filepath.Base(name)]) {
			delete(marks, filepath.Base(name))
		}
	}
	if len(marks) > 0 {
		x.t.Errorf("these do not hold what they must: %v", marks)
	}
}
