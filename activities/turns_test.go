package activities

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"recrawl/internal/crawl"
	"recrawl/internal/store"
)

// turned notes when pages are told of their turns, in seconds, and what they are told.
type turned struct {
	Workflows
	began time.Time
	told  []string
}

func (w *turned) Turn(_ context.Context, page crawl.PageRef, in time.Duration) error {
	w.told = append(w.told, fmt.Sprintf("%d after %s: in %s", page.PageID, time.Since(w.began), in))
	return nil
}

// nothingLost is a gate whose turns all come.
type nothingLost struct{ store.Gate }

func (nothingLost) Recall(context.Context, int) (store.GateEffects, error) {
	return store.GateEffects{}, nil
}

// A turn is signalled when its page should come, two seconds before, whatever came before it; one
// that is nearer or very far at once. A worker that ends signals the rest.
func TestKeepTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &turned{began: time.Now()}
		a := New(Stores{Gate: nothingLost{}}, nil, nil, w, Settings{}, slog.New(slog.DiscardHandler))
		give := func(page int64, in time.Duration) {
			a.carryOut(t.Context(), store.GateEffects{Turns: []store.Turn{{Page: crawl.PageRef{PageID: page}, In: in}}})
			synctest.Wait()
		}
		give(1, 8*time.Second) // nobody keeps turns yet
		ctx, end := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { a.KeepTurns(ctx); close(done) }()
		synctest.Wait()
		give(2, 8*time.Second)
		give(3, 5*time.Second)
		give(4, 8*time.Second)
		give(5, 2*time.Second)
		give(6, 31*time.Second)
		give(7, 30*time.Second)
		time.Sleep(7 * time.Second)
		synctest.Wait()
		end()
		<-done
		want := []string{
			"1 after 0s: in 8s", "5 after 0s: in 2s", "6 after 0s: in 31s",
			"3 after 3s: in 2s", "2 after 6s: in 2s", "4 after 6s: in 2s", "7 after 7s: in 23s",
		}
		if !slices.Equal(w.told, want) {
			t.Errorf("told %q\nwant %q", w.told, want)
		}
	})
}
