package postgres

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// silenceBeyond is how long an answer may be overdue. The server ends each statement at its
	// time-out and says so. If nothing comes long after that, nothing will: the machine is gone
	// without a word, or a firewall or a proxy between us has forgotten the connection.
	silenceBeyond = 20 * time.Second
	// acquireLimit bounds the wait for a connection of the pool.
	acquireLimit = 30 * time.Second
	// connectLimit bounds making a connection, unless the DSN does, and pingLimit the question
	// to one that was idle whether it is still there.
	connectLimit = 15 * time.Second
	pingLimit    = 5 * time.Second
	// listenCheck is how long the connection for notifications may be quiet before it is asked
	// whether it is still there, and how long it then has to answer.
	listenCheck = 30 * time.Second
)

// errSilent is the cause of a context that ended because nothing came from the server.
var errSilent = errors.New("nothing comes from the server")

// silenceKey is where a connection keeps how long the server may be silent on it.
const silenceKey = "recrawl silence"

// noteSilence notes on a new connection how long the server may be silent: as long as a
// statement may run, which the DSN, the user or the database may set, and some time more. It
// may be silent for ever if statements may run for ever.
func noteSilence(conn *pgconn.PgConn, timeout string, beyond time.Duration) {
	if ms, err := strconv.Atoi(timeout); err == nil && ms > 0 {
		conn.CustomData()[silenceKey] = time.Duration(ms)*time.Millisecond + beyond
	}
}

// unhurried marks a context in which statements may run for ever.
type unhurried struct{}

// silence bounds how long the server may be silent in one round trip.
type silence struct {
	context.Context //nolint:containedctx // it is one
	cancel          context.CancelCauseFunc
	timer           *time.Timer // nil if it is not bounded
	most            time.Duration
}

// newSilence begins a round trip on a connection. The caller must call end.
func newSilence(ctx context.Context, conn *pgx.Conn) *silence {
	most, _ := conn.PgConn().CustomData()[silenceKey].(time.Duration)
	if most == 0 || ctx.Value(unhurried{}) != nil {
		return &silence{Context: ctx}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	return &silence{ctx, cancel, time.AfterFunc(most, func() { cancel(errSilent) }), most}
}

// heard says that something came from the server.
func (s *silence) heard() {
	if s.timer != nil {
		s.timer.Reset(s.most)
	}
}

// busy says that it is not the server for whom we wait, until heard is called.
func (s *silence) busy() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// end ends the round trip, and returns its error as one of the store's.
func (s *silence) end(err error) error {
	if s.timer == nil {
		return interpretError(err)
	}
	s.timer.Stop()
	err = blame(s, err)
	s.cancel(nil)
	return err
}

// blame is interpretError for an error under a context that may have ended because the server was
// silent.
func blame(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errSilent {
		return silent()
	}
	return interpretError(err)
}
