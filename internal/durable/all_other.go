//go:build !linux

package durable

import (
	"errors"
	"io/fs"
	"os"
)

// SyncAll brings all files and folders in a root to the disk.
func SyncAll(root *os.Root) error {
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return errors.Join(err, SyncIn(root, name))
		}
		f, err := root.OpenFile(name, os.O_RDWR, 0) // some systems sync only what may be written
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}

// SyncFileSystem brings everything in the file system of a folder to the disk. It reports false
// where the operating system has no call for that, as here.
func SyncFileSystem(string) (can bool, err error) { return false, nil }
