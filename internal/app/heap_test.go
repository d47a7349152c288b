package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// nextCollection is how large the heap will be when garbage is collected next.
func nextCollection() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NextGC
}

// The reserve puts the next collection off, but not for an operator who has set it.
func TestHeapReserve(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	release := reserveHeap()
	if at := nextCollection(); at < heapReserve {
		t.Errorf("the next collection comes at %d bytes, want more than the reserve of %d", at, heapReserve)
	}
	release()
	for _, name := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Setenv(name, "100")
		before := nextCollection()
		release := reserveHeap()
		if at := nextCollection(); at >= before+heapReserve {
			t.Errorf("with %s set, the next collection was put off from %d to %d bytes", name, before, at)
		}
		release()
		t.Setenv(name, "")
	}
}

// A command's first collection comes late, and the others as usual, but not for an operator who
// has set it.
func TestCollectLate(t *testing.T) {
	const usual = 100
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	t.Setenv("GOMEMLIMIT", "")
	t.Setenv("GOGC", "100")
	if CollectLate(); percent() != usual {
		t.Errorf("with GOGC set, it became %d", percent())
	}
	t.Setenv("GOGC", "")
	if CollectLate(); percent() <= usual {
		t.Errorf("the heap may grow by %d %% before the first collection, want more than %d", percent(), usual)
	}
	for percent() != usual && t.Context().Err() == nil {
		runtime.GC()
		runtime.Gosched()
	}
}
