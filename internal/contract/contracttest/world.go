// Package contracttest plays the workflows' counterparts: World is the store, the
// hosts and the web in memory, deterministic and scripted, behind the activities of
// package contract; DevServer is a real Temporal server.
package contracttest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// World answers the activities. Its exported functions script it; they are set
// before a run and called under the World's lock, so they may keep state and must
// not call the World's methods.
type World struct {
	// OnAcquire answers an ask; nil, or an empty Answer, grants a permit.
	OnAcquire func(Ask) (contract.AcquireOut, error)
	// Older: its activities are those of release 0.2.0, whose Fetch records no visit.
	Older bool
	// OnFetch answers a request; nil is a page that never changes.
	OnFetch func(Try) (contract.FetchOut, error)
	// OnRobots answers a request for a robots.txt; nil is success.
	OnRobots func(contract.RefreshRobotsIn) error
	// OnDetect gives a verdict; nil takes the outcome that Fetch assumed.
	OnDetect func(contract.DetectIn) (contract.DetectOut, error)
	// OnPlan, when set, changes a plan before it is recorded.
	OnPlan func(contract.PlanIn, *contract.PlanOut)
	// Down reports whether the store is out of order at a time.
	Down func(time.Time) bool
	// Store, if not "", is the World's identity. Workflows that do not know it are told.
	Store string
	// Foreign, when set, reports whether a worker with another store runs an activity.
	Foreign func(activity string, now time.Time) bool
	// Missing makes every page unknown to the store.
	Missing bool

	OnOpen       func(contract.OpenCrawlIn) (contract.OpenCrawlOut, error)
	OnMaintain   func(contract.MaintainIn) (contract.MaintainOut, error)
	OnClosePages func(contract.ClosePagesIn) (contract.ClosePagesOut, error)
	OnWakeParked func(contract.WakeParkedIn) (contract.WakeParkedOut, error)
	OnRegister   func(contract.RegisterIn) (contract.RegisterOut, error)
	OnAdmit      func(contract.AdmitIn) (contract.AdmitOut, error)
	OnRank       func(contract.RankIn) (contract.RankOut, error)
	OnReplace    func(contract.ReplaceIn) (contract.ReplaceOut, error)
	// OnDeliver answers Deliver; nil has nothing to deliver. OnCommandSink answers a command to
	// a sink; nil obeys.
	OnDeliver     func(contract.DeliverIn) (contract.DeliverOut, error)
	OnCommandSink func(contract.SinkCommandIn) (contract.SinkCommandOut, error)
	// OnLeave answers LeaveLine; nil agrees.
	OnLeave func(contract.LeaveIn) contract.LeaveOut

	mu        sync.Mutex
	now       func() time.Time
	visits    []Visit
	calls     map[string]int
	asks      map[visitKey]int
	classes   map[visitKey]crawl.Class
	failures  map[int64]int
	tries     int
	left      []contract.LeaveIn
	discovers []contract.DiscoverIn
	frontier  []contract.PageIn
	states    []crawl.CrawlState
	permits   int64
	unsure    int
}

// Ask is one call of Acquire.
type Ask struct {
	In  contract.AcquireIn
	Now time.Time
	N   int // of this visit, from 1
}

// Try is one call of Fetch.
type Try struct {
	In  contract.FetchIn
	Now time.Time
	N   int // in the World's life, from 1
}

// Visit is a visit as the World recorded it.
type Visit struct {
	Page    int64
	Visit   int
	At      time.Time
	Class   crawl.Class
	Outcome crawl.Outcome
	State   crawl.PageState
	NextAt  time.Time
	Ahead   bool // the page's tasks overtook others until then
}

func (v Visit) String() string {
	return fmt.Sprintf("page %d visit %d at %s class %d %s (%s), next %s", v.Page, v.Visit,
		v.At.Format(time.RFC3339Nano), v.Class, v.Outcome, v.State, v.NextAt.Format(time.RFC3339Nano))
}

type visitKey struct {
	page  int64
	visit int
}

// NewWorld returns a World where every request succeeds and nothing changes.
func NewWorld() *World {
	return &World{
		now: time.Now, calls: map[string]int{}, asks: map[visitKey]int{},
		classes: map[visitKey]crawl.Class{}, failures: map[int64]int{},
	}
}

// SetClock makes now the World's clock; a test environment's mostly.
func (w *World) SetClock(now func() time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

// AddKnown adds pages to the frontier that Admit takes from.
func (w *World) AddKnown(pages ...contract.PageIn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frontier = append(w.frontier, pages...)
}

// Visits returns the recorded visits in order.
func (w *World) Visits() []Visit { return locked(w, func() []Visit { return slices.Clone(w.visits) }) }

// Calls returns how often an activity ran, its retries included.
func (w *World) Calls(name string) int { return locked(w, func() int { return w.calls[name] }) }

// Unsure returns how many activities were run for workflows that did not know their
// store.
func (w *World) Unsure() int { return locked(w, func() int { return w.unsure }) }

// Left returns the calls of LeaveLine that succeeded.
func (w *World) Left() []contract.LeaveIn {
	return locked(w, func() []contract.LeaveIn { return slices.Clone(w.left) })
}

// Discovers returns the inputs of the Discovers that DiscoverStub ran.
func (w *World) Discovers() []contract.DiscoverIn {
	return locked(w, func() []contract.DiscoverIn { return slices.Clone(w.discovers) })
}

// CrawlStates returns the states that the crawl was set to.
func (w *World) CrawlStates() []crawl.CrawlState {
	return locked(w, func() []crawl.CrawlState { return slices.Clone(w.states) })
}

// DiscoverStub stands in for the Discover workflow in tests of its parents: it
// records its input and ends.
func (w *World) DiscoverStub(_ workflow.Context, in contract.DiscoverIn) (contract.DiscoverOut, error) {
	return locked(w, func() contract.DiscoverOut {
		w.discovers = append(w.discovers, in)
		return contract.DiscoverOut{}
	}), nil
}

// Register registers all activities.
func (w *World) Register(r worker.ActivityRegistry) {
	contract.Acquire.Register(r, serve(w, contract.Acquire, w.acquire))
	contract.RefreshRobots.Register(r, serve(w, contract.RefreshRobots, w.refreshRobots))
	contract.Fetch.Register(r, serve(w, contract.Fetch, w.fetch))
	contract.DetectChange.Register(r, serve(w, contract.DetectChange, w.detect))
	contract.PlanRevisit.Register(r, serve(w, contract.PlanRevisit, w.plan))
	contract.LeaveLine.Register(r, serve(w, contract.LeaveLine, w.leave))
	contract.OpenCrawl.Register(r, serve(w, contract.OpenCrawl, w.open))
	contract.SetCrawlState.Register(r, serve(w, contract.SetCrawlState, w.setState))
	contract.Maintain.Register(r, serve(w, contract.Maintain, w.maintain))
	contract.ClosePages.Register(r, serve(w, contract.ClosePages, w.closePages))
	contract.WakeParked.Register(r, serve(w, contract.WakeParked, w.wakeParked))
	contract.RegisterLinks.Register(r, serve(w, contract.RegisterLinks, w.registerLinks))
	contract.Admit.Register(r, serve(w, contract.Admit, w.admit))
	contract.Rank.Register(r, serve(w, contract.Rank, w.rank))
	contract.Replace.Register(r, serve(w, contract.Replace, w.replace))
	contract.Deliver.Register(r, serve(w, contract.Deliver, w.deliver))
	contract.CommandSink.Register(r, serve(w, contract.CommandSink, w.commandSink))
}

// Unavailable is the error of activities whose store does not answer.
func Unavailable() error {
	return temporal.NewApplicationError("the database does not answer", contract.ErrTypeStoreUnavailable)
}

// ForeignStore is the error of activities of a worker with another store.
func ForeignStore() error {
	return temporal.NewApplicationError("it is of store a, but a worker with store b took it up", contract.ErrTypeForeignStore)
}

// FetchFailed is the error of a Fetch that failed.
func FetchFailed(out contract.FetchOut) error {
	return temporal.NewNonRetryableApplicationError(out.Problem, contract.ErrTypeFetchFailed, nil, out)
}

func locked[T any](w *World, f func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return f()
}

// serve wraps an activity: one at a time, counted, and out of order with the
// store.
func serve[In contract.Addressed, Out any](w *World, a contract.Activity[In, Out], f func(In, time.Time) (Out, error)) func(context.Context, In) (Out, error) {
	return func(_ context.Context, in In) (Out, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.calls[a.Name]++
		now := w.now().UTC()
		var none Out
		if w.Down != nil && w.Down(now) {
			return none, Unavailable()
		}
		if w.Foreign != nil && w.Foreign(a.Name, now) {
			return none, ForeignStore()
		}
		if in.StoreID() == "" {
			w.unsure++
		}
		if w.Missing {
			return none, temporal.NewNonRetryableApplicationError("no such page", contract.ErrTypeNotFound, nil)
		}
		return f(in, now)
	}
}

func (w *World) acquire(in contract.AcquireIn, now time.Time) (contract.AcquireOut, error) {
	key := visitKey{in.Page.PageID, in.Visit}
	for _, v := range w.visits {
		if v.Page == key.page && v.Visit == key.visit {
			plan := planOf(v)
			return contract.AcquireOut{Answer: contract.AnswerRecorded, Recorded: &plan}, nil
		}
	}
	w.asks[key]++
	w.classes[key] = in.Class
	var out contract.AcquireOut
	if w.OnAcquire != nil {
		var err error
		if out, err = w.OnAcquire(Ask{in, now, w.asks[key]}); err != nil {
			return contract.AcquireOut{}, err
		}
	}
	if out.Answer == "" {
		out.Answer = contract.AnswerPermit
	}
	if (out.Answer == contract.AnswerPermit || out.Answer == contract.AnswerRobots) && out.Permit.ID == 0 {
		w.permits++
		out.Permit = crawl.Permit{
			ID: w.permits, HostID: 7, Kind: crawl.PermitPage, URL: in.Page.URL, Lifetime: 40 * time.Second,
		}
	}
	out.Plans = out.Answer == contract.AnswerPermit && !w.Older
	if in.Page.Store == "" {
		out.Store = w.Store
	}
	return out, nil
}

func (w *World) refreshRobots(in contract.RefreshRobotsIn, _ time.Time) (contract.RefreshRobotsOut, error) {
	if w.OnRobots != nil {
		return contract.RefreshRobotsOut{}, w.OnRobots(in)
	}
	return contract.RefreshRobotsOut{Summary: "200"}, nil
}

// fetch records a visit that succeeded and leaves nothing to do, if the store answers.
func (w *World) fetch(in contract.FetchIn, now time.Time) (contract.FetchOut, error) {
	w.tries++
	out := Unchanged(now)
	if w.OnFetch != nil {
		var err error
		if out, err = w.OnFetch(Try{in, now, w.tries}); err != nil {
			return out, err
		}
		if out.At.IsZero() {
			out.At = now
		}
	}
	down := w.Down != nil && w.Down(now)
	settled := !down && !out.Differs && !out.NotBegun && !out.Recorded && out.Outcome != crawl.OutcomeRedirected
	if !in.Plans || !settled || out.Plan != nil {
		return out, nil
	}
	plan, err := w.plan(contract.PlanIn{Page: in.Page, Visit: in.Visit, Fetch: out, Ahead: in.Ahead}, now)
	out.Plan = &plan
	return out, err
}

// Unchanged is a request that found nothing new.
func Unchanged(at time.Time) contract.FetchOut {
	return contract.FetchOut{Outcome: crawl.OutcomeUnchanged, Status: 304, At: at}
}

// Changed is a request whose body differs from the last version.
func Changed(at time.Time) contract.FetchOut {
	return contract.FetchOut{
		Outcome: crawl.OutcomeChanged, Differs: true, Status: 200, At: at, Digest: "d1", Validators: true, ETag: `"1"`,
	}
}

func (w *World) detect(in contract.DetectIn, _ time.Time) (contract.DetectOut, error) {
	if w.OnDetect != nil {
		return w.OnDetect(in)
	}
	return contract.DetectOut{Outcome: in.Fetch.Outcome}, nil
}

// plan records a visit once, by (page, visit), as the store does.
func (w *World) plan(in contract.PlanIn, now time.Time) (contract.PlanOut, error) {
	for _, v := range w.visits {
		if v.Page == in.Page.PageID && v.Visit == in.Visit {
			return planOf(v), nil
		}
	}
	at := in.Fetch.At
	if at.IsZero() {
		at = now
	}
	interval, state := w.revisit(in.Page.PageID, in.Fetch.Outcome)
	out := contract.PlanOut{
		Visit: in.Visit, At: at, Outcome: in.Fetch.Outcome, Status: in.Fetch.Status, State: state,
		NextAt: at.Add(interval), Reason: "scripted",
	}
	if w.OnPlan != nil {
		w.OnPlan(in, &out)
	}
	w.visits = append(w.visits, Visit{
		Page: in.Page.PageID, Visit: out.Visit, At: at, Class: w.classes[visitKey{in.Page.PageID, in.Visit}],
		Outcome: out.Outcome, State: out.State, NextAt: out.NextAt, Ahead: in.Ahead,
	})
	return out, nil
}

// revisit is the World's policy: daily, doubling from an hour while failing,
// monthly for missing pages.
func (w *World) revisit(page int64, outcome crawl.Outcome) (time.Duration, crawl.PageState) {
	const day = 24 * time.Hour
	failures := w.failures[page]
	w.failures[page] = 0
	switch outcome {
	case crawl.OutcomeFailed, crawl.OutcomeThrottled, crawl.OutcomeTimedOut:
		w.failures[page] = failures + 1
		return min(time.Hour<<min(failures, 10), 30*day), crawl.Failing
	case crawl.OutcomeGone:
		return 30 * day, crawl.Gone
	case crawl.OutcomeRedirected:
		return 30 * day, crawl.Redirect
	case crawl.OutcomeExcluded:
		return 30 * day, crawl.Excluded
	}
	return day, crawl.Active
}

func planOf(v Visit) contract.PlanOut {
	return contract.PlanOut{Visit: v.Visit, At: v.At, Outcome: v.Outcome, State: v.State, NextAt: v.NextAt, Reason: "as recorded"}
}

func (w *World) leave(in contract.LeaveIn, _ time.Time) (contract.LeaveOut, error) {
	w.left = append(w.left, in)
	if w.OnLeave != nil {
		return w.OnLeave(in), nil
	}
	return contract.LeaveOut{}, nil
}

func (w *World) rank(in contract.RankIn, now time.Time) (contract.RankOut, error) {
	if w.OnRank != nil {
		return w.OnRank(in)
	}
	return contract.RankOut{At: now, Pages: 1, Rounds: 1}, nil
}

func (w *World) replace(in contract.ReplaceIn, _ time.Time) (contract.ReplaceOut, error) {
	if w.OnReplace != nil {
		return w.OnReplace(in)
	}
	return contract.ReplaceOut{}, nil
}

func (w *World) deliver(in contract.DeliverIn, _ time.Time) (contract.DeliverOut, error) {
	if w.OnDeliver != nil {
		return w.OnDeliver(in)
	}
	return contract.DeliverOut{}, nil
}

func (w *World) commandSink(in contract.SinkCommandIn, _ time.Time) (contract.SinkCommandOut, error) {
	if w.OnCommandSink != nil {
		return w.OnCommandSink(in)
	}
	return contract.SinkCommandOut{Message: in.Command, Look: true}, nil
}

// open accepts every spec that parses and knows one crawl.
func (w *World) open(in contract.OpenCrawlIn, _ time.Time) (contract.OpenCrawlOut, error) {
	if w.OnOpen != nil {
		return w.OnOpen(in)
	}
	spec, err := crawl.ParseSpec(in.Spec)
	if err != nil {
		return contract.OpenCrawlOut{}, temporal.NewNonRetryableApplicationError(err.Error(), contract.ErrTypeBadSpec, nil)
	}
	added := 0
	for _, seed := range in.AddSeeds {
		if !slices.Contains(spec.Seeds, seed) {
			spec.Seeds = append(spec.Seeds, seed)
			added++
		}
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		return contract.OpenCrawlOut{}, fmt.Errorf("encode spec: %w", err)
	}
	return contract.OpenCrawlOut{
		Store: w.Store, CrawlID: 1, Name: spec.Name, State: crawl.CrawlRunning, Generation: int64(w.calls[contract.OpenCrawl.Name]),
		MaintainEvery: spec.MaintainEvery.Std(), NewSeeds: added, Spec: raw,
	}, nil
}

func (w *World) setState(in contract.SetCrawlStateIn, _ time.Time) (contract.SetCrawlStateOut, error) {
	w.states = append(w.states, in.State)
	return contract.SetCrawlStateOut{Generation: int64(len(w.states))}, nil
}

func (w *World) maintain(in contract.MaintainIn, _ time.Time) (contract.MaintainOut, error) {
	if w.OnMaintain != nil {
		return w.OnMaintain(in)
	}
	return contract.MaintainOut{Store: w.Store, Status: contract.CrawlCounts{Visits: len(w.visits), Pages: map[string]int{"active": 1}}}, nil
}

func (w *World) closePages(in contract.ClosePagesIn, _ time.Time) (contract.ClosePagesOut, error) {
	if w.OnClosePages != nil {
		return w.OnClosePages(in)
	}
	return contract.ClosePagesOut{}, nil
}

func (w *World) wakeParked(in contract.WakeParkedIn, _ time.Time) (contract.WakeParkedOut, error) {
	if w.OnWakeParked != nil {
		return w.OnWakeParked(in)
	}
	return contract.WakeParkedOut{}, nil
}

func (w *World) registerLinks(in contract.RegisterIn, _ time.Time) (contract.RegisterOut, error) {
	if w.OnRegister != nil {
		return w.OnRegister(in)
	}
	return contract.RegisterOut{New: len(w.frontier), Hosts: []int64{7}}, nil
}

func (w *World) admit(in contract.AdmitIn, _ time.Time) (contract.AdmitOut, error) {
	if w.OnAdmit != nil {
		return w.OnAdmit(in)
	}
	n := min(in.Limit, len(w.frontier))
	out := contract.AdmitOut{Pages: slices.Clone(w.frontier[:n]), More: n < len(w.frontier)}
	w.frontier = w.frontier[n:]
	return out, nil
}
