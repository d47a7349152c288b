package embedded

import "syscall"

// childAttributes keeps a terminal's Ctrl-C from reaching the child before we
// have stopped the workers. The next start finds and ends a child that was left over.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
