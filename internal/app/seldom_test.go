package app

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestOutageIsSaidSeldom: while the store is away, each page that is due says so again and again. A
// worker with many pages once wrote a log of hundreds of megabytes an hour.
func TestOutageIsSaidSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := sdkLogger(slog.New(slog.NewTextHandler(&out, nil)))
		storm := func() {
			for i := range 5000 {
				log.With("page", i).Warn("asking for a permit failed", "error", "the database does not answer")
				log.Warn(fmt.Sprintf("[TMPRL1104] 01a22593-3bf9-7cfe-%d:24:1 Workflow task duration exceeded 5 seconds.", i))
			}
		}
		storm()
		log.With("page", 1).Error("something else")
		if n := strings.Count(out.String(), "\n"); n != 2*saidMost+1 {
			t.Errorf("%d lines, want %d of each and one of something else:\n%s", n, saidMost, out.String())
		}
		out.Reset()
		time.Sleep(saidFor) // of the bubble
		storm()
		for _, want := range []string{
			"4980 more like this in a minute are not shown: asking for a permit failed",
			"4980 more like this in a minute are not shown: [TMPRL1104] Workflow task duration exceeded seconds.",
		} {
			if strings.Count(out.String(), want) != 1 {
				t.Errorf("the log does not have %q once:\n%s", want, out.String())
			}
		}
		if n := strings.Count(out.String(), "\n"); n != 2*saidMost+2 {
			t.Errorf("%d lines in the second minute:\n%s", n, out.String())
		}
	})
}
