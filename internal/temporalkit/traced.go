package temporalkit

import (
	"context"
	"strconv"
	"strings"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// Tracer makes a span of an activity. visit is the same for all activities of one visit, and
// "" for those of none; end takes the activity's error.
type Tracer interface {
	Activity(ctx context.Context, name, visit string, attributes map[string]string) (_ context.Context, end func(error))
}

// traces makes a span of every activity of a worker.
type traces struct {
	interceptor.WorkerInterceptorBase
	tracer Tracer
}

// InterceptActivity implements interceptor.WorkerInterceptor.
func (t *traces) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &traced{tracer: t.tracer}
	i.Next = next
	return i
}

type traced struct {
	interceptor.ActivityInboundInterceptorBase
	tracer Tracer
}

// ExecuteActivity implements interceptor.ActivityInboundInterceptor.
func (t *traced) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (out any, err error) {
	info := activity.GetInfo(ctx)
	attributes := map[string]string{
		"temporal.workflow.id": info.WorkflowExecution.ID, "temporal.workflow.run_id": info.WorkflowExecution.RunID,
		"temporal.activity.attempt": strconv.Itoa(int(info.Attempt)),
	}
	page, number := visitOf(in.Args)
	visit := ""
	if number > 0 {
		visit = strings.Join([]string{info.Namespace, page.Crawl, strconv.FormatInt(page.PageID, 10), strconv.Itoa(number)}, "/")
		attributes["recrawl.crawl"], attributes["recrawl.url"], attributes["recrawl.visit"] = page.Crawl, page.URL, strconv.Itoa(number)
	}
	ctx, end := t.tracer.Activity(ctx, info.ActivityType.Name, visit, attributes)
	defer func() { end(err) }()
	return t.Next.ExecuteActivity(ctx, in)
}

// visitOf is the visit to which an activity belongs; its number is 0 if there is none.
func visitOf(args []any) (crawl.PageRef, int) {
	if len(args) == 0 {
		return crawl.PageRef{}, 0
	}
	switch in := args[0].(type) {
	case contract.AcquireIn:
		return in.Page, in.Visit
	case contract.RefreshRobotsIn:
		return in.Page, in.Visit
	case contract.FetchIn:
		return in.Page, in.Visit
	case contract.DetectIn:
		return in.Page, in.Visit
	case contract.PlanIn:
		return in.Page, in.Visit
	case contract.RegisterIn:
		return in.Page, in.Visit
	}
	return crawl.PageRef{}, 0
}
