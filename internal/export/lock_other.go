//go:build !unix

package export

import "os"

// lock cannot keep other processes from a folder on this system.
func lock(*os.File) error { return nil }

func unlock(*os.File) error { return nil }

// syncFolder cannot make the names in a folder durable on this system.
func syncFolder(*os.File) error { return nil }
