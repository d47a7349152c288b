package e2e

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// sideBySide makes a test run beside others, as t.Parallel does, and begins with the long
// ones. Go releases parallel tests in an order of its own: there a long one may begin last and
// run on alone. The length is roughly what the test takes on a quiet machine, in seconds; only
// the order of lengths matters. Call it before anything that takes time. Where subtests call it,
// their test must not: it would keep its place while they wait for one.
func sideBySide(t *testing.T, length int) {
	t.Helper()
	inTurn.announce()
	t.Parallel()
	<-inTurn.ask(length)
	begun := time.Now()
	t.Cleanup(func() {
		// The length that the testing package prints has the wait for the place in it.
		t.Logf("%s took %.0f s", t.Name(), time.Since(begun).Seconds())
		inTurn.leave()
	})
}

// inTurn are the places of this package's tests.
var inTurn places

// countPlaces makes as many places as -parallel says, and has Go release all tests at once,
// to ask for one.
func countPlaces() error {
	const name = "test.parallel"
	n, err := strconv.Atoi(flag.Lookup(name).Value.String())
	if err != nil {
		return fmt.Errorf("read -parallel: %w", err)
	}
	inTurn.free = n
	if err := flag.Set(name, strconv.Itoa(math.MaxInt32)); err != nil {
		return fmt.Errorf("release all tests: %w", err)
	}
	return nil
}

// places are given to those who ask, the longest first. Nobody gets one before all who were
// announced have asked, so that the first ones are the longest, too.
type places struct {
	mu     sync.Mutex
	free   int
	coming int     // announced, and not asking yet
	line   []asker // the longest first; of equal ones, who asked first
}

// asker waits for a place.
type asker struct {
	length int
	given  chan struct{} // closed with the place
}

// announce says that somebody will ask, whatever happens meanwhile.
func (p *places) announce() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coming++
}

// ask joins the line. The channel is closed as soon as the asker has a place, which it must
// leave at its end.
func (p *places) ask(length int) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coming--
	at, _ := slices.BinarySearchFunc(p.line, length, func(a asker, length int) int {
		if a.length >= length {
			return -1
		}
		return 1
	})
	given := make(chan struct{})
	p.line = slices.Insert(p.line, at, asker{length, given})
	p.give()
	return given
}

// leave gives a place back.
func (p *places) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	p.give()
}

// give gives the free places to the first of the line. The caller holds the lock.
func (p *places) give() {
	for p.coming == 0 && p.free > 0 && len(p.line) > 0 {
		close(p.line[0].given)
		p.line = p.line[1:]
		p.free--
	}
}

// TestPlaces: the longest go first, no more at a time than there are places, and nobody
// before all who were announced have asked.
func TestPlaces(t *testing.T) {
	t.Parallel()
	p := places{free: 2}
	given := map[string]<-chan struct{}{}
	has := func(want ...string) {
		t.Helper()
		var got []string
		for name, place := range given {
			select {
			case <-place:
				got = append(got, name)
			default:
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%v have had a place, want %v", got, want)
		}
	}
	names := []string{"c", "a", "b", "e", "d"} // "d" and "e" are of one length
	for range names {
		p.announce()
	}
	for i, length := range []int{10, 300, 20, 5, 5} {
		has()
		given[names[i]] = p.ask(length)
	}
	has("a", "b")
	p.leave()
	has("a", "b", "c")
	p.announce()
	p.leave()
	has("a", "b", "c") // one more is coming
	given["f"] = p.ask(1)
	has("a", "b", "c", "e")
	p.leave()
	has("a", "b", "c", "d", "e")
	p.leave()
	p.leave()
	has("a", "b", "c", "d", "e", "f")
	if p.leave(); p.free != 2 || p.coming != 0 || len(p.line) != 0 {
		t.Errorf("in the end %d places are free, %d are coming and %d wait", p.free, p.coming, len(p.line))
	}
}
