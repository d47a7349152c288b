package workflows

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	"recrawl/internal/config"
	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
)

// Histories in testdata were made by earlier releases, each in its folder; code that
// cannot replay them would break every workflow that is under way. When workflows learn
// something new, record it for the release that is being made: `make record`.
var record = flag.Bool("record", false, "store the histories of TestHistories in testdata, under this release")

func TestReplay(t *testing.T) {
	t.Parallel()
	if stray, err := filepath.Glob(filepath.Join("testdata", "*.json.gz")); err != nil || len(stray) > 0 {
		t.Errorf("histories that do not say which release made them: move %v to testdata/RELEASE (%v)", stray, err)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]int{}
	for _, name := range files {
		release := filepath.Base(filepath.Dir(name))
		if !isRelease.MatchString(release) {
			t.Errorf("%s: %s is no release", name, release)
		}
		history := readHistory(t, name)
		types[history.Events[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()]++
		t.Run(release+"/"+filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			replay(t, history)
		})
	}
	for _, name := range []string{contract.PageWorkflow, contract.CrawlWorkflow, contract.DiscoverWorkflow} { // no release had sinks
		if types[name] == 0 {
			t.Errorf("no history of %s in testdata", name)
		}
	}
}

var isRelease = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`)

func replay(t *testing.T, history *historypb.History) {
	t.Helper()
	replayer := worker.NewWorkflowReplayer()
	Register(replayer)
	if err := replayer.ReplayWorkflowHistory(contracttest.Quiet(), history); err != nil {
		t.Error(err)
	}
}

func readHistory(t *testing.T, name string) *historypb.History {
	t.Helper()
	packed, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	raw, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	history, err := client.HistoryFromJSON(bytes.NewReader(raw), client.HistoryJSONOptions{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return history
}

// keep replays the histories of a workflow's runs and, when recording, stores
// them.
func (s *onServer) keep(name string, run begun) {
	s.t.Helper()
	for i, history := range s.chain(run) {
		anonymous(history)
		raw, err := protojson.Marshal(history)
		if err != nil {
			s.t.Fatal(err)
		}
		// After the marshalling: a replay writes search attributes into the history
		// that it is given.
		replay(s.t, history)
		if !*record {
			continue
		}
		var compact, packed bytes.Buffer
		w := gzip.NewWriter(&packed) // without a time, so that the same history is the same file
		if err := errors.Join(json.Compact(&compact, raw), writeAll(w, &compact), w.Close()); err != nil {
			s.t.Fatal(err)
		}
		folder := filepath.Join("testdata", config.Release)
		file := filepath.Join(folder, fmt.Sprintf("%s-%02d.json.gz", name, i+1))
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(file, packed.Bytes(), 0o644)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// anonymous removes names of the recording machine: a sticky task queue is named
// after its host. (Identities are the test's own.)
func anonymous(history *historypb.History) {
	for _, e := range history.Events {
		queue := e.GetWorkflowTaskScheduledEventAttributes().GetTaskQueue()
		if queue.GetKind() == enumspb.TASK_QUEUE_KIND_STICKY {
			queue.Name = "sticky"
		}
	}
}

func writeAll(w io.Writer, b *bytes.Buffer) error {
	_, err := b.WriteTo(w)
	return err
}

// TestHistories makes the histories that testdata keeps, on a real server, and
// replays them as they are.
func TestHistories(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(*testing.T, string){
		"page-visits": histVisits, "page-registers": histRegisters, "page-failing": histFailing, "page-fruitless": histFruitless, "page-line": histLine, "page-people": histPeople, "page-cancelled": histCancelled, "page-asked": histAsked,
		"page-redirect": histRedirect, "discover": histDiscover, "crawl": histCrawl, "page-evicted": histEvicted, "crawl-ranks": histRanks, "sink": histSink,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, name)
		})
	}
}

// histVisits: new, unchanged and changed visits with links, over three runs.
func histVisits(t *testing.T, name string) {
	s := newOnServer(t)
	s.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if try.In.Visit%3 == 1 {
			return contracttest.Changed(try.Now), nil
		}
		return contracttest.Unchanged(try.Now), nil
	}
	s.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
		return contract.DetectOut{Outcome: in.Fetch.Outcome, Links: 2}, nil
	}
	in := pageIn()
	in.Tuning.VisitsPerRun = 3
	run := s.startPage(in)
	s.await("42/6")
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
	s.keep(name, run)
}

// histRegisters: links that are all known, that are new, and that wait for a Discover; and
// visits that start a Discover without any.
func histRegisters(t *testing.T, name string) {
	s := newOnServer(t)
	s.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if try.In.Visit > 3 {
			return contracttest.Unchanged(try.Now), nil
		}
		return contracttest.Changed(try.Now), nil
	}
	s.world.OnDetect = func(in contract.DetectIn) (contract.DetectOut, error) {
		found := map[int]*contract.RegisterOut{1: {New: 2, Hosts: []int64{9}}, 2: {Seen: 2}}[in.Visit]
		return contract.DetectOut{Outcome: in.Fetch.Outcome, Links: 2, Registered: found}, nil
	}
	plan := s.world.OnPlan
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		plan(in, out)
		out.Refill = in.Visit == 1 || in.Visit == 5
		out.Room = in.Visit != 2
	}
	run := s.startPage(pageIn())
	s.await("42/6")
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
	s.keep(name, run)
	for visit, want := range map[int]bool{1: true, 2: false, 3: true, 4: false, 5: true} {
		_, err := s.client.DescribeWorkflowExecution(s.ctx, contract.DiscoverID("news", 42, visit), "")
		if (err == nil) != want {
			t.Errorf("visit %d started a Discover: %t (%v), want %t", visit, err == nil, err, want)
		}
	}
}

// histRedirect: a redirect to a page of another host, at which the visit's Discover
// admits too.
func histRedirect(t *testing.T, name string) {
	s := newOnServer(t)
	s.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		return contract.FetchOut{Outcome: crawl.OutcomeRedirected, Status: 301, At: try.Now, Location: "https://www.example.com/"}, nil
	}
	plan := s.world.OnPlan
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		plan(in, out)
		out.RedirectHost = 9
	}
	run := s.startPage(pageIn())
	s.await("42/2")
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
	s.keep(name, run)
}

// histFailing: failures, a lost worker, a store outage, back to active.
func histFailing(t *testing.T, name string) {
	s := newOnServer(t)
	outages := 0
	s.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		switch try.N {
		case 1, 2:
			return contract.FetchOut{}, contracttest.FetchFailed(contract.FetchOut{
				Outcome: crawl.OutcomeFailed, At: try.Now, Problem: "connection refused",
			})
		case 3:
			return contract.FetchOut{NotBegun: true}, nil
		}
		return contracttest.Unchanged(try.Now), nil
	}
	s.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.In.Visit == 4 && outages < 4 {
			outages++ // three tries in the workflow task, a pause, a fourth
			return contract.AcquireOut{}, contracttest.Unavailable()
		}
		return contract.AcquireOut{}, nil
	}
	run := s.startPage(pageIn())
	s.await("42/5")
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
	s.keep(name, run)
}

// histFruitless: permits that come to nothing, one more than a page takes without a pause, and
// a person who ends the pause.
func histFruitless(t *testing.T, name string) {
	s := newOnServer(t)
	s.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) {
		if try.N <= fruitlessTries+1 {
			return contract.FetchOut{NotBegun: true}, nil
		}
		return contracttest.Unchanged(try.Now), nil
	}
	run := s.startPage(pageIn())
	s.awaitEvent(run, enumspb.EVENT_TYPE_TIMER_STARTED)
	s.update(run.GetID(), contract.VisitNow)
	s.await("42/1")
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
	s.keep(name, run)
}

// histLine: robots.txt, a wait, a pause ended by a turn, an exclusion with its
// long sleep in a fresh run.
func histLine(t *testing.T, name string) {
	s := newOnServer(t)
	plan := s.world.OnPlan
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		plan(in, out)
		if out.Outcome == crawl.OutcomeExcluded {
			out.NextAt = out.At.Add(30 * day)
		}
	}
	s.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		switch fmt.Sprint(a.In.Visit, a.N) {
		case "1 1":
			return contract.AcquireOut{Answer: contract.AnswerRobots}, nil
		case "1 2":
			return contract.AcquireOut{Answer: contract.AnswerWait, Wait: time.Second, Reason: "3 before it"}, nil
		case "2 1":
			s.marks.reach("parked")
			return contract.AcquireOut{Answer: contract.AnswerParked}, nil
		case "3 1":
			return contract.AcquireOut{Answer: contract.AnswerExcluded, Rule: "Disallow: /"}, nil
		}
		return contract.AcquireOut{}, nil
	}
	run := s.startPage(pageIn())
	s.await("parked")
	s.signal(run.GetID(), contract.TurnSignal, contract.TurnArg{})
	s.endOfRun(run)
	s.signal(run.GetID(), contract.VisitNow, nil)
	s.await("42/4")
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
	s.keep(name, run)
}

// histPeople: everything that a person can ask of a sleeping page.
func histPeople(t *testing.T, name string) {
	s := newOnServer(t)
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		s.marks.reach(fmt.Sprintf("%d/%d", in.Page.PageID, in.Visit))
	}
	run := s.startPage(pageIn())
	id := run.GetID()
	s.await("42/1")
	ack := s.update(id, contract.VisitNow)
	s.await(fmt.Sprintf("42/%d", ack.Visit))
	s.update(id, contract.Snooze, "2d")
	s.update(id, contract.SetInterval, "36h")
	s.signal(id, contract.Reschedule, contract.RescheduleArg{Due: time.Now().Add(5 * time.Hour), Why: "gains most"})
	s.update(id, contract.Snooze, "0")
	s.update(id, contract.SetInterval, "1s")
	s.await(fmt.Sprintf("42/%d", ack.Visit+2))
	s.update(id, contract.SetInterval, "0")
	for _, query := range []string{contract.StateQuery, contract.ExplainQuery, "__temporal_workflow_metadata"} {
		if _, err := s.client.QueryWorkflow(s.ctx, id, "", query); err != nil {
			t.Errorf("query %s: %v", query, err)
		}
	}
	s.update(id, contract.StopName)
	s.end(run)
	s.keep(name, run)
}

// histCancelled: a page is cancelled in the task that would end its run before a long sleep.
func histCancelled(t *testing.T, name string) {
	s := newOnServer(t)
	s.world.OnPlan = nil // the next visit is a day later
	run := s.startPage(pageIn())
	s.awaitEvent(run, enumspb.EVENT_TYPE_TIMER_STARTED)
	s.rest()
	s.signal(run.GetID(), contract.Reschedule, contract.RescheduleArg{Due: time.Now().Add(30 * day), Why: "gains little"})
	if err := s.client.CancelWorkflow(s.ctx, run.GetID(), run.first); err != nil {
		t.Fatal(err)
	}
	s.work()
	if err := run.Get(s.ctx, nil); !temporal.IsCanceledError(err) {
		t.Errorf("ended with %v, want cancelled", err)
	}
	if left := s.world.Left(); len(left) != 1 || left[0].State != crawl.Stopped {
		t.Errorf("left %v, want once, stopped", left)
	}
	s.keep(name, run)
}

// histAsked: a person asks for a visit while the store takes long to answer the page, which then
// is to wait. The workflow task is a short one, so that it is prolonged soon, and the update comes.
func histAsked(t *testing.T, name string) {
	s := newOnServer(t)
	s.world.OnAcquire = func(a contracttest.Ask) (contract.AcquireOut, error) {
		if a.In.Class == crawl.ClassManual {
			return contract.AcquireOut{}, nil
		}
		s.marks.reach("asking")
		<-s.marks.channel("answered")
		return contract.AcquireOut{Answer: contract.AnswerWait, Wait: 2 * time.Hour, Reason: "others come first"}, nil
	}
	in := pageIn()
	run := s.start(client.StartWorkflowOptions{
		ID: contract.PageID(in.Page.Crawl, in.Page.URL), TypedSearchAttributes: contract.PageAttributes(in), WorkflowTaskTimeout: 2 * time.Second,
	}, contract.PageWorkflow, in)
	s.await("asking")
	s.update(run.GetID(), contract.VisitNow)
	s.marks.reach("answered")
	s.await("42/1")
	s.signal(run.GetID(), contract.StopName, nil)
	s.end(run)
	s.keep(name, run)
}

// histDiscover: links are registered and pages started; one of these already runs.
func histDiscover(t *testing.T, name string) {
	s := newOnServer(t)
	pages := knownPages(3)
	s.world.AddKnown(pages...)
	running := s.startPage(pages[1])
	run := s.start(client.StartWorkflowOptions{ID: contract.DiscoverID("news", 42, 4)}, contract.DiscoverWorkflow, linksOf(4))
	var out contract.DiscoverOut
	if err := run.Get(s.ctx, &out); err != nil || out.Started != 2 {
		t.Fatalf("%+v, %v: want two pages started beside the one that runs", out, err)
	}
	for _, p := range pages {
		s.await(fmt.Sprintf("%d/1", p.Page.PageID)) // abandoned children live on
	}
	s.signal(running.GetID(), contract.StopName, nil)
	s.end(running)
	s.keep(name, run)
	s.keep("page-short", running)
}

// histCrawl: seeds, maintenance with unfinished links, commands, stop; over
// several runs.
func histCrawl(t *testing.T, name string) {
	s := newOnServer(t)
	s.world.AddKnown(knownPages(1)...)
	turns := 0
	s.world.OnMaintain = func(in contract.MaintainIn) (contract.MaintainOut, error) {
		turns++
		s.marks.reach(fmt.Sprintf("turn %d", turns))
		if in.Repair && in.After == 0 {
			return contract.MaintainOut{After: 500}, nil
		}
		out := contract.MaintainOut{Status: contract.CrawlCounts{Pages: map[string]int{"active": 1}}}
		if turns == 3 {
			out.Unfinished = []contract.DiscoverIn{linksOf(3)}
		}
		return out, nil
	}
	s.world.OnClosePages = func(in contract.ClosePagesIn) (contract.ClosePagesOut, error) {
		return contract.ClosePagesOut{After: (in.After + 1) % 2, Closed: 1}, nil
	}
	id := contract.CrawlID("news")
	run := s.start(client.StartWorkflowOptions{ID: id}, contract.CrawlWorkflow,
		json.RawMessage(`{"name":"news","seeds":["https://example.com/"],"maintain_every":"1s"}`),
		contract.CrawlProgress{Tuning: contract.Tuning{TurnsPerRun: 3}})
	s.await("turn 4")
	if ack := s.update(id, contract.AddSeeds, contract.AddSeedsArg{Seeds: []string{"https://b.example/"}}); !strings.HasPrefix(ack.Message, "1 of 1") {
		t.Errorf("add-seeds: %+v", ack)
	}
	s.update(id, contract.Pause)
	s.update(id, contract.Resume)
	s.await("turn 6")
	if _, err := s.client.QueryWorkflow(s.ctx, id, "", contract.StatusQuery); err != nil {
		t.Error(err)
	}
	s.update(id, contract.StopName)
	s.end(run)
	s.keep(name, run)
}

// histEvicted: an eviction that is taken back, and one that is not.
func histEvicted(t *testing.T, name string) {
	s := newOnServer(t)
	evictions := 0
	s.world.OnLeave = func(contract.LeaveIn) contract.LeaveOut {
		evictions++
		return contract.LeaveOut{Returned: evictions == 1}
	}
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		s.marks.reach(fmt.Sprintf("%d/%d", in.Page.PageID, in.Visit))
	}
	run := s.startPage(pageIn())
	for visit := range 2 {
		s.await(fmt.Sprintf("42/%d", visit+1))
		s.signal(run.GetID(), contract.Evict, nil)
	}
	s.end(run)
	s.keep(name, run)
}

// histRanks: a ranking that is due, one that a person asks for, and the exchange of
// pages after each.
func histRanks(t *testing.T, name string) {
	s := newOnServer(t)
	turns, batches := 0, 0
	s.world.OnMaintain = func(contract.MaintainIn) (contract.MaintainOut, error) {
		turns++
		out := contract.MaintainOut{}
		if turns == 1 {
			out.RankDue = &crawl.Reason{Code: "rank_first"}
		}
		return out, nil
	}
	s.world.OnReplace = func(contract.ReplaceIn) (contract.ReplaceOut, error) {
		batches++
		s.marks.reach(fmt.Sprintf("batch %d", batches))
		return contract.ReplaceOut{Evicted: 1, Admitted: 1, More: batches%2 == 1}, nil
	}
	id := contract.CrawlID("news")
	run := s.start(client.StartWorkflowOptions{ID: id}, contract.CrawlWorkflow, json.RawMessage(newsSpec))
	s.await("batch 2")
	s.update(id, contract.RankName)
	s.await("batch 4")
	s.update(id, contract.StopName)
	s.end(run)
	s.keep(name, run)
}

// histSink: a sink that is woken, delivers in parts, tries again, is paused, obeys commands and
// ends with its crawl; over several runs.
func histSink(t *testing.T, name string) {
	s := newOnServer(t)
	looks := 0
	s.world.OnDeliver = func(in contract.DeliverIn) (contract.DeliverOut, error) {
		looks++
		s.marks.reach(fmt.Sprintf("look %d", looks))
		switch looks {
		case 1:
			return contract.DeliverOut{Sent: 100, More: true}, nil
		case 2:
			return contract.DeliverOut{Sent: 3, Wait: time.Second, Reason: "503", Problem: "503", Tries: 1, Lag: time.Second}, nil
		case 3:
			return contract.DeliverOut{Sent: 1, Undelivered: 1}, nil
		case 4:
			return contract.DeliverOut{Paused: true, Code: "gone", Problem: "410 Gone"}, nil
		case 5:
			return contract.DeliverOut{Sent: 2, More: true}, nil
		case 6:
			return contract.DeliverOut{}, nil
		}
		return contract.DeliverOut{Ended: true}, nil
	}
	id := contract.SinkID("news", "team")
	run := s.start(client.StartWorkflowOptions{ID: id, TypedSearchAttributes: contract.SinkAttributes("news")}, contract.SinkWorkflow,
		contract.SinkIn{CrawlID: 1, Crawl: "news", Sink: "team", Tuning: contract.Tuning{LooksPerRun: 2}})
	s.await("look 3")
	s.signal(id, contract.SinkWake, contract.SinkWakeArg{})
	s.await("look 4")
	s.update(id, contract.Resume)
	s.await("look 6")
	s.update(id, contract.SinkReplay, contract.ReplayArg{After: "c1.5f2a9c01.4"})
	s.end(run)
	s.keep(name, run)
}

// The Crawl workflow starts from a person's input, with one argument.
func TestCrawlFromPlainInput(t *testing.T) {
	t.Parallel()
	s := newOnServer(t)
	s.world.OnMaintain = func(contract.MaintainIn) (contract.MaintainOut, error) {
		s.marks.reach("turn")
		return contract.MaintainOut{}, nil
	}
	start := func(name string, args ...any) begun {
		return s.start(client.StartWorkflowOptions{ID: contract.CrawlID(name)}, contract.CrawlWorkflow, args...)
	}
	run := start("news", map[string]any{"name": "news", "seeds": []string{"https://example.com/"}})
	s.await("turn")
	s.update(run.GetID(), contract.StopName)
	s.end(run)
	for name, args := range map[string][]any{"none": {}, "text": {"news"}, "odd": {map[string]any{"name": "odd", "seed": 1}}} {
		err := start(name, args...).Get(s.ctx, nil)
		if err == nil || !strings.Contains(err.Error(), "spec: ") || !strings.Contains(err.Error(), contract.ErrTypeBadSpec) {
			t.Errorf("%s: ended with %v", name, err)
		}
	}
}
