package polite

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestPace(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	pace := time.Duration(0)
	for i, c := range []struct{ took, want time.Duration }{
		{20 * ms, 20 * ms},
		{60 * ms, 30 * ms},
		{-time.Second, 22500 * time.Microsecond},
		{time.Hour, 22500*time.Microsecond + (4*time.Second-22500*time.Microsecond)/4}, // a pause counts as 4 s
	} {
		if pace = Pace(pace, c.took); pace != c.want {
			t.Fatalf("%d: %s, want %s", i, pace, c.want)
		}
	}
	// However long it stood still, it is forgotten within some requests.
	pace = paceMost
	for range 12 {
		pace = Pace(pace, 20*ms)
	}
	if pace > 200*ms {
		t.Errorf("after twelve quick requests it is still %s", pace)
	}
	if Expected(10*time.Second, pace) != 10*time.Second || Expected(20*ms, 3*time.Second) != 3*time.Second {
		t.Error("waiters expect less than the gap, or less than what it takes")
	}
}

// The first waiter looks in time for the next grant, and nobody later than for its own.
func TestPollAfter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		between := func(name string, most time.Duration) time.Duration {
			return time.Duration(rapid.Int64Range(0, int64(most)).Draw(t, name))
		}
		step, soon := between("step", 20*time.Second), between("soon", 20*time.Second)
		position := rapid.IntRange(0, 200).Draw(t, "position")
		until := Promise(time.Time{}, position, step).Sub(time.Time{}) + between("rest", 20*time.Second)
		after := PollAfter(position, soon, until, step)
		spread := time.Duration(position) * pollSpread
		switch {
		case position == 0 && soon > 0 && after > soon:
			t.Fatalf("the first one checks after %s, and the grant comes after %s", after, soon)
		case after < min(PollEvery, max(soon, 1)):
			t.Fatalf("it checks after %s already", after)
		case after > PollEvery+spread && after > until-Horizon:
			t.Fatalf("its own grant may come after %s, and it checks after %s", until-Horizon, after)
		}
		if next := PollAfter(position+1, soon, until+step, step); next < after {
			t.Fatalf("position %d checks after %s, the one behind it after %s", position, after, next)
		}
	})
}
