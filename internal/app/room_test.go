package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/room"
	"recrawl/internal/store"
)

// notes returns a worker's note in a store.
type notes struct {
	store.Workers
	mu   sync.Mutex
	said []string
	fail error
}

func (n *notes) NoteWorker(_ context.Context, name, held string) error {
	return n.add(fmt.Sprintf("%s: %s", name, held))
}

func (n *notes) RemoveWorker(_ context.Context, name string) error { return n.add(name + " ends") }

func (n *notes) add(text string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.fail != nil {
		return n.fail
	}
	n.said = append(n.said, text)
	return nil
}

func (n *notes) fails(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fail = err
}

func (n *notes) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	said := n.said
	n.said = nil
	return said
}

// A worker says once that it is held and once that it goes on, in the log; in the store
// for as long as it is held, as soon as the store takes it.
func TestRoomWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		left, woken := int64(100), 0
		keeper := room.New(room.Options{Folders: []string{"data"}, Reserve: 50, Measure: func(string) (room.Space, error) {
			mu.Lock()
			defer mu.Unlock()
			return room.Space{Bytes: left, Files: -1}, nil
		}})
		leave := func(bytes int64) {
			mu.Lock()
			defer mu.Unlock()
			left = bytes
		}
		var logged bytes.Buffer
		n := &notes{}
		w := &roomWatch{
			keeper: keeper, store: n, name: "1@here", wake: func(context.Context) { woken++ },
			log: slog.New(slog.NewTextHandler(&logged, nil)),
		}
		stop := w.start(t.Context())
		want := func(after time.Duration, notes ...string) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			if got := n.take(); !slices.Equal(got, notes) {
				t.Errorf("noted %q, want %q", got, notes)
			}
		}
		const short = "1@here: no room: 9B left on the disk of data; 56B are needed"
		want(time.Hour, "1@here: ")
		n.fails(errors.New("the disk is full"))
		leave(9)
		want(10 * time.Second)
		n.fails(nil)
		want(2*time.Second, short)
		want(3*time.Minute+time.Second, short, short, short)
		if woken != 0 {
			t.Error("pages were woken although there is no room")
		}
		leave(1000)
		want(3*time.Second, "1@here: ")
		want(13*time.Hour, "1@here: ", "1@here: ")
		stop()
		want(0, "1@here ends")
		if woken != 1 {
			t.Errorf("pages were woken %d times", woken)
		}
		if lines := strings.Count(logged.String(), "\n"); lines != 2 || !strings.Contains(logged.String(), "9B left") {
			t.Errorf("logged %s", logged.String())
		}
	})
}
