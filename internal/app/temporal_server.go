package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"recrawl/internal/contract"
)

// Limits of the Temporal child's life.
const (
	temporalStartLimit = 60 * time.Second // until it accepts connections
	temporalStopGrace  = 8 * time.Second  // from SIGTERM to SIGKILL
	restartPauseMax    = 10 * time.Second // between two restarts of a dying child
)

// errNotStarted: the first child ended before it was up, for instance because
// somebody else took one of its ports between the choice and its start.
var errNotStarted = errors.New("the Temporal server did not start")

// temporalServer is the embedded Temporal: a child process on the data folder,
// restarted when it dies, on the same ports, until its context ends.
type temporalServer struct {
	cli    string
	dir    *dataDir
	port   int
	uiPort int
	log    *slog.Logger
	onPID  func(pid int) // told of each new child
}

func (t *temporalServer) address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(t.port)) }

func (t *temporalServer) uiAddress() string {
	return "http://" + net.JoinHostPort("localhost", strconv.Itoa(t.uiPort))
}

func (t *temporalServer) args() []string {
	args := []string{
		"server", "start-dev", "--ip", "127.0.0.1",
		"--port", strconv.Itoa(t.port), "--ui-port", strconv.Itoa(t.uiPort),
		"--db-filename", t.dir.file(temporalFile),
		// Without WAL the server does about a quarter of the work.
		"--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL",
		"--dynamic-config-value", "system.enableActivityEagerExecution=true",
		"--dynamic-config-value", "limit.maxIDLength=255",
		"--log-level", "error", "--log-format", "json",
	}
	for _, name := range contract.SearchAttributes() {
		args = append(args, "--search-attribute", name+"=Keyword")
	}
	return args
}

// start runs the first child and waits, at most until wait ends, for it to
// accept connections. Children run until ctx ends; the returned channel closes
// when the last one has ended.
func (t *temporalServer) start(wait, ctx context.Context) (<-chan struct{}, error) {
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

func (t *temporalServer) supervise(ctx context.Context, ready chan<- error) {
	first := true
	pause := 200 * time.Millisecond
	for ctx.Err() == nil {
		begun := time.Now()
		err := t.runChild(ctx, func() {
			if first {
				ready <- nil
				first = false
			}
		})
		if ctx.Err() != nil {
			return
		}
		if first {
			ready <- fmt.Errorf("%w: %w (log: %s)", errNotStarted, err, t.dir.file(temporalLog))
			return
		}
		if time.Since(begun) > time.Minute {
			pause = 200 * time.Millisecond
		}
		t.log.Warn("the Temporal server ended; starting it again", "error", err, "in", pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		pause = min(2*pause, restartPauseMax)
	}
}

// runChild runs one child to its end; up is called when it accepts connections.
func (t *temporalServer) runChild(ctx context.Context, up func()) error {
	logFile, err := os.OpenFile(t.dir.file(temporalLog), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer logFile.Close()
	cmd := exec.Command(t.cli, t.args()...)
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.Env = childEnv(os.Environ())
	cmd.SysProcAttr = childAttributes()
	if err := cmd.Start(); err != nil {
		return err
	}
	if t.onPID != nil {
		t.onPID(cmd.Process.Pid)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return t.attend(ctx, cmd.Process, ended, up)
}

// childEnv lets the server collect garbage half as often as Go does by default,
// unless the environment says how often: about a tenth of its work saved for
// some 150 MiB.
func childEnv(env []string) []string {
	if os.Getenv("GOGC") != "" {
		return env
	}
	return append(env, "GOGC=200")
}

func (t *temporalServer) attend(ctx context.Context, p *os.Process, ended <-chan error, up func()) error {
	probe := time.NewTicker(50 * time.Millisecond)
	defer probe.Stop()
	limit := time.NewTimer(temporalStartLimit)
	defer limit.Stop()
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("server process ended: %v: %s", err, t.lastLog())
		case <-ctx.Done():
			stopProcess(p, ended)
			return ctx.Err()
		case <-limit.C:
			stopProcess(p, ended)
			return fmt.Errorf("no answer on %s within %s", t.address(), temporalStartLimit)
		case <-probe.C:
			if accepts(t.address()) && listens(p.Pid, t.port) && listens(p.Pid, t.uiPort) {
				probe.Stop()
				limit.Stop()
				up()
			}
		}
	}
}

func (t *temporalServer) lastLog() string {
	data, err := os.ReadFile(t.dir.file(temporalLog))
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
	case <-time.After(temporalStopGrace):
		_ = p.Kill()
		<-ended
	}
}

// endLeftOver ends a Temporal child that an earlier owner of the data folder
// left behind (killed with no time to stop it): it holds the database and the
// ports. Only a process that runs on this very database is touched.
func endLeftOver(pid int, database string, log *slog.Logger) {
	if pid <= 1 || !runsOn(pid, database) {
		return
	}
	log.Info("ending a Temporal server left over from an earlier run", "pid", pid)
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	_ = p.Signal(syscall.SIGTERM)
	deadline := time.Now().Add(temporalStopGrace)
	for runsOn(pid, database) {
		if time.Now().After(deadline) {
			_ = p.Kill()
			deadline = time.Now().Add(temporalStopGrace)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// runsOn reports whether the process runs with the database on its command
// line.
func runsOn(pid int, database string) bool {
	cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return false
	}
	return bytes.Contains(cmdline, []byte("start-dev")) && bytes.Contains(cmdline, []byte(database))
}

func lastLine(output []byte) string {
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
