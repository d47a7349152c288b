package temporalkit

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// spans remembers which activities began and how they ended.
type spans struct{ said []string }

func (s *spans) Activity(ctx context.Context, name, visit string, attributes map[string]string) (context.Context, func(error)) {
	return ctx, func(err error) {
		s.said = append(s.said, fmt.Sprintf("%s %s url=%s attempt=%s failed=%t", name, visit, attributes["recrawl.url"], attributes["temporal.activity.attempt"], err != nil))
	}
}

// Each activity is a span, with the visit that it is of, whether it fails or not.
func TestActivitiesAreTraced(t *testing.T) {
	t.Parallel()
	s := &spans{}
	env := (&testsuite.WorkflowTestSuite{}).NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&traces{tracer: s}}})
	env.RegisterActivityWithOptions(func(_ context.Context, in contract.FetchIn) (int, error) {
		if in.Visit == 4 {
			return 0, errors.New("HTTP 500")
		}
		return in.Visit, nil
	}, activity.RegisterOptions{Name: "Fetch"})
	env.RegisterActivityWithOptions(func(context.Context, contract.MaintainIn) error { return nil }, activity.RegisterOptions{Name: "Maintain"})
	page := crawl.PageRef{PageID: 7, Crawl: "news", URL: "https://news.example/"}
	if _, err := env.ExecuteActivity("Fetch", contract.FetchIn{Page: page, Visit: 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := env.ExecuteActivity("Fetch", contract.FetchIn{Page: page, Visit: 4}); err == nil {
		t.Fatal("it does not fail")
	}
	if _, err := env.ExecuteActivity("Maintain", contract.MaintainIn{}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Fetch default-test-namespace/news/7/3 url=https://news.example/ attempt=1 failed=false",
		"Fetch default-test-namespace/news/7/4 url=https://news.example/ attempt=1 failed=true",
		"Maintain  url= attempt=1 failed=false",
	}
	if fmt.Sprint(s.said) != fmt.Sprint(want) {
		t.Errorf("spans\n%v, want\n%v", s.said, want)
	}
}
