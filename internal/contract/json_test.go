package contract_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// Every value that crosses a history survives it, empty or full: a zero state
// must not make a payload that nobody can read.
func TestPayloadsRoundTrip(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 6, 7, 8, 9, 123456000, time.UTC)
	full := contract.PageIn{
		Page:  crawl.PageRef{CrawlID: 1, Crawl: "news", PageID: 2, URL: "https://example.com/", Host: "example.com"},
		State: crawl.Gone, Level: 3, Visit: 4, Due: at, Why: "why", Asked: true, InLine: true, Wake: at, Waiting: "w",
		Hold: at, Tries: 5, Stopping: true, Interval: time.Hour, Snoozed: at, Runs: 6,
		Unrecorded: &contract.Unrecorded{
			Fetch: contract.FetchOut{Outcome: crawl.OutcomeNew, At: at, Differs: true, Duration: time.Second},
			Links: 3, HostID: 9, Reasons: []crawl.Reason{{Code: "c", Num: map[string]float64{"x": 0.5}}},
		},
		Recent: []contract.VisitLine{{Visit: 4, At: at, Outcome: crawl.OutcomeGone, Status: 410}},
		Tuning: contract.Tuning{VisitsPerRun: 1, EventsPerRun: 2, TurnsPerRun: 3},
	}
	for _, v := range []any{
		full,
		contract.PageIn{},
		contract.FetchOut{},
		contract.PlanOut{},
		contract.DetectOut{},
		contract.AcquireOut{},
		contract.LeaveIn{},
		contract.DiscoverIn{},
		contract.DiscoverOut{},
		contract.CrawlProgress{},
		contract.OpenCrawlOut{},
		contract.VisitLine{},
		contract.PageView{},
		contract.ExplainView{},
		contract.Ack{},
		contract.AdmitOut{},
		contract.MaintainOut{},
		contract.SinkIn{},
		contract.SinkIn{
			Store: "s", CrawlID: 1, Crawl: "news", Sink: "x", Wake: at, Why: "w", Woken: true, Asked: true, Finishing: at, Done: true,
			Last: contract.DeliverOut{Sent: 1, More: true, Wait: time.Second, Paused: true, Code: "c", Problem: "p", Lag: time.Hour}, Sent: 3, Runs: 2,
		},
		contract.DeliverOut{},
		contract.SinkCommandOut{},
		contract.ReplayArg{After: "c1.5f2a9c01.4", Changes: []int64{17}},
	} {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Errorf("%T: %v", v, err)
			continue
		}
		back := reflect.New(reflect.TypeOf(v))
		if err := json.Unmarshal(raw, back.Interface()); err != nil {
			t.Errorf("%T: %s: %v", v, raw, err)
			continue
		}
		if !reflect.DeepEqual(back.Elem().Interface(), v) {
			t.Errorf("%T comes back as %+v, was %+v", v, back.Elem().Interface(), v)
		}
	}
}

// Any input that people type for replay is read.
func TestReplayArg(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]contract.ReplayArg{
		`"c1.5f2a9c01.4"`:  {After: "c1.5f2a9c01.4"},
		`{"changes":[17]}`: {Changes: []int64{17}},
		`[17]`:             {Malformed: `[17]`},
	} {
		var got contract.ReplayArg
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
}
