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
	return syncFileSystem(f)
}

// SyncFileSystem brings everything in the file system of a folder to the disk. It reports false
// where the operating system has no call for that.
func SyncFileSystem(folder string) (can bool, err error) {
	f, err := os.Open(folder)
	if err != nil {
		return true, err
	}
	return true, syncFileSystem(f)
}

func syncFileSystem(f *os.File) error {
	return errors.Join(os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd()))), f.Close())
}
