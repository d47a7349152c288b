package app

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
	"recrawl/internal/temporalkit"
	"recrawl/internal/temporalkit/embedded"
	"recrawl/workflows"
)

// sleeping is pages on an embedded server with its own database, without a store and a web.
type sleeping struct {
	t      *testing.T
	ctx    context.Context
	client client.Client
	file   string // the server's database
	db     *sql.DB
	world  *contracttest.World
}

// newSleeping's pages sleep for the time that the visit of a number is followed by.
func newSleeping(t *testing.T, after func(visit int) time.Duration) *sleeping {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: no Temporal server")
	}
	// The limit is only there to end a hang.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	serverCtx, stopServer := context.WithCancel(context.Background())
	files := embedded.In(t.TempDir())
	var child embedded.Child
	server := &embedded.Server{
		CLI: contracttest.CLI(t), Files: files, Log: slog.New(slog.DiscardHandler), OnStart: func(c embedded.Child) { child = c }, OnUp: func() {},
	}
	ended, err := server.Start(ctx, serverCtx)
	t.Cleanup(func() { stopServer(); <-ended; cancel() })
	s := &sleeping{t: t, ctx: ctx, file: files.Database, world: contracttest.NewWorld()}
	s.check(err)
	s.client, err = temporalkit.Dial(ctx, temporalkit.Options{
		Dial: server.Dial, Namespace: client.DefaultNamespace, Logger: slog.New(slog.DiscardHandler), Patience: embedded.StartLimit,
	})
	s.check(err)
	t.Cleanup(s.client.Close)
	s.check(temporalkit.Alive(ctx, child.Address()))
	s.check(temporalkit.EnsureSearchAttributes(ctx, s.client, client.DefaultNamespace))
	s.db, err = sql.Open("sqlite", "file:"+s.file+"?mode=ro")
	s.check(err)
	t.Cleanup(func() { s.db.Close() })
	s.world.OnPlan = func(in contract.PlanIn, out *contract.PlanOut) {
		out.NextAt = out.At.Add(after(in.Visit))
		if in.Visit%2 == 0 { // as PlanRevisit answers
			out.Linger = 36 * time.Hour
		}
	}
	w := temporalkit.NewWorker(s.client, temporalkit.WorkerOptions{
		TaskQueue: contract.TaskQueue, Activities: 50, WorkflowTasks: 50, LocalActivities: 50,
		WorkflowPollers: temporalkit.Pollers{Min: 4, Max: 4}, ActivityPollers: temporalkit.Pollers{Min: 4, Max: 4},
		Sticky: temporalkit.StickyFleet, StopTimeout: time.Second,
	})
	workflows.Register(w)
	s.world.Register(w)
	s.check(w.Start())
	t.Cleanup(w.Stop)
	return s
}

func (s *sleeping) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// await polls the server, which has no other way to show that it has come to rest.
func (s *sleeping) await(what string, done func() bool) {
	s.t.Helper()
	for !done() {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-s.ctx.Done():
			s.t.Fatalf("%s: %v", what, s.ctx.Err())
		}
	}
}

func (s *sleeping) count(query string) (n int) {
	s.t.Helper()
	s.check(s.db.QueryRowContext(s.ctx, query).Scan(&n))
	return n
}

// settle waits until that many visits are recorded, all pages sleep and the server has done
// what follows.
func (s *sleeping) settle(pages, visits int) {
	s.t.Helper()
	s.await("the visits", func() bool { return len(s.world.Visits()) >= visits })
	s.await("the server's tasks", func() bool {
		return s.count(`SELECT (SELECT COUNT(*) FROM transfer_tasks) + (SELECT COUNT(*) FROM visibility_tasks)`) == 0 &&
			s.count(`SELECT COUNT(*) FROM timer_info_maps WHERE workflow_id LIKE 'page/%'`) == pages
	})
}

// bytes are those of the server's database without its unused parts.
func (s *sleeping) bytes() int {
	s.t.Helper()
	db, err := sql.Open("sqlite", s.file)
	s.check(err)
	defer db.Close()
	small := filepath.Join(s.t.TempDir(), "small.db")
	_, err = db.ExecContext(s.ctx, `VACUUM INTO $1`, small)
	s.check(err)
	vacuumed, err := sql.Open("sqlite", small)
	s.check(err)
	defer vacuumed.Close()
	var pages, size int
	s.check(vacuumed.QueryRowContext(s.ctx, `PRAGMA page_count`).Scan(&pages))
	s.check(vacuumed.QueryRowContext(s.ctx, `PRAGMA page_size`).Scan(&size))
	return pages * size
}

func sleeperIn(n int) contract.PageIn {
	url := fmt.Sprintf("https://www.example.com/articles/2026/11/a-page-of-this-site-%d.html", n)
	return contract.PageIn{
		Page:  crawl.PageRef{Store: "7a7d8b64-a747-4132-9e63-6fdf9c660b5a", CrawlID: 1, Crawl: "news", PageID: int64(n), URL: url, Host: "www.example.com"},
		State: crawl.Active, Level: 1, Why: "first visit",
	}
}

// forgetEnded deletes the runs that have ended, as the namespace's retention does in time.
func (s *sleeping) forgetEnded() {
	s.t.Helper()
	rows, err := s.db.QueryContext(s.ctx, `SELECT workflow_id, run_id FROM executions_visibility WHERE status <> 1`)
	s.check(err)
	var ended []*common.WorkflowExecution
	for rows.Next() {
		run := &common.WorkflowExecution{}
		s.check(rows.Scan(&run.WorkflowId, &run.RunId))
		ended = append(ended, run)
	}
	s.check(rows.Err())
	for _, run := range ended {
		_, err := s.client.WorkflowService().DeleteWorkflowExecution(s.ctx, &workflowservice.DeleteWorkflowExecutionRequest{
			Namespace: client.DefaultNamespace, WorkflowExecution: run,
		})
		s.check(err)
	}
	s.await("the ended runs are gone", func() bool {
		return s.count(`SELECT COUNT(*) FROM executions_visibility WHERE status <> 1`) == 0 &&
			s.count(`SELECT (SELECT COUNT(*) FROM executions) - (SELECT COUNT(*) FROM executions_visibility)`) <= 0
	})
	// Time-outs of finished work stay until they are over. The server's own workflows are due
	// at full hours.
	s.await("time-outs are over", func() bool {
		return s.count(`SELECT COUNT(*) FROM timer_tasks
			WHERE visibility_timestamp < datetime('now', '+1 hour') AND visibility_timestamp NOT LIKE '%:00:00%'`) == 0
	})
}

// TestSleepingPages measures the cost of a page in Temporal's database: while its run holds
// four visits, when the page sleeps for long after them, and when retention has taken the
// run that ended then. Bytes, unlike times, hardly vary: the bounds are a tenth above the
// measured values.
func TestSleepingPages(t *testing.T) {
	t.Parallel()
	const pages, visits = 100, 5
	s := newSleeping(t, func(visit int) time.Duration {
		if visit < visits-1 {
			return time.Second
		}
		return 20 * time.Hour
	})
	flows := temporalkit.Workflows{Client: s.client}
	empty := s.bytes()
	judge := func(what string, most int) {
		t.Helper()
		got := (s.bytes() - empty) / pages
		t.Logf("%s: %d bytes a page", what, got)
		if got > most {
			t.Errorf("%s: %d bytes a page, want at most %d", what, got, most)
		}
	}
	for n := range pages {
		s.check(flows.StartPage(s.ctx, sleeperIn(n+1)))
	}
	s.settle(pages, pages*(visits-1))
	judge("with an ended run of four visits", 40000) // 26 to 31 kB: time-outs of the last seconds are there or over
	s.forgetEnded()
	judge("asleep in a run of its own", 10300)
}
