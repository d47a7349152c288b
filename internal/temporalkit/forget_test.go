package temporalkit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"recrawl/internal/contract"
	"recrawl/internal/crawl"
)

// server is the part of Temporal that an Eraser uses: it deletes a run some time after
// the request, and refuses some requests because it is busy.
type server struct {
	client.Client

	mu      sync.Mutex
	runs    map[run]*workflowpb.WorkflowExecutionInfo
	text    map[run]string // of their histories
	dying   map[run]int    // how often it is still described
	never   string         // a workflow that is not deleted
	lists   int
	atOnce  int
	most    int
	refused int
}

func newServer() *server {
	return &server{runs: map[run]*workflowpb.WorkflowExecutionInfo{}, text: map[run]string{}, dying: map[run]int{}}
}

func (s *server) add(r, parent run, status enumspb.WorkflowExecutionStatus, text string) {
	info := &workflowpb.WorkflowExecutionInfo{Execution: r.execution(), Status: status}
	if parent.id != "" {
		info.ParentExecution = parent.execution()
	}
	s.runs[r], s.text[r] = info, text
}

func (s *server) left() []string {
	var ids []string
	for r := range s.runs {
		ids = append(ids, r.id+" "+r.run)
	}
	slices.Sort(ids)
	return ids
}

// ListWorkflow understands the queries that an Eraser makes.
func (s *server) ListWorkflow(_ context.Context, in *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	out := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, info := range s.runs {
		if _, after, ok := strings.Cut(in.Query, "STARTS_WITH '"); ok && strings.HasPrefix(info.Execution.WorkflowId, strings.TrimSuffix(after, "'")) {
			out.Executions = append(out.Executions, proto.CloneOf(info))
			continue
		}
		own := strings.HasPrefix(in.Query, "WorkflowId") && strings.Contains(in.Query, quoted(info.Execution.WorkflowId))
		child := strings.Contains(in.Query, "ParentWorkflowId") && strings.Contains(in.Query, quoted(info.ParentExecution.GetWorkflowId()))
		if own || child {
			out.Executions = append(out.Executions, proto.CloneOf(info))
		}
	}
	return out, nil
}

func (s *server) DescribeWorkflowExecution(_ context.Context, id, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r, info := range s.runs {
		if r.id != id || runID != "" && r.run != runID {
			continue
		}
		if n, ok := s.dying[r]; ok {
			if s.dying[r] = n - 1; n == 0 {
				delete(s.runs, r)
				continue
			}
		}
		return &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: proto.CloneOf(info)}, nil
	}
	return nil, serviceerror.NewNotFound("no such workflow")
}

// WorkflowService implements client.Client.
func (s *server) WorkflowService() workflowservice.WorkflowServiceClient { return service{s: s} }

type service struct {
	workflowservice.WorkflowServiceClient
	s *server
}

func (v service) DeleteWorkflowExecution(_ context.Context, in *workflowservice.DeleteWorkflowExecutionRequest, _ ...grpc.CallOption) (*workflowservice.DeleteWorkflowExecutionResponse, error) {
	s := v.s
	s.mu.Lock()
	s.atOnce++
	s.most = max(s.most, s.atOnce)
	s.mu.Unlock()
	time.Sleep(time.Millisecond) // of a bubble's time
	s.mu.Lock()
	defer s.mu.Unlock()
	s.atOnce--
	if s.refused++; s.refused%5 == 0 {
		return nil, &serviceerror.ResourceExhausted{Message: "busy"}
	}
	r := runOf(in.WorkflowExecution)
	if s.runs[r] == nil {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	if r.id != s.never {
		s.dying[r] = 2
	}
	return &workflowservice.DeleteWorkflowExecutionResponse{}, nil
}

func (s *server) GetWorkflowHistory(_ context.Context, id, runID string, _ bool, _ enumspb.HistoryEventFilterType) client.HistoryEventIterator {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &events{s.text[run{id, runID}]}
}

// events is a history of one event.
type events struct{ text string }

func (e *events) HasNext() bool { return e.text != "" }

func (e *events) Next() (*historypb.HistoryEvent, error) {
	event := &historypb.HistoryEvent{Attributes: &historypb.HistoryEvent_WorkflowExecutionSignaledEventAttributes{
		WorkflowExecutionSignaledEventAttributes: &historypb.WorkflowExecutionSignaledEventAttributes{
			Input: &commonpb.Payloads{Payloads: []*commonpb.Payload{{Data: []byte(e.text)}}},
		},
	}}
	e.text = ""
	return event, nil
}

const (
	running = enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
	ended   = enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED
)

// world has pages 1 to n of a host, each with an ended and a running run and a
// Discover, found by the Discovers of another host's pages; one of these still runs.
func world(s *server, n int) []crawl.PageRef {
	var pages []crawl.PageRef
	s.add(run{"crawl/t", "1"}, run{}, ended, "it names gone.test")
	s.add(run{"crawl/t", "2"}, run{}, ended, "it names others")
	s.add(run{"crawl/t", "3"}, run{}, running, "it names gone.test")
	s.add(run{contract.SinkID("t", "team"), "1"}, run{}, ended, "422 cannot index gone.test")
	s.add(run{contract.SinkID("t", "team"), "2"}, run{}, running, "422 cannot index gone.test")
	s.add(run{contract.SinkID("t", "quiet"), "1"}, run{}, running, "all is well")
	s.add(run{contract.SinkID("tt", "team"), "1"}, run{}, ended, "of another crawl: gone.test")
	for i := range n {
		page := crawl.PageRef{PageID: int64(i + 1), Crawl: "t", URL: fmt.Sprintf("http://gone.test/%d", i), Host: "gone.test"}
		pages = append(pages, page)
		id := contract.PageID("t", page.URL)
		finder := run{contract.DiscoverID("t", int64(5000+i%10), 1), "1"}
		status := ended
		if i%10 == 3 {
			status = running
		}
		s.add(finder, run{"page/t/http://stays.test/", "1"}, status, page.URL)
		s.add(run{id, "1"}, finder, ended, page.URL)
		s.add(run{id, "2"}, finder, running, page.URL)
		s.add(run{contract.DiscoverID("t", page.PageID, 1), "1"}, run{id, "1"}, ended, page.URL)
		if i%7 == 0 {
			s.add(run{contract.DiscoverID("t", page.PageID, 2), "1"}, run{"crawl/t", "3"}, ended, page.URL) // maintenance's
		}
	}
	s.add(run{contract.DiscoverID("t", 0, 9), "1"}, run{"crawl/t", "3"}, ended, "others") // admission
	return pages
}

// All runs of pages and the histories that name them go, in a number of requests
// that does not grow with Temporal's other data; workflows that run and name them
// are reported.
func TestEraser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		pages := world(s, 300)
		e := &Eraser{Client: s, Namespace: "default"}
		n, err := e.Pages(t.Context(), pages)
		if want := 300*3 + 43 + 9; err != nil || n != want {
			t.Errorf("%d runs, %v; want %d", n, err, want)
		}
		if s.lists != 3 {
			t.Errorf("%d lists, want one for each 200 pages and one for the crawl", s.lists)
		}
		if s.most > erasedTogether || s.most < erasedTogether/2 {
			t.Errorf("%d deletions at a time, the bound is %d", s.most, erasedTogether)
		}
		left, err := e.Finish(t.Context(), []string{"t"}, func(text []byte) bool { return strings.Contains(string(text), "gone.test") })
		if want := "[crawl/t discover/t/5003/1 sink/t/team]"; err != nil || fmt.Sprint(left) != want {
			t.Errorf("left %v, %v; want %s", left, err, want)
		}
		if want := "[crawl/t 2 crawl/t 3 discover/t/0/9 1 discover/t/5003/1 1 sink/t/quiet 1 sink/t/team 2 sink/tt/team 1]"; fmt.Sprint(s.left()) != want {
			t.Errorf("Temporal has %v, want %s", s.left(), want)
		}
		if n, err := e.Pages(t.Context(), pages); n != 0 || err != nil {
			t.Errorf("again: %d, %v", n, err)
		}
	})
}

// The ended histories of other pages that name a forgotten URL go, and only these; running ones
// are reported. The requests for lists do not grow with the pages.
func TestEraserOfThoseThatNamePages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		var pages []crawl.PageRef
		var left, want []string
		for i := range 2*erasedListed + 1 {
			page := crawl.PageRef{PageID: int64(i + 1), Crawl: "t", URL: fmt.Sprintf("http://stays.test/%d", i)}
			pages = append(pages, page)
			id := contract.PageID("t", page.URL)
			s.add(run{id, "1"}, run{}, ended, "to gone.test")
			s.add(run{id, "2"}, run{}, ended, "nowhere")
			want = append(want, id+" 2")
			if i%100 == 7 {
				s.add(run{id, "3"}, run{}, running, "to gone.test")
				left, want = append(left, id), append(want, id+" 3")
			}
		}
		slices.Sort(want)
		e := &Eraser{Client: s, Namespace: "default"}
		got, err := e.Naming(t.Context(), pages, func(text []byte) bool { return strings.Contains(string(text), "gone.test") })
		if slices.Sort(got); err != nil || !slices.Equal(got, slices.Sorted(slices.Values(left))) {
			t.Errorf("left %v, %v; want %v", got, err, left)
		}
		if !slices.Equal(s.left(), want) {
			t.Errorf("Temporal has %v, want %v", s.left(), want)
		}
		if s.lists != 3 {
			t.Errorf("%d lists, want one for each %d pages", s.lists, erasedListed)
		}
		if s.most > erasedTogether {
			t.Errorf("%d deletions at a time, the bound is %d", s.most, erasedTogether)
		}
	})
}

// A Discover that ends while Finish waits goes with the others.
func TestEraserWaitsForDiscovers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		pages := world(s, 4)
		e := &Eraser{Client: s, Namespace: "default"}
		if _, err := e.Pages(t.Context(), pages); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(5*time.Second, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.runs[run{"discover/t/5003/1", "1"}].Status = ended
		})
		left, err := e.Finish(t.Context(), nil, func([]byte) bool { return true })
		if err != nil || len(left) != 0 {
			t.Errorf("left %v, %v", left, err)
		}
	})
}

func TestEraserSaysThatTemporalIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		pages := world(s, 2)
		s.never = contract.PageID("t", pages[1].URL)
		_, err := (&Eraser{Client: s, Namespace: "default"}).Pages(t.Context(), pages)
		if err == nil || !strings.Contains(err.Error(), "has not deleted "+s.never+" within 1m0s") {
			t.Errorf("%v", err)
		}
	})
}

func TestEraserIsCutOff(t *testing.T) {
	s := newServer()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (&Eraser{Client: s, Namespace: "default"}).Pages(ctx, world(s, 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
