package app

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/internal/cli"
	"recrawl/internal/report"
	"recrawl/internal/store"
	"recrawl/internal/web"
)

// webCommands are the commands behind the page's buttons: the starter's commands.
type webCommands struct {
	operator cli.Operator
	jobs     *jobs
}

var _ web.Commands = webCommands{}

// repairChange is the change that checks all pages of a crawl.
const repairChange = "repair"

// ChangeCrawl implements web.Commands.
func (c webCommands) ChangeCrawl(ctx context.Context, crawl, change string) (string, error) {
	if change != repairChange {
		return c.operator.Backend.ChangeCrawl(ctx, c.operator.At, crawl, cli.Change(change))
	}
	return c.jobs.do(ctx, job{crawl, "the repair of " + crawl}, func(ctx context.Context, say func(string)) (string, error) {
		done, err := c.operator.Backend.Repair(ctx, c.operator.At, crawl, func(r cli.Repaired) {
			say(fmt.Sprintf("%d of %d pages looked at", r.Pages, r.Of))
		})
		return done.String(), err
	})
}

// ChangePage implements web.Commands.
func (c webCommands) ChangePage(ctx context.Context, page store.PageRecord, change, arg string) (string, error) {
	return c.operator.ChangePage(ctx, page, cli.PageChange(change), arg)
}

// Retry implements web.Commands.
func (c webCommands) Retry(ctx context.Context, crawl, host string) (string, error) {
	return c.jobs.do(ctx, retryOf(crawl, host), func(ctx context.Context, _ func(string)) (string, error) {
		return c.operator.Retry(ctx, crawl, nil, host)
	})
}

// retryOf is the job of a retry. That of one host does not stand for another's.
func retryOf(crawl, host string) job {
	if host != "" {
		return job{crawl, "the retry of " + crawl + " at " + host}
	}
	return job{crawl, "the retry of " + crawl}
}

// CommandSink implements web.Commands.
func (c webCommands) CommandSink(ctx context.Context, crawl, sink, command, after string) (string, error) {
	return c.operator.CommandSink(ctx, crawl, sink, cli.SinkCommand(command), cli.SinkReplay{After: after})
}

// ReplayFailed implements web.Commands.
func (c webCommands) ReplayFailed(ctx context.Context, crawl, sink string) (string, error) {
	return c.jobs.do(ctx, job{crawl, "the replay of what " + sink + " could not deliver"}, func(ctx context.Context, _ func(string)) (string, error) {
		return c.operator.ReplayFailed(ctx, crawl, sink)
	})
}

// SetBlocked implements web.Commands.
func (c webCommands) SetBlocked(ctx context.Context, host string, blocked bool) (string, error) {
	return c.operator.Backend.SetBlocked(ctx, c.operator.At, host, blocked)
}

// ReleaseTrap implements web.Commands.
func (c webCommands) ReleaseTrap(ctx context.Context, crawl, trap string) (string, error) {
	return c.jobs.do(ctx, job{crawl, "the release of " + trap}, func(ctx context.Context, _ func(string)) (string, error) {
		return c.operator.Backend.ReleaseTrap(ctx, c.operator.At, crawl, trap)
	})
}

// Doing implements web.Commands.
func (c webCommands) Doing(crawl string) []string { return c.jobs.of(crawl) }

// Live implements web.Commands.
func (c webCommands) Live(ctx context.Context, page store.PageRecord) (report.Live, error) {
	return c.operator.Live(ctx, page)
}

// jobs are commands that may take longer than a browser waits: they go on when it leaves,
// each once at a time, until the page's server ends.
type jobs struct {
	//nolint:containedctx // jobs outlive the requests that begin them
	ctx     context.Context
	stop    context.CancelFunc
	group   sync.WaitGroup
	mu      sync.Mutex
	running map[job]string // how far each has come, in words, "" if it has not said
	failed  map[job]failedJob
}

// failedJob is why a job failed that nobody waited for any more.
type failedJob struct {
	why string
	at  time.Time
}

// failureTold is for how long it is said.
const failureTold = time.Hour

// job names a command for people.
type job struct{ crawl, name string }

// words say how far a job has come.
func (j job) words(come string) string {
	if come == "" {
		return j.name + " is under way"
	}
	return j.name + " is under way: " + come
}

// jobPatience is how long the browser waits for a job's answer.
const jobPatience = 8 * time.Second

func newJobs(ctx context.Context) *jobs {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	return &jobs{ctx: ctx, stop: stop, running: map[job]string{}, failed: map[job]failedJob{}}
}

// do returns the result of the work, or that it goes on. The work says now and then how far
// it has come.
func (j *jobs) do(ctx context.Context, what job, work func(ctx context.Context, say func(string)) (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers, left := make(chan answer), make(chan struct{})
	defer close(left)
	if come, begun := j.begin(what); !begun {
		return what.words(come), nil
	}
	j.group.Go(func() {
		text, err := work(j.ctx, func(come string) { j.say(what, come) })
		j.end(what)
		select {
		case answers <- answer{text, err}:
		case <-left:
			j.fail(what, err)
		}
	})
	patience := time.NewTimer(jobPatience)
	defer patience.Stop()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-patience.C:
	case <-ctx.Done():
	}
	return what.name + " has begun and goes on", nil
}

// begin notes a job, unless it runs: then it returns how far it has come.
func (j *jobs) begin(what job) (come string, begun bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if come, runs := j.running[what]; runs {
		return come, false
	}
	j.running[what] = ""
	delete(j.failed, what)
	return "", true
}

// fail notes why a job failed, if it did, and not because the server ends.
func (j *jobs) fail(what job, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	maps.DeleteFunc(j.failed, func(_ job, f failedJob) bool { return time.Since(f.at) >= failureTold })
	if _, again := j.running[what]; err != nil && !again && j.ctx.Err() == nil {
		j.failed[what] = failedJob{err.Error(), time.Now()}
	}
}

func (j *jobs) say(what job, come string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.running[what] = come
}

func (j *jobs) end(what job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.running, what)
}

// of returns how far each job of a crawl has come, and which have failed, in words.
func (j *jobs) of(crawl string) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var all []string
	for what, come := range j.running {
		if what.crawl == crawl {
			all = append(all, what.words(come))
		}
	}
	for what, failed := range j.failed {
		if what.crawl == crawl && time.Since(failed.at) < failureTold {
			all = append(all, what.name+" failed: "+failed.why)
		}
	}
	slices.Sort(all)
	return all
}

// wait ends the jobs and waits for their end.
func (j *jobs) wait() {
	j.stop()
	j.group.Wait()
}

// keptTemporal is a connection to Temporal that is made when it is first needed, and kept.
type keptTemporal struct {
	dial    func(context.Context) (client.Client, error)
	options cli.TemporalOptions

	turn   chan struct{} // is full while somebody has the turn to use the rest
	client client.Client
	failed time.Time // the last try, if it failed
	err    error
	given  time.Duration // to the last try, if whoever made it gave up before its end
}

func newKeptTemporal(dial func(context.Context) (client.Client, error), o cli.TemporalOptions) *keptTemporal {
	return &keptTemporal{dial: dial, options: o, turn: make(chan struct{}, 1)}
}

// dialAgainAfter is how long a failure stands for further tries: pages must be shown while
// Temporal is away.
const dialAgainAfter = 10 * time.Second

// flows is the connection as the starter's commands use it.
func (k *keptTemporal) flows(ctx context.Context) (cli.Client, error) {
	c, err := k.connected(ctx)
	if err != nil {
		return nil, err
	}
	return keptClient{newFlowClient(c, k.options)}, nil
}

// connected is the connection itself. Nobody waits longer for another's try than for an own one.
func (k *keptTemporal) connected(ctx context.Context) (client.Client, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("ask Temporal: %w", ctx.Err())
	}
	if k.client == nil {
		if k.err != nil && time.Since(k.failed) < dialAgainAfter && !k.moreTime(ctx) {
			return nil, k.err
		}
		begun := time.Now()
		c, err := k.dial(ctx)
		if err != nil {
			k.err, k.failed, k.given = fmt.Errorf("ask Temporal: %w", err), time.Now(), 0
			if ctx.Err() != nil {
				k.given = max(time.Since(begun), 1)
			}
			return nil, k.err
		}
		k.client = c
	}
	return k.client, nil
}

// moreTime reports whether the last try ended early, and one with this context may take much
// longer: a page waits for part of a second, a button for as long as it takes.
func (k *keptTemporal) moreTime(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return k.given > 0 && (!limited || time.Until(deadline) > 2*k.given)
}

func (k *keptTemporal) close() {
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	if k.client != nil {
		k.client.Close()
	}
}

// keptClient is a connection that its users do not end.
type keptClient struct{ flowClient }

// Close implements cli.Client.
func (keptClient) Close() {}
