package polite

import (
	"testing"
	"time"
)

func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		limit int
		took  time.Duration
		most  int // requests that may have come
	}{
		{4, 0, 4},
		{4, time.Nanosecond, 4},
		{4, time.Millisecond, 4 + 6*4},
		{4, 400 * time.Millisecond, 4 + 20},
		{4, 2 * time.Second, 4 + 4},
		{4, 20 * time.Second, 4},
		{1, time.Microsecond, 1 + 6},
		{1000, time.Second, 1000 + 2000},
	} {
		busy := 0
		for (Crowd{Limit: c.limit, Busy: busy, Took: c.took}).LetsCome() {
			busy++
		}
		if busy != c.most {
			t.Errorf("%d at a time, each of %s: %d come, want %d", c.limit, c.took, busy, c.most)
		}
	}
}

func TestCrowdWait(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	crowd := Crowd{Limit: 4, Busy: 4, Took: 2 * time.Second}
	for _, c := range []struct {
		ahead       int
		until, wait time.Duration
	}{
		{0, 500 * time.Millisecond, time.Second},
		{9, 5 * time.Second, 5 * time.Second},
		{1000, 500500 * time.Millisecond, time.Minute},
	} {
		until := crowd.Until(c.ahead, now)
		if got := until.Sub(now); got != c.until {
			t.Errorf("behind %d: until %s, want %s", c.ahead, got, c.until)
		}
		if got := CrowdWait(until, now); got != c.wait {
			t.Errorf("behind %d: wait %s, want %s", c.ahead, got, c.wait)
		}
	}
	took := CrowdTook(0, time.Second)
	if took != time.Second {
		t.Errorf("after one of a second the mean is %s", took)
	}
	for range 50 {
		took = CrowdTook(took, 100*time.Millisecond)
	}
	if took < 90*time.Millisecond || took > 110*time.Millisecond {
		t.Errorf("after many of 100ms the mean is %s", took)
	}
}
