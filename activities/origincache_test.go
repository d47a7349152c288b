package activities

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"recrawl/internal/robots"
	"recrawl/internal/store"
	"recrawl/internal/urlkey"
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

// robotsGate is a store that knows one robots.txt.
type robotsGate struct {
	store.Gate
	rec store.RobotsRecord
}

func (g robotsGate) Robots(context.Context, string) (store.RobotsRecord, error) { return g.rec, nil }

// A robots.txt that others drop from the cache at any moment is read again. The gate's record
// lacks the text: without its file it would look like an empty one, which forbids nothing.
func TestRobotsDroppedFromTheCache(t *testing.T) {
	t.Parallel()
	const origin, text = "http://a.test", "User-agent: *\nDisallow: /private\n"
	full := store.RobotsRecord{Origin: origin, State: store.RobotsParsed, Text: text, TextDigest: "digest", ExpiresAt: time.Now().Add(time.Hour)}
	lean := full
	lean.Text = ""
	a := &Activities{stores: Stores{Gate: robotsGate{rec: full}}}
	forbidden, err := urlkey.Canonical(origin + "/private")
	if err != nil {
		t.Fatal(err)
	}
	var others sync.WaitGroup
	done := make(chan struct{})
	others.Go(func() {
		file := robotsFile{File: robots.ParseText(text), answered: true}
		for {
			select {
			case <-done:
				return
			default:
				a.robots.put(origin, "digest", full.ExpiresAt, len(text), file)
				a.robots.put("http://b.test", "another", full.ExpiresAt, maxParsedBytes+1, file) // which drops all others
			}
		}
	})
	for range 200_000 {
		verdict, err := a.robotsVerdict(t.Context(), lean, "recrawl", nil, forbidden)
		if err != nil || verdict.Allowed {
			t.Errorf("%+v, %v: want it forbidden", verdict, err)
			break
		}
	}
	close(done)
	others.Wait()
}
