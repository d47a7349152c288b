package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SyncAll brings all files and folders in a root to the disk, however many they are: Linux
// has one call for a whole file system.
func SyncAll(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd()))), f.Close())
}
