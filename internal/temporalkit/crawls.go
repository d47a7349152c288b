package temporalkit

import (
	"context"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"recrawl/internal/contract"
)

// NamespaceID returns the id of a namespace, which no other has, not even one of the
// same name. It needs no more rights than a worker does, which asks for it too.
func NamespaceID(ctx context.Context, c client.Client, namespace string) (string, error) {
	answer, err := c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if err != nil {
		return "", fmt.Errorf("describe namespace %s: %w", namespace, err)
	}
	return answer.GetNamespaceInfo().GetId(), nil
}

// OpenCrawl is a Crawl workflow that runs.
type OpenCrawl struct {
	Name      string
	TaskQueue string
	Store     string // "" if the crawl does not know
	Opened    bool   // it is in a store, whichever it is
	// Locked is why we cannot read the workflow's data, nil if we can: a key is missing.
	Locked error
}

// maxOpenCrawls is how many crawls of a namespace are read.
const maxOpenCrawls = 1000

// OpenCrawls lists the crawls that run in a namespace, according to its list, which may
// be a second late.
func OpenCrawls(ctx context.Context, c client.Client, namespace string) ([]OpenCrawl, error) {
	var crawls []OpenCrawl
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: namespace, PageSize: 200,
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running'", contract.CrawlWorkflow),
	}
	for len(crawls) < maxOpenCrawls {
		answer, err := c.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list the crawls of namespace %s: %w", namespace, err)
		}
		for _, info := range answer.Executions {
			if name, ok := contract.ParseCrawlID(info.GetExecution().GetWorkflowId()); ok {
				crawls = append(crawls, openCrawl(dataOf(c), name, info))
			}
		}
		if request.NextPageToken = answer.NextPageToken; len(request.NextPageToken) == 0 {
			break
		}
	}
	return crawls, nil
}

func openCrawl(data converter.DataConverter, name string, info *workflowpb.WorkflowExecutionInfo) OpenCrawl {
	_, opened := info.GetSearchAttributes().GetIndexedFields()[contract.AttrState.GetName()]
	text, err := memoText(data, info.GetMemo(), contract.MemoStore)
	return OpenCrawl{Name: name, TaskQueue: info.GetTaskQueue(), Store: text, Opened: opened, Locked: err}
}

// memoText is a text of a memo; "" if there is none, or another program wrote it in
// another form. Only a text encrypted with a key that we lack is an error.
func memoText(data converter.DataConverter, memo *commonpb.Memo, name string) (string, error) {
	payload, ok := memo.GetFields()[name]
	if !ok {
		return "", nil
	}
	var text string
	err := data.FromPayload(payload, &text)
	if isLocked(err) {
		return "", fmt.Errorf("its memo: %w", err)
	}
	if err != nil {
		return "", nil //nolint:nilerr // see above
	}
	return text, nil
}
