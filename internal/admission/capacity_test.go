package admission

import (
	"container/heap"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// crowded is a crawl of pages that are due once an interval, on an engine that makes a number of
// visits a second. Its plans ask for no more than the capacity that it measures, if it is bounded.
type crowded struct {
	pages    int
	interval time.Duration
	rate     func(at time.Duration) float64 // visits/s that the engine can make; at is since the start
	bounded  bool
	claimed  time.Duration // how long tasks are said to wait at least, true or not

	due      dueTimes // of all pages: those in the past are its queue
	now      time.Time
	capacity Capacity
	stretch  float64
	visits   int64
	oldest   time.Duration // wait, since reset
}

type dueTimes []time.Time

func (d dueTimes) Len() int           { return len(d) }
func (d dueTimes) Less(i, j int) bool { return d[i].Before(d[j]) }
func (d dueTimes) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *dueTimes) Push(x any)        { *d = append(*d, x.(time.Time)) }
func (d *dueTimes) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

// run goes on for a while, and returns the visits of that time and the longest wait in it.
func (c *crowded) run(d time.Duration) (visits int64, oldest time.Duration) {
	start := time.Unix(0, 0)
	if c.now.IsZero() {
		c.now, c.stretch = start, 1
		for i := range c.pages {
			c.due = append(c.due, start.Add(c.interval*time.Duration(i)/time.Duration(c.pages)))
		}
		heap.Init(&c.due)
	}
	before, left := c.visits, 0.0
	c.oldest = 0
	for end := c.now.Add(d); c.now.Before(end); c.now = c.now.Add(time.Second) {
		at := c.now.Sub(start)
		for left += c.rate(at); left >= 1 && !c.due[0].After(c.now); left-- {
			c.visits++
			spread := 0.95 + 0.1*float64(c.visits%97)/97
			c.due[0] = c.now.Add(time.Duration(float64(c.interval) * c.stretch * spread))
			heap.Fix(&c.due, 0)
		}
		left = min(left, max(1, c.rate(at))) // an idle second is lost
		wait := max(0, c.now.Sub(c.due[0]))
		c.oldest = max(c.oldest, wait)
		if int(at.Seconds())%20 == 0 && c.rate(at) > 0 {
			c.capacity = c.capacity.Next(Load{At: c.now, Oldest: max(wait, c.claimed), Late: wait, Visits: c.visits, Pages: c.pages})
		}
		if c.bounded && int(at.Seconds())%600 == 0 { // maintenance
			c.stretch = 1
			if bound := c.capacity.Now(c.now); bound > 0 {
				c.stretch = max(1, float64(c.pages)/c.interval.Seconds()/bound)
			}
		}
	}
	return c.visits - before, c.oldest
}

// TestOverloadIsBounded is a crawl that asks for two and a half times what the engine makes.
// Without the bound each visit waits as long as that slows it down.
func TestOverloadIsBounded(t *testing.T) {
	t.Parallel()
	steady := func(time.Duration) float64 { return 2 }
	const round = 5000 * time.Second // in which the engine visits each page once
	free := crowded{pages: 10_000, interval: 2000 * time.Second, rate: steady}
	free.run(4 * round)
	visits, oldest := free.run(4 * round)
	assert.InDelta(t, 4*10_000, visits, 10)
	assert.InDelta(t, 3000, oldest.Seconds(), 300, "the rest of the round")

	c := crowded{pages: 10_000, interval: 2000 * time.Second, rate: steady, bounded: true}
	c.run(4 * round)
	visits, oldest = c.run(12 * round)
	assert.Greater(t, visits, int64(12*9000), "nine tenths of what it makes")
	assert.Less(t, oldest, round/8)
	assert.InDelta(t, 2, c.capacity.Now(c.now), 0.25)
}

// TestStopIsNoOverload is a crawl that asks for four fifths of what the engine makes, and was
// stopped for so long that all pages are overdue.
func TestStopIsNoOverload(t *testing.T) {
	t.Parallel()
	stopped := func(at time.Duration) float64 {
		if at > 2*time.Hour && at < 5*time.Hour {
			return 0
		}
		return 2
	}
	c := crowded{pages: 10_000, interval: 6250 * time.Second, rate: stopped, bounded: true}
	_, oldest := c.run(2 * time.Hour)
	assert.Less(t, oldest, Behind)
	assert.Zero(t, c.capacity, "it has always kept up")
	c.run(5 * time.Hour)
	assert.NotZero(t, c.capacity.Now(c.now), "it was behind")
	assert.Equal(t, 1.0, c.stretch, "but asks for less than it can have")
	c.run(5 * time.Hour)
	_, oldest = c.run(5 * time.Hour)
	assert.Less(t, oldest, Behind)
	assert.Zero(t, c.capacity.Now(c.now.Add(60*24*time.Hour)), "long ago")
}

// TestCapacityFollows is an engine that gets faster, one that gets slower, and one that is
// disturbed for an hour.
func TestCapacityFollows(t *testing.T) {
	t.Parallel()
	const round = 5000 * time.Second
	tests := []struct {
		name  string
		rate  func(at time.Duration) float64
		after time.Duration // the change
		least float64       // visits/s then
		most  time.Duration // wait then
	}{
		{"faster", func(at time.Duration) float64 {
			if at > 4*round {
				return 4
			}
			return 2
		}, 8 * round, 3, round / 8},
		{"slower", func(at time.Duration) float64 {
			if at > 4*round {
				return 1
			}
			return 2
		}, 12 * round, 0.9, round / 4},
		{"disturbed", func(at time.Duration) float64 {
			if at > 4*round && at < 4*round+time.Hour {
				return 0.1
			}
			return 2
		}, 6 * round, 1.8, round / 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := crowded{pages: 10_000, interval: 2000 * time.Second, rate: tt.rate, bounded: true}
			c.run(4 * round)
			c.run(tt.after)
			visits, oldest := c.run(8 * round)
			assert.Greater(t, float64(visits)/(8*round.Seconds()), tt.least)
			assert.Less(t, oldest, tt.most)
		})
	}
}

// TestForeignTasksAreNoOverload: tasks wait for ever, although all visits are made in time. Nothing
// is slowed down.
func TestForeignTasksAreNoOverload(t *testing.T) {
	t.Parallel()
	c := crowded{pages: 10_000, interval: 6250 * time.Second, rate: func(time.Duration) float64 { return 2 }, bounded: true, claimed: time.Hour}
	c.run(24 * time.Hour)
	assert.Zero(t, c.capacity)
	assert.Equal(t, 1.0, c.stretch)
}

// TestCapacityIsMeasured is the arithmetic of one measurement.
func TestCapacityIsMeasured(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_000_000, 0)
	look := func(after time.Duration, behind time.Duration, visits int64) Load {
		return Load{At: start.Add(after), Oldest: behind, Late: behind, Visits: visits, Pages: 60_000}
	}
	c := Capacity{}.Next(look(0, Behind-1, 1000))
	assert.Zero(t, c, "it keeps up")
	for after := time.Duration(0); after < measured; after += 20 * time.Second {
		c = c.Next(look(after, time.Minute, 1000+int64(after.Seconds())*50))
		assert.Zero(t, c.PerSecond, "too short to say")
	}
	c = c.Next(look(measured, time.Minute, 1000+120*50))
	assert.InDelta(t, 45, c.PerSecond, 1e-9, "nine tenths of 50 a second")
	assert.InDelta(t, 60_000.0/45, c.Cycle.Seconds(), 1e-6)

	again := c.Next(look(measured+time.Minute, time.Minute, 1000+180*50))
	assert.Equal(t, c.PerSecond, again.PerSecond, "its plans have not been followed yet")
	nearly := again.Next(look(measured+2*time.Minute, KeepsUp, 20_000))
	assert.Equal(t, again.Since, nearly.Since, "it still has more to do than it does")
	well := nearly.Next(look(measured+140*time.Second, KeepsUp-1, 20_000))
	assert.Zero(t, well.Since)
	assert.InDelta(t, 45, well.Now(c.At.Add(c.Cycle-1)), 1e-9)
	assert.InDelta(t, 45*growth, well.Now(c.At.Add(c.Cycle)), 1e-9)
	assert.Zero(t, well.Now(c.At.Add(mostCycles*c.Cycle)))

	gap := c.Next(look(measured+time.Hour, time.Minute, 20_000))
	assert.Equal(t, Mark{At: start.Add(measured + time.Hour), Visits: 20_000}, gap.Since, "nobody looked for a while")
	assert.Equal(t, int64(10), c.Next(look(measured+20*time.Second, time.Minute, 10)).Since.Visits, "a crawl was deleted")

	slow := c
	for after := measured; after <= measured+c.Cycle+time.Minute; after += 20 * time.Second {
		slow = slow.Next(look(after, time.Hour, c.Since.Visits+int64((after-measured).Seconds())))
	}
	assert.InDelta(t, 0.75*45, slow.PerSecond, 1e-9, "by a quarter at most")
}

// TestCapacityAfterClockWentBack: what was measured ahead of the clock does not stay until it has caught
// up.
func TestCapacityAfterClockWentBack(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0)
	ahead := at.Add(365 * 24 * time.Hour)
	was := Capacity{PerSecond: 2, At: ahead, Cycle: time.Hour, Since: Mark{At: ahead, Visits: 5}, Seen: ahead}

	keepsUp := was.Next(Load{At: at})
	assert.Equal(t, Capacity{PerSecond: 2, At: at, Cycle: time.Hour}, keepsUp)
	assert.InDelta(t, 2.2, keepsUp.Now(at.Add(time.Hour)), 0.001, "it grows")

	behind := was.Next(Load{At: at, Oldest: time.Hour, Late: time.Hour, Visits: 10})
	assert.Equal(t, Mark{At: at, Visits: 10}, behind.Since, "where the measurement begins")
	for _, since := range []time.Duration{time.Hour, time.Hour + time.Minute, time.Hour + 2*time.Minute} {
		behind = behind.Next(Load{At: at.Add(since), Oldest: time.Hour, Late: time.Hour, Visits: 10 + int64(since.Seconds()), Pages: 1000})
	}
	assert.Equal(t, at.Add(time.Hour+2*time.Minute), behind.At, "when it was measured")
}
