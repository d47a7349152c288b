package workflows

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"recrawl/internal/contract"
	"recrawl/internal/contract/contracttest"
	"recrawl/internal/crawl"
)

// discovered is a Discover under test with the ids of the pages it started.
type discovered struct {
	*live
	ids []string
	out contract.DiscoverOut
}

func newDiscovered(t *testing.T) *discovered {
	t.Helper()
	d := &discovered{live: newLive(t)}
	d.stub = false
	d.id = contract.DiscoverID("news", 42, 4)
	d.opts = append(d.opts, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnChildWorkflowStartedListener(func(info *workflow.Info, _ workflow.Context, _ converter.EncodedValues) {
			d.ids = append(d.ids, info.WorkflowExecution.ID)
		})
	})
	return d
}

func (d *discovered) discover(in contract.DiscoverIn) error {
	d.t.Helper()
	err := d.follow(contract.DiscoverWorkflow, func(next *converterArgs) []any {
		if next != nil {
			in = contract.DiscoverIn{}
			next.get(d.t, &in)
		}
		return []any{in}
	})
	if err == nil {
		if err := d.env.GetWorkflowResult(&d.out); err != nil {
			d.t.Fatal(err)
		}
	}
	return err
}

func knownPages(n int) []contract.PageIn {
	pages := make([]contract.PageIn, n)
	for i := range pages {
		p := pageIn()
		p.Page.PageID, p.Page.URL = int64(100+i), fmt.Sprintf("https://example.com/%d", i)
		pages[i] = p
	}
	return pages
}

func linksOf(visit int) contract.DiscoverIn {
	return contract.DiscoverIn{CrawlID: 1, Crawl: "news", Page: ref(), Visit: visit, Register: true, Hosts: []int64{7}}
}

func TestDiscoverRegistersAndStarts(t *testing.T) {
	t.Parallel()
	d := newDiscovered(t)
	d.world.AddKnown(knownPages(3)...)
	d.world.OnRegister = func(contract.RegisterIn) (contract.RegisterOut, error) {
		return contract.RegisterOut{New: 3, Seen: 2, Rejected: map[string]int{"scope": 4}, Hosts: []int64{7, 9}}, nil
	}
	if err := d.discover(linksOf(4)); err != nil {
		t.Fatal(err)
	}
	slices.Sort(d.ids)
	want := []string{"page/news/https://example.com/0", "page/news/https://example.com/1", "page/news/https://example.com/2"}
	if !slices.Equal(d.ids, want) {
		t.Errorf("started %v, want %v", d.ids, want)
	}
	if d.out.New != 3 || d.out.Seen != 2 || d.out.Rejected["scope"] != 4 || d.out.Started != 3 {
		t.Errorf("out %+v", d.out)
	}
}

// Discover asks for the hosts of the links and of the page, each once. Without hosts there is
// nothing to admit; that must not turn into all hosts.
func TestDiscoverAdmitsTouchedHosts(t *testing.T) {
	t.Parallel()
	var asked [][]int64
	admit := func(in contract.AdmitIn) (contract.AdmitOut, error) {
		asked = append(asked, in.Hosts)
		return contract.AdmitOut{}, nil
	}
	d := newDiscovered(t)
	d.world.OnAdmit = admit
	d.world.OnRegister = func(contract.RegisterIn) (contract.RegisterOut, error) {
		return contract.RegisterOut{Hosts: []int64{7, 9}}, nil
	}
	if err := d.discover(linksOf(4)); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || !slices.Equal(asked[0], []int64{7, 9}) {
		t.Errorf("asked for hosts %v, want 7 and 9", asked)
	}
	asked = nil
	d = newDiscovered(t)
	d.world.OnAdmit = admit
	d.world.OnRegister = func(contract.RegisterIn) (contract.RegisterOut, error) { return contract.RegisterOut{}, nil }
	in := linksOf(4)
	in.Hosts = nil
	if err := d.discover(in); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 0 {
		t.Errorf("asked for hosts %v, want none", asked)
	}
	d = newDiscovered(t)
	d.world.OnAdmit = admit
	refill := linksOf(4)
	refill.Register, refill.Refill = false, true
	if err := d.discover(refill); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 1 || len(asked[0]) != 0 {
		t.Errorf("a refill asked for hosts %v, want all", asked)
	}
}

// A refill asks for all hosts, whatever its links have touched, and says that it is one.
func TestDiscoverRefills(t *testing.T) {
	t.Parallel()
	for _, links := range []bool{true, false} {
		var asked []contract.AdmitIn
		d := newDiscovered(t)
		d.world.OnAdmit = func(in contract.AdmitIn) (contract.AdmitOut, error) {
			asked = append(asked, in)
			return contract.AdmitOut{}, nil
		}
		d.world.OnRegister = func(contract.RegisterIn) (contract.RegisterOut, error) { return contract.RegisterOut{}, nil }
		in := linksOf(4)
		in.Refill, in.Register = true, links
		if links {
			in.Hosts = nil
		}
		if err := d.discover(in); err != nil {
			t.Fatal(err)
		}
		if len(asked) != 1 || len(asked[0].Hosts) != 0 || !asked[0].Refill {
			t.Errorf("with links %t: asked %+v, want all hosts", links, asked)
		}
	}
}

func TestDiscoverAdmissionOnly(t *testing.T) {
	t.Parallel()
	d := newDiscovered(t)
	d.world.AddKnown(knownPages(5)...)
	if err := d.discover(contract.DiscoverIn{CrawlID: 1, Crawl: "news", Visit: 2}); err != nil {
		t.Fatal(err)
	}
	d.wantCalls(contract.RegisterLinks.Name, 0)
	if d.out.Started != 5 {
		t.Errorf("started %d", d.out.Started)
	}
}

// Pending children are bounded: after 500 starts a fresh run continues, without registering
// again.
func TestDiscoverContinuesAfterManyStarts(t *testing.T) {
	t.Parallel()
	d := newDiscovered(t)
	d.world.AddKnown(knownPages(1230)...)
	if err := d.discover(linksOf(4)); err != nil {
		t.Fatal(err)
	}
	d.wantCalls(contract.RegisterLinks.Name, 1)
	d.wantCalls(contract.Admit.Name, 13)
	if d.runs != 3 || d.out.Started != 1230 || d.out.New != 1230 {
		t.Errorf("%d runs, out %+v", d.runs, d.out)
	}
	seen := map[string]bool{}
	for _, id := range d.ids {
		if seen[id] {
			t.Fatalf("%s started twice", id)
		}
		seen[id] = true
	}
}

func TestDiscoverTakesRunningPagesForStarted(t *testing.T) {
	t.Parallel()
	d := newDiscovered(t)
	d.world.AddKnown(append(knownPages(2), knownPages(2)...)...)
	if err := d.discover(linksOf(4)); err != nil {
		t.Fatal(err)
	}
	if len(d.ids) != 2 {
		t.Errorf("started %v", d.ids)
	}
}

func TestDiscoverGoesOnAfterExclusionsOnly(t *testing.T) {
	t.Parallel()
	d := newDiscovered(t)
	calls := 0
	d.world.OnAdmit = func(contract.AdmitIn) (contract.AdmitOut, error) {
		if calls++; calls == 1 {
			return contract.AdmitOut{Excluded: 16, More: true}, nil
		}
		return contract.AdmitOut{Pages: knownPages(1)}, nil
	}
	if err := d.discover(linksOf(4)); err != nil {
		t.Fatal(err)
	}
	if d.out.Started != 1 {
		t.Errorf("started %d", d.out.Started)
	}
}

func TestDiscoverWaitsForTheStore(t *testing.T) {
	t.Parallel()
	d := newDiscovered(t)
	d.world.AddKnown(knownPages(1)...)
	d.world.Down = func(now time.Time) bool { return now.Before(start.Add(outage)) }
	if err := d.discover(linksOf(4)); err != nil {
		t.Fatal(err)
	}
	if d.out.Started != 1 {
		t.Errorf("started %d", d.out.Started)
	}
}

func TestDiscoverGivesUpAndLeavesTheRestToMaintenance(t *testing.T) {
	t.Parallel()
	d := newDiscovered(t)
	d.world.OnAdmit = func(contract.AdmitIn) (contract.AdmitOut, error) {
		return contract.AdmitOut{}, contracttest.Unavailable()
	}
	err := d.discover(linksOf(4))
	var app *temporal.ApplicationError
	if !errors.As(err, &app) {
		t.Fatalf("ended with %v", err)
	}
	if took := d.now.Sub(start); took < 10*time.Minute || took > 2*time.Hour {
		t.Errorf("patient for %s, want about an hour", took)
	}
}

// Children outlive their parent and can be found.
func TestChildOptions(t *testing.T) {
	t.Parallel()
	in := knownPages(1)[0]
	in.State = crawl.Failing
	o := ChildPageOptions(in)
	if o.ParentClosePolicy != enumspb.PARENT_CLOSE_POLICY_ABANDON || o.WorkflowID != "page/news/https://example.com/0" {
		t.Errorf("page options %+v", o)
	}
	for key, want := range map[temporal.SearchAttributeKeyKeyword]string{
		contract.AttrCrawl: "news", contract.AttrHost: "example.com", contract.AttrState: "failing",
	} {
		if got := keyword(o.TypedSearchAttributes, key); got != want {
			t.Errorf("%s is %q, want %q", key.GetName(), got, want)
		}
	}
	d := childDiscoverOptions(linksOf(4))
	if d.ParentClosePolicy != enumspb.PARENT_CLOSE_POLICY_ABANDON || d.WorkflowID != "discover/news/42/4" || d.StaticSummary == "" || d.Priority != contract.PagePriority {
		t.Errorf("discover options %+v", d)
	}
}

// It is no error if a Discover cannot be started because it already runs.
func TestPageWithARunningDiscover(t *testing.T) {
	t.Parallel()
	l := newLive(t, stopAt(3*time.Hour))
	l.world.OnFetch = func(try contracttest.Try) (contract.FetchOut, error) { return contracttest.Changed(try.Now), nil }
	l.world.OnDetect = func(contract.DetectIn) (contract.DetectOut, error) {
		return contract.DetectOut{Outcome: crawl.OutcomeChanged, Links: 3}, nil
	}
	l.opts = append(l.opts, func(env *testsuite.TestWorkflowEnvironment) {
		env.OnWorkflow(contract.DiscoverWorkflow, mock.Anything, mock.Anything).Return(contract.DiscoverOut{}, testsuite.ErrMockStartChildWorkflowFailed)
	})
	l.stopped(l.page(visited(start)))
	l.wantTimes(0)
}

// A Discover that is cancelled does not go on in another run, even if the cancellation comes
// when it has just started its pages.
func TestDiscoverCancelledAtTheEndOfARun(t *testing.T) {
	t.Parallel()
	d := newDiscovered(t)
	d.world.AddKnown(knownPages(startsPerRun + 50)...)
	d.opts = append(d.opts, func(env *testsuite.TestWorkflowEnvironment) {
		env.SetOnChildWorkflowStartedListener(func(*workflow.Info, workflow.Context, converter.EncodedValues) {
			if d.ids = append(d.ids, ""); len(d.ids) == startsPerRun {
				env.CancelWorkflow()
			}
		})
	})
	if err := d.discover(linksOf(4)); !temporal.IsCanceledError(err) || len(d.ids) != startsPerRun {
		t.Errorf("started %d pages and ended with %v, want cancelled", len(d.ids), err)
	}
}
