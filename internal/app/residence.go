package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"go.temporal.io/sdk/client"

	"recrawl/internal/contract"
	"recrawl/internal/residence"
	"recrawl/internal/store"
	"recrawl/internal/temporalkit"
)

const (
	// residenceEvery is about how often a worker checks whether its store is still the
	// one of the workflows that it polls for, and idleEvery how often it checks again
	// while it is not.
	residenceEvery = 30 * time.Second
	idleEvery      = 5 * time.Second
	// residenceLimit bounds one check.
	residenceLimit = 20 * time.Second
)

// homeStore is the part of a store that knows its home.
type homeStore interface {
	store.Identity
	ListCrawls(ctx context.Context) ([]store.CrawlRecord, error)
}

// resident is a store at a place in Temporal.
type resident struct {
	client    client.Client
	store     homeStore
	namespace string
	queue     string // as the operator set it; "" means the store's, or the default
}

// place returns where the store's workflows would be polled for, and its home.
func (r resident) place(ctx context.Context) (place, home store.Home, err error) {
	if home, err = r.store.Home(ctx); err != nil {
		return place, home, err
	}
	place = store.Home{Namespace: r.namespace, TaskQueue: cmp.Or(r.queue, home.TaskQueue, contract.TaskQueue), Ended: home.Ended}
	place.NamespaceID, err = temporalkit.NamespaceID(ctx, r.client, r.namespace)
	return place, home, err
}

// crawlsIn returns the crawls that run in a task queue, and those of them whose data is
// encrypted with a key that we lack.
func crawlsIn(ctx context.Context, c client.Client, namespace, queue string) (crawls []residence.Crawl, locked []residence.Locked, err error) {
	open, err := temporalkit.OpenCrawls(ctx, c, namespace)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range open {
		switch {
		case c.TaskQueue != queue:
		case c.Locked != nil:
			locked = append(locked, residence.Locked{Name: c.Name, Err: c.Locked})
		default:
			crawls = append(crawls, residence.Crawl{Name: c.Name, Store: c.Store, Opened: c.Opened})
		}
	}
	return crawls, locked, nil
}

// ask returns what is known about a place. Its home is that of the store before it is settled.
func (r resident) ask(ctx context.Context, place, home store.Home) (q residence.Question, err error) {
	q = residence.Question{Store: r.store.ID(), Home: home, Place: place}
	if q.Crawls, q.Locked, err = crawlsIn(ctx, r.client, r.namespace, place.TaskQueue); err != nil {
		return q, err
	}
	known, err := r.store.ListCrawls(ctx)
	for _, c := range known {
		q.Known = append(q.Known, c.Spec.Name)
	}
	return q, err
}

// look decides whether to poll, and sets the home of a store that has none. home is
// the resulting place.
func (r resident) look(ctx context.Context) (residence.Answer, store.Home, error) {
	ctx, cancel := context.WithTimeout(ctx, residenceLimit)
	defer cancel()
	place, home, err := r.place(ctx)
	if err != nil {
		return residence.Answer{}, home, err
	}
	q, err := r.ask(ctx, place, home)
	if err != nil {
		return residence.Answer{}, home, err
	}
	answer := residence.Decide(q)
	if !answer.Settle {
		return answer, home, nil
	}
	if q.Home, err = r.store.SetHome(ctx, place, false); err != nil {
		return residence.Answer{}, home, err
	}
	return residence.Decide(q), q.Home, nil // another process may have set it to another place
}

// work runs a worker at its store's home until ctx ends; strange is called when something
// belongs to another store.
type work func(ctx context.Context, home store.Home, strange func(store string)) error

// keepWorking works whenever the store is that of the place's workflows, until ctx ends.
// Otherwise it says why not, in the log and by note.
func (r resident) keepWorking(ctx context.Context, do work, note func(ctx context.Context, held string), log *slog.Logger) error {
	var said string
	var noted time.Time
	leave := func() {}
	defer func() { leave() }()
	for ctx.Err() == nil {
		answer, home, err := r.look(ctx)
		if err == nil && answer.Poll {
			said = ""
			leave()
			leave = func() {}
			if err := r.workAt(ctx, home, do, log); err != nil {
				return err
			}
			continue
		}
		reason := answer.Reason
		if err != nil {
			reason = "it cannot be told whose workflows these are: " + err.Error()
		}
		if ctx.Err() == nil && reason != said {
			log.Error("the worker takes up nothing", "reason", reason)
			leave()
			if leave = func() {}; err == nil {
				leave = r.show(ctx, cmp.Or(r.queue, home.TaskQueue, contract.TaskQueue), log)
			}
		}
		if reason != said || time.Since(noted) > noteEvery {
			note(ctx, reason)
			said, noted = reason, time.Now()
		}
		select {
		case <-time.After(jittered(idleEvery)):
		case <-ctx.Done():
		}
	}
	return nil
}

// show shows the workers on the queue that somebody waits there, until leave.
func (r resident) show(ctx context.Context, queue string, log *slog.Logger) (leave func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if err := temporalkit.StandInLobby(ctx, r.client, r.namespace, queue, workerName(), r.store.ID()); err != nil {
				log.Debug("nobody is told that this worker waits", "error", err)
			}
			select {
			case <-time.After(jittered(time.Second)):
			case <-ctx.Done():
			}
		}
	}()
	return func() { cancel(); <-done }
}

// workAt works until ctx ends or the store turns out not to be that of the place's
// workflows.
func (r resident) workAt(ctx context.Context, home store.Home, do work, log *slog.Logger) error {
	ctx, cancel := context.WithCancel(ctx)
	hint, watched := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(watched)
		defer cancel()
		r.watch(ctx, home, hint, log)
	}()
	defer func() { cancel(); <-watched }()
	return do(ctx, home, func(string) {
		select {
		case hint <- struct{}{}:
		default: // it is about to look
		}
	})
}

// watch returns when the worker must not poll any more, or its home has changed. It
// checks now and then, and when something of another store was taken up.
func (r resident) watch(ctx context.Context, home store.Home, hint <-chan struct{}, log *slog.Logger) {
	for ctx.Err() == nil {
		select {
		case <-time.After(jittered(residenceEvery)):
		case <-hint:
		case <-ctx.Done():
			return
		}
		answer, now, err := r.look(ctx)
		switch {
		case err != nil:
			log.Debug("it cannot be told whose workflows these are", "error", err) // as it was then
		case !answer.Poll || now.String() != home.String() || len(now.Ended) != len(home.Ended):
			return
		}
		select { // something of another store is a reason to check once every few seconds
		case <-time.After(jittered(idleEvery)):
		case <-ctx.Done():
		}
	}
}

// atHome returns an error if the workflows of a store are not in a namespace: a command that starts or
// removes many there would do so to another store's of the same names.
func atHome(ctx context.Context, c client.Client, s store.Identity, namespace string) error {
	home, err := s.Home(ctx)
	if err != nil || home.IsZero() {
		return err
	}
	id, err := temporalkit.NamespaceID(ctx, c, namespace)
	if err != nil {
		return err
	}
	return notAtHome(s.ID(), home, namespace, id)
}

// notAtHome is the error for a store whose home is another namespace than this one, nil if it is this.
func notAtHome(id string, home store.Home, namespace, namespaceID string) error {
	if namespaceID == home.NamespaceID {
		return nil
	}
	return fmt.Errorf("the workflows of store %s are in namespace %s (id %s), and this is namespace %s (id %s): set TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE to theirs or, if that one is gone, run `%s` first",
		id, home.Namespace, home.NamespaceID, namespace, namespaceID, residence.Adopt)
}

// jittered is a time of about d, so that a fleet does not ask at once.
func jittered(d time.Duration) time.Duration {
	return d/2 + rand.N(d)
}
