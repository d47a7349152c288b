//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"recrawl/internal/porttest"
)

const (
	startTimeout = 10 * time.Minute // only ends a hang: initdb on a busy machine takes its time
	// pollEvery is how often a starting server is asked whether it is up: it has
	// no other way to say so.
	pollEvery = 50 * time.Millisecond
)

// supervisor runs the server as its child and ends it when its standard input
// is closed: also when the test process dies in a way that runs no clean-up, so
// that no test leaves a server behind. Then it removes the folder as well, unless
// there is a file keep in it. Its arguments are the folder and the server's
// command.
const supervisor = `dir=$1; shift
exec 3<&0
"$@" 3<&- & server=$!
(read -r _ <&3; : >"$dir/asked"; kill -INT $server) 2>/dev/null & reader=$!
wait $server
kill $reader 2>/dev/null
if [ -e "$dir/asked" ] && [ ! -e "$dir/keep" ]; then rm -rf "$dir"; fi`

// Server is a throw-away PostgreSQL. It keeps nothing safe: fsync is off, unless its
// settings say otherwise.
type Server struct {
	settings []string

	bin  string // folder of the binaries
	dir  string // holds the data folder, the socket and the log
	port string
	cred *syscall.Credential // of another user when this one is root

	input io.Closer     // of the supervisor: closing it ends the server; nil while it is down
	ended chan struct{} // closed when the supervisor has ended, and with it the server
}

// Start makes and starts a server. If PostgreSQL is missing, the error says what to
// install. Settings, each "name=value", go before the tests' own.
func Start(ctx context.Context, settings ...string) (*Server, error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	s := &Server{bin: bin, settings: settings}
	if err := s.create(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("create a test server: %w", err), os.RemoveAll(s.dir))
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a test server: %w", err), s.Stop())
	}
	return s, nil
}

// Standby makes and starts a server that follows this one.
func (s *Server) Standby(ctx context.Context) (*Server, error) {
	follower := &Server{bin: s.bin, cred: s.cred, settings: s.settings}
	if err := follower.follow(ctx, s); err != nil {
		return nil, errors.Join(fmt.Errorf("make a standby: %w", err), os.RemoveAll(follower.dir))
	}
	if err := follower.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a standby: %w", err), follower.Stop())
	}
	return follower, nil
}

// follow makes the data folder of a standby.
func (s *Server) follow(ctx context.Context, of *Server) error {
	if err := s.makeDir(); err != nil {
		return err
	}
	copied := s.command(ctx, filepath.Join(s.bin, "pg_basebackup"), "-D", s.data(), "-d", of.DSN(), "-R", "-c", "fast", "--no-sync")
	if out, err := copied.CombinedOutput(); err != nil {
		return fmt.Errorf("pg_basebackup: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// DSN is the server's DSN, with the database postgres.
func (s *Server) DSN() string {
	return fmt.Sprintf("postgres://recrawl@127.0.0.1:%s/postgres?sslmode=disable", s.port)
}

// Bin is the folder of PostgreSQL's programs that the server was made with.
func (s *Server) Bin() string { return s.bin }

// Stop ends the server and removes all its files.
func (s *Server) Stop() error {
	err := s.end()
	return errors.Join(err, os.RemoveAll(s.dir))
}

// Kill9 ends the server as a crash would: its main process by SIGKILL. The data
// stay for Restart.
func (s *Server) Kill9() error {
	pid, err := s.mainProcess()
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill the server: %w", err)
	}
	return s.end()
}

// Restart starts the server again on the same port, after Kill9 or while it
// runs.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.end(); err != nil {
		return err
	}
	if err := s.start(ctx); err != nil {
		return fmt.Errorf("start the test server again: %w", err)
	}
	return nil
}

// end ends the server if it runs, keeping the data.
func (s *Server) end() error {
	if s.input == nil {
		return nil
	}
	if err := os.WriteFile(filepath.Join(s.dir, "keep"), nil, 0o600); err != nil {
		return fmt.Errorf("keep the data: %w", err)
	}
	if err := s.input.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("end the server: %w", err)
	}
	<-s.ended
	s.input = nil
	return nil
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// makeDir makes the server's folder.
func (s *Server) makeDir() error {
	var err error
	if s.dir, err = os.MkdirTemp("", "pgtest"); err != nil {
		return err
	}
	if s.cred, err = otherUser(); err != nil {
		return err
	}
	if s.cred == nil {
		return nil
	}
	return os.Chown(s.dir, int(s.cred.Uid), int(s.cred.Gid))
}

// create makes the folder and the database cluster.
func (s *Server) create(ctx context.Context) error {
	if err := s.makeDir(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return s.makeData(ctx)
}

// start starts the server and waits until it answers. Another process may take
// the free port between its choice and its use, and after a kill the old
// server's children need a moment to go, so it tries again.
func (s *Server) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	fixed := s.port != ""
	for {
		if !fixed {
			port, err := porttest.Free(ctx)
			if err != nil {
				return fmt.Errorf("find a free port: %w", err)
			}
			s.port = port
		}
		up, err := s.startOnce(ctx)
		if err != nil || up {
			return err
		}
		if err := s.end(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the server's log ends with: %s", ctx.Err(), s.lastWords())
		case <-time.After(pollEvery):
		}
	}
}

// startOnce starts the server and reports whether it came up; it did not if it
// ended by itself.
func (s *Server) startOnce(ctx context.Context) (up bool, err error) {
	log, err := os.Create(filepath.Join(s.dir, "log"))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, mark := range []string{"keep", "asked"} {
		if err := os.RemoveAll(filepath.Join(s.dir, mark)); err != nil {
			return false, err
		}
	}
	// Not bound to ctx: the server runs until its input is closed.
	args := []string{
		"-c", supervisor, "sh", s.dir, filepath.Join(s.bin, "postgres"), "-D", s.data(), "-k", s.dir, "-p", s.port,
		"-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "full_page_writes=off",
		"-c", "shared_buffers=64MB", "-c", "max_connections=200", "-c", "autovacuum_naptime=1h",
		"-c", "jit=off", // compiling takes longer than any statement of a test, also of Temporal
	}
	for _, setting := range s.settings {
		args = append(args, "-c", setting) // the last one counts
	}
	cmd := s.command(context.WithoutCancel(ctx), "/bin/sh", args...)
	if len(s.settings) == 0 { // benchmarks have settings, and are to be like everybody's server
		// Backends keep the memory of a statement for the next one: fetching it anew took a tenth
		// of their time.
		cmd.Env = append(cmd.Env, "MALLOC_TRIM_THRESHOLD_=268435456", "MALLOC_MMAP_THRESHOLD_=268435456", "MALLOC_TOP_PAD_=16777216")
	}
	cmd.Stdout, cmd.Stderr = log, log
	input, err := cmd.StdinPipe()
	if err != nil {
		return false, err
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the server's messages are in its log
	}()
	s.input, s.ended = input, ended
	return s.waitUp(ctx)
}

// waitUp waits until the server answers, or has ended.
func (s *Server) waitUp(ctx context.Context) (bool, error) {
	for {
		conn, err := pgx.Connect(ctx, s.DSN())
		if err == nil {
			return true, conn.Close(ctx)
		}
		select {
		case <-s.ended:
			return false, nil
		case <-ctx.Done():
			return false, fmt.Errorf("%w; the server's log ends with: %s", ctx.Err(), s.lastWords())
		case <-time.After(pollEvery):
		}
	}
}

// lastWords is the end of the server's log.
func (s *Server) lastWords() string {
	text, err := os.ReadFile(filepath.Join(s.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text[max(0, len(text)-1000):]))
}

// command runs a program as the server's user.
func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	// A separate process group: Ctrl-C of a test run must reach the server by way of
	// its supervisor only.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.cred}
	return cmd
}

// otherUser returns the user that runs the server: PostgreSQL refuses root.
func otherUser() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody")
}

// findBinaries returns the folder that has initdb and postgres: of PATH, else
// the newest of Debian's.
func findBinaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && hasServer(filepath.Dir(path)) {
			return filepath.Dir(path), nil
		}
	}
	folders, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil {
		return "", err
	}
	best, newest := "", -1
	for _, folder := range folders {
		version, err := strconv.Atoi(filepath.Base(filepath.Dir(folder)))
		if err == nil && version > newest && hasServer(folder) {
			best, newest = folder, version
		}
	}
	if best == "" {
		return "", fmt.Errorf("these tests need PostgreSQL's initdb and postgres: apt-get install postgresql, or set %s to the DSN of a server", EnvDSN)
	}
	return best, nil
}

func hasServer(folder string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
}
