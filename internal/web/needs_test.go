package web

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
)

// statusWith is the status of a crawl in which things are wrong.
func statusWith(t *testing.T, change func(*report.StatusLine)) report.StatusLine {
	t.Helper()
	line := report.StatusLine{Crawl: "news", State: crawl.CrawlRunning, Pages: map[string]int{}}
	change(&line)
	return line
}

func TestNeeds(t *testing.T) {
	t.Parallel()
	type want struct {
		what    string
		grave   bool
		calm    bool
		actions []string
	}
	for _, c := range []struct {
		name   string
		change func(*report.StatusLine)
		traps  []store.TrapRecord
		want   []want
	}{
		{"nothing", func(*report.StatusLine) {}, nil, nil},
		{"a crawl that is stopped", func(s *report.StatusLine) { s.State, s.Pages["failing"] = crawl.CrawlStopped, 2 }, nil, []want{{"The crawl is stopped", false, true, nil}}},
		{"pages that fail", func(s *report.StatusLine) { s.Pages["failing"] = 2 }, nil, []want{{"2 pages fail", false, true, []string{"/crawls/news/retry"}}}},
		{"hosts", func(s *report.StatusLine) {
			s.HostTroubles = []report.HostTrouble{
				{Host: "away.test", State: report.HostUnreachable, Why: "connection refused"},
				{Host: "busy.test", State: report.HostThrottled},
				{Host: "mine.test", State: report.HostBlocked},
				{Host: "no.test:8080", State: report.HostForbidden},
			}
			s.InTrouble, s.HostsNeedYou = 9, 7
		}, nil, []want{
			{"away.test is unreachable", false, false, []string{"/crawls/news/retry", "/crawls/news/hosts/away.test/block"}},
			{"no.test:8080 is forbidden", false, false, []string{"/crawls/news/hosts/no.test:8080/block"}},
			{"5 more hosts of which nothing can be fetched", false, false, nil},
		}},
		{
			"traps", func(s *report.StatusLine) { s.Pages["held"] = 120 },
			[]store.TrapRecord{
				{NewTrap: store.NewTrap{Name: "a.test/x/#"}, State: store.TrapHolding, Held: 1},
				{NewTrap: store.NewTrap{Name: "b.test/y?#"}, State: store.TrapSweeping, Held: 100},
				{NewTrap: store.NewTrap{Name: "c.test/"}, State: store.TrapReleasing, Held: 50},
				{NewTrap: store.NewTrap{Name: "d.test/"}, State: store.TrapHolding},
				{NewTrap: store.NewTrap{Name: "e.test/"}, State: store.TrapHolding, Held: 4},
				{NewTrap: store.NewTrap{Name: "f.test/"}, State: store.TrapHolding, Held: 5},
			},
			[]want{
				{"Held as a trap: b.test/y?#", false, true, []string{"/crawls/news/traps/b.test%2Fy%3F%23/release"}},
				{"Held as a trap: f.test/", false, true, []string{"/crawls/news/traps/f.test%2F/release"}},
				{"Held as a trap: e.test/", false, true, []string{"/crawls/news/traps/e.test%2F/release"}},
				{"11 pages held in other traps", false, true, nil},
			},
		},
		{"parts of the engine", func(s *report.StatusLine) {
			fill(t, &s.Held, `[{"Worker":"7@box","Reason":"the disk is full"}]`)
			fill(t, &s.Troubles, `[{"Part":"workers","Problem":"no worker looks after it"},{"Part":"pages","Problem":"stuck","Pages":3}]`)
		}, nil, []want{
			{"Worker 7@box makes no request", true, false, nil},
			{"Trouble: workers", true, false, nil},
			{"Trouble: pages", true, false, []string{"/crawls/news/do/repair"}},
		}},
		{"sinks", func(s *report.StatusLine) {
			fill(t, &s.Sinks, `[{"Sink":"a","State":"delivering"},{"Sink":"b","State":"paused","Problem":"person"},{"Sink":"c","State":"retrying","Problem":"refused"},{"Sink":"d","State":"delivering","Undelivered":2},{"Sink":"e","State":"delivering","Waiting":7,"Lag":"59m"},{"Sink":"f","State":"delivering","Waiting":7,"Lag":"3h"},{"Sink":"h","State":"retrying","Problem":"refused","Lag":"3h"},{"Sink":"g","State":"collecting","Waiting":7,"Lag":"3h"}]`)
		}, nil, []want{
			{"Sink b", true, false, []string{"/crawls/news/sinks/b/resume"}},
			{"Sink c", false, true, []string{"/crawls/news/sinks/c/resume"}},
			{"Sink d could not deliver 2 changes", false, false, []string{"/crawls/news/sinks/d/replay"}},
			{"Sink f is 3h behind", false, false, []string{"/crawls/news/sinks/f/test", "/crawls/news/sinks/f/pause"}},
			{"Sink h", false, false, []string{"/crawls/news/sinks/h/resume"}},
		}},
	} {
		got := needsOf(statusWith(t, c.change), c.traps)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", c.name, got)
			continue
		}
		for i, w := range c.want {
			n := got[i]
			var actions []string
			for _, b := range n.Buttons {
				actions = append(actions, b.Action)
			}
			if n.What != w.what || n.Grave != w.grave || n.Calm != w.calm || !slices.Equal(actions, w.actions) {
				t.Errorf("%s: %+v, want %+v", c.name, n, w)
			}
		}
	}
}

// fill reads JSON into a list of report's, whose type has no name here. Field names match
// whatever their case.
func fill(t *testing.T, into any, text string) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// Troubles that are mended need nobody.
func TestMendedTrouble(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	line, err := w.server.Report.StatusOf(t.Context(), "news")
	w.check(err)
	fill(t, &line.Troubles, `[{"Part":"pages","Problem":"stuck"}]`)
	line.Troubles[0].MendedAt = line.Now
	if time.Time(line.Now).IsZero() {
		t.Fatal("the store has no time")
	}
	if got := needsOf(line, nil); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// What no button mends says so, and the rest of a long list is a link to that rest.
func TestNeedsWithoutButtons(t *testing.T) {
	t.Parallel()
	got := needsOf(statusWith(t, func(s *report.StatusLine) {
		fill(t, &s.Held, `[{"Worker":"7@box","Reason":"the disk is full"}]`)
		s.HostsNeedYou = 5
	}), nil)
	if len(got) != 2 || got[0].Why != "the disk is full; no button mends this" || got[1].Link != "/crawls/news/hosts?trouble=1" {
		t.Errorf("%+v", got)
	}
}

// Nor does a button mend what waits for a worker, workers that nobody looks after, or visits that
// nobody makes.
func TestEngineNeedsWithoutButtons(t *testing.T) {
	t.Parallel()
	got := needsOf(statusWith(t, func(s *report.StatusLine) {
		fill(t, &s.Troubles, `[{"Part":"workers","Problem":"no worker looks after it"}]`)
		fill(t, &s.OverAsked, `"fewer are made than are asked for"`)
		fill(t, &s.Backlog, `{"Age":"1h","Advice":"start another worker"}`)
	}), nil)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	for i, why := range []string{
		"no worker looks after it; no button mends this", "fewer are made than are asked for; no button mends this",
		"start another worker; no button mends this",
	} {
		if got[i].Why != why || len(got[i].Buttons) > 0 {
			t.Errorf("%+v, want %s", got[i], why)
		}
	}
}
