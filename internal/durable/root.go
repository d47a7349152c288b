package durable

import (
	"errors"
	"os"
	"path"
)

// PlaceIn is Place inside a root, which no name leads out of.
func PlaceIn(root *os.Root, from, to string) error {
	f, err := root.Open(from)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := root.Rename(from, to); err != nil {
		return err
	}
	return SyncIn(root, path.Dir(to))
}

// SyncIn makes the names in a folder of a root durable.
func SyncIn(root *os.Root, folder string) error {
	f, err := root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(SyncFolder(f), f.Close())
}
