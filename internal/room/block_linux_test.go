package room

import (
	"syscall"
	"testing"
)

// A folder of the machine that a container shares: its blocks have 4 KiB, and 1 MiB is best
// written at a time.
func TestBlockSize(t *testing.T) {
	t.Parallel()
	if got := blockSize(&syscall.Statfs_t{Bsize: 1 << 20, Frsize: 4096}); got != 4096 {
		t.Errorf("blocks of %d bytes, want 4096", got)
	}
	if got := blockSize(&syscall.Statfs_t{Bsize: 512}); got != 512 {
		t.Errorf("without a unit, blocks of %d bytes, want 512", got)
	}
}
