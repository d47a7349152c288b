package embedded

import "syscall"

// childAttributes keeps a terminal's Ctrl-C from reaching the child before we
// have stopped the workers. One that is left over must be ended by hand.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
