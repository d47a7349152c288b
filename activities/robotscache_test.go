package activities

import (
	"fmt"
	"testing"

	"recrawl/internal/robots"
)

// The cache keeps what it was given last, and never more than its bounds.
func TestRobotsCache(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 100, robots.MaxBytes} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			t.Parallel()
			var c robotsCache
			file := robots.Parse(nil)
			for i := range 3 * maxParsedRobots {
				origin := fmt.Sprint("http://h", i)
				c.put(origin, "digest", size, file)
				if c.get(origin, "digest") != file || c.get(origin, "other") != nil {
					t.Fatalf("file %d is not the one that was put", i)
				}
				if n := len(c.files); n > maxParsedRobots || n*size > maxParsedBytes {
					t.Fatalf("%d files of %d bytes", n, size)
				}
			}
		})
	}
}
