package workflows

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
)

// Sink sends a crawl's changes to one receiver, from the position that the store has
// recorded. It sleeps until a signal says that there are changes, or it is time to try
// again. It completes when the spec no longer has the sink, or when the crawl is stopped
// and everything is delivered.
func Sink(ctx workflow.Context, in contract.SinkIn) error {
	s := &sinkRun{
		ctx: ctx, log: workflow.GetLogger(ctx), s: in, tuning: tuned(in.Tuning),
		one: workflow.NewMutex(ctx), started: workflow.Now(ctx),
	}
	if err := s.handle(); err != nil {
		return err
	}
	return s.run()
}

// sinkRun is one run of a Sink.
type sinkRun struct {
	ctx    workflow.Context
	log    log.Logger
	s      contract.SinkIn
	tuning contract.Tuning

	one     workflow.Mutex // one delivery or command at a time: both write the sink's record
	signals workflow.ReceiveChannel
	alarm   alarm
	ended   bool // no more updates are accepted
	started time.Time
	looks   int
}

func (s *sinkRun) run() error {
	for {
		s.drain()
		switch sinkNext(&s.s, s.alarm.now(s.ctx)) {
		case sinkSleep:
			if s.shouldContinue() {
				return s.continueAsNew()
			}
			if err := s.sleep(); err != nil {
				return err
			}
		case sinkDeliver:
			if s.shouldContinue() {
				return s.continueAsNew()
			}
			if err := s.deliver(); errors.Is(err, errClosed) {
				return s.finish()
			} else if err != nil {
				return err
			}
		case sinkFinish:
			return s.finish()
		}
	}
}

// deliver runs the delivery of a batch.
func (s *sinkRun) deliver() error {
	if err := s.one.Lock(s.ctx); err != nil {
		return err
	}
	defer s.one.Unlock()
	s.drain()
	asked := s.s.Asked
	s.s.Woken, s.s.Asked = false, false // what comes from now on is new
	s.show("delivering")
	s.looks++
	out, err := contract.Deliver.Run(delivering(s.ctx, "deliver changes"), contract.DeliverIn{
		Store: s.s.Store, CrawlID: s.s.CrawlID, Crawl: s.s.Crawl, Sink: s.s.Sink, Asked: asked,
	})
	now := workflow.Now(s.ctx)
	switch {
	case err == nil:
		delivered(&s.s, out, now)
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case troubleOf(err) == troubleMissing:
		s.log.Info("sink closed: its crawl is not in the store", "crawl", s.s.Crawl, "sink", s.s.Sink)
		return errClosed
	default:
		s.log.Warn("delivering failed", "crawl", s.s.Crawl, "sink", s.s.Sink, "error", err)
		deliverFailed(&s.s, words(err), now.Add(pauseFor(troubleOf(err), s.s.CrawlID, s.s.Failures)))
		if s.s.Last.Paused && s.failedMayBeResumed() {
			s.s.Last.Paused = false
		}
	}
	return nil
}

// failedMayBeResumed reports whether a sink that was paused may have been resumed when a
// delivery failed: a person resumes it, which the delivery was to find out. It looks again. Runs
// of earlier releases slept on until somebody woke them.
func (s *sinkRun) failedMayBeResumed() bool {
	return workflow.GetVersion(s.ctx, "failed-may-be-resumed", workflow.DefaultVersion, 1) == 1
}

// sleep waits for the time to look again, or for a wake-up. A paused sink sets no alarm.
func (s *sinkRun) sleep() error {
	if s.s.Last.Paused {
		s.alarm.unset()
		s.show("paused: `starter sinks resume` goes on")
	} else {
		s.alarm.set(s.ctx, s.s.Wake, s.s.Why)
		s.show("sleeping: " + s.s.Why)
	}
	return workflow.Await(s.ctx, func() bool {
		return s.alarm.rang() || s.signals.Len() > 0 || s.s.Woken
	})
}

func (s *sinkRun) shouldContinue() bool {
	if s.looks == 0 {
		return false
	}
	info := workflow.GetInfo(s.ctx)
	return info.GetContinueAsNewSuggested() || s.looks >= s.tuning.LooksPerRun ||
		info.GetCurrentHistoryLength() >= s.tuning.EventsPerRun || workflow.Now(s.ctx).Sub(s.started) > sinkRunAge
}

func (s *sinkRun) continueAsNew() error {
	if err := s.settle(); err != nil {
		return err
	}
	if s.ctx.Err() != nil {
		return s.ctx.Err() // the next run would not know of it
	}
	s.drain()
	s.s.Runs++
	return workflow.NewContinueAsNewError(s.ctx, contract.SinkWorkflow, s.s)
}

func (s *sinkRun) finish() error {
	s.ended = true
	s.show("completed")
	return s.settle()
}

// settle waits until every update has been answered.
func (s *sinkRun) settle() error {
	return workflow.Await(s.ctx, func() bool { return workflow.AllHandlersFinished(s.ctx) })
}

func (s *sinkRun) show(doing string) {
	workflow.SetCurrentDetails(s.ctx, sinkDetails(&s.s, doing))
}

// sinkDetails is the sink in Markdown.
func sinkDetails(s *contract.SinkIn, doing string) string {
	var b strings.Builder
	row := func(name, value string) { fmt.Fprintf(&b, "| %s | %s |\n", name, cell(value)) }
	b.WriteString("| | |\n|---|---|\n")
	row("Crawl", s.Crawl)
	row("Sink", s.Sink)
	row("Now", doing)
	row("Delivered", fmt.Sprintf("%d changes by this workflow", s.Sent))
	if s.Undelivered > 0 {
		row("Undelivered", fmt.Sprintf("%d: `starter sinks failed` lists them", s.Undelivered))
	}
	if s.Last.Lag > 0 {
		row("Lag", roughly(s.Last.Lag))
	}
	if s.Last.Problem != "" {
		row("Problem", s.Last.Problem)
		row("Tries", fmt.Sprint(s.Last.Tries))
	}
	if !s.Finishing.IsZero() {
		row("Crawl stopped", "completes when all is delivered")
	}
	return b.String()
}
