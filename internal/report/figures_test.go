package report

import (
	"slices"
	"strings"
	"testing"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/schedule"
	"recrawl/internal/store"
)

func TestSentence(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("here", 3600)
	fresh := func(is, planned float64) *Freshness {
		return &Freshness{FreshPart: FreshPart{Pages: 100, Fresh: is, Planned: planned}}
	}
	pass := func(in time.Duration) *FirstPass { return &FirstPass{Left: 10, Ends: stamp(now.Add(in))} }
	for want, s := range map[string]StatusLine{
		"no copies yet; nothing needs you":       {},
		"stopped; its copies are not kept fresh": {State: crawl.CrawlStopped, Versions: 12},
		"stopped; no copies yet": {
			State: crawl.CrawlStopped, HostsNeedYou: 2, Sinks: []SinkLine{{Sink: "b", State: "paused"}}, // whose page says that nothing needs you
		},
		"94 % fresh as planned; more visits are asked for than are made; work waits for a worker for 10m": {
			Freshness: fresh(0.94, 0.94), OverAsked: "fewer are made", Backlog: &backlogLine{Age: crawl.Duration(10 * time.Minute), Advice: backlogAdvice},
		},
		"no copies yet; nothing needs you; first pass done at about 16:00": {
			FirstPass: pass(3 * time.Hour), Backlog: &backlogLine{Age: crawl.Duration(10 * time.Second)},
		},
		"94 % fresh as planned; 3 hosts need you; first pass done at about 16:40": {
			Freshness: fresh(0.94, 0.95), HostsNeedYou: 3, FirstPass: pass(3*time.Hour + 40*time.Minute),
		},
		"80 % fresh, 94 % planned; nothing needs you; first pass done at about 02:00 on Monday": {Freshness: fresh(0.8, 0.94), FirstPass: pass(13 * time.Hour)},
		"99 % fresh, more than planned; 1 host needs you; first pass done at about 10 March 2026": {
			Freshness: fresh(0.99, 0.9), HostsNeedYou: 1, FirstPass: pass(9 * 24 * time.Hour),
		},
		"94 % fresh as planned; nothing needs you; 3 new pages, visited by about 13:10": {
			Freshness: fresh(0.94, 0.94), FirstPass: &FirstPass{Left: 3, Done: 97, Ends: stamp(now.Add(10 * time.Minute))},
		},
		"paused; 94 % fresh as planned; 1 new page":          {State: crawl.CrawlPaused, Freshness: fresh(0.94, 0.94), FirstPass: &FirstPass{Left: 1, Done: 99}},
		"paused; 94 % fresh as planned; first pass not done": {State: crawl.CrawlPaused, Freshness: fresh(0.94, 0.94), FirstPass: &FirstPass{Left: 3}},
		"no copies yet; no requests are made: the disk is full; 1 trouble with workflows or maintenance; sink b is paused": {
			Held: []heldLine{{Reason: "the disk is full"}, {Reason: "the disk is full"}}, Sinks: []SinkLine{{Sink: "a", State: "new"}, {Sink: "b", State: "paused"}},
			Troubles: []troubleLine{{Part: "pages"}, {Part: "workflow", MendedAt: stamp(now)}},
		},
	} {
		if s.State == 0 {
			s.State = crawl.CrawlRunning
		}
		s.Now = stamp(now)
		if got := s.Sentence(zone, false); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for in, want := range map[time.Duration]string{time.Hour: "14:00 here", 13 * time.Hour: "02:00 here on Monday", 9 * 24 * time.Hour: "10 March 2026"} {
		s := StatusLine{State: crawl.CrawlRunning, Now: stamp(now), FirstPass: pass(in)}
		if got := s.Sentence(zone, true); !strings.HasSuffix(got, "; first pass done at about "+want) {
			t.Errorf("with the zone %q, want %q", got, want)
		}
	}
}

// A first pass lasts as long as at the host that takes longest, or as the engine needs if
// it admits no more. Pages that cannot be fetched are left out.
func TestFirstPass(t *testing.T) {
	t.Parallel()
	spec := crawl.DefaultSpec()
	c := store.CrawlRecord{Spec: spec, State: crawl.CrawlRunning, CreatedAt: now.Add(-20 * time.Minute)}
	host := func(name string, unvisited, visited int64, delay time.Duration) store.HostRecord {
		return store.HostRecord{Host: name, Unvisited: unvisited, Visited: visited, Delay: delay}
	}
	pages := func(known, active, own int) store.StatusRecord {
		s := store.StatusRecord{Pages: map[crawl.PageState]int{crawl.Known: known, crawl.Active: active}}
		s.Demand.Own, s.Demand.Taken = own, own
		return s
	}
	slow := pages(1000, 56, 22)
	slow.Bound.Pages, slow.Demand.Taken, slow.Demand.Crawls, slow.LastHour = 100, 100, 5, 10
	refilling := slow // its last places are free for a moment
	refilling.Demand.Taken, refilling.Demand.Own, refilling.Demand.Crawls = 92, 92, 1
	idle := refilling
	idle.Demand.Taken, idle.Demand.Own = 22, 22
	limited := c
	limited.Spec.Limits.MaxPages = 156
	paused := c
	paused.State = crawl.CrawlPaused
	blocked := hostWork{host("b.test", 22, 0, 10*time.Second), HostBlocked}
	one := hostWork{host("a.test", 1022, 34, 10*time.Second), HostOK}
	one.Known = 1000
	quiet := hostWork{host("q.test", 1022, 34, 10*time.Second), HostThrottled}
	quiet.BackoffUntil = now.Add(time.Hour)
	nearly := hostWork{host("n.test", 1, 55, 200*time.Millisecond), HostOK}
	long := hostWork{host("l.test", 100_000, 0, 10*time.Second), HostOK}
	for name, tc := range map[string]struct {
		c     store.CrawlRecord
		s     store.StatusRecord
		hosts []hostWork
		want  string
	}{
		"one host":          {c, pages(1000, 56, 22), []hostWork{one}, "34 of 1056 pages visited; 1022 to go, one every 10s at a.test, about 2h 50m"},
		"throttled":         {c, pages(1000, 56, 22), []hostWork{one, quiet}, "34 of 1056 pages visited; 1022 to go, one every 10s at q.test, about 3h 50m; hosts run side by side"},
		"a host is blocked": {c, pages(1022, 56, 22), []hostWork{one, blocked}, "34 of 1056 pages visited; 1022 to go, one every 10s at a.test, about 2h 50m; hosts run side by side; without 22 pages at hosts in trouble"},
		"max_pages":         {limited, pages(1000, 56, 22), []hostWork{one}, "34 of 156 pages visited; 122 to go, one every 10s at a.test, about 20m 20s"},
		"the engine":        {c, slow, []hostWork{one}, "34 of 1056 pages visited; 1022 to go, about 1d 10h"},
		"soon refilled":     {c, refilling, []hostWork{one}, "0 of 1092 pages visited; 1092 to go, about 1d 12h"},
		"the host":          {c, idle, []hostWork{one}, "34 of 1056 pages visited; 1022 to go, one every 10s at a.test, about 2h 50m"},
		"many hosts":        {c, pages(2022, 56, 22), []hostWork{one, blocked}, "34 of 2056 pages visited; 2022 to go, one every 10s at a.test, about 2h 50m; hosts run side by side; without at least 22 pages at hosts in trouble"},
		"none that answers": {c, pages(1000, 56, 22), []hostWork{blocked, blocked}, "34 of 1012 pages visited; 978 to go; without at least 44 pages at hosts in trouble"},
		"paused":            {paused, pages(1000, 56, 22), []hostWork{one}, "34 of 1056 pages visited; 1022 to go, one every 10s at a.test, about 2h 50m"},
		"nearly done":       {c, pages(1, 55, 0), []hostWork{nearly}, "55 of 56 pages visited; 1 to go, one every 200ms at n.test, about 1s"},
		// 100 000 pages take 12 days at least; visited pages come back daily and take their
		// share.
		"over many rounds": {c, pages(100_000, 0, 0), []hostWork{long}, "0 of 100000 pages visited; 100000 to go, one every 10s at l.test, about 23d 3h"},
	} {
		p := firstPassOf(tc.c, tc.s, tc.hosts, now)
		if p == nil {
			t.Errorf("%s: nothing is left", name)
			continue
		}
		if got := p.String(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if ends := time.Time(p.Ends); ends.IsZero() != (tc.c.State == crawl.CrawlPaused || p.Takes == 0) || !ends.IsZero() && ends != now.Add(p.Takes.Std()) {
			t.Errorf("%s: ends %v", name, ends)
		}
	}
	full := c
	full.Spec.Limits.MaxPages = 34
	if p := firstPassOf(full, pages(1000, 34, 0), []hostWork{one}, now); p != nil {
		t.Errorf("no room is left: %+v", p)
	}
	// Of a full crawl the last pages with a place are at a host in trouble. Pages without a
	// place are not to go, wherever they are.
	down := hostWork{host("d.test", 502, 0, 10*time.Second), HostUnreachable}
	down.Known, one.Unvisited = 500, 500
	one.Known = 500
	full.Spec.Limits.MaxPages = 36
	if p := firstPassOf(full, pages(1000, 36, 2), []hostWork{one, down}, now); p != nil {
		t.Errorf("only pages at a host in trouble are left: %+v", p)
	}
	full.Spec.Limits.MaxPages = 56
	one.Known, one.Unvisited = 500, 520
	want := "34 of 54 pages visited; 20 to go, one every 10s at a.test, about 3m 20s; hosts run side by side; without 2 pages at hosts in trouble"
	if p := firstPassOf(full, pages(1000, 56, 22), []hostWork{one, down}, now); p == nil || p.String() != want {
		t.Errorf("a full crawl: %v, want %q", p, want)
	}
	if p := firstPassOf(c, pages(22, 0, 0), []hostWork{blocked}, now); p != nil {
		t.Errorf("nothing can be done: %+v", p)
	}
}

// The pages of a stopped crawl have no place, so that none of them counted as visited: there is no
// first pass until it starts again.
func TestFirstPassOfAStoppedCrawl(t *testing.T) {
	t.Parallel()
	f := sample()
	c := f.crawls[1]
	f.status[c.ID] = store.StatusRecord{Pages: map[crawl.PageState]int{crawl.Known: 3000, crawl.Stopped: 1000}}
	for state, want := range map[crawl.CrawlState]bool{crawl.CrawlStopped: false, crawl.CrawlPaused: true} {
		c.State = state
		if _, first, err := (Reporter{Store: f}).Progress(t.Context(), c); err != nil || (first != nil) != want {
			t.Errorf("%s: %v, %v", state, first, err)
		}
	}
}

func TestDaysOf(t *testing.T) {
	t.Parallel()
	counted := []store.Day{
		{Start: time.Date(2026, 2, 27, 0, 0, 0, 0, time.UTC), Visits: 10, Changes: 3, Due: 4, Late: time.Minute},
		{Start: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), Visits: 2},
	}
	got := daysOf(counted, now.Add(-70*time.Hour), now)
	want := []Day{
		{Day: "2026-02-26"}, {Day: "2026-02-27", Visits: 10, Changes: 3, Lag: crawl.Duration(15 * time.Second)}, {Day: "2026-02-28"}, {Day: "2026-03-01", Visits: 2},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if all := daysOf(nil, now.Add(-9999*time.Hour), now); len(all) != store.DaysKept || all[0].Day != "2026-01-31" || all[29].Day != "2026-03-01" {
		t.Errorf("of an old crawl: %+v", all)
	}
}

// Freshness is reported by host and by rule, and for a sample only where it is significant.
func TestFreshnessParts(t *testing.T) {
	t.Parallel()
	spec := crawl.DefaultSpec().Revisit
	spec.Rules = []crawl.RevisitRule{{Prefix: "https://a.test/news/"}, {Host: "b.test"}}
	rules, err := schedule.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	var pages []store.PageRecord
	add := func(host, path string, n int, changes float32) {
		for range n {
			pages = append(pages, store.PageRecord{
				PageRef: crawl.PageRef{URL: "https://" + host + path, Host: host}, State: crawl.Active, Visits: 30, NextAt: now.Add(time.Hour),
				Last:   store.VersionRecord{ID: 1},
				Belief: schedule.Belief{Pairs: 20, Changes: changes, Days: 30, Compared: now.Add(-24 * time.Hour).UnixMilli()}.Encode(),
			})
		}
	}
	add("a.test", "/news/1", 25, 60) // twice a day
	add("a.test", "/about", 40, 0)
	add("b.test", "/", 5, 3)
	pages = append(pages, store.PageRecord{PageRef: crawl.PageRef{URL: "https://c.test/", Host: "c.test"}, State: crawl.Gone})
	names := func(parts []FreshPart) string {
		var all []string
		for _, p := range parts {
			all = append(all, p.Name)
		}
		return strings.Join(all, " ")
	}
	f := freshnessOf(slices.Clone(pages), false, spec.Rules, rules, now)
	if f.Pages != 70 || f.Error != 0 || names(f.Hosts) != "a.test b.test" || names(f.Rules) != "b.test https://a.test/news/ other" {
		t.Errorf("%+v", f)
	}
	if f.Rules[1].Fresh > 0.3 || f.Rules[2].Fresh < 0.9 || f.Fresh < f.Rules[1].Fresh || f.Fresh > f.Rules[2].Fresh {
		t.Errorf("news that changes twice a day and was seen yesterday is fresh by %.2f, the rest by %.2f, all by %.2f", f.Rules[1].Fresh, f.Rules[2].Fresh, f.Fresh)
	}
	f.Hosts[1].Fresh, f.Hosts[1].Planned = 0.5, 0.9
	if got := f.details(); len(got) != 5 || got[3] != "b.test: 5 pages, 50 % fresh, 90 % planned" || !strings.HasPrefix(got[1], "https://a.test/news/: 25 pages, ") {
		t.Errorf("%q", got)
	}
	f = freshnessOf(slices.Clone(pages), true, spec.Rules, rules, now)
	if !f.Sampled || f.Error <= 0 || f.Error > 0.1 || names(f.Hosts) != "a.test" || names(f.Rules) != "https://a.test/news/ other" {
		t.Errorf("of a sample: %+v", f)
	}
	if f := freshnessOf(pages[70:], false, nil, rules, now); f != nil {
		t.Errorf("without copies: %+v", f)
	}
}

// Hosts are sorted by how long one pass takes.
func TestPasses(t *testing.T) {
	t.Parallel()
	f := sample()
	f.hosts[0].Mean, f.hosts[1].Unvisited = 500*time.Millisecond, 0
	got, err := Reporter{Store: f}.Passes(t.Context(), "news", 10)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 4 || got[0].Host != "example.com" || got[0].Pages != 4 || got[0].Every.Std() != 10500*time.Millisecond || got[0].Pass.Std() != 42*time.Second || got[0].State != HostUnreachable {
		t.Errorf("%+v", got)
	}
}
