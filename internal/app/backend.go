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
	"go.temporal.io/sdk/temporal"

	"recrawl/activities"
	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/residence"
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
	return partsOf(s, dsn), nil
}

// partsOf are the parts of a store, of this DSN, that commands and the page for operators read.
func partsOf(s store.Store, dsn string) cli.Opened {
	return cli.Opened{
		Store: s, Seeds: s, Visits: s, Feed: s, Sinks: s, Imports: s, Relations: s, Requests: s, Search: s,
		Index: searchIndex{dsn, s.ID()}, Closer: s,
	}
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
	c, err := temporalkit.Dial(ctx, temporalkit.Options{Address: o.Address, Namespace: o.Namespace, Keys: o.Keys, Own: o.Folder != ""})
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
	// home, unless nil, returns what is known of the store for which workflows are started.
	home func(ctx context.Context) (storeHome, error)
	// may, unless nil, returns an error if nothing must be written: these are not the store's
	// workflows, or we lack the key with which its workers encrypt, and they would lack ours.
	may func(ctx context.Context) error
}

func newFlowClient(c client.Client, o cli.TemporalOptions) flowClient {
	namespace := temporalkit.Namespace(temporalkit.Options{Namespace: o.Namespace})
	f := flowClient{flows: temporalkit.Workflows{Client: c, Namespace: namespace, TaskQueue: o.TaskQueue}}
	if o.Store != "" {
		f.home = homeOf(o.Store)
	}
	var once sync.Once
	var refused error
	f.may = func(ctx context.Context) error {
		once.Do(func() {
			if refused = f.checkPlace(ctx); refused == nil {
				refused = f.checkKeys(ctx)
			}
		})
		return refused
	}
	return f
}

// homeLimit bounds the reading of a store before a crawl is started.
const homeLimit = 3 * time.Second

// storeHome holds what a command knows of a store. It is empty if the store cannot be opened, as
// when no worker has made it yet.
type storeHome struct {
	id     string
	at     store.Home
	crawls []string // their names
}

// homeOf returns a function that reads a store's home once.
func homeOf(dsn string) func(context.Context) (storeHome, error) {
	var once sync.Once
	var home storeHome
	var err error
	return func(ctx context.Context) (storeHome, error) {
		once.Do(func() {
			if home, err = readHome(ctx, dsn); err != nil {
				err = fmt.Errorf("cannot tell where the store's workflows are: %w", err)
			}
		})
		return home, err
	}
}

// readHome fails if a store can be opened but does not answer: half of the answer could start
// a workflow in another task queue than the store's, or with a key that its workers lack.
func readHome(ctx context.Context, dsn string) (storeHome, error) {
	ctx, cancel := context.WithTimeout(ctx, homeLimit)
	defer cancel()
	s, err := openStore(ctx, dsn, storeRead, "")
	if err != nil {
		return storeHome{}, nil //nolint:nilerr // who needs the store says so
	}
	defer s.Close()
	at, err := s.Home(ctx)
	if err != nil {
		return storeHome{}, err
	}
	crawls, err := s.ListCrawls(ctx)
	if err != nil {
		return storeHome{}, err
	}
	home := storeHome{id: s.ID(), at: at}
	for _, c := range crawls {
		home.crawls = append(home.crawls, c.Spec.Name)
	}
	return home, nil
}

// starting returns the workflows for starting and changing them: for their store, in its task
// queue.
func (f flowClient) starting(ctx context.Context) (temporalkit.Workflows, error) {
	flows := f.flows
	if f.home == nil {
		return flows, nil
	}
	home, err := f.home(ctx)
	if err != nil {
		return temporalkit.Workflows{}, err
	}
	flows.Store, flows.TaskQueue = home.id, cmp.Or(flows.TaskQueue, home.at.TaskQueue)
	return flows, nil
}

// writing is starting for what the store's workers must be able to read.
func (f flowClient) writing(ctx context.Context) (temporalkit.Workflows, error) {
	if f.may != nil {
		if err := f.may(ctx); err != nil {
			return temporalkit.Workflows{}, err
		}
	}
	return f.starting(ctx)
}

// checkPlace returns an error if the store's workflows are known to be elsewhere, as where
// nothing named their Temporal: it would start others of the same names here, which answer as the
// right ones do, and nobody would have them visited.
func (f flowClient) checkPlace(ctx context.Context) error {
	if f.home == nil {
		return nil
	}
	home, err := f.home(ctx)
	if err != nil || home.at.IsZero() {
		return err
	}
	here, err := temporalkit.NamespaceID(ctx, f.flows.Client, f.flows.Namespace)
	if err != nil {
		return nil //nolint:nilerr // whoever must not ask that may still write
	}
	return notAtHome(home.id, home.at, f.flows.Namespace, here)
}

// checkKeys returns an error if a crawl of the store is encrypted with a key that we lack.
func (f flowClient) checkKeys(ctx context.Context) error {
	flows, err := f.starting(ctx)
	if err != nil {
		return err
	}
	q := residence.Question{Store: flows.Store}
	if f.home != nil {
		home, err := f.home(ctx)
		if err != nil {
			return err
		}
		q.Known = home.crawls
	}
	if q.Crawls, q.Locked, err = crawlsIn(ctx, flows.Client, flows.Namespace, cmp.Or(flows.TaskQueue, contract.TaskQueue)); err != nil {
		return nil //nolint:nilerr // whoever cannot list may still write
	}
	return q.Unreadable()
}

// Running implements cli.Client.
func (f flowClient) Running(ctx context.Context, name string) (bool, error) {
	flows, err := f.starting(ctx)
	if err != nil {
		return false, err
	}
	return flows.CrawlRuns(ctx, name)
}

// StartCrawl implements cli.Client.
func (f flowClient) StartCrawl(ctx context.Context, spec crawl.Spec) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode spec: %w", err)
	}
	flows, err := f.writing(ctx)
	if err != nil {
		return err
	}
	if err := flows.StartCrawl(ctx, spec.Name, text); !errors.Is(err, temporalkit.ErrRuns) {
		return err
	}
	return fmt.Errorf("crawl %s: %w", spec.Name, cli.ErrOvertaken)
}

// AddSeeds implements cli.Client.
func (f flowClient) AddSeeds(ctx context.Context, name string, seeds []string) (string, error) {
	return f.update(ctx, contract.CrawlID(name), contract.AddSeeds, contract.AddSeedsArg{Seeds: seeds})
}

// SetSpec implements cli.Client.
func (f flowClient) SetSpec(ctx context.Context, spec crawl.Spec, base int64) (string, error) {
	message, err := f.update(ctx, contract.CrawlID(spec.Name), contract.SetSpec, spec, contract.SpecBase{Generation: base})
	if app := new(temporal.ApplicationError); errors.As(err, &app) && app.Type() == contract.ErrTypeSpecChanged {
		return "", fmt.Errorf("crawl %s: %w", spec.Name, cli.ErrOvertaken)
	}
	return message, err
}

// ChangeCrawl implements cli.Client.
func (f flowClient) ChangeCrawl(ctx context.Context, name string, change cli.Change) (string, error) {
	return f.update(ctx, contract.CrawlID(name), string(change))
}

// ChangePage implements cli.Client.
func (f flowClient) ChangePage(ctx context.Context, page store.PageRecord, change cli.PageChange, arg string) (string, error) {
	var args any
	if arg != "" {
		args = contract.DurationArg(arg)
	}
	flows, err := f.writing(ctx)
	if err != nil {
		return "", err
	}
	ack, err := flows.UpdatePage(ctx, activities.NewPageIn(page), string(change), args)
	return ack.Message, err
}

// AskVisit implements cli.Client.
func (f flowClient) AskVisit(ctx context.Context, page store.PageRecord) error {
	flows, err := f.writing(ctx)
	if err != nil {
		return err
	}
	return flows.AskPage(ctx, activities.NewPageIn(page))
}

// sinkLimit is how long a command to a sink may take: a delivery under way ends first, and a
// receiver may take its time to answer.
const sinkLimit = 2 * time.Minute

// CommandSink implements cli.Client.
func (f flowClient) CommandSink(ctx context.Context, c store.CrawlRecord, name string, command cli.SinkCommand, replay cli.SinkReplay) (cli.SinkAnswer, error) {
	flows, err := f.writing(ctx)
	if err != nil {
		return cli.SinkAnswer{}, err
	}
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

func (f flowClient) update(ctx context.Context, id, name string, args ...any) (string, error) {
	flows, err := f.writing(ctx)
	if err != nil {
		return "", err
	}
	ack, err := flows.Update(ctx, id, name, args...)
	if errors.Is(err, temporalkit.ErrNoWorkflow) {
		return "", fmt.Errorf("%w: %w", err, store.ErrNotFound)
	}
	return ack.Message, err
}
