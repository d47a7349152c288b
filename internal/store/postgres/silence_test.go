//go:build unix

package postgres

import (
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"recrawl/internal/store"
	"recrawl/internal/store/sqlstore"
	"recrawl/internal/store/storetest/pgtest"
)

// firewall passes connections on to a server until it forgets them.
type firewall struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	known []*passage
}

// passage is a connection through a firewall.
type passage struct {
	client, server net.Conn
	forgotten      atomic.Bool
}

// behindFirewall returns the DSN that leads to a server through a firewall.
func behindFirewall(t *testing.T, dsn string) (*firewall, string) {
	t.Helper()
	at, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	f := &firewall{server: at.Host}
	if f.listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	at.Host = f.listener.Addr().String()
	t.Cleanup(f.close)
	go func() {
		for {
			client, err := f.listener.Accept()
			if err != nil {
				return
			}
			f.connect(t.Context(), client)
		}
	}()
	return f, at.String()
}

func (f *firewall) connect(ctx context.Context, client net.Conn) {
	server, err := (&net.Dialer{}).DialContext(ctx, "tcp", f.server)
	if err != nil {
		client.Close()
		return
	}
	p := &passage{client: client, server: server}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known = append(f.known, p)
	go p.pass(client, server)
	go p.pass(server, client)
}

// pass passes on what comes from one side, and that it ends, unless it is forgotten.
func (p *passage) pass(from, to net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if p.forgotten.Load() {
			return // what came is lost, and both sides stay open
		}
		if err == nil {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			from.Close()
			to.Close()
			return
		}
	}
}

// forget forgets all connections. Neither side is told.
func (f *firewall) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.known {
		p.forgotten.Store(true)
	}
}

func (f *firewall) close() {
	f.listener.Close()
	f.forget()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.known {
		p.client.Close()
		p.server.Close()
	}
}

// hurry lets the server be silent on the only connection of a pool for a moment, and not,
// as on later ones, for half a minute.
func hurry(t *testing.T, e *engine) {
	t.Helper()
	conn, err := e.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	data := conn.Conn().PgConn().CustomData()
	if most := data[silenceKey]; most != 10*time.Second+silenceBeyond {
		t.Errorf("the server may be silent for %v on a new connection", most)
	}
	data[silenceKey] = 200 * time.Millisecond
}

// within ends a test that hangs.
func within(t *testing.T, do func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-time.After(5 * time.Minute):
		t.Fatal("it waits for an answer that never comes")
		return nil
	}
}

// TestForgottenConnections: nothing waits for ever for a server that has gone without a word, as
// when it loses power or a firewall forgets the connections to it. All that a process did in the
// background once hung so, until it was restarted.
func TestForgottenConnections(t *testing.T) {
	t.Parallel()
	one := func(ctx context.Context, tx sqlstore.Tx) error {
		var n int
		return tx.QueryRow(ctx, "SELECT 1", nil, &n)
	}
	many := func(ctx context.Context, tx sqlstore.Tx, each func() error) error {
		return tx.Query(ctx, "SELECT repeat('x', 1000) FROM generate_series(1, 100000)", nil, func(sqlstore.Row) error { return each() })
	}
	errOwn := errors.New("an error of the caller's")
	for name, c := range map[string]struct {
		do   func(ctx context.Context, e *engine, forget func()) error
		want error
	}{
		"before a statement": {do: func(ctx context.Context, e *engine, forget func()) error {
			forget()
			return e.Glance(ctx, func(tx sqlstore.Tx) error { return one(ctx, tx) })
		}},
		"before a transaction": {do: func(ctx context.Context, e *engine, forget func()) error {
			forget()
			return e.Write(ctx, func(tx sqlstore.Tx) error { return one(ctx, tx) })
		}},
		"in a transaction": {do: func(ctx context.Context, e *engine, forget func()) error {
			return e.Write(ctx, func(tx sqlstore.Tx) error {
				if err := one(ctx, tx); err != nil {
					return err
				}
				forget()
				return one(ctx, tx)
			})
		}},
		"among rows": {do: func(ctx context.Context, e *engine, forget func()) error {
			return e.Read(ctx, func(tx sqlstore.Tx) error {
				return many(ctx, tx, func() error { forget(); return nil })
			})
		}},
		"among rows of a statement": {do: func(ctx context.Context, e *engine, forget func()) error {
			return e.Glance(ctx, func(tx sqlstore.Tx) error {
				return many(ctx, tx, func() error { forget(); return nil })
			})
		}},
		"before COMMIT": {want: store.ErrUnavailable, do: func(ctx context.Context, e *engine, forget func()) error {
			return e.Write(ctx, func(tx sqlstore.Tx) error {
				err := one(ctx, tx)
				if err == nil { // else a busy server was silent for too long, and the transaction is tried again
					forget()
				}
				return err
			})
		}},
		"before ROLLBACK": {want: errOwn, do: func(ctx context.Context, e *engine, forget func()) error {
			return e.Write(ctx, func(tx sqlstore.Tx) error {
				err := one(ctx, tx)
				forget()
				return errors.Join(err, errOwn)
			})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, dsn := behindFirewall(t, pgtest.DSN(t))
			e := testEngine(t, dsn)
			t.Cleanup(f.close) // before the engine, which would wait for those forgotten
			hurry(t, e)
			err := within(t, func() error { return c.do(t.Context(), e, sync.OnceFunc(f.forget)) })
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if err := within(t, func() error { return e.Read(t.Context(), func(tx sqlstore.Tx) error { return one(t.Context(), tx) }) }); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// TestSlowReader: the time that a reader takes for a row is no silence of the server's.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	e := testEngine(t, pgtest.DSN(t))
	conn, err := e.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	s := newSilence(t.Context(), conn.Conn())
	s.busy()
	if s.timer.Stop() {
		t.Error("the time runs while the reader is busy")
	}
	s.heard()
	if !s.timer.Stop() {
		t.Error("the time does not run while the server is waited for")
	}
	if err := s.end(nil); err != nil {
		t.Error(err)
	}
}

// TestForgottenListener: a process whose connection for notifications was forgotten listens on
// another one.
func TestForgottenListener(t *testing.T) {
	t.Parallel()
	f, dsn := behindFirewall(t, pgtest.DSN(t))
	e := testEngine(t, dsn)
	t.Cleanup(f.close)
	e.listenCheck = 50 * time.Millisecond
	woken, unwatch := e.Watch(1)
	defer unwatch()
	for range 2 { // whoever begins to listen wakes all
		if err := within(t, func() error { <-woken; return nil }); err != nil {
			t.Fatal(err)
		}
		f.forget()
	}
}

// silentServer takes connections and says nothing, as one whose disk hangs.
type silentServer struct{ net.Listener }

func newSilentServer(t *testing.T) silentServer {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return silentServer{listener}
}

func (s silentServer) dsn() string {
	return "postgres://u:secret@" + s.Addr().String() + "/x?sslmode=disable"
}

// tries counts the connections so far: those that come before one of our own.
func (s silentServer) tries(t *testing.T) (n int) {
	t.Helper()
	last, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	for ; ; n++ {
		conn, err := s.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if conn.RemoteAddr().String() == last.LocalAddr().String() {
			return n
		}
	}
}

// TestOpenSilentServer: who opens a store at a server that takes connections and says nothing is told
// so in words, after one try.
func TestOpenSilentServer(t *testing.T) {
	t.Parallel()
	for limit := 50 * time.Millisecond; ; limit *= 2 {
		server := newSilentServer(t)
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := Open(ctx, server.dsn(), Options{ReadOnly: true})
		cancel()
		if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "the database did not answer in time") {
			t.Errorf("in the caller's time: %v", err)
		}
		if server.tries(t) > 0 {
			break // else this machine was too busy to ask in that time
		}
	}
	server := newSilentServer(t)
	wantOpenError(t, server.dsn()+"&connect_timeout=1", Options{}, store.ErrUnavailable, "does not answer")
	if tries := server.tries(t); tries > 1 {
		t.Errorf("%d connections were tried, want one", tries)
	}
}
