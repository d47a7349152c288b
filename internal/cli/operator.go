package cli

import (
	"context"
	"errors"
	"fmt"

	"recrawl/internal/config"
	"recrawl/internal/crawl"
	"recrawl/internal/report"
	"recrawl/internal/sink"
	"recrawl/internal/store"
)

// Operator carries out an operator's commands for pages and sinks, from the command
// line or from the page for operators. Its answers confirm the request, in words.
type Operator struct {
	Backend Backend
	At      Target
	// Dial, unless nil, connects to Temporal instead of Backend.DialTemporal.
	Dial func(ctx context.Context) (Client, error)
}

func (s *session) operator() Operator { return Operator{Backend: s.env.Backend, At: s.target()} }

// withStore opens the store for as long as do runs.
func (o Operator) withStore(ctx context.Context, do func(Opened) error) error {
	if o.At.Store == "" {
		return usage(config.ErrNoStore)
	}
	opened, err := o.Backend.OpenStore(ctx, o.At.Store)
	if err != nil {
		return fmt.Errorf("cannot open the store: %w", err)
	}
	return errors.Join(do(opened), opened.Close())
}

// withTemporal connects to Temporal for as long as do runs.
func (o Operator) withTemporal(ctx context.Context, do func(Client) error) error {
	client, err := o.dial(ctx)
	if err != nil && o.At.Data != "" {
		return fmt.Errorf("%w; this is where the last `starter dev` in %s had it: is it running?", err, o.At.Data)
	}
	if err != nil {
		return err
	}
	defer client.Close()
	return do(client)
}

func (o Operator) dial(ctx context.Context) (Client, error) {
	if o.Dial != nil {
		return o.Dial(ctx)
	}
	return o.Backend.DialTemporal(ctx, o.At.Temporal)
}

// ChangePage sends a request to a page's workflow; arg is its duration, if it has one.
// Asking for a visit brings back a page that is stopped.
func (o Operator) ChangePage(ctx context.Context, page store.PageRecord, change PageChange, arg string) (message string, err error) {
	if page, err = o.living(ctx, page, change); err != nil {
		return "", err
	}
	err = o.withTemporal(ctx, func(client Client) (err error) {
		message, err = client.ChangePage(ctx, page, change, arg)
		return err
	})
	if err == nil && change == VisitNow {
		message += o.hindrance(ctx, page)
	}
	return message, err
}

// hindrance is an addition to the promise of a visit that cannot be made now. The
// person gets an answer without it too.
func (o Operator) hindrance(ctx context.Context, page store.PageRecord) string {
	why := ""
	err := o.withStore(ctx, func(opened Opened) (err error) {
		why, err = report.Reporter{Store: opened.Store}.Hindrance(ctx, page)
		return err
	})
	if err != nil || why == "" {
		return ""
	}
	return " (" + why + ")"
}

// living returns a page whose workflow may be asked for a change.
func (o Operator) living(ctx context.Context, page store.PageRecord, change PageChange) (store.PageRecord, error) {
	switch {
	case page.State.Lives():
		return page, nil
	case page.State == crawl.Stopped && change == VisitNow:
		return o.Backend.RevivePage(ctx, o.At, page)
	case page.State == crawl.Stopped && change == StopPage:
		return page, fmt.Errorf("%s is stopped already: `starter visit` brings it back", page.URL)
	case page.State == crawl.Stopped:
		return page, fmt.Errorf("%s is stopped: `starter visit` brings it back", page.URL)
	case page.State == crawl.Known:
		return page, fmt.Errorf("%s is known, and waits to be taken into the collection: `starter explain` says more", page.URL)
	}
	return page, fmt.Errorf("%s is %s, and not in the collection: `starter explain` says more", page.URL, page.State)
}

// retryBatch is how many pages are read at a time.
const retryBatch = 500

// Retry asks for a visit of each page of a crawl that is in one of the states, failing if
// none is given, and of the host, if one is given.
func (o Operator) Retry(ctx context.Context, name string, states []crawl.PageState, host string) (string, error) {
	if len(states) == 0 {
		states = []crawl.PageState{crawl.Failing}
	}
	if host != "" {
		key, err := hostKey(host)
		if err != nil {
			return "", err
		}
		host = key
	}
	asked := 0
	err := o.withStore(ctx, func(opened Opened) error {
		record, err := opened.Crawl(ctx, name)
		if err != nil {
			return orNoCrawl(name, err)
		}
		filter := store.PageFilter{CrawlID: record.ID, States: states, Host: host, Limit: retryBatch}
		return o.withTemporal(ctx, func(client Client) error {
			asked, err = o.askVisits(ctx, opened, client, filter)
			return err
		})
	})
	return fmt.Sprintf("asked for %s, as soon as the hosts allow", count(asked, "visit")), err
}

// askVisits asks for a visit of each page that passes the filter and lives, or was
// stopped.
func (o Operator) askVisits(ctx context.Context, opened Opened, client Client, filter store.PageFilter) (asked int, err error) {
	for {
		pages, err := opened.ListPages(ctx, filter)
		if err != nil || len(pages) == 0 {
			return asked, err
		}
		for _, p := range pages {
			if !p.State.Lives() && p.State != crawl.Stopped {
				continue
			}
			p, err := o.living(ctx, p, VisitNow)
			if err == nil {
				err = client.AskVisit(ctx, p)
			}
			if err != nil {
				return asked, fmt.Errorf("after %d pages: %w", asked, err)
			}
			asked++
		}
		filter.After = pages[len(pages)-1].PageID
	}
}

// CommandSink sends a command to the workflow of a crawl's sink.
func (o Operator) CommandSink(ctx context.Context, crawlName, sink string, command SinkCommand, replay SinkReplay) (string, error) {
	answer, err := o.commandSink(ctx, crawlName, sink, command, replay)
	if err != nil {
		return "", err
	}
	return answer.result()
}

func (o Operator) commandSink(ctx context.Context, crawlName, sink string, command SinkCommand, replay SinkReplay) (answer SinkAnswer, err error) {
	var record store.CrawlRecord
	err = o.withStore(ctx, func(opened Opened) (err error) {
		record, err = opened.Crawl(ctx, crawlName)
		return orNoCrawl(crawlName, err)
	})
	if err != nil {
		return answer, err
	}
	if err := (sinkArgs{Name: crawlName, Sink: sink}).check(record); err != nil {
		return answer, err
	}
	err = o.withTemporal(ctx, func(client Client) (err error) {
		answer, err = client.CommandSink(ctx, record, sink, command, replay)
		return err
	})
	return answer, err
}

// replayedMost is how many undelivered changes one command sends.
const replayedMost = 100

// ReplayFailed sends a sink's undelivered changes again, the oldest first. A command has little
// time and takes some of them, so it is repeated from where the last one came to.
func (o Operator) ReplayFailed(ctx context.Context, crawlName, sinkName string) (string, error) {
	var total sink.Replayed
	for {
		ids, err := o.undelivered(ctx, crawlName, sinkName, total.Through)
		if err == nil && len(ids) == 0 {
			total.Left = 0
			return replayedAll(total)
		}
		var answer SinkAnswer
		if err == nil {
			answer, err = o.commandSink(ctx, crawlName, sinkName, ReplaySink, SinkReplay{Changes: ids})
		}
		switch {
		case err != nil && total.Through > 0:
			return "", fmt.Errorf("%s; then: %w", total.Words(), err)
		case err != nil:
			return "", err
		case answer.Replayed == nil:
			return answer.result()
		}
		before := total.Through
		total = total.Then(*answer.Replayed)
		if total.Halted || total.Through <= before {
			return replayedAll(total)
		}
	}
}

// replayedAll reports the result of a replay of all undelivered changes.
func replayedAll(r sink.Replayed) (string, error) {
	if r == (sink.Replayed{}) {
		return "nothing is undelivered", nil
	}
	return SinkAnswer{Message: r.Words(), Failed: r.Failed()}.result()
}

// undelivered are the oldest undelivered changes after one.
func (o Operator) undelivered(ctx context.Context, crawlName, sink string, after int64) (ids []int64, err error) {
	err = o.withStore(ctx, func(opened Opened) error {
		record, err := opened.Crawl(ctx, crawlName)
		if err != nil {
			return orNoCrawl(crawlName, err)
		}
		if err := (sinkArgs{Name: crawlName, Sink: sink}).check(record); err != nil {
			return err
		}
		failed, err := opened.Sinks.Undelivered(ctx, record.ID, sink, after, replayedMost)
		for _, u := range failed {
			ids = append(ids, u.ChangeID)
		}
		return err
	})
	return ids, err
}

// Live returns a page's workflow's view of itself.
func (o Operator) Live(ctx context.Context, page store.PageRecord) (live report.Live, err error) {
	err = o.withTemporal(ctx, func(client Client) (err error) {
		live, err = client.Explain(ctx, page)
		return err
	})
	return live, err
}
