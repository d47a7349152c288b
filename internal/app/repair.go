package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"recrawl/internal/care"
	"recrawl/internal/cli"
	"recrawl/internal/crawl"
	"recrawl/internal/temporalkit"
	"recrawl/workflows"
)

// Repair implements cli.Backend.
func (Backend) Repair(ctx context.Context, at cli.Target, name string, progress func(cli.Repaired)) (done cli.Repaired, err error) {
	s, err := openStore(ctx, at.Store, storeRead, "")
	if err != nil {
		return done, fmt.Errorf("cannot open the store: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	rec, err := s.Crawl(ctx, name)
	if err != nil {
		return done, err
	}
	if rec.State == crawl.CrawlStopped {
		return done, fmt.Errorf("crawl %s is stopped: `starter crawl %s` starts it again", name, name)
	}
	c, err := dialTemporal(ctx, at.Temporal)
	if err != nil {
		return done, err
	}
	defer c.Close()
	if err := atHome(ctx, c, s, temporalkit.Namespace(temporalkit.Options{Namespace: at.Temporal.Namespace})); err != nil {
		return done, err
	}
	flows, err := newFlowClient(c, at.Temporal).writing(ctx)
	if err != nil {
		return done, err
	}
	home, err := s.Home(ctx)
	if err != nil {
		return done, err
	}
	flows.TaskQueue, flows.Store, flows.Code, flows.ReplaceLocked = cmp.Or(at.Temporal.TaskQueue, home.TaskQueue), s.ID(), workflows.Register, true
	r := &care.Repair{Store: s, Crawl: rec, Flows: flows, Progress: func(r care.Repaired) { progress(cli.Repaired(r)) }}
	repaired, err := r.Run(ctx)
	return cli.Repaired(repaired), err
}
