package postgres

import (
	"context"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// channel is where woken page ids are notified.
const channel = "recrawl_gate"

const (
	firstReconnect = 100 * time.Millisecond
	lastReconnect  = 5 * time.Second
)

// newListener prepares the goroutine that receives the notifications of all
// processes. It runs from the first Watch to Close, on a separate connection.
func (e *engine) newListener(config *pgxpool.Config) {
	ctx, cancel := context.WithCancel(context.Background())
	e.stop = cancel
	e.listen = sync.OnceFunc(func() {
		e.running.Go(func() { e.listenUntil(ctx, config) })
	})
}

// listenUntil listens until the context ends. While the server is away nobody
// is woken by other processes; waiters check again by themselves now and then, and
// the transactions that fail meanwhile report the trouble.
func (e *engine) listenUntil(ctx context.Context, config *pgxpool.Config) {
	pause := firstReconnect
	for ctx.Err() == nil {
		if e.listenOnce(ctx, config) {
			pause = firstReconnect
		}
		sleep(ctx, pause/2+rand.N(pause/2))
		pause = min(2*pause, lastReconnect)
	}
}

// listenOnce passes notifications on until the connection ends, and reports
// whether it was ever listening.
func (e *engine) listenOnce(ctx context.Context, config *pgxpool.Config) (listened bool) {
	conn, err := connectAlone(ctx, config)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // nothing is pending on it
	starting, cancel := context.WithTimeout(ctx, e.listenCheck)
	_, err = conn.Exec(starting, "LISTEN "+channel)
	if cancel(); err != nil {
		return false
	}
	e.watchers.NotifyAll() // for missed notifications
	for {
		n, err := e.notified(ctx, conn)
		if err != nil {
			return true
		}
		if page, err := strconv.ParseInt(n, 10, 64); err == nil {
			e.watchers.Notify(page)
		}
	}
}

// notified waits for a notification. A connection that is quiet for long is asked whether it is
// still there: of one that is gone without a word, nobody would tell us.
func (e *engine) notified(ctx context.Context, conn *pgx.Conn) (payload string, err error) {
	waiting, cancel := context.WithTimeout(ctx, e.listenCheck)
	n, err := conn.WaitForNotification(waiting)
	cancel()
	if err == nil {
		return n.Payload, nil
	}
	if ctx.Err() != nil || waiting.Err() == nil {
		return "", err
	}
	asking, cancel := context.WithTimeout(ctx, e.listenCheck)
	defer cancel()
	return "", conn.Ping(asking)
}
