package activities_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/activities"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/feed"
	"recrawl/internal/sink"
	"recrawl/internal/sink/sinktest"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

func (f *flows) StartSink(_ context.Context, in contract.SinkIn, _ contract.SinkWakeArg) error {
	return f.noteSink("start", in.Crawl, in.Sink, false)
}

func (f *flows) WakeSink(_ context.Context, crawlName, name string, _ contract.SinkWakeArg) error {
	return f.noteSink("wake", crawlName, name, true)
}

func (f *flows) MendSink(_ context.Context, in contract.SinkIn) (temporalkit.Mended, error) {
	return temporalkit.Mended{}, f.noteSink("mend", in.Crawl, in.Sink, false)
}

func (f *flows) noteSink(what, crawlName, name string, signal bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.down:
		return errDown
	case signal && f.missing:
		return fmt.Errorf("sink %s: %w", name, temporalkit.ErrNoWorkflow)
	}
	f.sinks = append(f.sinks, what+" "+crawlName+"/"+name)
	return nil
}

// post is one worker's activities of a sink, with a simulated store and receiver.
type post struct {
	*world
	feed     *sinktest.Store
	receiver *sinktest.Receiver
	events   *sinktest.Events
	time     time.Time
}

func newPost(t *testing.T, spec crawl.SinkSpec) *post {
	t.Helper()
	p := &post{time: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC), receiver: &sinktest.Receiver{}, events: &sinktest.Events{}}
	if spec.Kind == "" {
		spec.Kind, spec.To = crawl.SinkExec, "x"
	}
	p.feed = sinktest.NewStore(func() time.Time { return p.time }, map[string]crawl.SinkSpec{"x": spec})
	p.world = p.worker(t)
	p.deliver() // opens the sink
	return p
}

// worker is another worker.
func (p *post) worker(t *testing.T) *world {
	w := &world{t: t, flows: &flows{}, background: t.Context(), stopping: make(chan struct{})}
	settings := activities.Settings{Senders: p.receiver, Events: p.events}
	w.activities = activities.New(activities.Stores{Crawls: p.feed, Sinks: p.feed}, nil, nil, w.flows, settings, slog.New(slog.DiscardHandler))
	return w
}

// toX is a delivery to the sink of these tests.
var toX = contract.DeliverIn{CrawlID: 1, Crawl: "news", Sink: "x"}

func (p *post) deliver() contract.DeliverOut {
	p.t.Helper()
	out := run(p.world, contract.Deliver, toX)
	if n := p.receiver.Open(); n != 0 {
		p.t.Errorf("%d senders were not closed", n)
	}
	return out
}

// change adds changes of pages, one after the other.
func (p *post) change(pages ...int64) {
	for _, page := range pages {
		p.feed.Add(feed.PageChanged, page, feed.Data{Was: crawl.Active, State: crawl.Active, From: 1}, 2)
	}
}

func (p *post) wantTaken(want string) {
	p.t.Helper()
	if got := p.receiver.Taken(); got != want {
		p.t.Errorf("taken %q, want %q", got, want)
	}
}

func (p *post) command(name string, replay contract.ReplayArg) (contract.SinkCommandOut, error) {
	p.t.Helper()
	return try(p.world, contract.CommandSink, contract.SinkCommandIn{CrawlID: 1, Crawl: "news", Sink: "x", Command: name, Replay: replay})
}

func TestDeliverInOrder(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.change(1, 2)
	p.feed.AddOther(3)
	p.feed.Add(feed.PageStopped, 3, feed.Data{}, 0) // a kind that the sink does not want
	p.change(1)
	out := p.deliver()
	p.wantTaken("1 2 7")
	if out.Sent != 3 || out.More || out.Wait != 0 || out.Lag != 0 {
		t.Errorf("%+v", out)
	}
	rec := p.feed.Record("x")
	if rec.After.ID != 7 || rec.Sent != 3 || !rec.LastSent.Equal(p.time) {
		t.Errorf("%+v", rec)
	}
	p.deliver()
	p.wantTaken("1 2 7")
}

// asking notes the changes whose differences are read.
type asking struct {
	activities.EventSource
	diffs *[]int64
}

// Events implements activities.EventSource.
func (a asking) Events(ctx context.Context, epoch string, changes []feed.Change, diffs bool) ([]feed.Event, error) {
	for _, c := range changes {
		if diffs {
			*a.diffs = append(*a.diffs, c.ID)
		}
	}
	return a.EventSource.Events(ctx, epoch, changes, diffs)
}

// Differences cost reading two bodies: they are read for changes that are sent, and for no
// sink that holds the collection.
func TestDeliverReadsFewDiffs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec  crawl.SinkSpec
		taken string
		want  []int64
	}{
		"all":       {crawl.SinkSpec{}, "1 2 3", []int64{1, 2, 3}},
		"narrow":    {crawl.SinkSpec{Prefix: crawl.Texts{"https://example.com/2"}}, "2", []int64{2}},
		"a folder":  {crawl.SinkSpec{Kind: crawl.SinkFolder, To: "x"}, "1 2 3", nil},
		"an index":  {crawl.SinkSpec{Kind: crawl.SinkSearch}, "1 2 3", nil},
		"with when": {crawl.SinkSpec{When: &crawl.SinkWhen{Appears: crawl.Texts{"kiwi"}}, Prefix: crawl.Texts{"https://example.com/3"}}, "3", []int64{3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPost(t, c.spec)
			p.events.Versions = map[int]string{1: "none", 2: "a kiwi"}
			var diffs []int64
			settings := activities.Settings{Senders: p.receiver, Events: asking{p.events, &diffs}}
			p.world.activities = activities.New(activities.Stores{Crawls: p.feed, Sinks: p.feed}, nil, nil, p.world.flows, settings, slog.New(slog.DiscardHandler))
			p.change(1, 2, 3)
			p.deliver()
			p.wantTaken(c.taken)
			if !slices.Equal(diffs, c.want) {
				t.Errorf("differences of %v were read, want %v", diffs, c.want)
			}
		})
	}
}

// Changes that are not for a sink move its cursor too, even over thousands of changes of
// other crawls.
func TestDeliverPassesOthers(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{Hosts: crawl.Texts{"other.example"}})
	p.change(1)
	p.feed.AddOther(3 * store.FeedStep)
	if out := p.deliver(); out.Passed != 1 || out.Sent != 0 || out.More {
		t.Errorf("%+v", out)
	}
	if after := p.feed.Record("x").After.ID; after != 1+3*store.FeedStep {
		t.Errorf("after %d", after)
	}
	p.wantTaken("")
}

func TestDeliverInBatches(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	for i := range int64(250) {
		p.change(i + 1)
	}
	var sent []int
	for {
		out := p.deliver()
		sent = append(sent, out.Sent)
		if !out.More {
			break
		}
	}
	if !slices.Equal(sent, []int{100, 100, 50}) {
		t.Errorf("sent %v", sent)
	}
}

func TestSinkFromAll(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.change(1, 2, 3)
	p.feed.Trim(1)
	p.feed.SetCrawl(func(c *store.CrawlRecord) {
		c.Spec.Sinks = map[string]crawl.SinkSpec{"all": {Kind: crawl.SinkExec, To: "x", From: crawl.SinkFromAll}}
	})
	if out := run(p.world, contract.Deliver, contract.DeliverIn{CrawlID: 1, Crawl: "news", Sink: "all"}); out.Sent != 2 {
		t.Errorf("%+v", out)
	}
	p.wantTaken("2 3")
	if out := p.deliver(); !out.Ended {
		t.Errorf("a sink that the spec has lost: %+v", out)
	}
}

// A sink ends with its crawl: when that is being deleted, and when another has its name.
func TestDeliverEndsWithItsCrawl(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*store.CrawlRecord){
		"deleted":   func(c *store.CrawlRecord) { c.Deleting = true },
		"made anew": func(c *store.CrawlRecord) { c.ID++ },
	} {
		p := newPost(t, crawl.SinkSpec{})
		p.change(1)
		p.feed.SetCrawl(change)
		if out := p.deliver(); !out.Ended || out.Sent != 0 {
			t.Errorf("%s: %+v", name, out)
		}
		if _, err := p.command(contract.Resume, contract.ReplayArg{}); err == nil {
			t.Errorf("%s: its sink was resumed", name)
		}
		p.wantTaken("")
	}
}

// A sender that says that it needs longer gets that time: a mail server that has a message, and
// is not heard out, would get it again.
func TestDeliverGivesTheSenderItsTime(t *testing.T) {
	t.Parallel()
	for own, want := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Second: 30 * time.Second, 8 * time.Minute: 8 * time.Minute} {
		p := newPost(t, crawl.SinkSpec{})
		p.receiver.TimeLimit = own
		p.change(1)
		p.deliver()
		if got := p.receiver.Granted(); got > want || got < want/2 {
			t.Errorf("a sender that needs %s has %s, want %s", own, got, want)
		}
	}
}

// A receiver that does not answer is tried again when it is time, or a person asks.
func TestDeliverLater(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	down := true
	p.receiver.Answer = func([]feed.Event) error {
		if down {
			return &sink.Later{After: time.Minute, Reason: "503 Service Unavailable"}
		}
		return nil
	}
	p.change(1, 2)
	p.time = p.time.Add(10 * time.Second)
	out := p.deliver()
	if out.Wait != time.Minute || out.Problem != "503 Service Unavailable" || out.Tries != 1 || out.Lag != 10*time.Second || !strings.Contains(out.Reason, "503") {
		t.Errorf("%+v", out)
	}
	p.time = p.time.Add(40 * time.Second)
	if out = p.deliver(); out.Wait != 20*time.Second || p.receiver.Tries() != 1 || out.Lag != 50*time.Second {
		t.Errorf("too early: %+v after %d tries", out, p.receiver.Tries())
	}
	down = false
	run(p.world, contract.Deliver, contract.DeliverIn{CrawlID: 1, Crawl: "news", Sink: "x", Asked: true})
	p.wantTaken("1 2")
	if rec := p.feed.Record("x"); rec.Problem != "" || rec.Tries != 0 || !rec.NextAt.IsZero() || !rec.Since.IsZero() {
		t.Errorf("%+v", rec)
	}
}

// One change that is refused for good holds the others for less than an hour, is listed, and
// is sent when a person asks.
func TestDeliverRefused(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	refuses := true
	p.receiver.Answer = func(events []feed.Event) error {
		if refuses && events[0].Page.ID == 2 {
			return &sink.Refused{Status: 400, Reason: "400 Bad Request"}
		}
		return nil
	}
	p.change(1, 2, 3)
	begun := p.time
	for {
		out := p.deliver()
		if out.Wait == 0 {
			break
		}
		p.wantTaken("1")
		p.time = p.time.Add(out.Wait)
	}
	if took := p.time.Sub(begun); took > time.Hour {
		t.Errorf("the line was held for %s", took)
	}
	p.wantTaken("1 3")
	failed, err := p.feed.Undelivered(t.Context(), 1, "x", 0, 10)
	if err != nil || len(failed) != 1 || failed[0].ChangeID != 2 || failed[0].Tries != 5 || failed[0].Problem != "400 Bad Request" {
		t.Fatalf("undelivered %+v, %v", failed, err)
	}
	if out, err := p.command(contract.SinkReplay, contract.ReplayArg{Changes: []int64{2}}); err != nil || !out.Refused || !strings.Contains(out.Message, "400 Bad Request") {
		t.Errorf("replayed while it is refused: %+v, %v", out, err)
	}
	refuses = false
	if out, err := p.command(contract.SinkReplay, contract.ReplayArg{Changes: []int64{3}}); err != nil || !out.Refused || !strings.Contains(out.Message, "not among the undelivered") {
		t.Errorf("replayed what was delivered: %+v, %v", out, err)
	}
	out, err := p.command(contract.SinkReplay, contract.ReplayArg{Changes: []int64{2}})
	if err != nil || !strings.HasPrefix(out.Message, "1 of 1") {
		t.Errorf("%+v, %v", out, err)
	}
	p.wantTaken("1 3 2")
	if failed, _ = p.feed.Undelivered(t.Context(), 1, "x", 0, 10); len(failed) != 0 {
		t.Errorf("still undelivered: %+v", failed)
	}
}

// A change that is refused again does not hold back those behind it. A receiver that does not
// answer does.
func TestReplayGoesOnAfterARefusal(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.change(1, 2, 3, 4)
	var answer func(id int64) error
	p.receiver.Answer = func(events []feed.Event) error { return answer(events[0].Cursor.ID) }
	answer = func(int64) error { return &sink.Refused{Reason: "400", Final: true} }
	p.deliver()
	replay := func(want string, through int64) {
		t.Helper()
		out, err := p.command(contract.SinkReplay, contract.ReplayArg{Changes: []int64{1, 2, 3, 4}})
		if err != nil || !out.Refused || out.Message != want || out.Replayed.Through != through {
			t.Errorf("%+v, %v, want %q through %d", out, err, want, through)
		}
	}
	answer = func(id int64) error {
		switch id {
		case 1:
			return &sink.Refused{Reason: "400"}
		case 3:
			return errors.New("no route")
		}
		return nil
	}
	replay("1 of 4 undelivered changes are delivered, 1 refused, 2 not sent, since the receiver takes nothing now (change 1: 400)", 3)
	answer = func(id int64) error {
		if id == 1 {
			return &sink.Refused{Reason: "400"}
		}
		return nil
	}
	replay("2 of 3 undelivered changes are delivered, 1 refused (change 1: 400)", 4) // 2 is no longer listed
	p.wantTaken("2 3 4")
}

// A replay that has no more time says so: the rest is for another one.
func TestReplayEndsInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPost(t, crawl.SinkSpec{})
		p.change(1, 2, 3, 4, 5)
		refuses := true
		p.receiver.Answer = func([]feed.Event) error {
			if refuses {
				return &sink.Refused{Reason: "400", Final: true}
			}
			time.Sleep(9 * time.Second) // of the bubble's clock
			return nil
		}
		p.deliver()
		refuses = false
		out, err := p.command(contract.SinkReplay, contract.ReplayArg{Changes: []int64{1, 2, 3, 4, 5}})
		if want := "3 of 5 undelivered changes are delivered, 2 not yet: the same command goes on"; err != nil || out.Refused || out.Message != want || out.Replayed.Through != 3 {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

func TestDeliverPausesAndResumes(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	gone := true
	p.receiver.Answer = func([]feed.Event) error {
		if gone {
			return &sink.Stop{Code: "gone", Reason: "410 Gone"}
		}
		return nil
	}
	p.change(1)
	for range 2 {
		if out := p.deliver(); !out.Paused || out.Code != "gone" || out.Problem != "410 Gone" || out.Wait != 0 {
			t.Errorf("%+v", out)
		}
	}
	if n := p.receiver.Tries(); n != 1 {
		t.Errorf("%d tries", n)
	}
	gone = false
	if out, err := p.command(contract.Resume, contract.ReplayArg{}); err != nil || !out.Look {
		t.Errorf("%+v, %v", out, err)
	}
	p.deliver()
	if _, err := p.command(contract.Pause, contract.ReplayArg{}); err != nil {
		t.Error(err)
	}
	p.change(2)
	if out := p.deliver(); !out.Paused || out.Code != store.SinkPausedByPerson {
		t.Errorf("%+v", out)
	}
	p.wantTaken("1")
}

// A worker that cannot make a sender, because it lacks a secret, tries again, as with a
// receiver that is down.
func TestDeliverWithoutASender(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.receiver.Made = func() error { return errors.New("the environment has no TEAM_HOOK") }
	p.change(1)
	if out := p.deliver(); out.Wait == 0 || !strings.Contains(out.Problem, "TEAM_HOOK") {
		t.Errorf("%+v", out)
	}
}

// A delivery that is lost between the acknowledgement and the store is sent again: at
// least once.
func TestDeliverLostAfterTheAcknowledgement(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.change(1, 2)
	broken := true
	p.feed.SetFail(func(method string) error {
		if broken && method == "MoveSink" {
			return fmt.Errorf("connection lost: %w", store.ErrUnavailable)
		}
		return nil
	})
	_, err := try(p.world, contract.Deliver, toX)
	wantError(t, err, contract.ErrTypeStoreUnavailable, true, "connection lost")
	p.wantTaken("1")
	broken = false
	p.deliver()
	p.wantTaken("1 1 2")
}

// Of two deliveries at once, one ends when it finds that the cursor has moved; nothing is
// left out, and the cursor never goes back.
func TestTwoDeliverAtOnce(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.change(1, 2, 3, 4)
	second := p.worker(t)
	var once sync.Once
	sent := make(chan struct{})
	p.feed.SetFail(func(method string) error {
		if method != "MoveSink" {
			return nil
		}
		once.Do(func() { close(sent) })
		return nil
	})
	done := make(chan contract.DeliverOut)
	go func() {
		out, err := try(second, contract.Deliver, toX)
		if err != nil {
			t.Errorf("the second: %v", err)
		}
		done <- out
	}()
	<-sent
	run(p.world, contract.Deliver, toX) // the second's sender may be open
	<-done
	p.deliver()
	if got := p.feed.Record("x"); got.After.ID != 4 {
		t.Errorf("after %d", got.After.ID)
	}
	firsts := firstTimes(p.receiver.Taken())
	if !slices.Equal(firsts, []string{"1", "2", "3", "4"}) {
		t.Errorf("taken %s", p.receiver.Taken())
	}
}

// firstTimes are the ids in the order in which they were first taken.
func firstTimes(taken string) []string {
	var firsts []string
	for _, id := range strings.Fields(taken) {
		if !slices.Contains(firsts, id) {
			firsts = append(firsts, id)
		}
	}
	return firsts
}

// A delivery whose cursor was moved meanwhile ends, and says that there may be more.
func TestDeliverEndsOnConflict(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.change(1, 2, 3)
	other := p.worker(t)
	moves := 0
	p.feed.SetFail(func(method string) error {
		if method != "MoveSink" {
			return nil
		}
		if moves++; moves == 2 {
			return store.ErrConflict // as if the other had moved it
		}
		return nil
	})
	out := p.deliver()
	if !out.More {
		t.Errorf("%+v", out)
	}
	if out := run(other, contract.Deliver, toX); out.More || out.Sent != 2 {
		t.Errorf("the other: %+v", out)
	}
	p.wantTaken("1 2 2 3")
}

func TestDeliverByTexts(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{When: &crawl.SinkWhen{Appears: crawl.Texts{"sold out"}}})
	p.events.Versions = map[int]string{1: "lamp", 2: "lamp\nsold out", 3: "lamp\nsoon"}
	p.feed.Add(feed.PageChanged, 1, feed.Data{From: 1}, 2)
	p.feed.Add(feed.PageChanged, 1, feed.Data{From: 2}, 3)
	p.feed.Add(feed.PageChanged, 1, feed.Data{From: 3}, 2)
	p.feed.Add(feed.PageGone, 1, feed.Data{}, 0)
	p.deliver()
	p.wantTaken("1 3")
}

func TestDeliverAfterATakedown(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.events.Forgotten = map[int64]bool{1: true}
	p.change(1, 2)
	p.deliver()
	p.wantTaken("2")
}

// A page that is forgotten while the changes before its own are sent is not sent.
func TestDeliverDuringATakedown(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	p.receiver.Answer = func(events []feed.Event) error {
		if events[0].Cursor.ID == 1 {
			p.events.Forgotten = map[int64]bool{2: true}
		}
		return nil
	}
	p.change(1, 2, 3)
	p.deliver()
	p.wantTaken("1 3")
	if rec := p.feed.Record("x"); rec.After.ID != 3 {
		t.Errorf("%+v", rec)
	}
}

// If a change that the receiver did not take is not for the sink any more, its trouble is over: one
// that comes a week later is a new one, for which the sink is not paused at once.
func TestDeliverForgetsATroubleThatIsOver(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]crawl.SinkSpec{"one by one": {}, "digests": {Every: crawl.Duration(time.Minute)}} {
		p := newPost(t, spec)
		p.receiver.Answer = func([]feed.Event) error { return errors.New("connection refused") }
		p.change(1)
		p.time = p.time.Add(time.Minute)
		if out := p.deliver(); out.Tries != 1 {
			t.Errorf("%s: %+v", name, out)
		}
		p.events.Forgotten = map[int64]bool{1: true}
		p.time = p.time.Add(time.Minute)
		p.deliver()
		if rec := p.feed.Record("x"); rec.After.ID != 1 || rec.Problem != "" || rec.Tries != 0 || !rec.Since.IsZero() || !rec.NextAt.IsZero() {
			t.Errorf("%s: after the takedown %+v", name, rec)
		}
		p.time = p.time.Add(7 * 24 * time.Hour)
		p.change(2)
		p.time = p.time.Add(time.Minute)
		if out := p.deliver(); out.Paused || out.Tries != 1 {
			t.Errorf("%s: a week later %+v", name, out)
		}
	}
}

func TestSkipAndReplayAfter(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	if out, err := p.command(contract.SinkSkip, contract.ReplayArg{}); err != nil || !strings.Contains(out.Message, "nothing to skip") {
		t.Errorf("%+v, %v", out, err)
	}
	p.change(1, 2, 3)
	if out, err := p.command(contract.SinkSkip, contract.ReplayArg{}); err != nil || !strings.Contains(out.Message, "change 1, a page.changed") {
		t.Errorf("%+v, %v", out, err)
	}
	p.deliver()
	p.wantTaken("2 3")
	cursor := feed.Cursor{Epoch: sinktest.Epoch, ID: 1}
	if _, err := p.command(contract.SinkReplay, contract.ReplayArg{After: cursor.String()}); err != nil {
		t.Error(err)
	}
	p.deliver()
	p.wantTaken("2 3 2 3")
	p.feed.Trim(2)
	for after, want := range map[string]string{
		cursor.String(): "older than", feed.Cursor{Epoch: sinktest.Epoch, ID: 99}.String(): "newer than",
		feed.Cursor{Epoch: "other", ID: 3}.String(): "restored", "4": "not a cursor",
	} {
		if _, err := p.command(contract.SinkReplay, contract.ReplayArg{After: after}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("after %s: %v, want %q", after, err, want)
		}
	}
}

func TestSinkTest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		spec   crawl.SinkSpec
		answer error
		want   string
		taken  int
	}{
		{"taken", crawl.SinkSpec{}, nil, "took the test", 1},
		{"a digest", crawl.SinkSpec{Every: crawl.Duration(time.Hour)}, nil, "took the test", 1},
		{"refused", crawl.SinkSpec{}, &sink.Refused{Reason: "400 Bad Request"}, "refused the test: 400", 0},
		{"down", crawl.SinkSpec{}, errors.New("connection refused"), "did not take the test: connection refused", 0},
		{"gone", crawl.SinkSpec{}, &sink.Stop{Code: "gone", Reason: "410 Gone"}, "410 Gone", 0},
		{"a folder", crawl.SinkSpec{Kind: crawl.SinkFolder, To: "x"}, nil, "no page was written", 0},
		{"a folder of somebody else", crawl.SinkSpec{Kind: crawl.SinkFolder, To: "x"}, &sink.Stop{Code: "folder_foreign", Reason: "folder /x holds notes"}, "folder /x holds notes", 0},
	} {
		p := newPost(t, tt.spec)
		p.receiver.Answer = func([]feed.Event) error { return tt.answer }
		out, err := p.command(contract.SinkTest, contract.ReplayArg{})
		if err != nil || !strings.Contains(out.Message, tt.want) || out.Refused != (tt.answer != nil) || len(strings.Fields(p.receiver.Taken())) != tt.taken {
			t.Errorf("%s: %+v, %v; taken %q", tt.name, out, err, p.receiver.Taken())
		}
		if rec := p.feed.Record("x"); rec.Tries != 0 || rec.Paused || rec.Sent != 0 {
			t.Errorf("%s: the test left %+v", tt.name, rec)
		}
	}
}

func TestCommandsOfNoSink(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{})
	_, err := try(p.world, contract.CommandSink, contract.SinkCommandIn{CrawlID: 1, Crawl: "news", Sink: "y", Command: contract.Pause})
	wantError(t, err, contract.ErrTypeNotFound, false, "has no sink y")
	_, err = try(p.world, contract.Deliver, contract.DeliverIn{CrawlID: 1, Crawl: "old", Sink: "x"})
	wantError(t, err, contract.ErrTypeNotFound, false, "")
	if _, err := p.command("dance", contract.ReplayArg{}); err == nil {
		t.Error("an unknown command was carried out")
	}
}

// Fifty changes within an hour are one message, in which each page stands once.
func TestDigest(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{Every: crawl.Duration(time.Hour), MaxItems: 8})
	begun := p.time
	for i := range int64(50) {
		p.change(i%10 + 1)
		p.time = p.time.Add(time.Minute)
	}
	if out := p.deliver(); out.Wait != 10*time.Minute || out.Lag != 50*time.Minute {
		t.Errorf("after 50 minutes: %+v", out)
	}
	p.time = begun.Add(time.Hour)
	p.change(77) // the next one's
	down := true
	p.receiver.Answer = func([]feed.Event) error {
		if down {
			return errors.New("connection refused")
		}
		return nil
	}
	if out := p.deliver(); out.Wait != 5*time.Second || out.More || out.Problem == "" {
		t.Errorf("with the server down: %+v", out)
	}
	down = false
	p.time = p.time.Add(5 * time.Second)
	if out := p.deliver(); !out.More || out.Sent != 8 {
		t.Errorf("%+v", out)
	}
	digests := p.receiver.Digests()
	if len(digests) != 1 {
		t.Fatalf("%d messages", len(digests))
	}
	d := digests[0]
	if len(d.Events) != 8 || d.Left != 2 || d.ID != sinktest.Epoch+".1-50" || !d.From.Equal(begun) || !d.To.Equal(begun.Add(time.Hour)) {
		t.Errorf("%d events, %d left, id %s, %s to %s", len(d.Events), d.Left, d.ID, d.From, d.To)
	}
	for _, e := range d.Events {
		if n := len(e.Diff.Added) + len(e.Diff.Removed); n != sink.DigestLines || !e.Diff.Cut {
			t.Errorf("page %d has %d lines", e.Page.ID, n)
		}
	}
	if out := p.deliver(); out.Wait != time.Hour-5*time.Second {
		t.Errorf("the next: %+v", out)
	}
	p.feed.SetCrawl(func(c *store.CrawlRecord) { c.State = crawl.CrawlStopped })
	if out := p.deliver(); out.Sent != 1 || !out.Stopped {
		t.Errorf("of a stopped crawl: %+v", out)
	}
	if out := p.deliver(); out.More || out.Wait != 0 {
		t.Errorf("at the end: %+v", out)
	}
}

// A sink whose spec no longer collects, and no longer selects what was collected, does not go on
// collecting: it would not be woken for the next change.
func TestDigestNoLongerAskedFor(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{Every: crawl.Duration(time.Hour)})
	p.change(1)
	p.deliver()
	if p.feed.Record("x").DigestSince.IsZero() {
		t.Error("it does not collect")
	}
	p.feed.SetCrawl(func(c *store.CrawlRecord) {
		c.Spec.Sinks = map[string]crawl.SinkSpec{"x": {Kind: crawl.SinkExec, To: "x", Prefix: crawl.Texts{"https://example.com/2"}}}
	})
	p.deliver()
	if rec := p.feed.Record("x"); rec.After.ID != 1 || !rec.DigestSince.IsZero() {
		t.Errorf("%+v", rec)
	}
	p.change(2)
	p.deliver()
	p.wantTaken("2")
}

// If all its changes cancel out or are not for the sink, there is no digest.
func TestDigestOfNothing(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{Every: crawl.Duration(time.Hour), Prefix: crawl.Texts{"https://example.com/1"}})
	p.change(2)
	if out := p.deliver(); out.Wait != 0 {
		t.Errorf("begun by a page that it is not for: %+v", out)
	}
	p.feed.Add(feed.PageChanged, 1, feed.Data{Was: crawl.Active, State: crawl.Active, From: 1}, 2)
	p.feed.Add(feed.PageChanged, 1, feed.Data{Was: crawl.Active, State: crawl.Active, From: 2, ReturnedTo: 1}, 1)
	p.change(2)
	p.deliver()
	p.time = p.time.Add(time.Hour)
	p.deliver()
	if rec := p.feed.Record("x"); p.receiver.Tries() != 0 || rec.After.ID != 4 || !rec.DigestSince.IsZero() {
		t.Errorf("%d tries, %+v", p.receiver.Tries(), rec)
	}
}

// A digest for which the texts of its pages are read is bounded, so that it is done in the time of a
// delivery. The rest is the next one.
func TestDigestOfManyTexts(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{Every: crawl.Duration(time.Hour), When: &crawl.SinkWhen{Appears: crawl.Texts{"kiwi"}}})
	p.events.Versions = map[int]string{1: "none", 2: "a kiwi"}
	for i := range int64(10_001) {
		p.change(i + 1)
	}
	p.time = p.time.Add(time.Hour)
	for p.deliver().More {
	}
	d := p.receiver.Digests()
	if len(d) != 2 || d[0].ID != sinktest.Epoch+".1-10000" || d[1].ID != sinktest.Epoch+".10001-10001" || len(d[0].Events)+d[0].Left != 10_000 {
		t.Errorf("%d digests", len(d))
	}
}

// If a digest is refused for good, every page of it is listed.
func TestDigestRefused(t *testing.T) {
	t.Parallel()
	p := newPost(t, crawl.SinkSpec{Every: crawl.Duration(time.Minute)})
	p.receiver.Answer = func([]feed.Event) error { return &sink.Refused{Reason: "400"} }
	p.change(1, 2, 3, 2)
	p.time = p.time.Add(time.Minute)
	for p.deliver().Wait > 0 {
		p.time = p.feed.Record("x").NextAt
	}
	failed, err := p.feed.Undelivered(t.Context(), 1, "x", 0, 10)
	var ids []int64
	for _, u := range failed {
		ids = append(ids, u.ChangeID)
	}
	if err != nil || !slices.Equal(ids, []int64{1, 3, 4}) {
		t.Errorf("undelivered %v, %v", ids, err)
	}
	if rec := p.feed.Record("x"); rec.After.ID != 4 || !rec.DigestSince.IsZero() {
		t.Errorf("%+v", rec)
	}
}
