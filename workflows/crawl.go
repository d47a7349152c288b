package workflows

import (
	"encoding/json"
	"errors"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// Crawl looks after one crawl: it opens the crawl in the store, has its seeds admitted, and
// then runs maintenance on a timer until the crawl is stopped. Pages are children of
// Discover, never of Crawl: an abandoned child counts against its parent until the parent's
// run ends. Only continue-as-new passes progress.
func Crawl(ctx workflow.Context, spec json.RawMessage, progress *contract.CrawlProgress) error {
	c := newCrawlRun(ctx, spec, progress)
	if err := c.handle(); err != nil {
		return err
	}
	if c.s.CrawlID == 0 {
		if err := c.open(); err != nil {
			return err
		}
	}
	return c.run()
}

// crawlRun is one run of a Crawl.
type crawlRun struct {
	ctx    workflow.Context
	apart  workflow.Context // Discovers outlive a cancelled crawl
	log    log.Logger
	spec   json.RawMessage
	s      contract.CrawlProgress // with spec, all that the next run must know
	tuning contract.Tuning

	resumed, reopened int // how many such commands were carried out in this run

	commands  workflow.Mutex // one change of the crawl at a time, in the order of arrival
	alarm     alarm
	poked     bool // an update changed the state
	cancelled bool
	closed    bool  // no more updates are accepted
	refused   error // why the crawl could not be opened

	started   time.Time
	steps     int
	parts     int // of passes of maintenance
	published crawl.CrawlState
	discovers []workflow.Future // running Discovers of this run
}

func newCrawlRun(ctx workflow.Context, spec json.RawMessage, progress *contract.CrawlProgress) *crawlRun {
	apart, _ := workflow.NewDisconnectedContext(ctx)
	c := &crawlRun{
		ctx: ctx, apart: apart, log: workflow.GetLogger(ctx), spec: spec,
		commands: workflow.NewMutex(ctx), started: workflow.Now(ctx),
	}
	if progress != nil {
		c.s = *progress
	}
	c.tuning = tuned(c.s.Tuning)
	return c
}

// open brings the spec into the store. A wrong spec ends the workflow at once with an error
// that names the field. If the store does not answer, open waits.
func (c *crawlRun) open() error {
	workflow.SetCurrentDetails(c.ctx, "opening the crawl")
	out, err := contract.OpenCrawl.Run(enduring(c.ctx, "open the crawl"), contract.OpenCrawlIn{
		Store: c.s.Store, Spec: c.spec, WorkflowID: workflow.GetInfo(c.ctx).WorkflowExecution.ID,
	})
	if err != nil {
		c.closed, c.refused = true, err
		_ = c.settle() // answer updates that came meanwhile; the end is the same
		if app := applicationError(err); app != nil {
			return temporal.NewNonRetryableApplicationError(app.Message(), app.Type(), nil)
		}
		return err
	}
	// Temporal may have lost its workflows of a crawl that the store knows. So the first
	// pass comes at once and starts every living page by id.
	c.s.NextTurn, c.s.Repair, c.s.Admit = workflow.Now(c.ctx), true, true
	c.belong(out.Store)
	c.spec = out.Spec
	opened(&c.s, out, workflow.Now(c.ctx))
	return nil
}

// belong remembers which store the crawl belongs to, and writes it where workers find it.
// Histories from before stores had an identity name none, and must replay.
func (c *crawlRun) belong(store string) {
	if store == "" || c.s.Store == store {
		return
	}
	c.s.Store = store
	if err := workflow.UpsertMemo(c.ctx, map[string]any{contract.MemoStore: store}); err != nil {
		c.log.Error("memo not written", "error", err)
	}
}

func (c *crawlRun) run() error {
	c.publishState()
	for {
		err := c.step()
		switch {
		case err == nil:
		case errors.Is(err, errClosed):
			return c.finish()
		case c.cancels():
			if err := c.stopCancelled(); errors.Is(err, errClosed) {
				return c.finish()
			} else if err != nil {
				return err
			}
		default:
			return err
		}
	}
}

func (c *crawlRun) step() error {
	next := crawlNext(&c.s, c.alarm.now(c.ctx))
	if c.shouldContinue() {
		return c.continueAsNew()
	}
	err := c.take(next)
	c.steps++
	return err
}

// cancels reports whether the workflow was cancelled and has not reacted yet. For histories
// from before cancellation had an effect, it is false.
func (c *crawlRun) cancels() bool {
	return c.ctx.Err() != nil && workflow.GetVersion(c.apart, "cancelled-crawl-stops", workflow.DefaultVersion, 1) == 1
}

// stopCancelled stops the crawl, because its workflow was cancelled. Otherwise the pages
// would go on, and a worker would start the workflow again.
func (c *crawlRun) stopCancelled() error {
	c.ctx, c.cancelled = c.apart, true
	c.alarm.unset()
	c.show("stopping the crawl, since its workflow was cancelled")
	out, err := contract.SetCrawlState.Run(enduring(c.ctx, "stop the cancelled crawl"),
		contract.SetCrawlStateIn{Store: c.s.Store, Name: c.s.Name, State: crawl.CrawlStopped})
	if err != nil {
		return c.ending("stopping the crawl", err)
	}
	c.s.State, c.s.Generation = crawl.CrawlStopped, out.Generation
	c.publishState()
	return nil
}

func (c *crawlRun) take(next crawlDo) error {
	switch next {
	case crawlSleep:
		return c.sleep()
	case crawlMaintain:
		return c.maintain()
	case crawlAdmit:
		return c.admit()
	case crawlWake:
		return c.wake()
	case crawlRank:
		return c.rank()
	case crawlReplace:
		return c.replace()
	default:
		return c.close()
	}
}

func (c *crawlRun) sleep() error {
	c.alarm.set(c.ctx, c.s.NextTurn, "next maintenance in "+roughly(c.s.NextTurn.Sub(workflow.Now(c.ctx))))
	c.show("sleeping until maintenance")
	c.poked = false
	return workflow.Await(c.ctx, func() bool { return c.alarm.rang() || c.poked })
}

// maintain runs a maintenance pass, or the next part of one.
func (c *crawlRun) maintain() error {
	c.show("maintenance")
	out, err := contract.Maintain.Run(maintaining(c.ctx, "maintenance"), contract.MaintainIn{
		Store: c.s.Store, CrawlID: c.s.CrawlID, Name: c.s.Name, Repair: c.s.Repair, After: c.s.After,
	})
	now := workflow.Now(c.ctx)
	switch {
	case err == nil:
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case troubleOf(err) == troubleMissing:
		c.log.Info("crawl closed: not in the store", "crawl", c.s.Name)
		return errClosed
	default:
		c.log.Warn("maintenance failed", "crawl", c.s.Name, "error", err)
		passFailed(&c.s, words(err), now)
		return nil
	}
	c.parts++
	c.belong(out.Store)
	if changedUnheard(&c.s, out) && c.wakesUnheard() {
		c.s.Waking = true
	}
	heed(&c.s, out)
	c.publishState()
	partDone(&c.s, out, now)
	return c.resumeDiscovers(out.Unfinished)
}

// wakesUnheard is false for histories from before a resume that the workflow has not heard of
// woke pages.
func (c *crawlRun) wakesUnheard() bool {
	return workflow.GetVersion(c.ctx, "unheard-resume-wakes", workflow.DefaultVersion, 1) == 1
}

// resumeDiscovers starts a Discover for each version whose links were left over. The next
// pass lists again what does not fit now.
func (c *crawlRun) resumeDiscovers(unfinished []contract.DiscoverIn) error {
	c.discovers = pending(c.discovers)
	room := max(openDiscovers-len(c.discovers), 0)
	return c.startDiscovers(unfinished[:min(len(unfinished), room)])
}

// admit starts a Discover that registers nothing and admits known pages.
func (c *crawlRun) admit() error {
	c.s.Serial++
	c.s.Admit = false
	return c.startDiscovers([]contract.DiscoverIn{{Store: c.s.Store, CrawlID: c.s.CrawlID, Crawl: c.s.Name, Visit: c.s.Serial}})
}

func (c *crawlRun) startDiscovers(ins []contract.DiscoverIn) error {
	starts := make([]workflow.Future, len(ins))
	for i, in := range ins {
		child := startDiscover(c.apart, in)
		starts[i] = child.GetChildWorkflowExecution()
		c.discovers = append(c.discovers, child)
	}
	for i, start := range starts {
		if err := startError(c.apart, start); err != nil {
			c.log.Warn("Discover not started", "crawl", c.s.Name, "page", ins[i].Page.PageID, "error", err)
		}
	}
	return nil
}

// wake wakes a batch of the pages that came due while the crawl was paused.
func (c *crawlRun) wake() error {
	c.show("waking pages")
	resumed := c.resumed
	out, err := contract.WakeParked.Run(enduring(c.ctx, "wake pages that came due while paused"),
		contract.WakeParkedIn{Store: c.s.Store, CrawlID: c.s.CrawlID})
	if err != nil {
		return c.ending("waking pages", err)
	}
	// A pause that came meanwhile has parked the rest again. If it has ended, too, pages may have
	// parked that this batch has not seen.
	again := out.More || c.resumed != resumed && c.heedsMeanwhile()
	c.s.Waking = again && c.s.State == crawl.CrawlRunning
	return nil
}

// heedsMeanwhile is false for histories from before a command that came during an activity, and
// asked for its work again, had it done again.
func (c *crawlRun) heedsMeanwhile() bool {
	return workflow.GetVersion(c.ctx, "heeds-meanwhile", workflow.DefaultVersion, 1) == 1
}

// close asks a batch of the stopped crawl's pages to complete. The stop itself is in the
// store and is already in effect.
func (c *crawlRun) close() error {
	c.show("closing pages")
	out, err := contract.ClosePages.Run(enduring(c.ctx, "close pages"),
		contract.ClosePagesIn{Store: c.s.Store, CrawlID: c.s.CrawlID, Name: c.s.Name, After: c.s.Closing})
	if err != nil {
		return c.ending("closing pages", err)
	}
	c.s.ClosedPages += out.Closed
	c.s.Closing = out.After
	if out.After == 0 {
		return errClosed
	}
	return nil
}

// ending interprets the error of an activity that is retried for ever: the crawl was
// cancelled, or is gone from the store.
func (c *crawlRun) ending(what string, err error) error {
	if c.ctx.Err() != nil {
		return c.ctx.Err()
	}
	c.log.Info("crawl closed", "crawl", c.s.Name, "while", what, "error", err)
	return errClosed
}

// shouldContinue reports whether this run ends here and the next one goes on.
func (c *crawlRun) shouldContinue() bool {
	if c.steps == 0 {
		return false
	}
	info := workflow.GetInfo(c.ctx)
	return info.GetContinueAsNewSuggested() ||
		c.parts >= c.tuning.TurnsPerRun ||
		info.GetCurrentHistoryLength() >= c.tuning.EventsPerRun ||
		workflow.Now(c.ctx).Sub(c.started) > crawlRunAge
}

func (c *crawlRun) continueAsNew() error {
	if err := c.settle(); err != nil {
		return err
	}
	c.s.Runs++
	return workflow.NewContinueAsNewError(c.ctx, contract.CrawlWorkflow, c.spec, c.s)
}

func (c *crawlRun) finish() error {
	c.closed = true
	if err := c.settle(); err != nil {
		return err
	}
	c.show("closed")
	if c.cancelled {
		return workflow.ErrCanceled
	}
	return nil
}

// settle waits until every update has been answered.
func (c *crawlRun) settle() error {
	return workflow.Await(c.ctx, func() bool { return workflow.AllHandlersFinished(c.ctx) })
}

func (c *crawlRun) publishState() {
	if c.published == c.s.State {
		return
	}
	want := contract.CrawlAttributes(c.s.Name, c.s.State)
	have := workflow.GetTypedSearchAttributes(c.ctx)
	c.published = c.s.State
	if keyword(have, contract.AttrCrawl) == keyword(want, contract.AttrCrawl) &&
		keyword(have, contract.AttrState) == keyword(want, contract.AttrState) {
		return
	}
	err := workflow.UpsertTypedSearchAttributes(c.ctx,
		contract.AttrCrawl.ValueSet(keyword(want, contract.AttrCrawl)),
		contract.AttrState.ValueSet(keyword(want, contract.AttrState)))
	if err != nil {
		c.log.Error("search attributes not written", "error", err)
	}
}
