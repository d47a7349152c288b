package bench

import "syscall"

// childAttributes have the kernel end a child with us, and keep a Ctrl-C from it that
// is meant for us: we stop what we have started in its order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
}
