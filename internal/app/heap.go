package app

import (
	"os"
	"runtime"
)

// heapReserve is memory that the garbage collector counts and nobody touches, so the system
// gives none for it. The collector runs when the heap has doubled. What a worker holds is
// small beside what its visits leave behind, so without the reserve it ran all the time.
const heapReserve = 64 << 20

// reserveHeap takes the reserve until the function that it returns is called, unless the
// operator has told Go's runtime how to use memory.
func reserveHeap() (release func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	reserve := make([]byte, heapReserve)
	return func() { runtime.KeepAlive(reserve) }
}
