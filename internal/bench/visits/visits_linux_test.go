package visits

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/types/known/timestamppb"

	"recrawl/internal/bench"
	"recrawl/internal/deploytest"
)

// TestMain lets this program be the bare worker, as the benchmark's own program is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "bare" {
		if err := RunBare(context.Background(), os.Args[2:], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// TestCounts runs the counting part of the benchmark on a site of a few pages. Its counts
// do not depend on how busy the machine is.
func TestCounts(t *testing.T) {
	t.Parallel()
	if os.Getenv("RECRAWL_LONG") == "" {
		t.Skip("without RECRAWL_LONG: it builds the programs with counters, which takes longer than all that it counts")
	}
	o := Quick()
	o.Rounds, o.Hosts, o.Pages, o.Window, o.Settle, o.Waiting, o.SaturatedVisits = 0, 2, 8, time.Second, time.Second, []int{3}, 6
	o.Counting, o.Folder = t.TempDir(), t.TempDir()
	var err error
	if o.Root, err = deploytest.Root(t.Context()); err != nil {
		t.Fatal(err)
	}
	if o.Self, err = os.Executable(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(o.temporalCLI()); err != nil {
		t.Fatalf("the Temporal CLI is missing (%v): run `make temporal`", err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "counts", "-o", o.Counting+"/", "./starter", "./worker")
	build.Dir, build.Env = o.Root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the programs that count: %v: %s", err, out)
	}
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	checkCounts(t, report.Counts)
	left, err := os.ReadDir(o.Folder)
	if err != nil || len(left) != 0 {
		t.Errorf("it left %v behind, %v", left, err)
	}
	text := report.Tables((*bench.Table).Text)
	for _, want := range []string{BareLoop, First, Saturated(3), "Acquire"} {
		if !strings.Contains(text, want) {
			t.Errorf("the tables lack %q:\n%s", want, text)
		}
	}
}

// checkCounts checks counts that hold for any version of the product.
func checkCounts(t *testing.T, counts []Count) {
	t.Helper()
	var names []string
	for _, c := range counts {
		names = append(names, c.Case)
		each := func(name string) float64 {
			return c.Tally.each(func(t Tally) int { return t.Locals[name] + t.Regular[name] })
		}
		events := c.Tally.each(func(t Tally) int { return t.Events })
		switch c.Case {
		case BareLoop, BareLocals, BareFirst:
			steps := 0.0
			if c.Case == BareLocals {
				steps = 2
			}
			if each(bareVisit) != 1 || each(bareStep) != steps || c.Store != (storeCounts{}) {
				t.Errorf("%s: %v visits and %v steps a visit, and the store did %+v", c.Case, each(bareVisit), each(bareStep), c.Store)
			}
		case Saturated(3): // over a span of time, at whose ends visits are cut off
			if each("Fetch") == 0 || c.Store.Writes == 0 {
				t.Errorf("%s: %v requests a visit, and the store did %+v", c.Case, each("Fetch"), c.Store)
			}
		default:
			if each("Fetch") < 1 || each("Acquire") < 0.5 || c.Store.Writes == 0 || c.Store.WriteStatements < c.Store.Writes || c.Store.Reads == 0 || c.Store.Trips == 0 {
				t.Errorf("%s: %v requests and %v permits a visit, and the store did %+v", c.Case, each("Fetch"), each("Acquire"), c.Store)
			}
		}
		if c.Tally.Visits < 4 || events < 8 {
			t.Errorf("%s: %d visits with %v events each", c.Case, c.Tally.Visits, events)
		}
	}
	if want := []string{BareLoop, BareLocals, BareFirst, First, Unchanged, Changed, Saturated(3)}; !reflect.DeepEqual(names, want) {
		t.Errorf("counted %q, want %q", names, want)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{Default(), Quick()} {
		if err := o.Check(); err != nil {
			t.Error(err)
		}
	}
	for name, change := range map[string]func(*Options){
		"engine":           func(o *Options) { o.Engines = []string{"mysql"} },
		"engines":          func(o *Options) { o.Engines = nil },
		"rounds":           func(o *Options) { o.Rounds = 0 },
		"hosts":            func(o *Options) { o.Hosts = 251 },
		"pages":            func(o *Options) { o.Pages++ },
		"timer":            func(o *Options) { o.Timer = time.Millisecond },
		"waiting":          func(o *Options) { o.Waiting = []int{0} },
		"number of visits": func(o *Options) { o.SaturatedVisits = 0 },
	} {
		o := Default()
		change(&o)
		if err := o.Check(); err == nil {
			t.Errorf("a wrong %s is accepted", name)
		}
	}
}

var start = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// visitEvents are two visits of a page: one second after the start, and another one
// each ten seconds.
func visitEvents(t *testing.T, n int) []*historypb.HistoryEvent {
	t.Helper()
	var events []*historypb.HistoryEvent
	add := func(at time.Duration, e *historypb.HistoryEvent) {
		e.EventId, e.EventTime = int64(len(events)+1), timestamppb.New(start.Add(at))
		events = append(events, e)
	}
	data, err := json.Marshal(map[string]string{"ActivityType": "Acquire"})
	if err != nil {
		t.Fatal(err)
	}
	add(0, &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED})
	for i := range n {
		at := time.Duration(10*i+1) * time.Second
		add(at, &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_WORKFLOW_TASK_COMPLETED})
		add(at, &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_MARKER_RECORDED, Attributes: &historypb.HistoryEvent_MarkerRecordedEventAttributes{
			MarkerRecordedEventAttributes: &historypb.MarkerRecordedEventAttributes{
				MarkerName: "LocalActivity", Details: map[string]*commonpb.Payloads{"data": {Payloads: []*commonpb.Payload{{Data: data}}}},
			},
		}})
		add(at, &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED, Attributes: &historypb.HistoryEvent_ActivityTaskScheduledEventAttributes{
			ActivityTaskScheduledEventAttributes: &historypb.ActivityTaskScheduledEventAttributes{ActivityType: &commonpb.ActivityType{Name: "Fetch"}},
		}})
		add(at+time.Second, &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED, Attributes: &historypb.HistoryEvent_ActivityTaskCompletedEventAttributes{
			ActivityTaskCompletedEventAttributes: &historypb.ActivityTaskCompletedEventAttributes{ScheduledEventId: int64(len(events))},
		}})
		add(at+2*time.Second, &historypb.HistoryEvent{EventType: enumspb.EVENT_TYPE_TIMER_STARTED})
	}
	return events
}

func TestTallies(t *testing.T) {
	t.Parallel()
	events := visitEvents(t, 3)
	until := start.Add(time.Hour)
	for _, c := range []struct {
		name   string
		whole  bool
		visits int
		events float64
	}{
		{"the whole life", false, 3, 16.0 / 3},
		{"whole visits", true, 3, 5},
	} {
		all := Tallies{Visiting: newTally(), Others: newTally()}
		all.add("Page", events, start, until, c.whole)
		all.add("Page", events[:2], start, start, c.whole) // not yet
		if got := all.each(func(t Tally) int { return t.Events }); all.Visits != c.visits || math.Abs(got-c.events) > 1e-9 {
			t.Errorf("%s: %d visits with %v events, want %d with %v", c.name, all.Visits, got, c.visits, c.events)
		}
		for what, figure := range map[string]func(Tally) int{
			"Acquire": func(t Tally) int { return t.Locals["Acquire"] },
			"Fetch":   func(t Tally) int { return t.Regular["Fetch"] },
			"tasks":   func(t Tally) int { return t.Tasks },
			"timers":  func(t Tally) int { return t.Timers },
		} {
			if got := all.each(figure); got != 1 {
				t.Errorf("%s: %v %s a visit, want 1", c.name, got, what)
			}
		}
	}
	// The work of other runs is divided by all visits.
	all := Tallies{Visiting: newTally(), Others: newTally()}
	all.add("Page", events, start, until, true)
	all.add("Discover", []*historypb.HistoryEvent{{EventType: enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, EventTime: timestamppb.New(start)}}, start, until, true)
	if got := all.each(func(t Tally) int { return t.Started["Discover"] }); math.Abs(got-1.0/3) > 1e-9 {
		t.Errorf("%v Discovers a visit, want a third", got)
	}
}

func TestReadSyncs(t *testing.T) {
	t.Parallel()
	const log = `18265 100.000001 fdatasync(9</d/data/recrawl.db-wal>) = 0
18266 100.500000 fsync(9</d/data/temporal.db-wal> <unfinished ...>
18265 100.600000 fsync(11</d/data/archive/ab/cdef.zst>) = 0
18266 100.700000 <... fsync resumed>) = 0
18266 101.000000 fsync(9</d/data/recrawl.db>) = 0
18266 102.000000 fsync(9</d/other>) = 0
18266 103.000000 fsync(9</d/data/recrawl.db>) = 0
not a line
`
	got, err := readSyncs(strings.NewReader(log), time.Unix(100, 0), time.Unix(103, 0))
	if want := (Syncs{Store: 2, Archive: 1, Temporal: 1}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

func TestReadStoreCounts(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "counts")
	var data []byte
	for _, n := range []uint64{4, 3, 40, 14, 31} {
		data = binary.LittleEndian.AppendUint64(data, n)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readStoreCounts(path)
	if want := (storeCounts{4, 3, 40, 14, 31}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if err := os.WriteFile(path, data[:8], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readStoreCounts(path); err == nil {
		t.Error("a file of another form is read")
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	answers := make(chan int64, 1)
	r := &answerReader{to: answers}
	for _, piece := range []string{"started\n1", "2\n", "34\n"} {
		if n, err := r.Write([]byte(piece)); n != len(piece) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := <-answers; got != 12 {
		t.Errorf("the first answer is %d", got)
	}
}

func TestTiming(t *testing.T) {
	t.Parallel()
	from := reading{at: start, visits: 10, server: time.Second, worker: 2 * time.Second}
	until := reading{at: start.Add(2 * time.Second), visits: 110, server: 2 * time.Second, database: time.Second, worker: 2500 * time.Millisecond}
	got, err := timing(from, until)
	if want := (Timing{Visits: 100, Seconds: 2, Server: 10, Database: 10, Worker: 5}); err != nil || got != want || got.Rate() != 50 {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := timing(from, from); err == nil {
		t.Error("no visit in no time has figures")
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	o := Default()
	o.Engines = []string{SQLite}
	r := &Report{Options: o, Missing: []string{"fsyncs: no tracer"}}
	for round, rates := range [][5]int64{{80, 72, 40, 50, 40}, {100, 95, 50, 50, 30}} {
		for i, name := range []string{BareLoop, Unchanged, Changed, BareFirst, First} {
			r.Timings = append(r.Timings, Timing{Engine: SQLite, Case: name, Round: round + 1, Visits: rates[i], Seconds: 1, Server: 11, Worker: 2})
		}
	}
	text := r.Tables((*bench.Table).Text)
	for _, want := range []string{
		"83.5 (72.0–95.0)  0.93 (0.90–0.95)", "45.0 (40.0–50.0)              0.50", "by a factor of up to 1.25",
		"First visits come to 0.70 (0.60–0.80) of bare first visits", "Not measured: fsyncs: no tracer.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "not at its limit") {
		t.Errorf("167 visits/s were asked for:\n%s", text)
	}
	r.Options.Timer = 5 * time.Second
	if text := r.Tables((*bench.Table).Markdown); !strings.Contains(text, "not at its limit") || !strings.Contains(text, "| --- | ---: |") {
		t.Errorf("100 visits/s were asked for:\n%s", text)
	}
}
