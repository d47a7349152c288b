package urlkey

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHostileReferences: no reference costs more than a few milliseconds, whatever
// its form.
func TestHostileReferences(t *testing.T) {
	base := must(t, "http://example.com/"+strings.Repeat("a/", maxParts-10))
	fill := func(head, part, tail string) string {
		return head + strings.Repeat(part, (MaxLength-len(head)-len(tail))/len(part)) + tail
	}
	for _, ref := range []string{
		fill("http://", "@", "h/"), fill("http://", "\"@", "h/"), fill("http://", "\"", "@h/"), fill("http://u", ":", "@h/"),
		fill("http://h", "/", ""), fill("http://h", `\`, ""), fill("http://h/", "a/../", ""), fill("", "../", ""), fill("", "a", ""),
		fill("http://", "é", "/"), fill("http://", "a.", "/"), fill("http://", "xn--a.", "/"), fill("http://xn--", "b-9", "/"),
		fill("http://", "9", "/"), fill("http://h/", "%", ""), fill("http://h/?", "é", ""), fill("javascript:", "%", ""), fill("//", "\t@", "h"),
	} {
		// The bound is far from both: before the limits it took seconds.
		if cost := leastWork(t, 3, func() { _, _ = Resolve(base, ref) }); cost > 200*time.Millisecond {
			t.Errorf("%.40q… costs %v", ref, cost)
		}
	}
}

// leastWork is the least processor time of some runs. Other work of the machine is
// not counted.
func leastWork(t *testing.T, runs int, do func()) time.Duration {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	least := time.Duration(1<<63 - 1)
	for range runs {
		start := threadWork(t)
		do()
		least = min(least, threadWork(t)-start)
	}
	return least
}

// threadWork is the processor time of this thread.
func threadWork(t *testing.T) time.Duration {
	t.Helper()
	const thread = 1 // RUSAGE_THREAD
	var used syscall.Rusage
	if err := syscall.Getrusage(thread, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
