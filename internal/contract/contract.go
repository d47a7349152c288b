// Package contract defines what workflows, activities and clients say to each
// other: names and types of workflows, activities, updates, signals and queries,
// workflow ids and search attributes. Workflows and activities meet here and never
// import each other.
package contract

import (
	"context"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// TaskQueue is the task queue of recrawl's workflows and activities unless the operator
// chooses another.
const TaskQueue = "recrawl"

// Workflow types.
const (
	CrawlWorkflow    = "Crawl"
	PageWorkflow     = "Page"
	DiscoverWorkflow = "Discover"
)

// Activity is an activity by name with its input and output types, so that a
// wrong argument does not compile.
type Activity[In, Out any] struct{ Name string }

// Run runs the activity and waits for it; its options must be in ctx.
func (a Activity[In, Out]) Run(ctx workflow.Context, in In) (Out, error) {
	var out Out
	err := workflow.ExecuteActivity(ctx, a.Name, in).Get(ctx, &out)
	return out, err
}

// RunLocal runs the activity inside the workflow task; its local options must
// be in ctx.
func (a Activity[In, Out]) RunLocal(ctx workflow.Context, in In) (Out, error) {
	var out Out
	err := workflow.ExecuteLocalActivity(ctx, a.Name, in).Get(ctx, &out)
	return out, err
}

// Register makes fn the activity's implementation on a worker.
func (a Activity[In, Out]) Register(w worker.ActivityRegistry, fn func(context.Context, In) (Out, error)) {
	w.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: a.Name})
}

// The activities.
var (
	OpenCrawl     = Activity[OpenCrawlIn, OpenCrawlOut]{"OpenCrawl"}             // regular
	SetCrawlState = Activity[SetCrawlStateIn, SetCrawlStateOut]{"SetCrawlState"} // local
	Maintain      = Activity[MaintainIn, MaintainOut]{"Maintain"}                // regular
	ClosePages    = Activity[ClosePagesIn, ClosePagesOut]{"ClosePages"}          // regular
	WakeParked    = Activity[WakeParkedIn, WakeParkedOut]{"WakeParked"}          // regular

	Acquire       = Activity[AcquireIn, AcquireOut]{"Acquire"}                   // local
	RefreshRobots = Activity[RefreshRobotsIn, RefreshRobotsOut]{"RefreshRobots"} // regular
	Fetch         = Activity[FetchIn, FetchOut]{"Fetch"}                         // regular
	DetectChange  = Activity[DetectIn, DetectOut]{"DetectChange"}                // regular
	PlanRevisit   = Activity[PlanIn, PlanOut]{"PlanRevisit"}                     // local
	LeaveLine     = Activity[LeaveIn, LeaveOut]{"LeaveLine"}                     // local

	RegisterLinks = Activity[RegisterIn, RegisterOut]{"RegisterLinks"} // regular
	Admit         = Activity[AdmitIn, AdmitOut]{"Admit"}               // local
)

// Error types of ApplicationErrors that workflows decide on.
const (
	// ErrTypeSpecChanged: the spec to be replaced is not the one that the caller has read.
	ErrTypeSpecChanged = "SpecChanged"
	// ErrTypeBadSpec: the crawl's spec is wrong; the message names the field.
	ErrTypeBadSpec = "BadSpec"
	// ErrTypeStoreUnavailable: the store did not answer; sleep and ask again. If it was the
	// archive instead, the detail says so in words.
	ErrTypeStoreUnavailable = "StoreUnavailable"
	// ErrTypeNotFound: the crawl or page does not exist in the store.
	ErrTypeNotFound = "NotFound"
	// ErrTypeForeignStore: the worker that ran the activity has another store than the
	// crawl or page. It says nothing about them: sleep and ask again, another worker
	// then.
	ErrTypeForeignStore = "ForeignStore"
	// ErrTypeCrowded: this worker has too many requests in flight to the address of
	// the next one. None was made; sleep and ask again.
	ErrTypeCrowded = "Crowded"
	// ErrTypeLocked: an activity's input is encrypted with a key that its worker lacks.
	// Nothing was done: sleep and ask again, another worker then. It is the name that
	// the SDK derives from keyring.LockedError.
	ErrTypeLocked = "LockedError"
	// ErrTypeFetchFailed: a Fetch that failed; its details are a FetchOut. The
	// error exists so that a failed fetch shows as failed in the Temporal UI.
	ErrTypeFetchFailed = "FetchFailed"
)
