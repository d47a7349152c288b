package workflows

import (
	"fmt"

	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
)

// handle registers the sink's signal, updates and query, before the workflow first blocks.
func (s *sinkRun) handle() error {
	s.signals = workflow.GetSignalChannelWithOptions(s.ctx, contract.SinkWake,
		workflow.SignalChannelOptions{Description: "there are changes, or the spec has changed"})
	err := workflow.SetQueryHandlerWithOptions(s.ctx, contract.StateQuery,
		func() (contract.SinkIn, error) { return s.s, nil },
		workflow.QueryHandlerOptions{Description: "what the sink came to when it last delivered, and when it looks again"})
	if err != nil {
		return fmt.Errorf("query %s: %w", contract.StateQuery, err)
	}
	for _, u := range []struct {
		name               string
		handler, validator any
		description        string
	}{
		{contract.SinkTest, s.command(contract.SinkTest), s.checkOpen, "send a made-up change, and say what the receiver answered"},
		{contract.Pause, s.command(contract.Pause), s.checkOpen, "deliver nothing until resumed; changes are kept as long as the feed keeps them"},
		{contract.Resume, s.command(contract.Resume), s.checkOpen, "go on after a pause, and try the receiver now"},
		{contract.SinkSkip, s.command(contract.SinkSkip), s.checkOpen, "pass by the change at which the sink stands; it counts as undelivered"},
		{contract.SinkReplay, s.onReplay, s.checkReplay, `send again all after a cursor: {"after": "c1.…"}, or undelivered changes: {"changes": [17]}`},
	} {
		err := workflow.SetUpdateHandlerWithOptions(s.ctx, u.name, u.handler,
			workflow.UpdateHandlerOptions{Validator: u.validator, Description: u.description})
		if err != nil {
			return fmt.Errorf("update %s: %w", u.name, err)
		}
	}
	return nil
}

// drain reads all waiting signals without blocking.
func (s *sinkRun) drain() {
	for {
		var arg contract.SinkWakeArg
		if !s.signals.ReceiveAsync(&arg) {
			return
		}
		wakeSink(&s.s, arg)
	}
}

func (s *sinkRun) checkOpen() error {
	if s.ended {
		return fmt.Errorf("the sink has completed: its crawl is stopped, or has no such sink any more")
	}
	return nil
}

func (s *sinkRun) checkReplay(arg contract.ReplayArg) error {
	switch {
	case arg.Malformed != "":
		return fmt.Errorf(`%s: give {"after": "c1.…"} or {"changes": [17]}`, arg.Malformed)
	case (arg.After == "") == (len(arg.Changes) == 0):
		return fmt.Errorf("give either a cursor or some changes")
	}
	if err := arg.CheckAfter(); err != nil {
		return err
	}
	return s.checkOpen()
}

// command returns the handler of an update without an argument.
func (s *sinkRun) command(name string) func(workflow.Context) (contract.Ack, error) {
	return func(ctx workflow.Context) (contract.Ack, error) { return s.carryOut(ctx, name, contract.ReplayArg{}) }
}

func (s *sinkRun) onReplay(ctx workflow.Context, arg contract.ReplayArg) (contract.Ack, error) {
	return s.carryOut(ctx, contract.SinkReplay, arg)
}

// carryOut runs a command between two deliveries, which take some seconds.
func (s *sinkRun) carryOut(ctx workflow.Context, command string, replay contract.ReplayArg) (contract.Ack, error) {
	if err := s.one.Lock(ctx); err != nil {
		return contract.Ack{}, err
	}
	defer s.one.Unlock()
	if err := s.checkOpen(); err != nil {
		return contract.Ack{}, refusal(err)
	}
	out, err := contract.CommandSink.Run(asking(ctx, command), contract.SinkCommandIn{
		Store: s.s.Store, CrawlID: s.s.CrawlID, Crawl: s.s.Crawl, Sink: s.s.Sink, Command: command, Replay: replay,
	})
	if err != nil {
		return contract.Ack{}, refusal(err)
	}
	s.s.Woken = s.s.Woken || out.Look
	return contract.Ack{Message: out.Message, Failed: out.Refused, Replayed: out.Replayed}, nil
}
