package polite

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestHostBackoff(t *testing.T) {
	t.Parallel()
	throttled, failed := Answer{Throttled: true}, Answer{Failed: true}
	asked := func(d time.Duration) Answer { return Answer{Throttled: true, RetryAfter: d, HasRetryAfter: true} }
	tests := map[string]struct {
		strain          Strain
		answer          Answer
		level, failures int
		about           time.Duration // ± a tenth
		code            string
	}{
		"a fine answer":                 {Strain{}, Answer{}, 0, 0, 0, ""},
		"a fine answer ends failures":   {Strain{Failures: 2}, Answer{}, 0, 0, 0, ""},
		"Retry-After":                   {Strain{}, asked(90 * time.Second), 1, 0, 90 * time.Second, HostRetryAfter},
		"Retry-After of nothing":        {Strain{}, asked(0), 1, 0, 0, HostRetryAfter},
		"Retry-After of a year":         {Strain{}, asked(365 * 24 * time.Hour), 1, 0, MaxRetryAfter, HostCapped},
		"of nothing again":              {Strain{Level: 1}, asked(0), 2, 0, 2 * time.Minute, HostThrottled},
		"of nothing at the top":         {Strain{Level: highestLevel}, asked(0), highestLevel, 0, 12 * time.Hour, HostThrottled},
		"of little again":               {Strain{Level: 1}, asked(time.Second), 2, 0, time.Second, HostRetryAfter},
		"a negative Retry-After":        {Strain{}, asked(-time.Second), 1, 0, 0, HostRetryAfter},
		"throttled":                     {Strain{Failures: 1}, throttled, 1, 0, time.Minute, HostThrottled},
		"throttled again":               {Strain{Level: 2}, throttled, 3, 0, 4 * time.Minute, HostThrottled},
		"throttled for ever":            {Strain{Level: highestLevel}, throttled, highestLevel, 0, 12 * time.Hour, HostThrottled},
		"asked for quiet for ever":      {Strain{Level: highestLevel}, asked(math.MaxInt64), highestLevel, 0, MaxRetryAfter, HostCapped},
		"the first failure":             {Strain{}, failed, 0, 1, 0, ""},
		"the second failure":            {Strain{Failures: 1}, failed, 0, 2, 0, ""},
		"the third failure":             {Strain{Failures: 2}, failed, 1, 3, time.Minute, HostFailing},
		"the fourth failure":            {Strain{Level: 1, Failures: 3}, failed, 2, 4, 2 * time.Minute, HostFailing},
		"success too early to forgive":  {Strain{Level: 3, Quiet: 3 * time.Minute}, Answer{}, 3, 0, 0, ""},
		"success after quiet time":      {Strain{Level: 3, Quiet: 4 * time.Minute}, Answer{}, 2, 0, 0, ""},
		"the highest level is forgiven": {Strain{Level: highestLevel, Quiet: time.Hour}, Answer{}, highestLevel - 1, 0, 0, ""},
		"failure does not forgive":      {Strain{Level: 1, Quiet: time.Hour}, failed, 1, 1, 0, ""},
		"nothing to forgive":            {Strain{Quiet: time.Hour}, Answer{}, 0, 0, 0, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := HostBackoff(tc.strain, tc.answer, 42)
			if got.Level != tc.level || got.Failures != tc.failures || got.Reason.Code != tc.code {
				t.Errorf("HostBackoff = %+v, want level %d, failures %d, %q", got, tc.level, tc.failures, tc.code)
			}
			if off := got.For - tc.about; off > tc.about/10 || off < -tc.about/10 {
				t.Errorf("left alone for %v, want about %v", got.For, tc.about)
			}
			if got.Forgiven != (tc.level < tc.strain.Level) {
				t.Errorf("forgiven %v", got.Forgiven)
			}
		})
	}
}

// Trouble never shortens a back-off, and enough quiet success ends every back-off.
func TestHostBackoffProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		level, seed := rapid.IntRange(0, highestLevel).Draw(t, "level"), rapid.Uint64().Draw(t, "seed")
		b := HostBackoff(Strain{Level: level}, Answer{Throttled: true}, seed)
		if b.For < hostBase || b.For > hostMax {
			t.Fatalf("left alone for %v", b.For)
		}
		if further := HostBackoff(Strain{Level: level + 2}, Answer{Throttled: true}, seed); further.For < b.For*9/10 {
			t.Fatalf("level %d is left alone for %v, two more for %v", level, b.For, further.For)
		}
		for s := (Strain{Level: level, Quiet: quietMax}); s.Level > 0; {
			next := HostBackoff(s, Answer{}, seed)
			if next.Level != s.Level-1 {
				t.Fatalf("level %d becomes %d", s.Level, next.Level)
			}
			s.Level = next.Level
		}
	})
}

func TestPageBackoff(t *testing.T) {
	t.Parallel()
	const lo, hi = time.Hour, 120 * 24 * time.Hour
	for failures, about := range map[int]time.Duration{
		-1: lo, 0: lo, 1: lo, 2: 2 * lo, 3: 4 * lo, 10: 512 * lo, 1000: hi, 1 << 40: hi,
	} {
		got := retryBackoff(failures, lo, hi, 7)
		if off := got - about; off > about/10 || off < -about/10 {
			t.Errorf("retryBackoff(%d) = %v, want about %v", failures, got, about)
		}
	}
}

// The back-off stays within its bounds, is the same for the same seed, and
// differs between pages, also at its ends.
func TestPageBackoffProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		failures := rapid.IntRange(0, 10_000).Draw(t, "failures")
		lo := time.Duration(rapid.Int64Range(int64(time.Second), int64(time.Hour)).Draw(t, "lo"))
		hi := lo + time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "spread"))
		seed := rapid.Uint64().Draw(t, "seed")
		got := retryBackoff(failures, lo, hi, seed)
		if got < lo || got > hi {
			t.Fatalf("%v is outside [%v, %v]", got, lo, hi)
		}
		if again := retryBackoff(failures, lo, hi, seed); again != got {
			t.Fatalf("%v and then %v", got, again)
		}
	})
	distinct := map[time.Duration]bool{}
	for seed := range uint64(100) {
		distinct[retryBackoff(1000, time.Hour, 24*time.Hour, seed)] = true
	}
	if len(distinct) < 95 {
		t.Errorf("only %d different back-offs of 100 pages", len(distinct))
	}
}

func TestRobotsBackoff(t *testing.T) {
	t.Parallel()
	for failures, about := range map[int]time.Duration{1: time.Minute, 4: 8 * time.Minute, 20: 12 * time.Hour} {
		got := RobotsBackoff(failures, 3)
		if off := got - about; off > about/10 || off < -about/10 {
			t.Errorf("RobotsBackoff(%d) = %v, want about %v", failures, got, about)
		}
	}
}

func TestRobotsSpread(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]time.Duration{
		0: 0, 3 * time.Second: 3 * time.Second, time.Minute: 10 * time.Second, time.Hour: time.Minute, robotsMax: 12 * time.Minute,
	} {
		if got := RobotsSpread(wait); got != want {
			t.Errorf("RobotsSpread(%v) = %v, want %v", wait, got, want)
		}
	}
}

func TestJitter(t *testing.T) {
	t.Parallel()
	var sum time.Duration
	for seed := range uint64(1000) {
		j := Jitter(time.Second, seed)
		if j < 0 || j >= time.Second {
			t.Fatalf("Jitter(1s, %d) = %v", seed, j)
		}
		sum += j
	}
	if mean := sum / 1000; mean < 450*time.Millisecond || mean > 550*time.Millisecond {
		t.Errorf("mean %v of 1s", mean)
	}
	if j := Jitter(-time.Second, 1); j != 0 {
		t.Errorf("Jitter of a negative duration is %v", j)
	}
}

// The highest level is the first with the longest back-off, and a level beyond it, which
// earlier releases stored, counts as that.
func TestHighestLevel(t *testing.T) {
	t.Parallel()
	if last := doubled(hostBase, hostMax, highestLevel-1); doubled(hostBase, hostMax, highestLevel) != hostMax || last >= hostMax {
		t.Errorf("the level before it is left alone for %v", last)
	}
	for _, a := range []Answer{{}, {Throttled: true}, {Throttled: true, HasRetryAfter: true}, {Failed: true}} {
		if got := HostBackoff(Strain{Level: 1 << 40, Failures: 9}, a, 1); got.Level != highestLevel {
			t.Errorf("%+v leads to level %d", a, got.Level)
		}
	}
}
