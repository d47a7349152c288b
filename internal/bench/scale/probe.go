package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"recrawl/internal/config"
	"recrawl/internal/contract"
	"recrawl/internal/temporalkit"
)

// unread stands for what a probe could not read.
const unread = -1

// probe looks at a running `starter dev` without disturbing it much: counting workflows
// and files takes the longer the more there are, so that is done rarely.
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

// look fills in a sample what can be seen from outside.
func (p *probe) look(ctx context.Context, s *sample) {
	s.WorkerCPU, s.WorkerRSS = process(p.pid)
	s.ServerCPU, s.ServerRSS = process(p.server)
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

// backlog is how many tasks wait at the queue, and for how long the oldest has.
func (p *probe) backlog(ctx context.Context) (tasks int64, age time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for _, kind := range []enumspb.TaskQueueType{enumspb.TASK_QUEUE_TYPE_WORKFLOW, enumspb.TASK_QUEUE_TYPE_ACTIVITY} {
		answer, err := p.client.WorkflowService().DescribeTaskQueue(ctx, &workflowservice.DescribeTaskQueueRequest{
			Namespace: p.namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: p.queue}, TaskQueueType: kind, ReportStats: true,
		})
		if err != nil {
			return unread, unread
		}
		tasks += answer.GetStats().GetApproximateBacklogCount()
		age = max(age, answer.GetStats().GetApproximateBacklogAge().AsDuration())
	}
	return tasks, age
}

// process reads what a process has used so far, from /proc.
func process(pid int) (cpu time.Duration, rss int64) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, unread
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, unread
	}
	cpu, err = cpuOf(stat)
	if err != nil {
		return 0, unread
	}
	return cpu, rssOf(status)
}

// cpuOf reads /proc/PID/stat. Its unit is the 10 ms tick of every Linux.
func cpuOf(stat []byte) (time.Duration, error) {
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from field 3, state
	var user, system int64
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc/PID/stat has %d fields", len(fields))
	}
	if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
		return 0, fmt.Errorf("/proc/PID/stat: %w", err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond, nil
}

// rssOf reads the resident memory from /proc/PID/status.
func rssOf(status []byte) int64 {
	for line := range strings.Lines(string(status)) {
		var kilobytes int64
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &kilobytes); err == nil {
			return kilobytes << 10
		}
	}
	return unread
}

// databaseBytes are those of an SQLite database with its log.
func databaseBytes(data, name string) int64 {
	var n int64
	for _, end := range []string{"", "-wal"} {
		if info, err := os.Stat(filepath.Join(data, name+end)); err == nil {
			n += info.Size()
		}
	}
	return n
}

// folderBytes are those of all files below a folder, by their sizes.
func folderBytes(folder string) int64 {
	var n int64
	err := filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			info, err := e.Info()
			if err == nil {
				n += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it was moved to its place while we looked
		}
		return err
	})
	if err != nil {
		return unread
	}
	return n
}
