//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"time"
)

// sizes sets how much is measured.
type sizes struct {
	wideHosts, widePages int
	deepHosts, deepPages int
	window               int
	delay                time.Duration
	interval             time.Duration // between two visits of a page
	limit                time.Duration // of a first pass
	sleep, after         time.Duration // of these phases
	every, countEvery    time.Duration // between two samples, and between two counts
}

// fullSize takes an hour to an hour and a half.
var fullSize = sizes{
	wideHosts: 500, widePages: 200, deepHosts: 20, deepPages: 5000, window: 64, delay: 10 * time.Millisecond,
	interval: 45 * time.Minute, limit: time.Hour, sleep: 3 * time.Minute, after: 10 * time.Minute,
	every: 5 * time.Second, countEvery: time.Minute,
}

// quickSize shows that everything works; its figures are those of a machine that warms up.
var quickSize = sizes{
	wideHosts: 40, widePages: 20, deepHosts: 4, deepPages: 100, window: 64, delay: 10 * time.Millisecond,
	interval: 75 * time.Second, limit: time.Minute, sleep: 10 * time.Second, after: 20 * time.Second,
	every: time.Second, countEvery: 5 * time.Second,
}

// course measures two crawls, and records its samples as it takes them.
type course struct {
	sizes
	programs
	folder  string
	journal *journal
	say     io.Writer
}

// measure crawls many small hosts and lets their pages sleep. While everything there
// comes due, with nothing running, it crawls a few large hosts. Then it starts the first
// crawl again.
func (b *course) measure(ctx context.Context) (err error) {
	wide, err := b.newJob(ctx, "wide", b.wideHosts, b.widePages)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, wide.close()) }()
	if err := wide.crawl(ctx); err != nil {
		return err
	}
	deep, err := b.newJob(ctx, "deep", b.deepHosts, b.deepPages)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, deep.close()) }()
	if err := deep.crawl(ctx); err != nil {
		return err
	}
	if err := wide.awaitOverdue(ctx); err != nil {
		return err
	}
	return wide.again(ctx)
}

// job is a crawl that is measured.
type job struct {
	*course
	setup setup
	web   *web
	data  string
	dev   *dev
	probe *probe

	last   sample
	unseen bool                                   // the first request since the start
	spent  struct{ worker, server time.Duration } // by processes that have ended
}

func (b *course) newJob(ctx context.Context, name string, hosts, pages int) (*job, error) {
	w, err := serveWeb(ctx, hosts, pages)
	if err != nil {
		return nil, err
	}
	j := &job{course: b, web: w, data: filepath.Join(b.folder, name), setup: setup{
		Run: name, Hosts: hosts, Pages: pages, Window: b.window, Delay: b.delay, Interval: b.interval,
		Cores: runtime.NumCPU(), Began: time.Now(), Version: b.version,
	}}
	if err := b.journal.add(record{Setup: &j.setup}); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return j, nil
}

// close ends the running programs.
func (j *job) close() error { return errors.Join(j.halt(), j.web.close()) }

// crawl makes the first pass, lets all pages sleep, stops, and makes the databases small.
func (j *job) crawl(ctx context.Context) error {
	args := append(j.web.seeds(), "--name", j.setup.Run, "--delay", j.delay.String(), "--factor", "0", "--window", strconv.Itoa(j.window),
		"--policy", "fixed", "--default-interval", j.interval.String(), "--min-interval", "1s")
	if err := j.start(ctx, firstPass, args...); err != nil {
		return err
	}
	total := int64(j.setup.total())
	err := j.watch(ctx, watch{
		phase: firstPass, limit: j.limit,
		person: func(s sample) bool { return s.Visited >= total/2 },
		over:   func(s sample) bool { return s.Visited == total },
	})
	if err != nil {
		return err
	}
	if j.last.Visited < total {
		j.tell("the first pass was not over after %s: %d of %d pages", j.limit, j.last.Visited, total)
	}
	if err := j.watch(ctx, watch{phase: sleeping, limit: j.sleep}); err != nil {
		return err
	}
	return j.settle(ctx)
}

// awaitOverdue waits, with nothing running, until every visited page is overdue, or would
// be if it had not left the crawl. Status counts only the first fifty thousand.
func (j *job) awaitOverdue(ctx context.Context) error {
	look := time.NewTicker(max(j.every, 2*time.Second))
	defer look.Stop()
	all := j.last.At.Add(j.interval + time.Minute)
	for told := false; time.Now().Before(all); {
		overdue, err := j.overdue(ctx, j.data, j.setup.Run)
		if err != nil {
			return err
		}
		if int64(overdue) >= j.last.Visited {
			return nil
		}
		if !told {
			j.tell("stopped until all of its %d pages are overdue; at least %d are", j.last.Visited, overdue)
			told = true
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// again starts the crawl with everything overdue.
func (j *job) again(ctx context.Context) error {
	if err := j.start(ctx, afterStart); err != nil {
		return err
	}
	twice := j.last.Visits + int64(j.setup.total())
	err := j.watch(ctx, watch{
		phase: afterStart, limit: j.after,
		person: func(sample) bool { return true },
		over:   func(s sample) bool { return s.Visits >= twice },
	})
	if err != nil {
		return err
	}
	return j.halt()
}

// start starts `starter dev` and says how long that took.
func (j *job) start(ctx context.Context, phase string, args ...string) error {
	j.web.mark()
	j.unseen = true
	began := time.Now()
	d, err := startDev(ctx, j.programs, j.data, args...)
	if err != nil {
		return err
	}
	j.dev = d
	if j.probe, err = newProbe(ctx, j.data, d.cmd.Process.Pid, j.countEvery); err != nil {
		return err
	}
	return j.happened(event{Phase: phase, What: ready, Took: time.Since(began), At: time.Now()})
}

// halt stops `starter dev`, if it runs.
func (j *job) halt() error {
	if j.probe != nil {
		j.probe.close()
		j.probe = nil
	}
	if j.dev == nil {
		return nil
	}
	d := j.dev
	j.dev = nil
	j.spent.worker, j.spent.server = j.last.WorkerCPU, j.last.ServerCPU
	return d.stop()
}

// watch says how a phase is watched.
type watch struct {
	phase string
	limit time.Duration
	// person says when a person asks for things, at the latest after half of the limit; nil
	// means at once.
	person func(sample) bool
	// over says when the phase is over before its limit; nil means never.
	over func(sample) bool
}

// watch takes samples until the phase is over and the person has the answers.
func (j *job) watch(ctx context.Context, w watch) error {
	tick := time.NewTicker(j.every)
	defer tick.Stop()
	began := time.Now()
	var person chan []event
	defer func() {
		if person != nil {
			<-person // it ends with the context
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := false
	for {
		s, err := j.take(ctx, w.phase)
		if err != nil {
			return err
		}
		if first, ok := j.web.firstSinceMark(); ok && j.unseen {
			j.unseen = false
			if err := j.happened(event{Phase: w.phase, At: s.At, What: firstSeen, Took: first}); err != nil {
				return err
			}
		}
		if !answered && person == nil && (w.person == nil || w.person(s) || time.Since(began) >= w.limit/2) {
			person = make(chan []event, 1)
			go func() { person <- j.person(ctx, w.phase) }()
		}
		if time.Since(began) >= w.limit || w.over != nil && w.over(s) {
			if person == nil {
				return nil
			}
		}
		select {
		case <-tick.C:
		case events := <-person:
			person, answered = nil, true
			for _, e := range events {
				if err := j.happened(e); err != nil {
					return err
				}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// take takes a sample.
func (j *job) take(ctx context.Context, phase string) (sample, error) {
	if j.dev.ended() {
		return sample{}, fmt.Errorf("starter dev ended by itself; see %s.log", j.data)
	}
	s := sample{Run: j.setup.Run, Phase: phase, At: time.Now(), Visits: j.web.visits.Load(), Visited: j.web.visited.Load(), Overlaps: j.web.overlaps.Load()}
	j.probe.look(ctx, &s)
	s.WorkerCPU += j.spent.worker
	s.ServerCPU += j.spent.server
	s.Yards, s.YardTime = j.last.Yards, j.last.YardTime
	if took := yardTime(); took > 0 {
		s.Yards, s.YardTime = s.Yards+1, s.YardTime+took
	}
	j.last = s
	if err := j.journal.add(record{Sample: &s}); err != nil {
		return s, err
	}
	j.tell("%s: %d visits of %d pages, %d tasks wait, the oldest for %s", phase, s.Visits, s.Visited, s.Backlog, seconds(s.BacklogAge))
	return s, ctx.Err()
}

// person runs the usual commands, and asks for a visit to a page that is not due, or has
// many due pages beside it. An unanswered command took as long as the person waited.
func (j *job) person(ctx context.Context, phase string) []event {
	var events []event
	for _, args := range [][]string{{"status", j.setup.Run}, {"hosts", j.setup.Run}, {"pages", j.setup.Run, "--limit", "20"}} {
		_, took, err := j.ask(ctx, j.data, args...)
		if err != nil {
			j.tell("%v", err)
		}
		events = append(events, event{Phase: phase, At: time.Now(), What: command + args[0], Took: took})
	}
	host := j.setup.Hosts - 1
	before, began := j.web.count(host, 0), time.Now()
	if _, _, err := j.ask(ctx, j.data, "visit", j.web.url(host, 0)); err != nil {
		j.tell("%v", err)
	}
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for j.web.count(host, 0) == before && time.Since(began) < patience && ctx.Err() == nil {
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
	return append(events, event{Phase: phase, At: time.Now(), What: wanted, Took: time.Since(began)})
}

// happened records an event.
func (j *job) happened(e event) error {
	e.Run = j.setup.Run
	j.tell("%s: %s after %s", e.Phase, e.What, seconds(e.Took))
	return j.journal.add(record{Event: &e})
}

func (j *job) tell(format string, args ...any) {
	fmt.Fprintf(j.say, "%s %s: %s\n", time.Now().Format(time.TimeOnly), j.setup.Run, fmt.Sprintf(format, args...))
}
