package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/activities"
	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// Backend does the work of the starter's commands.
type Backend struct{}

var _ cli.Backend = Backend{}

// storeLimit bounds the opening of a store that a person waits for.
const storeLimit = 10 * time.Second

// OpenStore implements cli.Backend.
func (Backend) OpenStore(ctx context.Context, dsn string) (cli.Opened, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	s, err := openStore(ctx, dsn, storeRead, "")
	if err != nil {
		return cli.Opened{}, err
	}
	return cli.Opened{Store: s, Seeds: s, Visits: s, Feed: s, Sinks: s, Imports: s, Relations: s, Requests: s, Search: s, Index: searchIndex{dsn, s.ID()}, Closer: s}, nil
}

// OpenArchive implements cli.Backend.
func (Backend) OpenArchive(ctx context.Context, url string) (archive.Store, error) {
	return openArchive(ctx, url, storeRead)
}

// DialTemporal implements cli.Backend.
func (Backend) DialTemporal(ctx context.Context, o cli.TemporalOptions) (cli.Client, error) {
	c, err := dialTemporal(ctx, o)
	if err != nil {
		return nil, err
	}
	return newFlowClient(c, o), nil
}

// dialTemporal connects a command to Temporal.
func dialTemporal(ctx context.Context, o cli.TemporalOptions) (client.Client, error) {
	if o.Unknown != "" {
		return nil, errors.New(o.Unknown)
	}
	c, err := temporalkit.Dial(ctx, temporalkit.Options{Address: o.Address, Namespace: o.Namespace, Keys: o.Keys})
	if err != nil || o.Folder == "" {
		return c, err
	}
	if err := ownServer(ctx, c, o); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// ownServer returns an error if another server than the data folder's has its last address by
// now, as when its own is stopped: that one has other crawls, perhaps of the same names.
func ownServer(ctx context.Context, c client.Client, o cli.TemporalOptions) error {
	s, err := openStore(ctx, o.Store, storeRead, "")
	if err != nil {
		return nil // who needs the store says so
	}
	defer s.Close()
	home, err := s.Home(ctx)
	if err != nil || home.NamespaceID == "" {
		return err
	}
	namespace, err := temporalkit.NamespaceID(ctx, c, home.Namespace)
	if err != nil {
		return err
	}
	if namespace != home.NamespaceID {
		return fmt.Errorf("another Temporal than that of data folder %s is at %s: run `starter dev --data %s`", o.Folder, o.Address, o.Folder)
	}
	return nil
}

// flowClient implements cli.Client on workflows.
type flowClient struct {
	flows temporalkit.Workflows
	// home, unless nil, returns the identity and the task queue of the store for which
	// workflows are started, if they are known.
	home func(ctx context.Context) (id, queue string)
}

func newFlowClient(c client.Client, o cli.TemporalOptions) flowClient {
	namespace := temporalkit.Namespace(temporalkit.Options{Namespace: o.Namespace})
	f := flowClient{flows: temporalkit.Workflows{Client: c, Namespace: namespace, TaskQueue: o.TaskQueue}}
	if o.Store != "" {
		f.home = homeOf(o.Store)
	}
	return f
}

// homeLimit bounds the reading of a store before a crawl is started.
const homeLimit = 3 * time.Second

// homeOf looks once. A store that does not answer, or that no worker has made yet, says
// nothing.
func homeOf(dsn string) func(context.Context) (id, queue string) {
	var once sync.Once
	var id, queue string
	return func(ctx context.Context) (string, string) {
		once.Do(func() {
			ctx, cancel := context.WithTimeout(ctx, homeLimit)
			defer cancel()
			s, err := openStore(ctx, dsn, storeRead, "")
			if err != nil {
				return
			}
			defer s.Close()
			id = s.ID()
			if home, err := s.Home(ctx); err == nil {
				queue = home.TaskQueue
			}
		})
		return id, queue
	}
}

// starting returns the workflows for starting them: for their store, in its task
// queue.
func (f flowClient) starting(ctx context.Context) temporalkit.Workflows {
	flows := f.flows
	if f.home == nil {
		return flows
	}
	id, queue := f.home(ctx)
	flows.Store, flows.TaskQueue = id, cmp.Or(flows.TaskQueue, queue)
	return flows
}

// Running implements cli.Client.
func (f flowClient) Running(ctx context.Context, name string) (bool, error) {
	return f.starting(ctx).CrawlRuns(ctx, name)
}

// StartCrawl implements cli.Client.
func (f flowClient) StartCrawl(ctx context.Context, spec crawl.Spec) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode spec: %w", err)
	}
	return f.starting(ctx).StartCrawl(ctx, spec.Name, text)
}

// AddSeeds implements cli.Client.
func (f flowClient) AddSeeds(ctx context.Context, name string, seeds []string) (string, error) {
	return f.update(ctx, contract.CrawlID(name), contract.AddSeeds, contract.AddSeedsArg{Seeds: seeds})
}

// SetSpec implements cli.Client.
func (f flowClient) SetSpec(ctx context.Context, spec crawl.Spec) (string, error) {
	return f.update(ctx, contract.CrawlID(spec.Name), contract.SetSpec, spec)
}

// ChangeCrawl implements cli.Client.
func (f flowClient) ChangeCrawl(ctx context.Context, name string, change cli.Change) (string, error) {
	return f.update(ctx, contract.CrawlID(name), string(change), nil)
}

// ChangePage implements cli.Client.
func (f flowClient) ChangePage(ctx context.Context, page store.PageRecord, change cli.PageChange, arg string) (string, error) {
	var args any
	if arg != "" {
		args = contract.DurationArg(arg)
	}
	ack, err := f.starting(ctx).UpdatePage(ctx, activities.NewPageIn(page), string(change), args)
	return ack.Message, err
}

// AskVisit implements cli.Client.
func (f flowClient) AskVisit(ctx context.Context, page store.PageRecord) error {
	return f.starting(ctx).AskPage(ctx, activities.NewPageIn(page))
}

// sinkLimit is how long a command to a sink may take: a delivery under way ends first, and a
// receiver may take its time to answer.
const sinkLimit = 2 * time.Minute

// CommandSink implements cli.Client.
func (f flowClient) CommandSink(ctx context.Context, c store.CrawlRecord, name string, command cli.SinkCommand, replay cli.SinkReplay) (cli.SinkAnswer, error) {
	flows := f.starting(ctx)
	in := contract.SinkIn{Store: flows.Store, CrawlID: c.ID, Crawl: c.Spec.Name, Sink: name}
	var arg any
	if command == cli.ReplaySink {
		arg = contract.ReplayArg{After: replay.After, Changes: replay.Changes}
	}
	asking, cancel := context.WithTimeout(ctx, sinkLimit)
	defer cancel()
	ack, err := flows.CommandSink(asking, in, string(command), arg)
	if asking.Err() != nil && ctx.Err() == nil {
		slow := ""
		if c.Spec.Sinks[name].Kind == crawl.SinkMail {
			slow = " Or its mail server is slow to take a mail: then the command goes on."
		}
		return cli.SinkAnswer{}, fmt.Errorf("sink %s did not answer within %s: is a worker running, and does the store answer?%s", name, sinkLimit, slow)
	}
	return cli.SinkAnswer{Message: ack.Message, Failed: ack.Failed, Replayed: ack.Replayed}, err
}

// Explain implements cli.Client.
func (f flowClient) Explain(ctx context.Context, page store.PageRecord) (report.Live, error) {
	v, err := f.flows.Explain(ctx, page.PageRef)
	if errors.Is(err, temporalkit.ErrNoWorkflow) {
		return report.Live{}, fmt.Errorf("%w: %w", err, store.ErrNotFound)
	}
	return report.Live{Doing: v.Doing, Due: v.Due, Interval: v.Interval, Snoozed: v.Snoozed, Reasons: v.Reasons}, err
}

// Close implements cli.Client.
func (f flowClient) Close() { f.flows.Client.Close() }

func (f flowClient) update(ctx context.Context, id, name string, arg any) (string, error) {
	ack, err := f.flows.Update(ctx, id, name, arg)
	if errors.Is(err, temporalkit.ErrNoWorkflow) {
		return "", fmt.Errorf("%w: %w", err, store.ErrNotFound)
	}
	return ack.Message, err
}
