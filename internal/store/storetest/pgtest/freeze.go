//go:build unix

package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// Freeze stops all processes of the server where they are, as on a machine that is out
// of memory or whose disk hangs: connections stay, and nobody answers. thaw lets them go
// on; until then the server must be left alone.
func (s *Server) Freeze(ctx context.Context) (thaw func() error, err error) {
	main, err := s.mainProcess()
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, s.DSN())
	if err != nil {
		return nil, fmt.Errorf("freeze the server: %w", err)
	}
	// The main process first: then there are no new ones.
	frozen := []int{main}
	if err := signal(syscall.SIGSTOP, frozen...); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	pids, err := processes(ctx, conn)
	frozen = append(frozen, pids...)
	thaw = func() error { return errors.Join(signal(syscall.SIGCONT, frozen...), conn.Close(ctx)) }
	if err == nil {
		err = signal(syscall.SIGSTOP, pids...)
	}
	if err != nil {
		return nil, errors.Join(err, thaw())
	}
	return thaw, nil
}

// processes are all of the server's except its main one. That of the connection is the
// last, for it has to answer.
func processes(ctx context.Context, conn *pgx.Conn) ([]int, error) {
	rows, err := conn.Query(ctx, "SELECT pid FROM pg_stat_activity ORDER BY pid = pg_backend_pid()")
	if err != nil {
		return nil, fmt.Errorf("list the server's processes: %w", err)
	}
	pids, err := pgx.CollectRows(rows, pgx.RowTo[int])
	if err != nil {
		return nil, fmt.Errorf("list the server's processes: %w", err)
	}
	return pids, nil
}

// signal signals the processes that still exist.
func signal(s syscall.Signal, pids ...int) error {
	var errs []error
	for _, pid := range pids {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("signal process %d of the server: %w", pid, err))
		}
	}
	return errors.Join(errs...)
}

// mainProcess is the id of the process that starts the others.
func (s *Server) mainProcess() (int, error) {
	text, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return 0, fmt.Errorf("find the server's process: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return 0, fmt.Errorf("read the server's process id: %w", err)
	}
	return pid, nil
}
