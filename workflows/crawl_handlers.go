package workflows

import (
	"encoding/json"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// Updates of a crawl change the store before they answer, so their answers are in effect.
// The loop does the long work (waking and closing pages).

// handle registers the crawl's updates and queries, before the workflow first blocks.
func (c *crawlRun) handle() error {
	err := workflow.SetQueryHandlerWithOptions(c.ctx, contract.StatusQuery,
		func() (contract.CrawlProgress, error) { return c.s, nil },
		workflow.QueryHandlerOptions{Description: "the crawl's state and numbers as of its last maintenance"})
	if err != nil {
		return fmt.Errorf("query %s: %w", contract.StatusQuery, err)
	}
	for _, u := range []struct {
		name               string
		handler, validator any
		description        string
	}{
		{contract.AddSeeds, c.onAddSeeds, c.checkSeeds, `add seeds: {"seeds": ["https://example.com/"]}`},
		{contract.SetSpec, c.onSetSpec, c.checkSpec, "replace the whole spec"},
		{contract.Pause, c.onPause, c.checkOpen, "make no request until resumed; effective at once"},
		{contract.Resume, c.onResume, c.checkOpen, "go on after a pause"},
		{contract.StopName, c.onStop, c.checkOpen, "stop the crawl, close its pages and complete"},
		{contract.RankName, c.onRank, c.checkOpen, "rank the pages by the links between them now"},
		{contract.SeedsImported, c.onSeedsImported, c.checkOpen, "admit seeds that were added to the store"},
		{contract.AwaitOpen, c.onAwaitOpen, c.checkAny, "answer when the crawl is open, or say what is wrong with its spec"},
	} {
		err := workflow.SetUpdateHandlerWithOptions(c.ctx, u.name, u.handler,
			workflow.UpdateHandlerOptions{Validator: u.validator, Description: u.description})
		if err != nil {
			return fmt.Errorf("update %s: %w", u.name, err)
		}
	}
	return nil
}

func (c *crawlRun) checkOpen() error {
	if c.closed || c.s.State == crawl.CrawlStopped {
		return fmt.Errorf("the crawl is being stopped; start it again when it has completed")
	}
	return nil
}

func (c *crawlRun) checkSeeds(arg contract.AddSeedsArg) error {
	if arg.Malformed != "" {
		return fmt.Errorf(`seeds: %s: give {"seeds": ["https://example.com/"]}`, arg.Malformed)
	}
	if len(arg.Seeds) == 0 {
		return fmt.Errorf("seeds: give at least one URL")
	}
	if len(arg.Seeds) > crawl.MostSeeds {
		return crawl.CheckSeedCount(len(arg.Seeds), 0)
	}
	for i, seed := range arg.Seeds {
		if err := crawl.CheckSeed(seed); err != nil {
			return fmt.Errorf("seeds[%d]: %w", i, err)
		}
	}
	return c.checkOpen()
}

func (c *crawlRun) checkSpec(raw json.RawMessage, _ contract.SpecBase) error {
	spec, err := crawl.ParseSpec(raw)
	if err != nil {
		return err
	}
	name, _ := contract.ParseCrawlID(workflow.GetInfo(c.ctx).WorkflowExecution.ID)
	if spec.Name != name {
		return fmt.Errorf("spec: name: is %q, but this is crawl %q; a crawl cannot be renamed", spec.Name, name)
	}
	return c.checkOpen()
}

// locked runs one command at a time, once the crawl is open.
func (c *crawlRun) locked(ctx workflow.Context, command func() (contract.Ack, error)) (contract.Ack, error) {
	if err := c.commands.Lock(ctx); err != nil {
		return contract.Ack{}, err
	}
	defer c.commands.Unlock()
	err := workflow.Await(ctx, func() bool { return c.s.CrawlID != 0 || c.closed })
	if err == nil {
		err = c.checkOpen() // an earlier command may have stopped the crawl
	}
	if err != nil {
		return contract.Ack{}, err
	}
	ack, err := command()
	if err != nil {
		return contract.Ack{}, refusal(err)
	}
	c.poked = true
	c.publishState()
	return ack, nil
}

// refusal says why a command was not carried out, in words for its sender.
func refusal(err error) error {
	kind := ""
	if app := applicationError(err); app != nil {
		kind = app.Type()
	}
	text := words(err)
	if kind == contract.ErrTypeStoreUnavailable {
		// An attempt may have got there: its answer, or what follows a changed spec, was lost.
		text = "the store is unavailable, so it is not certain what was changed; try again later"
	}
	return temporal.NewNonRetryableApplicationError(text, kind, nil)
}

func (c *crawlRun) checkAny() error { return nil }

func (c *crawlRun) onAwaitOpen(ctx workflow.Context) (contract.Ack, error) {
	if err := workflow.Await(ctx, func() bool { return c.s.CrawlID != 0 || c.closed }); err != nil {
		return contract.Ack{}, err
	}
	if c.s.CrawlID == 0 {
		return contract.Ack{}, refusal(c.refused)
	}
	return contract.Ack{Message: fmt.Sprintf("crawl %s is %s", c.s.Name, c.s.State)}, nil
}

func (c *crawlRun) onAddSeeds(ctx workflow.Context, arg contract.AddSeedsArg) (contract.Ack, error) {
	return c.locked(ctx, func() (contract.Ack, error) {
		out, err := c.reopen(ctx, "add seeds", contract.OpenCrawlIn{Store: c.s.Store, Spec: c.spec, AddSeeds: arg.Seeds})
		if err != nil {
			return contract.Ack{}, err
		}
		message := fmt.Sprintf("%d of %d seeds are new", out.NewSeeds, len(arg.Seeds))
		if out.Revived > 0 {
			message += fmt.Sprintf(", %d of stopped pages, which come back", out.Revived)
		}
		return contract.Ack{Message: message}, nil
	})
}

func (c *crawlRun) onSeedsImported(ctx workflow.Context) (contract.Ack, error) {
	return c.locked(ctx, func() (contract.Ack, error) {
		c.s.Admit = true
		return contract.Ack{Message: "the seeds are admitted as far as there is room"}, nil
	})
}

func (c *crawlRun) onSetSpec(ctx workflow.Context, raw json.RawMessage, base contract.SpecBase) (contract.Ack, error) {
	return c.locked(ctx, func() (contract.Ack, error) {
		out, err := c.reopen(ctx, "change the spec", contract.OpenCrawlIn{Store: c.s.Store, Spec: raw, Base: base.Generation})
		if err != nil {
			return contract.Ack{}, err
		}
		return contract.Ack{Message: fmt.Sprintf("the spec holds from the next permit on (generation %d)", out.Generation)}, nil
	})
}

// reopen brings a changed spec into the store. New seeds and wider limits may let pages in,
// so an admission follows.
func (c *crawlRun) reopen(ctx workflow.Context, what string, in contract.OpenCrawlIn) (contract.OpenCrawlOut, error) {
	in.WorkflowID = workflow.GetInfo(ctx).WorkflowExecution.ID
	out, err := contract.OpenCrawl.Run(commanded(ctx, what), in)
	if err != nil {
		return out, err
	}
	c.spec = out.Spec
	opened(&c.s, out, workflow.Now(ctx))
	c.reopened++
	c.s.Admit = true
	return out, nil
}

func (c *crawlRun) onPause(ctx workflow.Context) (contract.Ack, error) {
	return c.locked(ctx, func() (contract.Ack, error) {
		c.s.Waking = false
		return c.setState(ctx, crawl.CrawlPaused, "paused: no request begins until it is resumed")
	})
}

func (c *crawlRun) onResume(ctx workflow.Context) (contract.Ack, error) {
	return c.locked(ctx, func() (contract.Ack, error) {
		ack, err := c.setState(ctx, crawl.CrawlRunning, "running: pages that came due meanwhile are being woken")
		// Even if it already ran: the batch after an earlier resume may be stuck.
		c.s.Waking = c.s.Waking || err == nil
		if err == nil {
			c.resumed++
		}
		return ack, err
	})
}

func (c *crawlRun) onRank(ctx workflow.Context) (contract.Ack, error) {
	return c.locked(ctx, func() (contract.Ack, error) {
		c.s.Rank = &crawl.Reason{Code: contract.RankAsked}
		return contract.Ack{Message: "the pages are being ranked"}, nil
	})
}

func (c *crawlRun) onStop(ctx workflow.Context) (contract.Ack, error) {
	return c.locked(ctx, func() (contract.Ack, error) {
		return c.setState(ctx, crawl.CrawlStopped, "stopped: no further request begins; its pages are being closed")
	})
}

func (c *crawlRun) setState(ctx workflow.Context, state crawl.CrawlState, message string) (contract.Ack, error) {
	out, err := contract.SetCrawlState.RunLocal(local(ctx, "set the crawl "+state.String()),
		contract.SetCrawlStateIn{Store: c.s.Store, Name: c.s.Name, State: state})
	if err != nil {
		return contract.Ack{}, err
	}
	c.s.State, c.s.Generation = state, out.Generation
	return contract.Ack{Message: message}, nil
}
