// Package embedded runs a Temporal server as a child process on a data folder: `starter
// dev` needs no other. It finds or builds the CLI that contains the server, chooses ports,
// starts it again when it dies, lets nobody but the operator reach its UI, and erases what
// a takedown must from the server's own files.
package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"recrawl/internal/contract"
)

// StartLimit is how long a child may take before it accepts connections.
const StartLimit = 60 * time.Second

// Limits of a child's life.
const (
	stopGrace       = 8 * time.Second // from SIGTERM to SIGKILL
	restartPauseMin = 200 * time.Millisecond
	restartPauseMax = 10 * time.Second // between two restarts of a dying child
	startAttempts   = 3                // of the first child
)

// Files are the server's files in a data folder.
type Files struct {
	Database, Log string
}

// The names of the files in a data folder.
const (
	DatabaseName = "temporal.db"
	logName      = "temporal.log"
)

// In returns the paths of the server's files in a data folder.
func In(folder string) Files {
	return Files{Database: filepath.Join(folder, DatabaseName), Log: filepath.Join(folder, logName)}
}

// Server is the embedded Temporal: a child process on the data folder. Until its context ends
// it is restarted when it dies, on the same ports while they are free, else on others.
type Server struct {
	CLI     string // the program, see FindCLI
	Files   Files
	Port    Port // the wanted one; then the last child's
	Log     *slog.Logger
	OnStart func(Child) // called with each new child
	OnUp    func()      // called when a child has made its files and accepts connections

	// Alive asks the server at an address for something that it reads from its database, and
	// returns nil if it answers. A child that hangs is then replaced; nil for no such watch.
	Alive func(ctx context.Context, address string) error
	look  pace // zero for the usual one

	mu sync.Mutex
	up Child // the child that accepts connections; zero while none does
}

// Child is one run of the server.
type Child struct {
	PID, Port int
	ui        netip.AddrPort // see hiddenAddress
}

// Address is where the child answers gRPC.
func (c Child) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)) }

// listens reports whether the child, and no other process, listens on its ports.
func (c Child) listens() bool {
	return listens(c.PID, c.Port) && listens(c.PID, int(c.ui.Port()))
}

func (t *Server) setUp(c Child) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.up = c
}

// Dial connects to the child that is up, whatever the address: children come
// and go and may change their port, and a dead child's port may now belong to
// another Temporal server, whose workflows are none of our worker's business.
func (t *Server) Dial(ctx context.Context, _ string) (net.Conn, error) {
	return t.dialChild(ctx, Child.Address)
}

// DialUI connects to the UI of the child that is up.
func (t *Server) DialUI(ctx context.Context) (net.Conn, error) {
	return t.dialChild(ctx, func(c Child) string { return c.ui.String() })
}

func (t *Server) dialChild(ctx context.Context, address func(Child) string) (net.Conn, error) {
	t.mu.Lock()
	c := t.up
	t.mu.Unlock()
	if c.PID == 0 {
		return nil, errors.New("the Temporal server is not up")
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address(c))
	if err != nil {
		return nil, err
	}
	if !c.listens() { // asked after connecting: its death in between shows
		conn.Close()
		return nil, fmt.Errorf("%s is no longer the Temporal server's", address(c))
	}
	return conn, nil
}

// choosePorts gives the next child its ports: the last one if it is free, and a new
// one for the UI, which only we need to know.
func (t *Server) choosePorts() (c Child, err error) {
	if c.Port, err = ChoosePort(t.Port, "Temporal"); err != nil {
		return c, err
	}
	t.Port.Number = c.Port
	c.ui, err = hiddenAddress()
	return c, err
}

func (t *Server) args(c Child, partitions int) []string {
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1",
		"--port", strconv.Itoa(c.Port), "--ui-ip", c.ui.Addr().String(), "--ui-port", strconv.Itoa(int(c.ui.Port())),
		"--db-filename", t.Files.Database,
		// Without WAL the server does about a quarter of the work.
		"--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL",
		// A takedown writes beside it, and data deleted by retention must be gone.
		"--sqlite-pragma", "busy_timeout=60000", "--sqlite-pragma", "secure_delete=ON",
		"--dynamic-config-value", "system.enableActivityEagerExecution=true",
		"--dynamic-config-value", "limit.maxIDLength=255",
		// How many of the server's own tasks run at a time. By default it is 512 of each
		// kind, on its one connection to its database. After a stop, when all pages are
		// due, all their timers then fire first, and workers' requests wait behind hundreds
		// of them. With one at a time, a timer waits for that connection as any of the workers'
		// requests does, so timers fire as fast as the visits that they begin are made.
		"--dynamic-config-value", "history.timerProcessorSchedulerWorkerCount=1",
		"--dynamic-config-value", "history.transferProcessorSchedulerWorkerCount=8",
		"--dynamic-config-value", "history.visibilityProcessorSchedulerWorkerCount=4",
		// It asks its database for timers that are due with a condition that SQLite cannot
		// answer from an index alone: each time it reads all overdue timers. After a stop
		// with 100 000 pages overdue it asked twenty times a second for a hundred of them,
		// at 0.1 s each, and its one connection had time for nothing else. So we make it
		// ask for many at a time, and only as often as timers need to be on time: they are
		// read a second ahead, and wait in its memory.
		"--dynamic-config-value", "history.timerTaskBatchSize=1000",
		"--dynamic-config-value", "history.timerProcessorMaxPollRPS=2",
		// It reads no more when it holds the maximum. By default a lower count is critical: the
		// server then puts away what it has read, and reads nothing for ten seconds.
		"--dynamic-config-value", "history.queuePendingTasksMaxCount=10000",
		"--dynamic-config-value", "history.queuePendingTaskCriticalCount=20000",
		// It also counts what it has done, until it looks what that is: by default every half a
		// minute. With more than a hundred visits a second the maximum came first, and then it read
		// nothing for five seconds, again and again.
		"--dynamic-config-value", `history.timerProcessorUpdateAckInterval="5s"`,
		"--dynamic-config-value", `history.transferProcessorUpdateAckInterval="5s"`,
		"--dynamic-config-value", `history.visibilityProcessorUpdateAckInterval="5s"`,
		// By default it reads the namespace and all search attributes from its database for
		// each workflow task, in case a program waits for attributes that it makes. Ours
		// are there from the start.
		"--dynamic-config-value", "system.forceSearchAttributesCacheRefreshOnRead=false",
		// Writes to another partition of a task queue than the first are passed on to the
		// first.
		"--dynamic-config-value", "matching.numTaskqueueWritePartitions=" + strconv.Itoa(onePartition),
		"--dynamic-config-value", "matching.numTaskqueueReadPartitions=" + strconv.Itoa(partitions),
		// Nobody needs Temporal's HTTP API, and any page could use it: it cannot be
		// switched off, but answers only to a host, and none has this name.
		"--dynamic-config-value", `frontend.httpAllowedHosts=["none/"]`,
		"--log-level", "error", "--log-format", "json",
	}
	for _, name := range contract.SearchAttributes() {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	return args
}

// Start runs the first child and waits, at most until wait ends, for it to
// accept connections. Children run until ctx ends; the returned channel closes
// when the last one has ended.
func (t *Server) Start(wait, ctx context.Context) (<-chan struct{}, error) {
	ready := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		// The kernel ends the child with the thread that made it, so that thread must
		// live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		t.supervise(ctx, ready)
	}()
	select {
	case err := <-ready:
		return done, err
	case <-wait.Done():
		return done, wait.Err()
	}
}

// supervise runs one child after another. Until the first is up only a few are
// tried, since another process may take a port between its choice and the child's
// start; from then on it tries for ever.
func (t *Server) supervise(ctx context.Context, ready chan<- error) {
	started, attempts := false, 0
	pause := restartPauseMin
	for ctx.Err() == nil {
		begun := time.Now()
		err := t.runChild(ctx, func() {
			if !started {
				started = true
				ready <- nil
			}
		})
		if ctx.Err() != nil {
			return
		}
		attempts++
		if !started && (attempts == startAttempts || errors.Is(err, ErrPortInUse)) {
			ready <- err
			return
		}
		if time.Since(begun) > time.Minute {
			pause = restartPauseMin
		}
		if started {
			t.Log.Warn("the Temporal server ended; starting it again", "error", err, "in", pause)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, restartPauseMax)
	}
}

// runChild runs one child to its end; up is called when it accepts connections.
func (t *Server) runChild(ctx context.Context, up func()) error {
	child, err := t.choosePorts()
	if err != nil {
		return err
	}
	logFile, err := os.OpenFile(t.Files.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer logFile.Close()
	t.removeUnfinished(ctx)
	partitions, err := readPartitions(ctx, t.Files.Database)
	if err != nil && ctx.Err() == nil {
		t.Log.Warn("the Temporal server's tasks could not be counted", "error", err)
	}
	cmd := exec.Command(t.CLI, t.args(child, partitions)...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.Env = childEnv(os.Environ())
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	child.PID = cmd.Process.Pid
	t.OnStart(child)
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		t.setUp(Child{})
		ended <- err
	}()
	return t.attend(ctx, cmd.Process, child, ended, up)
}

// removeUnfinished makes room for a database that is whole.
func (t *Server) removeUnfinished(ctx context.Context) {
	switch removed, err := removeUnfinished(ctx, t.Files.Database); {
	case removed:
		t.Log.Info("the Temporal server's database was cut off while it was made, and is made again")
	case err != nil && ctx.Err() == nil:
		t.Log.Warn("it is not known whether the Temporal server's database is whole", "error", err)
	}
}

// childEnv makes the server collect garbage half as often as Go does by default,
// unless the environment sets how often: about a tenth of its work saved for some
// 150 MiB.
func childEnv(env []string) []string {
	if os.Getenv("GOGC") != "" {
		return env
	}
	return append(env, "GOGC=200")
}

func (t *Server) attend(ctx context.Context, p *os.Process, child Child, ended <-chan error, up func()) error {
	probe := time.NewTicker(50 * time.Millisecond)
	defer probe.Stop()
	limit := time.NewTimer(StartLimit)
	defer limit.Stop()
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	var hung <-chan error // nil until the child is up
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("the Temporal server ended: %v: %s (log: %s)", err, t.lastLog(), t.Files.Log)
		case <-ctx.Done():
			stopProcess(p, ended)
			return ctx.Err()
		case err := <-hung:
			stopProcess(p, ended)
			return err
		case <-limit.C:
			stopProcess(p, ended)
			return fmt.Errorf("the Temporal server gave no answer on %s within %s (log: %s)", child.Address(), StartLimit, t.Files.Log)
		case <-probe.C:
			if accepts(child.Address()) && child.listens() { // the cheaper one first
				probe.Stop()
				limit.Stop()
				t.thinIndexes(ctx)
				t.OnUp()
				t.setUp(child)
				up()
				hung = t.watch(watching, child)
			}
		}
	}
}

// thinIndexes makes the database of a new child small. If it fails, the child goes on
// without it.
func (t *Server) thinIndexes(ctx context.Context) {
	if _, err := thinIndexes(ctx, t.Files.Database); err != nil && ctx.Err() == nil {
		t.Log.Warn("the Temporal server's database is larger than it need be, until the next start", "error", err)
	}
}

func (t *Server) lastLog() string {
	data, err := os.ReadFile(t.Files.Log)
	if err != nil {
		return ""
	}
	return lastLine(data)
}

// stopProcess ends a process gently, then surely.
func stopProcess(p *os.Process, ended <-chan error) {
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(stopGrace):
		_ = p.Kill()
		<-ended
	}
}

// EndLeftOver ends a Temporal child that an earlier owner of the data folder
// left behind (killed with no time to stop it): it holds the database and the
// ports. Only a process that runs on this very database is touched.
func EndLeftOver(pid int, database string, log *slog.Logger) {
	if pid <= 1 || !runsOn(pid, database) {
		return
	}
	log.Info("ending a Temporal server left over from an earlier run", "pid", pid)
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	_ = p.Signal(syscall.SIGTERM)
	deadline := time.Now().Add(stopGrace)
	for runsOn(pid, database) {
		if time.Now().After(deadline) {
			_ = p.Kill()
			deadline = time.Now().Add(stopGrace)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// runsOn reports whether the process runs with the database on its command
// line.
func runsOn(pid int, database string) bool {
	line := commandLine(pid)
	return bytes.Contains(line, []byte("start-dev")) && bytes.Contains(line, []byte(database))
}

// commandLine is the command line of a process, nil if there is none, or nobody says.
func commandLine(pid int) []byte {
	if _, err := os.Stat("/proc/self/cmdline"); err != nil {
		return listedCommand(pid)
	}
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return line
}

// listedCommand is commandLine where there is no /proc, as on macOS, which does not end the child
// with us either.
func listedCommand(pid int) []byte {
	line, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return nil
	}
	return line
}

func lastLine(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
