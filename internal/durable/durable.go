// Package durable brings files and folders to the disk, so that a power cut leaves a
// file whole under its name or does not leave it at all.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces a file, in one step, by one that has this content and that only its owner may read.
func Write(path string, content []byte) error {
	const private = 0o600
	draft := path + ".tmp"
	if err := os.WriteFile(draft, content, private); err != nil {
		return err
	}
	return Place(draft, path)
}

// MakeFolders is os.MkdirAll whose new names are on the disk when it returns.
func MakeFolders(path string, mode fs.FileMode) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := filepath.Dir(path)
	if err := MakeFolders(parent, mode); err != nil {
		return err
	}
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return Sync(parent)
}

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
