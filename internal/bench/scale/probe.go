//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"recrawl/internal/bench"
	"recrawl/internal/config"
	"recrawl/internal/contract"
	"recrawl/internal/temporalkit"
)

// unread stands for what a probe could not read.
const unread = -1

// probe looks at a running `starter dev` without disturbing it much: counting workflows and
// files takes longer the more there are, so that is done rarely.
type probe struct {
	data             string
	pid              int // of starter dev, which is the worker too
	server           int // Temporal's process
	queue, namespace string
	client           client.Client
	every            time.Duration // least time between two counts

	counted   time.Time // when the last count had ended
	took      time.Duration
	pages     int64
	discovers int64
	archive   int64
}

// newProbe connects to the Temporal server of a data folder.
func newProbe(ctx context.Context, data string, pid int, every time.Duration) (*probe, error) {
	state, err := config.ReadDevState(data)
	if err != nil {
		return nil, err
	}
	c, err := temporalkit.Dial(ctx, temporalkit.Options{Address: state.TemporalAddress, Namespace: state.TemporalNamespace, Patience: time.Minute})
	if err != nil {
		return nil, err
	}
	queue := state.TaskQueue
	if queue == "" {
		queue = contract.TaskQueue
	}
	return &probe{data: data, pid: pid, server: state.TemporalPID, queue: queue, namespace: state.TemporalNamespace, client: c, every: every, pages: unread, discovers: unread, archive: unread}, nil
}

func (p *probe) close() { p.client.Close() }

// look fills a sample with the values that can be seen from outside.
func (p *probe) look(ctx context.Context, s *sample) {
	s.WorkerCPU, s.WorkerRSS, s.WorkerWritten = process(p.pid)
	s.ServerCPU, s.ServerRSS, s.ServerWritten = process(p.server)
	s.Temporal, s.Store = databaseBytes(p.data, "temporal.db"), databaseBytes(p.data, "recrawl.db")
	s.Backlog, s.BacklogAge = p.backlog(ctx)
	if time.Since(p.counted) > max(p.every, 20*p.took) {
		p.count(ctx)
	}
	s.Pages, s.Discovers, s.Archive = p.pages, p.discovers, p.archive
}

// count counts workflows and the archive's bytes.
func (p *probe) count(ctx context.Context) {
	began := time.Now()
	p.pages, p.discovers = p.running(ctx, "Page"), p.running(ctx, "Discover")
	p.archive = folderBytes(filepath.Join(p.data, "archive"))
	p.counted = time.Now()
	p.took = p.counted.Sub(began)
}

func (p *probe) running(ctx context.Context, kind string) int64 {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	answer, err := p.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", kind),
	})
	if err != nil {
		return unread // the server is busy, or down between two starts
	}
	return answer.GetCount()
}

// backlog returns the number of tasks that wait in the queue, and how long the oldest has
// waited.
func (p *probe) backlog(ctx context.Context) (tasks int64, age time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	b, err := temporalkit.BacklogOf(ctx, p.client, p.namespace, p.queue)
	if err != nil {
		return unread, unread
	}
	return int64(b.Tasks), b.Age
}

// process reads the resources that a process has used so far.
func process(pid int) (cpu time.Duration, rss, written int64) {
	cpu, err := bench.CPU(pid)
	if err != nil {
		return 0, unread, unread
	}
	if rss, err = bench.Memory(pid); err != nil {
		return 0, unread, unread
	}
	if written, err = bench.Written(pid); err != nil {
		return cpu, rss, unread
	}
	return cpu, rss, written
}

// databaseBytes returns the size of an SQLite database with its log.
func databaseBytes(data, name string) int64 {
	var n int64
	for _, end := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(data, name+end)); err == nil {
			n += info.Size()
		}
	}
	return n
}

// folderBytes returns the total size of the files below a folder.
func folderBytes(folder string) int64 {
	n, err := bench.FolderSize(folder)
	if err != nil {
		return unread
	}
	return n
}
