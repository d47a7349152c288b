//go:build unix

package program

import (
	"os/exec"
	"syscall"
)

// group puts a program into a group of processes of its own, so that the processes that a
// script started end with it.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
