package embedded

import "syscall"

// childAttributes ties a child's life to ours: it is told to end when this
// process dies, even by kill -9. Its own process group keeps a terminal's
// Ctrl-C from reaching it before we have stopped the workers.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
}
