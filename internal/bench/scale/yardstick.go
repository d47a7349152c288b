//go:build unix

package main

import (
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A cloud machine's processors differ in speed by half from one minute to the next, as others
// use them too. So each sample takes the processor time of a fixed piece of work, and rates and
// costs are judged by it: what is the same number of such pieces is as fast.

// yard is a fixed piece of work, some milliseconds long: it sorts pseudo-random numbers and
// counts them in a map, so that it depends on the caches as programs do.
func yard() int {
	const numbers = 30_000
	all := make([]uint32, numbers)
	x := uint32(1)
	for i := range all {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		all[i] = x
	}
	slices.Sort(all)
	seen := make(map[uint32]int)
	for _, n := range all {
		seen[n%(numbers/8)]++
	}
	return len(seen)
}

// yardTime returns the processor time that a fixed piece of work takes now, 0 if the system
// does not tell.
func yardTime() time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var from, to unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &from) != nil || yard() == 0 || unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &to) != nil {
		return 0
	}
	return time.Duration(to.Nano() - from.Nano())
}

// yard returns the mean processor time of the fixed piece of work in the samples of a
// stretch, 0 if one of them lacks it.
func (s stretch) yard() time.Duration {
	pieces := s.to.Yards - s.from.Yards
	if pieces <= 0 {
		return 0
	}
	return (s.to.YardTime - s.from.YardTime) / time.Duration(pieces)
}

// slowness returns by what factor the machine was slower in a stretch than in another one, 1
// if that was not measured.
func (s stretch) slowness(than stretch) float64 {
	own, other := s.yard(), than.yard()
	if own <= 0 || other <= 0 {
		return 1
	}
	return float64(own) / float64(other)
}
