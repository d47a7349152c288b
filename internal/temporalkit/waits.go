package temporalkit

import (
	"sync"
	"time"

	"go.temporal.io/sdk/client"
)

// waitSpan is how long a wait is remembered: long enough that a burst of starts, which is
// worked off meanwhile, is not taken for a backlog.
const waitSpan = 5 * time.Second

// implausible is a wait that the server's clock cannot have measured.
const implausible = 365 * 24 * time.Hour

// Names of the SDK's timers that measure how long tasks waited at the server until a
// worker took them. Activities that the server hands over with the task before have no
// wait.
const (
	workflowWait = "temporal_workflow_task_schedule_to_start_latency"
	activityWait = "temporal_activity_schedule_to_start_latency"
)

// Waits remembers how long the tasks of this process's workers recently waited for a
// worker. The SDK measures it with every task.
type Waits struct {
	workflows, activities waits
}

// Recent is the mean of the last seconds, for workflow tasks or for activities, whichever
// is longer; 0 if none has come.
func (w *Waits) Recent() time.Duration {
	now := time.Now()
	return max(w.workflows.mean(now), w.activities.mean(now))
}

// handler gives the SDK the timers that Waits listens to.
func (w *Waits) handler() client.MetricsHandler { return waitsHandler{client.MetricsNopHandler, w} }

type waitsHandler struct {
	client.MetricsHandler // which drops everything else
	waits                 *Waits
}

func (h waitsHandler) WithTags(map[string]string) client.MetricsHandler { return h }

func (h waitsHandler) Timer(name string) client.MetricsTimer {
	switch name {
	case workflowWait:
		return &h.waits.workflows
	case activityWait:
		return &h.waits.activities
	}
	return h.MetricsHandler.Timer(name)
}

// waits are the waits of one kind of task, by second.
type waits struct {
	mu      sync.Mutex
	seconds [waitSpan / time.Second]waitSecond
}

type waitSecond struct {
	at  int64 // seconds since 1970
	sum time.Duration
	n   int
}

// Record implements client.MetricsTimer.
func (w *waits) Record(d time.Duration) {
	if d < 0 || d > implausible {
		return
	}
	at := time.Now().Unix()
	w.mu.Lock()
	defer w.mu.Unlock()
	s := &w.seconds[at%int64(len(w.seconds))]
	if s.at != at {
		*s = waitSecond{at: at}
	}
	s.sum += d
	s.n++
}

func (w *waits) mean(now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all waitSecond
	for _, s := range w.seconds {
		if s.at > now.Add(-waitSpan).Unix() {
			all.sum += s.sum
			all.n += s.n
		}
	}
	return all.sum / time.Duration(max(all.n, 1))
}
