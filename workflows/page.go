package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// Page is the life of one URL in one crawl. It sleeps until its next visit is due, makes the
// visit when its host's line allows, and plans the next one. It ends when it is stopped or
// evicted, when a requisite has been visited, or when the store no longer knows it. Failures
// are visits like any other.
func Page(ctx workflow.Context, in contract.PageIn) error {
	if in.Page.PageID == 0 || in.Page.URL == "" || !crawl.ValidName(in.Page.Crawl) {
		return temporal.NewNonRetryableApplicationError(
			"a Page is started by its crawl; to add a URL use the crawl's update add-seeds", contract.ErrTypeNotFound, nil)
	}
	p := newPage(ctx, in)
	if err := p.handle(); err != nil {
		return err
	}
	return p.run()
}

// page is one run of a Page.
type page struct {
	ctx    workflow.Context
	apart  workflow.Context // is not cancelled with the page: for children and for leaving
	log    log.Logger
	s      contract.PageIn // all that the next run must know
	tuning contract.Tuning

	signals   pageSignals
	alarm     alarm
	poked     bool   // an update changed the state
	doing     string // in words
	fetching  bool   // a request is under way
	cancelled bool

	started   time.Time         // of this run
	steps     int               // made in this run
	visits    int               // recorded in this run
	linger    time.Duration     // see contract.PlanOut; 0 once it was considered
	published string            // state in the search attributes
	unnamed   bool              // crawl and host are missing from the search attributes
	discovers []workflow.Future // starts of children, until they are ready
}

// errClosed ends a page that will not be visited any more.
var errClosed = errors.New("page closed")

func newPage(ctx workflow.Context, in contract.PageIn) *page {
	if in.State == 0 {
		in.State = crawl.Active
	}
	apart, _ := workflow.NewDisconnectedContext(ctx)
	return &page{
		ctx: ctx, apart: apart, log: workflow.GetLogger(ctx), s: in, tuning: tuned(in.Tuning),
		started: workflow.Now(ctx), doing: "starting",
	}
}

func (p *page) run() error {
	if p.s.StoreAhead != 0 && !p.heedsClocks() {
		p.s.StoreAhead = 0
	}
	p.readPublished()
	p.publishState()
	p.show(p.doing)
	for {
		err := p.step()
		switch {
		case err == nil:
		case errors.Is(err, errClosed):
			return p.finish()
		case p.cancels(err):
			// A cancelled page leaves like a stopped one.
			p.ctx, p.cancelled = p.apart, true
			askStop(&p.s)
		default:
			return err
		}
	}
}

// step makes the next step, or ends the run before it.
func (p *page) step() error {
	p.drain()
	next := pageNext(&p.s, p.now())
	if p.shouldContinue(next) {
		return p.continueAsNew()
	}
	err := p.take(next)
	p.steps++
	return err
}

// cancels reports whether the page was cancelled and has not reacted yet. The next run would
// not know of it, so none follows. In histories from before that mattered, one does.
func (p *page) cancels(err error) bool {
	if p.ctx.Err() == nil {
		return false
	}
	return !workflow.IsContinueAsNewError(err) ||
		workflow.GetVersion(p.apart, "cancelled-page-ends", workflow.DefaultVersion, 1) == 1
}

// take makes one step. An error is the page's end or its cancellation.
func (p *page) take(step pageStep) error {
	p.doing = step.doing
	switch step.do {
	case pageSleep:
		return p.sleep(step)
	case pageAsk:
		return p.ask()
	case pageRecord:
		return p.record()
	case pageLeave:
		return p.leave(0)
	case pageEvict:
		return p.leave(crawl.Evicted)
	default:
		return p.leave(crawl.Stopped)
	}
}

// sleep waits for the step's time, or for anything that may change what comes next. An
// undisturbed sleep costs two events.
func (p *page) sleep(step pageStep) error {
	p.alarm.set(p.ctx, step.until.Add(-p.s.StoreAhead), step.why)
	p.show(step.doing)
	p.poked = false
	return workflow.Await(p.ctx, func() bool { return p.alarm.rang() || p.poked || p.signals.waiting() })
}

// now is the time by the store's clock, by which pages are due.
func (p *page) now() time.Time { return p.alarm.now(p.ctx).Add(p.s.StoreAhead) }

// heedClocks takes up how the store's clock differs from the server's: otherwise a page would be
// visited again and again where it is behind, and late where it is ahead. Histories from before
// that mattered, and those of workers of earlier releases, must replay.
func (p *page) heedClocks(ahead time.Duration) {
	if ahead != p.s.StoreAhead {
		p.s.StoreAhead = 0
		if ahead != 0 && p.heedsClocks() {
			p.s.StoreAhead = ahead
		}
	}
}

func (p *page) heedsClocks() bool {
	return workflow.GetVersion(p.apart, "clocks-of-store-and-server", workflow.DefaultVersion, 1) == 1
}

// shouldContinue reports whether this run ends before the step and leaves the step to the
// next run. That is possible only before sleeping and asking; anything else is already under
// way. A run that has done nothing never continues as new, whatever the server suggests, so
// no page can spin through runs.
func (p *page) shouldContinue(step pageStep) bool {
	now := p.now()
	lingers := p.lingers(step, now)
	if p.steps == 0 || (step.do != pageSleep && step.do != pageAsk) {
		return false
	}
	info := workflow.GetInfo(p.ctx)
	return lingers || info.GetContinueAsNewSuggested() ||
		p.visits >= p.tuning.VisitsPerRun ||
		info.GetCurrentHistoryLength() >= p.tuning.EventsPerRun ||
		now.Add(-p.s.StoreAhead).Sub(p.started) > pageRunAge ||
		p.visits > 0 && step.do == pageSleep && step.until.Sub(now) > longSleep
}

// lingers reports whether the run's visits would stay in Temporal for too long while the page
// sleeps. It does so once a visit, in the task that planned the sleep: the answer must not
// depend on which worker, of which release, gets a later task of the same sleep.
func (p *page) lingers(step pageStep, now time.Time) bool {
	linger := p.linger
	p.linger = 0
	return linger > 0 && step.do == pageSleep && time.Duration(p.visits)*step.until.Sub(now) > linger
}

func (p *page) continueAsNew() error {
	if err := p.settle(); err != nil {
		return err
	}
	// Nothing blocks from here to the return, so no signal is left behind.
	p.drain()
	p.s.Runs++
	return workflow.NewContinueAsNewError(p.apart, contract.PageWorkflow, readable(p.s))
}

func (p *page) finish() error {
	if err := p.settle(); err != nil {
		return err
	}
	p.doing = "closed"
	p.show("closed")
	if p.cancelled {
		return workflow.ErrCanceled
	}
	return nil
}

// settle waits until every update is answered and every child has started. A child that has
// not started when its parent's run ends never starts.
func (p *page) settle() error {
	err := workflow.Await(p.apart, func() bool {
		return len(pending(p.discovers)) == 0 && workflow.AllHandlersFinished(p.apart)
	})
	for _, start := range p.discovers {
		p.noteStart(start)
	}
	p.discovers = nil
	return err
}

func pending(futures []workflow.Future) []workflow.Future {
	var rest []workflow.Future
	for _, f := range futures {
		if !f.IsReady() {
			rest = append(rest, f)
		}
	}
	return rest
}

// publishState writes the page's state where `temporal workflow list` finds it, but only if
// it has changed: each write costs dozens of index entries.
func (p *page) publishState() {
	state := p.s.State.String()
	if p.published == state {
		return
	}
	updates := []temporal.SearchAttributeUpdate{contract.AttrState.ValueSet(state)}
	if p.unnamed {
		updates = append(updates,
			contract.AttrCrawl.ValueSet(contract.AttrValue(p.s.Page.Crawl)),
			contract.AttrHost.ValueSet(contract.AttrValue(p.s.Page.Host)))
	}
	if err := workflow.UpsertTypedSearchAttributes(p.apart, updates...); err != nil {
		p.log.Error("search attributes not written", "error", err)
	}
	p.published, p.unnamed = state, false
}

// readPublished reads the search attributes that the page was started with.
func (p *page) readPublished() {
	attributes := workflow.GetTypedSearchAttributes(p.ctx)
	p.published = keyword(attributes, contract.AttrState)
	if keyword(attributes, contract.AttrCrawl) == "" || keyword(attributes, contract.AttrHost) == "" {
		// It was started by hand, or by a client that sets none.
		p.published, p.unnamed = "", true
	}
}

func keyword(attributes temporal.SearchAttributes, key temporal.SearchAttributeKeyKeyword) string {
	value, _ := attributes.GetKeyword(key)
	return value
}
