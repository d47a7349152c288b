package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/internal/care"
	"recrawl/internal/cli"
	"recrawl/internal/contract"
	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// tellLimit is how long a workflow may take to answer a command that is already in
// effect.
const tellLimit = 30 * time.Second

// commanded are the states that commands put a crawl in, with their answers.
var commanded = map[cli.Change]struct {
	state  crawl.CrawlState
	answer string
}{
	cli.Pause:  {crawl.CrawlPaused, "paused: no request begins until it is resumed"},
	cli.Resume: {crawl.CrawlRunning, "running: pages that came due meanwhile are being woken"},
	cli.Stop:   {crawl.CrawlStopped, "stopped: no further request begins; its pages are being closed"},
}

// ChangeCrawl implements cli.Backend.
func (b Backend) ChangeCrawl(ctx context.Context, at cli.Target, name string, change cli.Change) (string, error) {
	rec, err := b.setState(ctx, at, name, change)
	written := err == nil
	if errors.Is(err, cli.ErrNoStoreThere) { // the crawl of that name is another store's
		return "", err
	}
	if errors.Is(err, errStopped) && change == cli.Stop {
		return fmt.Sprintf("crawl %s is stopped", name), nil
	}
	if errors.Is(err, errStopped) {
		return "", fmt.Errorf("crawl %s is stopped: `starter crawl %s` starts it again", name, name)
	}
	if errors.Is(err, store.ErrNotFound) && change == cli.Stop {
		if ended, endErr := b.endUnread(ctx, at, name); endErr != nil || ended {
			return fmt.Sprintf("crawl %s is ended: no worker had the key to read it, and nothing of it is in the store", name), endErr
		}
	}
	told, tellErr := b.tell(ctx, at, name, rec, written, change)
	switch {
	case tellErr == nil:
		return told, nil
	case !written && errors.Is(tellErr, store.ErrNotFound):
		return "", err // no crawl, or a store with an error
	case written && change != cli.Rank && ctx.Err() == nil:
		return fmt.Sprintf("%s; its workflow hears of it later: %v", commanded[change].answer, tellErr), nil
	}
	return "", tellErr
}

// errStopped: the crawl is stopped, so nothing else can be asked of it.
var errStopped = errors.New("stopped")

// setState writes the command's new state into the store, where it takes effect with
// the next request.
func (Backend) setState(ctx context.Context, at cli.Target, name string, change cli.Change) (rec store.CrawlRecord, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeLimit)
	defer cancel()
	s, err := openStore(ctx, at.Store, storeWrite, "")
	if err != nil {
		return rec, fmt.Errorf("cannot open the store: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if rec, err = s.Crawl(ctx, name); err != nil {
		return rec, err
	}
	if rec.State == crawl.CrawlStopped {
		return rec, errStopped
	}
	if to, ok := commanded[change]; ok {
		return s.SetCrawlState(ctx, name, to.state)
	}
	return rec, nil
}

// endUnread ends the workflow of a crawl that is not in the store if somebody has started it with
// a key that the workers lack. It reports whether it did.
func (b Backend) endUnread(ctx context.Context, at cli.Target, name string) (bool, error) {
	c, err := b.dial(ctx, at)
	if err != nil {
		return false, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	flows, err := newFlowClient(c, at.Temporal).starting(ctx)
	if err != nil {
		return false, err
	}
	return flows.EndUnread(ctx, name)
}

// dial connects a command to Temporal. If there is none, it says where it looked.
func (Backend) dial(ctx context.Context, at cli.Target) (client.Client, error) {
	c, err := dialTemporal(ctx, at.Temporal)
	if err != nil && at.Data != "" {
		err = fmt.Errorf("%w; this is where the last `starter dev` in %s had it: is it running?", err, at.Data)
	}
	return c, err
}

// tell tells the crawl's workflow, or starts it if it is gone and the store has the crawl.
func (b Backend) tell(ctx context.Context, at cli.Target, name string, rec store.CrawlRecord, known bool, change cli.Change) (string, error) {
	c, err := b.dial(ctx, at)
	if err != nil {
		return "", err
	}
	defer c.Close()
	asking, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	flows := newFlowClient(c, at.Temporal)
	if _, err := flows.Running(asking, name); err != nil { // it is another store's
		return "", unanswered(ctx, asking, err)
	}
	told, err := flows.ChangeCrawl(asking, name, change)
	err = unanswered(ctx, asking, err)
	if !known || !errors.Is(err, store.ErrNotFound) {
		return told, err
	}
	answer := commanded[change].answer
	var more func(*contract.CrawlProgress)
	if change == cli.Rank {
		answer = "the pages are being ranked"
		more = func(p *contract.CrawlProgress) { p.Rank = &crawl.Reason{Code: contract.RankAsked} }
	}
	starting, err := flows.writing(asking)
	if err != nil {
		return "", err
	}
	if err := care.Restart(asking, starting, rec, false, more); err != nil {
		return "", err
	}
	return answer + "; its workflow was gone, and was started anew", nil
}

// unanswered says in words that nobody answered within tellLimit, if that is what an error means.
func unanswered(ctx, asking context.Context, err error) error {
	if err == nil || ctx.Err() != nil || asking.Err() == nil {
		return err
	}
	return fmt.Errorf("no answer within %s: is a worker running, and does the store answer?", tellLimit)
}
