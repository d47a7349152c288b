package app

import (
	"os"
	"runtime"
	"runtime/debug"
)

// heapReserve is memory that the garbage collector counts and nobody touches, so the system
// provides none for it. The collector runs when the heap has doubled. A worker's live
// memory is small beside its visits' garbage, so without the reserve it ran all the time.
const heapReserve = 64 << 20

// reserveHeap takes the reserve until the function that it returns is called, unless the
// operator has set how Go's runtime uses memory.
func reserveHeap() (release func()) {
	if memoryIsSet() {
		return func() {}
	}
	reserve := make([]byte, heapReserve)
	return func() { runtime.KeepAlive(reserve) }
}

// CollectLate puts the program's first garbage collection off from 4 to 16 MiB; after it, all is
// as usual. What a program makes before it begins nearly fills 4 MiB, so that even the shortest
// command collected once, which took a fifth of its processor time. It changes nothing if
// the operator has set how Go's runtime uses memory.
func CollectLate() {
	const percent = 400
	if memoryIsSet() {
		return
	}
	usual := debug.SetGCPercent(percent)
	garbage := new([64]byte) // unused: the first collection removes it
	runtime.AddCleanup(garbage, func(usual int) { debug.SetGCPercent(usual) }, usual)
}

// memoryIsSet reports whether the operator has set how Go's runtime uses memory.
func memoryIsSet() bool { return os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" }
