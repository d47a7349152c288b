package temporalkit

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var w Waits
		workflows := w.handler().WithTags(map[string]string{"a": "b"}).Timer(workflowWait)
		activities := w.handler().Timer(activityWait)
		check := func(when string, want time.Duration) {
			t.Helper()
			if got := w.Recent(); got != want {
				t.Errorf("%s: tasks waited %s, want %s", when, got, want)
			}
		}
		check("at first", 0)
		workflows.Record(time.Second)
		time.Sleep(2 * time.Second)
		workflows.Record(3 * time.Second)
		activities.Record(time.Second)
		w.handler().Timer("temporal_request_latency").Record(time.Hour)
		check("the mean", 2*time.Second)
		activities.Record(9 * time.Second)
		check("whichever is longer", 5*time.Second)
		time.Sleep(3 * time.Second)
		workflows.Record(-time.Second)
		workflows.Record(50 * 365 * 24 * time.Hour) // since a time that is not set
		check("when the first is forgotten, and nonsense not heard", 5*time.Second)
		time.Sleep(waitSpan)
		check("after some quiet", 0)
		workflows.Record(2 * time.Second)
		check("after the quiet", 2*time.Second)
	})
}
