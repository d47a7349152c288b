//go:build unix

package export

import (
	"os"
	"syscall"
)

// lock keeps other processes from the folder until f is closed or the process ends.
func lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// syncFolder makes the names in a folder durable.
func syncFolder(f *os.File) error { return f.Sync() }
