package testsite

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// Rate is how often something changes. The zero Rate is never.
type Rate struct {
	mean   time.Duration
	random bool
}

// Every changes at equal intervals, at a phase that the seed chooses.
func Every(interval time.Duration) Rate { return Rate{mean: interval} }

// Poisson changes at random times, this far apart on average.
func Poisson(mean time.Duration) Rate { return Rate{mean: mean, random: true} }

// Mean is the mean time between two changes, 0 if there are none.
func (r Rate) Mean() time.Duration { return r.mean }

// timeline holds the times at which a rate's changes happen, since the start. It is
// computed up to the latest time asked for.
type timeline struct {
	rate Rate

	mu  sync.Mutex
	rng *rand.Rand
	at  []time.Duration
}

func newTimeline(r Rate, rng *rand.Rand) *timeline { return &timeline{rate: r, rng: rng} }

// until returns the changes up to and with a time. What it returned once is
// never written again.
func (t *timeline) until(elapsed time.Duration) []time.Duration {
	if t.rate.mean <= 0 {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.at) == 0 || t.at[len(t.at)-1] <= elapsed {
		t.at = append(t.at, t.next())
	}
	n, found := slices.BinarySearch(t.at, elapsed)
	if found {
		n++
	}
	return t.at[:n:n]
}

// next returns the time of the change after the last known one.
func (t *timeline) next() time.Duration {
	switch {
	case t.rate.random:
		// Two changes of one nanosecond would be one.
		gap := max(1, time.Duration(math.Round(t.rng.ExpFloat64()*float64(t.rate.mean))))
		return t.last() + gap
	case len(t.at) == 0:
		return 1 + time.Duration(t.rng.Int64N(int64(t.rate.mean)))
	}
	return t.last() + t.rate.mean
}

func (t *timeline) last() time.Duration {
	if len(t.at) == 0 {
		return 0
	}
	return t.at[len(t.at)-1]
}
