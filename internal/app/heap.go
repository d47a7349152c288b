package app

import (
	"os"
	"runtime"
)

// heapReserve is memory that the garbage collector counts and nobody touches, so the system
// provides none for it. The collector runs when the heap has doubled. A worker's live
// memory is small beside its visits' garbage, so without the reserve it ran all the time.
const heapReserve = 64 << 20

// reserveHeap takes the reserve until the function that it returns is called, unless the
// operator has set how Go's runtime uses memory.
func reserveHeap() (release func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	reserve := make([]byte, heapReserve)
	return func() { runtime.KeepAlive(reserve) }
}
