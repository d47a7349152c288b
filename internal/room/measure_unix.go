//go:build linux || darwin || freebsd

package room

import "syscall"

// Measure measures the disk of a folder, as available to a user other than root.
func Measure(folder string) (Space, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(folder, &fs); err != nil {
		return Space{}, err
	}
	var about syscall.Stat_t
	if err := syscall.Stat(folder, &about); err != nil {
		return Space{}, err
	}
	space := Space{Disk: uint64(about.Dev), Bytes: int64(fs.Bavail) * blockSize(&fs), Files: -1}
	if fs.Files > 0 {
		space.Files = int64(fs.Ffree)
	}
	return space, nil
}
