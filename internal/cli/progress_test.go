package cli

import (
	"testing"
	"time"
)

// The time left follows from the progress since the first word, not since an earlier
// command; before a second has gone by, and without a known total, it is not shown.
func TestRemaining(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var r remaining
	for _, c := range []struct {
		after time.Duration
		part  float64
		want  string
	}{
		{0, 0.5, ""},
		{500 * time.Millisecond, 0.6, ""},
		{10 * time.Second, 0.5, ""},
		{10 * time.Second, 0.6, "; about 40s left"},
		{time.Minute, 0.75, "; about 1m left"},
		{2 * time.Minute, 1, "; about 0s left"},
		{2 * time.Minute, 1.2, ""},
		{2 * time.Minute, share(3, 0), ""},
	} {
		if got := r.words(c.part, begin.Add(c.after)); got != c.want {
			t.Errorf("after %s, at %v: %q, want %q", c.after, c.part, got, c.want)
		}
	}
}
