package activities

import (
	"fmt"
	"testing"
	"time"

	"recrawl/internal/robots"
)

// The cache keeps its latest files, and never more than its bounds.
func TestRobotsCache(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 100, robots.MaxBytes} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			t.Parallel()
			var c robotsCache
			file := robotsFile{File: robots.Parse(nil)}
			now := time.Now()
			for i := range 3 * maxParsedRobots {
				origin := fmt.Sprint("http://h", i)
				c.put(origin, "digest", now, size, file)
				if is, _ := c.get(origin, "digest", now); is != file {
					t.Fatalf("file %d is not the one that was put", i)
				}
				if _, ok := c.get(origin, "other", now); ok {
					t.Fatalf("file %d has another digest", i)
				}
				if n := len(c.files); n > maxParsedRobots || n*size > maxParsedBytes {
					t.Fatalf("%d files of %d bytes", n, size)
				}
			}
		})
	}
}

// A file is trusted until the time of the newest answer.
func TestRobotsCacheExpires(t *testing.T) {
	t.Parallel()
	var c robotsCache
	now := time.Now()
	c.put("http://h", "digest", now.Add(time.Hour), 1, robotsFile{File: robots.Parse(nil)})
	if _, ok := c.fresh("http://h", now); !ok {
		t.Error("a fresh file is not there")
	}
	if _, ok := c.fresh("http://h", now.Add(time.Hour)); ok {
		t.Error("an old file is there")
	}
	c.get("http://h", "digest", now.Add(2*time.Hour))
	if _, ok := c.fresh("http://h", now.Add(time.Hour)); !ok {
		t.Error("a file that was asked for again is not there")
	}
}
