//go:build unix

package export

import (
	"os"
	"syscall"
)

// lock keeps others from the folder until it is unlocked or the process ends.
func lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// unlock gives the folder free. Closing f would not do: a child process that is just
// being started has it open too.
func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// syncFolder makes the names in a folder durable.
func syncFolder(f *os.File) error { return f.Sync() }
