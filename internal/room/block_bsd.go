//go:build darwin || freebsd

package room

import "syscall"

// blockSize is the unit in which a file system counts its blocks.
func blockSize(fs *syscall.Statfs_t) int64 { return int64(fs.Bsize) }
