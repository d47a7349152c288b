package temporalkit

import (
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// Sticky time-outs: how long a workflow task waits for the worker that has its
// workflow in memory. A loaded fleet that is late must not lose its tasks to full
// replays; an embedded worker that was killed is back in a second, and its
// workflows should not wait for the dead one.
const (
	StickyFleet    = 30 * time.Second
	StickyEmbedded = 5 * time.Second
)

// Deployment is the Worker Deployment that a worker belongs to; without a Name it
// belongs to none. All workflows move to the current build by themselves (AutoUpgrade):
// a page lives for years, so a pinned one would need the build of its first visit for
// ever.
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

// WorkerOptions are a worker's options; all except Deployment, Tracer and GaveUp must be set.
type WorkerOptions struct {
	TaskQueue string
	// Activities (requests above all), WorkflowTasks and LocalActivities are how many run
	// at the same time. An Acquire may wait some seconds inside its workflow task, so many
	// of both must fit at once.
	Activities, WorkflowTasks, LocalActivities int
	// WorkflowPollers and ActivityPollers are how many requests for tasks wait at the
	// server at the same time; of the former, half are for workflows in memory.
	WorkflowPollers, ActivityPollers Pollers
	// Sticky is how long a workflow task waits for the worker that has its workflow in
	// memory.
	Sticky time.Duration
	// StopTimeout is how long activities may go on when the worker must stop. A request
	// in flight should end, so that a restart loses no visit.
	StopTimeout time.Duration
	Deployment  Deployment
	// Tracer, unless nil, makes a span of each activity.
	Tracer Tracer
	// GaveUp, unless nil, is called when the worker has stopped by itself, for good: when the
	// server refuses its polls for minutes, as while the namespace is missing there.
	GaveUp func(error)
}

// Pollers are Min, or as many as the backlog asks for, up to Max.
type Pollers struct {
	Min, Max int
}

func (p Pollers) behavior() worker.PollerBehavior {
	if p.Min == p.Max {
		return worker.NewPollerBehaviorSimpleMaximum(worker.PollerBehaviorSimpleMaximumOptions{MaximumNumberOfPollers: p.Min})
	}
	return p.scaled()
}

func (p Pollers) scaled() worker.PollerBehavior {
	return worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{
		InitialNumberOfPollers: p.Min, MinimumNumberOfPollers: p.Min, MaximumNumberOfPollers: p.Max,
	})
}

// apart makes half of the pollers ask for tasks of the workflows in this worker's memory, and
// half for all others. A fixed number of pollers would choose between the two by the
// backlog that the server reports, which may stay above 0 where nothing waits: all of them
// then wait there, for a minute, and new workflows have nobody. Scaled pollers are
// separate, even where the scale has one step.
func (p Pollers) apart() worker.PollerBehavior {
	return Pollers{Min: (p.Min + 1) / 2, Max: (p.Max + 1) / 2}.scaled()
}

// CacheWorkflows sets how many sleeping workflows the workers of this process keep in
// memory, about 40 KB each. A page that is not in it costs a short replay when it wakes;
// its history is kept short for that reason. Call it before the first worker is made.
func CacheWorkflows(most int) { worker.SetStickyWorkflowCacheSize(most) }

// NewWorker returns a worker with recrawl's options.
func NewWorker(c client.Client, o WorkerOptions) worker.Worker {
	interceptors := []interceptor.WorkerInterceptor{&heartbeats{}}
	if o.Deployment.Name == "" {
		interceptors = append(interceptors, &builds{})
	}
	if o.Tracer != nil {
		interceptors = append(interceptors, &traces{tracer: o.Tracer})
	}
	return worker.New(plainClient(c), o.TaskQueue, worker.Options{
		MaxConcurrentActivityExecutionSize:      o.Activities,
		MaxConcurrentLocalActivityExecutionSize: o.LocalActivities,
		MaxConcurrentWorkflowTaskExecutionSize:  o.WorkflowTasks,
		WorkflowTaskPollerBehavior:              o.WorkflowPollers.apart(),
		ActivityTaskPollerBehavior:              o.ActivityPollers.behavior(),
		StickyScheduleToStartTimeout:            o.Sticky,
		WorkerStopTimeout:                       o.StopTimeout,
		DeploymentOptions:                       o.Deployment.options(),
		Interceptors:                            interceptors,
		OnFatalError:                            o.GaveUp,
	})
}
