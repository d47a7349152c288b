//go:build unix && !linux

package embedded

import "syscall"

// childAttributes keeps a terminal's Ctrl-C from reaching the child before we
// have stopped the workers. Only Linux can also tie its life to ours; elsewhere
// the next start finds and ends a child that was left over.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
