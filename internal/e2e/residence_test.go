//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

const foreignPages = 20

// idle is in the log of a worker that takes no work.
const idle = "the worker takes up nothing"

// TestForeignWorker starts a worker with another store on the namespace of a crawl, and one
// before there is a crawl, when nothing distinguishes it yet. Neither ends a page, both say
// whose the crawl is, and the crawl goes on.
func TestForeignWorker(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		sideBySide(t, 25)
		s := serve(t, tree(foreignPages))
		d := startDev(t, filepath.Join(t.TempDir(), "data"))
		w := workersOf(t, d.state().Address)
		early := w.start("sqlite:" + filepath.Join(t.TempDir(), "early.db"))
		w.await(early, "worker ready")
		if out, code, stderr := d.starter(append([]string{"crawl", "t", s.url + "/"}, crawlSettings("20ms")...)...); code != 0 {
			t.Fatalf("%d: %s%s", code, out, stderr)
		}
		w.await(early, idle)
		store := "sqlite:" + filepath.Join(t.TempDir(), "late.db")
		late := w.start(store)
		w.await(late, idle)
		w.checkNeverReady(late)
		w.checkStatus(store)
		w.checkNotTheirs(store, s)
		d.await("every page is visited", d.crawled("t", foreignPages, 1))
		w.checkNoneEnded()
		d.stop()
	})
	t.Run("Postgres", func(t *testing.T) {
		sideBySide(t, 55)
		s := serve(t, tree(foreignPages))
		f := startFleet(t, 2)
		w := workersOf(t, f.address)
		early := w.start(anotherDatabase(t, f, "early"))
		w.await(early, "worker ready")
		f.starter(append([]string{"crawl", "t", s.url + "/"}, crawlSettings("20ms")...)...)
		w.await(early, idle)
		store := anotherDatabase(t, f, "late")
		late := w.start(store)
		w.await(late, idle)
		w.checkNeverReady(late)
		w.checkStatus(store)
		w.checkNotTheirs(store, s)
		f.await("every page is visited", func() bool {
			pages := decodeLines[pageLine](t, f.starter("--output", "json", "pages", "t", "--limit", "0"))
			return len(pages) == foreignPages && !slices.ContainsFunc(pages, func(p pageLine) bool { return p.Visits == 0 })
		})
		w.checkNoneEnded()
	})
}

// TestCopyOfAStore runs a worker with the same database on another namespace, like a copy
// for staging. It takes no work until it is told to live there, and then the first ones
// take none.
func TestCopyOfAStore(t *testing.T) {
	sideBySide(t, 30)
	f := startFleet(t, 1)
	temporalCLI(t, f.address, "operator", "namespace", "create", "--namespace", "staging")
	staging := append(slices.Clone(f.env), "TEMPORAL_NAMESPACE=staging", "RECRAWL_TASK_QUEUE=recrawl-2")
	w := startProcess(t, staging, programs.worker)
	all := &strangers{t: t, address: f.address}
	all.await(w, idle)
	all.checkNeverReady(w)
	if log := w.out.String(); !strings.Contains(log, "namespace default") || !strings.Contains(log, "namespace staging") || !strings.Contains(log, "starter adopt") {
		t.Errorf("its log %q, want both namespaces and what to do", log)
	}
	for _, args := range [][]string{{"adopt"}, {"adopt", "--yes"}} {
		out, code, stderr := starterEnv(t, staging, args...)
		if code != 0 || !strings.Contains(out, "namespace staging") || !strings.Contains(out, "instead of namespace default") {
			t.Fatalf("%v: %d: %s%s", args, code, out, stderr)
		}
		if len(args) == 1 {
			all.checkNeverReady(w)
		}
	}
	all.await(w, "worker ready")
	all.await(f.workers[0], idle)
	// The copy's crawls are started on its own task queue, which the starter need not
	// be told.
	s := serve(t, tree(3))
	out, code, stderr := starterEnv(t, append(slices.Clone(f.env), "TEMPORAL_NAMESPACE=staging"), append([]string{"crawl", "t", s.url + "/"}, crawlSettings("20ms")...)...)
	if code != 0 {
		t.Fatalf("%d: %s%s", code, out, stderr)
	}
	f.await("the copy crawls", func() bool { return len(s.requests()) >= 4 })
}

// TestWorkerWaits starts a worker before its database, and before Temporal.
func TestWorkerWaits(t *testing.T) {
	sideBySide(t, 25)
	f := newFleet(t)
	if err := f.postgres.Kill9(); err != nil {
		t.Fatal(err)
	}
	all := &strangers{t: t, address: f.address}
	early, ended := startProcess(t, f.env, programs.worker), startProcess(t, f.env, programs.worker)
	for _, w := range []*process{early, ended} {
		all.await(w, "waiting for the store")
	}
	if err := ended.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	receive(t, ended.done, "a worker that waits ends when it is told to")
	if code := ended.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("it ended with %d: %s", code, ended.out)
	}
	if err := f.postgres.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	all.await(early, "worker ready")
	// A busy Temporal may be waited for, too.
	if said := strings.Count(early.out.String(), "waiting for the store"); said != 1 {
		t.Errorf("it said %d times that it waits: %s", said, early.out)
	}
	f.temporal.kill()
	w := startProcess(t, f.env, programs.worker)
	all.await(w, "waiting for Temporal")
	d := &dev{t: t}
	d.await("Temporal has its port back", func() bool {
		f.startTemporal()
		d.out = f.temporal.out
		return f.temporalUp()
	})
	all.await(w, "worker ready")
	missing := withDatabase(t, f.postgres.DSN(), "nowhere")
	mistake{name: "no such database", code: 1, want: "there is no such database", env: []string{
		"RECRAWL_STORE=" + missing, "RECRAWL_ARCHIVE=" + t.TempDir(), "TEMPORAL_ADDRESS=" + f.address,
	}}.check(t, programs.worker)
}

// strangers are workers that are not of a fleet, on its Temporal.
type strangers struct {
	t       *testing.T
	address string
}

func workersOf(t *testing.T, address string) *strangers {
	return &strangers{t: t, address: address}
}

func (w *strangers) env(store string) []string {
	// An empty archive that was made on purpose: the stores are copies, of which some have contents.
	archive := filepath.Join(w.t.TempDir(), "archive")
	if err := os.MkdirAll(filepath.Join(archive, "tmp"), 0o700); err != nil {
		w.t.Fatal(err)
	}
	return append(cleanEnv(w.t), "RECRAWL_STORE="+store, "RECRAWL_ARCHIVE="+archive, "TEMPORAL_ADDRESS="+w.address)
}

func (w *strangers) start(store string) *process {
	w.t.Helper()
	return startProcess(w.t, w.env(store), programs.worker)
}

// await waits until a worker logs something.
func (w *strangers) await(p *process, what string) {
	w.t.Helper()
	(&dev{t: w.t, out: p.out, done: p.done}).await("a worker says "+what, func() bool { return strings.Contains(p.out.String(), what) })
}

func (w *strangers) checkNeverReady(p *process) {
	w.t.Helper()
	if strings.Contains(p.out.String(), "worker ready") {
		w.t.Errorf("it took up work: %s", p.out)
	}
}

// checkStatus looks at what the status of a foreign store says of its worker.
func (w *strangers) checkStatus(store string) {
	w.t.Helper()
	out, code, stderr := starterEnv(w.t, w.env(store), "status")
	if code != 0 || strings.Count(out, "and this worker has store ") != 1 || !strings.Contains(out, "crawl t of namespace default") {
		w.t.Errorf("status: %d: %s%s, want both stores named", code, out, stderr)
	}
}

// checkNotTheirs asserts that the owner of a foreign store cannot extend the crawl.
func (w *strangers) checkNotTheirs(store string, s *site) {
	w.t.Helper()
	mistake{
		name: "another store's crawl", args: []string{"crawl", "t", s.url + "/p1.html"}, code: 1, want: "crawl/t in this namespace is of store ",
		env: []string{"RECRAWL_STORE=" + store, "TEMPORAL_ADDRESS=" + w.address},
	}.check(w.t, programs.starter)
}

// checkNoneEnded asserts that no page or crawl has ended.
func (w *strangers) checkNoneEnded() {
	w.t.Helper()
	for _, kind := range []string{"Page", "Crawl"} {
		out := temporalCLI(w.t, w.address, "workflow", "count", "--output", "json",
			"--query", "WorkflowType = '"+kind+"' AND ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'")
		var answer struct {
			Count string `json:"count"`
		}
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			w.t.Fatalf("count: %v: %s", err, out)
		}
		if answer.Count != "" && answer.Count != "0" {
			w.t.Errorf("%s workflows of type %s have ended", answer.Count, kind)
		}
	}
}

// anotherDatabase makes a database beside the fleet's.
func anotherDatabase(t *testing.T, f *fleet, name string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.postgres.DSN())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()); err != nil {
		t.Fatal(err)
	}
	return withDatabase(t, f.postgres.DSN(), name)
}

func withDatabase(t *testing.T, dsn, name string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// TestCopyAtTheSameTemporal gives a worker a copy of the database and the original's
// Temporal. It cannot tell by itself, but the status of the original names it.
func TestCopyAtTheSameTemporal(t *testing.T) {
	sideBySide(t, 40)
	s := serve(t, tree(foreignPages))
	f := startFleet(t, 1)
	f.starter(append([]string{"crawl", "t", s.url + "/", "--time-limit", "5s"}, crawlSettings("20ms")...)...)
	f.workers[0].kill()
	copied := copyDatabase(t, f, "copied")
	f.startWorker()
	all := &strangers{t: t, address: f.address}
	w := all.start(copied)
	all.await(w, "worker ready")
	want := fmt.Sprintf("workers: worker %d@", w.cmd.Process.Pid)
	f.await("the original names the copy's worker", func() bool {
		out := f.starter("status", "t")
		return strings.Contains(out, want) && strings.Contains(out, "is not of this store, and takes up tasks")
	})
	if out := f.starter("status", "t"); strings.Contains(out, fmt.Sprintf("worker %d@", f.workers[1].cmd.Process.Pid)) {
		t.Errorf("the original's own worker is named: %s", out)
	}
}

// copyDatabase copies the fleet's database, which nobody uses.
func copyDatabase(t *testing.T, f *fleet, name string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), withDatabase(t, f.postgres.DSN(), "template1"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	config, err := pgx.ParseConfig(f.postgres.DSN())
	if err != nil {
		t.Fatal(err)
	}
	from := pgx.Identifier{config.Database}.Sanitize()
	f.await("nobody uses the database", func() bool { // the server takes a moment to see that a client is gone
		_, err = conn.Exec(t.Context(), "CREATE DATABASE "+pgx.Identifier{name}.Sanitize()+" TEMPLATE "+from)
		return err == nil || !strings.Contains(err.Error(), "being accessed by other users")
	})
	if err != nil {
		t.Fatal(err)
	}
	return withDatabase(t, f.postgres.DSN(), name)
}
