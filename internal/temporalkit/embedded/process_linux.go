package embedded

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// childAttributes ties a child's life to ours: it is told to end when this
// process dies, even by kill -9. Its own process group keeps a terminal's
// Ctrl-C from reaching it before we have stopped the workers.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
}

// processorTime returns the processor time that a process has used, of all its threads
// (proc_pid_stat(5), fields 14 and 15).
func processorTime(pid int) (time.Duration, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	stat, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	// The program's name, which may hold anything, ends at the last parenthesis.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	const user, system, ticks = 14 - 3, 15 - 3, 100 // a second, on all that Go runs on
	if len(fields) <= system {
		return 0, fmt.Errorf("%s has %d fields", path, len(fields))
	}
	var sum time.Duration
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		sum += time.Duration(n) * time.Second / ticks
	}
	return sum, nil
}
