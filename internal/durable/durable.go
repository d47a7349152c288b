// Package durable brings files and folders to the disk, so that a power cut leaves a
// file whole under its name or does not leave it at all.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Place renames a file that has its whole content. Both the content and the new name
// are on the disk when it returns.
func Place(from, to string) error {
	if err := Sync(from); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return Sync(filepath.Dir(to))
}

// Sync brings a file, or a folder's entries, to the disk.
func Sync(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
