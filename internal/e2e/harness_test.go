// Package e2e runs the built programs as a person would: real processes, a real
// Temporal server, a real store and real web servers on loopback. Nothing is mocked and
// only the nouns of the product are imported.
package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"recrawl/internal/contract/contracttest"
	"recrawl/internal/porttest"
)

var programs struct{ starter, worker, temporal string }

// patience bounds a wait for other processes. It is part of no verdict: it only ends a test
// that hangs, however busy the machine is.
func patience() time.Duration {
	if long() {
		return time.Hour
	}
	return 15 * time.Minute
}

// long reports whether the tests run in their long forms.
func long() bool { return os.Getenv("RECRAWL_LONG") != "" }

// TestMain builds the programs once, without the race detector, so that they are tested at
// the speed that users see.
func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("-short: no programs are run")
		return
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	root, err := moduleRoot()
	if err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "recrawl-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	// Nobody debugs these; without what a debugger needs they are linked in two thirds of the time.
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+"/", "./starter", "./worker")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the programs: %w: %s", err, out)
	}
	programs.starter, programs.worker = filepath.Join(dir, "starter"), filepath.Join(dir, "worker")
	programs.temporal = os.Getenv("RECRAWL_TEMPORAL_CLI")
	if programs.temporal == "" {
		programs.temporal = filepath.Join(root, "bin", "temporal")
	}
	if _, err := os.Stat(programs.temporal); err != nil {
		return 1, fmt.Errorf("the Temporal CLI is missing (%s): run `make temporal`", programs.temporal)
	}
	if err := countPlaces(); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func moduleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// dev is a running `starter dev`.
type dev struct {
	t       *testing.T
	data    string
	program string // the starter, or what runs it
	args    []string
	env     []string
	cmd     *exec.Cmd
	out     *syncBuffer
	done    chan struct{}
}

// startDev runs `starter dev` on a data folder and waits until it says that it
// is ready.
func startDev(t *testing.T, data string, args ...string) *dev {
	t.Helper()
	d := &dev{t: t, data: data, args: args}
	d.start()
	return d
}

func startDevEnv(t *testing.T, data string, env []string, args ...string) *dev {
	t.Helper()
	d := &dev{t: t, data: data, args: args, env: env}
	d.start()
	return d
}

func (d *dev) start() {
	d.t.Helper()
	d.cmd = exec.Command(cmp.Or(d.program, programs.starter), append([]string{"dev", "--data", d.data}, d.args...)...)
	d.cmd.Env = append(append(cleanEnv(d.t), "RECRAWL_TEMPORAL_CLI="+programs.temporal), d.env...)
	d.out = &syncBuffer{}
	d.cmd.Stdout, d.cmd.Stderr = d.out, d.out
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	cmd, done := d.cmd, make(chan struct{})
	d.done = done
	go func() { cmd.Wait(); close(done) }()
	d.t.Cleanup(func() { d.kill() })
	d.await("starter dev is ready", func() bool { return strings.Contains(d.out.String(), "ready") })
}

// stop ends it as Ctrl-C does and checks that it ends well.
func (d *dev) stop() {
	d.t.Helper()
	d.cmd.Process.Signal(syscall.SIGINT)
	d.awaitEnd()
	if code := d.cmd.ProcessState.ExitCode(); code != 0 {
		d.t.Fatalf("starter dev ended with %d: %s", code, d.out)
	}
}

// awaitEnd waits until it has ended.
func (d *dev) awaitEnd() {
	d.t.Helper()
	select {
	case <-d.done:
	case <-time.After(patience()):
		d.t.Fatalf("starter dev does not end: %s", d.out)
	}
}

// kill ends it with kill -9.
func (d *dev) kill() {
	d.cmd.Process.Kill()
	<-d.done
}

// killAll ends it and its Temporal server with kill -9.
func (d *dev) killAll() {
	d.t.Helper()
	temporal := d.state().TemporalPID
	d.kill()
	syscall.Kill(temporal, syscall.SIGKILL) // or it has ended with its parent
}

func (d *dev) state() devState {
	d.t.Helper()
	data, err := os.ReadFile(filepath.Join(d.data, "recrawl.json"))
	if err != nil {
		d.t.Fatal(err)
	}
	var s devState
	if err := json.Unmarshal(data, &s); err != nil {
		d.t.Fatal(err)
	}
	return s
}

// cpu returns the processor time that a process has used, from /proc; 0 where there is
// none. Its unit is the 10 ms tick of every Linux.
func (d *dev) cpu(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from field 3, state
	var user, system int64
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		d.t.Fatalf("/proc/%d/stat: %v", pid, err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

type devState struct {
	Address     string `json:"temporal_address"`
	Web         string `json:"web"`
	UI          string `json:"temporal_ui"`
	TemporalPID int    `json:"temporal_pid"`
}

// starter runs another starter command on the same data folder.
func (d *dev) starter(args ...string) (stdout string, code int, stderr string) {
	d.t.Helper()
	return d.starterEnv(cleanEnv(d.t), args...)
}

// starterEnv runs another starter command on the same data folder, in an environment.
func (d *dev) starterEnv(env []string, args ...string) (stdout string, code int, stderr string) {
	d.t.Helper()
	return starterEnv(d.t, env, append([]string{"--data", d.data}, args...)...)
}

// temporal runs the Temporal CLI against the dev server.
func (d *dev) temporal(args ...string) string {
	d.t.Helper()
	return temporalCLI(d.t, d.state().Address, args...)
}

func run(t *testing.T, program string, args ...string) (stdout string, code int, stderr string) {
	t.Helper()
	return runEnv(t, cleanEnv(t), program, args...)
}

func runEnv(t *testing.T, env []string, program string, args ...string) (stdout string, code int, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience())
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = env
	var out, errout bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errout
	err := cmd.Run()
	if cmd.ProcessState == nil || ctx.Err() != nil {
		t.Fatalf("%s %s: %v: %s%s", program, strings.Join(args, " "), err, &out, &errout)
	}
	return out.String(), cmd.ProcessState.ExitCode(), errout.String()
}

// cleanEnv returns the environment of a new user: an empty home folder and no settings.
func cleanEnv(t *testing.T) []string {
	env := []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "GOGC=" + os.Getenv("GOGC")}
	return env
}

// plainClient reads the server's data as it is.
func plainClient(t *testing.T, d *dev) client.Client {
	t.Helper()
	c := dial(t, d.state().Address)
	t.Cleanup(c.Close)
	return c
}

// dial connects to a Temporal server, which may be too busy at first to answer in the time that the
// client gives it.
func dial(t *testing.T, address string) (c client.Client) {
	t.Helper()
	said := &syncBuffer{}
	(&dev{t: t, out: said}).await("Temporal answers at "+address, func() bool {
		var err error
		if c, err = client.Dial(client.Options{HostPort: address, Logger: contracttest.Quiet()}); err != nil {
			fmt.Fprintln(said, err)
		}
		return err == nil
	})
	return c
}

// noWorkflows reports whether a query finds none; false while the server is too busy to answer. A
// test that asks again and again asks here: the Temporal CLI takes 0.2 s of processor time a look.
func noWorkflows(t *testing.T, flows client.Client, query string) bool {
	t.Helper()
	found, err := flows.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{Namespace: client.DefaultNamespace, Query: query})
	return err == nil && found.GetCount() == 0
}

type pageLine struct {
	URL    string `json:"url"`
	State  string `json:"state"`
	Visits int    `json:"visits"`
	Level  int    `json:"level"`
}

type hostLine struct {
	Host         string    `json:"host"`
	BackoffUntil time.Time `json:"backoff_until"`
	Robots       []struct {
		State   string    `json:"state"`
		Expires time.Time `json:"expires"`
	} `json:"robots"`
}

type visitLine struct {
	URL     string    `json:"url"`
	Visit   int       `json:"visit"`
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
	Status  int       `json:"status"`
	Problem string    `json:"problem"`
	Digest  string    `json:"digest"`
	NextAt  time.Time `json:"next_at"`
	Reasons []string  `json:"reasons"`
}

func (d *dev) history(url string) []visitLine {
	d.t.Helper()
	return lines[visitLine](d, "--output", "json", "history", url, "--limit", "0")
}

// lines decodes a command's JSON Lines.
func lines[T any](d *dev, args ...string) []T {
	d.t.Helper()
	out, code, errout := d.starter(args...)
	if code == 3 {
		return nil // not there yet: its workflow has not opened it
	}
	if code != 0 {
		d.t.Fatalf("starter %s: %d: %s", strings.Join(args, " "), code, errout)
	}
	return decodeLines[T](d.t, out)
}

func decodeLines[T any](t *testing.T, out string) []T {
	t.Helper()
	var all []T
	scanner := bufio.NewScanner(strings.NewReader(out))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var v T
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			t.Fatalf("%v: %s", err, scanner.Text())
		}
		all = append(all, v)
	}
	return all
}

// await polls until the condition holds; these are other processes, which cannot signal us.
// Some checks run a program. The pauses between them grow with the time a check takes, so
// that waiting leaves eight ninths of the time to the awaited work.
func (d *dev) await(what string, holds func() bool) {
	d.t.Helper()
	d.poll(what, holds, func(took time.Duration) time.Duration {
		return min(max(200*time.Millisecond, 8*took), 10*time.Second)
	})
}

// awaitEvery checks more rarely, where checking would disturb the measurement, or more
// often.
func (d *dev) awaitEvery(every time.Duration, what string, holds func() bool) {
	d.t.Helper()
	d.poll(what, holds, func(took time.Duration) time.Duration { return max(0, every-took) })
}

// poll checks until the condition holds, pausing after each check for a time derived from
// its length. It fails when the starter has ended.
func (d *dev) poll(what string, holds func() bool, rest func(took time.Duration) time.Duration) {
	d.t.Helper()
	deadline := time.NewTimer(patience())
	defer deadline.Stop()
	for {
		begun := time.Now()
		if holds() {
			return
		}
		select {
		case <-time.After(rest(time.Since(begun))):
		case <-d.done: // nil for what is no starter
			if !holds() {
				d.t.Fatalf("starter dev ended before this: %s\noutput: %s", what, d.out)
			}
			return
		case <-deadline.C:
			d.t.Fatalf("not within %s: %s\noutput: %s", patience(), what, d.out)
		}
	}
}

// receive waits for a value from another goroutine, or for a closed channel.
func receive[T any](t *testing.T, from <-chan T, what string) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience()):
		t.Fatalf("not within %s: %s", patience(), what)
	}
	return v
}

func freePort(t *testing.T) string {
	t.Helper()
	port, err := porttest.Free(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// crawled reports whether every page of the crawl has been visited at least
// visits times.
func (d *dev) crawled(crawl string, atLeast, visits int) func() bool {
	return func() bool {
		pages := d.pages(crawl)
		for _, p := range pages {
			if p.Visits < visits {
				return false
			}
		}
		return len(pages) >= atLeast
	}
}

// syncBuffer is a bytes.Buffer for two goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
