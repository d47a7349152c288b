package room

import "syscall"

// blockSize is the unit in which a file system counts its blocks. Bsize is how much one should
// write at a time, and where folders are shared with a virtual machine or kept by a program (FUSE)
// it may be hundreds of times larger.
func blockSize(fs *syscall.Statfs_t) int64 {
	if fs.Frsize > 0 {
		return int64(fs.Frsize)
	}
	return int64(fs.Bsize)
}
