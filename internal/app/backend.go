package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"recrawl/activities"
	"recrawl/internal/archive"
	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

// Backend is what the starter's commands need done.
type Backend struct{}

var _ cli.Backend = Backend{}

// storeLimit bounds the opening of a store that a person waits for.
const storeLimit = 10 * time.Second

// OpenStore implements cli.Backend.
func (Backend) OpenStore(ctx context.Context, dsn string) (store.Store, error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	return openStore(ctx, dsn, storeRead, "")
}

// OpenArchive implements cli.Backend.
func (Backend) OpenArchive(ctx context.Context, url string) (archive.Store, error) {
	return openArchive(ctx, url, storeRead)
}

// DialTemporal implements cli.Backend.
func (Backend) DialTemporal(ctx context.Context, o cli.TemporalOptions) (cli.Client, error) {
	c, err := temporalkit.Dial(ctx, temporalkit.Options{Address: o.Address, Namespace: o.Namespace})
	if err != nil {
		return nil, err
	}
	return flowClient{temporalkit.Workflows{Client: c}}, nil
}

// flowClient implements cli.Client on workflows.
type flowClient struct {
	flows temporalkit.Workflows
}

// Running implements cli.Client.
func (f flowClient) Running(ctx context.Context, name string) (bool, error) {
	return f.flows.Running(ctx, contract.CrawlID(name))
}

// StartCrawl implements cli.Client.
func (f flowClient) StartCrawl(ctx context.Context, spec crawl.Spec) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode spec: %w", err)
	}
	return f.flows.StartCrawl(ctx, spec.Name, text)
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
	ack, err := f.flows.UpdatePage(ctx, activities.NewPageIn(page), string(change), args)
	return ack.Message, err
}

// AskVisit implements cli.Client.
func (f flowClient) AskVisit(ctx context.Context, page store.PageRecord) error {
	return f.flows.AskPage(ctx, activities.NewPageIn(page))
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
