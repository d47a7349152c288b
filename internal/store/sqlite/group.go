package sqlite

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
)

// One goroutine, serve, uses the writer's connection. It takes the requests of those who write
// and glance in the order in which they came, and makes groups of them: whoever waits when the
// one before is done joins its transaction, each writer within a savepoint, and all learn
// their result after one commit. A commit costs its sync, and makes every reader's connection
// forget all that it has read. Nor do the members hand the connection to each other: on a busy
// machine each of them would wait for a processor while it had it.

// mostMembers bounds a group, so that the first members need not wait for ever.
const mostMembers = 32

// request is somebody's wish to use the writer's connection.
type request struct {
	kind kind
	fn   func(sqlstore.Tx) error
	tx   *tx
	// alone is called instead of fn, outside of any transaction.
	alone func() error

	state    atomic.Int32  // waiting, begun or withdrawn
	done     chan struct{} // closed when err and panicked are known
	err      error
	panicked any
}

const (
	waiting int32 = iota
	begun
	withdrawn
)

// kind says what a request's transaction must be. One of a kind will also do for the kinds
// before it. What a glance reads may be uncommitted, since it is over only after the commit.
type kind int

const (
	glances kind = iota
	writesLazily
	writesDurably
)

func (r *request) end(err error) {
	r.err = err
	close(r.done)
}

// ask has a request served and waits for its result. A request that has begun is not
// interrupted: the caller learns whether it was committed.
func (e *engine) ask(ctx context.Context, r *request) error {
	r.done = make(chan struct{})
	select {
	case e.requests <- r:
	case <-e.closed:
		return e.closedError()
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.done:
	case <-ctx.Done():
		if r.state.CompareAndSwap(waiting, withdrawn) {
			return ctx.Err()
		}
		<-r.done
	}
	if r.panicked != nil {
		panic(r.panicked)
	}
	return r.err
}

// serve serves requests until the engine is closed.
func (e *engine) serve() {
	defer close(e.served)
	for {
		select {
		case r := <-e.requests:
			for r != nil {
				r = e.serveGroup(r)
			}
		case <-e.closed:
			return
		}
	}
}

// group is an open transaction.
type group struct {
	kind    kind
	members []*request // who wait for the commit
	over    bool       // SQLite has taken the transaction back
}

// serveGroup serves a request, and those that wait and can join it. It returns one that
// cannot, nil for none.
func (e *engine) serveGroup(r *request) *request {
	if r.alone != nil {
		if r.state.CompareAndSwap(waiting, begun) {
			r.end(r.alone())
		}
		return nil
	}
	if r.kind != glances {
		if e.yields {
			e.yield()
		}
		if err := e.keepTime(); err != nil {
			r.end(e.translate(err))
			return nil
		}
	}
	g := &group{kind: r.kind}
	if err := e.begin(g.kind); err != nil {
		r.end(e.translate(err))
		return nil
	}
	if began := time.Now(); g.kind != glances {
		defer func() { e.freeFrom = time.Now().Add(min(time.Since(began), longestYield)) }()
	}
	for {
		if r.state.CompareAndSwap(waiting, begun) {
			e.join(g, r)
		}
		if g.over {
			return nil
		}
		if len(g.members) == mostMembers {
			return e.settle(g)
		}
		select {
		case r = <-e.requests:
			if r.alone != nil || r.kind > g.kind {
				e.settle(g)
				return r
			}
		default:
			return e.settle(g)
		}
	}
}

// longestYield bounds how long an engine leaves the file to others.
const longestYield = time.Second

// yield leaves the file to its owner for as long as the last transaction took. Processes do not
// queue for a SQLite file: who waits looks now and then whether it is free, and one that begins its
// next transaction at once takes it again and again. Beside a deletion, the owner's writes took
// 200 ms each, and up to two seconds.
func (e *engine) yield() {
	rest := time.Until(e.freeFrom)
	if rest <= 0 {
		return
	}
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.closed:
	}
}

func (e *engine) begin(k kind) error {
	if k == glances {
		return e.writer.control("BEGIN")
	}
	commits := full
	if k == writesLazily {
		commits = lazy
	}
	if err := e.writer.commitsAre(commits); err != nil {
		return err
	}
	return e.writer.control("BEGIN IMMEDIATE")
}

// join runs a request in a group. If it fails, the group is as if it had never been.
func (e *engine) join(g *group, r *request) {
	writes := r.kind != glances
	if writes {
		if err := e.writer.control("SAVEPOINT member"); err != nil {
			r.end(e.translate(err))
			return
		}
	}
	err := e.call(r)
	if err == nil && writes {
		err = e.writer.control("RELEASE member")
	}
	if err == nil {
		g.members = append(g.members, r)
		return
	}
	if writes && e.takeBack() != nil {
		// After some errors, such as that of a full disk, SQLite itself takes everything back.
		e.writer.rollback()
		e.endAll(g, fmt.Errorf("%s: the transaction ended with that of another writer: %w", e.path, store.ErrUnavailable))
	}
	r.end(e.translate(err))
}

// call runs a request's function. Its panic is its caller's.
func (e *engine) call(r *request) (err error) {
	defer func() {
		if r.panicked = recover(); r.panicked != nil {
			err = fmt.Errorf("panic: %v", r.panicked)
		}
	}()
	return r.fn(r.tx)
}

func (e *engine) takeBack() error {
	if err := e.writer.control("ROLLBACK TO member"); err != nil {
		return err
	}
	return e.writer.control("RELEASE member")
}

// settle commits a group. It returns nil, for its caller's convenience.
func (e *engine) settle(g *group) *request {
	err := e.writer.control("COMMIT")
	if err != nil {
		e.writer.rollback()
	}
	e.endAll(g, e.translate(err))
	return nil
}

func (e *engine) endAll(g *group, err error) {
	g.over = true
	for _, r := range g.members {
		r.end(err)
	}
}
