package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"recrawl/internal/crawl"
)

// Variables for a worker's concurrency besides its activities.
const (
	EnvWorkflowTasks   = "RECRAWL_WORKFLOW_TASKS"
	EnvLocalActivities = "RECRAWL_LOCAL_ACTIVITIES"
	EnvWorkflowPollers = "RECRAWL_WORKFLOW_POLLERS"
	EnvActivityPollers = "RECRAWL_ACTIVITY_POLLERS"
	EnvWorkflowCache   = "RECRAWL_WORKFLOW_CACHE"
	EnvStopTimeout     = "RECRAWL_STOP_TIMEOUT"
)

// Worker holds a worker's settings for Temporal. docs/operations.md says when to change
// them.
type Worker struct {
	// WorkflowTasks (2 to 100000) and LocalActivities (1 to 100000) are how many of these run
	// at the same time. An Acquire may wait some seconds inside its workflow task.
	WorkflowTasks, LocalActivities int
	// WorkflowPollers and ActivityPollers are how many requests for tasks wait at
	// Temporal's server at the same time.
	WorkflowPollers, ActivityPollers Pollers
	// WorkflowCache is how many sleeping workflows are kept in memory, about 40 KB each,
	// 0 to 1000000. Any other costs a short replay when it wakes.
	WorkflowCache int
	// StopTimeout is how long a worker that is told to stop waits for requests to end,
	// 0 to 1h. The visit of a request that does not end is made again, after its
	// permit's end.
	StopTimeout time.Duration
}

// Pollers is a number of pollers: fixed if Min is Max, else it follows the server's backlog
// between the two.
type Pollers struct {
	Min, Max int
}

// DefaultWorker suits a worker of some cores and 64 requests at a time: many short tasks,
// so more pollers than the SDK's two, and time for a fetch of the default time limit.
func DefaultWorker() Worker {
	return Worker{
		WorkflowTasks: 2000, LocalActivities: 2000, WorkflowPollers: Pollers{8, 8}, ActivityPollers: Pollers{4, 4},
		WorkflowCache: 5000, StopTimeout: 40 * time.Second,
	}
}

// load reads the variables; read is that of Load.
func (w *Worker) load(read func(name string, set func(value string) error)) {
	for _, number := range []struct {
		name        string
		to          *int
		least, most int
	}{
		{EnvWorkflowTasks, &w.WorkflowTasks, 2, 100_000},
		{EnvLocalActivities, &w.LocalActivities, 1, 100_000},
		{EnvWorkflowCache, &w.WorkflowCache, 0, 1_000_000},
	} {
		read(number.name, func(v string) (err error) {
			*number.to, err = parseNumber(v, number.least, number.most)
			return err
		})
	}
	read(EnvWorkflowPollers, func(v string) (err error) { w.WorkflowPollers, err = parsePollers(v, 2); return err })
	read(EnvActivityPollers, func(v string) (err error) { w.ActivityPollers, err = parsePollers(v, 1); return err })
	read(EnvStopTimeout, func(v string) (err error) { w.StopTimeout, err = parseStopTimeout(v); return err })
}

func parseNumber(v string, least, most int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%q is not a number of %d to %d", v, least, most)
	}
	return n, nil
}

// parsePollers reads "8" or "2-40". The SDK keeps two pollers for workflow tasks, one of
// them for the workflows in its memory.
func parsePollers(v string, least int) (Pollers, error) {
	const most = 1000
	low, high, ranged := strings.Cut(v, "-")
	if !ranged {
		high = low
	}
	a, errLow := strconv.Atoi(strings.TrimSpace(low))
	b, errHigh := strconv.Atoi(strings.TrimSpace(high))
	if errLow != nil || errHigh != nil || a < least || b < a || b > most {
		return Pollers{}, fmt.Errorf("%q is not a number of pollers: write one, or MIN-MAX to have it follow the backlog, of %d to %d", v, least, most)
	}
	return Pollers{a, b}, nil
}

func parseStopTimeout(v string) (time.Duration, error) {
	d, err := crawl.ParseDuration(v)
	if err == nil && d > time.Hour {
		err = fmt.Errorf("%s is too long: write at most 1h", crawl.FormatDuration(d))
	}
	return d, err
}
