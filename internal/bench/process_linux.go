package bench

import "syscall"

// childAttributes makes the kernel end a child with us, and keeps our Ctrl-C from it: we
// stop our children in their order.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
}
