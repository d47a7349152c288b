package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/room"
)

// moody is an archive that fails in two ways; nil: it works.
type moody struct {
	archive.Store
	create, commit atomic.Pointer[error]
	takes          time.Duration
}

func (m *moody) Create(context.Context) (archive.Writer, error) {
	time.Sleep(m.takes)
	if err := m.create.Load(); err != nil {
		return nil, *err
	}
	return moodyWriter{of: m}, nil
}

type moodyWriter struct {
	archive.Writer
	of *moody
}

func (w moodyWriter) Commit() (string, int64, error) {
	if err := w.of.commit.Load(); err != nil {
		return "", 0, *err
	}
	return "d", 1, nil
}

// An archive that takes nothing is a worker's note, until it takes something.
func TestRefusals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := fmt.Errorf("%w: s3://pages: the credentials are refused (SignatureDoesNotMatch)", archive.ErrUnavailable)
		m := &moody{}
		files := &refusals{Store: m}
		visit := func() {
			if w, err := files.Create(t.Context()); err == nil {
				_, _, _ = w.Commit()
			}
		}
		begin := func() { _, _ = files.Create(t.Context()) }
		var logged bytes.Buffer
		n := &notes{}
		w := &roomWatch{
			keeper: room.New(room.Options{}), refused: files.trouble, store: n, name: "1@here", wake: func(context.Context) { t.Error("pages were woken") },
			log: slog.New(slog.NewTextHandler(&logged, nil)),
		}
		stop := w.start(t.Context())
		want := func(what string, after time.Duration, notes ...string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := n.take(); !slices.Equal(got, notes) {
				t.Errorf("%s: noted %q, want %q", what, got, notes)
			}
		}
		refused := "1@here: " + down.Error()
		want("at first", time.Minute, "1@here: ")
		m.commit.Store(&down)
		visit()
		want("once is no trouble", 5*time.Second)
		m.commit.Store(nil)
		visit()
		want("and it was over", time.Minute)

		m.commit.Store(&down)
		visit()
		want("it lasts", 12*time.Second, refused)
		begin()
		want("a content is begun", 2*time.Second)
		m.commit.Store(nil)
		visit()
		want("a content is kept", 2*time.Second, "1@here: ")

		m.commit.Store(&down)
		visit()
		want("it lasts again", 12*time.Second, refused)
		m.commit.Store(nil)
		want("nothing is tried", 3*time.Minute, refused, refused, refused)
		begin() // of a page that has not changed
		want("none was refused for a while", 2*time.Second, "1@here: ")

		m.create.Store(&down)
		begin()
		want("no content can be begun", 12*time.Second, refused)
		m.create.Store(nil)
		begin()
		want("until one is", 2*time.Second, "1@here: ")

		odd := errors.New("archive: open /x/tmp: permission denied")
		for err, said := range map[error]string{odd: "archive unavailable: open /x/tmp: permission denied", context.Canceled: "", archive.ErrFull: "", context.DeadlineExceeded: ""} {
			m.create.Store(&err)
			begin()
			time.Sleep(refusedFor)
			if got := files.trouble(); got != said {
				t.Errorf("%v: %q, want %q", err, got, said)
			}
			m.create.Store(nil)
			begin()
		}
		slow := fmt.Errorf("archive: %w", context.DeadlineExceeded)
		m.takes = time.Minute
		m.create.Store(&slow)
		begin()
		if got := files.trouble(); got != "archive unavailable: no answer within 1m0s" {
			t.Errorf("no answer: %q", got)
		}
		stop()
		if lines := strings.Count(logged.String(), "SignatureDoesNotMatch"); lines != 3 {
			t.Errorf("logged %d times: %s", lines, logged.String())
		}
	})
}
