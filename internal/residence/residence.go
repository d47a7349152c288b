// Package residence decides whether a worker may poll: whether the workflows of the
// place that it would poll are those of its store. It is pure.
package residence

import (
	"fmt"
	"slices"

	"recrawl/internal/store"
)

// Adopt is the command that makes a place a store's home.
const Adopt = "starter adopt"

// Question is what is known when a worker is about to poll.
type Question struct {
	Store string     // the identity of the worker's store
	Home  store.Home // where the store says that its workflows live
	Place store.Home // where the worker would poll
	// Crawls are those that run in the place's task queue.
	Crawls []Crawl
	// Locked are those that run there too and cannot be read, because a key is missing.
	Locked []Locked
	// Known are the names of the store's crawls.
	Known []string
}

// Locked is a Crawl workflow that runs and whose data we cannot read.
type Locked struct {
	Name string
	Err  error // which key is missing
}

// Crawl is a Crawl workflow that runs.
type Crawl struct {
	Name   string
	Store  string // "" if it does not know
	Opened bool   // it is in a store, whichever
}

// Answer says whether the worker may poll.
type Answer struct {
	Poll bool
	// Settle: the store has no home yet, and the place is to become it.
	Settle bool
	// Reason says in words why not, and what to do.
	Reason string
}

// Decide answers.
//
// A copy of a store has the home of its original, and is found out by the place. A new
// store, or one that stands beside another, is found out by the crawls. A store that has
// a crawl there itself goes on: which of two is right cannot be told, and each leaves
// the other's alone.
func Decide(q Question) Answer {
	switch {
	case !q.Home.IsZero() && q.Home.NamespaceID != q.Place.NamespaceID:
		return refuse("store %s belongs to namespace %s (id %s), and this is namespace %s (id %s): a copy must not crawl beside its original; if that namespace is gone, or this copy is to live here, run `%s`",
			q.Store, q.Home.Namespace, q.Home.NamespaceID, q.Place.Namespace, q.Place.NamespaceID, Adopt)
	case !q.Home.IsZero() && q.Home.TaskQueue != q.Place.TaskQueue:
		return refuse("the workflows of store %s are on the task queue %s, and this worker is for %s: set RECRAWL_TASK_QUEUE=%s, or, when no workflow is left there, run `%s`",
			q.Store, q.Home.TaskQueue, q.Place.TaskQueue, q.Home.TaskQueue, Adopt)
	}
	if err := q.Unreadable(); err != nil {
		return Answer{Reason: err.Error()}
	}
	own := slices.ContainsFunc(q.Crawls, func(c Crawl) bool { return c.Store == q.Store })
	foreign := slices.IndexFunc(q.Crawls, q.foreign)
	if own || foreign < 0 {
		return Answer{Poll: true, Settle: q.Home.IsZero()}
	}
	c := q.Crawls[foreign]
	whose := "store " + c.Store
	if c.Store == "" {
		whose = "another store"
	}
	return refuse("crawl %s of namespace %s (task queue %s) is of %s, and this worker has store %s: give it that store, or a namespace or task queue of its own; if %s is gone, run `%s`",
		c.Name, q.Place.Namespace, q.Place.TaskQueue, whose, q.Store, whose, Adopt)
}

// Unreadable is an error that names a crawl whose key must be added before anything else, nil if
// there is none. What cannot be read does not say whose it is. If the store does not know the
// name, and another crawl of the store can be read, somebody has started it with a key of their
// own, and it disturbs nobody.
func (q Question) Unreadable() error {
	if err := q.UnreadableKnown(); err != nil || len(q.Locked) == 0 || slices.ContainsFunc(q.Crawls, q.ours) {
		return err
	}
	return unreadable(q.Locked[0])
}

// UnreadableKnown is Unreadable where only the store's own crawls count.
func (q Question) UnreadableKnown() error {
	for _, c := range q.Locked {
		if slices.Contains(q.Known, c.Name) {
			return unreadable(c)
		}
	}
	return nil
}

func unreadable(c Locked) error { return fmt.Errorf("crawl %s cannot be read: %w", c.Name, c.Err) }

// ours reports whether a crawl belongs to the store, as far as is known.
func (q Question) ours(c Crawl) bool {
	if c.Store == "" {
		return slices.Contains(q.Known, c.Name)
	}
	return q.Store == "" || c.Store == q.Store
}

// foreign reports whether a crawl belongs to another store. A crawl from before stores had an
// identity does not say, but only its own store knows its name.
func (q Question) foreign(c Crawl) bool {
	if c.Store == "" {
		return c.Opened && !slices.Contains(q.Known, c.Name)
	}
	return c.Store != q.Store && !q.Home.HasEnded(c.Store)
}

// Others are the stores that have crawls in a place, besides one's own.
func Others(own string, crawls []Crawl) []string {
	var others []string
	for _, c := range crawls {
		if c.Store != "" && c.Store != own && !slices.Contains(others, c.Store) {
			others = append(others, c.Store)
		}
	}
	slices.Sort(others)
	return others
}

func refuse(format string, args ...any) Answer { return Answer{Reason: fmt.Sprintf(format, args...)} }
