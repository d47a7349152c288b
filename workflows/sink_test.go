package workflows

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"recrawl/activities"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/sink/sinktest"
	"recrawl/internal/store"
)

// sinkLife is a sink's workflow with the real deliveries, from a store whose clock is the
// test's to a simulated receiver.
type sinkLife struct {
	*live
	store    *sinktest.Store
	receiver *sinktest.Receiver
	ins      []contract.SinkIn // of the continued runs
}

// sinkStory is the story of a sink's life.
type sinkStory struct {
	spec    crawl.SinkSpec
	prepare func(*sinkLife)
	events  func(*sinkLife) []*at
}

// live runs the story until the sink ends, with the given number of looks in a run (0 is
// the usual).
func (s sinkStory) live(t *testing.T, looks int) *sinkLife {
	t.Helper()
	l := &sinkLife{receiver: &sinktest.Receiver{}}
	spec := s.spec
	if spec.Kind == "" {
		spec.Kind, spec.To = crawl.SinkExec, "x"
	}
	clock := func() time.Time { return start }
	l.store = sinktest.NewStore(clock, map[string]crawl.SinkSpec{"x": spec})
	if _, err := l.store.OpenSink(t.Context(), 1, "x", feed.Cursor{Epoch: sinktest.Epoch}); err != nil {
		t.Fatal(err)
	}
	l.live = newLive(t, s.events(l)...)
	l.id = contract.SinkID("news", "x")
	l.attrs = contract.SinkAttributes("news")
	acts := activities.New(activities.Stores{Crawls: l.store, Sinks: l.store}, nil, nil, nil,
		activities.Settings{Senders: l.receiver, Events: sinktest.Events{}}, slog.New(slog.DiscardHandler))
	l.world.OnDeliver = func(in contract.DeliverIn) (contract.DeliverOut, error) {
		l.store.SetClock(l.env.Now)
		return acts.Deliver(context.Background(), in)
	}
	l.world.OnCommandSink = func(in contract.SinkCommandIn) (contract.SinkCommandOut, error) {
		l.store.SetClock(l.env.Now)
		return acts.CommandSink(context.Background(), in)
	}
	if s.prepare != nil {
		s.prepare(l)
	}
	in := contract.SinkIn{CrawlID: 1, Crawl: "news", Sink: "x", Tuning: contract.Tuning{LooksPerRun: looks}}
	err := l.follow(contract.SinkWorkflow, func(next *converterArgs) []any {
		if next != nil {
			in = contract.SinkIn{}
			next.get(t, &in)
			l.ins = append(l.ins, in)
		}
		return []any{in}
	})
	if err != nil {
		t.Fatalf("the sink ended with %v", err)
	}
	return l
}

// everyCut runs a story whole and with a continue-as-new after every few looks, and checks
// each. The messages that the receiver took, and the number of tries, must be the same.
func (s sinkStory) everyCut(t *testing.T, check func(*testing.T, *sinkLife)) {
	t.Helper()
	whole := s.live(t, 0)
	check(t, whole)
	for _, cut := range []int{1, 2, 3, 5, 7} {
		t.Run(fmt.Sprintf("every %d looks", cut), func(t *testing.T) {
			t.Parallel()
			l := s.live(t, cut)
			check(t, l)
			if a, b := whole.receiver.Taken(), l.receiver.Taken(); a != b {
				t.Errorf("taken %s\nwhole %s", b, a)
			}
			if a, b := whole.receiver.Tries(), l.receiver.Tries(); a != b {
				t.Errorf("%d tries, whole %d", b, a)
			}
			if looks := l.world.Calls(contract.Deliver.Name); l.runs < looks/cut {
				t.Errorf("%d runs for %d looks", l.runs, looks)
			}
		})
	}
}

// changeAt adds changes of pages, and wakes the sink as a worker does that looks after it.
func (l *sinkLife) changeAt(after time.Duration, pages ...int64) *at {
	return do(after, func(live *live) {
		l.store.SetClock(live.env.Now)
		for _, page := range pages {
			l.store.Add(feed.PageChanged, page, feed.Data{Was: crawl.Active, State: crawl.Active, From: 1}, 2)
		}
		live.env.SignalWorkflow(contract.SinkWake, contract.SinkWakeArg{})
	})
}

// loseAt takes the sink out of the spec, at which its workflow completes.
func (l *sinkLife) loseAt(after time.Duration) *at {
	return do(after, func(live *live) {
		l.store.SetCrawl(func(c *store.CrawlRecord) { c.Spec.Sinks = nil })
		live.env.SignalWorkflow(contract.SinkWake, contract.SinkWakeArg{Asked: true})
	})
}

func numbers(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint(i+1))
	}
	return strings.Join(all, " ")
}

// A receiver that is down for ten minutes gets everything, in order.
func TestSinkReceiverDownForTenMinutes(t *testing.T) {
	t.Parallel()
	story := sinkStory{
		prepare: func(l *sinkLife) {
			l.receiver.Answer = func([]feed.Event) error {
				if within(l.env.Now().Sub(start), time.Minute, 11*time.Minute) {
					return errors.New("connection refused")
				}
				return nil
			}
		},
		events: func(l *sinkLife) []*at {
			events := []*at{l.loseAt(time.Hour)}
			for i := range 30 {
				events = append(events, l.changeAt(time.Duration(i)*41*time.Second, int64(i), int64(i+100)))
			}
			return events
		},
	}
	story.everyCut(t, func(t *testing.T, l *sinkLife) {
		if got, want := l.receiver.Taken(), numbers(60); got != want {
			t.Errorf("taken %s\nwant  %s", got, want)
		}
	})
}

// One refused change delays the later ones by less than an hour; then they come, and a
// replay sends it.
func TestSinkRefusedChange(t *testing.T) {
	t.Parallel()
	refuses := func(l *sinkLife) func([]feed.Event) error {
		return func(events []feed.Event) error {
			if events[0].Page.ID == 2 && l.env.Now().Sub(start) < 2*time.Hour {
				return &sink.Refused{Status: 400, Reason: "400 Bad Request"}
			}
			return nil
		}
	}
	story := sinkStory{
		prepare: func(l *sinkLife) { l.receiver.Answer = refuses(l) },
		events: func(l *sinkLife) []*at {
			return []*at{
				l.changeAt(time.Minute, 1, 2, 3), l.changeAt(90*time.Minute, 4),
				update(100*time.Minute, contract.SinkReplay, contract.ReplayArg{Changes: []int64{2}}),
				update(150*time.Minute, contract.SinkReplay, contract.ReplayArg{Changes: []int64{2}}),
				l.loseAt(3 * time.Hour),
			}
		},
	}
	story.everyCut(t, func(t *testing.T, l *sinkLife) {
		if got := l.receiver.Taken(); got != "1 3 4 2" {
			t.Errorf("taken %s", got)
		}
		if len(l.rejects) != 0 || len(l.acks) != 2 || !l.acks[0].Failed || !strings.Contains(l.acks[0].Message, "400 Bad Request") || l.acks[1].Failed {
			t.Errorf("replays: %v, %v", l.acks, l.rejects)
		}
	})
}

// People's commands are carried out, between deliveries.
func TestSinkCommands(t *testing.T) {
	t.Parallel()
	story := sinkStory{events: func(l *sinkLife) []*at {
		return []*at{
			l.changeAt(time.Minute, 1),
			update(2*time.Minute, contract.SinkTest),
			update(3*time.Minute, contract.Pause),
			l.changeAt(4*time.Minute, 2, 3),
			update(5*time.Minute, contract.SinkSkip),
			update(3*day, contract.Resume),
			update(3*day+time.Minute, contract.SinkReplay, contract.ReplayArg{After: feed.Cursor{Epoch: sinktest.Epoch}.String()}),
			update(3*day+time.Minute, contract.SinkReplay, contract.ReplayArg{After: "4"}),
			update(3*day+time.Minute, contract.SinkReplay, contract.ReplayArg{}),
			l.loseAt(4 * day),
		}
	}}
	story.everyCut(t, func(t *testing.T, l *sinkLife) {
		if got := l.receiver.Taken(); got != "1 0 3 1 2 3" && got != "1 1 3 1 2 3" { // the test's cursor is the sink's
			t.Errorf("taken %s", got)
		}
		var said []string
		for _, ack := range l.acks {
			said = append(said, strings.Fields(ack.Message)[0])
		}
		if want := []string{"the", "paused:", "change", "resumed:", "all"}; !slices.Equal(said, want) {
			t.Errorf("answers %q, %v", said, l.acks)
		}
		if len(l.rejects) != 2 || !strings.Contains(l.rejects[0].Error(), "is not a cursor") {
			t.Errorf("rejected %v", l.rejects)
		}
	})
}

// A skip passes by one change even if it was carried out and its answer was lost.
func TestSinkSkipWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	story := sinkStory{
		prepare: func(l *sinkLife) {
			whole := l.world.OnCommandSink
			l.world.OnCommandSink = func(in contract.SinkCommandIn) (contract.SinkCommandOut, error) {
				out, err := whole(in)
				if err == nil && in.Command == contract.SinkSkip {
					err = temporal.NewApplicationError("the connection was lost", contract.ErrTypeStoreUnavailable)
				}
				return out, err
			}
		},
		events: func(l *sinkLife) []*at {
			return []*at{
				update(time.Minute, contract.Pause), l.changeAt(2*time.Minute, 1, 2, 3),
				update(3*time.Minute, contract.SinkSkip), update(time.Hour, contract.Resume), l.loseAt(day),
			}
		},
	}
	l := story.live(t, 0)
	if got := l.receiver.Taken(); got != "2 3" {
		t.Errorf("taken %s, want all but the first", got)
	}
	if len(l.rejects) != 1 || !strings.Contains(l.rejects[0].Error(), "not certain what was changed") {
		t.Errorf("answers %v", l.rejects)
	}
}

// A receiver that wants nothing more pauses the sink, which then costs nothing, until a
// person resumes it.
func TestSinkPausedByItsReceiver(t *testing.T) {
	t.Parallel()
	story := sinkStory{
		prepare: func(l *sinkLife) {
			l.receiver.Answer = func([]feed.Event) error {
				if l.env.Now().Sub(start) < day {
					return &sink.Stop{Code: "gone", Reason: "410 Gone"}
				}
				return nil
			}
		},
		events: func(l *sinkLife) []*at {
			return []*at{l.changeAt(time.Minute, 1, 2), update(10*day, contract.Resume), l.loseAt(11 * day)}
		},
	}
	story.everyCut(t, func(t *testing.T, l *sinkLife) {
		if got := l.receiver.Taken(); got != "1 2" {
			t.Errorf("taken %s", got)
		}
		if n := l.receiver.Tries(); n != 3 {
			t.Errorf("%d tries, want one before the pause and two after it", n)
		}
		if n := l.world.Calls(contract.Deliver.Name); n > 10 {
			t.Errorf("looked %d times in ten days of pause", n)
		}
	})
}

// A sink that a person resumes goes on, even if the delivery that follows fails.
func TestSinkResumedBeforeAFailure(t *testing.T) {
	t.Parallel()
	story := sinkStory{
		prepare: func(l *sinkLife) {
			whole, failed := l.world.OnDeliver, false
			l.world.OnDeliver = func(in contract.DeliverIn) (contract.DeliverOut, error) {
				if l.env.Now().Sub(start) >= 10*day && !failed {
					failed = true
					return contract.DeliverOut{}, temporal.NewNonRetryableApplicationError("a bug", "Bug", nil)
				}
				return whole(in)
			}
		},
		events: func(l *sinkLife) []*at {
			return []*at{
				update(time.Minute, contract.Pause), l.changeAt(time.Hour, 1, 2),
				update(10*day, contract.Resume), l.loseAt(11 * day),
			}
		},
	}
	story.everyCut(t, func(t *testing.T, l *sinkLife) {
		if took := l.receiver.Taken(); took != "1 2" {
			t.Errorf("taken %s", took)
		}
	})
}

// Five days without an answer pause the sink, too.
func TestSinkGivesUpAfterFiveDays(t *testing.T) {
	t.Parallel()
	story := sinkStory{
		prepare: func(l *sinkLife) { l.receiver.Answer = func([]feed.Event) error { return errors.New("no route") } },
		events:  func(l *sinkLife) []*at { return []*at{l.changeAt(time.Minute, 1), l.loseAt(20 * day)} },
	}
	l := story.live(t, 0)
	last := l.store.Record("x")
	if !last.Paused || last.Code != sink.CodeUnreachable {
		t.Errorf("%+v", last)
	}
	if n := l.receiver.Tries(); n < 100 || n > 150 {
		t.Errorf("%d tries in five days", n)
	}
}

// An idle sink looks four times a day.
func TestSinkIdle(t *testing.T) {
	t.Parallel()
	story := sinkStory{events: func(l *sinkLife) []*at { return []*at{l.changeAt(time.Minute, 1), l.loseAt(10*day + time.Hour)} }}
	story.everyCut(t, func(t *testing.T, l *sinkLife) {
		if looks := l.world.Calls(contract.Deliver.Name); looks > 4*10+4 || l.timers > 4*10+4+l.runs {
			t.Errorf("%d looks and %d timers in ten days", looks, l.timers)
		}
	})
}

// The sink of a crawl that is stopped delivers the rest, including changes that come a
// moment later, and completes.
func TestSinkOfAStoppedCrawl(t *testing.T) {
	t.Parallel()
	story := sinkStory{events: func(l *sinkLife) []*at {
		return []*at{
			do(time.Minute, func(live *live) {
				l.store.SetClock(live.env.Now)
				l.store.Add(feed.PageNew, 1, feed.Data{}, 0)
				l.store.SetCrawl(func(c *store.CrawlRecord) { c.State = crawl.CrawlStopped })
				live.env.SignalWorkflow(contract.SinkWake, contract.SinkWakeArg{Asked: true})
			}),
			do(90*time.Second, func(live *live) { l.store.Add(feed.PageNew, 2, feed.Data{}, 0) }),
		}
	}}
	story.everyCut(t, func(t *testing.T, l *sinkLife) {
		if got := l.receiver.Taken(); got != "1 2" {
			t.Errorf("taken %s", got)
		}
		if took := l.now.Sub(start); took > 5*time.Minute {
			t.Errorf("completed after %s", took)
		}
	})
}

// Fifty changes in an hour are one message, also if its receiver is down when it is due.
func TestSinkDigest(t *testing.T) {
	t.Parallel()
	story := sinkStory{
		spec: crawl.SinkSpec{Every: crawl.Duration(time.Hour)},
		prepare: func(l *sinkLife) {
			l.receiver.Answer = func([]feed.Event) error {
				if within(l.env.Now().Sub(start), time.Hour, 70*time.Minute) {
					return errors.New("connection refused")
				}
				return nil
			}
		},
		events: func(l *sinkLife) []*at {
			events := []*at{l.loseAt(3 * time.Hour)}
			for i := range 50 {
				events = append(events, l.changeAt(time.Duration(i)*time.Minute, int64(i+1)))
			}
			return events
		},
	}
	story.everyCut(t, func(t *testing.T, l *sinkLife) {
		digests := l.receiver.Digests()
		if len(digests) != 1 || len(digests[0].Events) != 50 {
			t.Errorf("%d messages: %v", len(digests), digests)
		}
	})
}

// A store that does not answer loses nothing; changes whose delivery it could not
// record are sent again.
func TestSinkStoreOutage(t *testing.T) {
	t.Parallel()
	story := sinkStory{
		prepare: func(l *sinkLife) {
			l.store.SetFail(func(method string) error {
				if method == "MoveSink" && within(l.env.Now().Sub(start), time.Minute, time.Minute+outage) {
					return fmt.Errorf("connection lost: %w", store.ErrUnavailable)
				}
				return nil
			})
		},
		events: func(l *sinkLife) []*at { return []*at{l.changeAt(time.Minute, 1, 2), l.loseAt(time.Hour)} },
	}
	l := story.live(t, 1)
	if got := l.receiver.Taken(); !strings.HasSuffix(got, "1 1 2") {
		t.Errorf("taken %s", got)
	}
}

// A sink whose crawl is not in the store any more completes, and one that is cancelled ends.
func TestSinkEnds(t *testing.T) {
	t.Parallel()
	l := newLive(t)
	l.id = contract.SinkID("news", "x")
	l.world.Missing = true
	in := contract.SinkIn{CrawlID: 1, Crawl: "news", Sink: "x"}
	if err := l.follow(contract.SinkWorkflow, func(*converterArgs) []any { return []any{in} }); err != nil {
		t.Errorf("without its crawl it ended with %v", err)
	}
	l = newLive(t, do(time.Hour, func(l *live) { l.env.CancelWorkflow() }))
	l.id = contract.SinkID("news", "x")
	if err := l.follow(contract.SinkWorkflow, func(*converterArgs) []any { return []any{in} }); !temporal.IsCanceledError(err) {
		t.Errorf("cancelled, it ended with %v", err)
	}
	l = newLive(t, do(time.Hour, func(l *live) {
		l.env.SetContinueAsNewSuggested(true)
		l.env.SignalWorkflowSkippingWorkflowTask(contract.SinkWake, contract.SinkWakeArg{})
		l.env.CancelWorkflow()
	}))
	l.id = contract.SinkID("news", "x")
	l.world.OnDeliver = func(contract.DeliverIn) (contract.DeliverOut, error) {
		return contract.DeliverOut{Ended: l.runs > 1}, nil
	}
	if err := l.follow(contract.SinkWorkflow, func(*converterArgs) []any { return []any{in} }); !temporal.IsCanceledError(err) {
		t.Errorf("cancelled when it is about to continue as new, it ended with %v", err)
	}
}

// A sink carries little data from run to run, and its details report what is wrong.
func TestSinkStateAndDetails(t *testing.T) {
	t.Parallel()
	s := contract.SinkIn{Crawl: "news", Sink: "x", Undelivered: 2}
	long := strings.Repeat("no route | ", 10_000)
	delivered(&s, contract.DeliverOut{Sent: 3, Problem: long, Reason: long, Wait: time.Minute, Tries: 4, Lag: time.Hour}, start)
	if n := len(mustJSON(t, s)); n > 2000 {
		t.Errorf("the state has %d bytes", n)
	}
	details := sinkDetails(&s, "sleeping")
	for _, want := range []string{"| Lag | 1h |", "| Tries | 4 |", `no route \|`, "| Undelivered | 2"} {
		if !strings.Contains(details, want) {
			t.Errorf("%q is not in\n%s", want, details)
		}
	}
}
