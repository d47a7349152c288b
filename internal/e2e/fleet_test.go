//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/store/storetest/pgtest"
)

// fleet is recrawl as a cluster runs it: a Temporal server and a Postgres of
// their own, and workers, each a process.
type fleet struct {
	t        *testing.T
	postgres *pgtest.Server
	temporal *process
	database string // Temporal's
	address  string // Temporal's
	env      []string
	workers  []*process
	hang     hangWatch
}

// process is a child process with its output.
type process struct {
	cmd  *exec.Cmd
	out  *syncBuffer
	done chan struct{}
}

func startProcess(t *testing.T, env []string, program string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(program, args...), out: &syncBuffer{}, done: make(chan struct{})}
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, p.out, p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.cmd.Wait(); close(p.done) }()
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	<-p.done
}

func startFleet(t *testing.T, workers int) *fleet {
	t.Helper()
	f := newFleet(t)
	for range workers {
		f.startWorker()
	}
	return f
}

// newFleet is a fleet without workers.
func newFleet(t *testing.T, env ...string) *fleet {
	t.Helper()
	server, err := pgtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	f := &fleet{t: t, postgres: server, database: filepath.Join(t.TempDir(), "temporal.db")}
	for up := false; !up; {
		f.address = "127.0.0.1:" + freePort(t)
		f.startTemporal()
		up = f.temporalUp()
	}
	f.env = append(cleanEnv(t), "RECRAWL_STORE="+server.DSN(), "RECRAWL_ARCHIVE="+filepath.Join(t.TempDir(), "archive"), "TEMPORAL_ADDRESS="+f.address)
	f.env = append(f.env, env...)
	return f
}

// startTemporal starts the Temporal server at its address.
func (f *fleet) startTemporal() {
	f.t.Helper()
	_, port, err := net.SplitHostPort(f.address)
	if err != nil {
		f.t.Fatal(err)
	}
	f.temporal = startProcess(f.t, cleanEnv(f.t), programs.temporal, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", port,
		"--db-filename", f.database, "--sqlite-pragma", "journal_mode=WAL", "--log-level", "error")
}

// temporalUp waits until the Temporal server answers, or has ended because another process
// was quicker to take one of its ports.
func (f *fleet) temporalUp() (up bool) {
	f.t.Helper()
	f.await("Temporal answers", func() bool {
		select {
		case <-f.temporal.done:
			if out := f.temporal.out.String(); !strings.Contains(out, "address already in use") {
				f.t.Fatalf("the Temporal server ended: %s", out)
			}
			return true
		default:
		}
		_, code, _ := runEnv(f.t, cleanEnv(f.t), programs.temporal, "operator", "cluster", "health", "--address", f.address)
		up = code == 0
		return up
	})
	return up
}

func (f *fleet) startWorker() {
	f.t.Helper()
	w := startProcess(f.t, f.env, programs.worker)
	f.await("the worker is ready", func() bool {
		select {
		case <-w.done:
			if out := w.out.String(); !strings.Contains(out, silentTemporal) {
				f.t.Fatalf("the worker ended: %s", out)
			}
			w = startProcess(f.t, f.env, programs.worker) // as a container's restart policy does
		default:
		}
		return strings.Contains(w.out.String(), "worker ready")
	})
	f.workers = append(f.workers, w)
}

// try runs a command in the fleet's environment.
func (f *fleet) try(program string, args ...string) (stdout string, code int, stderr string) {
	f.t.Helper()
	return runEnv(f.t, f.env, program, args...)
}

// starter runs a starter command that must succeed.
func (f *fleet) starter(args ...string) string {
	f.t.Helper()
	out, code, stderr := starterEnv(f.t, f.env, args...)
	if code != 0 {
		f.t.Fatalf("starter %s: %d: %s", strings.Join(args, " "), code, stderr)
	}
	return out
}

func (f *fleet) await(what string, holds func() bool) {
	f.t.Helper()
	(&dev{t: f.t, out: f.output()}).await(what, func() bool {
		f.replaceHungTemporal()
		return holds()
	})
}

// output returns the last worker's output, for failures.
func (f *fleet) output() *syncBuffer {
	if len(f.workers) == 0 {
		return &syncBuffer{}
	}
	return f.workers[len(f.workers)-1].out
}

// TestKillPartsOfAFleet kills a worker, Postgres and then the other worker in the middle of
// a crawl; the remaining and restarted ones finish it.
func TestKillPartsOfAFleet(t *testing.T) {
	sideBySide(t, 65)
	const gap = 40 * time.Millisecond
	pages := ration(tree(crashPages))
	s := serve(t, pages)
	s.limit = 5 * time.Second // lost permits live for ten seconds more
	f := startFleet(t, 2)
	f.starter(append([]string{"crawl", "t", s.url + "/", "--time-limit", s.limit.String()}, crawlSettings(gap.String())...)...)
	progress := func() {
		pages.allow(8)
		f.await("the crawl goes on", pages.used)
	}
	progress()
	f.workers[0].kill()
	progress()
	if err := f.postgres.Kill9(); err != nil {
		t.Fatal(err)
	}
	if err := f.postgres.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	progress()
	f.workers[1].kill()
	f.startWorker()
	pages.unlimited()
	f.await("every page is visited", func() bool {
		pages := decodeLines[pageLine](t, f.starter("--output", "json", "pages", "t", "--limit", "0"))
		return len(pages) == crashPages && !slices.ContainsFunc(pages, func(p pageLine) bool { return p.Visits == 0 })
	})
	seen := map[string]bool{}
	for line := range strings.Lines(f.starter("--output", "json", "history", s.url+"/p7.html")) {
		var v visitLine
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		if key := fmt.Sprint(v.Visit); seen[key] {
			t.Errorf("visit %s was recorded twice", key)
		} else {
			seen[key] = true
		}
	}
	s.checkPolite(t, gap)
}
