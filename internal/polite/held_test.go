package polite

import (
	"math"
	"testing"
	"time"

	"recrawl/internal/crawl"
)

func TestLeftAlone(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		held     time.Duration
		failures int
		want     time.Duration
	}{
		{0, 1, 0},
		{0, 9, 0},
		{-time.Second, 9, 0},
		{time.Minute, 1, time.Minute},
		{time.Minute, 2, 8 * time.Minute},
		{time.Minute, 1000, 8 * time.Minute},
		{24 * time.Hour, 1, 24 * time.Hour},
		{24 * time.Hour, 2, 48 * time.Hour},
		{math.MaxInt64 / 2, 2, math.MaxInt64/2 + 24*time.Hour},
	} {
		if got := LeftAlone(tc.held, tc.failures); got != tc.want {
			t.Errorf("LeftAlone(%v, %d) = %v, want %v", tc.held, tc.failures, got, tc.want)
		}
	}
}

func TestBehind(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		class crawl.Class
		held  time.Duration
		want  crawl.Class
		age   time.Duration
	}{
		{crawl.ClassRevisit, 0, crawl.ClassRevisit, 0},
		{crawl.ClassFirst, 0, crawl.ClassFirst, 0},
		{crawl.ClassRevisit, time.Minute, crawl.ClassProbe, 8 * time.Minute},
		{crawl.ClassFirst, time.Minute, crawl.ClassProbe, 8 * time.Minute},
		{crawl.ClassProbe, 12 * time.Hour, crawl.ClassProbe, 36 * time.Hour},
		{crawl.ClassManual, time.Minute, crawl.ClassManual, 0},
	} {
		if class, age := Behind(tc.class, tc.held); class != tc.want || age != tc.age {
			t.Errorf("Behind(%d, %v) = %d, %v; want %d, %v", tc.class, tc.held, class, age, tc.want, tc.age)
		}
	}
}
