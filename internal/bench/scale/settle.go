//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"
)

// settle brings the databases of sleeping pages to the size that they keep: it deletes the
// runs that have ended, as the retention of a day does, stops the programs, and runs
// `starter compact`. Then it takes a last sample of the sizes.
func (j *job) settle(ctx context.Context) error {
	deleted, err := j.probe.deleteEnded(ctx)
	if err != nil {
		return err
	}
	j.tell("deleted %d runs that had ended", deleted)
	if err := j.halt(); err != nil {
		return err
	}
	_, took, err := j.ask(ctx, j.data, "compact")
	if err != nil {
		return err
	}
	if err := j.happened(event{Phase: settled, At: time.Now(), What: command + "compact", Took: took}); err != nil {
		return err
	}
	s := j.last
	s.Phase, s.At, s.Backlog, s.BacklogAge = settled, time.Now(), unread, unread
	s.WorkerRSS, s.ServerRSS, s.Pages, s.Discovers = unread, unread, unread, unread
	s.Temporal, s.Store = databaseBytes(j.data, "temporal.db"), databaseBytes(j.data, "recrawl.db")
	s.Archive = folderBytes(filepath.Join(j.data, "archive"))
	return j.journal.add(record{Sample: &s})
}

// ended is the query of runs that a retention deletes.
const ended = "ExecutionStatus != 'Running'"

// deleteEnded deletes all runs that have ended, and waits until the server has done so.
func (p *probe) deleteEnded(ctx context.Context) (deleted int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	again := time.NewTicker(time.Second)
	defer again.Stop()
	asked := map[string]bool{} // by their run ids: the list shows a run for a while after that
	for {
		answer, err := p.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: p.namespace, Query: ended, PageSize: 1000})
		if err != nil {
			return len(asked), fmt.Errorf("list the runs that have ended: %w", err)
		}
		if len(answer.GetExecutions()) == 0 {
			return len(asked), nil
		}
		var fresh []*workflow.WorkflowExecutionInfo
		for _, run := range answer.GetExecutions() {
			if id := run.GetExecution().GetRunId(); !asked[id] {
				asked[id] = true
				fresh = append(fresh, run)
			}
		}
		if err := p.delete(ctx, fresh); err != nil {
			return len(asked), err
		}
		if len(fresh) > 0 {
			continue
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return len(asked), fmt.Errorf("wait until the runs that have ended are deleted: %w", ctx.Err())
		}
	}
}

// delete asks the server to delete some runs, a few at a time.
func (p *probe) delete(ctx context.Context, runs []*workflow.WorkflowExecutionInfo) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for _, run := range runs {
		group.Go(func() error {
			_, err := p.client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
				Namespace: p.namespace, WorkflowExecution: run.GetExecution(),
			})
			if gone := (*serviceerror.NotFound)(nil); err != nil && !errors.As(err, &gone) {
				return fmt.Errorf("delete a run that has ended: %w", err)
			}
			return nil
		})
	}
	return group.Wait()
}
