package temporalkit

import (
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// attrBuilds is the search attribute in which Temporal's server keeps the builds of the
// workers that ran a workflow.
var attrBuilds = temporal.NewSearchAttributeKeyKeywordList("BuildIds")

// NameBuild says what Temporal calls this program where no Worker Deployment does: it records the
// name with each workflow task, and in the attribute BuildIds of each workflow that it ran.
// Without a name the SDK reads the whole program at each start to name it by a checksum. Call it
// before the first worker is made.
func NameBuild(name string) { worker.SetBinaryChecksum(name) }

// builds starts child workflows with the build that is likely to run them, written as the
// server records it with a workflow's first task. The server then finds it recorded, and
// writes the row of a new page in its list of workflows once instead of twice. That row has
// an index entry for each search attribute.
//
// A build that is recorded too early does no harm: the server adds the one that did the
// task, as it does whenever a workflow comes to another build. For the workers of a
// deployment it records more than that, so that is left to the server.
type builds struct {
	interceptor.WorkerInterceptorBase
}

// InterceptWorkflow implements interceptor.WorkerInterceptor.
func (*builds) InterceptWorkflow(_ workflow.Context, next interceptor.WorkflowInboundInterceptor) interceptor.WorkflowInboundInterceptor {
	i := &buildsInbound{}
	i.Next = next
	return i
}

type buildsInbound struct {
	interceptor.WorkflowInboundInterceptorBase
}

// Init implements interceptor.WorkflowInboundInterceptor.
func (i *buildsInbound) Init(next interceptor.WorkflowOutboundInterceptor) error {
	o := &buildsOutbound{}
	o.Next = next
	return i.Next.Init(o)
}

type buildsOutbound struct {
	interceptor.WorkflowOutboundInterceptorBase
}

// ExecuteChildWorkflow implements interceptor.WorkflowOutboundInterceptor.
func (o *buildsOutbound) ExecuteChildWorkflow(ctx workflow.Context, name string, args ...any) workflow.ChildWorkflowFuture {
	if build := workflow.GetInfo(ctx).GetCurrentBuildID(); build != "" {
		options := workflow.GetChildWorkflowOptions(ctx)
		options.TypedSearchAttributes = temporal.NewSearchAttributes(
			options.TypedSearchAttributes.Copy(), attrBuilds.ValueSet([]string{"unversioned", "unversioned:" + build}))
		ctx = workflow.WithChildOptions(ctx, options)
	}
	return o.Next.ExecuteChildWorkflow(ctx, name, args...)
}
