package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/store"
)

var errAway = errors.New("the database system is starting up")

func isAway(err error) bool { return errors.Is(err, errAway) }

// A service that is not there yet is waited for, with one message; another error, and
// the end of the program, end the wait.
func TestReach(t *testing.T) {
	t.Parallel()
	wrong := errors.New("wrong password")
	for _, c := range []struct {
		name  string
		away  int   // tries that find nobody
		then  error // of the try after them
		stop  bool  // the program is told to end meanwhile
		want  error
		lines int // in the log
	}{
		{name: "there"},
		{name: "away for long", away: 100, lines: 2},
		{name: "wrong at once", then: wrong, want: wrong},
		{name: "wrong later", away: 3, then: wrong, want: wrong, lines: 1},
		{name: "told to end", away: 1000, stop: true, want: context.DeadlineExceeded, lines: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				if c.stop {
					ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
				}
				defer cancel()
				var log bytes.Buffer
				began, tries := time.Now(), 0
				_, err := reach(ctx, slog.New(slog.NewTextHandler(&log, nil)), "the store", func(context.Context) (int, error) {
					if tries++; tries <= c.away {
						return 0, fmt.Errorf("open: %w", errAway)
					}
					return 1, c.then
				}, isAway)
				if !errors.Is(err, c.want) || strings.Count(log.String(), "\n") != c.lines {
					t.Errorf("%v, want %v; log %q, want %d lines", err, c.want, &log, c.lines)
				}
				if c.lines > 0 && !strings.Contains(log.String(), errAway.Error()) {
					t.Errorf("log %q, want why it waits", &log)
				}
				if most := time.Duration(tries) * 3 * longestWait / 2; time.Since(began) > most {
					t.Errorf("%d tries took %s, want at most %s", tries, time.Since(began), most)
				}
			})
		})
	}
}

func TestAbsentStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		dsn  string
		err  error
		wait bool
	}{
		{"postgres://db/recrawl", store.ErrUnavailable, true},
		{"postgres://db/recrawl", store.ErrFull, true},
		{"postgres://db/recrawl", store.ErrDenied, false},
		{"postgres://db/recrawl", store.ErrForeign, false},
		{"postgres://db/recrawl", store.ErrFixed, false},
		{"sqlite:recrawl.db", store.ErrUnavailable, false},
	} {
		if got := absentStore(c.dsn)(fmt.Errorf("open: %w", c.err)); got != c.wait {
			t.Errorf("%s: %v: wait %v, want %v", c.dsn, c.err, got, c.wait)
		}
	}
}
