package visits

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"recrawl/internal/bench"
)

// Report holds all measurements.
type Report struct {
	Options Options
	Timings []Timing
	Counts  []Count
	// Missing says what could not be measured, and why.
	Missing []string
}

// Run measures. Measurements before an error are in the report.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Options: o}
	if err := o.Check(); err != nil {
		return r, err
	}
	if o.Counting == "" {
		r.Missing = append(r.Missing, "transactions and events: no programs that count were given")
	} else if tracer() == "" {
		r.Missing = append(r.Missing, "fsyncs on SQLite: strace is not installed (apt-get install strace)")
	}
	for _, engine := range o.Engines {
		if err := r.engine(ctx, engine); err != nil {
			return r, fmt.Errorf("%s: %w", engine, err)
		}
	}
	return r, nil
}

func (r *Report) engine(ctx context.Context, engine string) (err error) {
	var d deployment = embeddedDeployment{r.Options}
	if onPostgres(engine) {
		if d, err = startCluster(ctx, r.Options, engine == PostgresThin); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, d.close()) }()
	b := &engineRun{r: r, engine: engine, d: d}
	for round := range r.Options.Rounds {
		if err := b.time(ctx, round+1); err != nil {
			return fmt.Errorf("round %d: %w", round+1, err)
		}
	}
	if r.Options.Counting == "" {
		return nil
	}
	if err := b.count(ctx); err != nil {
		return fmt.Errorf("counting: %w", err)
	}
	return nil
}

// engineRun measures one engine.
type engineRun struct {
	r      *Report
	engine string
	d      deployment
}

// cycles returns the number of visits after which nearly every page was visited twice.
func (o Options) cycles() int { return 5 * o.Pages / 2 }

// site describes the site that the product crawls.
func (o Options) site() bench.SiteOptions {
	return bench.SiteOptions{Net: 40, Hosts: o.Hosts, Pages: o.Pages / o.Hosts}
}

// time times everything once: a bare loop, the product, the other bare workflows.
func (e *engineRun) time(ctx context.Context, round int) error {
	o := e.r.Options
	timed := func(ctx context.Context, name string, s subject, done func(context.Context) error) error {
		t, err := s.window(ctx, done)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.Engine, t.Case, t.Round = e.engine, name, round
		e.r.Timings = append(e.r.Timings, t)
		o.say("%s, round %d: %s: %s visits/s; CPU a visit: server %s + database %s + worker %s ms",
			e.engine, round, name, bench.Figure(t.Rate()), bench.Figure(t.Server), bench.Figure(t.Database), bench.Figure(t.Worker))
		return e.r.line("timing", t)
	}
	if err := e.bare(ctx, fmt.Sprintf("bare%d", round), bareKinds[0], false, timed); err != nil {
		return err
	}
	err := o.withProduct(ctx, e.d, fmt.Sprintf("product%d", round), false, o.site(), func(s *session) error {
		if err := s.first(ctx, timed); err != nil {
			return err
		}
		return s.again(ctx, timed)
	})
	if err != nil {
		return err
	}
	for i, kind := range bareKinds[1:] {
		if err := e.bare(ctx, fmt.Sprintf("bare%d-%d", round, i+1), kind, false, timed); err != nil {
			return err
		}
	}
	return nil
}

// count counts everything once, with programs that count and are not timed.
func (e *engineRun) count(ctx context.Context) error {
	o := e.r.Options
	counted := func(ctx context.Context, name string, s subject, done func(context.Context) error) error {
		c, err := s.tallied(ctx, whole(name), done)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		c.Engine, c.Case = e.engine, name
		e.r.Counts = append(e.r.Counts, c)
		o.say("%s, counted: %s: %s events a visit", e.engine, name, bench.Figure(c.Tally.each(func(t Tally) int { return t.Events })))
		return e.r.line("count", c)
	}
	for i, kind := range bareKinds {
		if err := e.bare(ctx, fmt.Sprintf("countbare%d", i), kind, true, counted); err != nil {
			return err
		}
	}
	err := o.withProduct(ctx, e.d, "count", true, o.site(), func(s *session) error {
		s.counting = true
		if err := s.first(ctx, counted); err != nil {
			return err
		}
		return s.again(ctx, counted)
	})
	if err != nil {
		return err
	}
	for _, waiting := range o.Waiting {
		site := bench.SiteOptions{Net: 41, Hosts: 1, Pages: fullPages(waiting)}
		err := o.withProduct(ctx, e.d, fmt.Sprintf("full%d", waiting), true, site, func(s *session) error {
			return s.full(ctx, waiting, counted)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// line writes a line of JSON.
func (r *Report) line(kind string, value any) error {
	if r.Options.JSON == nil {
		return nil
	}
	line, err := json.Marshal(struct {
		Kind  string    `json:"kind"`
		At    time.Time `json:"at"`
		Value any       `json:"value"`
	}{kind, time.Now().UTC(), value})
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	if _, err := fmt.Fprintf(r.Options.JSON, "%s\n", line); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}
