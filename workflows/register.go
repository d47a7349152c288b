package workflows

import (
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
)

// Register registers the workflows under their contract names on a worker, a replayer or a
// test environment.
func Register(w worker.WorkflowRegistry) {
	w.RegisterWorkflowWithOptions(Page, workflow.RegisterOptions{Name: contract.PageWorkflow})
	w.RegisterWorkflowWithOptions(Crawl, workflow.RegisterOptions{Name: contract.CrawlWorkflow})
	w.RegisterWorkflowWithOptions(Discover, workflow.RegisterOptions{Name: contract.DiscoverWorkflow})
	w.RegisterWorkflowWithOptions(Sink, workflow.RegisterOptions{Name: contract.SinkWorkflow})
}
