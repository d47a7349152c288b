package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// Updates answer at once and never block. Signals are read between two steps. Both only
// change the state; the loop acts on it.

// pageSignals are the signals that a page receives.
type pageSignals struct {
	visitNow, stop, turn, reschedule, evict workflow.ReceiveChannel
}

func newPageSignals(ctx workflow.Context) pageSignals {
	channel := func(name, description string) workflow.ReceiveChannel {
		return workflow.GetSignalChannelWithOptions(ctx, name, workflow.SignalChannelOptions{Description: description})
	}
	return pageSignals{
		visitNow:   channel(contract.VisitNow, "visit the page as soon as its host's line allows"),
		stop:       channel(contract.StopName, "stop visiting the page"),
		turn:       channel(contract.TurnSignal, "the page's turn at its host has come earlier than promised"),
		reschedule: channel(contract.Reschedule, "move the due time of a sleeping page"),
		evict:      channel(contract.Evict, "the page gave its place in the collection to another: complete"),
	}
}

// waiting reports whether a signal is waiting to be read.
func (c pageSignals) waiting() bool {
	return c.visitNow.Len()+c.stop.Len()+c.turn.Len()+c.reschedule.Len()+c.evict.Len() > 0
}

// drain reads all waiting signals without blocking.
func (p *page) drain() {
	for p.signals.visitNow.ReceiveAsync(nil) {
		askVisit(&p.s)
	}
	for {
		var stop contract.StopArg
		if !p.signals.stop.ReceiveAsync(&stop) {
			break
		}
		if stop.Closing {
			askClose(&p.s)
		} else {
			askStop(&p.s)
		}
	}
	for p.signals.evict.ReceiveAsync(nil) {
		askEvict(&p.s)
	}
	for {
		var turn contract.TurnArg
		if !p.signals.turn.ReceiveAsync(&turn) {
			break
		}
		takeTurn(&p.s, turn, p.now())
	}
	for {
		var arg contract.RescheduleArg
		if !p.signals.reschedule.ReceiveAsync(&arg) {
			break
		}
		reschedule(&p.s, arg)
	}
}

// handle registers the page's updates, queries and signals. It must run before the workflow
// first blocks, so that none is missed.
func (p *page) handle() error {
	p.signals = newPageSignals(p.ctx)
	if err := p.handleQueries(); err != nil {
		return err
	}
	for _, u := range []struct {
		name               string
		handler, validator any
		description        string
	}{
		{contract.VisitNow, p.onVisitNow, p.checkOpen, "visit the page as soon as its host's line allows"},
		{contract.StopName, p.onStop, p.checkOpen, "stop visiting the page and complete"},
		{contract.SetInterval, p.onSetInterval, p.checkInterval, `visit the page every so often ("2h"); "0" returns to the policy`},
		{contract.Snooze, p.onSnooze, p.checkSnooze, `make no visit for so long ("3d"); "0" ends a snooze`},
	} {
		err := workflow.SetUpdateHandlerWithOptions(p.ctx, u.name, u.handler,
			workflow.UpdateHandlerOptions{Validator: u.validator, Description: u.description})
		if err != nil {
			return fmt.Errorf("update %s: %w", u.name, err)
		}
	}
	return nil
}

func (p *page) handleQueries() error {
	err := workflow.SetQueryHandlerWithOptions(p.ctx, contract.StateQuery,
		func() (contract.PageView, error) { return pageView(&p.s, p.doing), nil },
		workflow.QueryHandlerOptions{Description: "what the page does now, its next visit and its last ones"})
	if err != nil {
		return fmt.Errorf("query %s: %w", contract.StateQuery, err)
	}
	err = workflow.SetQueryHandlerWithOptions(p.ctx, contract.ExplainQuery,
		func() (contract.ExplainView, error) { return explain(&p.s, p.doing), nil },
		workflow.QueryHandlerOptions{Description: "why the next visit is when it is"})
	if err != nil {
		return fmt.Errorf("query %s: %w", contract.ExplainQuery, err)
	}
	return nil
}

// checkOpen refuses updates of a page that is about to complete.
func (p *page) checkOpen() error {
	if p.s.Stopping {
		return fmt.Errorf("the page is being stopped")
	}
	if p.s.Evicting {
		return fmt.Errorf("the page gives its place in the collection to another")
	}
	return nil
}

// ack answers an update. The visit that it names is the first that has not begun its
// request.
func (p *page) ack(message string) contract.Ack {
	visit := p.number()
	if p.fetching || p.s.Unrecorded != nil {
		visit++
	}
	due, _ := dueAt(&p.s)
	return contract.Ack{Message: message, Visit: visit, Due: due}
}

func (p *page) onVisitNow(workflow.Context) (contract.Ack, error) {
	askVisit(&p.s)
	p.s.Ahead = true
	p.poked = true
	ack := p.ack("")
	ack.Message = fmt.Sprintf("visit %d comes as soon as the line of %s allows", ack.Visit, p.s.Page.Host)
	if p.fetching {
		ack.Message = fmt.Sprintf("visit %d is under way; visit %d follows as soon as the line of %s allows",
			ack.Visit-1, ack.Visit, p.s.Page.Host)
	}
	return ack, nil
}

func (p *page) onStop(workflow.Context) (contract.Ack, error) {
	askStop(&p.s)
	p.poked = true
	return contract.Ack{Message: "the page will not be visited any more"}, nil
}

func (p *page) onSetInterval(_ workflow.Context, arg contract.DurationArg) (contract.Ack, error) {
	d, err := crawl.ParseDuration(string(arg))
	if err != nil {
		return contract.Ack{}, err
	}
	p.s.Interval, p.poked = d, true
	if d == 0 {
		return p.ack("the crawl's policy decides again when the page is visited"), nil
	}
	return p.ack("the page is visited every " + crawl.FormatDuration(d)), nil
}

func (p *page) checkInterval(arg contract.DurationArg) error {
	d, err := crawl.ParseDuration(string(arg))
	switch {
	case err != nil:
		return err
	case d != 0 && (d < minInterval || d > maxInterval):
		return fmt.Errorf("%s: use %s to %s, or 0 for the policy",
			arg, crawl.FormatDuration(minInterval), crawl.FormatDuration(maxInterval))
	}
	return p.checkOpen()
}

func (p *page) onSnooze(ctx workflow.Context, arg contract.DurationArg) (contract.Ack, error) {
	d, err := crawl.ParseDuration(string(arg))
	if err != nil {
		return contract.Ack{}, err
	}
	p.poked = true
	if d == 0 {
		p.s.Snoozed = time.Time{}
		return p.ack("the page is not snoozed"), nil
	}
	p.s.Snoozed = workflow.Now(ctx).Add(p.s.StoreAhead + d)
	return p.ack("no visit before " + clock(p.s.Snoozed)), nil
}

func (p *page) checkSnooze(arg contract.DurationArg) error {
	d, err := crawl.ParseDuration(string(arg))
	switch {
	case err != nil:
		return err
	case d > maxInterval:
		return fmt.Errorf("%s: at most %s", arg, crawl.FormatDuration(maxInterval))
	}
	return p.checkOpen()
}
