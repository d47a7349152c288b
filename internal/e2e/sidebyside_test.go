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

// sideBySide makes a test run beside others, as t.Parallel does. Half of the places go to the
// longest first, and half to the shortest: Go releases parallel tests in an order of its own,
// in which a long one may begin last and run on alone, and the long ones all at once, which are
// those that use many processes, would starve each other. The length is roughly what the test
// takes on a quiet machine, in seconds; only the order of lengths matters. Call it before
// anything that takes time. Where subtests call it, their test must not: it would keep its place
// while they wait for one.
func sideBySide(t *testing.T, length int) {
	t.Helper()
	takePlace(t, &inTurn, length)
}

// waitsBeside is sideBySide for a long test that mostly waits, and takes a fifth of a core at most.
// One such runs beside those that have the places: among them, several would leave cores idle.
func waitsBeside(t *testing.T, length int) {
	t.Helper()
	if fewPlaces {
		takePlace(t, &inTurn, length)
		return
	}
	takePlace(t, &beside, length)
}

func takePlace(t *testing.T, among *places, length int) {
	t.Helper()
	among.announce()
	t.Parallel()
	place := among.ask(length)
	<-place.given
	begun := time.Now()
	t.Cleanup(func() {
		// The length that the testing package prints has the wait for the place in it.
		t.Logf("%s took %.0f s", t.Name(), time.Since(begun).Seconds())
		among.leave(place)
	})
}

// inTurn are the places of this package's tests, and beside the one for those that mostly wait.
// Where there are few places, there is none beside: somebody wants the tests to take little.
var (
	inTurn    places
	beside    = places{free: 1}
	fewPlaces bool
)

// countPlaces makes as many places as -parallel says, and has Go release all tests at once,
// to ask for one.
func countPlaces() error {
	const name = "test.parallel"
	n, err := strconv.Atoi(flag.Lookup(name).Value.String())
	if err != nil {
		return fmt.Errorf("read -parallel: %w", err)
	}
	inTurn.free, fewPlaces = n, n < 4
	if err := flag.Set(name, strconv.Itoa(math.MaxInt32)); err != nil {
		return fmt.Errorf("release all tests: %w", err)
	}
	return nil
}

// places are given to those who ask: half of them, and one more of an odd number, to the
// longest first, the others to the shortest. Nobody gets one before all who were announced have
// asked, so that the first ones are the longest and the shortest, too.
type places struct {
	mu     sync.Mutex
	free   int
	long   int      // how many were given to the longest
	short  int      // to the shortest
	coming int      // announced, and not asking yet
	line   []*asker // the longest first; of equal ones, who asked first
}

// asker waits for a place.
type asker struct {
	length int
	given  chan struct{} // closed with the place
	short  bool          // the place is one of those for the shortest
}

// announce says that somebody will ask, whatever happens meanwhile.
func (p *places) announce() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coming++
}

// ask joins the line. The asker has a place as soon as its channel is closed, and must leave it
// at its end.
func (p *places) ask(length int) *asker {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coming--
	at, _ := slices.BinarySearchFunc(p.line, length, func(a *asker, length int) int {
		if a.length >= length {
			return -1
		}
		return 1
	})
	a := &asker{length: length, given: make(chan struct{})}
	p.line = slices.Insert(p.line, at, a)
	p.give()
	return a
}

// leave gives a place back.
func (p *places) leave(a *asker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if a.short {
		p.short--
	} else {
		p.long--
	}
	p.give()
}

// give gives the free places to the ends of the line. The caller holds the lock.
func (p *places) give() {
	for p.coming == 0 && p.free > 0 && len(p.line) > 0 {
		at := 0
		if p.long > p.short {
			at = len(p.line) - 1
		}
		a := p.line[at]
		p.line = slices.Delete(p.line, at, at+1)
		if a.short = at > 0; a.short {
			p.short++
		} else {
			p.long++
		}
		p.free--
		close(a.given)
	}
}

// TestPlaces: half of the places go to the longest and half to the shortest, no more at a time
// than there are, and none before all who were announced have asked.
func TestPlaces(t *testing.T) {
	t.Parallel()
	p := places{free: 2}
	places := map[string]*asker{}
	has := func(want ...string) {
		t.Helper()
		var got []string
		for name, place := range places {
			select {
			case <-place.given:
				got = append(got, name)
			default:
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%v have had a place, want %v", got, want)
		}
	}
	lengths := []int{10, 300, 20, 5, 5, 200}
	for range lengths {
		p.announce()
	}
	for i, length := range lengths {
		has()
		places[string(rune('a'+i))] = p.ask(length)
	}
	has("b", "e")
	p.leave(places["e"]) // a short one: the next shortest
	has("b", "d", "e")
	p.leave(places["b"])
	has("b", "d", "e", "f")
	p.announce()
	p.leave(places["d"])
	has("b", "d", "e", "f") // one more is coming
	places["g"] = p.ask(1)
	has("b", "d", "e", "f", "g")
	p.leave(places["f"])
	has("b", "c", "d", "e", "f", "g")
	p.leave(places["g"])
	has("a", "b", "c", "d", "e", "f", "g")
	p.leave(places["a"])
	p.leave(places["c"])
	if p.free != 2 || p.coming != 0 || p.long != 0 || p.short != 0 || len(p.line) != 0 {
		t.Errorf("in the end %d places are free, %d and %d given, %d are coming and %d wait", p.free, p.long, p.short, p.coming, len(p.line))
	}
}
