package temporalkit

import (
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// WorkflowCache is how many sleeping workflows a worker keeps in memory, about
// 40 KB each. A page that is not in it costs a short replay when it wakes; its
// history is kept short for that reason.
const WorkflowCache = 5000

// Sticky time-outs: how long a workflow task waits for the worker that has its
// workflow in memory. A loaded fleet that is late must not lose its tasks to full
// replays; an embedded worker that was killed is back in a second, and its
// workflows should not wait for the dead one.
const (
	StickyFleet    = 30 * time.Second
	StickyEmbedded = 5 * time.Second
)

// Deployment is the Worker Deployment that a worker belongs to; without a Name to none.
// All workflows move to the current build by themselves (AutoUpgrade): a page lives for
// years, so that one that is pinned would need the build of its first visit for ever.
type Deployment struct {
	Name, Build string
}

func (d Deployment) options() worker.DeploymentOptions {
	if d.Name == "" {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning: true, DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
		Version: worker.WorkerDeploymentVersion{DeploymentName: d.Name, BuildID: d.Build},
	}
}

// NewWorker returns a worker with recrawl's options. Concurrency is how many
// regular activities (requests above all) run at the same time.
func NewWorker(c client.Client, queue string, concurrency int, sticky time.Duration, d Deployment) worker.Worker {
	worker.SetStickyWorkflowCacheSize(WorkflowCache)
	return worker.New(c, queue, worker.Options{
		MaxConcurrentActivityExecutionSize: concurrency,
		// An Acquire may wait some seconds inside its workflow task, so that many of
		// both must fit at once.
		MaxConcurrentLocalActivityExecutionSize: 2000,
		MaxConcurrentWorkflowTaskExecutionSize:  2000,
		// Many short tasks: more pollers than the default two keep the latency of a
		// hand-over low.
		MaxConcurrentWorkflowTaskPollers: 8,
		MaxConcurrentActivityTaskPollers: 4,
		StickyScheduleToStartTimeout:     sticky,
		// Above the default time limit of a fetch: a request in flight may end, so
		// that a restart loses no visit.
		WorkerStopTimeout: 40 * time.Second,
		DeploymentOptions: d.options(),
		Interceptors:      []interceptor.WorkerInterceptor{&heartbeats{}},
	})
}
