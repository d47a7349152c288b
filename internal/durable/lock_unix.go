//go:build unix

package durable

import (
	"os"
	"syscall"
)

// Lock keeps other processes from a folder, or a file, until Unlock or the process's end. It
// does not wait.
func Lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// Unlock releases the folder, or the file. To close f would not be enough: a child process
// that is just being started has it open too.
func Unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// SyncFolder makes the names in a folder durable.
func SyncFolder(f *os.File) error { return f.Sync() }
