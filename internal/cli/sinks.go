package cli

import (
	"fmt"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

type sinksCmd struct {
	List   sinkListCmd   `cmd:"" default:"withargs" help:"List the sinks of a crawl, and how they stand with their receivers."`
	Test   sinkTestCmd   `cmd:"" help:"Send a made-up change, and say what the receiver answered."`
	Pause  sinkPauseCmd  `cmd:"" help:"Deliver nothing until the sink is resumed."`
	Resume sinkResumeCmd `cmd:"" help:"Go on with a sink that is paused, or try its receiver now."`
	Replay sinkReplayCmd `cmd:"" help:"Send changes again."`
	Skip   sinkSkipCmd   `cmd:"" help:"Pass by the change at which the sink stands."`
	Failed sinkFailedCmd `cmd:"" help:"List the changes that the sink's receiver refused."`
}

// Help implements kong.HelpProvider.
func (sinksCmd) Help() string {
	return `A sink sends what changes to a program, a folder or people; a crawl's spec names them (docs/sinks.md).

    starter sinks news
    starter sinks test news team
    starter sinks failed news team
    starter sinks replay news team --failed`
}

type sinkListCmd struct {
	Name string `arg:"" help:"The crawl."`
}

// Run lists sinks.
func (c sinkListCmd) Run(s *session) error {
	return s.withReport(func(r report.Reporter) error { return orNoCrawl(c.Name, r.Sinks(s.ctx, c.Name)) })
}

// sinkArgs name a sink.
type sinkArgs struct {
	Name string `arg:"" help:"The crawl."`
	Sink string `arg:"" help:"The sink, as 'starter sinks' lists it."`
}

type sinkTestCmd struct{ sinkArgs }

// Run tests the sink.
func (c sinkTestCmd) Run(s *session) error { return s.commandSink(c.sinkArgs, TestSink, SinkReplay{}) }

type sinkPauseCmd struct{ sinkArgs }

// Help implements kong.HelpProvider.
func (sinkPauseCmd) Help() string {
	return `Changes are kept as long as the feed keeps them (retention.changes); a sink that was paused for longer is
told that it missed some.

    starter sinks pause news team`
}

// Run pauses the sink.
func (c sinkPauseCmd) Run(s *session) error {
	return s.commandSink(c.sinkArgs, PauseSink, SinkReplay{})
}

type sinkResumeCmd struct{ sinkArgs }

// Run resumes the sink.
func (c sinkResumeCmd) Run(s *session) error {
	return s.commandSink(c.sinkArgs, ResumeSink, SinkReplay{})
}

type sinkSkipCmd struct{ sinkArgs }

// Help implements kong.HelpProvider.
func (sinkSkipCmd) Help() string {
	return `It counts as undelivered since, and 'starter sinks replay' can send it later.

    starter sinks skip news team`
}

// Run skips a change.
func (c sinkSkipCmd) Run(s *session) error {
	return s.commandSink(c.sinkArgs, SkipChange, SinkReplay{})
}

type sinkFailedCmd struct{ sinkArgs }

// Run lists undelivered changes.
func (c sinkFailedCmd) Run(s *session) error {
	return s.withReport(func(r report.Reporter) error {
		record, err := r.Store.Crawl(s.ctx, c.Name)
		if err != nil {
			return orNoCrawl(c.Name, err)
		}
		if err := c.check(record); err != nil {
			return err
		}
		return r.FailedOf(s.ctx, c.Name, c.Sink)
	})
}

type sinkReplayCmd struct {
	sinkArgs
	Changes []int64 `arg:"" optional:"" name:"change" help:"Undelivered changes, as 'starter sinks failed' lists them."`
	Failed  bool    `help:"Send all undelivered changes."`
	After   string  `placeholder:"CURSOR" help:"Deliver everything after this cursor, of 'starter changes' or an earlier list of sinks."`
}

// Help implements kong.HelpProvider.
func (sinkReplayCmd) Help() string {
	return `A receiver that was put right gets what it had refused, or everything from an earlier place on. What is sent
again has the same id.

    starter sinks replay news team 4711 4712
    starter sinks replay news team --failed
    starter sinks replay news team --after c1.5f2a9c01.4700`
}

// Run sends changes again.
func (c sinkReplayCmd) Run(s *session) error {
	given := 0
	for _, is := range []bool{len(c.Changes) > 0, c.Failed, c.After != ""} {
		if is {
			given++
		}
	}
	if given != 1 {
		return usagef("give changes, --failed or --after CURSOR, and one of these only (see `starter sinks replay --help`)")
	}
	if len(c.Changes) > replayedMost {
		return usagef("%d changes: give at most %d at a time", len(c.Changes), replayedMost)
	}
	if c.After != "" {
		if _, err := feed.ParseCursor(c.After); err != nil {
			return usage(err)
		}
	}
	if !c.Failed {
		return s.commandSink(c.sinkArgs, ReplaySink, SinkReplay{After: c.After, Changes: c.Changes})
	}
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	message, err := s.operator().ReplayFailed(s.ctx, c.Name, c.Sink)
	if err != nil {
		return err
	}
	return s.say("%s", message)
}

// commandSink sends a command to the workflow of a sink.
func (s *session) commandSink(args sinkArgs, command SinkCommand, replay SinkReplay) error {
	if s.places.Store == "" {
		return usage(config.ErrNoStore)
	}
	message, err := s.operator().CommandSink(s.ctx, args.Name, args.Sink, command, replay)
	if err != nil {
		return err
	}
	return s.say("%s", message)
}

// check returns an error unless the crawl has the sink.
func (a sinkArgs) check(c store.CrawlRecord) error {
	if _, ok := c.Spec.Sinks[a.Sink]; ok {
		return nil
	}
	return &failure{ExitNotFound, fmt.Sprintf("crawl %s has no sink %q: `starter sinks %s` lists them", c.Spec.Name, crawl.Clean(a.Sink, 60), c.Spec.Name), store.ErrNotFound}
}
