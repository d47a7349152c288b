package workflows

import (
	"fmt"
	"slices"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
)

// Discover registers the links that a visit found, and starts the best known pages of every
// host that these touch, up to the room in their windows. Maintenance finds what a failed
// Discover leaves undone.
func Discover(ctx workflow.Context, in contract.DiscoverIn) (contract.DiscoverOut, error) {
	apart, _ := workflow.NewDisconnectedContext(ctx)
	d := &discovery{ctx: ctx, apart: apart, log: workflow.GetLogger(ctx), in: in}
	d.show("starting")
	if in.Register && !in.Registered {
		if err := d.register(); err != nil {
			return contract.DiscoverOut{}, err
		}
	}
	// If the links touched no host, there is nothing to admit. Without Register, no hosts
	// means all hosts.
	if in.Register && len(d.in.Hosts) == 0 && !in.Refill {
		return d.out(), nil
	}
	return d.admit()
}

// discovery is one run of a Discover.
type discovery struct {
	ctx     workflow.Context
	apart   workflow.Context // pages outlive a cancelled Discover
	log     log.Logger
	in      contract.DiscoverIn
	started int // in this run
	batches int // in this run
}

func (d *discovery) out() contract.DiscoverOut {
	return contract.DiscoverOut{New: d.in.New, Seen: d.in.Seen, Rejected: d.in.Rejected, Started: d.in.Started}
}

func (d *discovery) register() error {
	ctx := registering(d.ctx, fmt.Sprintf("register the links of visit %d", d.in.Visit))
	out, err := contract.RegisterLinks.Run(ctx, contract.RegisterIn{Page: d.in.Page, Visit: d.in.Visit})
	if err != nil && troubleOf(err) == troubleForeign && d.ctx.Err() == nil {
		return d.continueAsNew() // as in nextBatch
	}
	if err != nil {
		return fmt.Errorf("register links: %w", err)
	}
	d.in.Registered = true
	d.in.New, d.in.Seen, d.in.Rejected = out.New, out.Seen, out.Rejected
	for _, host := range out.Hosts {
		if !slices.Contains(d.in.Hosts, host) {
			d.in.Hosts = append(d.in.Hosts, host)
		}
	}
	return nil
}

// admit admits and starts pages until no host has room.
func (d *discovery) admit() (contract.DiscoverOut, error) {
	for {
		batch, err := d.nextBatch()
		if err != nil {
			return contract.DiscoverOut{}, err
		}
		d.start(batch.Pages)
		d.show("admitting")
		if !batch.More || len(batch.Pages)+batch.Excluded == 0 {
			return d.out(), nil
		}
		// A child counts as pending until this run ends, even if it has ended itself.
		if d.started >= startsPerRun || workflow.GetInfo(d.ctx).GetContinueAsNewSuggested() {
			return contract.DiscoverOut{}, d.continueAsNew()
		}
	}
}

// nextBatch asks the store for pages, and keeps trying.
func (d *discovery) nextBatch() (contract.AdmitOut, error) {
	d.batches++
	info := workflow.GetInfo(d.ctx)
	key := fmt.Sprintf("%s/%s/%d", info.WorkflowExecution.ID, info.WorkflowExecution.RunID, d.batches)
	hosts := d.in.Hosts
	if d.in.Refill {
		hosts = nil
	}
	for try := 0; ; try++ {
		out, err := contract.Admit.RunLocal(local(d.ctx, "admit known pages"), contract.AdmitIn{
			Store: d.in.Store, CrawlID: d.in.CrawlID, Hosts: hosts, Limit: admitBatch, Key: key, Refill: d.in.Refill,
		})
		if err == nil {
			return out, nil
		}
		tr := troubleOf(err)
		if tr == troubleForeign && try >= admitTries {
			// Its store may be away for days: nothing was done, and nothing is lost.
			return contract.AdmitOut{}, d.continueAsNew()
		}
		if d.ctx.Err() != nil || tr == troubleMissing || try >= admitTries {
			return contract.AdmitOut{}, fmt.Errorf("admit pages: %w", err)
		}
		pause := pauseFor(troubleStore, d.in.Page.PageID, try)
		d.log.Warn("admitting pages failed", "crawl", d.in.Crawl, "error", err, "pause", pause)
		var alarm alarm
		alarm.set(d.ctx, workflow.Now(d.ctx).Add(pause), "asking again in "+roughly(pause)+": "+words(err))
		if err := alarm.future.Get(d.ctx, nil); err != nil {
			return contract.AdmitOut{}, err
		}
	}
}

// continueAsNew passes the work to another run, unless the Discover was cancelled: that run
// would not know of it. In histories from before that mattered, it goes on.
func (d *discovery) continueAsNew() error {
	if d.ctx.Err() != nil && workflow.GetVersion(d.apart, "cancelled-discover-ends", workflow.DefaultVersion, 1) == 1 {
		return d.ctx.Err()
	}
	return workflow.NewContinueAsNewError(d.ctx, contract.DiscoverWorkflow, d.in)
}

// start starts all pages of a batch at once and waits for every start. A page that already
// runs is fine. A page that cannot be started stays active in the store, and maintenance
// starts it later.
func (d *discovery) start(pages []contract.PageIn) {
	starts := make([]workflow.Future, len(pages))
	for i, in := range pages {
		ctx := workflow.WithChildOptions(d.apart, ChildPageOptions(in))
		starts[i] = workflow.ExecuteChildWorkflow(ctx, contract.PageWorkflow, in).GetChildWorkflowExecution()
	}
	for i, start := range starts {
		err := start.Get(d.apart, nil)
		switch {
		case err == nil:
			d.in.Started++
		case !temporal.IsWorkflowExecutionAlreadyStartedError(err):
			d.log.Error("page not started", "page", pages[i].Page.PageID, "error", err)
		}
	}
	d.started += len(pages)
}

func (d *discovery) show(doing string) {
	workflow.SetCurrentDetails(d.ctx, fmt.Sprintf("%s: %d new links, %d seen before, %d pages started",
		doing, d.in.New, d.in.Seen, d.in.Started))
}
