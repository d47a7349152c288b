//go:build !unix

package durable

import "os"

// Lock cannot keep other processes from a folder on this system.
func Lock(*os.File) error { return nil }

// Unlock has nothing to release on this system.
func Unlock(*os.File) error { return nil }

// SyncFolder cannot make the names in a folder durable on this system.
func SyncFolder(*os.File) error { return nil }
